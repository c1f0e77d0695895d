"""How far a search is, for whoever shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from actors.message import Message
from actors.record import STAGES, SearchRecord
from actors.standings import Standing

TrialStatus = Literal["waiting", "training", "trained", "stopped", "faulted", "failed"]
Phase = Literal[
    "locked", "designing", "training", "criticising", "finals", "replaying", "generalising", "finished", "broken"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialProgress(Message):
    """One candidate or baseline of the generation at work.

    Attributes:
        id: Its id.
        status: Where it is.
        of_steps: Environment steps that it is trained for.
        steps: Environment steps trained so far.
        steps_per_s: Environment steps per second; 0 while it does not train.
        fitness: Its fitness; None until judged.
        reason: Why it is not trained; empty otherwise.
    """

    id: str
    status: TrialStatus
    of_steps: int
    steps: int = 0
    steps_per_s: float = 0.0
    fitness: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Message):
    """How far a search is.

    Attributes:
        search_id: Its name.
        phase: What it is doing; `locked` until it was handed its keys.
        generation: Generation at work, from 0.
        generations: How many there will be.
        population: Candidates in a generation.
        steps: Environment steps of a candidate.
        trials: Candidates of this generation, or trainings of this stage of the finals; then what else trains.
        done: Candidates delivered, over all generations.
        refused: Proposals refused, over all generations.
        best: Id of the best candidate; None before the first was judged.
        best_fitness: Its fitness.
        scores: Best fitness of each finished generation; None where nobody was judged.
        env_steps: Environment steps delivered so far, over all sessions.
        tokens: LLM tokens spent.
        elapsed_s: Seconds of all sessions, up to the last event.
        left_s: Seconds left, finals included, by the pace of this session; None before its first delivery.
        finals_done: Trainings of the finals delivered.
        finals_known: Trainings of the finals that are known to be needed; 0 before they begin.
        standings: Who stands where in the finals, stage by stage, as far as they are judged.
        notices: What the search said besides.
        fault: What broke the search; None while it is sound.
    """

    search_id: str
    phase: Phase
    generation: int
    generations: int
    population: int
    steps: int
    trials: tuple[TrialProgress, ...] = ()
    done: int = 0
    refused: int = 0
    best: str | None = None
    best_fitness: float | None = None
    scores: tuple[float | None, ...] = ()
    env_steps: int = 0
    tokens: int = 0
    elapsed_s: float = 0.0
    left_s: float | None = None
    finals_done: int = 0
    finals_known: int = 0
    standings: tuple[Standing, ...] = ()
    notices: tuple[str, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """What a running trial last said.

    Attributes:
        steps: Environment steps so far.
        steps_per_s: Environment steps per second.
    """

    steps: int
    steps_per_s: float


def progress_of(
    record: SearchRecord, paces: Mapping[str, Pace], phase: Phase, left_s: float | None, fault: str | None
) -> Progress:
    """Return how far a search is.

    Args:
        record: Its state; it has a plan.
        paces: What running trials last said, by candidate id.
        phase: What it is doing.
        left_s: Seconds left, where known.
        fault: What broke it.
    """
    plan, archive = record.plan, record.archive
    if plan is None:
        raise ValueError("expected a record with a plan")
    entries = archive.entries()
    generation = max((each.candidate.generation for each in entries), default=0)
    best = archive.top(1)
    finals = [key for key, each in archive.candidates.items() if each.stage]
    shown = _stage_at_work(record) if finals else [each.candidate.id for each in archive.entries(generation)]
    shown += [each for each in record.assigned if each not in shown]
    return Progress(
        search_id=plan.search_id,
        phase=phase,
        generation=generation,
        generations=plan.generations,
        population=plan.population,
        steps=plan.steps,
        trials=tuple(_trial(record, each, paces.get(each)) for each in shown),
        done=sum(each.outcome is not None for each in entries),
        refused=len(archive.refusals),
        best=best[0].candidate.id if best else None,
        best_fitness=best[0].fitness.value if best and best[0].fitness else None,
        scores=tuple(score.best for _, score in sorted(record.generations.items(), key=lambda item: int(item[0]))),
        env_steps=sum(each.env_steps for each in archive.outcomes.values()),
        tokens=record.tokens,
        elapsed_s=record.wall_s,
        left_s=left_s,
        finals_done=sum(each in archive.outcomes for each in finals),
        finals_known=len(finals),
        standings=tuple(record.standings.values()),
        notices=record.notices,
        fault=fault,
    )


def _stage_at_work(record: SearchRecord) -> list[str]:
    """Return the trainings of the first stage of the finals that has some left; of the last one when all are done."""
    archive = record.archive
    stages = [[key for key, each in archive.candidates.items() if each.stage == stage] for stage in STAGES if stage]
    known = [stage for stage in stages if stage]
    return next((stage for stage in known if any(each not in archive.outcomes for each in stage)), known[-1])


def _trial(record: SearchRecord, candidate_id: str, pace: Pace | None) -> TrialProgress:
    entry = record.archive.entry(candidate_id)
    of_steps = entry.candidate.steps or (record.plan.steps if record.plan is not None else 0)
    if entry.outcome is not None:
        return TrialProgress(
            id=candidate_id,
            status=entry.outcome.status,
            of_steps=of_steps,
            steps=entry.outcome.env_steps,
            fitness=entry.fitness.value if entry.fitness else None,
            reason=entry.outcome.reason,
        )
    if candidate_id not in record.assigned or pace is None:
        return TrialProgress(id=candidate_id, status="waiting", of_steps=of_steps)
    return TrialProgress(
        id=candidate_id, status="training", of_steps=of_steps, steps=pace.steps, steps_per_s=pace.steps_per_s
    )
