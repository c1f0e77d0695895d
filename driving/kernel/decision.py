"""The compiled loop: one decision of every environment of a batch, in one call that holds no lock.

A decision applies the actions, advances the physics by its frames while measuring each of them, fills the reward state,
tells whether the episode ended, starts the next one if asked to, and observes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driving.kernel.ego import apply_action, native_reward
from driving.kernel.frame import advance_frame
from driving.kernel.jit import compiled, inlined
from driving.kernel.layout import (
    CRASHED,
    DECISION_S,
    DURATION_S,
    EGO_ACTIONS,
    FRAMES,
    HEADING,
    LANE,
    LANES,
    SPEED,
)
from driving.kernel.observation import observe
from driving.kernel.random import seed_stream
from driving.kernel.records import (
    begin_episode,
    measure_decision,
    measure_frame,
)
from driving.kernel.reset import reset_episode
from driving.reward_state import begin_motion, begin_state, fill_state

ACTIONS = 5


class Batch(NamedTuple):
    """Every array of N environments with V vehicles each.

    Attributes:
        road: The scenario, float64[ROAD_WORDS].
        target_speeds: Target speeds of FASTER and SLOWER, m/s, float64[K].
        vehicles: float64[N, VEHICLE_ROWS, V].
        flags: int32[N, FLAG_ROWS, V].
        streams: Random streams, uint64[N, STREAM_WORDS].
        clock: Seconds of the episode, summed as highway-env sums them, float64[N].
        active: Whether the episode goes on, bool[N].
        passed: Whether a vehicle counts as behind the ego 0/1, int32[N, V].
        memory: What an episode remembers, float64[N, MEMORY_WORDS].
        running: Sums of the episode that goes on, float64[N, RECORD_COLUMNS].
        running_histograms: Its histograms, int32[N, HISTOGRAMS, BINS].
        finished: Sums of the episode that ended last, float64[N, RECORD_COLUMNS].
        finished_histograms: Its histograms, int32[N, HISTOGRAMS, BINS].
        states: Reward states at the end of the last decision, float64[N, len(FIELDS)].
        observations: float32[N, OBSERVED, OBSERVATION_COLUMNS].
        final_observations: Those of the last state of an episode that ended, float32[N, OBSERVED, OBSERVATION_COLUMNS].
        rewards: Native rewards, float64[N].
        terminated: bool[N].
        truncated: bool[N].
        polygons: Room for a collision test, float64[2, 5, 2].
        candidates: Room for vehicle indices, int32[V].
        distances: Room for distances, float64[8].
        film_vehicles: Frames of the environment that is filmed, float64[frames per decision, VEHICLE_ROWS, V].
        film_flags: int32[frames per decision, FLAG_ROWS, V].
    """

    road: NDArray[np.float64]
    target_speeds: NDArray[np.float64]
    vehicles: NDArray[np.float64]
    flags: NDArray[np.int32]
    streams: NDArray[np.uint64]
    clock: NDArray[np.float64]
    active: NDArray[np.bool_]
    passed: NDArray[np.int32]
    memory: NDArray[np.float64]
    running: NDArray[np.float64]
    running_histograms: NDArray[np.int32]
    finished: NDArray[np.float64]
    finished_histograms: NDArray[np.int32]
    states: NDArray[np.float64]
    observations: NDArray[np.float32]
    final_observations: NDArray[np.float32]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    polygons: NDArray[np.float64]
    candidates: NDArray[np.int32]
    distances: NDArray[np.float64]
    film_vehicles: NDArray[np.float64]
    film_flags: NDArray[np.int32]


@inlined
def start_episode(batch: Batch, env: int, ego_driver: int) -> None:
    """Draw a new episode for an environment from its stream."""
    vehicles, flags = batch.vehicles[env], batch.flags[env]
    reset_episode(vehicles, flags, batch.streams[env], batch.road, ego_driver)
    batch.clock[env] = 0.0
    batch.active[env] = True
    begin_episode(vehicles, batch.passed[env], batch.memory[env], batch.running[env], batch.running_histograms[env])


@inlined
def look(batch: Batch, env: int, out: NDArray[np.float32]) -> None:
    """Write what an environment's ego sees into `out`, float32[OBSERVED, OBSERVATION_COLUMNS]."""
    lanes = int(batch.road[LANES])
    observe(batch.vehicles[env], batch.flags[env], lanes, out, batch.candidates, batch.distances)


