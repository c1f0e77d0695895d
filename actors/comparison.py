"""Judgement and comparison of drivers from their single episodes, with 95 % intervals.

A driver is one table of episodes, or one for each training seed of a program (its replicates), all of the same
episodes. What is said of it is the mean over its replicates. `bootstrap.py` says how the intervals are made.

Of a program that was trained once nothing shows what another training would give. What is known is that its crash rate
would be another one, the more so the higher it is (`RETRAINED`). That goes into the interval of its fitness, by which
candidates are ranked: one that crashes in 15 % of episodes stands where the gate is steep, and its next training may
stand anywhere. The intervals of its measures say how this one policy drives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from actors.bootstrap import draws_for, interval, student, sway, weights
from actors.difference import Difference
from actors.fitness import fitness, scores
from actors.intervals import wilson
from actors.messages import Fitness
from driving.measures import EpisodeTable, resample, resample_percentiles, summarise
from search_spaces.errors import RunError
from search_spaces.scenarios import Scenario

FITNESS = "fitness"
"""Name of the fitness among the measures."""
PERCENTILE_DRAWS = 300
"""Draws of the measures that are percentiles of histograms, which take a hundred times as long."""
_PER_DISTANCE = "crashes_per_1000km"
_RATES = {"crash_rate": "crashed", "at_fault_crash_rate": "at_fault", _PER_DISTANCE: "crashed"}
_SHARES = frozenset(
    {
        FITNESS,
        "crash_rate",
        "at_fault_crash_rate",
        "completion",
        "ttc_low_share",
        "headway_low_share",
        "right_lane_share",
    }
)
_SIGNED = frozenset({"native_return", "overtakes_per_min", "overtakes_per_km"})
_COUNT = "episodes"

RETRAINED = 0.23
"""Standard deviation of the logarithm of the crash rate between trainings of one program with different seeds.

