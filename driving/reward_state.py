"""From the simulator's arrays to what a reward program sees: every field of `search_spaces/state.py`.

This is the only place where highway-env's lane index (0 is the leftmost) and its y (growing to the right) become the
table's lane (0 is the rightmost) and offset (left positive). Relative speeds are taken along the road.
"""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.gaps import gap_ahead, gap_behind, time_headway, time_to_collision
from driving.kernel.jit import compiled
from driving.kernel.layout import (
    BEFORE_CHANGES,
    BEFORE_CRASHED,
    BEFORE_LATERAL,
    BEFORE_MADE,
    BEFORE_SPEED,
    BEFORE_SUFFERED,
    CRASHED,
    DECISION_LATERAL,
    DECISION_LONG,
    DECISION_S,
    LANE,
    LANES,
    SIN,
    SPEED,
    TARGET_SPEED,
    X,
    Y,
)
from driving.kernel.records import LANE_CHANGES, OVERTAKES_MADE, OVERTAKES_SUFFERED
from driving.kernel.vehicle import LANE_WIDTH, is_on_lane
from search_spaces.state import FIELD_INDEX, FIELDS, NEARBY_RADIUS

LOWS = np.array([field.low for field in FIELDS])
HIGHS = np.array([field.high for field in FIELDS])

SPEED_MS = FIELD_INDEX["speed_ms"]
FRONT_DIST = FIELD_INDEX["front_dist"]
TTC = FIELD_INDEX["ttc"]
REL_VEL_MS = FIELD_INDEX["rel_vel_ms"]
LANE_FROM_RIGHT = FIELD_INDEX["lane"]
OVERTOOK = FIELD_INDEX["overtook"]
LANE_CHANGED = FIELD_INDEX["lane_changed"]
COLLIDED = FIELD_INDEX["collided"]
NEARBY_VEHICLES = FIELD_INDEX["nearby_vehicles"]
ACCEL_MS2 = FIELD_INDEX["accel_ms2"]
LONG_JERK = FIELD_INDEX["long_jerk"]
LAT_JERK = FIELD_INDEX["lat_jerk"]
REAR_DIST = FIELD_INDEX["rear_dist"]
REAR_REL_VEL_MS = FIELD_INDEX["rear_rel_vel_ms"]
LEFT_FRONT_DIST = FIELD_INDEX["left_front_dist"]
LEFT_REAR_DIST = FIELD_INDEX["left_rear_dist"]
LEFT_REL_VEL_MS = FIELD_INDEX["left_rel_vel_ms"]
RIGHT_FRONT_DIST = FIELD_INDEX["right_front_dist"]
RIGHT_REAR_DIST = FIELD_INDEX["right_rear_dist"]
RIGHT_REL_VEL_MS = FIELD_INDEX["right_rel_vel_ms"]
TIME_HEADWAY = FIELD_INDEX["time_headway"]
TARGET_SPEED_MS = FIELD_INDEX["target_speed_ms"]
LANES_COUNT = FIELD_INDEX["lanes_count"]
LATERAL_OFFSET = FIELD_INDEX["lateral_offset"]
ON_ROAD = FIELD_INDEX["on_road"]
WAS_OVERTAKEN = FIELD_INDEX["was_overtaken"]


@compiled
def lateral_speed(vehicles: NDArray[np.float64]) -> float:
    """Return the ego's speed across the road, m/s, to the left positive."""
    return float(-vehicles[SPEED, 0] * vehicles[SIN, 0])


@compiled
def count_nearby(vehicles: NDArray[np.float64]) -> int:
    """Return how many vehicles have their centre within `NEARBY_RADIUS` of the ego's."""
    count = 0
    for other in range(1, vehicles.shape[1]):
        dx = vehicles[X, other] - vehicles[X, 0]
        dy = vehicles[Y, other] - vehicles[Y, 0]
        if dx * dx + dy * dy <= NEARBY_RADIUS * NEARBY_RADIUS:
            count += 1
    return count


@compiled
def fill_neighbour_lane(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    lane: int,
    lanes: int,
    out: NDArray[np.float64],
    front: int,
    rear: int,
    relative: int,
) -> None:
    """Write the gaps and the relative speed of a neighbouring lane into the columns `front`, `rear` and `relative`."""
    out[front] = 0.0
    out[rear] = 0.0
    out[relative] = 0.0
    if 0 <= lane < lanes:
        out[front], out[relative] = gap_ahead(vehicles, flags, lane)
        out[rear], _ = gap_behind(vehicles, flags, lane)


