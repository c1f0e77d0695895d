"""Records and reward states of an episode, recomputed in plain Python from the states of its physics frames."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from driving.kernel import layout, records
from driving.vector_env import FrameStates
from search_spaces.scenarios import Scenario
from search_spaces.state import FIELDS

CAP = 30.0


class Snapshot:
    """One state of all vehicles, in plain numbers."""

    def __init__(self, vehicles, flags):
        self.x = [float(x) for x in vehicles[layout.X]]
        self.y = [float(y) for y in vehicles[layout.Y]]
        self.speed = [float(v) for v in vehicles[layout.SPEED]]
        self.heading = [float(h) for h in vehicles[layout.HEADING]]
        self.target_speed = float(vehicles[layout.TARGET_SPEED, 0])
        self.lane = int(flags[layout.LANE, 0])
        self.crashed = bool(flags[layout.CRASHED, 0])

    def along(self, i):
        return self.speed[i] * math.cos(self.heading[i])

    def in_lane(self, lane):
        return [i for i in range(1, len(self.x)) if abs(self.y[i] - 4 * lane) <= 3 and -5 <= self.x[i] < 10005]

    def ahead(self, lane):
        found = [i for i in self.in_lane(lane) if self.x[i] >= self.x[0]]
        return min(found, key=lambda i: (self.x[i], -i)) if found else None

    def behind(self, lane):
        found = [i for i in self.in_lane(lane) if self.x[i] < self.x[0]]
        return max(found, key=lambda i: (self.x[i], -i)) if found else None

    def gap(self, other):
        return math.inf if other is None else max(abs(self.x[other] - self.x[0]) - 5.0, 0.0)

    def relative(self, other):
        return 0.0 if other is None else self.along(other) - self.along(0)

    def ttc(self):
        front = self.ahead(self.lane)
        gap, relative = self.gap(front), self.relative(front)
        if gap == 0:
            return 0.0
        return min(gap / -relative, CAP) if relative < 0 else CAP

    def headway(self):
        return min(self.gap(self.ahead(self.lane)) / self.speed[0], CAP) if self.speed[0] > 0 else CAP


class SlowEpisode:
    """Follows one episode from its first state, decision by decision."""

    def __init__(self, scenario: Scenario, first: FrameStates):
        self.scenario = scenario
        self.now = Snapshot(first.vehicles[0], first.flags[0])
        self.start = self.now.x[0]
        self.behind_ego = [x < self.start for x in self.now.x]
        self.sums = dict.fromkeys(range(records.RECORD_COLUMNS), 0.0)
        self.sizes: dict[str, list[float]] = {"ttc": [], "headway": [], "accel": [], "jerk": []}
        self.frame_accelerations = (0.0, 0.0)
        self.decision_accelerations = (0.0, 0.0)

    def decide(self, frames: FrameStates, reward: float) -> dict[str, float]:
        """Follow a decision and return the reward state at its end."""
        before = self.now
        counted = dict(self.sums)
        for after in self._snapshots(frames):
            if after.crashed:
                self.sums[records.CRASH] = 1.0
            elif not self.now.crashed:
                self._frame(after)
            self.now = after
        self.sums[records.NATIVE_RETURN] += reward
        self.sums[records.DECISIONS] += 1
        self.sums[records.DISTANCE] = self.now.x[0] - self.start
        return self._state(before, {column: self.sums[column] > counted[column] for column in counted})

    def _snapshots(self, frames: FrameStates) -> Iterator[Snapshot]:
        for vehicles, flags in zip(frames.vehicles, frames.flags, strict=True):
            yield Snapshot(vehicles, flags)

    def _frame(self, after: Snapshot):
        hertz = self.scenario.simulation_frequency
        accelerations = (
            (after.speed[0] - self.now.speed[0]) * hertz,
            self.now.speed[0] * (after.heading[0] - self.now.heading[0]) * hertz,
        )
        jerks = [(new - old) * hertz for new, old in zip(accelerations, self.frame_accelerations, strict=True)]
        self.frame_accelerations = accelerations
        self._add_size("accel", records.ACCEL_SQUARES, accelerations)
        self._add_size("jerk", records.JERK_SQUARES, jerks)
        self.sizes["ttc"].append(after.ttc())
        self.sizes["headway"].append(after.headway())
        self.sums[records.FRAMES_MEASURED] += 1
        self.sums[records.LOW_TTC_FRAMES] += after.ttc() < 1.5
        self.sums[records.LOW_HEADWAY_FRAMES] += after.headway() < 0.9
        self.sums[records.RIGHT_LANE_FRAMES] += after.lane == self.scenario.lanes - 1
        self.sums[records.LANE_CHANGES] += after.lane != self.now.lane
        for other in range(1, len(after.x)):
            if self.behind_ego[other] and after.x[other] - after.x[0] > 5:
                self.behind_ego[other] = False
                self.sums[records.OVERTAKES_SUFFERED] += 1
            elif not self.behind_ego[other] and after.x[0] - after.x[other] > 5:
                self.behind_ego[other] = True
                self.sums[records.OVERTAKES_MADE] += 1

    def _add_size(self, name: str, column: int, parts: Sequence[float]):
        self.sums[column] += sum(part * part for part in parts)
        self.sizes[name].append(math.hypot(*parts))

    def _state(self, before: Snapshot, happened: dict[int, bool]) -> dict[str, float]:
        now, lanes, hertz = self.now, self.scenario.lanes, self.scenario.policy_frequency
        front, rear = now.ahead(now.lane), now.behind(now.lane)
        accelerations = (
            (now.speed[0] - before.speed[0]) * hertz,
            (before.speed[0] * math.sin(before.heading[0]) - now.speed[0] * math.sin(now.heading[0])) * hertz,
        )
        jerks = [(new - old) * hertz for new, old in zip(accelerations, self.decision_accelerations, strict=True)]
        self.decision_accelerations = accelerations
        state = {
            "speed_ms": now.speed[0],
            "front_dist": now.gap(front),
            "ttc": now.ttc(),
            "rel_vel_ms": now.relative(front),
            "lane": lanes - 1 - now.lane,
            "overtook": happened[records.OVERTAKES_MADE],
            "lane_changed": happened[records.LANE_CHANGES],
            "collided": happened[records.CRASH],
            "nearby_vehicles": sum(
                math.hypot(x - now.x[0], y - now.y[0]) <= 30 for x, y in zip(now.x[1:], now.y[1:], strict=True)
            ),
            "accel_ms2": accelerations[0],
            "long_jerk": jerks[0],
            "lat_jerk": jerks[1],
            "rear_dist": now.gap(rear),
            "rear_rel_vel_ms": now.relative(rear),
            "time_headway": now.headway(),
            "target_speed_ms": now.target_speed,
            "lanes_count": lanes,
            "lateral_offset": 4 * now.lane - now.y[0],
            "on_road": abs(now.y[0] - 4 * now.lane) <= 2 and -5 <= now.x[0] < 10005,
            "was_overtaken": happened[records.OVERTAKES_SUFFERED],
        }
        for side, lane in (("left", now.lane - 1), ("right", now.lane + 1)):
            exists = 0 <= lane < lanes
            state[f"{side}_front_dist"] = now.gap(now.ahead(lane)) if exists else 0.0
            state[f"{side}_rear_dist"] = now.gap(now.behind(lane)) if exists else 0.0
            state[f"{side}_rel_vel_ms"] = now.relative(now.ahead(lane)) if exists else 0.0
        return {field.name: float(np.clip(state[field.name], field.low, field.high)) for field in FIELDS}
