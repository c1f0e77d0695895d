"""What a report is made of: the record of a run and what its files add, nothing formatted."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.journal import JournalReader
from actors.messages import ArchiveEntry, Candidate
from actors.plan import SearchPlan
from actors.record import SearchRecord
from driving.drivers import driver_named
from driving.lampilot import LampilotScores, lampilot_scores
from orchestrator.evaluation import Entrant, entrant_of
from orchestrator.lineage import Step, lineage_of
from orchestrator.provenance import Session, sessions
from orchestrator.report.claim import TRAINED, Claim, claim_of
from orchestrator.runs import Run
from search_spaces.errors import PolicyError, RunError, UsageError
from search_spaces.scenarios import REPORT

NATIVE = "ppo-native"
"""The baseline that is trained under highway-env's own reward."""
_DRIVERS = ("idm", "mobil", "slower")
_LAMPILOT_EPISODES = 100
"""Report episodes of the compatibility scores; each takes about three milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a part of the search has cost.

    Attributes:
        part: Its name: `generations`, `baselines`, or a stage of the finals.
        trainings: Trainings that were delivered.
        env_steps: Environment steps of these.
        training_s: Seconds of training, evaluation and film, summed over workers.
    """

    part: str
    trainings: int
    env_steps: int
    training_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What was asked of a language model.

    Attributes:
        purpose: `design`, `repair` or `critique`.
        exchanges: How many were answered or failed.
        failures: How many failed.
        prompt_tokens: Tokens that were read.
        completion_tokens: Tokens that were written.
    """

    purpose: str
    exchanges: int
    failures: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """A run as a report sees it.

    Attributes:
        run: The run.
        plan: What was asked.
        record: The search so far.
        running: Whether a process writes it now.
        champion: The champion, or the best so far; None when nobody was judged.
        claim: What may be claimed of it; None likewise.
        lineage: The champion and its ancestors, the oldest first.
        lampilot: LaMPilot-Bench's scores of the champion and what it is compared with, by name.
        costs: What each part of the search has cost.
        tokens: What was asked of a language model, by purpose.
        sessions: The starts of the run, the first one first; none where the run does not say.
    """

    run: Run
    plan: SearchPlan
    record: SearchRecord
    running: bool
    champion: ArchiveEntry | None
    claim: Claim | None
    lineage: tuple[Step, ...]
    lampilot: Mapping[str, LampilotScores]
    costs: tuple[Cost, ...]
    tokens: tuple[Tokens, ...]
    sessions: tuple[Session, ...]

    @property
    def state(self) -> str:
        """The state of the search in one word."""
        return "finished" if self.record.finished else "running" if self.running else "interrupted"

    def entrant(self, name: str) -> Entrant | None:
        """Return who drives for a candidate or a trained baseline; None where no policy of it can be read."""
        return _entrant(self.run, self.record, name)


def gather(run: Run) -> ReportData:
    """Read a run, also while it is written.

    Args:
        run: The run.

    Raises:
        RunError: The search has not started yet.
        JournalError: An event is missing or damaged.
    """
    record = run.record()
    if record.plan is None:
        raise RunError(f"{run.shown}: the search has not started yet, so there is nothing to report")
    champion = _champion(record)
    return ReportData(
        run=run,
        plan=record.plan,
        record=record,
        running=run.is_being_written(),
        champion=champion,
        claim=None if champion is None else claim_of(record, run.storage, champion.candidate.id),
        lineage=() if champion is None else lineage_of(record.archive, champion.candidate.id),
        lampilot=_lampilot(run, record, champion),
        costs=tuple(_costs(record)),
        tokens=tuple(_tokens(run, record)),
        sessions=sessions(run.storage),
    )


def _champion(record: SearchRecord) -> ArchiveEntry | None:
    if record.champion is not None and record.champion in record.archive.candidates:
        return record.archive.entry(record.champion)
    return next(iter(record.archive.top(1)), None)


def _entrant(run: Run, record: SearchRecord, name: str) -> Entrant | None:
    """Return a driver; of several trainings one that was measured on report episodes, as that is what is claimed."""
    for each in (f"{name}-r0", name):
        if each in record.archive.candidates:
            try:
                return entrant_of(run.storage, record.archive.entry(each), None)
            except (UsageError, PolicyError):
                continue
    return None


def _lampilot(run: Run, record: SearchRecord, champion: ArchiveEntry | None) -> dict[str, LampilotScores]:
    if champion is None or record.plan is None:
        return {}
    name = champion.candidate.id
    trained = {each: _entrant(run, record, each) for each in (name, *TRAINED)}
    drivers = {each: entrant.driver for each, entrant in trained.items() if entrant is not None}
    if name not in drivers:
        return {}
    drivers |= {each: driver_named(each) for each in _DRIVERS}
    seeds = REPORT.seeds(_LAMPILOT_EPISODES)
    return {each: lampilot_scores(record.plan.scenario, seeds, driver) for each, driver in drivers.items()}


def _part(candidate: Candidate) -> str:
    if candidate.stage:
        return candidate.stage
    return "generations" if candidate.role == "candidate" else "baselines"


def _costs(record: SearchRecord) -> Iterator[Cost]:
    by_part = defaultdict(list)
    for name, outcome in record.archive.outcomes.items():
        by_part[_part(record.archive.candidates[name])].append(outcome)
    order = ("generations", "baselines", "qualifying", "deciding", "confirming", "ablation")
    for part in sorted(by_part, key=lambda each: (order.index(each) if each in order else len(order), each)):
        outcomes = by_part[part]
        yield Cost(
            part=part,
            trainings=len(outcomes),
            env_steps=sum(each.env_steps for each in outcomes),
            training_s=sum(each.wall_s for each in outcomes),
        )


def _tokens(run: Run, record: SearchRecord) -> Iterator[Tokens]:
    asked = [
        Exchange.from_json(event.data)
        for event in JournalReader(run.storage).events_after()
        if event.kind == "llm_asked"
    ]
    purposes = {each.id: each.purpose for each in asked}
    for purpose in ("design", "repair", "critique"):
        mine = {exchange for exchange, what in purposes.items() if what == purpose}
        failed = [each for key, each in record.failures.items() if key in mine]
        answers: list[ChatReply | ChatFailure] = [*failed]
        answers += [each for key, each in record.replies.items() if key in mine]
        if answers:
            yield Tokens(
                purpose=purpose,
                exchanges=len(answers),
                failures=len(failed),
                prompt_tokens=sum(each.prompt_tokens for each in answers),
                completion_tokens=sum(each.completion_tokens for each in answers),
            )
