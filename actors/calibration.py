"""How often what is said of a program before its training, or early in it, was right once it was trained.

A **flag** says that a program is bad: a refusal of the gate, a finding of the linter, a warning. A **score** says how
good it will be: the screen's tau, the fitness at a rung. Both are filters: a flag keeps what it does not name, a score
the better half. What they keep is compared with what the programs became:

    good         among the best tenth of its search, or above PPO under highway-env's own reward
    precision    share of what is kept that is good; without any filter it is the share of good ones
    recall       share of the good that are kept
    top kept     share of the best tenth that is kept

A normal search trains only what passed language, gate and screen, so that refusals cannot be judged by it and tau only
among the better ones; `benchmarks/calibration.py` trains what was refused too.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.stats import hypergeom

from actors.agreement import Agreement, RungAgreement, agreement
from actors.message import Message

TOP_SHARE = 0.1
"""Share of a search's programs that are its best."""
NOTHING = 0.02
"""Fitness below which nobody is good, the best of a search either: what braking or crashing earns."""
LEAST_FLAGGED = 5
"""Fewest trained programs under a flag for a verdict on it; more where so few could not show that it is right."""
LEAST_SCORED = 20
"""Fewest trained programs with a score for a verdict on it."""
CHANCE = 0.05
"""Probability below which a figure is taken for more than chance; the convention."""
TOP_KEPT = 0.9
"""Share of the best tenth that a filter must keep to be more than a warning: the one program that a search is for is
among them."""

Verdict = Literal["pays", "warning at most", "does not pay", "too few"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Message):
    """A program with what was said of it, and what it became.

    Attributes:
        name: What it is called.
        group: The search that it belongs to; fitness is compared inside it alone.
        fitness: Fitness once trained; None where its reward became non-finite, its training diverged, or a needed
            measure is undefined, which count as bad and rank last.
        flags: What said that it is bad.
        scores: What said how good it will be, more for better, by name.
    """

    name: str
    group: str
    fitness: float | None
    flags: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Message):
    """What a filter keeps and loses, as the module says; None where the share is of nothing.

    Attributes:
        count: Programs that it was tried on.
        kept: How many it keeps.
        good: Share of good ones among all.
        precision: Share of good ones among the kept.
        recall: Share of the good ones that are kept.
        good_among_lost: Share of good ones among those that are not kept.
        top_kept: Share of the best tenth that is kept.
    """

    count: int
    kept: int
    good: float | None
    precision: float | None
    recall: float | None
    good_among_lost: float | None
    top_kept: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagCalibration(Message):
    """How right a flag was.

    Attributes:
        name: The flag.
        kept: What would be trained if it refused.
        p: Probability of so few good ones under the flag if it said nothing (Fisher's exact test, one-sided, over all
            searches together, each with its own share of good and of flagged ones).
        verdict: Whether it pays.
    """

    name: str
    kept: Kept
    p: float
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCalibration(Message):
    """How right a score was.

    Attributes:
        name: The score.
        kept: What would be trained if the better half of each search were.
        agreement: How alike it and the fitness rank.
        verdict: Whether it pays.
    """

    name: str
    kept: Kept
    agreement: Agreement
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Message):
    """How right each verdict was.

    Attributes:
        count: Programs that were trained to the end.
        good: How many of them are good.
        stopped: Candidates that were stopped early: nobody knows what they would have become.
        refused: Refusals that were never trained, by code.
        flags: Refusals and findings.
        scores: Screen and rungs.
        rungs: How rungs agree with each other and with the end.
    """

    count: int
    good: int
    stopped: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[FlagCalibration, ...] = ()
    scores: tuple[ScoreCalibration, ...] = ()
    rungs: tuple[RungAgreement, ...] = ()


def calibrate(cases: Sequence[Case], natives: Mapping[str, float]) -> Calibration:
    """Judge flags and scores by what the programs became.

    Args:
        cases: Trained programs. A flag or score that occurs nowhere in a group was not looked for there.
        natives: Fitness of PPO under highway-env's own reward, by group; absent where it was not trained.
    """
    best = frozenset(_key(each) for group in _grouped(cases) for each in _top(group))
    good = frozenset(
        _key(each)
        for each in cases
        if each.fitness is not None
        and each.fitness > NOTHING
        and (_key(each) in best or each.fitness > natives.get(each.group, math.inf))
    )
    flags = sorted({flag for each in cases for flag in each.flags})
    scores = sorted({score for each in cases for score in each.scores})
    return Calibration(
        count=len(cases),
        good=len(good),
        flags=tuple(_flag(flag, cases, good, best) for flag in flags),
        scores=tuple(_score(score, cases, good, best) for score in scores),
    )


