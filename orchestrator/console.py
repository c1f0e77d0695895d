"""What is printed: one console for results, one for messages, and the way untrusted text reaches either.

Text from a model, a bundle or an archive may hold terminal escapes, bidirectional overrides or rich markup. `plain`
makes it harmless; every such text passes through it before it is printed.
"""

from rich.console import Console
from rich.text import Text

from actors.untrusted import visible


def plain(text: str, *, lines: bool = False) -> str:
    r"""Return `text` with control and invisible characters escaped.

    Args:
        text: Untrusted text.
        lines: Whether line feeds and tabs are kept; otherwise the result is one line.
    """
    return visible(text, kept="\n\t" if lines else "")


def shown(text: str, *, style: str = "", lines: bool = False) -> Text:
    """Return untrusted text as rich shows it literally: no markup, no control characters.

    Args:
        text: Untrusted text.
        style: A rich style for the whole of it.
        lines: See `plain`.
    """
    return Text(plain(text, lines=lines), style=style)


def results() -> Console:
    """Return a console on standard output that interprets no markup."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True)


def messages() -> Console:
    """Return a console on standard error that interprets no markup."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)
