"""What is compared between the kernel and highway-env, and how: episodes, injected states, resets."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.parity_states import random_state
from driving.kernel.layout import CRASHED, EGO_ACTIONS, FASTER, IDLE, LEFT, RIGHT, SLOWER, X
from driving.reference import ReferenceVectorEnv
from driving.vector_env import HighwayVectorEnv
from search_spaces.scenarios import Scenario

QUANTITIES = (
    "x",
    "y",
    "heading",
    "speed",
    "target speed",
    "timer",
    "delta",
    "steering",
    "acceleration",
    "impact x",
    "impact y",
    "cos heading",
    "sin heading",
)
FLAGS = ("lane", "target lane", "crashed", "impact pending", "order", "rank")
"""Names of the rows of `vehicles` and of `flags`."""

NEGLIGIBLE = 1e-9
"""Largest deviation of an episode that does not count as diverged where the arithmetic itself differs."""

DECISIONS_PAST_CRASH = 8
STYLES: tuple[tuple[int, ...], ...] = (
    (LEFT, IDLE, RIGHT, FASTER, SLOWER),
    (IDLE, FASTER, FASTER, FASTER, LEFT, RIGHT),
    (LEFT, RIGHT, IDLE),
    (SLOWER, SLOWER, IDLE, LEFT, RIGHT, FASTER),
)
"""What drivers draw their actions from: anything, fast, weaving, slow."""


@dataclass(frozen=True, slots=True)
class Case:
    """A chunk of work for one process.

    Attributes:
        section: Under which name it is reported.
        kind: What is compared.
        scenario: The road.
        seeds: One episode, state or reset each.
        ego_driver: Who drives the ego.
        decisions: Decisions taken from each injected state.
    """

    section: str
    kind: Literal["episodes", "injected states", "resets"]
    scenario: Scenario
    seeds: range
    ego_driver: int = EGO_ACTIONS
    decisions: int = 3


@dataclass(slots=True)
class Tally:
    """What was found in a number of runs (episodes, injected states or resets).

    Attributes:
        runs: How many.
        diverged: How many deviated by more than `NEGLIGIBLE` or in a flag.
        decisions: Decisions compared.
        crashes: Runs in which the ego crashed.
        ties: Vehicles that shared their x with another when injected.
        deviations: Largest absolute difference of each quantity.
        mismatches: Differing flags of each name.
    """

    runs: int = 0
    diverged: int = 0
    decisions: int = 0
    crashes: int = 0
    ties: int = 0
    deviations: dict[str, float] = field(default_factory=dict)
    mismatches: Counter[str] = field(default_factory=Counter)

    @property
    def deviation(self) -> float:
        """The largest deviation of any quantity."""
        return max(self.deviations.values(), default=0.0)

    @property
    def exact(self) -> bool:
        """Whether nothing differed at all."""
        return self.deviation == 0.0 and not self.mismatches.total()

    def measure(self, name: str, ours: NDArray[Any], theirs: NDArray[Any]) -> None:
        """Note how far a quantity is off; a number that is not finite counts as infinitely far."""
        difference = np.abs(np.asarray(ours, float) - np.asarray(theirs, float)).max(initial=0.0)
        self.deviations[name] = max(self.deviations.get(name, 0.0), float(np.nan_to_num(difference, nan=np.inf)))

    def match(self, name: str, ours: NDArray[Any], theirs: NDArray[Any]) -> None:
        """Note how many flags differ."""
        self.mismatches[name] += int((np.asarray(ours) != np.asarray(theirs)).sum())

    def add(self, other: "Tally") -> None:
        """Add the runs of another tally."""
        self.runs += other.runs
        self.diverged += other.diverged
        self.decisions += other.decisions
        self.crashes += other.crashes
        self.ties += other.ties
        self.mismatches.update(other.mismatches)
        for name, deviation in other.deviations.items():
            self.deviations[name] = max(self.deviations.get(name, 0.0), deviation)


class Pair:
    """The kernel's environment and highway-env's, one each, driven side by side."""

    def __init__(self, case: Case) -> None:
        self.kernel = HighwayVectorEnv(1, case.scenario, autoreset=False, ego_driver=case.ego_driver)
        self.upstream = ReferenceVectorEnv(1, case.scenario, autoreset=False, ego_driver=case.ego_driver)

    def reset(self, seed: int | None, tally: Tally) -> None:
        """Start the same episode in both and compare."""
        ours, _ = self.kernel.reset(seed=seed)
        theirs, _ = self.upstream.reset(seed=seed)
        tally.measure("observation", ours, theirs)
        self.compare(tally)

    def step(self, action: int, tally: Tally) -> bool:
        """Take the same decision in both and compare; return whether the episode is over."""
        actions = np.array([action])
        ours = self.kernel.step(actions)
        theirs = self.upstream.step(actions)
        tally.decisions += 1
        tally.measure("observation", ours[0], theirs[0])
        tally.measure("native reward", ours[1], theirs[1])
        tally.match("terminated", ours[2], theirs[2])
        tally.match("truncated", ours[3], theirs[3])
        self.compare(tally)
        return bool(theirs[2][0] or theirs[3][0])

    def compare(self, tally: Tally) -> None:
        """Compare everything that both expose."""
        for row, name in enumerate(QUANTITIES):
            tally.measure(name, self.kernel.vehicles[:, row], self.upstream.vehicles[:, row])
        for row, name in enumerate(FLAGS):
            tally.match(name, self.kernel.flags[:, row], self.upstream.flags[:, row])
        tally.measure("reward state", self.kernel.states, self.upstream.states)
        # Sums of squares grow large: relative above 1.
        scale = np.maximum(np.abs(self.upstream.records.columns), 1.0)
        sums = self.upstream.records.columns / scale
        tally.measure("episode sums", self.kernel.records.columns / scale, sums)
        tally.match("episode histograms", self.kernel.records.histograms, self.upstream.records.histograms)

    @property
    def crashed(self) -> bool:
        """Whether highway-env's ego has crashed."""
        return bool(self.upstream.flags[0, CRASHED, 0])


