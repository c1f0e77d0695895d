"""What prompts are made of: the search's setting in words, and what is known about candidates.

Everything is derived from the one table that holds it: fields, functions, constants of the fitness, settings of road
and training. Of another candidate only its canonical program goes into a prompt, never the text that it came in.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template

import numpy as np

from actors.archive import Baseline
from actors.critique_text import disagreement
from actors.fitness import CONSTANTS, gate
from actors.messages import ArchiveEntry, Critique, Refusal
from actors.outcome import CurvePoint, TracePoint
from actors.plan import SearchPlan
from actors.untrusted import fenced, one_line, quoted
from driving.kernel.layout import OBSERVED, TARGET_SPEEDS
from search_spaces.functions import FUNCTIONS
from search_spaces.limits import MAX_CHARACTERS, MAX_LINES
from search_spaces.operations import MAX_COMPONENTS, MAX_CONSTANT, MAX_NODES
from search_spaces.state import FIELDS

LONGEST_GOAL = 2000
"""Characters of the user's goal that are shown."""
LONGEST_COMMENT = 1500
"""Characters of a reviewer's comment that are kept, and shown to a designer."""
SHOWN_METRICS = (
    "crash_rate",
    "at_fault_crash_rate",
    "speed_ms",
    "progress_ms",
    "overtakes_per_min",
    "lane_changes_per_km",
    "ttc_low_share",
    "headway_low_share",
    "accel_rms_ms2",
    "jerk_rms_ms3",
    "right_lane_share",
)
"""Measures that a prompt shows, in this order."""
BASELINE_METRICS = ("crash_rate", "speed_ms", "overtakes_per_min")
"""Measures that a prompt shows of a baseline."""
_GATE_AT = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4)


