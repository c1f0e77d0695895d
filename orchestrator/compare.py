"""Searches side by side: who found the better driver for the same compute.

Runs that were asked for the same, but for their seed, are repeats of one group. A group's figures are those of its
champions on report episodes, which selected nobody; without finals there is only the fitness of the selection, which
is inflated by it. `actors/aggregate.py` holds the statistics.
"""

import hashlib
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actors.aggregate import Estimate, improvement, interquartile_mean, mean
from actors.message import Message
from actors.record import SearchRecord
from orchestrator.points import settings
from search_spaces.errors import UsageError

TOLERANCE = 0.05
"""Relative difference in compute from which a comparison is not one of equal budgets."""
FEW = 5
"""Repeats below which nothing should be concluded."""
_OF_A_REPEAT = ("search_id", "seed")
"""Settings in which repeats differ."""
_AFTERWARDS = ("confirming", "ablation")
"""Stages that measure the champion when it is chosen; what they cost bought nobody a better one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat(Message):
    """One search and what came of it.

    Attributes:
        run: Its folder, as it was named.
        seed: Seed of the search.
        finished: Whether it ended by itself.
        champion: Id of its champion; None where there is none.
        selection: The champion's fitness when it was selected.
        finals: Its fitness in the finals that made it champion; None without finals.
        confirmed: Its fitness on report episodes, from trainings of their own; None without finals.
        confirmed_steps: Environment steps of each of these trainings.
        search_steps: Environment steps of the candidates of all generations.
        finals_steps: Environment steps of the finals up to the champion.
        steps_to_reach: Environment steps until a candidate had the fitness that was asked for; None: none had.
        wall_s: Seconds that it worked.
    """

    run: str
    seed: int
    finished: bool
    champion: str | None
    selection: float | None
    finals: float | None
    confirmed: float | None
    confirmed_steps: int | None = None
    search_steps: int
    finals_steps: int
    steps_to_reach: int | None = None
    wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Message):
    """Repeats of one plan, and their figures.

    Attributes:
        name: Its strategy, and other settings in which groups differ.
        repeats: The searches, in the order of their seeds.
        scored: How many of them count: finished, with a champion that was measured.
        search_steps: Mean environment steps of the candidates, over the repeats that finished, if any has.
        finals_steps: Mean environment steps of the finals.
        mean: Mean fitness; None where no repeat counts.
        iqm: Interquartile mean.
        best: Fitness of the best.
        improvement: Probability that a repeat of the first group is better than one of this; None for the first.
    """

    name: str
    repeats: tuple[Repeat, ...]
    scored: int
    search_steps: float
    finals_steps: float
    mean: Estimate | None = None
    iqm: Estimate | None = None
    best: float | None = None
    improvement: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Message):
    """Groups side by side.

    Attributes:
        figure: What the fitness is: `confirmed`, or `selection` where no finals were held.
        groups: In the order in which their first run was named.
        reach: Fitness whose first candidate is looked for; None: none was asked for.
        warnings: What a reader has to know before concluding anything.
    """

    figure: str
    groups: tuple[Group, ...]
    reach: float | None
    warnings: tuple[str, ...]


def compare(records: Mapping[str, SearchRecord], reach: float | None = None) -> Compared:
    """Compare searches.

    Args:
        records: By the name that a reader knows them under.
        reach: Fitness of which is told how many environment steps it took.

    Raises:
        UsageError: Searches that cannot be compared: not started, on different roads or different traffic.
    """
    _refuse_incomparable(records)
    plans = {name: _asked(record) for name, record in records.items()}
    distinct: list[dict[str, object]] = []
    for plan in plans.values():
        if plan not in distinct:
            distinct.append(plan)
    names = _names(distinct)
    finals = all(record.plan is not None and record.plan.finals.finalists for record in records.values())
    figure = "confirmed" if finals else "selection"
    groups: list[Group] = []
    for name, plan in zip(names, distinct, strict=True):
        repeats = [repeat_of(run, records[run], reach) for run, each in plans.items() if each == plan]
        groups.append(_group(name, repeats, figure, groups[0] if groups else None))
    warnings = (*_about_figures(figure, records), *_about_groups(groups))
    return Compared(figure=figure, groups=tuple(groups), reach=reach, warnings=warnings)


def repeat_of(run: str, record: SearchRecord, reach: float | None = None) -> Repeat:
    """Return what came of one search.

    Args:
        run: What it is called.
        record: The search, which has started.
        reach: See `compare`.
    """
    archive, confirmed = record.archive, record.confirmed
    champion = record.champion
    judged = archive.fitnesses.get(champion) if champion is not None else None
    searched, finals, reached = 0, 0, None
    for name, outcome in archive.outcomes.items():
        candidate, found = archive.candidates[name], archive.fitnesses.get(name)
        if candidate.role == "candidate":
            searched += outcome.env_steps
            if reach is not None and reached is None and found is not None and found.value >= reach:
                reached = searched
        elif candidate.stage and candidate.stage not in _AFTERWARDS:
            finals += outcome.env_steps
    return Repeat(
        run=run,
        seed=record.plan.seed if record.plan is not None else 0,
        finished=record.finished,
        champion=champion,
        selection=judged.value if judged is not None else None,
        finals=confirmed.finals if confirmed is not None else None,
        confirmed=confirmed.fitness.value if confirmed is not None and confirmed.fitness is not None else None,
        confirmed_steps=None if confirmed is None else confirmed.steps,
        search_steps=searched,
        finals_steps=finals,
        steps_to_reach=reached,
        wall_s=round(record.wall_s, 1),
    )


def _group(name: str, repeats: Sequence[Repeat], figure: str, first: Group | None) -> Group:
    scores = _scores(repeats, figure)
    paid = [each for each in repeats if each.finished] or repeats
    others = _scores(first.repeats, figure) if first is not None else []
    return Group(
        name=name,
        repeats=tuple(sorted(repeats, key=lambda each: each.seed)),
        scored=len(scores),
        search_steps=statistics.fmean(each.search_steps for each in paid),
        finals_steps=statistics.fmean(each.finals_steps for each in paid),
        mean=mean(scores) if scores else None,
        iqm=interquartile_mean(scores) if scores else None,
        best=max(scores, default=None),
        improvement=improvement(others, scores) if others and scores else None,
    )


def _scores(repeats: Sequence[Repeat], figure: str) -> list[float]:
    found = [each.confirmed if figure == "confirmed" else each.selection for each in repeats if each.finished]
    return [each for each in found if each is not None]


def _asked(record: SearchRecord) -> dict[str, object]:
    """Return what a search was asked, without what differs between repeats."""
    plan: dict[str, Any] = {} if record.plan is None else record.plan.to_json()
    asked = {name: value for name, value in settings(plan) if name not in _OF_A_REPEAT}
    given = {name: plan.get(name, []) for name in ("start_from", "imported")}
    return {**asked, **{name: _programs(each) for name, each in given.items()}}


def _programs(given: Sequence[object]) -> str:
    """Name the programs that a search was given: the same ones alike, others otherwise."""
    if not given:
        return "none"
    return f"{len(given)} ({hashlib.sha256(json.dumps(given).encode()).hexdigest()[:8]})"


def _names(plans: Sequence[Mapping[str, object]]) -> list[str]:
    """Name each plan by its strategy and the other settings in which plans differ."""
    differing = [
        name
        for name in dict.fromkeys(name for plan in plans for name in plan)
        if any(plan.get(name) != plans[0].get(name) for plan in plans) and name != "strategy"
    ]
    return [
        ", ".join([str(plan["strategy"]), *(f"{name.replace('/', '.')} {plan.get(name)}" for name in differing)])
        for plan in plans
    ]


def _refuse_incomparable(records: Mapping[str, SearchRecord]) -> None:
    roads, digests, episodes = {}, {}, {}
    for name, record in records.items():
        if record.plan is None:
            raise UsageError(f"compare: {name} has not started; expected searches with results")
        roads[name] = str(record.plan.scenario.to_json())
        episodes[name] = str(record.plan.held_out)
        if record.confirmed is not None:
            digests[name] = record.confirmed.seeds_digest
    for what, found in (
        ("drive on different roads", roads),
        ("met different traffic (held_out)", episodes),
        ("met different traffic (seed sets)", digests),
    ):
        one = next(iter(found), "")
        other = next((name for name in found if found[name] != found[one]), None)
        if other is not None:
            raise UsageError(f"compare: {one} and {other} {what}; their figures say nothing about each other")


def _about_figures(figure: str, records: Mapping[str, SearchRecord]) -> Iterator[str]:
    if figure == "selection":
        yield (
            "no finals were held in some of these searches: the fitness is that of the selection, the best of many "
            "noisy ones, and inflated by luck"
        )
    if any(record.plan is not None and record.plan.finals.finalists == 0 for record in records.values()) and any(
        record.confirmed is not None for record in records.values()
    ):
        yield "other searches held finals; their confirmed figures are left aside, for only like is compared with like"
    for name, record in records.items():
        confirmed, plan = record.confirmed, record.plan
        if figure == "confirmed" and confirmed is not None and plan is not None:
            lost = plan.finals.confirm - confirmed.replicates
            if lost and confirmed.fitness is not None:
                yield (
                    f"{name}: {lost} of its {plan.finals.confirm} confirming trainings broke; leaving them out flatters"
                )


def _about_groups(groups: Sequence[Group]) -> Iterator[str]:
    first = groups[0]
    for group in groups:
        seeds = [each.seed for each in group.repeats]
        twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
        if twice:
            yield f"{group.name}: seed {twice[0]} occurs twice; such runs repeat each other and prove nothing new"
        unfinished = [each.run for each in group.repeats if not each.finished]
        if unfinished:
            yield f"{group.name}: left out because unfinished: {', '.join(unfinished)}"
        missing = len(group.repeats) - len(unfinished) - group.scored
        if missing:
            yield f"{group.name}: {missing} finished without a champion that could be measured; leaving it out flatters"
        if group.scored < FEW:
            yield f"{group.name}: {group.scored} of its repeats count; at least {FEW} are wanted to conclude anything"
        compute, base = (each.search_steps + each.finals_steps for each in (group, first))
        if base and abs(compute / base - 1) > TOLERANCE:
            yield (
                f"{group.name} used {compute / base - 1:+.0%} environment steps compared with {first.name}: this is no "
                "comparison at equal compute"
            )
        trained, like = _confirmed_steps(group), _confirmed_steps(first)
        if trained and like and abs(trained / like - 1) > TOLERANCE:
            yield (
                f"{group.name}: champions were trained for {trained:,.0f} environment steps to be confirmed, those of "
                f"{first.name} for {like:,.0f}: that alone may make the difference"
            )


def _confirmed_steps(group: Group) -> float | None:
    steps = [each.confirmed_steps for each in group.repeats if each.confirmed_steps is not None]
    return statistics.fmean(steps) if steps else None
