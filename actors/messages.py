"""Every value that crosses a room: frozen, slotted, keyword-only, and the same after a walk through JSON.

Absent is `None` or a missing key, never 0, NaN or a sentinel.
"""

import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, Self

from actors.endpoints import check_spec
from search_spaces.errors import UsageError
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import HELD_OUT, Scenario

Role = Literal["candidate", "baseline"]
Origin = Literal["seed", "user", "evolver", "llm", "baseline"]
Status = Literal["trained", "faulted", "failed"]
Purpose = Literal["design", "repair", "critique"]
ChatRole = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Base of all messages."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object of all fields."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Build the message again; absent fields take their default.

        Raises:
            TypeError: An unknown field or a missing one.
        """
        hints = typing.get_type_hints(cls)
        return cls(**{name: _typed(hints.get(name, Any), value) for name, value in data.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, (Message, PPOSettings, Scenario)):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value


def _typed(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if value is None:
        return None
    if origin in (typing.Union, types.UnionType):
        return _typed(next(each for each in arguments if each is not type(None)), value)
    if is_dataclass(hint):
        return hint.from_json(value)  # type: ignore[union-attr, attr-defined, unused-ignore]
    if origin is tuple:
        return tuple(_typed(arguments[0], each) for each in value)
    if (
        origin is Mapping
        or origin is types.MappingProxyType
        or (isinstance(origin, type) and issubclass(origin, Mapping))
    ):
        return {key: _typed(arguments[1], each) for key, each in value.items()}
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenVerdict(Message):
    """What the screen thought of a proposal before it was trained.

    Attributes:
        tau: Kendall's tau between the stored policies' returns under the program and their fitness, -1 to 1; None when
            undefined (all returns equal).
        rank: Its rank among the proposals of its generation, from 0.
        of: How many proposals were ranked.
        at_random: Whether it was taken as the one at random rather than for its rank.
    """

    tau: float | None
    rank: int
    of: int
    at_random: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Message):
    """A program that passed language, gate and screen, and is worth a trial.

    Attributes:
        id: `g01-c03` (generations and candidates count from 0), or a baseline's name such as `ppo-native`.
        generation: Its generation from 0; -1 for a baseline.
        role: Whether it competes or is there to be compared with.
        source: Canonical text of the program, as `RewardProgram.source` prints it.
        digest: `RewardProgram.digest`.
        seed: Seed of its training, fixed when it is accepted.
        parents: Candidate ids that it was written from.
        origin: Who wrote it.
        move: What the evolver did ("weight", "crossover", ...), or "write" / "repair" for an LLM.
        exchange: Id of the LLM exchange that it came from.
        screen: The screen's verdict; None where nothing was screened.
        warnings: What the gate warned about.
    """

    id: str
    generation: int
    role: Role = "candidate"
    source: str
    digest: str
    seed: int
    parents: tuple[str, ...] = ()
    origin: Origin
    move: str = ""
    exchange: str | None = None
    screen: ScreenVerdict | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Message):
    """A proposal that the language or the gate turned down; it is no candidate.

    Attributes:
        id: `g01-r007`.
        generation: Generation that it was proposed for.
        code: Stable reason code: `E_...` of the language, `GATE_...` of the gate.
        reason: One sentence with numbers.
        origin: Who proposed it.
        line: Line of the source, from 1, where there is one.
        hint: What to do about it.
        exchange: Id of the LLM exchange that it came from.
    """

    id: str
    generation: int
    code: str
    reason: str
    origin: Origin
    line: int | None = None
    hint: str = ""
    exchange: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Message):
    """A program that a designer puts forward; nobody has checked it yet.

    Attributes:
        source: Program text, or the whole reply of a model that holds one; untrusted.
        origin: Who wrote it.
        parents: Candidate ids that it was written from.
        move: What the evolver did ("weight", "crossover", ...), or "write" / "repair" for an LLM.
        exchange: Id of the LLM exchange that it came from (the last one, after repairs).
    """

    source: str
    origin: Origin
    parents: tuple[str, ...] = ()
    move: str = ""
    exchange: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage(Message):
    """One turn of a conversation with a model.

    Attributes:
        role: Who speaks.
        content: What is said; untrusted when the assistant speaks.
    """

    role: ChatRole
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Message):
    """One request to a model.

    Attributes:
        id: Unique in the search and the same on resume (see `DesignBrief.exchange_id`), so that a reply that is in the
            journal is never bought again.
        purpose: What it is for.
        generation: Generation that it serves.
        messages: The whole conversation so far.
        model: The model that was asked; None until a provider chose one.
        max_tokens: Tokens of the reply at most; None: as the settings say.
    """

    id: str
    purpose: Purpose
    generation: int
    messages: tuple[ChatMessage, ...]
    model: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply(Message):
    """What a model answered.

    Attributes:
        exchange: Id of the exchange.
        text: Its text; untrusted.
        model: The model that answered.
        prompt_tokens: Tokens of the request, as the provider counts them, over all tries; estimated where it does not
            say.
        completion_tokens: Tokens of the reply, hidden reasoning included, over all tries.
        wall_s: Seconds from the first try to the reply, waiting for rate limits included.
        finish: Why the model stopped: "stop", "length", or a provider's own word.
    """

    exchange: str
    text: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    wall_s: float = 0.0
    finish: str = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFailure(Message):
    """Why there is no reply, after all retries; another exchange may still succeed.

    Attributes:
        exchange: Id of the exchange.
        reason: One sentence without secrets.
        code: Stable reason code: `LLM_BUDGET` (token budget spent), `LLM_EMPTY` (no text, even with more room),
            `LLM_PROVIDER` (no exchange can ever succeed), `LLM_RATE` (a rate limit longer than the patience),
            `LLM_REFUSED` (this conversation will never be answered), `LLM_STOPPED` (the search ends), `LLM_TOO_LARGE`
            (the request can never fit), `LLM_UNREACHABLE` (no usable answer after all tries), `LLM_UNRECORDED` (a
            replay that does not hold it).
        limit_tokens: Tokens that the provider takes in one request, prompt and reply together; None unless it said so.
        prompt_tokens: Tokens that were read for nothing.
        completion_tokens: Tokens that were written for nothing.
    """

    exchange: str
    reason: str
    code: str = "LLM_UNREACHABLE"
    limit_tokens: int | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment(Message):
    """All that a trial needs; its outcome is a function of this value alone.

    Attributes:
        candidate_id: Whose outcome it will be.
        source: Canonical program text; None trains under highway-env's native reward.
        seed: Seed of weights, exploration and training episodes.
        steps: Environment steps (decisions) to train for.
        ppo: PPO settings.
        scenario: Road that it trains on.
        held_out: Episodes of the evaluation, counted from the first seed of `scenarios.HELD_OUT`.
        film: Whether to film the first held-out episode.
    """

    candidate_id: str
    source: str | None
    seed: int
    steps: int
    ppo: PPOSettings
    scenario: Scenario
    held_out: int = 500
    film: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint(Message):
    """Training episodes that ended since the point before.

    Attributes:
        steps: Environment steps so far.
        own_return: Mean undiscounted return under the candidate's own reward; not comparable between candidates.
        native_return: The same episodes under highway-env's native reward.
        crash_rate: Share of them that crashed, 0 to 1.
        length_s: Their mean length, s.
        episodes: How many they are.
    """

    steps: int
    own_return: float
    native_return: float
    crash_rate: float
    length_s: float
    episodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePoint(Message):
    """One component of the reward over the decisions since the point before.

    Attributes:
        component: Its name; "total" is the whole reward, "residual" what components leave unexplained.
        steps: Environment steps so far.
        low: Smallest value per decision.
        mean: Mean value.
        high: Largest value.
    """

    component: str
    steps: int
    low: float
    mean: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Message):
    """What a trial delivers.

    Attributes:
        candidate_id: Whose it is.
        status: `trained`; `faulted` when its program became non-finite; `failed` when the trial broke.
        reason: Why it is not `trained`, in one sentence; empty otherwise.
        metrics: Measures by the simulator on held-out episodes (see `docs/metrics.md`); absent ones are undefined.
        curve: Learning curve.
        traces: Component traces, about ten points each.
        env_steps: Environment steps really trained.
        wall_s: Seconds of training, evaluation and film together.
    """

    candidate_id: str
    status: Status
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    curve: tuple[CurvePoint, ...] = ()
    traces: tuple[TracePoint, ...] = ()
    env_steps: int = 0
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An outcome with its files; the coordinator stores the files and journals the outcome.

    Attributes:
        outcome: The outcome.
        policy: `policy.npz` (no pickles inside); None unless trained.
        film: An mp4 of one held-out episode; None unless filmed.
    """

    outcome: Outcome
    policy: bytes | None = None
    film: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitness(Message):
    """How good the measured driving is.

    Attributes:
        value: Fitness, 0 to 1.
        terms: The weighted terms before the gate: speed, overtake, comfort, ttc, completion; each 0 to 1.
        gate: Factor by which the crash rate scales their weighted sum, 0 to 1.
        at_crash_upper: Fitness at the Wilson 95 % upper bound of the crash rate, 0 to 1.
    """

    value: float
    terms: Mapping[str, float]
    gate: float
    at_crash_upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Message):
    """One thing that the critic noticed.

    Attributes:
        name: Stable name, such as `lane_weaving`.
        sentence: What it is, with its numbers.
        evidence: The numbers, by metric name.
    """

    name: str
    sentence: str
    evidence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Critique(Message):
    """What is said about a candidate: rules first, then the LLM's reading.

    Attributes:
        candidate_id: Whom it is about.
        findings: What the rules found.
        comment: The LLM's reading, untrusted text; None when no LLM was asked.
        exchange: Id of the exchange that holds it.
    """

    candidate_id: str
    findings: tuple[Finding, ...] = ()
    comment: str | None = None
    exchange: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveEntry(Message):
    """A candidate with all that is known about it.

    Attributes:
        candidate: The candidate.
        outcome: None until delivered.
        fitness: None unless trained and judged; never a stand-in number.
        critique: None until criticised.
    """

    candidate: Candidate
    outcome: Outcome | None = None
    fitness: Fitness | None = None
    critique: Critique | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMSettings(Message):
    """Which model to ask, and how.

    Attributes:
        spec: `groq:MODEL[,MODEL...]`, `openai:URL#MODEL` or `replay:FOLDER`; None: no LLM, the evolver proposes.
        temperature: Sampling temperature, 0 to 2; dropped for a provider that refuses it.
        max_tokens: Tokens of one reply at most.
        prompt_tokens: Tokens of one design prompt at most, by estimate; history is left out until it fits.
        token_budget: Tokens of the whole search at most, prompts and replies together; the evolver takes over after.
        timeout_s: Seconds of one request at most.
        patience_s: Seconds of one exchange at most, with its retries and its waits for rate limits.
        allow_http: Whether plain http beyond loopback is allowed.
        repairs: How often a refused program is sent back for repair.
        proposals_per_slot: How many programs are asked for, for each one that is trained, as long as the token budget
            holds.

    Raises:
        UsageError: A spec of no known form, or one that may not be written down: with a key or a password in it.
    """

    spec: str | None = None
    temperature: float = 0.8
    max_tokens: int = 4096
    prompt_tokens: int = 6000
    token_budget: int = 2_000_000
    timeout_s: float = 120.0
    patience_s: float = 900.0
    allow_http: bool = False
    repairs: int = 2
    proposals_per_slot: int = 2

    def __post_init__(self) -> None:
        if self.spec is not None:
            check_spec(self.spec, self.allow_http)
        for name, (low, high) in _LLM_RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"llm.{name}: expected {low:g} to {high:g}, found {getattr(self, name):g}")


