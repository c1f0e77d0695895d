"""What the detectors count in the episodes that a candidate drove, habit by habit.

Each function takes the drives and returns, for every log, how much of its habit it shows and in which rows. Names and
thresholds are in `detector_table.py`.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actors.detector_table import BAND, DETECTORS, FREE_S, PARKED_MS, REVERSAL_S, SLOW_MS, UNDONE_S
from actors.drives import Drives, Signal
from actors.reward_bends import bends
from driving.kernel.records import LOW_HEADWAY
from driving.trajectory import Trajectory

SURVIVED = 0.9
"""Share of the scheduled time driven from which a car survives."""
BONUS = 2.0
"""From which multiple of another decision's reward a crash is paid a bonus rather than left uncharged."""
LAST_S = 3.0
"""What is shown before a crash, s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """One habit, as far as a candidate has it.

    Attributes:
        signals: What each log shows of it.
        sentence: What was measured, with its numbers.
        evidence: The numbers.
        given: Whether the circumstances are those in which the habit is one.
    """

    signals: Sequence[Signal]
    sentence: str
    evidence: Mapping[str, float]
    given: bool = True


def weaving(drives: Drives) -> Habit:
    """Count lane changes less net overtakes, per km."""
    changes = [log.changes.astype(np.float64) for log in drives.logs]
    overtakes = [log["overtakes_made"] - log["overtakes_suffered"] for log in drives.logs]
    marks = [changed - overtook for changed, overtook in zip(changes, overtakes, strict=True)]
    evidence = {"lane_changes_per_km": _per_km(drives, changes), "overtakes_per_km": _per_km(drives, overtakes)}
    text = "changes lanes {lane_changes_per_km:.1f} times per km for {overtakes_per_km:.1f} net overtakes per km"
    return Habit(signals=_by_km(drives, marks), sentence=text.format_map(evidence), evidence=evidence)


def lane_request_farming(drives: Drives) -> Habit:
    """Count requests for a lane that are followed, within `UNDONE_S`, by one for the lane before, per km."""
    marks, requests = [], []
    for log in drives.logs:
        lanes, asked = log["target_lane"], _turns(log, "target_lane")
        undone = [
            now
            for before, now in itertools.pairwise(asked)
            if _seconds(log, before, now) <= UNDONE_S and lanes[now] == lanes[before - 1]
        ]
        marks.append(_marked(log, undone))
        requests.append(_marked(log, asked))
    evidence = {"lane_requests_per_km": _per_km(drives, requests), "undone_per_km": _per_km(drives, marks)}
    text = "asks for a lane {lane_requests_per_km:.1f} times per km and takes {undone_per_km:.1f} of these back at once"
    return Habit(signals=_by_km(drives, marks), sentence=text.format_map(evidence), evidence=evidence)


def tailgating(drives: Drives) -> Habit:
    """Count frames close to the vehicle ahead: below `LOW_HEADWAY`, or just above where the reward bends."""
    program = drives.program
    headways = () if program is None else bends(program, "time_headway")
    gaps = () if program is None else bends(program, "front_dist")
    close, beside = [], []
    for log in drives.logs:
        near = log.measured & (log["headway_s"] < BAND * LOW_HEADWAY)
        close.append(log.measured & (log["headway_s"] < LOW_HEADWAY))
        beside.append(near & (_just_above(log["headway_s"], headways) | _just_above(log["gap_m"], gaps)))
    evidence = {"headway_low_share": _share(drives, close), "just_above_share": _share(drives, beside)}
    sentence = f"follows within {LOW_HEADWAY:g} s for {evidence['headway_low_share']:.0%} of the time"
    if evidence["just_above_share"] > 0.0:
        places = [f"{each:.3g} s" for each in headways] + [f"{each:.3g} m" for each in gaps]
        sentence += f", just above where its reward bends ({', '.join(places)}) for {evidence['just_above_share']:.0%}"
    both = [low | above for low, above in zip(close, beside, strict=True)]
    return Habit(signals=_by_frame(drives, both), sentence=sentence, evidence=evidence)


def acceleration_spam(drives: Drives) -> Habit:
    """Count changes of target speed that are reversed within `REVERSAL_S`, per minute."""
    signals = []
    for log in drives.logs:
        steps, turns = np.diff(log["target_speed_ms"], prepend=0.0), _turns(log, "target_speed_ms")
        reversed_at = [
            now
            for before, now in itertools.pairwise(turns)
            if _seconds(log, before, now) <= REVERSAL_S and steps[now] * steps[before] < 0.0
        ]
        minutes = float(log.measured.sum()) / drives.scenario.simulation_frequency / 60.0
        signals.append(Signal(float(len(reversed_at)), minutes, _marked(log, reversed_at)))
    along = np.concatenate([log["accel_ms2"][log.measured] for log in drives.logs])
    evidence = {
        "reversals_per_min": _ratio(signals),
        "along_accel_rms_ms2": float(np.sqrt((along**2).mean())) if len(along) else 0.0,
    }
    text = (
        "turns from speeding up to braking or back {reversals_per_min:.1f} times a minute, with a root mean square of "
        "{along_accel_rms_ms2:.1f} m/s2 along the road"
    )
    return Habit(signals=signals, sentence=text.format_map(evidence), evidence=evidence)


def parking(drives: Drives) -> Habit:
    """Count frames at the lowest target speed."""
    signals = _by_frame(drives, _parked(drives))
    return Habit(
        signals=signals,
        sentence=f"drives below {PARKED_MS:g} m/s, as slowly as the car can, for {_ratio(signals):.0%} of the time",
        evidence={"parked_share": _ratio(signals), "completion": drives.completion},
        given=drives.completion >= SURVIVED,
    )


def crawling(drives: Drives) -> Habit:
    """Count the frames on a free road that are driven below `SLOW_MS`, by a car that is not parked."""
    signals, free = [], []
    for log in drives.logs:
        free.append(log.measured & (log["headway_s"] > FREE_S))
        slow = (free[-1] & (log["speed_ms"] < SLOW_MS)).astype(np.float64)
        signals.append(Signal(float(slow.sum()), float(free[-1].sum()), slow))
    share, free_share, parked = _ratio(signals), _share(drives, free), _share(drives, _parked(drives))
    return Habit(
        signals=signals,
        sentence=f"drives below {SLOW_MS:g} m/s for {share:.0%} of the time that nothing is within {FREE_S:g} s ahead "
        f"({free_share:.0%} of all)",
        evidence={"slow_share": share, "free_share": free_share, "parked_share": parked},
        given=drives.completion >= SURVIVED and parked <= DETECTORS["parking"].threshold,
    )


def off_road_between_decisions(drives: Drives) -> Habit:
    """Count frames off the road in decisions that end on it."""
    hidden = []
    for log in drives.logs:
        frames = log.frames_per_decision
        ends = -(-np.arange(len(log)) // frames) * frames
        hidden.append(log.measured & (log["on_road"] == 0.0) & (log["on_road"][ends] == 1.0))
    count = float(sum(rows.sum() for rows in hidden))
    sentence = f"is off the road in {count:.0f} frames of decisions that end on it"
    return Habit(signals=_by_frame(drives, hidden), sentence=sentence, evidence={"frames": count})


def early_ending(drives: Drives) -> Habit | None:
    """Count the scheduled time that crashes cut off, where they pay; None where nothing crashed or nothing is known."""
    earned = drives.earned()
    if earned is None or not len(earned[0]) or not len(earned[1]):
        return None
    scheduled, last = drives.scenario.decisions, round(LAST_S * drives.scenario.simulation_frequency)
    signals = []
    for log in drives.logs:
        cut = float(scheduled - len(log.states)) if log.crashed else 0.0
        end = int(log["crashed"].argmax()) if log.crashed else 0
        signals.append(Signal(cut, float(scheduled), cut * _marked(log, range(max(end - last, 0), end + 1))))
    ordinary, crash = float(earned[0].mean()), float(earned[1].mean())
    onward = drives.horizon * ordinary
    return Habit(
        signals=signals,
        sentence=f"cuts off {_ratio(signals):.0%} of the scheduled time by crashing; by its own reward a crash earns "
        f"{crash:.3g}, another decision {ordinary:.3g} and {drives.horizon:.0f} of them {onward:.3g}",
        evidence={"crash_reward": crash, "decision_reward": ordinary, "crash_rate": drives.crash_rate},
        given=crash >= onward or crash >= BONUS * ordinary > 0.0,
    )


HABITS: Mapping[str, Callable[[Drives], Habit | None]] = {
    each.__name__: each
    for each in (
        weaving,
        lane_request_farming,
        tailgating,
        acceleration_spam,
        parking,
        crawling,
        off_road_between_decisions,
        early_ending,
    )
}
"""What is counted, by the name of its detector."""


def _parked(drives: Drives) -> list[NDArray[np.bool_]]:
    return [log.measured & (log["speed_ms"] < PARKED_MS) for log in drives.logs]


def _turns(log: Trajectory, column: str) -> list[int]:
    """Return the rows in which a column differs from the row before, up to the crash."""
    changed = np.diff(log[column], prepend=log[column][0]) != 0.0
    return [int(row) for row in np.flatnonzero(changed & log.measured)]


def _seconds(log: Trajectory, before: int, now: int) -> float:
    return float(log["time_s"][now] - log["time_s"][before])


def _marked(log: Trajectory, rows: Sequence[int]) -> NDArray[np.float64]:
    marks = np.zeros(len(log))
    marks[list(rows)] = 1.0
    return marks


def _just_above(values: NDArray[np.float64], limits: Sequence[float]) -> NDArray[np.bool_]:
    found = np.zeros(len(values), np.bool_)
    for limit in limits:
        if limit > 0.0:
            found |= (values >= limit) & (values < BAND * limit)
    return found


def _by_km(drives: Drives, marks: Sequence[NDArray[np.float64]]) -> list[Signal]:
    return [
        Signal(float(rows.sum()), log.distance_m / 1000.0, rows) for log, rows in zip(drives.logs, marks, strict=True)
    ]


def _by_frame(drives: Drives, marks: Sequence[NDArray[np.bool_]]) -> list[Signal]:
    return [
        Signal(float(rows.sum()), float(log.measured.sum()), rows.astype(np.float64))
        for log, rows in zip(drives.logs, marks, strict=True)
    ]


def _ratio(signals: Sequence[Signal]) -> float:
    below = sum(signal.per for signal in signals)
    return sum(signal.amount for signal in signals) / below if below > 0.0 else 0.0


def _per_km(drives: Drives, marks: Sequence[NDArray[np.float64]]) -> float:
    return _ratio(_by_km(drives, marks))


def _share(drives: Drives, marks: Sequence[NDArray[np.bool_]]) -> float:
    return _ratio(_by_frame(drives, marks))