Measured over 28 groups of three to five trainings of 1 000 000 steps, in three searches (decision 0011)."""
_ANOTHER = 1981
"""Seed of the draws of another training: any number, but the same for everyone, so that it turns no order."""

Drawn = Sequence[Mapping[str, NDArray[np.float64]]]
"""Measures of each replicate in each draw of episodes, float64[B] each."""


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """A measure of a driver and how it varies.

    Attributes:
        values: As measured, replicate by replicate, float64[S].
        centre: Mean over the replicates in each draw of episodes, float64[B].
        sway: How far the mean over training seeds could lie from there, float64[B].
    """

    values: NDArray[np.float64]
    centre: NDArray[np.float64]
    sway: NDArray[np.float64]

    @property
    def value(self) -> float:
        return float(self.values.mean())

    @property
    def freedom(self) -> int:
        return len(self.values) - 1

    @property
    def variance(self) -> float:
        """Variance of the mean over training seeds; 0 for a single one, of which nothing can be said."""
        return float(self.values.var(ddof=1)) / len(self.values) if self.freedom else 0.0

    def draws(self) -> NDArray[np.float64]:
        return self.centre + student(self.freedom) * self.sway if self.freedom else self.centre


def judge(tables: Sequence[EpisodeTable], scenario: Scenario, *, trained: bool = True) -> Fitness | None:
    """Judge a driver.

    Args:
        tables: Its episodes, one table for each training seed; histograms are not needed.
        scenario: The road that they were driven on.
        trained: Whether it was trained, so that another training of it would crash more or less often.

    Returns:
        Means over the replicates, with the interval of the fitness (none for a single episode); None when a measure
        that the fitness of one of them needs is undefined.

    Raises:
        RunError: No table, or replicates that drove different episodes.
    """
    _check(tables)
    each = [fitness(summarise(table, scenario)) for table in tables]
    found = [judged for judged in each if judged is not None]
    if len(found) < len(each):
        return None
    values = np.array([judged.value for judged in found])
    mean = Fitness(
        value=float(values.mean()),
        terms={name: float(np.mean([judged.terms[name] for judged in found])) for name in found[0].terms},
        gate=float(np.mean([judged.gate for judged in found])),
    )
    drawn = _retrained(_drawn(tables, scenario), trained)
    spread = _spread(FITNESS, tables, values, drawn)
    ends = None if spread is None else _ends(FITNESS, tables, spread)
    return mean if ends is None else replace(mean, low=ends[0], high=ends[1])


def measured(tables: Sequence[EpisodeTable], scenario: Scenario) -> dict[str, float]:
    """Return each measure's mean over the replicates; one that is undefined for one of them is absent.

    Args:
        tables: A driver's episodes, one table for each training seed.
        scenario: The road that they were driven on.

    Raises:
        RunError: No table, or replicates that drove different episodes.
    """
    _check(tables)
    points = [summarise(table, scenario) for table in tables]
    return {
        name: float(np.mean([each[name] for each in points]))
        for name in points[0]
        if all(name in each for each in points)
    }


def intervals(
    tables: Sequence[EpisodeTable], scenario: Scenario, *, trained: bool = True
) -> dict[str, tuple[float, float]]:
    """Return the 95 % interval of the fitness and of each measure.

    A crash rate has Wilson's, over the episodes of all replicates: a driver that never crashed in 500 episodes may
    crash in 0.8 % of them. At each end it is the wider of that and the bootstrap's where there are several replicates,
    and where it is a rate by distance, whose Wilson interval takes the distance as it was.

    Args:
        tables: A driver's episodes, one table for each training seed.
        scenario: The road that they were driven on.
        trained: Whether it was trained; `judge` says what that does to the interval of the fitness.

    Returns:
        Measure to lower and upper end; without those that are undefined for one of the replicates or in most draws.

    Raises:
        RunError: No table, or replicates that drove different episodes.
    """
    _check(tables)
    points = _points(tables, scenario)
    drawn = _retrained(_drawn(tables, scenario), trained)
    rare = weights(len(tables[0]), PERCENTILE_DRAWS)
    coarse = [resample_percentiles(table, rare) for table in tables]
    found = {}
    for name in points[0]:
        chosen = drawn if name in drawn[0] else coarse
        spread = _spread(name, tables, _values(name, points), chosen)
        ends = None if spread is None or name == _COUNT else _ends(name, tables, spread)
        if ends is not None:
            found[name] = ends
    return found


def difference(
    one: Sequence[EpisodeTable],
    other: Sequence[EpisodeTable],
    scenario: Scenario,
    measure: str = FITNESS,
    *,
    trained: bool = True,
) -> Difference | None:
    """Compare two drivers on the same episodes.

    Args:
        one: A trained driver's episodes, one table for each training seed.
        other: Another's, of the same episodes; it may have another number of replicates.
        scenario: The road that both were driven on.
        measure: What is compared: `fitness` or a measure that is no percentile.
        trained: Whether the other was trained too, so that another training of it would drive otherwise.

    Returns:
        What the one has more; None where it is undefined, or for a single episode.

    Raises:
        RunError: No table, or not all drove the same episodes.
        KeyError: No such measure.
    """
    _check([*one, *other])
    mine = _spread(measure, one, _values(measure, _points(one, scenario)), _drawn(one, scenario))
    theirs = _spread(measure, other, _values(measure, _points(other, scenario)), _drawn(other, scenario))
    if mine is None or theirs is None or len(one[0]) < 2:
        return None
    value = mine.value - theirs.value
    both = mine.centre - theirs.centre + student(_freedom(mine, theirs)) * (mine.sway - theirs.sway)
    ends = interval(both, value)
    better = np.sign(mine.values[:, None] - theirs.values[None, :])
    improvement = float((better.mean() + 1) / 2)
    if ends is None:
        return None
    alone = len(one) == 1 or (trained and len(other) == 1)
    return Difference(value=value, low=ends[0], high=ends[1], probability_of_improvement=improvement, alone=alone)


def _freedom(one: _Spread, other: _Spread) -> float:
    """Return the degrees of freedom of a difference (Welch, Biometrika 1947); infinite without training seeds."""
    total = one.variance + other.variance
    parts = sum(each.variance**2 / each.freedom for each in (one, other) if each.freedom)
    return total**2 / parts if parts > 0.0 else np.inf


def _check(tables: Sequence[EpisodeTable]) -> None:
    if not tables:
        raise RunError("expected at least one table of episodes to judge, found none; evaluate the driver first")
    first = tables[0].seeds
    for table in tables:
        if not np.array_equal(table.seeds, first):
            raise RunError(
                f"expected the same episodes on both sides, found {len(first)} from seed {first[0]} and "
                f"{len(table)} from seed {table.seeds[0]}: two sets differ by 0.04 in mean; drive both on the same ones"
            )


def _points(tables: Sequence[EpisodeTable], scenario: Scenario) -> list[dict[str, float]]:
    """Return the measures of each replicate, the fitness among them where it is defined."""
    points = []
    for table in tables:
        metrics = summarise(table, scenario)
        judged = fitness(metrics)
        points.append(metrics if judged is None else {FITNESS: judged.value, **metrics})
    return points


def _values(name: str, points: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    return np.array([each.get(name, np.nan) for each in points])


def _drawn(tables: Sequence[EpisodeTable], scenario: Scenario) -> Drawn:
    episodes = len(tables[0])
    counts = weights(episodes, draws_for(episodes))
    found = []
    for table in tables:
        metrics = resample(table, scenario, counts)
        found.append({**metrics, FITNESS: scores(metrics)})
    return found


def _retrained(drawn: Drawn, trained: bool) -> Drawn:
    """Return the draws with the fitness that another training could have had, of a program that was trained once."""
    if not trained or len(drawn) > 1:
        return drawn
    once = drawn[0]
    numbers = np.random.default_rng(_ANOTHER).standard_normal(len(once["crash_rate"]))
    crash_rate = np.minimum(once["crash_rate"] * np.exp(RETRAINED * numbers), 1.0)
    return [{**once, FITNESS: scores({**once, "crash_rate": crash_rate})}]


def _spread(name: str, tables: Sequence[EpisodeTable], values: NDArray[np.float64], drawn: Drawn) -> _Spread | None:
    """Return how a measure varies; None where it is undefined for one of the replicates."""
    each = np.stack([metrics[name] for metrics in drawn])
    if not np.isfinite(values).all():
        return None
    return _Spread(values, each.mean(axis=0), sway(tables, values, each.shape[1]))


def _ends(name: str, tables: Sequence[EpisodeTable], spread: _Spread) -> tuple[float, float] | None:
    """Return the interval of a measure, inside what the measure can be; None where there is none."""
    ends = interval(spread.draws(), spread.value)
    column = _RATES.get(name)
    if column is not None:
        low, high = wilson(sum(round(table.columns[column].sum()) for table in tables), sum(map(len, tables)))
        if name == _PER_DISTANCE:
            per_episode = sum(table.columns["distance_m"].sum() for table in tables) / sum(map(len, tables)) / 1e6
            low, high = low / per_episode, high / per_episode
        alone = len(tables) == 1 and name != _PER_DISTANCE
        ends = (low, high) if ends is None or alone else (min(low, ends[0]), max(high, ends[1]))
    elif len(tables[0]) < 2:
        return None
    if ends is None:
        return None
    lowest = -np.inf if name in _SIGNED else 0.0
    highest = 1.0 if name in _SHARES else np.inf
    return max(ends[0], lowest), min(ends[1], highest)