_Key = tuple[str, str]


def _flag(name: str, cases: Sequence[Case], good: frozenset[_Key], best: frozenset[_Key]) -> FlagCalibration:
    groups = {each.group for each in cases if name in each.flags}
    mine = [each for each in cases if each.group in groups]
    passed = [each for each in mine if name not in each.flags]
    kept = _kept(mine, passed, good, best)
    flagged = kept.count - kept.kept
    p, least = _chance(name, mine, good)
    few = flagged < LEAST_FLAGGED or least >= CHANCE
    verdict: Verdict = "too few" if few else _verdict(p < CHANCE, kept.top_kept)
    return FlagCalibration(name=name, kept=kept, p=p, verdict=verdict)


def _chance(name: str, mine: Sequence[Case], good: frozenset[_Key]) -> tuple[float, float]:
    """Return how likely as few good ones under a flag are if it says nothing, and as few as there can be.

    Where the second is not small, a flag that is always right cannot be told from chance either. Searches are kept
    apart: where a search with few good programs also has many flags, a flag that says nothing would seem right over all
    of them together.
    """
    likely, found = np.ones(1), 0
    for group in _grouped(mine):
        flagged = [each for each in group if name in each.flags]
        found += _count(flagged, good)
        counts = np.arange(len(flagged) + 1)
        each = hypergeom(len(group), _count(group, good), len(flagged)).pmf(counts)
        likely = np.convolve(likely, each)
    fewest = int(np.flatnonzero(likely)[0])
    return min(float(likely[: found + 1].sum()), 1.0), float(likely[fewest])


def _score(name: str, cases: Sequence[Case], good: frozenset[_Key], best: frozenset[_Key]) -> ScoreCalibration:
    mine = [each for each in cases if name in each.scores]
    groups = list(_grouped(mine))
    passed = [
        each
        for group in groups
        for each in sorted(group, key=lambda case: -case.scores[name])[: math.ceil(len(group) / 2)]
    ]
    found = agreement([[(each.scores[name], _rank_value(each)) for each in group] for group in groups])
    kept = _kept(mine, passed, good, best)
    right = found.spearman is not None and found.spearman > 0 and found.p is not None and found.p / 2 < CHANCE
    verdict: Verdict = "too few" if found.count < LEAST_SCORED else _verdict(right, kept.top_kept)
    return ScoreCalibration(name=name, kept=kept, agreement=found, verdict=verdict)


def _verdict(right: bool, top_kept: float | None) -> Verdict:
    if not right:
        return "does not pay"
    return "pays" if top_kept is None or top_kept >= TOP_KEPT else "warning at most"


def _kept(mine: Sequence[Case], passed: Sequence[Case], good: frozenset[_Key], best: frozenset[_Key]) -> Kept:
    good_all, good_passed = _count(mine, good), _count(passed, good)
    lost = len(mine) - len(passed)
    return Kept(
        count=len(mine),
        kept=len(passed),
        good=_share(good_all, len(mine)),
        precision=_share(good_passed, len(passed)),
        recall=_share(good_passed, good_all),
        good_among_lost=_share(good_all - good_passed, lost),
        top_kept=_share(_count(passed, best), _count(mine, best)),
    )


def _grouped(cases: Iterable[Case]) -> Iterable[list[Case]]:
    groups: dict[str, list[Case]] = {}
    for each in cases:
        groups.setdefault(each.group, []).append(each)
    return groups.values()


def _top(group: Sequence[Case]) -> list[Case]:
    """Return the best tenth, at least one, equals in their order; nobody who is worth nothing."""
    able = [each for each in group if each.fitness is not None and each.fitness > NOTHING]
    return sorted(able, key=lambda each: -_rank_value(each))[: math.ceil(TOP_SHARE * len(group))]


def _rank_value(case: Case) -> float:
    """Return what a case is ranked by: its fitness, and last of all those without one."""
    return -1.0 if case.fitness is None else case.fitness


def _key(case: Case) -> _Key:
    return case.group, case.name


def _count(cases: Iterable[Case], among: frozenset[_Key]) -> int:
    return sum(_key(each) in among for each in cases)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
