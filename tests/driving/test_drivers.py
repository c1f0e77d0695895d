"""Baseline drivers and the loop around them."""

import numpy as np
import pytest

from driving import drivers
from driving.drivers import DRIVERS, driver_named, record_traces, run_episodes
from driving.kernel.layout import IDLE
from driving.measures import summarise
from search_spaces.errors import UsageError
from search_spaces.scenarios import PRESETS, Scenario
from search_spaces.state import FIELD_INDEX

SHORT = Scenario(duration=10)


@pytest.mark.parametrize("name", DRIVERS)
def test_an_episode_does_not_depend_on_its_neighbours(name, monkeypatch):
    seeds = [3, 14, 15, 92, 65]
    together = run_episodes(SHORT, seeds, driver_named(name))
    monkeypatch.setattr(drivers, "CHUNK", 2)
    apart = run_episodes(SHORT, seeds, driver_named(name))
    assert list(apart.seeds) == seeds
    for column, values in together.columns.items():
        assert (apart.columns[column] == values).all(), column
    for quantity, counts in together.histograms.items():
        assert (apart.histograms[quantity] == counts).all()


def test_traffic_models_drive_safely_and_only_one_changes_lanes():
    road = PRESETS["highway-fast-v0"]
    idm, mobil = (summarise(run_episodes(road, range(100), driver_named(name)), road) for name in ("idm", "mobil"))
    assert idm["crash_rate"] == mobil["crash_rate"] == 0.0
    assert idm["lane_changes_per_km"] == 0.0
    assert mobil["lane_changes_per_km"] > 0.5
    assert mobil["progress_ms"] > idm["progress_ms"] > 20.0


def test_random_actions_are_uniform_and_differ_between_episodes():
    drawn = drivers.RandomDriver().starting(range(200), 30)
    actions = np.array(list(drawn.actions))
    assert actions.shape == (30, 200)
    shares = np.bincount(actions.ravel(), minlength=5) / actions.size
    assert shares == pytest.approx(np.full(5, 0.2), abs=0.02)
    assert len({tuple(column) for column in actions.T}) == 200


def test_a_plain_function_drives_too():
    by_function = run_episodes(SHORT, range(5), lambda observations: np.full(len(observations), IDLE))
    by_driver = run_episodes(SHORT, range(5), driver_named("idle"))
    assert (by_function.columns["native_return"] == by_driver.columns["native_return"]).all()


def test_every_decision_is_shown_once_with_who_drove_it():
    seen = []
    table = run_episodes(SHORT, range(8), driver_named("random"), on_decision=lambda _, driving: seen.append(driving))
    assert (np.sum(seen, axis=0) == table.columns["decisions"]).all()


def test_traces_hold_each_state_that_was_driven():
    traces = record_traces(SHORT, range(8), driver_named("faster"))
    table = run_episodes(SHORT, range(8), driver_named("faster"))
    assert (traces.alive.sum(axis=0) == table.columns["decisions"]).all()
    assert (traces.crashed == (table.columns["crashed"] > 0)).all()
    for episode in range(8):
        collided = traces.states[traces.alive[:, episode], episode, FIELD_INDEX["collided"]]
        assert collided[-1] == traces.crashed[episode]
        assert not collided[:-1].any()


def test_misuse_is_refused():
    with pytest.raises(UsageError, match="did you mean slower"):
        driver_named("slowr")
    with pytest.raises(UsageError, match="at least one seed"):
        run_episodes(SHORT, [], driver_named("idle"))
    with pytest.raises(UsageError, match="starting"):
        driver_named("random").act(np.zeros((1, 25), np.float32), np.zeros((1, 26)))
