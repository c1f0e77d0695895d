"""What the ego did in an episode, frame by frame: the log that metrics, films and findings are checked against.

One row for each physics frame, row 0 is the start: row and picture of a film (`film.py`) have the same number. Gaps,
times and overtakes are those of the measures (`kernel/records.py`); nothing is measured twice by different rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driving.drivers import Act, Driver, drive
from driving.kernel.gaps import gap_ahead, time_headway, time_to_collision
from driving.kernel.jit import compiled
from driving.kernel.layout import (
    CRASHED,
    HEADING,
    LANE,
    SPEED,
    TARGET_LANE,
    TARGET_SPEED,
    X,
    Y,
)
from driving.kernel.records import OVERTAKES_MADE, OVERTAKES_SUFFERED, RECORD_COLUMNS, count_overtakes
from driving.kernel.vehicle import is_on_lane
from driving.vector_env import HighwayVectorEnv
from search_spaces.scenarios import Scenario
from search_spaces.state import GAP_CAP

COLUMNS: Mapping[str, str] = {
    "time_s": "time since the start, s",
    "x_m": "position along the road, m",
    "y_m": "position across the road, m, to the right positive; lane i has its centre at 4 i",
    "lane": "lane, 0 is the leftmost",
    "target_lane": "lane that the controller steers for",
    "speed_ms": "speed, m/s",
    "target_speed_ms": "speed that the controller aims for, m/s",
    "accel_ms2": "acceleration along the car over the frame, m/s2; 0 at the start",
    "lateral_accel_ms2": "acceleration across the car over the frame, m/s2; 0 at the start",
    "gap_m": "gap to the vehicle ahead in the lane, bumper to bumper, m; 200 without one",
    "headway_s": "time headway, s, at most 30",
    "ttc_s": "time to collision, s; 30 when not closing",
    "on_road": "whether the centre of the car is on the road, 0/1",
    "overtakes_made": "overtakes that the frame completed",
    "overtakes_suffered": "overtakes that the ego suffered in the frame",
    "crashed": "whether the ego has crashed, 0/1",
}
"""Columns of a trajectory, and what they hold."""

(
    _TIME_S,
    _X_M,
    _Y_M,
    _LANE,
    _TARGET_LANE,
    _SPEED_MS,
    _TARGET_SPEED_MS,
    _ACCEL_MS2,
    _LATERAL_ACCEL_MS2,
    _GAP_M,
    _HEADWAY_S,
    _TTC_S,
    _ON_ROAD,
    _MADE,
    _SUFFERED,
    _CRASHED,
) = range(16)


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """One episode as the ego drove it.

    Attributes:
        seed: Seed of the episode.
        frames_per_decision: Physics frames in one decision; decision d ends in row `(d + 1) * frames_per_decision`.
        columns: Each of `COLUMNS`, float64[T].
        states: Reward state after each decision, float64[D, len(FIELDS)].
    """

    seed: int
    frames_per_decision: int
    columns: Mapping[str, NDArray[np.float64]]
    states: NDArray[np.float64]

    def __len__(self) -> int:
        """Return how many rows there are, the start included."""
        return len(self.columns["time_s"])

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return a column, float64[T]."""
        return self.columns[name]

    @property
    def crashed(self) -> bool:
        """Whether the episode ended in a crash."""
        return bool(self.columns["crashed"][-1])

    @property
    def distance_m(self) -> float:
        """Distance along the road, m."""
        return float(self.columns["x_m"][-1] - self.columns["x_m"][0])

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Rows that the measures count, bool[T]: all but the start, up to the crash."""
        rows: NDArray[np.bool_] = self.columns["crashed"] == 0.0
        rows[0] = False
        return rows

    @property
    def changes(self) -> NDArray[np.bool_]:
        """Rows in which the ego's lane changed, bool[T]."""
        changed: NDArray[np.bool_] = np.diff(self.columns["lane"], prepend=self.columns["lane"][0]) != 0.0
        return self.measured & changed


