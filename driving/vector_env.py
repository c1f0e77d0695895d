"""The batched environment: highway-env's straight highway as one compiled call for N environments.

    env = HighwayVectorEnv(128, scenario_named("highway-fast-v0"))
    observations, _ = env.reset(seed=0)
    observations, rewards, terminated, truncated, info = env.step(actions)

Everything that the simulator knows is open beside it: `states` for reward programs, `records` for measures, `vehicles`
and `flags` as whole arrays.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from driving.kernel.decision import ACTIONS, Batch, reset_batch, step_batch
from driving.kernel.frame import sort_by_position
from driving.kernel.layout import (
    EGO_ACTIONS,
    FLAG_ROWS,
    MEMORY_WORDS,
    OBSERVATION_COLUMNS,
    OBSERVED,
    ORDER,
    STREAM_WORDS,
    TARGET_SPEEDS,
    VEHICLE_ROWS,
    road_vector,
)
from driving.kernel.records import BINS, HISTOGRAMS, RECORD_COLUMNS
from search_spaces.scenarios import Scenario
from search_spaces.state import FIELDS

OBSERVATION_SIZE = OBSERVED * OBSERVATION_COLUMNS
"""Length of an observation."""


@dataclass(frozen=True, slots=True)
class EpisodeRecords:
    """Measures of the episode that ended last in each environment; zeros where none has ended yet.

    Attributes:
        columns: Sums, float64[N, RECORD_COLUMNS]; `driving/kernel/records.py` names the columns.
        histograms: Histograms over physics frames, int32[N, HISTOGRAMS, BINS].
    """

    columns: NDArray[np.float64]
    histograms: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class FrameStates:
    """Whole states of one environment, one for each physics frame.

    Attributes:
        vehicles: float64[T, VEHICLE_ROWS, V].
        flags: int32[T, FLAG_ROWS, V].
    """

    vehicles: NDArray[np.float64]
    flags: NDArray[np.int32]


def _empty_batch(count: int, scenario: Scenario) -> Batch:
    """Return a batch of `count` environments, with nobody on the road yet."""
    cars = scenario.vehicles + 1
    frames = scenario.frames_per_decision
    return Batch(
        road=road_vector(scenario),
        target_speeds=np.array(TARGET_SPEEDS),
        vehicles=np.zeros((count, VEHICLE_ROWS, cars)),
        flags=np.zeros((count, FLAG_ROWS, cars), np.int32),
        streams=np.zeros((count, STREAM_WORDS), np.uint64),
        clock=np.zeros(count),
        active=np.zeros(count, np.bool_),
        passed=np.zeros((count, cars), np.int32),
        memory=np.zeros((count, MEMORY_WORDS)),
        running=np.zeros((count, RECORD_COLUMNS)),
        running_histograms=np.zeros((count, HISTOGRAMS, BINS), np.int32),
        finished=np.zeros((count, RECORD_COLUMNS)),
        finished_histograms=np.zeros((count, HISTOGRAMS, BINS), np.int32),
        states=np.zeros((count, len(FIELDS))),
        observations=np.zeros((count, OBSERVED, OBSERVATION_COLUMNS), np.float32),
        final_observations=np.zeros((count, OBSERVED, OBSERVATION_COLUMNS), np.float32),
        rewards=np.zeros(count),
        terminated=np.zeros(count, np.bool_),
        truncated=np.zeros(count, np.bool_),
        polygons=np.zeros((2, 5, 2)),
        candidates=np.zeros(cars, np.int32),
        distances=np.zeros(8),
        film_vehicles=np.zeros((frames, VEHICLE_ROWS, cars)),
        film_flags=np.zeros((frames, FLAG_ROWS, cars), np.int32),
    )


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class HighwayVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """N independent highways, stepped together; an episode is named by the scenario and its seed alone.

    Observations are highway-env's Kinematics values, flattened. `step` and `reset` return fresh arrays; the attributes
    below are views that the next `step` overwrites, so copy what has to last.

    A collision that is certain but only happens in the next frame leaves `terminated` False in this step, as in
    highway-env.

    Attributes:
        scenario: The road.
        ego_driver: Who drives the ego: `EGO_ACTIONS`, `EGO_IDM` or `EGO_MOBIL` (the last two ignore the actions).
        autoreset: Whether an episode that ends is followed by the next one in the same step. Otherwise its environment
            freezes: it keeps its observation, states and end flags, and its rewards are 0.
        states: Reward states at the end of the last decision, before any reset, float64[N, len(FIELDS)], read-only;
            after `reset` those of the first state.
        active: Whether an environment's episode goes on, bool[N], read-only.
        vehicles: Quantities of all vehicles, float64[N, VEHICLE_ROWS, V]; `inject` changes them.
        flags: Their flags, int32[N, FLAG_ROWS, V].
        records: Measures of the episodes that ended last.
    """

    def __init__(
        self, num_envs: int, scenario: Scenario, *, autoreset: bool = True, ego_driver: int = EGO_ACTIONS
    ) -> None:
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP if autoreset else AutoresetMode.DISABLED}
        self.num_envs = num_envs
        self.scenario = scenario
        self.autoreset = autoreset
        self.ego_driver = ego_driver
        self.single_observation_space = spaces.Box(-1.0, 1.0, (OBSERVATION_SIZE,), np.float32)
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._batch = _empty_batch(num_envs, scenario)
        self._film = -1
        self._seeded = False
        self._started = False
        self.states = _read_only(self._batch.states)
        self.active = _read_only(self._batch.active)
        self.vehicles = self._batch.vehicles
        self.flags = self._batch.flags
        self.records = EpisodeRecords(_read_only(self._batch.finished), _read_only(self._batch.finished_histograms))

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode in every environment.

        Args:
            seed: An integer seeds environment e with `seed + e`; a sequence gives one seed for each; None lets the
                random streams go on (and seeds them from the system's entropy the first time).
            options: None or empty; there are none.

        Returns:
            Observations, float32[N, OBSERVATION_SIZE], and an empty dict.

        Raises:
            ValueError: A sequence of another length, a seed outside [0, 2**64), or unknown options.
        """
        if options:
            raise ValueError(f"reset takes no options, got {sorted(options)}")
        self._reset_batch(self._seeds(seed))
        self._seeded = self._started = True
        return self._batch.observations.reshape(self.num_envs, OBSERVATION_SIZE).copy(), {}

    def _seeds(self, seed: int | Sequence[int | None] | None) -> NDArray[np.uint64]:
        if seed is None:
            if self._seeded:
                return np.zeros(0, np.uint64)
            seed = secrets.randbits(63)
        seeds = list(range(seed, seed + self.num_envs)) if isinstance(seed, (int, np.integer)) else list(seed)
        if len(seeds) != self.num_envs or not all(each is not None and 0 <= each < 2**64 for each in seeds):
            raise ValueError(f"expected {self.num_envs} seeds in [0, 2**64), got {len(seeds)}: {seeds[:3]}...")
        return np.array(seeds, np.uint64)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one decision in every environment.

        Args:
            actions: One of highway-env's five meta-actions for each environment, int64[N].

        Returns:
            Observations, float32[N, OBSERVATION_SIZE]; highway-env's native rewards, float64[N]; terminated, bool[N];
            truncated, bool[N]; and a dict, which with autoreset, where episodes ended in this step, holds
            `final_obs`, float32[k, OBSERVATION_SIZE], their last observations, and `final_index`, int64[k], their
            environments.

        Raises:
            ResetNeeded: `reset` has not been called.
            InvalidAction: An action outside [0, 5), or not N of them.
        """
        if not self._started:
            raise ResetNeeded("call reset before step")
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise InvalidAction(f"expected {self.num_envs} actions, got an array of shape {chosen.shape}")
        batch = self._batch
        ended = self._step_batch(chosen)
        if ended < 0:
            env = -1 - ended
            raise InvalidAction(f"expected actions in [0, {ACTIONS}), got {chosen[env]} for environment {env}")
        info: dict[str, Any] = {}
        if ended and self.autoreset:
            index = np.flatnonzero(batch.terminated | batch.truncated)
            info = {
                "final_obs": batch.final_observations[index].reshape(-1, OBSERVATION_SIZE),
                "final_index": index,
            }
        observations = batch.observations.reshape(self.num_envs, OBSERVATION_SIZE).copy()
        return observations, batch.rewards.copy(), batch.terminated.copy(), batch.truncated.copy(), info

    def _reset_batch(self, seeds: NDArray[np.uint64]) -> None:
        """Start an episode in every environment, from `seeds`, uint64[N], or from the streams where that is empty."""
        reset_batch(self._batch, seeds, self.ego_driver)

    def _step_batch(self, actions: NDArray[np.int64]) -> int:
        """Take one decision everywhere; return how many episodes ended, or -1 - e if environment e's action is none."""
        return step_batch(self._batch, actions, self.ego_driver, self.autoreset, self._film)

    def inject(self, vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> None:
        """Put whole states into every environment between two decisions, and let each episode go on from there.

        The measures of an episode that was tampered with mean nothing until the next reset.

        Args:
            vehicles: float64[N, VEHICLE_ROWS, V].
            flags: int32[N, FLAG_ROWS, V]; `ORDER` and `RANK` are computed anew.
        """
        self.vehicles[:] = vehicles
        self.flags[:] = flags
        self._batch.active[:] = True
        for env in range(self.num_envs):
            self.flags[env, ORDER] = np.arange(flags.shape[2])
            sort_by_position(self.vehicles[env], self.flags[env])

    def watch(self, env: int) -> None:
        """Keep the whole state of every physics frame of environment `env` from the next step on; -1 for none."""
        if not -1 <= env < self.num_envs:
            raise ValueError(f"expected an environment in [-1, {self.num_envs}), got {env}")
        self._film = env

    def film_frames(self) -> FrameStates:
        """Return copies of the physics frames of the last decision of the watched environment."""
        return FrameStates(self._batch.film_vehicles.copy(), self._batch.film_flags.copy())
