"""Collisions: a separating-axis test of two moving rectangles, and what a hit does to both.

Derived from highway-env's `RoadObject.handle_collisions` and `utils.are_polygons_intersecting`.
"""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.jit import compiled
from driving.kernel.layout import (
    COS,
    CRASHED,
    IMPACT_PENDING,
    IMPACT_X,
    IMPACT_Y,
    ORDER,
    RANK,
    SIN,
    SPEED,
    X,
    Y,
)
from driving.kernel.math import dot, norm

HALF_LENGTH = 2.5
HALF_WIDTH = 1.0
DIAGONAL = np.sqrt(5.0**2 + 2.0**2)
"""m, of every vehicle."""

_SLACK = 1e-6
"""m, added where a search by x must not miss a pair that the exact test would take."""


@compiled
def _place_rectangle(vehicles: NDArray[np.float64], i: int, polygon: NDArray[np.float64]) -> None:
    """Write the corners of vehicle `i` into `polygon`, float64[5, 2]; the last repeats the first."""
    cosine, sine = vehicles[COS, i], vehicles[SIN, i]
    x, y = vehicles[X, i], vehicles[Y, i]
    for corner in range(5):
        along = HALF_LENGTH if corner == 2 or corner == 3 else -HALF_LENGTH
        across = HALF_WIDTH if corner == 1 or corner == 2 else -HALF_WIDTH
        polygon[corner, 0] = (cosine * along + -sine * across) + x
        polygon[corner, 1] = (sine * along + cosine * across) + y


@compiled
def _interval_distance(low: float, high: float, other_low: float, other_high: float) -> float:
    """Return the distance between two intervals, negative when they overlap."""
    return other_low - high if low < other_low else low - other_high


@compiled
def _centre(polygon: NDArray[np.float64], axis: int) -> float:
    """Return the mean of the four corners in the order in which NumPy adds them."""
    total: float = ((polygon[0, axis] + polygon[1, axis]) + polygon[2, axis]) + polygon[3, axis]
    return total / 4


@compiled
def _project(polygon: NDArray[np.float64], axis_x: float, axis_y: float) -> tuple[float, float]:
    """Return the smallest and largest projection of the corners on an axis."""
    low = np.inf
    high = -np.inf
    for corner in range(4):
        place = dot(polygon[corner, 0], polygon[corner, 1], axis_x, axis_y)
        low = min(low, place)
        high = max(high, place)
    return low, high


