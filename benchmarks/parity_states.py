"""Random states that no episode may ever reach, but that both simulators must treat alike."""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.layout import (
    ACCELERATION,
    COS,
    CRASHED,
    DELTA,
    FLAG_ROWS,
    HEADING,
    IMPACT_PENDING,
    IMPACT_X,
    IMPACT_Y,
    LANE,
    SIN,
    SPEED,
    STEERING,
    TARGET_LANE,
    TARGET_SPEED,
    TIMER,
    VEHICLE_ROWS,
    X,
    Y,
)
from driving.kernel.vehicle import closest_lane


def random_state(
    rng: np.random.Generator, count: int, lanes: int, has_driver: bool
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return a random state.

    It has equal positions, overlaps, standstill, reverse and more than 40 m/s, any heading, vehicles off the road to
    either side, before its start and beyond its end, crashed vehicles and pending impacts.

    Args:
        rng: Where it is drawn from.
        count: Number of vehicles, the ego included.
        lanes: Number of lanes.
        has_driver: Whether the ego has a timer and an exponent.

    Returns:
        Quantities, float64[1, VEHICLE_ROWS, count], and flags, int32[1, FLAG_ROWS, count].
    """
    vehicles = np.zeros((VEHICLE_ROWS, count))
    flags = np.zeros((FLAG_ROWS, count), np.int32)
    x = np.round(rng.uniform(-8.0, rng.choice([60.0, 150.0, 400.0]), count), rng.choice([0, 3]))
    x += rng.choice([0.0, 300.0, 9900.0])
    tied = rng.random(count) < 0.3
    x[tied] = rng.choice(x, tied.sum())
    y = 4.0 * rng.integers(0, lanes, count)
    aside = rng.random(count) < 0.5
    y[aside] += rng.choice([0.0, 2.0, -3.0, 9.0]) + rng.choice([0.0, 1.5]) * rng.normal(0.0, 1.0, aside.sum())
    heading = np.where(rng.random(count) < 0.6, 0.0, rng.normal(0.0, rng.choice([0.1, 1.5, 4.0]), count))
    speed = rng.choice([0.0, 5e-3, 0.9, 20.0, 25.0, 33.0, 41.0, -3.0, -42.0], count)
    speed += (rng.random(count) < 0.5) * rng.normal(0.0, 1.0, count)
    pending = rng.random(count) < 0.1
    vehicles[X], vehicles[Y], vehicles[HEADING], vehicles[SPEED] = x, y, heading, speed
    vehicles[TARGET_SPEED] = rng.uniform(-2.0, 35.0, count)
    vehicles[TIMER] = rng.uniform(0.0, 2.5, count)
    vehicles[DELTA] = rng.uniform(3.5, 4.5, count)
    vehicles[STEERING] = rng.uniform(-1.0, 1.0, count)
    vehicles[ACCELERATION] = rng.uniform(-6.0, 6.0, count)
    vehicles[IMPACT_X], vehicles[IMPACT_Y] = rng.normal(0.0, 1.0, (2, count)) * pending
    vehicles[COS], vehicles[SIN] = np.cos(heading), np.sin(heading)
    if not has_driver:
        vehicles[[TIMER, DELTA], 0] = 0.0
    flags[LANE] = [closest_lane(x[i], y[i], heading[i], lanes) for i in range(count)]
    flags[TARGET_LANE] = np.where(rng.random(count) < 0.6, rng.integers(0, lanes, count), flags[LANE])
    flags[CRASHED] = rng.random(count) < 0.1
    flags[IMPACT_PENDING] = pending
    return vehicles[None], flags[None]
