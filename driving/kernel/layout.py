"""Where each quantity lives in the kernel's arrays.

One environment is two small blocks that fit the first-level cache: `vehicles`, float64[VEHICLE_ROWS, V], and `flags`,
int32[FLAG_ROWS, V]. Column 0 is the ego. A batch stacks them along a leading axis N. Positions are highway-env's: x
along the road in m, y to the right in m, lane 0 is the leftmost with its centre at y = 0.
"""

import numpy as np
from numpy.typing import NDArray

from search_spaces.scenarios import Scenario

(
    X,
    Y,
    HEADING,
    SPEED,
    TARGET_SPEED,
    TIMER,
    DELTA,
    STEERING,
    ACCELERATION,
    IMPACT_X,
    IMPACT_Y,
    COS,
    SIN,
) = range(13)
VEHICLE_ROWS = 13
"""x m, y m, heading rad, speed m/s, target speed m/s, lane-change timer s, IDM exponent, steering rad,
acceleration m/s2, pending impact m and m, cosine and sine of the heading."""

LANE, TARGET_LANE, CRASHED, IMPACT_PENDING, ORDER, RANK = range(6)
FLAG_ROWS = 6
"""Lane, target lane, crashed 0/1, impact pending 0/1, `ORDER[rank] = vehicle` by x, and its inverse."""

STREAM_WORDS = 6
"""A PCG64 stream, uint64: state high and low, increment high and low, whether a 32-bit half is kept, that half."""

(
    LANES,
    FRAMES,
    FRAME_S,
    DURATION_S,
    ALL_PAIRS,
    EGO_SPACING,
    TRAFFIC_SPACING,
    LANE_FACTOR,
    DECISION_S,
) = range(9)
ROAD_WORDS = 9
"""A scenario as float64: lanes, frames per decision, seconds per frame, duration s, all-pairs collisions 0/1, the two
spacings, highway-env's factor exp(-5/40 * lanes), seconds per decision."""

OBSERVED = 5
"""Rows of an observation: the ego and the four nearest vehicles."""
OBSERVATION_COLUMNS = 5
"""presence, x, y, vx, vy; highway-env's Kinematics observation, normalised to [-1, 1]."""

LEFT, IDLE, RIGHT, FASTER, SLOWER = range(5)
"""highway-env's discrete meta-actions."""

EGO_ACTIONS, EGO_IDM, EGO_MOBIL = range(3)
"""Who drives the ego: the given actions, IDM without lane changes, IDM with MOBIL."""

TARGET_SPEEDS: tuple[float, ...] = (20.0, 25.0, 30.0)
"""Target speeds of FASTER and SLOWER, m/s."""

(
    START_X,
    FRAME_LONG,
    FRAME_LATERAL,
    DECISION_LONG,
    DECISION_LATERAL,
    CONTACT,
    SETTLED_S,
    BEFORE_SPEED,
    BEFORE_LATERAL,
    BEFORE_MADE,
    BEFORE_SUFFERED,
    BEFORE_CHANGES,
    BEFORE_CRASHED,
) = range(13)
MEMORY_WORDS = 13
"""What an episode remembers, float64: x at its start m; acceleration along and across the car in the last frame m/s2,
and along and across the road in the last decision m/s2; what is known of a collision (`faults.py`); time since the ego
last left its lane s; and from the start of the present decision: ego speed m/s, its speed across the road m/s,
overtakes made and suffered, lane changes, crashed 0/1."""


def road_vector(scenario: Scenario) -> NDArray[np.float64]:
    """Return the scenario as the kernel reads it, float64[ROAD_WORDS]."""
    return np.array(
        [
            scenario.lanes,
            scenario.frames_per_decision,
            1 / scenario.simulation_frequency,
            scenario.duration,
            scenario.all_pairs_collisions,
            scenario.ego_spacing,
            1 / scenario.density,
            float(np.exp(-5 / 40 * scenario.lanes)),
            1 / scenario.policy_frequency,
        ]
    )
