"""Drives that the reward linter tries programs on, recorded once from the real kernel.

Every driver of `lint_drivers.py` drives from the same start states on three roads: that of the search with light, usual
and heavy traffic. A program is then evaluated on whole episodes in milliseconds.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from actors.fitness import fitness
from actors.lint_drivers import lint_drivers
from driving.drivers import Driver, drive
from driving.kernel.reward_machine import RewardMachine
from driving.measures import episode_table, summarise
from search_spaces.program import RewardProgram
from search_spaces.scenarios import GATE, Scenario

DENSITIES = (0.7, 1.0, 1.2)
"""highway-env's `vehicles_density` of the three roads, dimensionless: the range in which every road can be driven."""
STARTS = 32
"""Start states on each road; every driver begins from each."""


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """Recorded drives: R decisions in E = roads * drivers * `STARTS` episodes, in that order.

    Attributes:
        drivers: Names of the drivers.
        before: Reward state before each decision, float64[R, len(FIELDS)].
        states: Reward state after it, which rewards are computed from, float64[R, len(FIELDS)].
        episode: Episode of each decision, int64[R].
        step: Its place in the episode, from 0, int64[R].
        crashed: Whether an episode ended in a crash, bool[roads, drivers, STARTS].
        fitness: Fitness of each driver on each road, float64[roads, drivers]; NaN where undefined.
        decision_s: Duration of a decision, s.
    """

    drivers: tuple[str, ...]
    before: NDArray[np.float64]
    states: NDArray[np.float64]
    episode: NDArray[np.int64]
    step: NDArray[np.int64]
    crashed: NDArray[np.bool_]
    fitness: NDArray[np.float64]
    decision_s: float

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether a decision is the last of its episode, bool[R]."""
        ends = np.ones(len(self.episode), np.bool_)
        ends[:-1] = self.episode[1:] != self.episode[:-1]
        return ends

    def by_start(self, episodes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a value of each episode, float64[E], as float64[roads, drivers, STARTS]."""
        return episodes.reshape(self.crashed.shape)

    def named(self, *names: str) -> list[int]:
        """Return the places of some drivers."""
        return [self.drivers.index(name) for name in names]


@dataclass(frozen=True, slots=True, eq=False)
class Earnings:
    """A program on the whole bank.

    Attributes:
        bank: The bank.
        program: The program.
        totals: Its reward for each decision, float64[R].
        components: Its components, float64[R, C], in the order of `program.component_names`.
    """

    bank: Bank
    program: RewardProgram
    totals: NDArray[np.float64]
    components: NDArray[np.float64]

    @property
    def size(self) -> float:
        """Mean size of a decision's reward, dimensionless."""
        return float(np.abs(self.totals).mean())

    def returns(self, discount: float = 1.0) -> NDArray[np.float64]:
        """Return what each episode earns, float64[roads, drivers, STARTS].

        Args:
            discount: Weight of a decision relative to the one before, 0 to 1.
        """
        weights = self.totals * discount**self.bank.step
        return self.bank.by_start(np.bincount(self.bank.episode, weights=weights).astype(np.float64))


def earned(bank: Bank, program: RewardProgram) -> Earnings:
    """Evaluate a program on the bank; totals are NaN where it is not finite."""
    result = RewardMachine(program).evaluate(bank.states)
    return Earnings(bank, program, result.totals, result.components)


@lru_cache(maxsize=1)
def record_bank(scenario: Scenario) -> Bank:
    """Drive the bank on the road of a search, in a second or two; the last one is remembered."""
    drivers = lint_drivers()
    recorded = [
        _Recording.of(scenario.changed({"density": density}), driver)
        for density in DENSITIES
        for driver in lint_drivers().values()
    ]
    lengths = [len(each.states) for each in recorded]
    first = np.repeat(np.arange(len(recorded)) * STARTS, lengths)
    shape = len(DENSITIES), len(drivers)
    return Bank(
        drivers=tuple(drivers),
        before=np.concatenate([each.before for each in recorded]),
        states=np.concatenate([each.states for each in recorded]),
        episode=np.concatenate([each.episode for each in recorded]) + first,
        step=np.concatenate([each.step for each in recorded]),
        crashed=np.array([each.crashed for each in recorded]).reshape(*shape, STARTS),
        fitness=np.array([each.fitness for each in recorded]).reshape(shape),
        decision_s=1.0 / scenario.policy_frequency,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Recording:
    """The episodes of one driver on one road, each decision after decision; fields as in `Bank`."""

    before: NDArray[np.float64]
    states: NDArray[np.float64]
    episode: NDArray[np.int64]
    step: NDArray[np.int64]
    crashed: NDArray[np.bool_]
    fitness: float

    @classmethod
    def of(cls, scenario: Scenario, driver: Driver) -> "_Recording":
        seeds = GATE.seeds(STARTS)
        states, alive = [], []
        for env, driving in drive(scenario, seeds, driver):
            states.append(env.states.copy())
            alive.append(driving)
        table = episode_table(env.records, scenario, seeds)
        judged = fitness(summarise(table, scenario))
        # Episode after episode: the first axis is the start state, the second the decision.
        told, lived = np.array(states).swapaxes(0, 1), np.array(alive[1:]).T
        episode, step = np.nonzero(lived)
        return cls(
            before=told[:, :-1][lived],
            states=told[:, 1:][lived],
            episode=episode.astype(np.int64),
            step=step.astype(np.int64),
            crashed=table.columns["crashed"] > 0.0,
            fitness=np.nan if judged is None else judged.value,
        )
