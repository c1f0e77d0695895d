"""Traffic: who is ahead and behind, how hard to accelerate (IDM), and when to change lanes (MOBIL).

The models are highway-env's `IDMVehicle` (Treiber, Hennecke and Helbing 2000; Kesting, Treiber and Helbing 2007).
While vehicles decide, only target lanes change; positions, speeds and lanes stay, so that every neighbour search of a
frame may use one order by x.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driving.kernel.jit import compiled
from driving.kernel.layout import (
    ACCELERATION,
    COS,
    CRASHED,
    DELTA,
    HEADING,
    LANE,
    ORDER,
    RANK,
    SIN,
    SPEED,
    STEERING,
    TARGET_LANE,
    TARGET_SPEED,
    TIMER,
    X,
    Y,
)
from driving.kernel.math import clip, dot, not_zero
from driving.kernel.vehicle import is_on_lane, is_reachable, steering_angle

MAX_ACCELERATION = 6.0
COMFORT_ACCELERATION = 3.0
WANTED_DISTANCE = 10.0
WANTED_TIME = 1.5
GAP_DIVISOR = 2 * np.sqrt(15.0)
SPEED_LIMIT = 30.0
"""m/s2, m/s2, m, s, m/s2, m/s; highway-env's `IDMVehicle.ACC_MAX`, `COMFORT_ACC_MAX`, `DISTANCE_WANTED`,
`TIME_WANTED`, twice the root of -`COMFORT_ACC_MAX` * `COMFORT_ACC_MIN`, and the speed limit of its straight road."""

MIN_GAIN = 0.2
MAX_IMPOSED_BRAKING = 2.0
CHANGE_DELAY = 1.0
MIN_CHANGE_SPEED = 1.0
"""m/s2, m/s2, s, m/s; `LANE_CHANGE_MIN_ACC_GAIN`, `LANE_CHANGE_MAX_BRAKING_IMPOSED`, `LANE_CHANGE_DELAY`."""

NEIGHBOUR_MARGIN = 1.0
"""How far beside a lane a vehicle still counts as on it, m: one between two lanes is on both."""

NOBODY = -1
"""Result of a search that found no vehicle."""


@compiled
def find_front(vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int, lane: int) -> int:
    """Return the vehicle ahead of vehicle `i` on `lane`, or -1.

    A vehicle beside `i` (equal x) is ahead; of several at the same x, the last in vehicle order is taken.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V], with `ORDER` and `RANK` sorted by x.
        i: The vehicle that looks.
        lane: The lane it looks at.
    """
    x = vehicles[X]
    y = vehicles[Y]
    order = flags[ORDER]
    count = x.size
    rank = flags[RANK, i]
    while rank > 0 and x[order[rank - 1]] == x[i]:
        rank -= 1
    while rank < count:
        front = order[rank]
        if front != i and is_on_lane(x[front], y[front], lane, NEIGHBOUR_MARGIN):
            rank += 1
            while rank < count and x[order[rank]] == x[front]:
                other = order[rank]
                if other != i and is_on_lane(x[other], y[other], lane, NEIGHBOUR_MARGIN):
                    front = other
                rank += 1
            return int(front)
        rank += 1
    return NOBODY


@compiled
def find_rear(vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int, lane: int) -> int:
    """Return the vehicle behind vehicle `i` on `lane`, or -1.

    Of several at the same x, the first in vehicle order is taken. Arguments as for `find_front`.
    """
    x = vehicles[X]
    y = vehicles[Y]
    order = flags[ORDER]
    rank = flags[RANK, i] - 1
    while rank >= 0:
        rear = order[rank]
        if x[rear] < x[i] and is_on_lane(x[rear], y[rear], lane, NEIGHBOUR_MARGIN):
            rank -= 1
            while rank >= 0 and x[order[rank]] == x[rear]:
                other = order[rank]
                if is_on_lane(x[other], y[other], lane, NEIGHBOUR_MARGIN):
                    rear = other
                rank -= 1
            return int(rear)
        rank -= 1
    return NOBODY


@compiled
def desired_gap(vehicles: NDArray[np.float64], follower: int, leader: int) -> float:
    """Return the distance, m, that IDM wants `follower` to keep to `leader`."""
    speed = vehicles[SPEED, follower]
    closing_x = speed * vehicles[COS, follower] - vehicles[SPEED, leader] * vehicles[COS, leader]
    closing_y = speed * vehicles[SIN, follower] - vehicles[SPEED, leader] * vehicles[SIN, leader]
    closing = dot(closing_x, closing_y, vehicles[COS, follower], vehicles[SIN, follower])
    gap: float = WANTED_DISTANCE + speed * WANTED_TIME + speed * closing / GAP_DIVISOR
    return gap


@compiled
def free_acceleration(vehicles: NDArray[np.float64], i: int, delta: float) -> float:
    """Return IDM's acceleration, m/s2, of vehicle `i` on an empty road, with exponent `delta`."""
    target = abs(not_zero(clip(vehicles[TARGET_SPEED, i], 0.0, SPEED_LIMIT)))
    return COMFORT_ACCELERATION * (1 - math.pow(max(vehicles[SPEED, i], 0.0) / target, delta))


