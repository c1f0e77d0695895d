"""What a report is made of: the record of a run and what its files add, nothing formatted."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.conclusion import stand_ins
from actors.journal import JournalReader
from actors.messages import ArchiveEntry, Candidate
from actors.plan import SearchPlan
from actors.record import STAGES, SearchRecord
from orchestrator.evaluation import Entrant, entrant_of
from orchestrator.lineage import Step, lineage_of
from orchestrator.provenance import Session, sessions
from orchestrator.report.claim import Claim, claim_of
from orchestrator.runs import Run
from search_spaces.errors import PolicyError, RunError, UsageError


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
    costs: tuple[Cost, ...]
    tokens: tuple[Tokens, ...]
    sessions: tuple[Session, ...]

    @property
    def state(self) -> str:
        """The state of the search in one word."""
        return "finished" if self.record.finished else "running" if self.running else "interrupted"

    def entrant(self, name: str) -> Entrant | None:
        """Return who drives for a candidate or a trained baseline: its first confirming training, else itself.

        Trainings whose policies cannot be read are passed over; None where there is no other.
        """
        found = (self.policy_of(each) for each in (*stand_ins(self.record, name), name))
        return next((each for each in found if each is not None), None)

    def policy_of(self, training: str) -> Entrant | None:
        """Return the driver that a training made; None where its policy cannot be read."""
        if training not in self.record.archive.candidates:
            return None
        try:
            return entrant_of(self.run.storage, self.record.archive.entry(training), None)
        except (UsageError, PolicyError):
            return None


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
        costs=tuple(_costs(record)),
        tokens=tuple(_tokens(run, record)),
        sessions=sessions(run.storage),
    )


def _champion(record: SearchRecord) -> ArchiveEntry | None:
    if record.champion is not None and record.champion in record.archive.candidates:
        return record.archive.entry(record.champion)
    return next(iter(record.archive.top(1)), None)


def _part(candidate: Candidate) -> str:
    if candidate.stage:
        return candidate.stage
    return "generations" if candidate.role == "candidate" else "baselines"


def _costs(record: SearchRecord) -> Iterator[Cost]:
    by_part = defaultdict(list)
    for name, outcome in record.archive.outcomes.items():
        by_part[_part(record.archive.candidates[name])].append(outcome)
    parts = ("generations", "baselines", *filter(None, STAGES))
    for part, outcomes in sorted(by_part.items(), key=lambda each: parts.index(each[0])):
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
