"""Gaps, closing speeds and times between the ego and its neighbours; bumper to bumper, along the road."""

import math

import numpy as np
from numpy.typing import NDArray

from driving.kernel.jit import compiled, inlined
from driving.kernel.layout import COS, SPEED, X
from driving.kernel.traffic import find_front, find_rear
from driving.kernel.vehicle import VEHICLE_LENGTH
from search_spaces.state import TTC_CAP


@inlined
def road_speed(vehicles: NDArray[np.float64], i: int) -> float:
    """Return the speed of vehicle `i` along the road, m/s."""
    return float(vehicles[SPEED, i] * vehicles[COS, i])


@compiled
def gap_ahead(vehicles: NDArray[np.float64], flags: NDArray[np.int32], lane: int) -> tuple[float, float]:
    """Return the gap from the ego to the next vehicle ahead in `lane`, and that vehicle's speed minus the ego's.

    Args:
        vehicles: One environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        lane: highway-env's lane index (0 is the leftmost).

    Returns:
        Gap in m, at least 0 and infinite without a vehicle; relative speed in m/s, 0 without a vehicle.
    """
    front = find_front(vehicles, flags, 0, lane)
    if front < 0:
        return math.inf, 0.0
    gap = max(vehicles[X, front] - vehicles[X, 0] - VEHICLE_LENGTH, 0.0)
    return gap, road_speed(vehicles, front) - road_speed(vehicles, 0)


@compiled
def gap_behind(vehicles: NDArray[np.float64], flags: NDArray[np.int32], lane: int) -> tuple[float, float]:
    """Return the gap to the next vehicle behind the ego in `lane`, and that vehicle's speed minus the ego's.

    Arguments and result are those of `gap_ahead`.
    """
    rear = find_rear(vehicles, flags, 0, lane)
    if rear < 0:
        return math.inf, 0.0
    gap = max(vehicles[X, 0] - vehicles[X, rear] - VEHICLE_LENGTH, 0.0)
    return gap, road_speed(vehicles, rear) - road_speed(vehicles, 0)


@inlined
def time_to_collision(gap: float, relative: float) -> float:
    """Return the time to collision in s: 0 in overlap, `TTC_CAP` when not closing.

    Args:
        gap: Gap in m, at least 0.
        relative: Speed of the vehicle ahead minus the ego's, m/s.
    """
    if gap <= 0.0:
        return 0.0
    if relative >= 0.0:
        return TTC_CAP
    return min(gap / -relative, TTC_CAP)


@inlined
def time_headway(gap: float, speed: float) -> float:
    """Return the time in s that a car of `speed` m/s takes for `gap` m, at most `TTC_CAP`."""
    if speed <= 0.0:
        return TTC_CAP
    return min(gap / speed, TTC_CAP)
