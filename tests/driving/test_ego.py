"""What the ego's actions mean, and highway-env's own reward."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driving.kernel.ego import apply_action, control, native_reward
from driving.kernel.layout import (
    ACCELERATION,
    CRASHED,
    FASTER,
    IDLE,
    LANE,
    LEFT,
    RIGHT,
    SLOWER,
    SPEED,
    STEERING,
    TARGET_LANE,
    TARGET_SPEED,
    TARGET_SPEEDS,
    X,
    Y,
)
from driving.vector_env import HighwayVectorEnv
from tests.driving.roads import Car, road_with

AHEAD = Car(5_000.0, 0)


def ego(*, lane: int = 1, speed: float = 25.0, x: float = 100.0, y: float | None = None) -> HighwayVectorEnv:
    return road_with([Car(x, lane, speed, y), AHEAD])


def press(env: HighwayVectorEnv, action: int) -> tuple[float, int]:
    vehicles, flags = env.vehicles[0], env.flags[0]
    apply_action(vehicles, flags, action, 3, np.array(TARGET_SPEEDS))
    return float(vehicles[TARGET_SPEED, 0]), int(flags[TARGET_LANE, 0])


@pytest.mark.parametrize(
    ("speed", "action", "target"),
    [
        (25.0, FASTER, 30.0),
        (25.0, SLOWER, 20.0),
        (22.5, FASTER, 25.0),  # half way: numpy rounds to the even index, 0
        (27.5, SLOWER, 25.0),  # half way: to the even index, 2
        (29.0, FASTER, 30.0),
        (0.0, FASTER, 25.0),
        (38.0, SLOWER, 25.0),
        (-10.0, SLOWER, 20.0),
    ],
)
def test_speed_actions_start_from_the_current_speed(speed: float, action: int, target: float) -> None:
    assert press(ego(speed=speed), action) == (target, 1)


def test_pressing_twice_aims_two_lanes_away_and_no_further_than_the_road() -> None:
    env = ego(lane=0)
    assert [press(env, RIGHT)[1] for _ in range(3)] == [1, 2, 2]
    assert [press(env, LEFT)[1] for _ in range(3)] == [1, 0, 0]
    assert press(env, IDLE) == (25.0, 0)


@pytest.mark.parametrize(("x", "y"), [(100.0, 17.0), (-1.0, 4.0), (10_005.0, 4.0)])
def test_a_lane_out_of_reach_is_not_taken(x: float, y: float) -> None:
    assert press(ego(x=x, y=y), RIGHT)[1] == 1


def test_control_is_proportional_to_the_missing_speed_and_not_limited() -> None:
    env = ego(speed=0.0)
    vehicles, flags = env.vehicles[0], env.flags[0]
    vehicles[TARGET_SPEED, 0] = 30.0
    control(vehicles, flags)
    assert vehicles[ACCELERATION, 0] == 1 / 0.6 * 30.0
    assert vehicles[STEERING, 0] == 0.0


@given(
    speed=st.floats(-40, 40),
    lane=st.integers(0, 2),
    target=st.integers(0, 2),
    crashed=st.booleans(),
    lanes=st.integers(1, 8),
)
def test_native_reward_is_the_published_formula(
    speed: float, lane: int, target: int, crashed: bool, lanes: int
) -> None:
    lane, target = min(lane, lanes - 1), min(target, lanes - 1)
    env = ego(lane=lane, speed=speed)
    vehicles, flags = env.vehicles[0], env.flags[0]
    flags[TARGET_LANE, 0] = target
    flags[CRASHED, 0] = crashed
    share = min(max((speed - 20) / 10, 0), 1)
    expected = (-1.0 * crashed + 0.1 * target / max(lanes - 1, 1) + 0.4 * share + 1.0) / 1.5
    assert native_reward(vehicles, flags, lanes) == pytest.approx(expected, abs=1e-12)


def test_off_the_road_there_is_no_native_reward() -> None:
    env = ego(y=11.0, lane=2)
    vehicles, flags = env.vehicles[0], env.flags[0]
    assert flags[LANE, 0] == 2
    assert native_reward(vehicles, flags, 3) == 0.0
    vehicles[Y, 0] = 10.0
    assert native_reward(vehicles, flags, 3) > 0.5
    vehicles[X, 0] = 10_005.0
    assert native_reward(vehicles, flags, 3) == 0.0
    assert vehicles[SPEED, 0] == 25.0
