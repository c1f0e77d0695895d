"""Readable programs that a search without an LLM starts from.

Each pays for one idea of good driving and punishes a crash; none is tuned. They are starting points, not answers: what
good programs have beyond them (time to collision, headway, free lanes, conditions) has to be found by the search.
"""

from collections.abc import Mapping
from types import MappingProxyType

_NATIVE = """\
def compute_reward(state):
    speed = 0.267 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    right_lane = 0.067 * (1.0 - state["lane"] / max(state["lanes_count"] - 1.0, 1.0))
    alive = 0.667
    crash = -0.667 * state["collided"]
    total = speed + right_lane + alive + crash
    return total, {"speed": speed, "right_lane": right_lane, "alive": alive, "crash": crash}
"""

_STEADY_SPEED = """\
def compute_reward(state):
    speed = 0.6 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    alive = 0.4
    crash = -3.0 * state["collided"]
    total = speed + alive + crash
    return total, {"speed": speed, "alive": alive, "crash": crash}
"""

_PROGRESS = """\
def compute_reward(state):
    progress = state["speed_ms"] / 30.0
    crash = -3.0 * state["collided"]
    total = progress + crash
    return total, {"progress": progress, "crash": crash}
"""

_OVERTAKE = """\
def compute_reward(state):
    overtake = 0.5 * state["overtook"]
    crash = -3.0 * state["collided"]
    total = overtake + crash
    return total, {"overtake": overtake, "crash": crash}
"""

_COMFORT = """\
def compute_reward(state):
    speed = 0.5 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    alive = 0.5
    jerk = -0.5 * clip((abs(state["long_jerk"]) + abs(state["lat_jerk"])) / 10.0, 0.0, 1.0)
    crash = -3.0 * state["collided"]
    total = speed + alive + jerk + crash
    return total, {"speed": speed, "alive": alive, "jerk": jerk, "crash": crash}
"""

_RIGHT_LANE = """\
def compute_reward(state):
    speed = 0.4 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    right_lane = 0.3 * (1.0 - state["lane"] / max(state["lanes_count"] - 1.0, 1.0))
    crash = -1.0 * state["collided"]
    total = speed + right_lane + crash
    return total, {"speed": speed, "right_lane": right_lane, "crash": crash}
"""

STARTING_PROGRAMS: Mapping[str, str] = MappingProxyType(
    {
        "progress": _PROGRESS,
        "steady_speed": _STEADY_SPEED,
        "comfort": _COMFORT,
        "overtake": _OVERTAKE,
        "native": _NATIVE,
        "right_lane": _RIGHT_LANE,
    }
)
"""Program texts by name, in the order in which a small first generation takes them.

`native` is highway-env's own reward as a program: weights 0.4 speed, 0.1 right lane and -1 collision, mapped from
[-1, 0.5] to [0, 1].
"""
