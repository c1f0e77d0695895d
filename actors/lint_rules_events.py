"""Rules about single events: what the reward pays for, everything else being equal.

Recorded states are changed in one respect and the reward is computed again. A gain is given in usual decisions: over
the mean size of a decision's reward in the bank.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from actors.lint_bank import Earnings
from actors.lint_table import Measure
from driving.kernel.reward_machine import RewardMachine
from search_spaces.state import FIELD_INDEX, GAP_CAP, TTC_CAP

SAMPLED = 1024
"""Recorded states that are changed, at equal distances through the bank."""
SAFE_HEADWAY_S = 2.0
"""Time headway that short ones are compared with, s: the two-second rule."""
SHORT_HEADWAYS_S = (0.3, 0.5, 0.8)
"""Time headways of tailgating, s; 0.9 s is half of what driving schools teach."""
SPAM_MS2 = 4.0
"""Acceleration that spam speeds up and brakes with, m/s2; nuPlan's bounds of comfort are -4.05 and 2.40."""
SWAY_M = 1.0
"""Distance from the lane's centre that a request for a lane leads to before it is taken back, m."""
SWAY_MS3 = 10.0
"""Lateral jerk of such a request, m/s3."""

Changes = Mapping[str, float | NDArray[np.float64]]

ALONE: Changes = {"nearby_vehicles": 1.0, "rear_dist": 60.0, "left_rear_dist": 60.0, "right_rear_dist": 60.0}
"""A road with room: gaps, m, of two to three seconds."""
CROWDED: Changes = {"nearby_vehicles": 6.0, "rear_dist": 8.0, "left_rear_dist": 8.0, "right_rear_dist": 8.0}
"""A road without: gaps, m, of a third of a second."""


def event_measures(earnings: Earnings) -> Iterator[Measure]:
    """Yield the measures of this module; those about fields that the program does not read are 0."""
    events = _Events(earnings)
    gain = events.gain({"collided": 0.0}, {"collided": 1.0})
    yield Measure(rule="crash_bonus", value=gain, sentence=f"a collision earns {gain:.2g} usual decisions by itself")
    nothing = {"overtook": 0.0, "was_overtaken": 0.0}
    made = events.gain(nothing, {"overtook": 1.0, "was_overtaken": 0.0})
    suffered = events.gain(nothing, {"overtook": 0.0, "was_overtaken": 1.0})
    yield Measure(
        rule="overtake_farming",
        value=made + suffered,
        sentence=f"overtaking and being overtaken again earns {made + suffered:.2g} usual decisions: a round trip pays",
        evidence={"overtook": made, "was_overtaken": suffered},
    )
    gain = events.gain({"lane_changed": 0.0}, {"lane_changed": 1.0})
    yield Measure(rule="weaving", value=gain, sentence=f"a lane change earns {gain:.2g} usual decisions by itself")
    yield events.sideways()
    yield events.spam()
    yield from events.tailgating()
    gain = events.gain(ALONE, CROWDED)
    yield Measure(
        rule="crowding",
        value=gain,
        sentence=f"a crowd around the car earns {gain:.2g} usual decisions more than room on all sides",
    )


class _Events:
    """Changes recorded states; see the module."""

    def __init__(self, earnings: Earnings) -> None:
        unhurt = earnings.bank.states[earnings.bank.states[:, FIELD_INDEX["collided"]] == 0.0]
        self._states = unhurt[:: max(1, len(unhurt) // SAMPLED)]
        self._machine = RewardMachine(earnings.program)
        self._fields = earnings.program.fields
        self._size = earnings.size

    def gain(self, base: Changes, changed: Changes, where: NDArray[np.bool_] | None = None) -> float:
        """Return the mean gain by `changed` over `base`, in usual decisions; 0 where the program reads none of it."""
        if self._fields.isdisjoint({*base, *changed}) or self._size == 0.0:
            return 0.0
        return float(np.mean(self._totals(changed, where) - self._totals(base, where)) / self._size)

    def _totals(self, changes: Changes, where: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        states = (self._states if where is None else self._states[where]).copy()
        for name, value in changes.items():
            states[:, FIELD_INDEX[name]] = value
        return self._machine.evaluate(states).totals

    def sideways(self) -> Measure:
        """Compare swaying to and fro with keeping to the lane's centre."""
        calm = {"lateral_offset": 0.0, "lat_jerk": 0.0}
        sways = ({"lateral_offset": sign * SWAY_M, "lat_jerk": sign * SWAY_MS3} for sign in (1.0, -1.0))
        gain = sum(self.gain(calm, sway) for sway in sways) / 2.0
        return Measure(
            rule="lane_request_farming",
            value=gain,
            sentence=f"swaying {SWAY_M:g} m to and fro in the lane earns {gain:.2g} usual decisions each time",
        )

    def spam(self) -> Measure:
        """Compare speeding up and braking in turn with steady driving."""
        steady = {"accel_ms2": 0.0, "long_jerk": 0.0}
        pulses = ({"accel_ms2": sign * SPAM_MS2, "long_jerk": 2.0 * sign * SPAM_MS2} for sign in (1.0, -1.0))
        gain = sum(self.gain(steady, pulse) for pulse in pulses) / 2.0
        return Measure(
            rule="acceleration_spam",
            value=gain,
            sentence=f"speeding up and braking in turn at {SPAM_MS2:g} m/s2 earns {gain:.2g} usual decisions each time",
        )

    def tailgating(self) -> Iterator[Measure]:
        """Compare short gaps with a safe one where somebody is ahead."""
        following = self._states[:, FIELD_INDEX["front_dist"]] < GAP_CAP
        speed = self._states[following, FIELD_INDEX["speed_ms"]]
        if len(speed) == 0:
            return
        safe = _behind(speed, SAFE_HEADWAY_S)
        gains = {time: self.gain(safe, _behind(speed, time), following) for time in SHORT_HEADWAYS_S}
        time = max(gains, key=lambda each: gains[each])
        yield Measure(
            rule="tailgating",
            value=gains[time],
            sentence=f"{time:g} s behind the vehicle ahead earns {gains[time]:.2g} usual decisions more than "
            f"{SAFE_HEADWAY_S:g} s at the same speed",
            evidence={"headway_s": time},
        )


def _behind(speed: NDArray[np.float64], time: float) -> Changes:
    """Return the state of one who follows at the speed of the vehicle ahead, float64[N] m/s, `time` s behind it."""
    return {"front_dist": speed * time, "time_headway": time, "ttc": TTC_CAP, "rel_vel_ms": 0.0}
