"""Single fields of the reward state on hand-made situations."""

import pytest

from driving.kernel.layout import FASTER, IDLE, LEFT, RIGHT
from search_spaces.scenarios import Scenario
from search_spaces.state import FIELD_INDEX, FIELDS
from tests.driving.roads import Car, road_with, step


def field(env, name):
    return env.states[0, FIELD_INDEX[name]]


def test_lane_zero_is_the_rightmost():
    for lanes in (1, 3, 5):
        for lane in range(lanes):
            env = road_with([Car(x=100.0, lane=lane), Car(x=900.0, lane=0)], Scenario(lanes=lanes))
            assert field(env, "lane") == lanes - 1 - lane
            assert field(env, "lanes_count") == lanes


def test_left_is_where_highway_envs_left_is():
    env = road_with(
        [Car(x=100.0, lane=1, speed=20.0), Car(x=130.0, lane=0, speed=23.0), Car(x=80.0, lane=2, speed=24.0)]
    )
    assert field(env, "left_front_dist") == 25.0
    assert field(env, "left_rel_vel_ms") == 3.0
    assert field(env, "left_rear_dist") == 200.0
    assert field(env, "right_front_dist") == 200.0
    assert field(env, "right_rear_dist") == 15.0
    assert field(env, "right_rel_vel_ms") == 0.0


def test_there_is_no_room_beyond_the_outer_lanes():
    env = road_with([Car(x=100.0, lane=0), Car(x=130.0, lane=1)], Scenario(lanes=2))
    assert field(env, "left_front_dist") == field(env, "left_rear_dist") == 0.0
    assert field(env, "right_front_dist") == 25.0


def test_gaps_are_bumper_to_bumper_and_capped():
    env = road_with([Car(x=300.0, lane=1, speed=25.0), Car(x=340.0, lane=1, speed=15.0), Car(x=50.0, lane=1)])
    assert field(env, "front_dist") == 35.0
    assert field(env, "ttc") == 3.5
    assert field(env, "time_headway") == 1.4
    assert field(env, "rel_vel_ms") == -10.0
    assert field(env, "rear_dist") == 200.0
    assert field(env, "nearby_vehicles") == 0.0


def test_alone_on_the_road():
    env = road_with([Car(x=100.0, lane=1), Car(x=900.0, lane=0)])
    assert field(env, "front_dist") == 200.0
    assert field(env, "ttc") == field(env, "time_headway") == 30.0
    assert field(env, "rel_vel_ms") == 0.0


def test_time_to_collision_is_zero_in_overlap_and_capped_when_not_closing():
    beside = road_with([Car(x=100.0, lane=1, speed=20.0), Car(x=104.0, lane=1, speed=25.0, y=6.5)])
    assert field(beside, "ttc") == 0.0
    leaving = road_with([Car(x=100.0, lane=1, speed=20.0), Car(x=130.0, lane=1, speed=25.0)])
    assert field(leaving, "ttc") == 30.0


def test_offset_grows_to_the_left():
    env = road_with([Car(x=100.0, lane=1, y=3.0), Car(x=900.0, lane=0)])
    assert field(env, "lateral_offset") == 1.0


def test_acceleration_is_the_change_over_the_decision():
    env = road_with([Car(x=100.0, lane=1, speed=25.0), Car(x=900.0, lane=0)])
    step(env, FASTER)
    first = field(env, "accel_ms2")
    assert first == field(env, "speed_ms") - 25.0
    assert first > 3.0
    assert field(env, "long_jerk") == first
    step(env, IDLE)
    assert field(env, "long_jerk") == pytest.approx(field(env, "accel_ms2") - first)


def test_lane_change_is_told_once_with_its_lateral_jerk():
    env = road_with([Car(x=100.0, lane=1, speed=25.0), Car(x=900.0, lane=0)])
    step(env, LEFT)
    told = [field(env, "lane_changed")]
    assert field(env, "lat_jerk") > 0.0
    for _ in range(4):
        step(env, IDLE)
        told.append(field(env, "lane_changed"))
    assert sum(told) == 1.0
    assert field(env, "lane") == 2.0
    step(env, RIGHT)
    assert field(env, "lat_jerk") < 0.0


def test_collision_is_told_in_the_step_it_happens():
    env = road_with([Car(x=100.0, lane=1, speed=30.0), Car(x=112.0, lane=1, speed=5.0)])
    assert field(env, "collided") == 0.0
    step(env, FASTER)
    assert field(env, "collided") == 1.0


def test_every_field_is_filled():
    env = road_with([Car(x=100.0, lane=1), Car(x=130.0, lane=1)])
    env._batch.states[:] = float("nan")
    step(env, IDLE)
    assert not [each.name for each, value in zip(FIELDS, env.states[0], strict=True) if value != value]
