"""What cannot be had for nothing: the drivers that nobody beats on speed and crash rate at once."""

from collections.abc import Mapping
from dataclasses import dataclass

from actors.archive import Archive
from actors.message import Message

SPEED, CRASHES = "speed_ms", "crash_rate"
"""The two measures of the front: more is better, less is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint(Message):
    """A driver on the front.

    Attributes:
        name: Candidate id or baseline name.
        speed_ms: Distance over time driven, m/s.
        crash_rate: Share of episodes that crash, 0 to 1.
        fitness: Fitness; None where there is none.
    """

    name: str
    speed_ms: float
    crash_rate: float
    fitness: float | None = None


def front(drivers: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """Return who is not dominated: nobody else is as fast and as safe, and better in one of the two.

    Args:
        drivers: Name to speed, m/s, and crash rate, 0 to 1.

    Returns:
        Names, slowest first, equals by name.
    """
    kept: list[str] = []
    safest = float("inf")
    fastest = float("-inf")
    for name in sorted(drivers, key=lambda name: (-drivers[name][0], drivers[name][1], name)):
        speed, crashes = drivers[name]
        if crashes < safest or (crashes == safest and speed == fastest):
            kept.append(name)
            safest, fastest = crashes, speed
    return tuple(sorted(kept, key=lambda name: (drivers[name][0], name)))


def speed_crash_front(archive: Archive) -> tuple[FrontPoint, ...]:
    """Return the front of all candidates and baselines that were measured on the selection episodes, slowest first.

    Retrainings of the finals are left out: other episodes measured them.
    """
    metrics = {name: baseline.metrics for name, baseline in archive.baselines.items()}
    fitnesses = {name: baseline.fitness for name, baseline in archive.baselines.items()}
    for entry in archive.entries():
        if entry.outcome is not None and entry.outcome.status == "trained":
            metrics[entry.candidate.id] = entry.outcome.metrics
            fitnesses[entry.candidate.id] = entry.fitness
    drivers = {
        name: (each[SPEED], each[CRASHES]) for name, each in metrics.items() if SPEED in each and CRASHES in each
    }
    points = []
    for name in front(drivers):
        judged = fitnesses[name]
        speed, crashes = drivers[name]
        points.append(
            FrontPoint(name=name, speed_ms=speed, crash_rate=crashes, fitness=None if judged is None else judged.value)
        )
    return tuple(points)
