"""The one table of what a reward program sees.

A program reads `state["speed_ms"]`; prompts, documentation, sample states, checks and tests are derived from this
table, and `driving/reward_state.py` fills it in this order. Add a field here and nowhere else, then compute it there.

Flags are true if the thing happened in any physics frame of the decision; accelerations and jerks are differences over
the decision; everything else holds at the decision's end. Gaps are bumper to bumper, floored at 0 m and capped at 200 m
(200 m when there is no vehicle).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "flag", "count", "index"]

GAP_CAP = 200.0
"""Largest gap, m: highway-env's observation ends there too."""
TTC_CAP = 30.0
"""Time to collision and time headway of a car that closes on nobody, s."""
NEARBY_RADIUS = 30.0
"""Radius, m, within which a vehicle counts as nearby."""


@dataclass(frozen=True, slots=True)
class StateField:
    """One quantity that a reward program may read.

    Attributes:
        name: The key in `state[...]`.
        unit: SI unit, or "0/1", "count", "index".
        low: Smallest value that the simulator can produce, in `unit`.
        high: Largest value, in `unit`.
        kind: How it behaves: a number, a 0/1 flag, a count, or an index.
        sample: Its value in the standard state that `orchestrate check` evaluates on, in `unit`.
        sentence: What it means, for prompts and documentation.
    """

    name: str
    unit: str
    low: float
    high: float
    kind: Kind
    sample: float
    sentence: str


FIELDS: tuple[StateField, ...] = (
    StateField("speed_ms", "m/s", -40.0, 40.0, "number", 25.0, "ego speed"),
    StateField("front_dist", "m", 0.0, GAP_CAP, "number", 30.0, "gap to the vehicle ahead in the ego's lane"),
    StateField("ttc", "s", 0.0, TTC_CAP, "number", 3.0, "time to collision with it; 30 when not closing, 0 in overlap"),
    StateField("rel_vel_ms", "m/s", -80.0, 80.0, "number", 2.0, "its speed minus the ego's; 0 without one"),
    StateField("lane", "index", 0.0, 7.0, "index", 1.0, "ego lane, 0 is the rightmost"),
    StateField("overtook", "0/1", 0.0, 1.0, "flag", 0.0, "an overtake was completed in this step"),
    StateField("lane_changed", "0/1", 0.0, 1.0, "flag", 0.0, "the ego's lane changed in this step"),
    StateField("collided", "0/1", 0.0, 1.0, "flag", 0.0, "the ego collided in this step"),
    StateField("nearby_vehicles", "count", 0.0, 100.0, "count", 2.0, "vehicles within 30 m of the ego"),
    StateField("accel_ms2", "m/s2", -60.0, 60.0, "number", 0.5, "longitudinal acceleration over this step"),
    StateField("long_jerk", "m/s3", -120.0, 120.0, "number", 0.2, "longitudinal jerk since the previous step"),
    StateField("lat_jerk", "m/s3", -2000.0, 2000.0, "number", 0.1, "lateral jerk since the previous step"),
    StateField("rear_dist", "m", 0.0, GAP_CAP, "number", 40.0, "gap to the vehicle behind in the ego's lane"),
    StateField("rear_rel_vel_ms", "m/s", -80.0, 80.0, "number", -1.0, "its speed minus the ego's; 0 without one"),
    StateField(
        "left_front_dist", "m", 0.0, GAP_CAP, "number", 60.0, "gap ahead in the lane to the left; 0 without lane"
    ),
    StateField(
        "left_rear_dist", "m", 0.0, GAP_CAP, "number", 50.0, "gap behind in the lane to the left; 0 without lane"
    ),
    StateField(
        "left_rel_vel_ms", "m/s", -80.0, 80.0, "number", 1.0, "speed of the left lane's front vehicle minus the ego's"
    ),
    StateField(
        "right_front_dist", "m", 0.0, GAP_CAP, "number", 45.0, "gap ahead in the lane to the right; 0 without lane"
    ),
    StateField(
        "right_rear_dist", "m", 0.0, GAP_CAP, "number", 35.0, "gap behind in the lane to the right; 0 without lane"
    ),
    StateField(
        "right_rel_vel_ms",
        "m/s",
        -80.0,
        80.0,
        "number",
        -2.0,
        "speed of the right lane's front vehicle minus the ego's",
    ),
    StateField("time_headway", "s", 0.0, TTC_CAP, "number", 1.2, "front gap over ego speed, capped at 30"),
    StateField("target_speed_ms", "m/s", 0.0, 40.0, "number", 25.0, "speed that the ego's controller aims for"),
    StateField("lanes_count", "count", 1.0, 8.0, "count", 3.0, "number of lanes of the road"),
    StateField(
        "lateral_offset", "m", -40.0, 40.0, "number", 0.0, "distance from the centre of the ego's lane, left positive"
    ),
    StateField("on_road", "0/1", 0.0, 1.0, "flag", 1.0, "the ego is on the road"),
    StateField(
        "was_overtaken", "0/1", 0.0, 1.0, "flag", 0.0, "a vehicle completed an overtake of the ego in this step"
    ),
)
"""Every field, in the order of the columns of `states` arrays, float64[N, len(FIELDS)]."""

FIELD_INDEX: Mapping[str, int] = {field.name: column for column, field in enumerate(FIELDS)}
"""Field name to column."""

STANDARD_STATE: Mapping[str, float] = {field.name: field.sample for field in FIELDS}
"""The state that `orchestrate check` evaluates on."""