@compiled
def _separate(polygons: NDArray[np.float64], moved_x: float, moved_y: float) -> tuple[bool, bool, float, float]:
    """Test two rectangles on the normals of all their edges.

    Args:
        polygons: The two rectangles, float64[2, 5, 2].
        moved_x: How much further the first moves than the second within a frame along x, m.
        moved_y: The same along y, m.

    Returns:
        Whether they overlap; whether they will; and the least push, m along x and y, that parts the first from the
        second then.
    """
    first, second = polygons[0], polygons[1]
    apart_x = _centre(first, 0) - _centre(second, 0)
    apart_y = _centre(first, 1) - _centre(second, 1)
    overlap = True
    will_overlap = True
    least = np.inf
    push_x = 0.0
    push_y = 0.0
    for edge in range(8):
        polygon = polygons[edge // 4]
        corner = edge % 4
        normal_x = -polygon[corner + 1, 1] + polygon[corner, 1]
        normal_y = polygon[corner + 1, 0] - polygon[corner, 0]
        length = norm(normal_x, normal_y)
        normal_x /= length
        normal_y /= length
        low, high = _project(first, normal_x, normal_y)
        other_low, other_high = _project(second, normal_x, normal_y)
        if _interval_distance(low, high, other_low, other_high) > 0:
            overlap = False
        approach = dot(normal_x, normal_y, moved_x, moved_y)
        low += min(approach, 0.0)
        high += max(approach, 0.0)
        distance = _interval_distance(low, high, other_low, other_high)
        if distance > 0:
            will_overlap = False
        if not overlap and not will_overlap:
            break
        if abs(distance) < least:
            least = abs(distance)
            away = 1.0 if dot(apart_x, apart_y, normal_x, normal_y) > 0 else -1.0
            push_x = away * normal_x
            push_y = away * normal_y
    return overlap, will_overlap, least * push_x, least * push_y


@compiled
def collide(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    i: int,
    j: int,
    frame_s: float,
    polygons: NDArray[np.float64],
) -> None:
    """Test vehicles `i` < `j`, crash both if they overlap, and note an impact on both if they will within a frame.

    A later pair replaces an impact noted by an earlier one; it is applied when the vehicle next moves.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        i: The lower vehicle; its speed alone widens the first, coarse test.
        j: The higher vehicle.
        frame_s: Length of a frame, s.
        polygons: Room for two rectangles, float64[2, 5, 2].
    """
    reach = (DIAGONAL + DIAGONAL) / 2 + vehicles[SPEED, i] * frame_s
    if norm(vehicles[X, j] - vehicles[X, i], vehicles[Y, j] - vehicles[Y, i]) > reach:
        return
    _place_rectangle(vehicles, i, polygons[0])
    _place_rectangle(vehicles, j, polygons[1])
    moved_x = (vehicles[SPEED, i] * vehicles[COS, i]) * frame_s - (vehicles[SPEED, j] * vehicles[COS, j]) * frame_s
    moved_y = (vehicles[SPEED, i] * vehicles[SIN, i]) * frame_s - (vehicles[SPEED, j] * vehicles[SIN, j]) * frame_s
    overlap, will_overlap, push_x, push_y = _separate(polygons, moved_x, moved_y)
    if will_overlap:
        vehicles[IMPACT_X, i] = push_x / 2
        vehicles[IMPACT_Y, i] = push_y / 2
        vehicles[IMPACT_X, j] = -push_x / 2
        vehicles[IMPACT_Y, j] = -push_y / 2
        flags[IMPACT_PENDING, i] = 1
        flags[IMPACT_PENDING, j] = 1
    if overlap:
        flags[CRASHED, i] = 1
        flags[CRASHED, j] = 1


@compiled
def _find_candidates(
    vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int, reach: float, candidates: NDArray[np.int32]
) -> int:
    """List the vehicles after `i` in vehicle order within `reach`, m, of it along the road; return how many.

    They come in vehicle order, because of two impacts on a vehicle the later one counts.
    """
    x = vehicles[X]
    order = flags[ORDER]
    found = 0
    for step in (-1, 1):
        rank = flags[RANK, i] + step
        while rank >= 0 and rank < x.size and abs(x[order[rank]] - x[i]) <= reach:
            other = order[rank]
            if other > i:
                place = found
                while place > 0 and candidates[place - 1] > other:
                    candidates[place] = candidates[place - 1]
                    place -= 1
                candidates[place] = other
                found += 1
            rank += step
    return found


@compiled
def handle_collisions(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    frame_s: float,
    all_pairs: bool,
    polygons: NDArray[np.float64],
    candidates: NDArray[np.int32],
) -> None:
    """Test every pair that may touch, in lexicographic order.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V], sorted by x.
        frame_s: Length of a frame, s.
        all_pairs: Whether traffic collides with traffic, or only with the ego.
        polygons: Room for two rectangles, float64[2, 5, 2].
        candidates: Room for vehicle indices, int32[V].
    """
    for i in range(flags.shape[1] if all_pairs else 1):
        # Two vehicles are at least as far apart as along the road alone, so that nobody outside is missed.
        reach = max((DIAGONAL + DIAGONAL) / 2 + vehicles[SPEED, i] * frame_s, 0.0) + _SLACK
        for candidate in range(_find_candidates(vehicles, flags, i, reach, candidates)):
            collide(vehicles, flags, i, candidates[candidate], frame_s, polygons)
