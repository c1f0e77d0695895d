"""The start of an episode: highway-env's `HighwayEnv._create_vehicles`, with the same draws in the same order."""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.ego import take_wheel
from driving.kernel.jit import compiled
from driving.kernel.layout import (
    COS,
    DELTA,
    EGO_ACTIONS,
    EGO_SPACING,
    LANE,
    LANE_FACTOR,
    LANES,
    ORDER,
    RANK,
    SPEED,
    TARGET_LANE,
    TARGET_SPEED,
    TIMER,
    TRAFFIC_SPACING,
    X,
    Y,
)
from driving.kernel.math import PI
from driving.kernel.random import integers, uniform
from driving.kernel.traffic import CHANGE_DELAY, SPEED_LIMIT
from driving.kernel.vehicle import LANE_WIDTH

EGO_SPEED = 25.0
"""m/s, at the start."""


@compiled
def reset_episode(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    stream: NDArray[np.uint64],
    road: NDArray[np.float64],
    ego_driver: int = EGO_ACTIONS,
) -> None:
    """Place the ego and the traffic, each ahead of the last, and sort them by x.

    Args:
        vehicles: Overwritten, float64[VEHICLE_ROWS, V].
        flags: Overwritten, int32[FLAG_ROWS, V].
        stream: The random stream, advanced, uint64[STREAM_WORDS].
        road: The scenario, float64[ROAD_WORDS].
        ego_driver: `EGO_ACTIONS`, `EGO_IDM` or `EGO_MOBIL`.
    """
    vehicles[:, :] = 0.0
    flags[:, :] = 0
    lanes = int(road[LANES])
    x = 0.0
    for i in range(flags.shape[1]):
        lane = integers(stream, lanes)
        speed = EGO_SPEED if i == 0 else uniform(stream, 0.7 * SPEED_LIMIT, 0.8 * SPEED_LIMIT)
        spacing = road[EGO_SPACING] if i == 0 else road[TRAFFIC_SPACING]
        offset = spacing * (12 + 1.0 * speed) * road[LANE_FACTOR]
        if i == 0:
            x = 3 * offset
        x += offset * uniform(stream, 0.9, 1.1)
        y = LANE_WIDTH * lane
        vehicles[X, i] = x
        vehicles[Y, i] = y
        vehicles[SPEED, i] = speed
        vehicles[TARGET_SPEED, i] = speed
        vehicles[COS, i] = 1.0
        flags[LANE, i] = lane
        flags[TARGET_LANE, i] = lane
        flags[ORDER, i] = i
        flags[RANK, i] = i
        if i == 0:
            take_wheel(vehicles, ego_driver)
        else:
            vehicles[TIMER, i] = ((x + y) * PI) % CHANGE_DELAY
            vehicles[DELTA, i] = uniform(stream, 3.5, 4.5)
