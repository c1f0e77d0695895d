"""Who drives in the bank of the reward linter: the baseline drivers, and scripted ones with one habit each.

A reward that is meant to teach driving pays a driver with a bad habit no more than a sound one. Each habit is one that
trained agents fell into under rewards that paid for it.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from driving.drivers import DRIVERS, Driver, driver_named
from driving.kernel.layout import FASTER, LEFT, RIGHT, SLOWER
from search_spaces.state import FIELD_INDEX

Habit = Literal["none", "weave", "wobble", "pulse"]

CLEAR_AHEAD_M = 20.0
"""Gap ahead in a neighbouring lane that a scripted driver needs to change into it, m."""
CLEAR_BEHIND_M = 12.0
"""Gap behind there, m: more than a second at the 10 m/s by which speeds differ on this road."""
CLEARER_M = 10.0
"""How much more room ahead than in its own lane one who overtakes wants there, m."""
BLOCKED_M = 45.0
"""Gap ahead below which a driver who overtakes looks for another lane, m."""
PULSE_DECISIONS = 3
"""Decisions in which one who pulses speeds up, and as many in which it brakes."""


@dataclass(frozen=True, slots=True)
class ScriptedDriver:
    """Drives by the reward state: follows the vehicle ahead, and has one habit.

    Attributes:
        headway_s: Time headway that it brakes below, s.
        ttc_s: Time to collision that it brakes below, s.
        overtakes: Whether it changes into a freer lane when the vehicle ahead is near and not faster.
        habit: `weave` changes lanes at every second decision where there is room; `wobble` asks for a lane at every
            decision, to and fro; `pulse` speeds up and brakes in turn.
        count: Numbers the decisions of one recording.
    """

    headway_s: float = 1.5
    ttc_s: float = 6.0
    overtakes: bool = False
    habit: Habit = "none"
    count: Iterator[int] = field(default_factory=itertools.count)

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Choose an action for each environment, int64[N], from its state, float64[N, len(FIELDS)]."""
        decision = next(self.count)
        danger = (_column(states, "time_headway") < self.headway_s) | (_column(states, "ttc") < self.ttc_s)
        pause = self.habit == "pulse" and decision // PULSE_DECISIONS % 2 == 1
        actions = np.where(danger | pause, SLOWER, FASTER)
        if self.overtakes:
            actions = _overtaking(states, actions)
        elif self.habit == "weave" and decision % 2 == 0:
            actions = _weaving(states, actions, decision // 2 % 2 == 0)
        elif self.habit == "wobble":
            has_left = _column(states, "left_front_dist") > 0.0
            outward = decision % 2 == 0
            actions = np.where(danger, actions, np.where(has_left == outward, LEFT, RIGHT))
        return actions.astype(np.int64)


def _overtaking(states: NDArray[np.float64], actions: NDArray[np.int64]) -> NDArray[np.int64]:
    front = _column(states, "front_dist")
    blocked = (front < BLOCKED_M) & (_column(states, "rel_vel_ms") < 1.0)
    for side, action in (("right", RIGHT), ("left", LEFT)):
        better = blocked & _free(states, side) & (_column(states, f"{side}_front_dist") > front + CLEARER_M)
        actions = np.where(better, action, actions)
    return actions


def _weaving(states: NDArray[np.float64], actions: NDArray[np.int64], left_first: bool) -> NDArray[np.int64]:
    left, right = _free(states, "left"), _free(states, "right")
    only_right = np.where(right, RIGHT, actions)
    only_left = np.where(left, LEFT, actions)
    return np.where(left, LEFT, only_right) if left_first else np.where(right, RIGHT, only_left)


def lint_drivers() -> Mapping[str, Driver]:
    """Return all drivers of the bank by name, ready for one recording."""
    scripted = {
        "prudent": ScriptedDriver(),
        "overtaker": ScriptedDriver(overtakes=True),
        "tailgater": ScriptedDriver(headway_s=0.3, ttc_s=1.5),
        "weaver": ScriptedDriver(habit="weave"),
        "wobbler": ScriptedDriver(habit="wobble"),
        "pulser": ScriptedDriver(habit="pulse"),
    }
    return {**{name: driver_named(name) for name in DRIVERS}, **scripted}


def _column(states: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    return states[:, FIELD_INDEX[name]]


def _free(states: NDArray[np.float64], side: str) -> NDArray[np.bool_]:
    """Say where a neighbouring lane exists and has room, bool[N]."""
    ahead, behind = _column(states, f"{side}_front_dist"), _column(states, f"{side}_rear_dist")
    return (ahead > CLEAR_AHEAD_M) & (behind > CLEAR_BEHIND_M)
