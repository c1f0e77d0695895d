"""What the ego sees: highway-env's default Kinematics observation."""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.jit import compiled
from driving.kernel.layout import COS, OBSERVATION_COLUMNS, OBSERVED, SIN, SPEED, X, Y
from driving.kernel.math import clip, linear_map, norm
from driving.kernel.vehicle import LANE_WIDTH, MAX_SPEED, VEHICLE_LENGTH

SIGHT = 5.0 * MAX_SPEED
"""m; highway-env's `AbstractEnv.PERCEPTION_DISTANCE`, and the range that x is normalised by."""

REAR_SIGHT = 2 * VEHICLE_LENGTH
"""m; how far behind the ego a vehicle is still seen."""

SPEED_RANGE = 2 * MAX_SPEED
"""m/s; the range that velocities are normalised by."""


@compiled
def find_nearest(
    vehicles: NDArray[np.float64], wanted: int, nearest: NDArray[np.int32], distances: NDArray[np.float64]
) -> int:
    """List the vehicles nearest to the ego along the road, equal distances in vehicle order; return how many.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        wanted: How many at most.
        nearest: Overwritten with their indices, int32[>= wanted].
        distances: Overwritten with their distances along the road, m, float64[>= wanted].
    """
    found = 0
    x, y = vehicles[X, 0], vehicles[Y, 0]
    for i in range(1, vehicles.shape[1]):
        ahead = vehicles[X, i] - x
        # Beyond sight along the road is beyond sight: the exact test is left to those that remain.
        if ahead <= -REAR_SIGHT or ahead >= SIGHT or norm(ahead, vehicles[Y, i] - y) >= SIGHT:
            continue
        distance = abs(ahead)
        if found == wanted:
            if distance >= distances[found - 1]:
                continue
        else:
            found += 1
        place = found - 1
        while place > 0 and distances[place - 1] > distance:
            distances[place] = distances[place - 1]
            nearest[place] = nearest[place - 1]
            place -= 1
        distances[place] = distance
        nearest[place] = i
    return found


@compiled
def _normalise(value: float, limit: float) -> np.float32:
    """Map [-`limit`, `limit`] to [-1, 1], clipped, and round to single precision."""
    return np.float32(clip(linear_map(value, -limit, limit, -1.0, 1.0), -1.0, 1.0))


@compiled
def observe(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    lanes: int,
    out: NDArray[np.float32],
    candidates: NDArray[np.int32],
    distances: NDArray[np.float64],
) -> None:
    """Write the observation of one environment: the ego in absolute terms, then the nearest relative to it.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V]; not read.
        lanes: Number of lanes.
        out: Overwritten, float32[OBSERVED, OBSERVATION_COLUMNS].
        candidates: Room for vehicle indices, int32[V].
        distances: Room for distances, float64[>= OBSERVED - 1].
    """
    found = find_nearest(vehicles, OBSERVED - 1, candidates, distances)
    own_vx = vehicles[SPEED, 0] * vehicles[COS, 0]
    own_vy = vehicles[SPEED, 0] * vehicles[SIN, 0]
    for row in range(OBSERVED):
        if row > found:
            for column in range(OBSERVATION_COLUMNS):
                out[row, column] = 0.0
            continue
        x, y, vx, vy = vehicles[X, 0], vehicles[Y, 0], own_vx, own_vy
        if row > 0:
            i = candidates[row - 1]
            x = vehicles[X, i] - x
            y = vehicles[Y, i] - y
            vx = vehicles[SPEED, i] * vehicles[COS, i] - own_vx
            vy = vehicles[SPEED, i] * vehicles[SIN, i] - own_vy
        out[row, 0] = 1.0
        out[row, 1] = _normalise(x, SIGHT)
        out[row, 2] = _normalise(y, LANE_WIDTH * lanes)
        out[row, 3] = _normalise(vx, SPEED_RANGE)
        out[row, 4] = _normalise(vy, SPEED_RANGE)
