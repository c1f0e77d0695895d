"""A report as one HTML file that holds everything it shows and loads nothing.

Every text is escaped, here and nowhere else: control and invisible characters become visible escapes, and the template
escapes what HTML would read as markup. A content security policy forbids the browser to run or fetch anything.
"""

import base64
from importlib.resources import files

from jinja2 import DictLoader, Environment, StrictUndefined

from actors.untrusted import visible
from orchestrator.report.document import Block, Document
from orchestrator.report.style import darkened

_TEMPLATE, _STYLES = "report.html.jinja", "report.css"


class _DataAddress(str):
    """A `data:` address, which holds letters, digits and little else."""


def to_html(document: Document) -> str:
    """Return the report as a page."""
    folder = files("orchestrator.report")
    environment = Environment(
        loader=DictLoader({name: folder.joinpath(name).read_text(encoding="utf-8") for name in (_TEMPLATE, _STYLES)}),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(svg=_svg, mp4=_mp4, kind=_kind, diff_class=_diff_class)
    return environment.get_template(_TEMPLATE).render(document=document).lstrip()


def _harmless(value: object) -> object:
    """Make visible what steers or hides in a text; what is markup already comes from the template alone."""
    if isinstance(value, str) and not isinstance(value, _DataAddress) and not hasattr(value, "__html__"):
        return visible(value, kept="\n\t")
    return value


def _svg(text: str, dark: bool = False) -> _DataAddress:
    return _data("image/svg+xml", (darkened(text) if dark else text).encode())


def _mp4(film: bytes) -> _DataAddress:
    return _data("video/mp4", film)


def _data(kind: str, content: bytes) -> _DataAddress:
    return _DataAddress(f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}")


def _kind(block: Block) -> str:
    return type(block).__name__.lower()


def _diff_class(line: str) -> str:
    if line.startswith(("+++", "---", "@@")):
        return "place"
    return {"+": "added", "-": "removed"}.get(line[:1], "same")
