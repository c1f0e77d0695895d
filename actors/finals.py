"""The finals: which trainings they still want, and which of their stages can be judged.

The best of a search is partly the luckiest. So the best few are trained again with fresh seeds (`qualifying`), the
leaders of these for longer (`deciding`), and the winner once more with seeds and episodes that have selected nobody
(`confirming`), beside what it is compared with. `ablation` trains it without each of its components.

Everything here is a pure function of the plan and the record: a search that is resumed in the middle of its finals goes
on with the same trainings.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from actors.generation import derived_seed
from actors.messages import Candidate, SeedSetName
from actors.plan import SearchPlan
from actors.record import SearchRecord
from actors.standings import Stage, Standing, StandingRow
from search_spaces.ablation import without_component
from search_spaces.errors import RunError
from search_spaces.hand_tuned import HAND_TUNED
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram

NATIVE, TUNED = "ppo-native", "ppo-hand-tuned"
TRAINED_BASELINES: Mapping[str, str] = MappingProxyType({NATIVE: "", TUNED: HAND_TUNED})
"""Baselines that are trained as candidates are, by name: PPO under highway-env's own reward, for which there is no
program, and PPO under a reward tuned by hand."""

_LETTERS: Mapping[Stage, str] = MappingProxyType({"qualifying": "q", "deciding": "d", "confirming": "r"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the finals need next.

    Attributes:
        accept: Trainings that are wanted and not accepted yet.
        judge: Stages whose trainings are all delivered and that no standing covers yet.
        over: Whether nothing is left to do.
    """

    accept: tuple[Candidate, ...] = ()
    judge: tuple[Stage, ...] = ()
    over: bool = False


def next_step(plan: SearchPlan, record: SearchRecord) -> Step:
    """Return what the finals need next, once all generations have finished."""
    if not finalists(plan, record):
        return Step(over=True)
    known = record.archive.candidates
    decided = _settled(plan, record, decider(plan))
    return Step(
        accept=tuple(each for each in wanted(plan, record) if each.id not in known),
        judge=tuple(_ripe(plan, record)),
        over=decided and (champion(plan, record) is None or _concluded(plan, record)),
    )


def finalists(plan: SearchPlan, record: SearchRecord) -> tuple[str, ...]:
    """Return who takes part; nobody where nobody was judged or there are no finals."""
    return tuple(each.candidate.id for each in record.archive.top(plan.finals.finalists))


def decider(plan: SearchPlan) -> Stage:
    """Return the stage that makes a champion: the first, unless leaders are trained for longer than all."""
    longer = plan.finals.leaders > 1 and plan.finals.leader_steps > plan.finals.steps
    return "deciding" if longer else "qualifying"


def champion(plan: SearchPlan, record: SearchRecord) -> str | None:
    """Return who won; None while that is open, and when not one training of the deciding stage came to its end."""
    if not finalists(plan, record) or not _settled(plan, record, decider(plan)):
        return None
    standing = record.standings.get(decider(plan))
    rows = () if standing is None else standing.rows
    return next((row.of for row in rows if row.fitness is not None), None)


def trained_baselines(plan: SearchPlan) -> Iterator[Candidate]:
    """Yield what candidates are compared with and is trained as they are.

    Raises:
        RunError: The language refuses the reward tuned by hand.
    """
    for name, text in TRAINED_BASELINES.items():
        program = compile_program(text) if text else None
        if program is not None and not isinstance(program, RewardProgram):
            raise RunError(f"the reward of {name} is refused: {program.code}: {program.message}")
        yield Candidate(
            id=name,
            generation=-1,
            role="baseline",
            source=program.source if program is not None else "",
            digest=program.digest if program is not None else "",
            seed=derived_seed(plan.seed, name),
            origin="baseline",
        )


def starting_program(record: SearchRecord) -> str | None:
    """Return the candidate that was the best of those that the search started from: the project's and the user's."""
    given = (
        each.candidate for each in record.archive.ranked() if each.candidate.origin in ("seed", "user", "imported")
    )
    return next((candidate.id for candidate in given), None)


def wanted(plan: SearchPlan, record: SearchRecord) -> Iterator[Candidate]:
    """Yield every training that the finals are known to need, in the order of its urgency.

    What the champion is compared with is needed whoever wins, so that it fills the workers while a stage ends.
    """
    winner = champion(plan, record)
    for stage in ("qualifying", "deciding"):
        for of, seeds in _seeds(plan, record, stage).items():
            yield from (_replicate(plan, record, stage, of, number) for number in range(seeds))
    if winner is not None:
        yield from ablations(plan, record, winner)[0]
    for of, seeds in _seeds(plan, record, "confirming").items():
        yield from (_replicate(plan, record, "confirming", of, number) for number in range(seeds))


def members(record: SearchRecord, stage: Stage, of: str) -> list[Candidate]:
    """Return the accepted trainings of a finalist in a stage, in their order."""
    found = [each for each in record.archive.candidates.values() if each.stage == stage and each.of == of]
    return sorted(found, key=lambda each: (len(each.id), each.id))


def replicate_id(of: str, stage: Stage, number: int) -> str:
    """Return the id of a training of a finalist, such as `g03-c01-q0`; trainings count from 0."""
    return f"{of}-{_LETTERS[stage]}{number}"


def whole(plan: SearchPlan, winner: str) -> str:
    """Return the training that the champion without a component is compared with: same seed, same steps."""
    same = plan.finals.ablate == plan.finals.steps
    return replicate_id(winner, "qualifying", 0) if same else f"{winner}-whole"