def compare_episode(pair: Pair, seed: int, tally: Tally) -> None:
    """Drive an episode to its end, and every third one that crashed some decisions further."""
    rng = np.random.default_rng(1_000_000 + seed)
    style = STYLES[seed % len(STYLES)]
    pair.reset(seed, tally)
    while not pair.step(int(rng.choice(style)), tally):
        pass
    if not pair.crashed:
        return
    tally.crashes += 1
    if seed % 3 == 0:
        for _ in range(DECISIONS_PAST_CRASH):
            pair.kernel.inject(pair.kernel.vehicles.copy(), pair.kernel.flags.copy())
            pair.upstream.inject(pair.upstream.vehicles.copy(), pair.upstream.flags.copy())
            pair.step(int(rng.choice(style)), tally)


def compare_injected(pair: Pair, seed: int, decisions: int, tally: Tally) -> None:
    """Put the same random state into both and take some decisions from there."""
    rng = np.random.default_rng(2_000_000 + seed)
    scenario = pair.kernel.scenario
    pair.reset(seed, tally)
    has_driver = pair.kernel.ego_driver != EGO_ACTIONS
    vehicles, flags = random_state(rng, scenario.vehicles + 1, scenario.lanes, has_driver)
    tally.ties += vehicles.shape[2] - np.unique(vehicles[0, X]).size
    for _ in range(decisions):
        pair.kernel.inject(vehicles, flags)
        pair.upstream.inject(vehicles, flags)
        pair.step(int(rng.integers(5)), tally)
        vehicles, flags = pair.upstream.vehicles.copy(), pair.upstream.flags.copy()
    tally.crashes += pair.crashed


def compare_reset(pair: Pair, seed: int, tally: Tally) -> None:
    """Reset both: every fifth time with a seed of up to 64 bits, otherwise from where their streams stand."""
    fresh = seed % 5 == 0
    large = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64)) if seed % 2 else seed
    pair.reset(large if fresh else None, tally)


def run_case(case: Case) -> Tally:
    """Compare a chunk; called in a process of its own."""
    pair = Pair(case)
    total = Tally()
    if case.kind == "resets":
        pair.reset(case.seeds[0], total)
    for seed in case.seeds:
        tally = Tally(runs=1)
        if case.kind == "episodes":
            compare_episode(pair, seed, tally)
        elif case.kind == "injected states":
            compare_injected(pair, seed, case.decisions, tally)
        else:
            compare_reset(pair, seed, tally)
        tally.diverged = int(tally.deviation > NEGLIGIBLE or tally.mismatches.total() > 0)
        total.add(tally)
    return total
