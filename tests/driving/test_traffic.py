"""Neighbour search against a plain scan, and what IDM and MOBIL do in situations worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from driving.kernel.frame import sort_by_position
from driving.kernel.layout import (
    ACCELERATION,
    CRASHED,
    DELTA,
    FLAG_ROWS,
    ORDER,
    RANK,
    STEERING,
    TARGET_LANE,
    TIMER,
    VEHICLE_ROWS,
    X,
    Y,
)
from driving.kernel.traffic import drive, find_front, find_rear
from tests.driving.roads import Car, road_with

POSITIONS = st.floats(-8.0, 10_010.0) | st.sampled_from([-5.0, 0.0, 20.0, 20.0, 25.0, 10_004.0, 10_005.0])
OFFSETS = st.floats(-4.0, 16.0) | st.sampled_from([0.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0])
ROADS = st.lists(st.tuples(POSITIONS, OFFSETS), min_size=1, max_size=12)


def sorted_road(places: list[tuple[float, float]]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    vehicles = np.zeros((VEHICLE_ROWS, len(places)))
    flags = np.zeros((FLAG_ROWS, len(places)), np.int32)
    vehicles[X], vehicles[Y] = np.transpose(places)
    flags[ORDER] = np.arange(len(places))
    sort_by_position(vehicles, flags)
    return vehicles, flags


def scan(places: list[tuple[float, float]], i: int, lane: int) -> tuple[int, int]:
    """Upstream's `Road.neighbour_vehicles`, in plain Python."""
    here = places[i][0]
    front = rear = -1
    for other, (x, y) in enumerate(places):
        if other == i or abs(y - 4 * lane) > 3 or not -5 <= x < 10_005:
            continue
        if here <= x and (front < 0 or x <= places[front][0]):
            front = other
        if x < here and (rear < 0 or x > places[rear][0]):
            rear = other
    return front, rear


@settings(deadline=None, max_examples=150)
@given(ROADS, st.integers(0, 11), st.integers(0, 4))
def test_neighbours_are_those_of_a_plain_scan(places: list[tuple[float, float]], i: int, lane: int) -> None:
    i %= len(places)
    vehicles, flags = sorted_road(places)
    assert (find_front(vehicles, flags, i, lane), find_rear(vehicles, flags, i, lane)) == scan(places, i, lane)


@given(ROADS)
def test_the_order_is_by_position_then_by_number(places: list[tuple[float, float]]) -> None:
    _, flags = sorted_road(places)
    assert flags[ORDER].tolist() == sorted(range(len(places)), key=lambda i: (places[i][0], i))
    assert flags[RANK, flags[ORDER]].tolist() == list(range(len(places)))


def decide(cars: list[Car], i: int = 1, *, timer: float = 0.0, changes_lanes: bool = True) -> tuple[float, float, int]:
    """Let car `i` decide; return its acceleration, steering and target lane."""
    env = road_with(cars)
    vehicles, flags = env.vehicles[0], env.flags[0]
    vehicles[TIMER] = timer
    drive(vehicles, flags, i, 3, changes_lanes)
    return vehicles[ACCELERATION, i], vehicles[STEERING, i], int(flags[TARGET_LANE, i])


EGO_FAR_BEHIND = Car(x=0.0, lane=0, speed=20.0)


def test_at_its_target_speed_on_a_free_road_nothing_happens() -> None:
    assert decide([EGO_FAR_BEHIND, Car(500.0, 1)], timer=2.0) == (0.0, 0.0, 1)


def test_idm_brakes_by_the_square_of_the_gap_ratio() -> None:
    acceleration, _, _ = decide([EGO_FAR_BEHIND, Car(500.0, 1, 20.0), Car(600.0, 1, 20.0)])
    assert acceleration == pytest.approx(-3.0 * ((10.0 + 1.5 * 20.0) / 100.0) ** 2)


def test_idm_is_limited_to_6_ms2() -> None:
    assert decide([EGO_FAR_BEHIND, Car(500.0, 1, 30.0), Car(506.0, 1, 0.0)])[0] == -6.0


def test_a_slow_leader_makes_it_change_to_the_free_lane_when_its_timer_allows() -> None:
    cars = [EGO_FAR_BEHIND, Car(500.0, 1, 25.0), Car(530.0, 1, 15.0), Car(530.0, 0, 15.0)]
    assert decide(cars, timer=0.5)[2] == 1
    assert decide(cars, timer=1.5)[2] == 2
    assert decide(cars, timer=1.5, changes_lanes=False)[2] == 1


def test_of_two_free_lanes_the_right_one_is_taken_last_and_stays() -> None:
    assert decide([EGO_FAR_BEHIND, Car(500.0, 1, 25.0), Car(530.0, 1, 15.0)], timer=1.5)[2] == 2


def test_a_lane_change_that_would_make_the_follower_brake_hard_is_left() -> None:
    cars = [EGO_FAR_BEHIND, Car(500.0, 1, 25.0), Car(530.0, 1, 15.0), Car(490.0, 0, 30.0), Car(490.0, 2, 30.0)]
    assert decide(cars, timer=1.5)[2] == 1


def test_a_change_is_aborted_for_another_that_is_ahead_and_on_its_way() -> None:
    mine = Car(500.0, 0, 25.0, target_lane=1)
    other = Car(520.0, 2, 25.0, target_lane=1)
    assert decide([EGO_FAR_BEHIND, mine, other])[2] == 0
    assert decide([EGO_FAR_BEHIND, mine, Car(600.0, 2, 25.0, target_lane=1)])[2] == 1


def test_while_changing_the_leader_of_either_lane_counts() -> None:
    mine = Car(500.0, 0, 20.0, target_lane=1)
    near_on_target = [EGO_FAR_BEHIND, mine, Car(600.0, 0, 20.0), Car(550.0, 1, 20.0)]
    assert decide(near_on_target)[0] == pytest.approx(-3.0 * (40.0 / 50.0) ** 2)


def test_a_crashed_vehicle_decides_nothing() -> None:
    env = road_with([EGO_FAR_BEHIND, Car(500.0, 1), Car(510.0, 1, 0.0)])
    vehicles, flags = env.vehicles[0], env.flags[0]
    flags[CRASHED, 1] = 1
    vehicles[ACCELERATION, 1] = 1.25
    drive(vehicles, flags, 1, 3, True)
    assert vehicles[ACCELERATION, 1] == 1.25
    assert vehicles[DELTA, 1] == 4.0