@compiled
def interaction(vehicles: NDArray[np.float64], follower: int, leader: int) -> float:
    """Return how much, m/s2, `leader` takes from the free acceleration of `follower`."""
    ratio = desired_gap(vehicles, follower, leader) / not_zero(vehicles[X, leader] - vehicles[X, follower])
    return COMFORT_ACCELERATION * (ratio * ratio)


@compiled
def _behind(vehicles: NDArray[np.float64], i: int, free: float, front: int) -> float:
    """Return IDM's acceleration, m/s2, of vehicle `i` with `front` ahead of it, or nobody."""
    if front >= 0:
        return free - interaction(vehicles, i, front)
    return free


@compiled
def _abort_change(vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int) -> None:
    """Stay in lane if another vehicle close ahead is changing into the target lane of vehicle `i` too."""
    target = flags[TARGET_LANE, i]
    for other in range(flags.shape[1]):
        if other != i and flags[LANE, other] != target and flags[TARGET_LANE, other] == target:
            distance = vehicles[X, other] - vehicles[X, i]
            if distance > 0 and distance < desired_gap(vehicles, i, other):
                flags[TARGET_LANE, i] = flags[LANE, i]
                return


@compiled
def _imposes_braking(vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int, lane: int) -> bool:
    """Tell whether vehicle `i` on `lane` would make its new follower brake too hard.

    As in highway-env, the follower's acceleration is reckoned with the exponent of the vehicle that changes.
    """
    rear = find_rear(vehicles, flags, i, lane)
    if rear == NOBODY:
        return False
    return free_acceleration(vehicles, rear, vehicles[DELTA, i]) - interaction(vehicles, rear, i) < -MAX_IMPOSED_BRAKING


@compiled
def _choose_lane(
    vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int, lanes: int, free: float, front: int
) -> None:
    """Set the target lane of vehicle `i` by MOBIL with politeness 0.

    With that politeness four of MOBIL's six accelerations are multiplied by zero, and are left out. Left comes before
    right, and a later success replaces an earlier one.
    """
    lane_now = int(flags[LANE, i])
    staying = _behind(vehicles, i, free, front)
    for side in (-1, 1):
        lane = lane_now + side
        if lane < 0 or lane >= lanes or not is_reachable(vehicles[X, i], vehicles[Y, i], lane):
            continue
        new_front = find_front(vehicles, flags, i, lane)
        if _behind(vehicles, i, free, new_front) - staying < MIN_GAIN:
            continue
        if _imposes_braking(vehicles, flags, i, lane):
            continue
        flags[TARGET_LANE, i] = lane


@compiled
def drive(vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int, lanes: int, changes_lanes: bool) -> None:
    """Decide target lane, steering and acceleration of vehicle `i` for one frame; a crashed one decides nothing.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        i: The vehicle.
        lanes: Number of lanes.
        changes_lanes: Whether it may change lanes (MOBIL) or only follows its lane (IDM).
    """
    if flags[CRASHED, i]:
        return
    lane = int(flags[LANE, i])
    front = find_front(vehicles, flags, i, lane)
    free = free_acceleration(vehicles, i, vehicles[DELTA, i])
    if changes_lanes:
        if lane != flags[TARGET_LANE, i]:
            _abort_change(vehicles, flags, i)
        elif vehicles[TIMER, i] > CHANGE_DELAY:
            vehicles[TIMER, i] = 0.0
            if abs(vehicles[SPEED, i]) >= MIN_CHANGE_SPEED:
                _choose_lane(vehicles, flags, i, lanes, free, front)
    target = int(flags[TARGET_LANE, i])
    vehicles[STEERING, i] = steering_angle(vehicles[Y, i], vehicles[HEADING, i], vehicles[SPEED, i], target)
    acceleration = _behind(vehicles, i, free, front)
    if lane != target:
        new_front = find_front(vehicles, flags, i, target)
        acceleration = min(acceleration, _behind(vehicles, i, free, new_front))
    vehicles[ACCELERATION, i] = clip(acceleration, -MAX_ACCELERATION, MAX_ACCELERATION)
