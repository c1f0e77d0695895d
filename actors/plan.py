"""What a search is asked to do; fixed for the life of a run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from actors.endpoints import check_spec
from actors.message import Message
from search_spaces.errors import UsageError
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import SELECTION, Scenario


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


IMPORTED_LIMIT = 50
"""Programs of another search that a search starts from, at most."""

Strategy = Literal["evolve", "best-of-n", "eureka", "random"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalsSettings(Message):
    """How the best candidates are retrained, compared and confirmed when the search is over.

    Training seeds are the largest noise of all (standard deviation of the fitness 0.05 to 0.07), so that a champion
    that one of them chose is a lucky one.

    Attributes:
        finalists: How many of the best qualify; 0: no finals, the best candidate of the search is the champion.
        seeds: Fresh training seeds of each finalist.
        steps: Environment steps of each of these trainings.
        leaders: How many of the finalists are trained again for `leader_steps`.
        leader_steps: Environment steps of the leaders' trainings and of all that confirm.
        most_seeds: Training seeds at most, where the intervals of the first two overlap.
        confirm: Further training seeds of the champion and of each trained baseline, measured on report seeds.
        ablate: Environment steps of the champion's trainings without one of its components; 0: none.
        replays: Report episodes that the champion drives in highway-env itself, before it is tried on other roads; 0:
            neither.
    """

    finalists: int = 6
    seeds: int = 3
    steps: int = 1_000_000
    leaders: int = 2
    leader_steps: int = 1_000_000
    most_seeds: int = 5
    confirm: int = 8
    ablate: int = 300_000
    replays: int = 100

    def __post_init__(self) -> None:
        for name, (low, high) in _FINALS_RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"finals.{name}: expected {low} to {high}, found {getattr(self, name)}")


_FINALS_RANGES: Mapping[str, tuple[int, int]] = {
    "finalists": (0, 100),
    "seeds": (1, 100),
    "steps": (1, 1_000_000_000),
    "leaders": (1, 100),
    "leader_steps": (1, 1_000_000_000),
    "most_seeds": (1, 100),
    "confirm": (1, 100),
    "ablate": (0, 1_000_000_000),
    "replays": (0, 10_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedProgram(Message):
    """A program of another search.

    Attributes:
        name: Search and candidate that it comes from.
        source: Canonical text; its components have harmless names (`search_spaces.naming`).
        fitness: Its fitness there by the present definition; None where that is unknown.
    """

    name: str
    source: str
    fitness: float | None = None


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
        imported: Programs of another search, best first. Up to half of the first generation are the best of them,
            trained anew, and its edits are made of all of them.
        proposals_per_slot: How many programs the evolver proposes for each one that is trained: the screen sees the
            more ideas of different kinds, and chooses among those that lie apart.
        replacements: How often a refused proposal of one slot is replaced by the LLM before the evolver fills it.
        steady: Whether a free slot is filled at once instead of waiting for the generation.
        attempts: How often a trial whose process died is started again.
        baselines: Whether baseline drivers, and PPO under the native and the hand-tuned reward, are measured too, and
            the champion is confirmed beside the latter and the best starting program.
        films: Whether an episode of each candidate is filmed.
        strategy: How programs are proposed: `evolve` from the best; `best-of-n` without any feedback; `eureka` from the
            single best alone; `random` legal programs.
        finals: How the champion is chosen and confirmed.
        rungs: Environment steps at which a candidate is measured on the way, rising; those from `steps` on are not met.
        early_stopping: Whether a candidate in the worse half at a rung is stopped there (asynchronous halving).
    """

    search_id: str
    goal: str = DEFAULT_GOAL
    population: int = 8
    generations: int = 5
    steps: int = 1_000_000
    seed: int = 0
    scenario: Scenario = field(default_factory=Scenario)
    ppo: PPOSettings = field(default_factory=PPOSettings)
    held_out: int = 500
    llm: LLMSettings = field(default_factory=LLMSettings)
    start_from: tuple[str, ...] = ()
    imported: tuple[ImportedProgram, ...] = ()
    proposals_per_slot: int = 64
    replacements: int = 5
    steady: bool = False
    attempts: int = 3
    baselines: bool = True
    films: bool = True
    strategy: Strategy = "evolve"
    finals: FinalsSettings = field(default_factory=FinalsSettings)
    rungs: tuple[int, ...] = (100_000,)
    early_stopping: bool = False

    def __post_init__(self) -> None:
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", self.search_id) is None:
            raise UsageError(
                f"search_id {self.search_id!r}: expected up to 100 letters, digits, dots, dashes and underscores"
            )
        if len(self.imported) > IMPORTED_LIMIT:
            raise UsageError(f"imported: expected at most {IMPORTED_LIMIT} programs, found {len(self.imported)}")
        for name, (low, high) in _PLAN_RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"{name}: expected {low} to {high}, found {getattr(self, name)}")
        if self.strategy == "random" and self.llm.spec is not None:
            raise UsageError("strategy random draws programs without asking a language model; give it --llm none")
        if list(self.rungs) != sorted(set(self.rungs)) or any(each < 1 for each in self.rungs):
            raise UsageError(f"rungs: expected rising numbers of steps from 1, found {list(self.rungs)}")
        if self.early_stopping and not any(each < self.steps for each in self.rungs):
            raise UsageError(
                f"early_stopping: expected a rung below steps ({self.steps}), found {list(self.rungs)}; "
                "set rungs, such as --set rungs=[50000]"
            )


_PLAN_RANGES: Mapping[str, tuple[int, int]] = {
    "population": (1, 1000),
    "generations": (1, 1000),
    "steps": (1, 1_000_000_000),
    "seed": (0, 2**31 - 1),
    "held_out": (1, SELECTION.limit),
    "proposals_per_slot": (1, 1000),
    "replacements": (0, 100),
    "attempts": (1, 100),
}
