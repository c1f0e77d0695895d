"""One vehicle: where it is on the road, how it steers, and how it moves.

The models are those of highway-env's `Vehicle` and `ControlledVehicle`, on its straight road.

A lane's own coordinates are those of the road shifted by 4 m per lane, exactly: highway-env's dot products with the
road's direction add only zeros.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driving.kernel.jit import compiled
from driving.kernel.layout import (
    ACCELERATION,
    COS,
    CRASHED,
    HEADING,
    IMPACT_PENDING,
    IMPACT_X,
    IMPACT_Y,
    LANE,
    SIN,
    SPEED,
    STEERING,
    X,
    Y,
)
from driving.kernel.math import PI, clip, not_zero, wrap_to_pi

LANE_WIDTH = 4.0
ROAD_LENGTH = 10_000.0
VEHICLE_LENGTH = 5.0
"""m; highway-env's `StraightLane.DEFAULT_WIDTH`, `straight_road_network` and `Vehicle.LENGTH`."""

LANE_END = ROAD_LENGTH + VEHICLE_LENGTH
"""x from which a vehicle no longer counts as on its lane, m."""

HEADING_GAIN = 1 / 0.2
LATERAL_GAIN = 1 / 0.6
MAX_STEERING = np.pi / 3
"""1/s, 1/s, rad; highway-env's `ControlledVehicle.KP_HEADING`, `KP_LATERAL` and `MAX_STEERING_ANGLE`."""

MAX_SPEED = 40.0
"""m/s in either direction; highway-env's `Vehicle.MAX_SPEED` and `MIN_SPEED`."""


@compiled
def is_on_lane(x: float, y: float, lane: int, margin: float) -> bool:
    """Tell whether (`x`, `y`), m, lies on `lane` widened by `margin`, m, on either side."""
    return abs(y - LANE_WIDTH * lane) <= LANE_WIDTH / 2 + margin and x >= -VEHICLE_LENGTH and x < LANE_END


@compiled
def is_reachable(x: float, y: float, lane: int) -> bool:
    """Tell whether `lane` may be chosen as target lane from (`x`, `y`), m."""
    return abs(y - LANE_WIDTH * lane) <= 2.0 * LANE_WIDTH and x >= 0.0 and x < LANE_END


@compiled
def closest_lane(x: float, y: float, heading: float, lanes: int) -> int:
    """Return the lane nearest to (`x`, `y`), m, and `heading`, rad; the leftmost of equals.

    The terms for the ends of the road and for the heading are the same for each lane, but highway-env adds them before
    it compares, and so they round.
    """
    angle = abs(wrap_to_pi(heading))
    beyond = max(x - ROAD_LENGTH, 0.0)
    before = max(0.0 - x, 0.0)
    best = 0
    best_distance = np.inf
    for lane in range(lanes):
        distance = abs(y - LANE_WIDTH * lane) + beyond + before + angle
        if distance < best_distance:
            best_distance = distance
            best = lane
    return best


@compiled
def steering_angle(y: float, heading: float, speed: float, lane: int) -> float:
    """Return the steering angle, rad, that follows the centre of `lane`.

    Args:
        y: Lateral position, m.
        heading: Heading, rad.
        speed: Speed, m/s.
        lane: The lane to follow.
    """
    offset = y - LANE_WIDTH * lane
    # On the centre line and straight ahead every term below is a zero.
    if offset == 0.0 and heading == 0.0:
        return 0.0
    divisor = not_zero(speed)
    lateral_speed = -LATERAL_GAIN * offset
    wanted = math.asin(clip(lateral_speed / divisor, -1.0, 1.0))
    wanted = 0.0 + clip(wanted, -PI / 4, PI / 4)
    heading_rate = HEADING_GAIN * wrap_to_pi(wanted - heading)
    slip = math.asin(clip(VEHICLE_LENGTH / 2 / divisor * heading_rate, -1.0, 1.0))
    return clip(math.atan(2 * math.tan(slip)), -MAX_STEERING, MAX_STEERING)


@compiled
def _limit_commands(vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int) -> None:
    """Override the commands of a crashed vehicle and of one that is faster than `MAX_SPEED`."""
    speed = vehicles[SPEED, i]
    if flags[CRASHED, i]:
        vehicles[STEERING, i] = 0.0
        vehicles[ACCELERATION, i] = -1.0 * speed
    if speed > MAX_SPEED:
        vehicles[ACCELERATION, i] = min(vehicles[ACCELERATION, i], 1.0 * (MAX_SPEED - speed))
    elif speed < -MAX_SPEED:
        vehicles[ACCELERATION, i] = max(vehicles[ACCELERATION, i], 1.0 * (-MAX_SPEED - speed))


@compiled
def move(vehicles: NDArray[np.float64], flags: NDArray[np.int32], i: int, frame_s: float, lanes: int) -> None:
    """Advance vehicle `i` by one frame of the kinematic bicycle model, applying a pending impact.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        i: The vehicle.
        frame_s: Length of the frame, s.
        lanes: Number of lanes.
    """
    _limit_commands(vehicles, flags, i)
    speed = vehicles[SPEED, i]
    heading = vehicles[HEADING, i]
    steering = vehicles[STEERING, i]
    x = vehicles[X, i]
    y = vehicles[Y, i]
    from_x = x
    lane_kept = False
    if steering == 0.0:
        # The slip is zero: the course is the heading, whose cosine and sine are kept.
        x += speed * vehicles[COS, i] * frame_s
        y += speed * vehicles[SIN, i] * frame_s
        # A vehicle that moves parallel to the road between its ends keeps its lane.
        lane_kept = heading == 0.0 and min(from_x, x) >= 0.0 and max(from_x, x) <= ROAD_LENGTH
    else:
        slip = math.atan(1 / 2 * math.tan(steering))
        x += speed * math.cos(heading + slip) * frame_s
        y += speed * math.sin(heading + slip) * frame_s
        heading += speed * math.sin(slip) / (VEHICLE_LENGTH / 2) * frame_s
        vehicles[HEADING, i] = heading
        vehicles[COS, i] = math.cos(heading)
        vehicles[SIN, i] = math.sin(heading)
    if flags[IMPACT_PENDING, i]:
        x += vehicles[IMPACT_X, i]
        y += vehicles[IMPACT_Y, i]
        vehicles[IMPACT_X, i] = 0.0
        vehicles[IMPACT_Y, i] = 0.0
        flags[CRASHED, i] = 1
        flags[IMPACT_PENDING, i] = 0
        lane_kept = False
    vehicles[X, i] = x
    vehicles[Y, i] = y
    vehicles[SPEED, i] = speed + vehicles[ACCELERATION, i] * frame_s
    if not lane_kept:
        flags[LANE, i] = closest_lane(x, y, heading, lanes)
