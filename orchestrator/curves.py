"""The learning curve of a candidate as a picture."""

import io
from collections import defaultdict

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actors.outcome import Outcome, TracePoint
from orchestrator.console import plain

_LONGEST_LABEL = 40


def learning_curve(outcome: Outcome) -> bytes | None:
    """Draw returns, crash rate and reward components over training steps.

    Args:
        outcome: What the trial delivered.

    Returns:
        A PNG; None when nothing was trained.
    """
    if not outcome.curve:
        return None
    figure = Figure(figsize=(8, 8), layout="constrained")
    native, crashes, components = figure.subplots(3, 1, sharex=True)
    steps = [point.steps for point in outcome.curve]
    native.plot(steps, [point.native_return for point in outcome.curve], label="native return")
    native.plot(steps, [point.own_return for point in outcome.curve], label="own return (not comparable)", alpha=0.6)
    native.set_ylabel("return per training episode")
    native.legend()
    crashes.plot(steps, [point.crash_rate for point in outcome.curve], color="tab:red")
    crashes.set_ylabel("crash rate")
    crashes.set_ylim(-0.02, 1.02)
    _draw_components(components, outcome.traces)
    components.set_xlabel("environment steps")
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


def _draw_components(axes: Axes, traces: tuple[TracePoint, ...]) -> None:
    by_name: dict[str, list[TracePoint]] = defaultdict(list)
    for point in traces:
        by_name[point.component].append(point)
    for name, points in by_name.items():
        steps = [point.steps for point in points]
        label = plain(name)[:_LONGEST_LABEL].replace("$", r"\$")  # no mathematics in a name that a model chose
        (line,) = axes.plot(steps, [point.mean for point in points], label=label)
        axes.fill_between(
            steps,
            [point.low for point in points],
            [point.high for point in points],
            color=line.get_color(),
            alpha=0.1,
        )
    axes.set_ylabel("reward component per decision")
    if by_name:
        axes.legend(fontsize="small")
