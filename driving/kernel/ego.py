"""The ego: what its actions mean, how it is controlled, and highway-env's own reward for it."""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.jit import compiled
from driving.kernel.layout import (
    ACCELERATION,
    COS,
    CRASHED,
    DELTA,
    EGO_ACTIONS,
    FASTER,
    HEADING,
    LANE,
    LEFT,
    RIGHT,
    SLOWER,
    SPEED,
    STEERING,
    TARGET_LANE,
    TARGET_SPEED,
    TIMER,
    X,
    Y,
)
from driving.kernel.math import PI, clip, linear_map
from driving.kernel.traffic import CHANGE_DELAY
from driving.kernel.vehicle import is_on_lane, is_reachable, steering_angle

SPEED_GAIN = 1 / 0.6
"""1/s; highway-env's `ControlledVehicle.KP_A`."""

DRIVER_TARGET_SPEED = 30.0
DRIVER_DELTA = 4.0
"""m/s and dimensionless: what an ego that drives by IDM wants, the road's speed limit and `IDMVehicle.DELTA`."""

COLLISION_REWARD = -1.0
RIGHT_LANE_REWARD = 0.1
HIGH_SPEED_REWARD = 0.4
REWARD_SPEEDS = (20.0, 30.0)
"""Weights and speed range, m/s, of highway-env's `HighwayEnv.default_config`."""


@compiled
def take_wheel(vehicles: NDArray[np.float64], ego_driver: int) -> None:
    """Give the freshly placed ego what its driver needs.

    An ego driven by IDM is highway-env's `IDMVehicle` in the ego's place: exponent 4, a lane-change timer derived from
    its position, and here a target speed of 30 m/s. One driven by actions has neither exponent nor timer.
    """
    if ego_driver != EGO_ACTIONS:
        vehicles[DELTA, 0] = DRIVER_DELTA
        vehicles[TIMER, 0] = ((vehicles[X, 0] + vehicles[Y, 0]) * PI) % CHANGE_DELAY
        vehicles[TARGET_SPEED, 0] = DRIVER_TARGET_SPEED


@compiled
def apply_action(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    action: int,
    lanes: int,
    target_speeds: NDArray[np.float64],
) -> None:
    """Change the ego's target speed or target lane; `IDLE` keeps both.

    FASTER and SLOWER start from the current speed, not from the current target; a lane change starts from the target
    lane, so that pressing twice aims two lanes away.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        action: One of the five meta-actions of `layout`.
        lanes: Number of lanes.
        target_speeds: Evenly spaced target speeds, m/s, float64[K].
    """
    if action in (FASTER, SLOWER):
        last = target_speeds.size - 1
        share = (vehicles[SPEED, 0] - target_speeds[0]) / (target_speeds[last] - target_speeds[0])
        nearest = clip(np.rint(share * last), 0.0, float(last))
        chosen = clip(nearest + (1.0 if action == FASTER else -1.0), 0.0, float(last))
        vehicles[TARGET_SPEED, 0] = target_speeds[int(chosen)]
    elif action in (LEFT, RIGHT):
        lane = flags[TARGET_LANE, 0] + (1 if action == RIGHT else -1)
        lane = min(max(lane, 0), lanes - 1)
        if is_reachable(vehicles[X, 0], vehicles[Y, 0], lane):
            flags[TARGET_LANE, 0] = lane


@compiled
def control(vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> None:
    """Set the steering and acceleration of an ego that is driven by actions, for one frame.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
    """
    target = int(flags[TARGET_LANE, 0])
    vehicles[STEERING, 0] = steering_angle(vehicles[Y, 0], vehicles[HEADING, 0], vehicles[SPEED, 0], target)
    vehicles[ACCELERATION, 0] = SPEED_GAIN * (vehicles[TARGET_SPEED, 0] - vehicles[SPEED, 0])


@compiled
def native_reward(vehicles: NDArray[np.float64], flags: NDArray[np.int32], lanes: int) -> float:
    """Return highway-env's own reward of the present state, in [0, 1].

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        lanes: Number of lanes.
    """
    if not is_on_lane(vehicles[X, 0], vehicles[Y, 0], flags[LANE, 0], 0.0):
        return 0.0
    forward = vehicles[SPEED, 0] * vehicles[COS, 0]
    speed_share = clip(linear_map(forward, REWARD_SPEEDS[0], REWARD_SPEEDS[1], 0.0, 1.0), 0.0, 1.0)
    reward = COLLISION_REWARD * float(flags[CRASHED, 0])
    reward += RIGHT_LANE_REWARD * (flags[TARGET_LANE, 0] / max(lanes - 1, 1))
    reward += HIGH_SPEED_REWARD * speed_share
    return linear_map(reward, COLLISION_REWARD, HIGH_SPEED_REWARD + RIGHT_LANE_REWARD, 0.0, 1.0)
