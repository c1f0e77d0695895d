"""Which of many proposals are worth a trial.

A program is evaluated on recorded state traces of stored policies, and judged by whether it ranks them as their fitness
does: Kendall's tau between the policies' undiscounted returns under the program and their fitness. Over 251 trained
programs tau had a rank correlation of 0.81 with the trained fitness; discounting made it worse. It removes junk and
hardly ranks what survives, so one program is always taken at random.
"""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from actors.evidence import flatten
from actors.fitness import fitness
from actors.messages import ScreenVerdict
from driving.drivers import DRIVERS, Driver, driver_named, record_traces, run_episodes
from driving.kernel.reward_machine import RewardMachine
from driving.measures import summarise
from search_spaces.program import RewardProgram
from search_spaces.scenarios import SCREEN, Scenario

EPISODES = 100
"""Episodes of each stored policy."""
RESOLUTION = 0.01
"""Fitness is compared in steps of this: what lies closer is noise (its standard error over 500 episodes is 0.016), and
without it the order of drivers who all crash, at fitnesses of 1e-8, would count as much as any other."""

APART = (0.1, 0.005, 0.0)
"""EPIC distances that chosen programs keep from others, each tried where the one before leaves too few. Nearer than the
first, fitnesses differ hardly more than between two trainings of one program (`docs/decisions/0007`); the second is the
linter's `duplicate`."""

Gap = Callable[[int, Sequence[int]], float]
"""How far a program is from known ones and from others of its generation."""


@dataclass(frozen=True, slots=True, eq=False)
class _Policy:
    """A stored policy.

    Attributes:
        states: float64[R, len(FIELDS)], the states of all its decisions in `EPISODES` episodes.
        fitness: Its fitness, 0 to 1.
    """

    states: NDArray[np.float64]
    fitness: float


class Screen:
    """Ranks programs by how well they rank stored policies.

    The baseline drivers are recorded at the first ranking; candidates are added as they are trained. Safe to use from
    several threads.

    Args:
        scenario: Road of the search.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._lock = threading.Lock()
        self._candidates: dict[str, _Policy] = {}
        self._baselines: tuple[_Policy, ...] | None = None

    def add_policy(self, name: str, driver: Driver, fitness: float) -> None:
        """Record traces of a trained candidate; under a known name, they replace the old ones.

        Args:
            name: Its candidate id.
            driver: How it drives.
            fitness: Its fitness, 0 to 1.
        """
        states, _ = flatten(record_traces(self._scenario, SCREEN.seeds(EPISODES), driver))
        with self._lock:
            self._candidates[name] = _Policy(states, fitness)

    def rank(self, programs: Sequence[RewardProgram]) -> list[ScreenVerdict]:
        """Return a verdict on each program, in the order given.

        Equals rank in the order given; programs whose tau is undefined rank last.
        """
        taus = _taus(programs, self._policies())
        order = sorted(range(len(taus)), key=lambda index: -_known(taus[index]))
        ranks = {index: rank for rank, index in enumerate(order)}
        return [ScreenVerdict(tau=tau, rank=ranks[index], of=len(taus)) for index, tau in enumerate(taus)]

    def _policies(self) -> list[_Policy]:
        with self._lock:
            if self._baselines is None:
                self._baselines = _record_baselines(self._scenario)
            return [*self._baselines, *(self._candidates[name] for name in sorted(self._candidates))]


def choose(
    verdicts: Sequence[ScreenVerdict], count: int, rng: np.random.Generator, gap: Gap
) -> list[tuple[int, ScreenVerdict]]:
    """Choose which programs are trained: the best by rank that lie apart, and one of the others at random.

    A program that lies near a known or a chosen one is passed over as long as there are others: what sets the two apart
    is less than what sets apart two trainings of one of them.

    Args:
        verdicts: One for each program, as `Screen.rank` gives them.
        count: How many to choose; the one at random is among them when `count` is at least 2.
        rng: Draws the one at random.
        gap: Takes the index of a program and the indices of those chosen so far, and returns its EPIC distance to the
            nearest of these and of what was trained before, 0 to 1.

    Returns:
        Index and verdict of each chosen program, best first; the one at random is last and marked.
    """
    order = sorted(range(len(verdicts)), key=lambda index: verdicts[index].rank)
    drawn = 1 if 2 <= count < len(order) else 0
    best = _apart(order, count - drawn, gap)
    chosen = [(index, verdicts[index]) for index in order if index in best]
    if drawn:
        others = [index for index in order if index not in best]
        lucky = others[int(rng.integers(len(others)))]
        chosen.append((lucky, replace(verdicts[lucky], at_random=True)))
    return chosen


def _apart(order: Sequence[int], count: int, gap: Gap) -> list[int]:
    """Return the first `count` of `order` that lie apart; closer together where there are too few."""
    taken: list[int] = []
    for apart in APART:
        for index in order:
            if len(taken) < count and index not in taken and gap(index, taken) >= apart:
                taken.append(index)
    return taken


def _record_baselines(scenario: Scenario) -> tuple[_Policy, ...]:
    seeds = SCREEN.seeds(EPISODES)
    policies = []
    for name in DRIVERS:
        judged = fitness(summarise(run_episodes(scenario, seeds, driver_named(name)), scenario))
        states, _ = flatten(record_traces(scenario, seeds, driver_named(name)))
        if judged is not None:
            policies.append(_Policy(states, judged.value))
    return tuple(policies)


def _taus(programs: Sequence[RewardProgram], policies: Sequence[_Policy]) -> list[float | None]:
    states = np.concatenate([policy.states for policy in policies])
    owner = np.repeat(np.arange(len(policies)), [len(policy.states) for policy in policies])
    judged = np.round(np.array([policy.fitness for policy in policies]) / RESOLUTION)
    taus: list[float | None] = []
    for program in programs:
        result = RewardMachine(program).evaluate(states)
        returns = np.bincount(owner, weights=result.totals).astype(np.float64)
        taus.append(None if result.faults.any() else _tau(returns, judged))
    return taus


def _tau(returns: NDArray[np.float64], judged: NDArray[np.float64]) -> float | None:
    tau = float(kendalltau(returns, judged).statistic)
    return None if math.isnan(tau) else tau


def _known(tau: float | None) -> float:
    return -math.inf if tau is None else tau
