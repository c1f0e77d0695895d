"""The plots of a report. Each takes numbers and names, and returns a wide and a narrow SVG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from actors.difference import Difference
from actors.outcome import CurvePoint, TracePoint
from actors.training_record import RESIDUAL
from orchestrator.report import style
from orchestrator.report.style import drawn, label, legend_above

Plot = tuple[str, str]

_NEVER_VARIES = 1e-6
"""Range of a component below which it counts as constant, relative to its size or to 1."""
_NAME_HEIGHT = 0.045
"""Height of a name beside a plot, as a share of the plot."""
_ROW_IN = 0.27
"""Height of a row of a forest or bar plot, inches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval, as a line of a forest plot.

    Attributes:
        name: What it belongs to; untrusted.
        value: The number.
        low: Lower end of its interval; None where there is none.
        high: Upper end.
        colour: A colour of `style`.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    colour: str = style.CANDIDATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point of a plane.

    Attributes:
        name: Written beside it where not empty; untrusted.
        x: Its place.
        y: Its height.
        colour: A colour of `style`.
        joined: Whether the front runs through it.
    """

    name: str
    x: float
    y: float
    colour: str = style.CANDIDATE
    joined: bool = False


def verdict_colour(difference: Difference) -> str:
    """Return the colour of a difference: good where the one is shown to have more, bad where less, else neither."""
    return style.GOOD if difference.above else style.BAD if difference.below else style.MUTED


def forest(estimates: Sequence[Estimate], quantity: str, *, zero: str = "") -> Plot:
    """Draw numbers with their intervals below each other.

    Args:
        estimates: From the top; at least one.
        quantity: What the axis measures.
        zero: What a line at zero means; empty draws none.
    """

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        if zero:
            axes.axvline(0.0, color=style.MUTED, linewidth=1.0)
            axes.set_title(zero, fontsize=8, color=style.MUTED, loc="right" if zero.endswith("→") else "left")
        for place, each in enumerate(estimates):
            if each.low is not None and each.high is not None:
                axes.plot([each.low, each.high], [place, place], color=each.colour, linewidth=2.4, alpha=0.55)
            axes.plot(each.value, place, "o", color=each.colour, markersize=5.5)
        axes.set_yticks(range(len(estimates)), [label(each.name) for each in estimates])
        axes.set_ylim(len(estimates) - 0.4, -0.6)
        axes.tick_params(axis="y", labelcolor=style.INK, length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(quantity)
        axes.margins(x=0.06)

    return drawn(draw, height_in=0.85 + _ROW_IN * len(estimates))


def bars(counts: Mapping[str, int], quantity: str, colours: Mapping[str, str]) -> Plot:
    """Draw counts as bars below each other.

    Args:
        counts: How often, by name, from the top; at least one.
        quantity: What is counted.
        colours: Colour of a name; the others are blue.
    """

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        places = range(len(counts))
        axes.barh(places, list(counts.values()), 0.62, color=[colours.get(each, style.CANDIDATE) for each in counts])
        axes.set_yticks(places, [label(each) for each in counts])
        axes.invert_yaxis()
        for place, count in zip(places, counts.values(), strict=True):
            axes.annotate(str(count), (count, place), (4, 0), textcoords="offset points", va="center", fontsize=8)
        axes.tick_params(axis="y", labelcolor=style.INK, length=0)
        axes.grid(visible=False, axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        axes.set_xlabel(quantity)
        axes.margins(x=0.1)

    return drawn(draw, height_in=0.8 + _ROW_IN * len(counts))


def generations(
    dots: Sequence[Dot], best: Mapping[int, float], mean: Mapping[int, float], baselines: Mapping[str, float]
) -> Plot:
    """Draw fitness over generations.

    Args:
        dots: Every candidate at its generation and fitness; those that are `joined` are the champion's ancestors.
        best: Best fitness of each generation.
        mean: Mean fitness of each generation.
        baselines: Fitness of the baselines that are drawn as lines.
    """

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        last = max((int(dot.x) for dot in dots), default=0)
        for value in baselines.values():
            axes.axhline(value, color=style.BASELINE, linewidth=1.0, linestyle=(0, (4, 3)))
        for joined in (False, True):
            chosen = [dot for dot in dots if dot.joined == joined]
            colours = [dot.colour for dot in chosen]
            name = "the champion and its ancestors" if joined else "a candidate"
            axes.scatter([dot.x for dot in chosen], [dot.y for dot in chosen], 26, colours, label=name, zorder=3)
        axes.plot(list(best), list(best.values()), color=style.INK, label="best", zorder=2)
        axes.plot(list(mean), list(mean.values()), color=style.MUTED, linestyle=":", label="mean", zorder=2)
        axes.set_xlim(-0.35, last + 0.35)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("generation")
        axes.set_ylabel("fitness")
        _name_lines(axes, baselines)
        legend_above(axes, 2 if narrow else 4)

    return drawn(draw, height_in=3.5, narrow_height_in=3.3)


def _name_lines(axes: Axes, lines: Mapping[str, float]) -> None:
    """Write the names of horizontal lines to the right of them, apart from each other."""
    low, high = axes.get_ylim()
    place = low
    for name, value in sorted(lines.items(), key=lambda pair: pair[1]):
        place = max(value, place + _NAME_HEIGHT * (high - low))
        axes.annotate(
            label(name),
            (1.0, place),
            (3, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=style.MUTED,
            annotation_clip=False,
        )


def plane(dots: Sequence[Dot], x_title: str, y_title: str, front: str) -> Plot:
    """Draw points in a plane with the front through the joined ones.

    Args:
        dots: The points.
        x_title: What is to the right.
        y_title: What is up.
        front: What the front is called.
    """

    def draw(figure: Figure, narrow: bool) -> None:
        axes = figure.subplots()
        joined = sorted((dot for dot in dots if dot.joined), key=lambda dot: dot.x)
        axes.step([dot.x for dot in joined], [dot.y for dot in joined], where="post", color=style.MUTED, label=front)
        axes.scatter([dot.x for dot in dots], [dot.y for dot in dots], 28, [dot.colour for dot in dots], zorder=3)
        for dot in _legible(dots, (0.2, 0.06) if narrow else (0.11, 0.05)):
            axes.annotate(
                label(dot.name), (dot.x, dot.y), (5, 4), textcoords="offset points", fontsize=7, color=style.MUTED
            )
        axes.set_xlabel(x_title)
        axes.set_ylabel(y_title)
        axes.margins(x=0.12, y=0.1)
        legend_above(axes, 2)

    return drawn(draw, height_in=3.7, narrow_height_in=3.4)


def _legible(dots: Sequence[Dot], room: tuple[float, float]) -> list[Dot]:
    """Return the dots whose names do not cover another's: those on the front first.

    Args:
        dots: The points.
        room: Width and height of a name, as shares of the plot.
    """
    width = max(dot.x for dot in dots) - min(dot.x for dot in dots) or 1.0
    height = max(dot.y for dot in dots) - min(dot.y for dot in dots) or 1.0
    kept: list[Dot] = []
    for dot in sorted(dots, key=lambda dot: not dot.joined):
        apart = (abs(dot.x - each.x) > room[0] * width or abs(dot.y - each.y) > room[1] * height for each in kept)
        if dot.name and all(apart):
            kept.append(dot)
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """Trainings of one kind, for learning curves.

    Attributes:
        name: What they are called.
        colour: A colour of `style`.
        curves: A learning curve for each training seed.
    """

    name: str
    colour: str
    curves: tuple[tuple[CurvePoint, ...], ...]


def learning(learners: Sequence[Learner]) -> Plot:
    """Draw native return and crash rate over training, one thin line for each training seed."""

    def draw(figure: Figure, narrow: bool) -> None:
        rows, columns = (2, 1) if narrow else (1, 2)
        returns, crashes = figure.subplots(rows, columns).ravel()
        for learner in learners:
            for place, curve in enumerate(learner.curves):
                steps = [point.steps for point in curve]
                shown = {"color": learner.colour, "alpha": 1.0 if len(learner.curves) == 1 else 0.65, "linewidth": 1.3}
                name = learner.name if place == 0 else None
                returns.plot(steps, [point.native_return for point in curve], label=name, **shown)
                crashes.plot(steps, [point.crash_rate for point in curve], **shown)
        returns.set_ylabel("native return")
        crashes.set_ylabel("crash rate")
        crashes.set_ylim(-0.03, 1.03)
        style.thousands(crashes)
        style.thousands(returns)
        if narrow:
            returns.set_xlabel("")
        legend_above(returns, 1 if narrow else 2)

    return drawn(draw, height_in=3.0, narrow_height_in=4.8)


def traces(points: Sequence[TracePoint]) -> Plot:
    """Draw the components of a reward over training: the mean of each as a line, its range as a band."""
    by_name: dict[str, list[TracePoint]] = {}
    for point in points:
        by_name.setdefault(point.component, []).append(point)
    residual = by_name.get(RESIDUAL, [])
    if all(max(abs(point.low), abs(point.high)) < _NEVER_VARIES for point in residual):
        by_name.pop(RESIDUAL, None)

    def draw(figure: Figure, narrow: bool) -> None:
        columns = min(len(by_name), 2 if narrow else 3)
        rows = math.ceil(len(by_name) / columns)
        panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
        for place, (name, found) in enumerate(by_name.items()):
            _trace(panels[place], name, found, style.LINES[place % len(style.LINES)])
        for axes in panels[len(by_name) :]:
            axes.set_visible(False)

    wide, narrow = math.ceil(len(by_name) / 3), math.ceil(len(by_name) / 2)
    return drawn(draw, height_in=0.4 + 1.35 * wide, narrow_height_in=0.4 + 1.35 * narrow)


def _trace(axes: Axes, name: str, points: Sequence[TracePoint], colour: str) -> None:
    steps = [point.steps for point in points]
    axes.fill_between(
        steps, [point.low for point in points], [point.high for point in points], color=colour, alpha=0.16, linewidth=0
    )
    axes.plot(steps, [point.mean for point in points], color=colour)
    axes.set_title(label(name), fontsize=8.5)
    low, high = min(point.low for point in points), max(point.high for point in points)
    if high - low < _NEVER_VARIES * max(abs(low), abs(high), 1.0):
        axes.set_ylim(low - 0.5, high + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=3))
    style.thousands(axes)
    axes.set_xlabel("")
