"""What is measured in an episode, at every physics frame up to the ego's crash.

One episode is a row of sums, float64[RECORD_COLUMNS], and four histograms, int32[HISTOGRAMS, BINS], from which
`driving/measures.py` makes means and percentiles. Frames from the crash on are not measured; the distance is, because
the episode's clock runs to the end of the decision.

Acceleration is taken along and across the car: the change of speed, and speed times the change of heading, over a
frame. Jerk is the change of the two over a frame; an episode starts at constant speed on a straight line.

An overtake is counted by vehicle identity, once the bumpers are clear by the whole length of a car: made when a vehicle
that was ahead has its centre more than `VEHICLE_LENGTH` behind the ego's, suffered when one that was behind has it more
than `VEHICLE_LENGTH` ahead. Between the two nothing changes, so vehicles side by side do not count again and again.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driving.kernel.faults import NO_CONTACT, OWN_FAULT, SETTLING_S, judge_contact, keeps_lane
from driving.kernel.gaps import gap_ahead, time_headway, time_to_collision
from driving.kernel.jit import compiled, inlined
from driving.kernel.layout import (
    CONTACT,
    CRASHED,
    FRAME_LATERAL,
    FRAME_LONG,
    FRAME_S,
    HEADING,
    IMPACT_PENDING,
    LANE,
    LANES,
    SETTLED_S,
    SPEED,
    START_X,
    X,
)
from driving.kernel.vehicle import VEHICLE_LENGTH

(
    NATIVE_RETURN,
    DECISIONS,
    DISTANCE,
    CRASH,
    AT_FAULT,
    OVERTAKES_MADE,
    OVERTAKES_SUFFERED,
    LANE_CHANGES,
    FRAMES_MEASURED,
    LOW_TTC_FRAMES,
    LOW_HEADWAY_FRAMES,
    RIGHT_LANE_FRAMES,
    ACCEL_SQUARES,
    JERK_SQUARES,
) = range(14)
RECORD_COLUMNS = 14
"""Return under highway-env's native reward, decisions, distance m, crashed 0/1, at fault 0/1, overtakes made and
suffered, lane changes, frames before a crash, those with a low time to collision, with a low headway, on the rightmost
lane, sum of squared accelerations (m/s2)^2, sum of squared jerks (m/s3)^2."""

TTC_HISTOGRAM, HEADWAY_HISTOGRAM, ACCEL_HISTOGRAM, JERK_HISTOGRAM = range(4)
HISTOGRAMS = 4
BINS = 300
TIME_BIN = 0.1
"""Width of a bin of the two histograms of times, s. The last bin holds all from 29.9 s on."""
BINS_PER_DECADE = 50
SMALLEST = (0.01, 0.1)
"""Bins of acceleration (m/s2) and jerk (m/s3): the first holds all below these, each further one is 10^(1/50), 4.7 %,
wider than the one before, up to six decades."""

LOW_TTC = 1.5
"""Time to collision that counts as low, s: the middle of the 1-3 s that traffic-conflict studies call critical."""
LOW_HEADWAY = 0.9
"""Time headway that counts as low, s: half of the 1.8 s that driving schools teach."""


@compiled
def begin_episode(
    vehicles: NDArray[np.float64],
    passed: NDArray[np.int32],
    memory: NDArray[np.float64],
    record: NDArray[np.float64],
    histograms: NDArray[np.int32],
) -> None:
    """Start the measures of an episode from its first state.

    Args:
        vehicles: One environment, float64[VEHICLE_ROWS, V].
        passed: Whether a vehicle counts as behind the ego 0/1, int32[V]; written.
        memory: What the episode remembers, float64[MEMORY_WORDS]; written.
        record: Its sums, float64[RECORD_COLUMNS]; zeroed.
        histograms: int32[HISTOGRAMS, BINS]; zeroed.
    """
    for other in range(vehicles.shape[1]):
        passed[other] = 1 if vehicles[X, other] < vehicles[X, 0] else 0
    memory[:] = 0.0
    memory[START_X] = vehicles[X, 0]
    memory[SETTLED_S] = SETTLING_S
    record[:] = 0.0
    histograms[:, :] = 0


@inlined
def count_time(histograms: NDArray[np.int32], which: int, value: float) -> None:
    """Count a time of at least 0 s in its histogram."""
    histograms[which, int(min(value / TIME_BIN, BINS - 1.0))] += 1


@compiled
def count_size(histograms: NDArray[np.int32], which: int, square: float) -> None:
    """Count an acceleration or a jerk, given its square, in its histogram."""
    smallest = SMALLEST[0] if which == ACCEL_HISTOGRAM else SMALLEST[1]
    if square < smallest * smallest:
        histograms[which, 0] += 1
    else:
        place = 1.0 + 0.5 * BINS_PER_DECADE * math.log10(square / (smallest * smallest))
        histograms[which, int(min(place, BINS - 1.0))] += 1


@compiled
def count_overtakes(vehicles: NDArray[np.float64], passed: NDArray[np.int32], record: NDArray[np.float64]) -> None:
    """Count the overtakes that this frame completed."""
    ego = vehicles[X, 0]
    for other in range(1, vehicles.shape[1]):
        if passed[other]:
            if vehicles[X, other] > ego + VEHICLE_LENGTH:
                passed[other] = 0
                record[OVERTAKES_SUFFERED] += 1.0
        elif vehicles[X, other] < ego - VEHICLE_LENGTH:
            passed[other] = 1
            record[OVERTAKES_MADE] += 1.0


@compiled
def measure_motion(
    vehicles: NDArray[np.float64],
    speed: float,
    heading: float,
    frame_s: float,
    memory: NDArray[np.float64],
    record: NDArray[np.float64],
    histograms: NDArray[np.int32],
) -> None:
    """Measure acceleration and jerk over a frame that began with `speed` m/s and `heading` rad."""
    along = (vehicles[SPEED, 0] - speed) / frame_s
    across = speed * (vehicles[HEADING, 0] - heading) / frame_s
    jerk_along = (along - memory[FRAME_LONG]) / frame_s
    jerk_across = (across - memory[FRAME_LATERAL]) / frame_s
    memory[FRAME_LONG] = along
    memory[FRAME_LATERAL] = across
    accel_square = along * along + across * across
    jerk_square = jerk_along * jerk_along + jerk_across * jerk_across
    record[ACCEL_SQUARES] += accel_square
    record[JERK_SQUARES] += jerk_square
    count_size(histograms, ACCEL_HISTOGRAM, accel_square)
    count_size(histograms, JERK_HISTOGRAM, jerk_square)


@compiled
def measure_exposure(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    road: NDArray[np.float64],
    record: NDArray[np.float64],
    histograms: NDArray[np.int32],
) -> None:
    """Measure time to collision, headway and lane at the end of a frame."""
    lane = int(flags[LANE, 0])
    gap, relative = gap_ahead(vehicles, flags, lane)
    ttc = time_to_collision(gap, relative)
    headway = time_headway(gap, vehicles[SPEED, 0])
    record[FRAMES_MEASURED] += 1.0
    record[LOW_TTC_FRAMES] += 1.0 if ttc < LOW_TTC else 0.0
    record[LOW_HEADWAY_FRAMES] += 1.0 if headway < LOW_HEADWAY else 0.0
    record[RIGHT_LANE_FRAMES] += 1.0 if lane == int(road[LANES]) - 1 else 0.0
    count_time(histograms, TTC_HISTOGRAM, ttc)
    count_time(histograms, HEADWAY_HISTOGRAM, headway)


@compiled
def watch_contact(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    frame_s: float,
    memory: NDArray[np.float64],
    record: NDArray[np.float64],
) -> None:
    """Judge a collision when it becomes certain, and record it when it happens.

    A collision that is certain but has not happened when the episode is truncated is not recorded, as in highway-env.
    """
    memory[SETTLED_S] = memory[SETTLED_S] + frame_s if keeps_lane(vehicles, flags) else 0.0
    if memory[CONTACT] == NO_CONTACT and (flags[CRASHED, 0] or flags[IMPACT_PENDING, 0]):
        memory[CONTACT] = judge_contact(vehicles, flags, memory)
    if flags[CRASHED, 0]:
        record[CRASH] = 1.0
        record[AT_FAULT] = 1.0 if memory[CONTACT] == OWN_FAULT else 0.0


@compiled
def measure_frame(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    road: NDArray[np.float64],
    before: tuple[float, float, int],
    passed: NDArray[np.int32],
    memory: NDArray[np.float64],
    record: NDArray[np.float64],
    histograms: NDArray[np.int32],
) -> None:
    """Measure a frame that the ego began uncrashed.

    Args:
        vehicles: One environment at the frame's end, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        road: The scenario, float64[ROAD_WORDS].
        before: The ego's speed m/s, heading rad and lane at the frame's start.
        passed: Whether a vehicle counts as behind the ego 0/1, int32[V]; updated.
        memory: What the episode remembers, float64[MEMORY_WORDS]; updated.
        record: Its sums, float64[RECORD_COLUMNS]; updated.
        histograms: int32[HISTOGRAMS, BINS]; updated.
    """
    frame_s = road[FRAME_S]
    watch_contact(vehicles, flags, frame_s, memory, record)
    if flags[CRASHED, 0]:
        return
    speed, heading, lane = before
    measure_motion(vehicles, speed, heading, frame_s, memory, record, histograms)
    measure_exposure(vehicles, flags, road, record, histograms)
    count_overtakes(vehicles, passed, record)
    if flags[LANE, 0] != lane:
        record[LANE_CHANGES] += 1.0


@compiled
def measure_decision(
    vehicles: NDArray[np.float64], reward: float, memory: NDArray[np.float64], record: NDArray[np.float64]
) -> None:
    """Add a decision to the sums of its episode; `reward` is highway-env's native one."""
    record[NATIVE_RETURN] += reward
    record[DECISIONS] += 1.0
    record[DISTANCE] = vehicles[X, 0] - memory[START_X]


def bin_edges(which: int) -> NDArray[np.float64]:
    """Return the edges of a histogram's bins in the unit of its quantity, float64[BINS + 1]; the last one is open."""
    if which in (TTC_HISTOGRAM, HEADWAY_HISTOGRAM):
        return np.array([TIME_BIN * place for place in range(BINS + 1)])
    smallest = SMALLEST[0] if which == ACCEL_HISTOGRAM else SMALLEST[1]
    return np.array([0.0, *(smallest * 10.0 ** (place / BINS_PER_DECADE) for place in range(BINS))])