_LLM_RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "max_tokens": (1, 10_000_000),
    "prompt_tokens": (1, 10_000_000),
    "token_budget": (0, 10**12),
    "timeout_s": (0.001, 86_400),
    "patience_s": (0.001, 86_400),
    "repairs": (0, 20),
    "proposals_per_slot": (1, 100),
}


DEFAULT_GOAL = "Drive fast and overtake slower traffic, but never at the price of safety or comfort."


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan(Message):
    """What a search is asked to do; fixed for the life of a run.

    Attributes:
        search_id: Name of the search, its run folder and its coordinator.
        goal: The user's words.
        population: Trained candidates in a generation.
        generations: How many generations.
        steps: Environment steps that each candidate is trained for.
        seed: Seed of the search.
        scenario: Road of training and evaluation.
        ppo: PPO settings.
        held_out: Held-out episodes of each evaluation.
        llm: LLM settings.
        start_from: Sources of the user's own starting programs.
        proposals_per_slot: How many programs the evolver proposes for each one that is trained.
        replacements: How often a refused proposal of one slot is replaced by the LLM before the evolver fills it.
        steady: Whether a free slot is filled at once instead of waiting for the generation.
        attempts: How often a trial whose process died is started again.
        baselines: Whether baseline drivers and PPO under the native reward are measured too.
    """

    search_id: str
    goal: str = DEFAULT_GOAL
    population: int = 8
    generations: int = 5
    steps: int = 300_000
    seed: int = 0
    scenario: Scenario = field(default_factory=Scenario)
    ppo: PPOSettings = field(default_factory=PPOSettings)
    held_out: int = 500
    llm: LLMSettings = field(default_factory=LLMSettings)
    start_from: tuple[str, ...] = ()
    proposals_per_slot: int = 6
    replacements: int = 5
    steady: bool = False
    attempts: int = 3
    baselines: bool = True

    def __post_init__(self) -> None:
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", self.search_id) is None:
            raise UsageError(
                f"search_id {self.search_id!r}: expected up to 100 letters, digits, dots, dashes and underscores"
            )
        for name, (low, high) in _PLAN_RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"{name}: expected {low} to {high}, found {getattr(self, name)}")


_PLAN_RANGES: Mapping[str, tuple[int, int]] = {
    "population": (1, 1000),
    "generations": (1, 1000),
    "steps": (1, 1_000_000_000),
    "seed": (0, 2**31 - 1),
    "held_out": (1, HELD_OUT.limit),
    "proposals_per_slot": (1, 100),
    "replacements": (0, 100),
    "attempts": (1, 100),
}
