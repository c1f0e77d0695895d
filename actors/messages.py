"""What a search speaks of: proposals, candidates, refusals, outcomes, judgements.

Absent is `None` or a missing key, never 0, NaN or a sentinel. `message.py` holds the base, `chat.py` what is said to a
language model, `plan.py` what a search is asked to do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from actors.message import Message
from actors.outcome import Outcome
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import Scenario

Role = Literal["candidate", "baseline", "replicate", "ablation"]
Origin = Literal["seed", "user", "evolver", "llm", "imported", "baseline"]
SeedSetName = Literal["selection", "finals", "report"]


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
class Finding(Message):
    """One thing that the linter, a detector or a rule of the critic noticed.

    Attributes:
        name: Stable name, such as `weaving`; linter and detectors call one habit by one name.
        sentence: What it is, with its numbers.
        evidence: The numbers, by metric name.
        value: The number that decided; None where several did.
        threshold: What it was compared with, in the same unit.
        source: Where the threshold comes from, in a few words.
        interval: 95 % interval of `value`, lower and upper end; empty where it has none.
        seed: Episode that shows it; None where none was looked at.
        frames: First and last physics frame of that episode that show it, counted from 0; empty likewise.
    """

    name: str
    sentence: str
    evidence: Mapping[str, float] = field(default_factory=dict)
    value: float | None = None
    threshold: float | None = None
    source: str = ""
    interval: tuple[float, ...] = ()
    seed: int | None = None
    frames: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Message):
    """A program that passed language, gate and screen, and is worth a trial.

    Attributes:
        id: `g01-c03` (generations and candidates count from 0), a baseline's name such as `ppo-native`, or, for a
            replicate or an ablation, what it repeats with a suffix (`finals.replicate_id`).
        generation: Its generation from 0; -1 for all but those that compete.
        role: Whether it competes, is there to be compared with, repeats one of these with another training seed
            (`replicate`), or is the champion without one component (`ablation`).
        source: Canonical text of the program, as `RewardProgram.source` prints it.
        digest: `RewardProgram.digest`.
        seed: Seed of its training, fixed when it is accepted.
        parents: Candidate ids that it was written from.
        origin: Who wrote it.
        move: What the evolver did ("weight", "crossover", ...), or "write" / "repair" for an LLM.
        exchange: Id of the LLM exchange that it came from.
        screen: The screen's verdict; None where nothing was screened.
        warnings: Why the gate refused what was trained all the same; of older runs, what it warned about.
        lint: What the reward linter found before training.
        of: For a replicate or an ablation, whom it repeats; None otherwise.
        stage: Stage of the finals that it belongs to (`standings.Stage`); empty outside.
        steps: Environment steps that it is trained for; None: those of the plan.
        seed_set: Episodes that it is measured on.
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
    lint: tuple[Finding, ...] = ()
    of: str | None = None
    stage: str = ""
    steps: int | None = None
    seed_set: SeedSetName = "selection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Message):
    """A proposal that language, gate or linter turned down; it is no candidate.

    Attributes:
        id: `g01-r007`.
        generation: Generation that it was proposed for.
        code: Stable reason code: `E_...` of the language, `GATE_...` of the gate, `LINT_...` of the linter.
        reason: One sentence with numbers.
        origin: Who proposed it.
        line: Line of the source, from 1, where there is one.
        hint: What to do about it.
        exchange: Id of the LLM exchange that it came from.
        source: The program text, so that it can be trained all the same to see whether the refusal was right; empty
            for one that an exchange holds, and for a duplicate.
    """

    id: str
    generation: int
    code: str
    reason: str
    origin: Origin
    line: int | None = None
    hint: str = ""
    exchange: str | None = None
    source: str = ""


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
        held_out: Episodes of the evaluation, counted from the first seed of the seed set.
        seed_set: Seed set of `scenarios.SEED_SETS` that the evaluation takes.
        rungs: Environment steps at which the policy is measured on the way, rising.
        film: Whether to film the first episode of the evaluation.
    """

    candidate_id: str
    source: str | None
    seed: int
    steps: int
    ppo: PPOSettings
    scenario: Scenario
    held_out: int = 500
    seed_set: SeedSetName = "selection"
    rungs: tuple[int, ...] = ()
    film: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitness(Message):
    """How good the measured driving is.

    Attributes:
        value: Fitness, 0 to 1.
        terms: The weighted terms before the gate: speed, overtake, comfort, ttc, completion; each 0 to 1.
        gate: Factor by which the crash rate scales their weighted sum, 0 to 1.
        low: Lower end of its 95 % interval (`actors/comparison.py`: training seeds and episodes); None where the single
            episodes are not known, as in runs of before they were kept.
        high: Upper end.
    """

    value: float
    terms: Mapping[str, float]
    gate: float
    low: float | None = None
    high: float | None = None

    @property
    def certain(self) -> float:
        """What can be claimed: the lower end of the interval, or the value where there is none."""
        return self.value if self.low is None else self.low

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Build the fitness again; journals of earlier releases hold a bound that the interval replaced.

        Raises:
            TypeError: An unknown field or a missing one.
        """
        # Named, because dataclass(slots=True) makes another class than the one that super() without arguments sees.
        known = {name: each for name, each in data.items() if name != "at_crash_upper"}
        return super(Fitness, cls).from_json(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion(Message):
    """What the LLM's reading says of one detector.

    Attributes:
        detector: Its name.
        agrees: Whether it agrees with what the detector says, be that "found" or "not found".
        why: Its reason, untrusted text on one line; empty where it gave none.
    """

    detector: str
    agrees: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Critique(Message):
    """What is said about a candidate: numbers first, then the LLM's reading.

    Attributes:
        candidate_id: Whom it is about.
        findings: What detectors and rules found.
        cleared: What detectors measured and did not find.
        comment: The LLM's reading, untrusted text; None when no LLM was asked.
        opinions: What that reading says of the detectors, each at most once.
        exchange: Id of the exchange that holds it.
    """

    candidate_id: str
    findings: tuple[Finding, ...] = ()
    cleared: tuple[Finding, ...] = ()
    comment: str | None = None
    opinions: tuple[Opinion, ...] = ()
    exchange: str | None = None

    @property
    def disagreements(self) -> tuple[Opinion, ...]:
        """Where the reading and a detector contradict each other; then both are shown."""
        return tuple(each for each in self.opinions if not each.agrees)

    def found(self, detector: str) -> bool:
        """Return whether a detector found what it looks for."""
        return any(each.name == detector for each in self.findings)


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
