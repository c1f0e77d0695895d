"""What a search is asked to do; fixed for the life of a run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from actors.endpoints import check_spec
from actors.message import Message
from search_spaces.errors import UsageError
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import HELD_OUT, Scenario


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