def record_trajectory(
    driver: Driver | Act, scenario: Scenario, seed: int, *, simulator: type[HighwayVectorEnv] = HighwayVectorEnv
) -> Trajectory:
    """Drive an episode and log the ego in every physics frame.

    Args:
        driver: Who drives.
        scenario: The road.
        seed: Seed of the episode.
        simulator: What simulates the road; `driving.reference.ReferenceVectorEnv` for highway-env itself.
    """
    vehicles, flags, states = [], [], []
    for env, driving in drive(scenario, [seed], driver, watch=0, simulator=simulator):
        if driving.any():
            frames = env.film_frames()
            vehicles.append(frames.vehicles)
            flags.append(frames.flags)
            states.append(env.states[0].copy())
        else:
            vehicles.append(env.vehicles.copy())
            flags.append(env.flags.copy())
    whole = np.concatenate(vehicles)
    table = np.zeros((len(whole), len(COLUMNS)))
    passed = (whole[0, X] < whole[0, X, 0]).astype(np.int32)
    frame_s = 1 / scenario.simulation_frequency
    log_frames(whole, np.concatenate(flags), frame_s, passed, np.zeros(RECORD_COLUMNS), table)
    columns = {name: np.ascontiguousarray(table[:, place]) for place, name in enumerate(COLUMNS)}
    return Trajectory(seed, scenario.frames_per_decision, columns, np.array(states))


def record_trajectories(driver: Driver | Act, scenario: Scenario, seeds: Sequence[int]) -> Iterator[Trajectory]:
    """Drive one episode for each seed, one after the other; see `record_trajectory`."""
    for seed in seeds:
        yield record_trajectory(driver, scenario, seed)


@compiled
def log_frames(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    frame_s: float,
    passed: NDArray[np.int32],
    record: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Log the ego in every frame of an episode.

    Args:
        vehicles: Whole states, the start first, float64[T, VEHICLE_ROWS, V].
        flags: Their flags, int32[T, FLAG_ROWS, V].
        frame_s: Length of a frame, s.
        passed: Which vehicles are behind the ego at the start, 0/1, int32[V]; updated.
        record: Room for the sums of an episode, float64[RECORD_COLUMNS].
        out: One row for each frame, float64[T, len(COLUMNS)]; written.
    """
    for row in range(len(out)):
        log_situation(vehicles[row], flags[row], out[row])
        out[row, _TIME_S] = row * frame_s
        if row == 0:
            continue
        speed = vehicles[row - 1, SPEED, 0]
        turned = vehicles[row, HEADING, 0] - vehicles[row - 1, HEADING, 0]
        out[row, _ACCEL_MS2] = (vehicles[row, SPEED, 0] - speed) / frame_s
        out[row, _LATERAL_ACCEL_MS2] = speed * turned / frame_s
        if not flags[row, CRASHED, 0]:
            record[:] = 0.0
            count_overtakes(vehicles[row], passed, record)
            out[row, _MADE] = record[OVERTAKES_MADE]
            out[row, _SUFFERED] = record[OVERTAKES_SUFFERED]


@compiled
def log_situation(vehicles: NDArray[np.float64], flags: NDArray[np.int32], out: NDArray[np.float64]) -> None:
    """Log what one state shows by itself.

    Args:
        vehicles: One environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        out: Row of the log, float64[len(COLUMNS)]; written.
    """
    lane = int(flags[LANE, 0])
    gap, relative = gap_ahead(vehicles, flags, lane)
    out[_X_M] = vehicles[X, 0]
    out[_Y_M] = vehicles[Y, 0]
    out[_LANE] = lane
    out[_TARGET_LANE] = flags[TARGET_LANE, 0]
    out[_SPEED_MS] = vehicles[SPEED, 0]
    out[_TARGET_SPEED_MS] = vehicles[TARGET_SPEED, 0]
    out[_GAP_M] = min(gap, GAP_CAP)
    out[_HEADWAY_S] = time_headway(gap, vehicles[SPEED, 0])
    out[_TTC_S] = time_to_collision(gap, relative)
    out[_ON_ROAD] = 1.0 if is_on_lane(vehicles[X, 0], vehicles[Y, 0], lane, 0.0) else 0.0
    out[_CRASHED] = flags[CRASHED, 0]
