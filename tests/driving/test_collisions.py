"""Collisions of two rectangles, worked out by hand or against a plain separating-axis test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from driving.kernel.collisions import collide, handle_collisions
from driving.kernel.frame import sort_by_position
from driving.kernel.layout import (
    COS,
    CRASHED,
    FLAG_ROWS,
    HEADING,
    IMPACT_PENDING,
    IMPACT_X,
    IMPACT_Y,
    ORDER,
    SIN,
    SPEED,
    VEHICLE_ROWS,
    X,
    Y,
)
from driving.kernel.vehicle import move

Poses = list[tuple[float, float, float, float]]
FRAME_S = 0.2


def cars(poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return vehicles at (x m, y m, heading rad, speed m/s)."""
    vehicles = np.zeros((VEHICLE_ROWS, len(poses)))
    flags = np.zeros((FLAG_ROWS, len(poses)), np.int32)
    vehicles[X], vehicles[Y], vehicles[HEADING], vehicles[SPEED] = np.transpose(poses)
    vehicles[COS], vehicles[SIN] = np.cos(vehicles[HEADING]), np.sin(vehicles[HEADING])
    flags[ORDER] = np.arange(len(poses))
    sort_by_position(vehicles, flags)
    return vehicles, flags


def hit(poses: Poses, all_pairs: bool = True) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    vehicles, flags = cars(poses)
    handle_collisions(vehicles, flags, FRAME_S, all_pairs, np.zeros((2, 5, 2)), np.zeros(len(poses), np.int32))
    return vehicles, flags


def corners(x: float, y: float, heading: float) -> NDArray[np.float64]:
    turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
    return np.array([[-2.5, -1.0], [-2.5, 1.0], [2.5, 1.0], [2.5, -1.0]]) @ turn.T + [x, y]


def overlap_depth(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the least overlap, m, of the projections on the four axes; negative when they are apart."""
    depth = np.inf
    for polygon in (first, second):
        for edge in (polygon[1] - polygon[0], polygon[2] - polygon[1]):
            axis = np.array([-edge[1], edge[0]]) / np.hypot(*edge)
            a, b = first @ axis, second @ axis
            depth = min(depth, min(a.max(), b.max()) - max(a.min(), b.min()))
    return depth


poses = st.tuples(st.floats(0, 12), st.floats(0, 6), st.floats(-3.2, 3.2), st.floats(-10, 40))


@settings(deadline=None, max_examples=150)
@given(poses, poses)
def test_two_cars_crash_where_their_rectangles_overlap(
    first: tuple[float, float, float, float], second: tuple[float, float, float, float]
) -> None:
    depth = overlap_depth(corners(*first[:3]), corners(*second[:3]))
    _, flags = hit([first, second])
    # highway-env's coarse test looks no further than the diagonal plus what the first car drives in a frame.
    in_reach = np.hypot(second[0] - first[0], second[1] - first[1]) <= np.sqrt(29.0) + first[3] * FRAME_S
    if depth > 1e-9 and in_reach:
        assert flags[CRASHED].tolist() == [1, 1]
    elif depth < -1e-9:
        assert flags[CRASHED].tolist() == [0, 0]
    assert flags[IMPACT_PENDING, 0] == flags[IMPACT_PENDING, 1]


def test_an_impact_pushes_both_apart_by_half_the_coming_overlap() -> None:
    vehicles, flags = hit([(0.0, 0.0, 0.0, 30.0), (6.0, 0.0, 0.0, 20.0)])
    assert flags[CRASHED].tolist() == [0, 0]
    assert flags[IMPACT_PENDING].tolist() == [1, 1]
    # 10 m/s close in 0.2 s by 2 m, of which 1 m was free.
    assert vehicles[IMPACT_X].tolist() == pytest.approx([-0.5, 0.5])
    assert np.abs(vehicles[IMPACT_Y]).tolist() == [0.0, 0.0]


def test_a_pending_impact_is_applied_once_with_the_next_move() -> None:
    vehicles, flags = hit([(0.0, 0.0, 0.0, 30.0), (6.0, 0.0, 0.0, 20.0)])
    move(vehicles, flags, 0, FRAME_S, 3)
    assert vehicles[X, 0] == pytest.approx(6.0 - 0.5)
    assert (flags[CRASHED, 0], flags[IMPACT_PENDING, 0], vehicles[IMPACT_X, 0]) == (1, 0, 0.0)
    move(vehicles, flags, 0, FRAME_S, 3)
    assert vehicles[X, 0] == pytest.approx(5.5 + 30.0 * 0.2)
    # A crashed car loses a fifth of its speed in 0.2 s, from the move after the impact on.
    assert vehicles[SPEED, 0] == pytest.approx(30.0 * 0.8)


def test_traffic_drives_through_traffic_unless_all_pairs_are_tested() -> None:
    overlapping = [(100.0, 0.0, 0.0, 25.0), (200.0, 4.0, 0.0, 25.0), (201.0, 4.0, 0.0, 25.0)]
    assert hit(overlapping, all_pairs=False)[1][CRASHED].tolist() == [0, 0, 0]
    assert hit(overlapping, all_pairs=True)[1][CRASHED].tolist() == [0, 1, 1]


@settings(deadline=None, max_examples=60)
@given(st.lists(poses, min_size=2, max_size=8))
def test_the_search_by_position_misses_no_pair(crowd: Poses) -> None:
    vehicles, flags = cars(crowd)
    for i in range(len(crowd)):
        for j in range(i + 1, len(crowd)):
            collide(vehicles, flags, i, j, FRAME_S, np.zeros((2, 5, 2)))
    searched, searched_flags = hit(crowd)
    assert np.array_equal(vehicles, searched)
    assert np.array_equal(flags, searched_flags)