@compiled
def reset_batch(batch: Batch, seeds: NDArray[np.uint64], ego_driver: int) -> None:
    """Start an episode in every environment.

    Args:
        batch: The environments.
        seeds: One seed for each, uint64[N]; empty to let the streams go on.
        ego_driver: `EGO_ACTIONS`, `EGO_IDM` or `EGO_MOBIL`.
    """
    for env in range(batch.clock.size):
        if seeds.size:
            seed_stream(batch.streams[env], seeds[env])
        start_episode(batch, env, ego_driver)
        begin_state(batch.vehicles[env], batch.flags[env], batch.road, batch.states[env])
        look(batch, env, batch.observations[env])
        batch.rewards[env] = 0.0
        batch.terminated[env] = False
        batch.truncated[env] = False


@inlined
def keep_frame(batch: Batch, env: int, frame: int) -> None:
    """Copy the whole state of an environment into the film."""
    vehicles, flags = batch.vehicles[env], batch.flags[env]
    for column in range(flags.shape[1]):
        for row in range(vehicles.shape[0]):
            batch.film_vehicles[frame, row, column] = vehicles[row, column]
        for row in range(flags.shape[0]):
            batch.film_flags[frame, row, column] = flags[row, column]


@inlined
def begin_decision(batch: Batch, env: int) -> None:
    """Note where a decision of an environment starts from, and advance the clock."""
    begin_motion(batch.vehicles[env], batch.flags[env], batch.running[env], batch.memory[env])
    batch.clock[env] += batch.road[DECISION_S]


@inlined
def advance_decision(batch: Batch, env: int, ego_driver: int, filmed: bool) -> None:
    """Advance the physics of one environment by the frames of a decision, and measure them."""
    vehicles, flags, road = batch.vehicles[env], batch.flags[env], batch.road
    passed, memory = batch.passed[env], batch.memory[env]
    record, histograms = batch.running[env], batch.running_histograms[env]
    for frame in range(int(road[FRAMES])):
        crashed = flags[CRASHED, 0]
        before = vehicles[SPEED, 0], vehicles[HEADING, 0], flags[LANE, 0]
        advance_frame(vehicles, flags, road, ego_driver, batch.polygons, batch.candidates)
        if not crashed:
            measure_frame(vehicles, flags, road, before, passed, memory, record, histograms)
        if filmed:
            keep_frame(batch, env, frame)


@inlined
def conclude_decision(batch: Batch, env: int) -> None:
    """Reward, record and describe the decision that an environment has just driven, and tell whether that was all."""
    vehicles, flags, road = batch.vehicles[env], batch.flags[env], batch.road
    record, memory = batch.running[env], batch.memory[env]
    batch.rewards[env] = native_reward(vehicles, flags, int(road[LANES]))
    measure_decision(vehicles, batch.rewards[env], memory, record)
    fill_state(vehicles, flags, road, record, memory, batch.states[env])
    batch.terminated[env] = flags[CRASHED, 0] != 0
    batch.truncated[env] = batch.clock[env] >= road[DURATION_S]


@inlined
def finish_episode(batch: Batch, env: int) -> None:
    """Keep the measures of the episode that just ended."""
    for column in range(batch.finished.shape[1]):
        batch.finished[env, column] = batch.running[env, column]
    for which in range(batch.finished_histograms.shape[1]):
        for place in range(batch.finished_histograms.shape[2]):
            batch.finished_histograms[env, which, place] = batch.running_histograms[env, which, place]


@compiled
def step_batch(batch: Batch, actions: NDArray[np.int64], ego_driver: int, autoreset: bool, film: int) -> int:
    """Take one decision in every active environment.

    Args:
        batch: The environments; every array but the scenario is updated.
        actions: One action for each, int64[N].
        ego_driver: `EGO_ACTIONS`, `EGO_IDM` or `EGO_MOBIL`.
        autoreset: Whether an episode that ends is followed by the next one at once; otherwise its environment freezes.
        film: The environment whose frames are kept; -1 for none.

    Returns:
        How many episodes ended; -1 - e, with nothing done, if the action of environment e is none.
    """
    for env in range(actions.size):
        if not 0 <= actions[env] < ACTIONS:
            return -1 - env
    lanes = int(batch.road[LANES])
    ended = 0
    for env in range(actions.size):
        if not batch.active[env]:
            batch.rewards[env] = 0.0
            continue
        begin_decision(batch, env)
        if ego_driver == EGO_ACTIONS:
            apply_action(batch.vehicles[env], batch.flags[env], actions[env], lanes, batch.target_speeds)
        advance_decision(batch, env, ego_driver, env == film)
        conclude_decision(batch, env)
        if batch.terminated[env] or batch.truncated[env]:
            ended += 1
            finish_episode(batch, env)
            look(batch, env, batch.final_observations[env])
            if autoreset:
                start_episode(batch, env, ego_driver)
            else:
                batch.active[env] = False
        look(batch, env, batch.observations[env])
    return ended
