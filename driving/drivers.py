"""Who drives: baseline drivers, and the loop that puts any driver on a fixed set of episodes.

Every episode has an environment of its own and is driven to its end, so short episodes weigh no more than long ones
(taking the first N that end in a training environment would prefer crashes).
"""

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from driving.kernel.decision import ACTIONS
from driving.kernel.layout import EGO_ACTIONS, EGO_IDM, EGO_MOBIL, FASTER, IDLE, LEFT, RIGHT, SLOWER
from driving.measures import EpisodeTable, episode_table
from driving.vector_env import HighwayVectorEnv
from search_spaces.errors import UsageError
from search_spaces.scenarios import Scenario

CHUNK = 512
"""Episodes that are driven together at most."""


class Driver(Protocol):
    """Anything that chooses actions."""

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Choose an action for each environment.

        Args:
            observations: highway-env's Kinematics values, float32[N, OBSERVATION_SIZE].
            states: Reward states, float64[N, len(FIELDS)].

        Returns:
            int64[N]; those of environments whose episode has ended are ignored.
        """
        ...


Act = Callable[[NDArray[np.float32]], NDArray[np.int64]]
"""A plain function from observations, float32[N, OBSERVATION_SIZE], to actions, int64[N]."""


@dataclass(frozen=True, slots=True)
class FunctionDriver:
    """Drives by a function of the observations."""

    function: Act

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Choose an action for each environment."""
        return self.function(observations)


@dataclass(frozen=True, slots=True)
class ConstantDriver:
    """Repeats one action."""

    action: int

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Choose an action for each environment."""
        return np.full(len(observations), self.action, np.int64)


@dataclass(frozen=True, slots=True)
class ModelDriver:
    """Leaves the ego to highway-env's own traffic models, at a target speed of 30 m/s.

    Attributes:
        ego_driver: `EGO_IDM` keeps its lane, `EGO_MOBIL` changes lanes.
    """

    ego_driver: int

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the action that the kernel ignores."""
        return np.full(len(observations), IDLE, np.int64)


@dataclass(frozen=True, slots=True)
class RandomDriver:
    """Draws uniform actions from a stream that depends on the episode's seed alone."""

    def starting(self, seeds: Sequence[int], decisions: int) -> "DrawnDriver":
        """Return the driver of these episodes, of `decisions` decisions at most."""
        drawn = [np.random.default_rng([seed, ACTIONS]).integers(0, ACTIONS, decisions) for seed in seeds]
        return DrawnDriver(iter(np.array(drawn, np.int64).T))

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Refuse: episodes have to be started first."""
        raise UsageError("a random driver draws by the episodes' seeds: call starting(seeds, decisions) and drive that")


@dataclass(frozen=True, slots=True)
class DrawnDriver:
    """Plays actions that were drawn beforehand."""

    actions: Iterator[NDArray[np.int64]]

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the next actions."""
        return next(self.actions)


DRIVERS = ("left", "idle", "right", "faster", "slower", "random", "idm", "mobil")
"""Names of the baseline drivers."""


def driver_named(name: str) -> Driver:
    """Return a baseline driver.

    Raises:
        UsageError: No driver of that name; the nearest is given.
    """
    constants = {"left": LEFT, "idle": IDLE, "right": RIGHT, "faster": FASTER, "slower": SLOWER}
    if name in constants:
        return ConstantDriver(constants[name])
    if name == "random":
        return RandomDriver()
    if name in ("idm", "mobil"):
        return ModelDriver(EGO_IDM if name == "idm" else EGO_MOBIL)
    near = difflib.get_close_matches(name, DRIVERS, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"unknown driver {name!r}: {hint}Known: {', '.join(DRIVERS)}")


def drive(
    scenario: Scenario,
    seeds: Sequence[int],
    driver: Driver | Act,
    *,
    watch: int = -1,
    simulator: type[HighwayVectorEnv] = HighwayVectorEnv,
) -> Iterator[tuple[HighwayVectorEnv, NDArray[np.bool_]]]:
    """Drive one episode for each seed, all together, and yield after every decision.

    Args:
        scenario: The road.
        seeds: Seeds of the episodes.
        driver: Who drives.
        watch: The episode whose physics frames are kept (see `HighwayVectorEnv.watch`); -1 for none.
        simulator: What simulates the road; `driving.reference.ReferenceVectorEnv` for highway-env itself.

    Yields:
        The environments, and which of them drove this decision, bool[N]. The first item is the start, where none did.
    """
    ego_driver = driver.ego_driver if isinstance(driver, ModelDriver) else EGO_ACTIONS
    env = simulator(len(seeds), scenario, autoreset=False, ego_driver=ego_driver)
    if isinstance(driver, RandomDriver):
        # One more than scheduled: summed in floating point, the clock may reach the duration a decision late.
        driver = driver.starting(seeds, scenario.decisions + 1)
    elif callable(driver):
        driver = FunctionDriver(driver)
    env.watch(watch)
    observations, _ = env.reset(seed=seeds)
    yield env, np.zeros(len(seeds), np.bool_)
    while env.active.any():
        driving = env.active.copy()
        observations, *_ = env.step(driver.act(observations, env.states))
        yield env, driving


OnDecision = Callable[[HighwayVectorEnv, NDArray[np.bool_]], None]
"""Called after every decision with the environments and which of them drove it, bool[N]."""


def run_episodes(
    scenario: Scenario,
    seeds: Sequence[int],
    driver: Driver | Act,
    *,
    on_decision: OnDecision | None = None,
    simulator: type[HighwayVectorEnv] = HighwayVectorEnv,
) -> EpisodeTable:
    """Drive one episode for each seed and measure them.

    Args:
        scenario: The road.
        seeds: Seeds of the episodes; at least one.
        driver: Who drives.
        on_decision: Called after every decision of every chunk of at most `CHUNK` episodes.
        simulator: What simulates the road; `driving.reference.ReferenceVectorEnv` for highway-env itself.

    Returns:
        The episodes, in the order of the seeds.

    Raises:
        UsageError: No seeds.
    """
    if not seeds:
        raise UsageError("episodes: expected at least one seed, got none")
    tables = []
    for first in range(0, len(seeds), CHUNK):
        chunk = seeds[first : first + CHUNK]
        for env, driving in drive(scenario, chunk, driver, simulator=simulator):
            if on_decision is not None and driving.any():
                on_decision(env, driving)
        tables.append(episode_table(env.records, scenario, chunk))
    return EpisodeTable.concatenate(tables)


@dataclass(frozen=True, slots=True, eq=False)
class StateTraces:
    """Reward states of whole episodes.

    Attributes:
        states: After each decision, float64[T, E, len(FIELDS)]; meaningless where not alive.
        alive: Whether an episode drove that decision, bool[T, E].
        crashed: Whether an episode ended in a crash, bool[E].
    """

    states: NDArray[np.float64]
    alive: NDArray[np.bool_]
    crashed: NDArray[np.bool_]


def record_traces(scenario: Scenario, seeds: Sequence[int], driver: Driver | Act) -> StateTraces:
    """Drive one episode for each seed, all together, and keep their reward states.

    Args:
        scenario: The road.
        seeds: Seeds of the episodes.
        driver: Who drives.
    """
    states, alive = [], []
    for env, driving in drive(scenario, seeds, driver):
        if driving.any():
            states.append(env.states.copy())
            alive.append(driving)
    crashed = episode_table(env.records, scenario, seeds).columns["crashed"] > 0
    return StateTraces(np.array(states), np.array(alive), crashed)