@compiled
def begin_motion(
    vehicles: NDArray[np.float64], flags: NDArray[np.int32], record: NDArray[np.float64], memory: NDArray[np.float64]
) -> None:
    """Remember what `fill_state` compares with at the end of the decision that starts now.

    Args:
        vehicles: One environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        record: Sums of the episode, float64[RECORD_COLUMNS].
        memory: What the episode remembers, float64[MEMORY_WORDS]; updated.
    """
    memory[BEFORE_SPEED] = vehicles[SPEED, 0]
    memory[BEFORE_LATERAL] = lateral_speed(vehicles)
    memory[BEFORE_MADE] = record[OVERTAKES_MADE]
    memory[BEFORE_SUFFERED] = record[OVERTAKES_SUFFERED]
    memory[BEFORE_CHANGES] = record[LANE_CHANGES]
    memory[BEFORE_CRASHED] = flags[CRASHED, 0]


@compiled
def fill_motion(
    vehicles: NDArray[np.float64], road: NDArray[np.float64], memory: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write acceleration and jerks over a decision, and remember the accelerations for the next one.

    An episode starts at constant speed: the accelerations before its first decision are 0.
    """
    duration = road[DECISION_S]
    along = (vehicles[SPEED, 0] - memory[BEFORE_SPEED]) / duration
    across = (lateral_speed(vehicles) - memory[BEFORE_LATERAL]) / duration
    out[ACCEL_MS2] = along
    out[LONG_JERK] = (along - memory[DECISION_LONG]) / duration
    out[LAT_JERK] = (across - memory[DECISION_LATERAL]) / duration
    memory[DECISION_LONG] = along
    memory[DECISION_LATERAL] = across


@compiled
def fill_situation(
    vehicles: NDArray[np.float64], flags: NDArray[np.int32], road: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write every field that holds at the decision's end.

    Args:
        vehicles: One environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        road: The scenario, float64[ROAD_WORDS].
        out: Row of states, float64[len(FIELDS)]; written.
    """
    lanes = int(road[LANES])
    lane = int(flags[LANE, 0])
    gap, relative = gap_ahead(vehicles, flags, lane)
    out[SPEED_MS] = vehicles[SPEED, 0]
    out[FRONT_DIST] = gap
    out[TTC] = time_to_collision(gap, relative)
    out[REL_VEL_MS] = relative
    out[TIME_HEADWAY] = time_headway(gap, vehicles[SPEED, 0])
    out[REAR_DIST], out[REAR_REL_VEL_MS] = gap_behind(vehicles, flags, lane)
    out[LANE_FROM_RIGHT] = lanes - 1 - lane
    out[LANES_COUNT] = lanes
    out[NEARBY_VEHICLES] = count_nearby(vehicles)
    out[TARGET_SPEED_MS] = vehicles[TARGET_SPEED, 0]
    out[LATERAL_OFFSET] = LANE_WIDTH * lane - vehicles[Y, 0]
    out[ON_ROAD] = 1.0 if is_on_lane(vehicles[X, 0], vehicles[Y, 0], lane, 0.0) else 0.0
    fill_neighbour_lane(vehicles, flags, lane - 1, lanes, out, LEFT_FRONT_DIST, LEFT_REAR_DIST, LEFT_REL_VEL_MS)
    fill_neighbour_lane(vehicles, flags, lane + 1, lanes, out, RIGHT_FRONT_DIST, RIGHT_REAR_DIST, RIGHT_REL_VEL_MS)


@compiled
def hold_bounds(out: NDArray[np.float64]) -> None:
    """Hold a row of states inside the table's bounds: gaps at their cap, jerks of a crash at short decisions."""
    for column in range(out.size):
        out[column] = min(max(out[column], LOWS[column]), HIGHS[column])


@compiled
def fill_state(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    road: NDArray[np.float64],
    record: NDArray[np.float64],
    memory: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Fill every field after a decision.

    Args:
        vehicles: One environment at the decision's end, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        road: The scenario, float64[ROAD_WORDS].
        record: Sums of the episode, float64[RECORD_COLUMNS].
        memory: What the episode remembers, as `begin_motion` left it, float64[MEMORY_WORDS]; updated.
        out: Row of states, float64[len(FIELDS)]; written.
    """
    out[OVERTOOK] = 1.0 if record[OVERTAKES_MADE] > memory[BEFORE_MADE] else 0.0
    out[WAS_OVERTAKEN] = 1.0 if record[OVERTAKES_SUFFERED] > memory[BEFORE_SUFFERED] else 0.0
    out[LANE_CHANGED] = 1.0 if record[LANE_CHANGES] > memory[BEFORE_CHANGES] else 0.0
    out[COLLIDED] = 1.0 if flags[CRASHED, 0] > memory[BEFORE_CRASHED] else 0.0
    fill_motion(vehicles, road, memory, out)
    fill_situation(vehicles, flags, road, out)
    hold_bounds(out)


@compiled
def begin_state(
    vehicles: NDArray[np.float64], flags: NDArray[np.int32], road: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Fill every field at the start of an episode, where nothing has happened yet; arguments as for `fill_state`."""
    out[:] = 0.0
    fill_situation(vehicles, flags, road, out)
    hold_bounds(out)