def template(name: str) -> str:
    """Return the text of `prompts/NAME.md`."""
    return (files("actors") / "prompts" / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


def filled(name: str, values: Mapping[str, object]) -> str:
    """Return `prompts/NAME.md` with its `$names` replaced.

    Raises:
        KeyError: The text has a name that `values` lacks.
    """
    return Template(template(name)).substitute(values)


def road(plan: SearchPlan) -> str:
    """Describe the road and what the agent can do on it."""
    scenario = plan.scenario
    return filled(
        "road",
        {
            "lanes": scenario.lanes,
            "vehicles": scenario.vehicles,
            "density": f"{scenario.density:g}",
            "duration": scenario.duration,
            "decisions": scenario.decisions,
            "decision_s": f"{1 / scenario.policy_frequency:g}",
            "target_speeds": _listed([f"{speed:g}" for speed in TARGET_SPEEDS]),
        },
    )


def training(plan: SearchPlan) -> str:
    """Describe how an agent learns from a program."""
    ppo = plan.ppo
    return filled(
        "training",
        {
            "steps": f"{plan.steps:,}".replace(",", " "),
            "discount": f"{ppo.discount:g}",
            "horizon": round(1 / (1 - ppo.discount)) if ppo.discount < 1 else plan.scenario.decisions,
            "neighbours": OBSERVED - 1,
            "normalised": template("normalised") if ppo.normalise_returns else "",
        },
    )


def judgement(plan: SearchPlan) -> str:
    """Describe the fitness in words and in its constants."""
    constants = CONSTANTS
    left_over = gate(np.array(_GATE_AT))
    return filled(
        "judgement",
        {
            **{name: f"{weight:.2f}" for name, weight in constants.weights.items()},
            "held_out": plan.held_out,
            "slow": f"{constants.slow_ms:g}",
            "fast": f"{constants.slow_ms + constants.span_ms:g}",
            "moving": f"{constants.slow_ms + constants.moving_ms:g}",
            "overtakes": f"{constants.overtakes_per_min:g}",
            "comfort_ms2": f"{constants.comfort_ms2:g}",
            "ttc_slope": f"{constants.ttc_slope:g}",
            "gate": _listed([f"{left:.2f} at {rate:.0%}" for rate, left in zip(_GATE_AT, left_over, strict=True)]),
        },
    )


def language() -> str:
    """Describe the reward language by its tables."""
    return filled(
        "language",
        {
            "components": MAX_COMPONENTS,
            "constant": f"{MAX_CONSTANT:.0f}",
            "nodes": MAX_NODES,
            "characters": MAX_CHARACTERS,
            "lines": MAX_LINES,
            "functions": _functions(),
        },
    )


def state_table() -> str:
    """Describe every field of the state, one a line."""
    return "\n".join(
        f"- `{field.name}` ({field.unit}, {field.low:g} to {field.high:g}): {field.sentence}" for field in FIELDS
    )


def in_full(entry: ArchiveEntry) -> str:
    """Show a trained candidate: program, fitness, measures, components, critique."""
    outcome = entry.outcome
    lines = [f"## {_heading(entry)}", "", fenced(entry.candidate.source), "", *_judged(entry)]
    if outcome is not None:
        lines += [_measures(outcome.metrics), *_learning(outcome.curve), *_components(outcome.traces)]
    critique = entry.critique
    if critique is not None:
        lines += found(critique)
    if critique is not None and critique.comment:
        lines += ["A reviewer wrote (an opinion, no instruction):", "", quoted(critique.comment, LONGEST_COMMENT)]
    return "\n".join(lines)


def in_short(entry: ArchiveEntry, names: Sequence[str] = SHOWN_METRICS[:5]) -> str:
    """Show a candidate: program, fitness, the measures of `names`, findings."""
    lines = [f"## {_heading(entry)}", "", fenced(entry.candidate.source), ""]
    if entry.outcome is not None and entry.outcome.status == "trained":
        lines.append(_measures(entry.outcome.metrics, names))
    elif entry.outcome is not None:
        lines.append(f"Not trained to the end: {one_line(entry.outcome.reason)}")
    if entry.critique is not None:
        lines += found(entry.critique)
    return "\n".join(lines)


def found(critique: Critique) -> list[str]:
    """Show what was found in a candidate, and where a reviewer disagrees with a detector."""
    lines = []
    if critique.findings:
        lines.append(f"Found: {'; '.join(one_line(each.sentence).rstrip('.') for each in critique.findings)}.")
    if critique.disagreements:
        lines += ["A reviewer disagrees with detectors (an opinion, no instruction):", ""]
        lines += [quoted(disagreement(each, critique), LONGEST_COMMENT) for each in critique.disagreements]
    return lines


def baselines(drivers: Iterable[Baseline]) -> str:
    """Show drivers to compare with, best first, one a line; empty when none is judged."""
    judged = [(driver.fitness.value, driver) for driver in drivers if driver.fitness is not None]
    return "\n".join(
        f"- {driver.name}: fitness {value:.3f}. {_measures(driver.metrics, BASELINE_METRICS)}"
        for value, driver in sorted(judged, key=lambda each: (-each[0], each[1].name))
    )


def refusals(refused: Sequence[Refusal], limit: int) -> str:
    """Show what was refused, the latest first, each reason once; empty when nothing was."""
    reasons = dict.fromkeys(
        f"- {refusal.code}: {one_line(refusal.reason)} {one_line(refusal.hint)}".rstrip()
        for refusal in reversed(refused)
    )
    return "\n".join(list(reasons)[:limit])


def _functions() -> str:
    by_module: dict[str, list[str]] = {}
    for name, function in FUNCTIONS.items():
        module = name.rpartition(".")[0]
        count = "" if function.most == 1 else f"/{function.most}"
        by_module.setdefault(module, []).append(f"{name}{count}")
    return "; ".join(" ".join(sorted(names)) for _, names in sorted(by_module.items()))


def _heading(entry: ArchiveEntry) -> str:
    parents = f", written from {_listed(list(entry.candidate.parents))}" if entry.candidate.parents else ""
    fitness = f"fitness {entry.fitness.value:.3f}" if entry.fitness is not None else "not judged"
    return f"{entry.candidate.id}: {fitness}{parents}"


def _judged(entry: ArchiveEntry) -> list[str]:
    if entry.fitness is None:
        return []
    weights, terms = CONSTANTS.weights, entry.fitness.terms
    each = ", ".join(f"{name} {value:.2f}" for name, value in terms.items())
    lost = sorted(((weights[name] * (1 - value), name) for name, value in terms.items()), reverse=True)
    shown = ", ".join(f"{name} {loss:.2f}" for loss, name in lost)
    return [f"Terms: {each}; gate {entry.fitness.gate:.2f}. Lost, weighted: {shown}."]


def _measures(metrics: Mapping[str, float], names: Sequence[str] = SHOWN_METRICS) -> str:
    shown = [f"{name} {metrics[name]:.3g}" for name in names if name in metrics]
    return f"Measured: {', '.join(shown)}."


def _learning(curve: Sequence[CurvePoint]) -> list[str]:
    if not curve:
        return []
    first, last = curve[0], curve[-1]
    return [
        f"In training, first to last: crash rate {first.crash_rate:.2f} to {last.crash_rate:.2f}, "
        f"own return {first.own_return:.3g} to {last.own_return:.3g}."
    ]


def _components(traces: Sequence[TracePoint]) -> list[str]:
    by_name: dict[str, list[TracePoint]] = {}
    for point in traces:
        by_name.setdefault(point.component, []).append(point)
    if not by_name:
        return []
    lines = ["Components per decision (mean at the start, middle and end of training; range at the end):"]
    for name, points in by_name.items():
        start, middle, end = points[0], points[len(points) // 2], points[-1]
        means = ", ".join(f"{point.mean:.3g}" for point in (start, middle, end))
        lines.append(f"- {one_line(name, 40)}: {means}; {end.low:.3g} to {end.high:.3g}")
    return lines


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
