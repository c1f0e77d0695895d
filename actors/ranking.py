"""The order of candidates: by what can be claimed of them, then by what they add to those above.

1. **Judged**, by the lower end of the fitness's interval (its value where there is none). Among equals the one that
   drives least like all that are ranked above comes first, and after that the older one.
2. **Stopped early**: censored, not bad; nothing is known of how they would have ended.
3. Those of which nothing is known yet, and those that were trained but in which a needed measure is undefined.
4. **Failed** and faulted.

Inside the last three the older one comes first. A fitness that is not a finite number is none. So a generation in which
all failed ranks nobody, one with a single survivor ranks that one, and one of equals is ordered by behaviour alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from actors.messages import ArchiveEntry

BEHAVIOUR: Mapping[str, float] = {
    "crash_rate": 0.2,
    "speed_ms": 3.0,
    "overtakes_per_min": 4.0,
    "lane_changes_per_km": 2.0,
    "right_lane_share": 0.4,
    "ttc_low_share": 0.05,
    "accel_rms_ms2": 2.0,
}
"""Measures in which two drivers differ, each with the difference that counts as one: about the spread between the
policies of twelve rewards after 1 000 000 steps on highway-fast-v0."""

_LATER = {"stopped": 0, "failed": 2, "faulted": 2}


def distance(one: ArchiveEntry, other: ArchiveEntry) -> float:
    """Return how differently two drive, in units of `BEHAVIOUR`; measures that one of them lacks do not count."""
    if one.outcome is None or other.outcome is None:
        return 0.0
    mine, theirs = one.outcome.metrics, other.outcome.metrics
    return math.sqrt(
        sum(
            ((mine[name] - theirs[name]) / unit) ** 2
            for name, unit in BEHAVIOUR.items()
            if name in mine and name in theirs
        )
    )


def ranked(entries: Iterable[ArchiveEntry]) -> tuple[ArchiveEntry, ...]:
    """Return those that were judged, best first.

    Args:
        entries: Candidates, older ones first.
    """
    judged = sorted((each for each in entries if _claim(each) is not None), key=_claimed, reverse=True)
    above: list[ArchiveEntry] = []
    for _, equals in groupby(judged, key=_claimed):
        above += _spread_out(list(equals), above)
    return tuple(above)


def ordered(entries: Sequence[ArchiveEntry]) -> tuple[ArchiveEntry, ...]:
    """Return all candidates: the ranked ones, then the stopped, the unknown and the failed.

    Args:
        entries: Candidates, older ones first.
    """
    others = [each for each in entries if _claim(each) is None]
    return (*ranked(entries), *sorted(others, key=_later))


def _claim(entry: ArchiveEntry) -> float | None:
    fitness = entry.fitness
    if fitness is None or not (math.isfinite(fitness.value) and math.isfinite(fitness.certain)):
        return None
    return fitness.certain


def _claimed(entry: ArchiveEntry) -> float:
    claim = _claim(entry)
    return -math.inf if claim is None else claim


def _later(entry: ArchiveEntry) -> int:
    return 1 if entry.outcome is None else _LATER.get(entry.outcome.status, 1)


def _spread_out(equals: list[ArchiveEntry], above: Sequence[ArchiveEntry]) -> list[ArchiveEntry]:
    """Return equals such that each is, of those left, the farthest from all that come before it."""
    if len(equals) == 1:
        return equals
    nearest = [min((distance(each, other) for other in above), default=0.0) for each in equals]
    taken: list[ArchiveEntry] = []
    while equals:
        place = nearest.index(max(nearest))
        chosen = equals.pop(place)
        first = not above and not taken
        del nearest[place]
        taken.append(chosen)
        away = [distance(each, chosen) for each in equals]
        nearest = away if first else [min(pair) for pair in zip(nearest, away, strict=True)]
    return taken