def ablations(plan: SearchPlan, record: SearchRecord, winner: str) -> tuple[list[Candidate], dict[str, str]]:
    """Return the champion without each component, and by component why there is no such program.

    Raises:
        RunError: The language refuses the champion's program, so that the journal is not what this project wrote.
    """
    if not plan.finals.ablate:
        return [], {}
    source = record.archive.candidates[winner].source
    program = compile_program(source)
    if not isinstance(program, RewardProgram):
        raise RunError(f"the program of {winner} in the journal is refused: {program.code}: {program.message}")
    trained, skipped = [], {}
    compared = whole(plan, winner)
    if compared != replicate_id(winner, "qualifying", 0):
        trained.append(_ablated(plan, winner, compared, program, ""))
    for name in program.component_names:
        left = without_component(program, name)
        if isinstance(left, str):
            skipped[name] = left
        else:
            trained.append(_ablated(plan, winner, f"{winner}-without-{name}", left, name))
    return trained, skipped


def steps_left(plan: SearchPlan, record: SearchRecord) -> int:
    """Return the environment steps that the finals will train at least, as far as it can be told."""
    finals, archive = plan.finals, record.archive
    if not finals.finalists:
        return 0
    compared = 1 + (1 + len(TRAINED_BASELINES) if plan.baselines else 0)
    total = finals.finalists * finals.seeds * finals.steps + compared * finals.confirm * finals.leader_steps
    if decider(plan) == "deciding":
        total += min(finals.leaders, finals.finalists) * finals.seeds * finals.leader_steps
    done = sum(
        each.steps or plan.steps for key, each in archive.candidates.items() if each.of and key in archive.outcomes
    )
    waiting = sum(
        each.steps or plan.steps for key, each in archive.candidates.items() if each.of and key not in archive.outcomes
    )
    return max(total - done, waiting)


def _seeds(plan: SearchPlan, record: SearchRecord, stage: Stage) -> dict[str, int]:
    """Return how many training seeds each member of a stage is to have; empty while the stage has no members."""
    base = plan.finals.confirm if stage == "confirming" else plan.finals.seeds
    standing = record.standings.get(stage)
    seeds = {}
    for of in _members_of(plan, record, stage):
        row = None if standing is None else standing.row(of)
        seeds[of] = base if row is None else row.seeds
    if standing is not None and stage == decider(plan):
        for row in _undecided(standing):
            seeds[row.of] = max(row.seeds, min(row.seeds + 1, plan.finals.most_seeds))
    return seeds


def _members_of(plan: SearchPlan, record: SearchRecord, stage: Stage) -> Iterable[str]:
    if stage == "qualifying":
        return finalists(plan, record)
    if stage == "deciding":
        if decider(plan) != "deciding" or not _settled(plan, record, "qualifying"):
            return ()
        rows = [row.of for row in record.standings["qualifying"].rows if row.fitness is not None]
        return rows[: plan.finals.leaders]
    compared = (starting_program(record), *TRAINED_BASELINES) if plan.baselines else ()
    return dict.fromkeys(each for each in (champion(plan, record), *compared) if each is not None)


def _undecided(standing: Standing) -> tuple[StandingRow, ...]:
    """Return the first two while their intervals overlap."""
    rows = tuple(row for row in standing.rows if row.bounds)[:2]
    return rows if len(rows) == 2 and rows[0].bounds[0] <= rows[1].bounds[1] else ()


def _settled(plan: SearchPlan, record: SearchRecord, stage: Stage) -> bool:
    """Return whether the standing of a stage covers every training that it wants; also where nobody is left for it."""
    standing = record.standings.get(stage)
    if standing is None:
        return stage == "deciding" and _settled(plan, record, "qualifying") and not _seeds(plan, record, stage)
    return {row.of: row.seeds for row in standing.rows} == _seeds(plan, record, stage)


def _ripe(plan: SearchPlan, record: SearchRecord) -> Iterator[Stage]:
    archive = record.archive
    winner = champion(plan, record)
    for stage in ("qualifying", "deciding", "confirming"):
        seeds = _seeds(plan, record, stage)
        open_yet = stage == "confirming" and (winner is None or record.confirmed is not None)
        if not seeds or open_yet or (stage != "confirming" and _settled(plan, record, stage)):
            continue
        delivered = {of: sum(each.id in archive.outcomes for each in members(record, stage, of)) for of in seeds}
        if delivered == seeds:
            yield stage
    if winner is not None and plan.finals.ablate and record.ablation is None:
        trained, _ = ablations(plan, record, winner)
        if all(each.id in archive.outcomes for each in trained):
            yield "ablation"


def _concluded(plan: SearchPlan, record: SearchRecord) -> bool:
    return record.confirmed is not None and (record.ablation is not None or not plan.finals.ablate)


def _replicate(plan: SearchPlan, record: SearchRecord, stage: Stage, of: str, number: int) -> Candidate:
    original = record.archive.candidates[of]
    identity = replicate_id(of, stage, number)
    seed_set: SeedSetName = "report" if stage == "confirming" else "finals"
    return Candidate(
        id=identity,
        generation=-1,
        role="replicate",
        source=original.source,
        digest=original.digest,
        seed=derived_seed(plan.seed, identity),
        parents=(of,),
        origin=original.origin,
        move=stage,
        of=of,
        stage=stage,
        steps=plan.finals.steps if stage == "qualifying" else plan.finals.leader_steps,
        seed_set=seed_set,
    )


def _ablated(plan: SearchPlan, winner: str, identity: str, program: RewardProgram, dropped: str) -> Candidate:
    return Candidate(
        id=identity,
        generation=-1,
        role="ablation",
        source=program.source,
        digest=program.digest,
        seed=derived_seed(plan.seed, replicate_id(winner, "qualifying", 0)),
        parents=(winner,),
        origin="evolver",
        move=f"without {dropped}" if dropped else "whole",
        of=winner,
        stage="ablation",
        steps=plan.finals.ablate,
        seed_set="finals",
    )
