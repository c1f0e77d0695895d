"""Rules that every trained candidate is read by: what costs its fitness, and what its reward turned out to be.

They name no hack (`detectors.py` does) but say where to look: crashes, the weakest term, the learning curve, and the
components as they were earned in training.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from actors.fitness import CONSTANTS
from actors.messages import ArchiveEntry, Finding
from actors.outcome import CurvePoint, Outcome, TracePoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Thresholds of the rules; those without another source are conventions.

    Attributes:
        own_gain: Rise of the candidate's own return over training, relative to the range that it went through, from
            which it counts as learned.
        crash_fall: Fall of the crash rate over training that would justify it; two standard errors of a rate of 0.1
            over 1 000 training episodes are 0.02.
        risky: Crash rate from which crashes matter; at 0.05 the fitness's gate takes its first per cent.
        constant: Spread of a component, relative to its size, below which it never varies.
        dominant: Share of the movement of all components from which the others hardly count.
        residual: Largest part of a decision's total that no component explains, relative to the total's range, from
            which the components do not tell what is paid for.
    """

    own_gain: float = 0.2
    crash_fall: float = 0.02
    risky: float = 0.05
    constant: float = 1e-9
    dominant: float = 0.95
    residual: float = 0.01


LIMITS = Limits()
"""The thresholds in use."""


def rule_findings(entry: ArchiveEntry, outcome: Outcome) -> Iterator[Finding]:
    """Yield what the rules find in a trained candidate; a rule whose measures are absent finds nothing."""
    yield from _judged_low(entry, outcome)
    yield from _return_without_safety(outcome.curve)
    components: dict[str, list[TracePoint]] = {}
    for point in outcome.traces:
        components.setdefault(point.component, []).append(point)
    total, residual = components.pop("total", []), components.pop("residual", [])
    yield from _constant_components(components)
    yield from _dominant_component(components)
    if total and residual:
        yield from _unexplained_reward(total, residual)


def _judged_low(entry: ArchiveEntry, outcome: Outcome) -> Iterator[Finding]:
    """Say what costs most of the fitness: the gate, and the term that loses most."""
    crash_rate, judged = outcome.metrics.get("crash_rate"), entry.fitness
    if judged is None or crash_rate is None:
        return
    weights = CONSTANTS.weights
    ungated = sum(weights[name] * value for name, value in judged.terms.items())
    if crash_rate >= LIMITS.risky:
        yield Finding(
            name="crashes",
            sentence=f"crashes in {crash_rate:.0%} of the episodes, which leaves {judged.gate:.0%} of a fitness of "
            f"{ungated:.2f}",
            evidence={"crash_rate": crash_rate, "gate": judged.gate, "ungated_fitness": ungated},
        )
    lost = {name: weights[name] * (1.0 - value) for name, value in judged.terms.items()}
    worst = max(lost, key=lambda name: lost[name])
    got = weights[worst] * judged.terms[worst]
    yield Finding(
        name="weakest_term",
        sentence=f"loses most on {worst}: that term gives {got:.2f} of the {weights[worst]:.2f} it could give",
        evidence={f"{worst}_term": judged.terms[worst], "fitness_lost": lost[worst]},
    )


def _return_without_safety(curve: Sequence[CurvePoint]) -> Iterator[Finding]:
    third = len(curve) // 3
    if third == 0:
        return
    returns = [point.own_return for point in curve]
    early, late = _mean_return(curve[:third]), _mean_return(curve[-third:])
    crashed, crashes = _mean_crash_rate(curve[:third]), _mean_crash_rate(curve[-third:])
    learned = late - early > LIMITS.own_gain * (max(returns) - min(returns))
    if learned and crashes >= LIMITS.risky and crashed - crashes < LIMITS.crash_fall:
        yield Finding(
            name="return_without_safety",
            sentence=f"its own return rose from {early:.3g} to {late:.3g} over training while the crash rate went from "
            f"{crashed:.0%} to {crashes:.0%}",
            evidence={
                "own_return_early": early,
                "own_return_late": late,
                "crash_rate_early": crashed,
                "crash_rate_late": crashes,
            },
        )


def _constant_components(components: dict[str, list[TracePoint]]) -> Iterator[Finding]:
    for name, points in components.items():
        if _never_varies(points):
            value = points[-1].high
            yield Finding(
                name="constant_component",
                sentence=f"component {name} is {value:.3g} in every decision: it pays for time alone",
                evidence={"value": value},
            )


def _dominant_component(components: dict[str, list[TracePoint]]) -> Iterator[Finding]:
    movements = {name: _movement(points) for name, points in components.items() if not _never_varies(points)}
    moved = sum(movements.values())
    if len(movements) < 3 or moved <= 0.0:
        return
    name = max(movements, key=lambda each: movements[each])
    share = movements[name] / moved
    if share >= LIMITS.dominant:
        yield Finding(
            name="dominant_component",
            sentence=f"component {name} makes {share:.1%} of what moves the reward: the {len(movements) - 1} others "
            "hardly count",
            evidence={"share": share},
        )


def _unexplained_reward(total: Sequence[TracePoint], residual: Sequence[TracePoint]) -> Iterator[Finding]:
    span = max(point.high for point in total) - min(point.low for point in total)
    unexplained = max(max(abs(point.low), abs(point.high)) for point in residual)
    if unexplained > LIMITS.residual * span:
        yield Finding(
            name="unexplained_reward",
            sentence=f"up to {unexplained:.3g} of a decision's total is in no component (the total spans {span:.3g})",
            evidence={"residual": unexplained, "total_span": span},
        )


def _never_varies(points: Sequence[TracePoint]) -> bool:
    low, high = min(point.low for point in points), max(point.high for point in points)
    return high - low <= LIMITS.constant * max(abs(low), abs(high))


def _movement(points: Sequence[TracePoint]) -> float:
    """Return how far a component's mean lies from its nearer end: little for what is rare or nearly always the same."""
    return sum(min(point.mean - point.low, point.high - point.mean) for point in points) / len(points)


def _mean_return(points: Sequence[CurvePoint]) -> float:
    return sum(point.own_return * point.episodes for point in points) / max(_episodes(points), 1)


def _mean_crash_rate(points: Sequence[CurvePoint]) -> float:
    return sum(point.crash_rate * point.episodes for point in points) / max(_episodes(points), 1)


def _episodes(points: Sequence[CurvePoint]) -> int:
    return sum(point.episodes for point in points)
