"""The kernel's records and reward states against a plain recomputation from the frames, and on hand-made situations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driving.kernel import records
from driving.kernel.frame import sort_by_position
from driving.kernel.layout import (
    CRASHED,
    EGO_ACTIONS,
    EGO_IDM,
    EGO_MOBIL,
    FASTER,
    IDLE,
    IMPACT_PENDING,
    LEFT,
    RIGHT,
    SLOWER,
    X,
)
from driving.vector_env import FrameStates, HighwayVectorEnv
from search_spaces.scenarios import Scenario
from search_spaces.state import FIELD_INDEX, FIELDS
from tests.driving.roads import Car, road_with, step
from tests.driving.slow_measures import SlowEpisode

scenarios = st.builds(
    Scenario,
    lanes=st.integers(1, 5),
    vehicles=st.integers(1, 30),
    density=st.sampled_from([0.7, 1.0, 2.0]),
    simulation_frequency=st.sampled_from([5, 10, 15]),
    policy_frequency=st.sampled_from([1, 5]),
    duration=st.just(12),
    all_pairs_collisions=st.booleans(),
)


@settings(max_examples=25)
@given(
    scenario=scenarios,
    seed=st.integers(0, 2**63),
    actions=st.lists(st.integers(0, 4), min_size=1, max_size=12),
    ego_driver=st.sampled_from([EGO_ACTIONS, EGO_ACTIONS, EGO_IDM, EGO_MOBIL]),
)
def test_equals_a_plain_recomputation(scenario, seed, actions, ego_driver):
    env = HighwayVectorEnv(1, scenario, autoreset=False, ego_driver=ego_driver)
    env.watch(0)
    env.reset(seed=[seed])
    slow = SlowEpisode(scenario, FrameStates(env.vehicles.copy(), env.flags.copy()))
    low = np.array([field.low for field in FIELDS])
    high = np.array([field.high for field in FIELDS])
    decision = 0
    while env.active[0]:
        _, rewards, *_ = env.step(np.array([actions[decision % len(actions)]]))
        expected = slow.decide(env.film_frames(), rewards[0])
        assert (env.states[0] >= low).all()
        assert (env.states[0] <= high).all()
        for name, value in expected.items():
            assert env.states[0, FIELD_INDEX[name]] == pytest.approx(value, rel=1e-7, abs=1e-7), name
        decision += 1
    slow.sums[records.AT_FAULT] = env.records.columns[0, records.AT_FAULT]
    assert env.records.columns[0] == pytest.approx(list(slow.sums.values()), rel=1e-9, abs=1e-9)
    for which, name in enumerate(("ttc", "headway", "accel", "jerk")):
        edges = records.bin_edges(which)
        edges[-1] = np.inf
        # A value that rounds across an edge may be counted next door; nothing else may differ.
        counts = env.records.histograms[0, which]
        exact, _ = np.histogram(slow.sizes[name], edges)
        assert np.abs(np.cumsum(counts - exact)).max() <= 1, name


def test_counts_an_overtake_once_the_cars_are_clear_of_each_other():
    env = road_with([Car(x=100.0, lane=0, speed=30.0), Car(x=103.0, lane=2, speed=20.0)])
    made = []
    for _ in range(3):
        step(env, FASTER)
        made.append(env.states[0, FIELD_INDEX["overtook"]])
    assert made == [1.0, 0.0, 0.0]
    assert env._batch.running[0, records.OVERTAKES_MADE] == 1.0


def test_does_not_count_cars_that_stay_side_by_side():
    env = road_with([Car(x=100.0, lane=0, speed=25.0), Car(x=104.0, lane=2, speed=25.0)])
    for side in (-4.0, 4.0, -4.0, 4.0):
        step(env, IDLE)
        env.vehicles[0, X, 1] = env.vehicles[0, X, 0] + side
        sort_by_position(env.vehicles[0], env.flags[0])
    assert env._batch.running[0, records.OVERTAKES_MADE] == 0.0
    assert env._batch.running[0, records.OVERTAKES_SUFFERED] == 0.0


def test_counts_being_overtaken_by_identity():
    env = road_with(
        [Car(x=100.0, lane=0, speed=20.0), Car(x=90.0, lane=2, speed=30.0), Car(x=200.0, lane=1, speed=30.0)]
    )
    suffered = []
    for _ in range(3):
        step(env, SLOWER)
        suffered.append(env.states[0, FIELD_INDEX["was_overtaken"]])
    assert suffered == [0.0, 1.0, 0.0]


def _crash(cars, action=IDLE, decisions=8):
    env = road_with(cars)
    for _ in range(decisions):
        step(env, action)
        if not env.active[0]:
            break
    assert env.records.columns[0, records.CRASH] == 1.0
    return env.records.columns[0, records.AT_FAULT]


def test_running_into_the_car_ahead_is_the_egos_fault():
    assert _crash([Car(x=100.0, lane=1, speed=30.0), Car(x=120.0, lane=1, speed=5.0)], FASTER) == 1.0


def test_being_struck_from_behind_while_keeping_the_lane_is_not():
    assert _crash([Car(x=200.0, lane=1, speed=20.0), Car(x=188.0, lane=1, speed=40.0)], SLOWER) == 0.0


def test_being_struck_in_the_side_while_keeping_the_lane_is_not():
    drifting = Car(x=199.0, lane=2, y=6.6, speed=25.0, target_lane=1)
    assert _crash([Car(x=200.0, lane=1, speed=25.0), drifting], IDLE) == 0.0


@pytest.mark.parametrize(("action", "lane"), [(LEFT, 0), (RIGHT, 2)])
def test_changing_lanes_into_a_car_beside_is_the_egos_fault(action, lane):
    assert _crash([Car(x=200.0, lane=1, speed=25.0), Car(x=198.0, lane=lane, speed=25.0)], action) == 1.0


def test_cutting_in_and_being_struck_at_once_is_the_egos_fault():
    assert _crash([Car(x=200.0, lane=1, speed=25.0), Car(x=182.0, lane=2, speed=40.0)], RIGHT) == 1.0


def test_a_certain_collision_that_has_not_happened_leaves_the_episode_going():
    """As in highway-env, an impact found in a decision's last frame ends the episode in the next decision."""
    pending = 0
    for gap in np.arange(12.0, 40.0, 0.5):
        env = road_with([Car(x=100.0, lane=1, speed=30.0), Car(x=100.0 + gap, lane=1, speed=5.0)])
        step(env, FASTER)
        if env.flags[0, IMPACT_PENDING, 0] and not env.flags[0, CRASHED, 0]:
            pending += 1
            assert env.active[0]
            assert env.states[0, FIELD_INDEX["collided"]] == 0.0
            step(env, FASTER)
            assert not env.active[0]
            assert env.records.columns[0, records.CRASH] == 1.0
    assert pending > 0


def test_nothing_is_measured_from_the_crash_on():
    env = road_with([Car(x=100.0, lane=1, speed=30.0), Car(x=110.0, lane=1, speed=5.0)])
    step(env, FASTER)
    assert env.records.columns[0, records.CRASH] == 1.0
    assert env.records.columns[0, records.FRAMES_MEASURED] < 5
    assert env.records.histograms[0].sum(axis=1) == pytest.approx(env.records.columns[0, records.FRAMES_MEASURED])
