"""Whether early figures foretell late ones: rank correlations, between rungs and of whatever else ranks programs."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata
from scipy.stats import t as student_t

from actors.archive import Archive
from actors.message import Message

LEAST = 3
"""Fewest programs of a group of which a rank correlation says anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Message):
    """How alike two figures rank the same programs.

    Attributes:
        count: How many programs have both, in groups that say something.
        spearman: Spearman's rank correlation, -1 to 1; None where there is no such group.
        kendall: Kendall's tau-b, -1 to 1, mean over the groups by their numbers of pairs; None likewise.
        p: Probability of a Spearman this far from 0 (two-sided, Student's t) if the figures had nothing to do with each
            other; None where that is undefined.
    """

    count: int
    spearman: float | None = None
    kendall: float | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RungAgreement(Message):
    """How alike a rung and a later measurement rank the candidates that reached both.

    Attributes:
        steps: Environment steps of the rung.
        later: Environment steps of the later rung, or of the end of the training.
        final: Whether the later one is the final fitness.
        agreement: How alike they rank.
    """

    steps: int
    later: int
    final: bool
    agreement: Agreement

    @property
    def name(self) -> str:
        """Such as `100352_to_final`."""
        return f"{self.steps}_to_{'final' if self.final else self.later}"


def agreement(groups: Iterable[Sequence[tuple[float, float]]]) -> Agreement:
    """Return how alike two figures rank.

    Programs are ranked within their group only, because the fitness of another search, on another road or after more
    steps, is another scale; the ranks of all groups, from 0 to 1, are then correlated together. With one group that is
    Spearman's rank correlation as everyone knows it. Groups below `LEAST` and those in which a figure never varies say
    nothing and are left out.

    Args:
        groups: Both figures of each program, finite, by group.
    """
    usable = [np.array(each, np.float64) for each in groups if len(each) >= LEAST]
    usable = [each for each in usable if np.ptp(each, axis=0).min() > 0.0]
    count = sum(len(each) for each in usable)
    if not usable:
        return Agreement(count=count)
    ranks = np.concatenate([_centred_ranks(each) for each in usable])
    covariance = ranks.T @ ranks
    spearman = float(np.clip(covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1]), -1.0, 1.0))
    pairs = [len(each) * (len(each) - 1) for each in usable]
    taus = [float(kendalltau(each[:, 0], each[:, 1]).statistic) for each in usable]
    kendall = float(np.average(taus, weights=pairs))
    return Agreement(count=count, spearman=spearman, kendall=kendall, p=_chance(spearman, count - len(usable) - 1))


def _centred_ranks(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks in each column, as a share of their number, less their mean; float64[N, 2]."""
    ranks = np.asarray(rankdata(pairs, axis=0), np.float64) / len(pairs)
    centred: NDArray[np.float64] = ranks - ranks.mean(axis=0)
    return centred


def _chance(correlation: float, freedom: int) -> float | None:
    """Return the two-sided p-value of a correlation by Student's t; None without degrees of freedom."""
    if freedom < 1:
        return None
    if abs(correlation) >= 1.0:
        return 0.0
    t = abs(correlation) * math.sqrt(freedom / (1.0 - correlation**2))
    return float(2.0 * student_t.sf(t, freedom))


def rung_agreements(archives: Sequence[Archive]) -> tuple[RungAgreement, ...]:
    """Return how each rung agrees with the next one and with the final fitness.

    A candidate that was stopped counts up to the rung that it reached, so that where early stopping is on, later
    agreements are those of the better half alone, and lower than they would be of all.

    Args:
        archives: Searches; what was trained for another number of steps is told apart.
    """
    groups: dict[tuple[int, int, bool], list[list[tuple[float, float]]]] = {}
    for archive in archives:
        mine: dict[tuple[int, int, bool], list[tuple[float, float]]] = {}
        for key, pair in _pairs(archive):
            mine.setdefault(key, []).append(pair)
        for key, found in mine.items():
            groups.setdefault(key, []).append(found)
    return tuple(
        RungAgreement(steps=steps, later=later, final=final, agreement=agreement(found))
        for (steps, later, final), found in sorted(groups.items())
    )


def _pairs(archive: Archive) -> Iterator[tuple[tuple[int, int, bool], tuple[float, float]]]:
    for entry in archive.entries():
        if entry.outcome is None:
            continue
        points = [(each.steps, each.fitness) for each in entry.outcome.rungs if each.fitness is not None]
        for (steps, early), (later, late) in pairwise(points):
            yield (steps, later, False), (early, late)
        if entry.fitness is not None:
            for steps, early in points:
                yield (steps, entry.outcome.env_steps, True), (early, entry.fitness.value)


def summarise_rungs(archive: Archive) -> list[Mapping[str, object]]:
    """Return the agreements of one search as `summary.json` holds them."""
    return [
        {"steps": each.steps, "later": "final" if each.final else each.later, **each.agreement.to_json()}
        for each in rung_agreements([archive])
    ]
