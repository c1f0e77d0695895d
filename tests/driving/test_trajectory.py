"""The log of the ego: it says what the measures and the film say, frame by frame."""

import numpy as np
import pytest

from driving.drivers import driver_named, record_traces, run_episodes
from driving.kernel.layout import CRASHED, LANE, X
from driving.reference import ReferenceVectorEnv
from driving.renderer import frame_states
from driving.trajectory import COLUMNS, record_trajectories, record_trajectory
from search_spaces.scenarios import PRESETS, Scenario
from search_spaces.state import FIELD_INDEX

SEEDS = range(10_000_000, 10_000_024)
ROADS = (PRESETS["highway-fast-v0"], Scenario(lanes=4, vehicles=12, policy_frequency=5, simulation_frequency=15))


@pytest.mark.parametrize("road", ROADS, ids=["fast", "fine"])
@pytest.mark.parametrize("name", ["mobil", "random", "faster"])
def test_the_log_adds_up_to_the_measures(road, name):
    driver = driver_named(name)
    table = run_episodes(road, SEEDS, driver).columns
    for row, log in enumerate(record_trajectories(driver, road, SEEDS)):
        frames = {column: log[column][log.measured] for column in COLUMNS}
        assert log.crashed == bool(table["crashed"][row])
        assert len(log) == table["decisions"][row] * road.frames_per_decision + 1
        assert len(log.states) == table["decisions"][row]
        assert log.distance_m == table["distance_m"][row]
        assert log.measured.sum() == table["frames"][row]
        assert log.changes.sum() == table["lane_changes"][row]
        assert frames["overtakes_made"].sum() == table["overtakes_made"][row]
        assert frames["overtakes_suffered"].sum() == table["overtakes_suffered"][row]
        assert (frames["ttc_s"] < 1.5).sum() == table["low_ttc_frames"][row]
        assert (frames["headway_s"] < 0.9).sum() == table["low_headway_frames"][row]
        assert (frames["lane"] == road.lanes - 1).sum() == table["right_lane_frames"][row]
        squares = (frames["accel_ms2"] ** 2 + frames["lateral_accel_ms2"] ** 2).sum()
        assert squares == pytest.approx(table["accel_squares"][row])


@pytest.mark.parametrize("name", ["faster", "slower"])
def test_the_crash_flag_of_measures_log_and_film_agree(name):
    driver, road = driver_named(name), PRESETS["highway-fast-v0"]
    crashed = run_episodes(road, SEEDS, driver).columns["crashed"] > 0
    assert crashed.all() == (name == "faster")
    for seed, expected in zip(SEEDS, crashed, strict=True):
        log = record_trajectory(driver, road, seed)
        states = list(frame_states(road, seed, driver))
        filmed = np.concatenate([frames.flags[:, CRASHED, 0] for frames in states])
        assert log.crashed == bool(filmed[-1]) == expected
        assert (log["crashed"] == filmed).all()
        assert (log["x_m"] == np.concatenate([frames.vehicles[:, X, 0] for frames in states])).all()
        assert (log["lane"] == np.concatenate([frames.flags[:, LANE, 0] for frames in states])).all()


def test_decisions_end_where_the_reward_states_say():
    road, driver = ROADS[1], driver_named("random")
    traces = record_traces(road, SEEDS, driver)
    for row, log in enumerate(record_trajectories(driver, road, SEEDS)):
        assert (log.states == traces.states[traces.alive[:, row], row]).all()
        ends = np.arange(1, len(log.states) + 1) * log.frames_per_decision
        assert (log["speed_ms"][ends] == log.states[:, FIELD_INDEX["speed_ms"]]).all()
        assert (log["headway_s"][ends] == log.states[:, FIELD_INDEX["time_headway"]]).all()
        assert (log["gap_m"][ends] == log.states[:, FIELD_INDEX["front_dist"]]).all()
        assert (log["on_road"][ends] == log.states[:, FIELD_INDEX["on_road"]]).all()
        assert log["time_s"][ends] == pytest.approx(np.arange(1, len(ends) + 1) / road.policy_frequency)


def test_the_first_row_is_the_start():
    log = record_trajectory(driver_named("idle"), ROADS[0], SEEDS[0])
    assert set(log.columns) == set(COLUMNS)
    assert (log["time_s"][0], log["speed_ms"][0], log["accel_ms2"][0]) == (0.0, 25.0, 0.0)
    assert not log.measured[0]
    assert not log.changes[0]


def test_the_independent_simulator_can_be_logged_alike():
    road = Scenario(duration=5)
    ours = record_trajectory(driver_named("faster"), road, SEEDS[1])
    theirs = record_trajectory(driver_named("faster"), road, SEEDS[1], simulator=ReferenceVectorEnv)
    for name in COLUMNS:
        assert ours[name] == pytest.approx(theirs[name], abs=1e-9), name
