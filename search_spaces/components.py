"""The vocabulary of the move that adds a component: what good rewards are made of, as expressions with blanks.

A component is an expression of the reward language whose `{blanks}` are filled with drawn numbers. Most lie in [0, 1],
so that a weight means the same for each. A condition is a boolean expression with blanks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One thing that a reward may pay or charge for.

    Attributes:
        name: What it is called in a program; an identifier.
        text: Expression of the reward language with `{blanks}`.
        blanks: Range that each blank is drawn from, uniformly, in the unit of the fields that it is compared with.
        sign: 1 where more of it is usually wanted, -1 where less is.
        size: Typical size of its weight, dimensionless.
    """

    name: str
    text: str
    blanks: Mapping[str, Range] = field(default_factory=dict)
    sign: float = 1.0
    size: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A situation in which a component counts.

    Attributes:
        name: Word for it in a component's name.
        text: Boolean expression with `{blanks}`.
        blanks: Range that each blank is drawn from, uniformly, in the unit of the field that it is compared with.
    """

    name: str
    text: str
    blanks: Mapping[str, Range] = field(default_factory=dict)


CRASH = Component(name="crash", text='state["collided"]', sign=-1.0, size=2.5)
"""What nearly every program needs; a random new program gets it more often than the others."""

COMPONENTS: tuple[Component, ...] = (
    Component(
        name="speed",
        text='clip((state["speed_ms"] - {slow}) / {span}, 0.0, 1.0)',
        blanks={"slow": (15.0, 26.0), "span": (3.0, 12.0)},
    ),
    Component(name="progress", text='state["speed_ms"] / 30.0'),
    Component(name="alive", text="1.0"),
    Component(name="overtake", text='state["overtook"]'),
    Component(name="overtaken", text='state["was_overtaken"]', sign=-1.0),
    Component(name="right_lane", text='1.0 - state["lane"] / max(state["lanes_count"] - 1.0, 1.0)'),
    Component(name="free_road", text='clip(state["front_dist"] / {gap}, 0.0, 1.0)', blanks={"gap": (20.0, 100.0)}),
    Component(
        name="closing_in",
        text='clip(1.0 - state["ttc"] / {time}, 0.0, 1.0)',
        blanks={"time": (1.0, 10.0)},
        sign=-1.0,
    ),
    Component(name="danger", text='1.0 if state["ttc"] < {time} else 0.0', blanks={"time": (1.0, 6.0)}, sign=-1.0),
    Component(
        name="near_front",
        text='clip(1.0 - state["front_dist"] / {gap}, 0.0, 1.0)',
        blanks={"gap": (5.0, 60.0)},
        sign=-1.0,
    ),
    Component(
        name="short_gap",
        text='1.0 if state["front_dist"] < {gap} else 0.0',
        blanks={"gap": (5.0, 40.0)},
        sign=-1.0,
    ),
    Component(
        name="short_headway",
        text='clip(1.0 - state["time_headway"] / {time}, 0.0, 1.0)',
        blanks={"time": (0.3, 3.0)},
        sign=-1.0,
    ),
    Component(
        name="approach",
        text='clip(-state["rel_vel_ms"] / {speed}, 0.0, 1.0)',
        blanks={"speed": (3.0, 15.0)},
        sign=-1.0,
    ),
    Component(
        name="near_rear",
        text='clip(1.0 - state["rear_dist"] / {gap}, 0.0, 1.0)',
        blanks={"gap": (5.0, 30.0)},
        sign=-1.0,
    ),
    Component(
        name="worse_lane",
        text='clip((max(state["left_front_dist"], state["right_front_dist"]) - state["front_dist"]) / {gap}, 0.0, 1.0)',
        blanks={"gap": (20.0, 100.0)},
        sign=-1.0,
    ),
    Component(
        name="blocked",
        text=(
            '1.0 if state["front_dist"] < {gap} and '
            'max(state["left_front_dist"], state["right_front_dist"]) > {free} else 0.0'
        ),
        blanks={"gap": (10.0, 50.0), "free": (40.0, 120.0)},
        sign=-1.0,
    ),
    Component(
        name="cut_in",
        text='state["lane_changed"] * clip(1.0 - min(state["front_dist"], state["rear_dist"]) / {gap}, 0.0, 1.0)',
        blanks={"gap": (5.0, 30.0)},
        sign=-1.0,
    ),
    Component(name="lane_change", text='state["lane_changed"]', sign=-1.0),
    Component(
        name="traffic",
        text='clip(state["nearby_vehicles"] / {count}, 0.0, 1.0)',
        blanks={"count": (3.0, 12.0)},
        sign=-1.0,
    ),
    Component(
        name="acceleration",
        text='clip(abs(state["accel_ms2"]) / {limit}, 0.0, 1.0)',
        blanks={"limit": (2.0, 8.0)},
        sign=-1.0,
    ),
    Component(
        name="jerk",
        text='clip((abs(state["long_jerk"]) + abs(state["lat_jerk"])) / {limit}, 0.0, 1.0)',
        blanks={"limit": (3.0, 30.0)},
        sign=-1.0,
    ),
)
"""What the move "add" draws from, beside `CRASH`."""

CONDITIONS: tuple[Condition, ...] = (
    Condition(name="closing", text='state["ttc"] < {threshold}', blanks={"threshold": (1.0, 8.0)}),
    Condition(name="near", text='state["front_dist"] < {threshold}', blanks={"threshold": (8.0, 60.0)}),
    Condition(name="free", text='state["front_dist"] > {threshold}', blanks={"threshold": (10.0, 80.0)}),
    Condition(name="fast", text='state["speed_ms"] > {threshold}', blanks={"threshold": (20.0, 29.0)}),
    Condition(name="crowded", text='state["nearby_vehicles"] > {threshold}', blanks={"threshold": (1.0, 8.0)}),
    Condition(name="faster_than_front", text='state["rel_vel_ms"] < {threshold}', blanks={"threshold": (-8.0, 1.0)}),
    Condition(
        name="lane_free",
        text='max(state["left_front_dist"], state["right_front_dist"]) > {threshold}',
        blanks={"threshold": (30.0, 120.0)},
    ),
    Condition(name="off_right", text='state["lane"] > 0.0'),
)
"""What the moves "add" and "wrap" draw from."""
