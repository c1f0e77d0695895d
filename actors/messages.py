"""What a search speaks of: proposals, candidates, refusals, outcomes, judgements.

Absent is `None` or a missing key, never 0, NaN or a sentinel. `message.py` holds the base, `chat.py` what is said to a
language model, `plan.py` what a search is asked to do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from actors.message import Message
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import Scenario

Role = Literal["candidate", "baseline"]
Origin = Literal["seed", "user", "evolver", "llm", "baseline"]
Status = Literal["trained", "faulted", "failed"]


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
