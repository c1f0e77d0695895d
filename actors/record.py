"""The whole state of a search as a pure fold over its journal.

| event | data |
|---|---|
| `search_started` | `plan`, `measurement`: see `measurement_digest` |
| `opened` | `session`: a driver's start; a coordinator that restarts under the same driver keeps the session |
| `llm_asked`, `llm_replied`, `llm_failed` | an `Exchange`, a `ChatReply`, a `ChatFailure` |
| `refused` | a `Refusal` |
| `screened` | `generation`, `verdicts`: digest, tau, rank, of, at_random and candidate of each proposal |
| `accepted` | a `Candidate` |
| `assigned` | `candidate_id`, `trial_id` |
| `rung` | a `RungVerdict`: a candidate measured on the way, and why it was stopped there (null: it went on) |
| `trial_failed` | `candidate_id`, `trial_id`, `reason`, `attempt` (from 1) |
| `delivered` | an `Outcome`; its files are stored already |
| `judged` | `candidate_id`, `fitness` (null: a needed measure is undefined) |
| `intervals` | `name` of a candidate or baseline, `intervals`: measure to lower and upper end |
| `criticised` | a `Critique` |
| `baseline` | `name`, `metrics`, `fitness` |
| `report_baseline` | a `Baseline` that drove the report episodes |
| `standing` | a `Standing`: who stands where after a stage of the finals; a later one of that stage takes its place |
| `confirmed` | a `Confirmation` |
| `ablated` | an `Ablation` |
| `replayed` | a `Replay`: the champion in highway-env itself |
| `generalised` | a `Generalisation`: the champion on other roads |
| `scored` | a `Compatibility`: other people's scores |
| `generation_finished` | `generation`, `best`, `mean` (null: nobody was judged) |
| `notice` | `text` |
| `search_finished` | `champion` (null: nobody was judged) |
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from actors.archive import Archive, Baseline, place
from actors.chat import ChatFailure, ChatReply
from actors.generalisation import Compatibility, Generalisation
from actors.halving import RungVerdict
from actors.journal import Event
from actors.message import Message
from actors.messages import Candidate
from actors.plan import SearchPlan
from actors.standings import Ablation, Confirmation, Standing
from actors.upstream_comparison import Replay
from search_spaces.errors import JournalError

_ARCHIVED = frozenset({"accepted", "refused", "delivered", "judged", "criticised", "baseline", "intervals"})
_SILENT = frozenset({"llm_asked", "screened"})
_KEPT: Mapping[str, tuple[str, type[Message]]] = {
    "confirmed": ("confirmed", Confirmation),
    "ablated": ("ablation", Ablation),
    "replayed": ("replay", Replay),
    "generalised": ("generalisation", Generalisation),
    "scored": ("compatibility", Compatibility),
}
"""Events that are kept as they are: attribute of the record, and what it holds."""
STAGES = ("qualifying", "deciding", "", "confirming", "ablation")
"""Stages of the finals in the order in which they are trained; baselines, which have none, fill workers in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationScore(Message):
    """What came of a generation.

    Attributes:
        best: Highest fitness; None when nobody was judged.
        mean: Mean fitness of those that were judged.
    """

    best: float | None
    mean: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRecord(Message):
    """A search after some prefix of its journal. Immutable: `after` returns another record.

    Attributes:
        next_sequence: How many events it folds.
        plan: What was asked for; None before the search started.
        measurement: `measurement_digest()` of the release that began it; empty where it wrote none.
        archive: What was learned.
        session: Driver that opened the run last.
        assigned: Candidate id to trial id, of trials that this session started and that have not ended.
        rungs: Candidate id to what was measured on the way, and what came of it.
        deaths: Candidate id to how many of its trials died.
        replies: What models answered, by exchange id.
        failures: Exchanges without a reply, by exchange id.
        tokens: Tokens of all replies and failures.
        generations: Finished generations.
        notices: What the search said besides.
        report_baselines: Baseline drivers on the report episodes, by name.
        standings: Who stands where in the finals, by stage.
        confirmed: What is claimed of the champion; None until it was confirmed, or where there are no finals.
        ablation: What each component of the champion is worth; None likewise.
        replay: What highway-env itself says of the champion's episodes; None until then, or where it is not asked.
        generalisation: How the champion drives on other roads; None likewise.
        compatibility: LaMPilot-Bench's scores of the champion; None likewise.
        finished: Whether the search ended by itself.
        champion: Id of the winner of the finals, once finished; of the best candidate where there are none.
        earlier_s: Seconds that earlier sessions worked.
        opened_at: When this session began, seconds since 1970 UTC.
        latest_at: When the last event was written.
    """

    next_sequence: int = 0
    plan: SearchPlan | None = None
    measurement: str = ""
    archive: Archive = field(default_factory=Archive)
    session: str = ""
    assigned: Mapping[str, str] = field(default_factory=dict)
    rungs: Mapping[str, tuple[RungVerdict, ...]] = field(default_factory=dict)
    deaths: Mapping[str, int] = field(default_factory=dict)
    replies: Mapping[str, ChatReply] = field(default_factory=dict)
    failures: Mapping[str, ChatFailure] = field(default_factory=dict)
    tokens: int = 0
    generations: Mapping[str, GenerationScore] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    report_baselines: Mapping[str, Baseline] = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    confirmed: Confirmation | None = None
    ablation: Ablation | None = None
    replay: Replay | None = None
    generalisation: Generalisation | None = None
    compatibility: Compatibility | None = None
    finished: bool = False
    champion: str | None = None
    earlier_s: float = 0.0
    opened_at: float = 0.0
    latest_at: float = 0.0

    @property
    def wall_s(self) -> float:
        """Seconds from each session's start to its last event, summed."""
        return self.earlier_s + self.latest_at - self.opened_at

    def after(self, event: Event) -> "SearchRecord":
        """Return the record with one more event.

        Raises:
            JournalError: The event is not the next one, or of a kind that is not known.
        """
        if event.sequence != self.next_sequence:
            raise JournalError(f"expected event {self.next_sequence}, found {event.sequence} ({event.kind})")
        # Between two sessions no time is counted, so the opening itself must not count as work.
        latest_at = self.latest_at if event.kind == "opened" else max(self.latest_at, event.time)
        changed = replace(self, next_sequence=event.sequence + 1, latest_at=latest_at)
        if event.kind in _ARCHIVED:
            changed = replace(changed, archive=self.archive.after(event))
            return changed._without_assignment(event) if event.kind == "delivered" else changed
        if event.kind.startswith("llm_") and event.kind not in _SILENT:
            return changed._answered(event)
        if event.kind in _KEPT:
            name, kind = _KEPT[event.kind]
            said: dict[str, Any] = {name: kind.from_json(event.data)}
            return replace(changed, **said)
        return changed if event.kind in _SILENT else changed._advanced(event)

    def _advanced(self, event: Event) -> "SearchRecord":
        data: Mapping[str, Any] = event.data
        match event.kind:
            case "search_started":
                plan = SearchPlan.from_json(data["plan"])
                return replace(self, plan=plan, measurement=data.get("measurement", ""))
            case "opened" if data["session"] == self.session:
                return self
            case "opened":
                wall_s = self.wall_s if self.session else 0.0
                opened = replace(self, session=data["session"], assigned={}, earlier_s=wall_s)
                return replace(opened, opened_at=event.time, latest_at=event.time)
            case "assigned":
                return replace(self, assigned={**self.assigned, data["candidate_id"]: data["trial_id"]})
            case "rung":
                verdict = RungVerdict.from_json(data)
                known = self.rungs.get(verdict.candidate_id, ())
                return replace(self, rungs={**self.rungs, verdict.candidate_id: (*known, verdict)})
            case "trial_failed":
                deaths = {**self.deaths, data["candidate_id"]: data["attempt"]}
                return replace(self, deaths=deaths)._without_assignment(event)
            case "generation_finished":
                score = GenerationScore(best=data["best"], mean=data["mean"])
                return replace(self, generations={**self.generations, str(data["generation"]): score})
            case "notice":
                return replace(self, notices=(*self.notices, data["text"]))
            case "report_baseline":
                driven = Baseline.from_json(data)
                return replace(self, report_baselines={**self.report_baselines, driven.name: driven})
            case "standing":
                return replace(self, standings={**self.standings, data["stage"]: Standing.from_json(data)})
            case "search_finished":
                return replace(self, finished=True, champion=data["champion"])
        raise JournalError(f"event {event.sequence}: unknown kind {event.kind!r}; a newer release wrote this run")

    def _answered(self, event: Event) -> "SearchRecord":
        if event.kind == "llm_failed":
            failure = ChatFailure.from_json(event.data)
            tokens = self.tokens + failure.prompt_tokens + failure.completion_tokens
            return replace(self, failures={**self.failures, failure.exchange: failure}, tokens=tokens)
        reply = ChatReply.from_json(event.data)
        tokens = self.tokens + reply.prompt_tokens + reply.completion_tokens
        return replace(self, replies={**self.replies, reply.exchange: reply}, tokens=tokens)

    def _without_assignment(self, event: Event) -> "SearchRecord":
        gone = event.data["candidate_id"]
        return replace(self, assigned={key: trial for key, trial in self.assigned.items() if key != gone})

    def waiting(self) -> list[Candidate]:
        """Return the accepted candidates that no trial works on, by urgency: those of the search by id, then others."""
        free = [
            each
            for key, each in self.archive.candidates.items()
            if key not in self.archive.outcomes and key not in self.assigned
        ]
        return sorted(free, key=lambda each: (_urgency(each), place(each)))

    def missing(self, generation: int) -> int:
        """Return how many candidates of a generation have not been accepted yet."""
        if self.plan is None:
            return 0
        return self.plan.population - len(self.archive.entries(generation))

    def complete(self, generation: int) -> bool:
        """Return whether each candidate of a generation has been delivered and, if trained, criticised."""
        archive = self.archive
        return self.missing(generation) == 0 and all(
            entry.outcome is not None and (entry.outcome.status != "trained" or entry.candidate.id in archive.critiques)
            for entry in archive.entries(generation)
        )

    def score(self, generation: int) -> GenerationScore:
        """Return best and mean fitness of a generation."""
        values = [each.fitness.value for each in self.archive.entries(generation) if each.fitness is not None]
        if not values:
            return GenerationScore(best=None, mean=None)
        return GenerationScore(best=max(values), mean=sum(values) / len(values))


def _urgency(candidate: Candidate) -> int:
    return -1 if candidate.role == "candidate" else STAGES.index(candidate.stage)
