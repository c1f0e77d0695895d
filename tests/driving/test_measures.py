"""Episode tables and the measures made of them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driving.drivers import driver_named, run_episodes
from driving.kernel import records
from driving.measures import EpisodeTable, episode_table, percentile, summarise
from driving.vector_env import EpisodeRecords
from search_spaces.scenarios import PRESETS, SELECTION, Scenario

FAST = PRESETS["highway-fast-v0"]


def table_of(episodes, histograms=None):
    """Return a table from one mapping of record columns for each episode."""
    columns = np.zeros((len(episodes), records.RECORD_COLUMNS))
    for row, episode in enumerate(episodes):
        for column, value in episode.items():
            columns[row, column] = value
    counts = np.zeros((len(episodes), records.HISTOGRAMS, records.BINS), np.int32)
    for which, place, frames in histograms or ():
        counts[0, which, place] = frames
    return episode_table(EpisodeRecords(columns, counts), FAST, range(len(episodes)))


def test_sums_are_divided_after_they_are_taken_over_all_episodes():
    crashed = {
        records.NATIVE_RETURN: 4.0,
        records.DECISIONS: 10.0,
        records.DISTANCE: 300.0,
        records.CRASH: 1.0,
        records.AT_FAULT: 1.0,
        records.OVERTAKES_MADE: 4.0,
        records.OVERTAKES_SUFFERED: 1.0,
        records.LANE_CHANGES: 2.0,
        records.FRAMES_MEASURED: 48.0,
        records.LOW_TTC_FRAMES: 12.0,
        records.LOW_HEADWAY_FRAMES: 24.0,
        records.RIGHT_LANE_FRAMES: 48.0,
        records.ACCEL_SQUARES: 192.0,
        records.JERK_SQUARES: 768.0,
    }
    finished = {records.DECISIONS: 30.0, records.DISTANCE: 700.0, records.NATIVE_RETURN: 20.0}
    metrics = summarise(table_of([crashed, finished]), FAST)
    assert metrics == {
        "episodes": 2.0,
        "crash_rate": 0.5,
        "at_fault_crash_rate": 0.5,
        "crashes_per_1000km": 1000.0,
        "native_return": 12.0,
        "length_s": 20.0,
        "distance_m": 500.0,
        "speed_ms": 25.0,
        "progress_ms": pytest.approx(1000 / 60),
        "completion": pytest.approx(40 / 60),
        "overtakes_per_min": 3.0,
        "overtakes_per_km": 3.0,
        "lane_changes_per_km": 2.0,
        "ttc_low_share": 0.25,
        "headway_low_share": 0.5,
        "right_lane_share": 1.0,
        "accel_rms_ms2": 2.0,
        "jerk_rms_ms3": 4.0,
    }


def test_undefined_measures_are_absent():
    metrics = summarise(table_of([{records.DECISIONS: 1.0, records.CRASH: 1.0}]), FAST)
    absent = {"crashes_per_1000km", "overtakes_per_km", "ttc_low_share", "accel_rms_ms2", "ttc_p5_s", "jerk_p95_ms3"}
    assert not absent & set(metrics)
    assert all(np.isfinite(value) for value in metrics.values())


def test_a_time_to_collision_that_is_mostly_infinite_has_no_percentile():
    last = records.BINS - 1
    never_closing = [(records.TTC_HISTOGRAM, last, 97), (records.TTC_HISTOGRAM, 10, 3)]
    assert "ttc_p5_s" not in summarise(table_of([{records.DECISIONS: 30.0}], never_closing), FAST)
    closing = [(records.TTC_HISTOGRAM, last, 90), (records.TTC_HISTOGRAM, 10, 10)]
    assert summarise(table_of([{records.DECISIONS: 30.0}], closing), FAST)["ttc_p5_s"] == pytest.approx(1.05)


@settings(max_examples=50)
@given(
    values=st.lists(st.floats(0.0, 29.0), min_size=1, max_size=200),
    share=st.sampled_from([0.05, 0.5, 0.95]),
    which=st.sampled_from([records.TTC_HISTOGRAM, records.ACCEL_HISTOGRAM]),
)
def test_percentiles_are_right_to_within_a_bin(values, share, which):
    edges = records.bin_edges(which)
    counts, _ = np.histogram(values, edges)
    [found] = percentile(counts[None].astype(np.float64), edges, share)
    exact = np.quantile(values, share, method="inverted_cdf")
    place = np.searchsorted(edges, exact, side="right") - 1
    assert edges[max(place - 1, 0)] <= found <= edges[place + 1]


def test_rows_can_be_drawn_again():
    table = table_of([{records.DISTANCE: 100.0}, {records.DISTANCE: 200.0}, {records.DISTANCE: 300.0}])
    drawn = table.take(np.array([2, 2, 0]))
    assert list(drawn.columns["distance_m"]) == [300.0, 300.0, 100.0]
    assert list(drawn.seeds) == [2, 2, 0]
    both = EpisodeTable.concatenate([table, drawn])
    assert len(both) == 6
    assert both.histograms["ttc"].shape == (6, records.BINS)


@pytest.mark.parametrize(
    ("scenario", "driver", "native_return", "crash_rate"),
    [
        ("highway-fast-v0", "slower", 20.75, 0.022),
        ("highway-fast-v0", "idle", 11.84, 0.952),
        ("highway-fast-v0", "faster", 7.04, 1.0),
        ("highway-fast-v0", "left", 9.58, 0.958),
        ("highway-fast-v0", "right", 10.50, 0.952),
        ("highway-v0", "slower", 27.79, 0.014),
    ],
)
def test_constant_actions_drive_as_they_do_on_highway_env(scenario, driver, native_return, crash_rate):
    """Always braking scores 20.7 of 30 and 27.8 of 40 with 2 % and 1 % crashes; the others crash nearly always."""
    road = PRESETS[scenario]
    metrics = summarise(run_episodes(road, SELECTION.seeds(500), driver_named(driver)), road)
    assert metrics["native_return"] == pytest.approx(native_return, abs=0.005)
    assert metrics["crash_rate"] == pytest.approx(crash_rate)
    assert metrics["at_fault_crash_rate"] <= metrics["crash_rate"]


def test_every_measure_is_explained():
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    section = page.split("\n## Measures\n")[1].split("\n## ")[0]
    explained = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert explained == set(summarise(run_episodes(FAST, range(50), driver_named("random")), FAST))


def test_measures_follow_the_policy_frequency():
    """The same car measured at 1, 5 and 15 decisions a second drives the same road."""
    found = []
    for hertz in (1, 5, 15):
        road = Scenario(simulation_frequency=15, policy_frequency=hertz, duration=10)
        found.append(summarise(run_episodes(road, range(20), driver_named("idm")), road))
    for metrics in found[1:]:
        for name in ("distance_m", "length_s", "accel_rms_ms2", "overtakes_per_min", "ttc_low_share"):
            assert metrics[name] == pytest.approx(found[0][name], rel=0.02, abs=0.02), name
