"""Rules about the measured driving of a candidate, alone and against its parents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from actors.fitness import CONSTANTS
from actors.messages import ArchiveEntry, Finding
from actors.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivingLimits:
    """Thresholds of the rules about driving.

    What baselines do is `orchestrate evaluate --driver NAME` on highway-fast-v0, 500 held-out episodes.

    Attributes:
        lane_changes_per_km: More is weaving unless it overtakes; MOBIL changes 1.3 times per km, candidates trained
            for 200 000 steps 2 to 3, random driving 9.8.
        overtakes_per_lane_change: Net overtakes that justify a lane change; MOBIL makes 1.7 per lane change.
        accel_rms_ms2: Root mean square acceleration, m/s2; nuPlan bounds a comfortable one at 4.05; MOBIL has 3.4,
            candidates trained for 200 000 steps 3 to 5, random driving 9.1.
        stationary_ms: Progress per scheduled second, m/s, up to which a car only brakes; SLOWER makes 19.9, IDM 21.0.
        survived: Share of the scheduled time driven from which a car survives.
        tailgating: Share of frames with a time headway below 0.9 s (the critical headway of traffic safety) above which
            a car follows too closely; SLOWER has 0.08, candidates trained for 200 000 steps about 0.2, constant
            actions that crash 0.31 and more.
        safe_ttc: Share of frames with a time to collision below 1.5 s under which driving looks safe; constant
            actions that crash have 0.10 and more.
        slower_ms: Loss of speed against a parent that counts, m/s; a tenth of the fitness's span of speed.
        safer: Fall of the crash rate against a parent that counts; about two standard errors of the difference of two
            rates of 0.05 over 500 episodes.
        risky: Crash rate from which crashes matter; at 0.05 the fitness's gate takes its first per cent.
    """

    lane_changes_per_km: float = 4.0
    overtakes_per_lane_change: float = 0.8
    accel_rms_ms2: float = 6.0
    stationary_ms: float = 20.5
    survived: float = 0.9
    tailgating: float = 0.3
    safe_ttc: float = 0.05
    slower_ms: float = 1.0
    safer: float = 0.03
    risky: float = 0.05


LIMITS = DrivingLimits()
"""The thresholds in use."""


def driving_findings(entry: ArchiveEntry, outcome: Outcome, parents: Sequence[ArchiveEntry]) -> Iterator[Finding]:
    """Yield what the rules find in the measured driving; a rule whose measures are absent finds nothing."""
    for rule in (_lane_weaving, _acceleration_spam, _stationary_farming):
        yield from rule(outcome)
    yield from _ttc_exploitation(entry, outcome)
    yield from _slow_down_to_survive(outcome, parents)
    yield from _judged_low(entry, outcome)


def _present(metrics: Mapping[str, float], *names: str) -> tuple[float, ...] | None:
    return tuple(metrics[name] for name in names) if all(name in metrics for name in names) else None


def _lane_weaving(outcome: Outcome) -> Iterator[Finding]:
    found = _present(outcome.metrics, "lane_changes_per_km", "overtakes_per_km")
    if found is None:
        return
    changes, overtakes = found
    if changes > LIMITS.lane_changes_per_km and overtakes < LIMITS.overtakes_per_lane_change * changes:
        yield Finding(
            name="lane_weaving",
            sentence=f"changes lanes {changes:.1f} times per km for {overtakes:.1f} net overtakes per km",
            evidence={"lane_changes_per_km": changes, "overtakes_per_km": overtakes},
        )


def _acceleration_spam(outcome: Outcome) -> Iterator[Finding]:
    accel = outcome.metrics.get("accel_rms_ms2")
    if accel is not None and accel > LIMITS.accel_rms_ms2:
        yield Finding(
            name="acceleration_spam",
            sentence=f"accelerates, brakes and steers all the time: {accel:.1f} m/s2 root mean square",
            evidence={"accel_rms_ms2": accel},
        )


def _stationary_farming(outcome: Outcome) -> Iterator[Finding]:
    found = _present(outcome.metrics, "progress_ms", "completion")
    if found is None or not outcome.curve:
        return
    progress, completion = found
    own = outcome.curve[-1].own_return
    if progress <= LIMITS.stationary_ms and completion >= LIMITS.survived and own > 0.0:
        yield Finding(
            name="stationary_farming",
            sentence=f"collects {own:.3g} of its own reward an episode at {progress:.1f} m/s, the pace of a car that "
            "only brakes",
            evidence={"own_return": own, "progress_ms": progress, "completion": completion},
        )


def _ttc_exploitation(entry: ArchiveEntry, outcome: Outcome) -> Iterator[Finding]:
    found = _present(outcome.metrics, "headway_low_share", "ttc_low_share")
    if found is None or 'state["ttc"]' not in entry.candidate.source:
        return
    close, low = found
    if close > LIMITS.tailgating and low < LIMITS.safe_ttc:
        yield Finding(
            name="ttc_exploitation",
            sentence=f"follows within 0.9 s for {close:.0%} of the time at the speed of the car ahead, where the time "
            f"to collision that it is paid for looks safe (below 1.5 s for only {low:.1%})",
            evidence={"headway_low_share": close, "ttc_low_share": low},
        )


def _slow_down_to_survive(outcome: Outcome, parents: Sequence[ArchiveEntry]) -> Iterator[Finding]:
    now = _present(outcome.metrics, "speed_ms", "crash_rate")
    for parent in parents:
        before = None if parent.outcome is None else _present(parent.outcome.metrics, "speed_ms", "crash_rate")
        if now is None or before is None:
            continue
        slower, safer = before[0] - now[0], before[1] - now[1]
        if slower >= LIMITS.slower_ms and safer >= LIMITS.safer:
            yield Finding(
                name="slow_down_to_survive",
                sentence=f"crashes in {now[1]:.0%} instead of {before[1]:.0%} of its parent {parent.candidate.id} only "
                f"by driving {slower:.1f} m/s slower",
                evidence={
                    "speed_ms": now[0],
                    "parent_speed_ms": before[0],
                    "crash_rate": now[1],
                    "parent_crash_rate": before[1],
                },
            )


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
    yield Finding(
        name="weakest_term",
        sentence=f"loses most by {worst}: {judged.terms[worst]:.2f} of 1, {lost[worst]:.2f} of the fitness",
        evidence={f"{worst}_term": judged.terms[worst], "fitness_lost": lost[worst]},
    )
