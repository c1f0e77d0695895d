"""Hand-made traffic situations, put into an environment of the kernel."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driving.kernel import layout
from driving.kernel.frame import sort_by_position
from driving.kernel.records import begin_episode
from driving.reward_state import begin_state
from driving.vector_env import HighwayVectorEnv
from search_spaces.scenarios import Scenario


@dataclass(frozen=True)
class Car:
    """A car at the centre of its lane unless `y` says otherwise; x and y in m, speed in m/s."""

    x: float
    lane: int
    speed: float = 25.0
    y: float | None = None
    target_lane: int | None = None


def place(env: HighwayVectorEnv, index: int, cars: Sequence[Car]) -> None:
    """Put `cars`, the ego first, into environment `index`, as the start of an episode."""
    vehicles, flags = env.vehicles[index], env.flags[index]
    assert len(cars) == flags.shape[1]
    vehicles[:] = 0.0
    flags[:] = 0
    for column, car in enumerate(cars):
        vehicles[layout.X, column] = car.x
        vehicles[layout.Y, column] = 4.0 * car.lane if car.y is None else car.y
        vehicles[layout.SPEED, column] = vehicles[layout.TARGET_SPEED, column] = car.speed
        vehicles[layout.DELTA, column] = 4.0
        vehicles[layout.COS, column] = 1.0
        flags[layout.LANE, column] = car.lane
        flags[layout.TARGET_LANE, column] = car.lane if car.target_lane is None else car.target_lane
        flags[layout.ORDER, column] = flags[layout.RANK, column] = column
    sort_by_position(vehicles, flags)
    batch = env._batch
    begin_episode(
        vehicles, batch.passed[index], batch.memory[index], batch.running[index], batch.running_histograms[index]
    )
    begin_state(vehicles, flags, batch.road, batch.states[index])


def road_with(cars: Sequence[Car], scenario: Scenario | None = None) -> HighwayVectorEnv:
    """Return one environment with `cars` on it, the ego first."""
    scenario = scenario or Scenario()
    env = HighwayVectorEnv(1, scenario.changed({"vehicles": len(cars) - 1}), autoreset=False)
    env.reset(seed=0)
    place(env, 0, cars)
    return env


def step(env: HighwayVectorEnv, action: int) -> None:
    """Take one decision in an environment of one."""
    env.step(np.array([action]))
