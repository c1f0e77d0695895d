"""How every plot looks: one palette for light and for dark pages, one width for a page and one for a phone."""

import io
import re
from collections.abc import Callable, Mapping
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actors.untrusted import one_line

INK = "#24292f"
MUTED = "#6a737d"
GRID = "#e1e4e8"
PAPER = "#fdfdfc"
CHAMPION = "#0b62b5"
CANDIDATE = "#7aa9d6"
BASELINE = "#8a8f98"
NATIVE = "#c2620e"
TUNED = "#7b4fb0"
GOOD = "#1f7f5c"
BAD = "#b3322c"
LINES = ("#0b62b5", "#c2620e", "#1f7f5c", "#7b4fb0", "#b3322c", "#8a6d00", "#3c8d9e", "#a8487f")
"""Colours of lines that have no meaning of their own, in turn; told apart by people who see few colours, too."""

_DARK: Mapping[str, str] = {
    INK: "#e6e8ea",
    MUTED: "#9aa4ae",
    GRID: "#343a41",
    PAPER: "#1b1f24",
    CHAMPION: "#6cb2f7",
    CANDIDATE: "#41729f",
    BASELINE: "#858c95",
    NATIVE: "#f0a15a",
    TUNED: "#bd97ea",
    GOOD: "#5cc79c",
    BAD: "#f0857d",
    "#8a6d00": "#d9bb4a",
    "#3c8d9e": "#7ccbdb",
    "#a8487f": "#e890c2",
}
"""The same colours on a dark page. Each light colour has one meaning, so that a plot is drawn once for both."""

WIDE_IN, NARROW_IN = 7.4, 3.9
"""Widths of a plot, inches of 96 px: the text column of the page, and a phone of 390 px."""
_LONGEST_LABEL = 34

_SETTINGS: Mapping[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "text.parse_math": False,  # no mathematics in a name that a model chose
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.edgecolor": GRID,
    "axes.facecolor": PAPER,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 8.5,
    "axes.titlesize": 9.0,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "text.color": INK,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.linewidth": 1.6,
}
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

Draw = Callable[[Figure, bool], None]
"""Draws on an empty figure; the second argument says whether it is the narrow one."""


def drawn(draw: Draw, *, height_in: float, narrow_height_in: float | None = None) -> tuple[str, str]:
    """Draw a plot twice, for a page and for a phone.

    Args:
        draw: What is drawn.
        height_in: Height of the wide one, inches.
        narrow_height_in: Height of the narrow one; None: the same.

    Returns:
        Wide and narrow SVG in light colours; the same data give the same text.
    """
    sizes = ((WIDE_IN, height_in, False), (NARROW_IN, narrow_height_in or height_in, True))
    wide, narrow = (_svg(draw, width, height, slim) for width, height, slim in sizes)
    return wide, narrow


def _svg(draw: Draw, width_in: float, height_in: float, narrow: bool) -> str:
    with mpl.rc_context(dict(_SETTINGS)):
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        draw(figure, narrow)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :].replace("'DejaVu Sans'", _FONTS)


def darkened(svg: str) -> str:
    """Return a plot in the colours of a dark page."""
    return re.sub("|".join(_DARK), lambda found: _DARK[found[0]], svg)


def label(text: str) -> str:
    """Return untrusted text as a plot shows it: short, on one line, nothing invisible."""
    short = one_line(text)
    return short if len(short) <= _LONGEST_LABEL else short[: _LONGEST_LABEL - 1] + "…"


def legend_above(axes: Axes, columns: int) -> None:
    """Put the legend above the axes, where it hides nothing."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, borderaxespad=0.2, columnspacing=1.2)


def thousands(axes: Axes) -> None:
    """Write environment steps as 100 k or 1 M."""
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k")
    axes.set_xlabel("environment steps")
