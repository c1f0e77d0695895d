import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.bootstrap import weights
from actors.comparison import FITNESS, RETRAINED, difference, intervals, judge, measured
from actors.difference import Difference
from actors.evaluator import evaluate
from actors.fitness import fitness, gate, scores
from actors.intervals import wilson
from driving.drivers import driver_named
from driving.episodes import from_parquet, to_parquet
from driving.measures import EpisodeTable, resample, summarise
from search_spaces.errors import RunError
from tests.tables import ROAD, drivers, episodes

some = settings(max_examples=25)


def compared(one: list[EpisodeTable], other: list[EpisodeTable], measure: str = FITNESS) -> Difference:
    found = difference(one, other, ROAD, measure)
    assert found is not None
    return found


@some
@given(st.integers(2, 30), st.integers(0, 1000))
def test_resamples_have_the_measures_of_the_episodes_drawn(count: int, seed: int) -> None:
    """The formulas of many resamples at once are those of `summarise`."""
    table = episodes(count, seed, crash_rate=0.5)
    counts = weights(count, 20)
    found = resample(table, ROAD, counts)
    for row in range(20):
        drawn = table.take(np.repeat(np.arange(count), counts[row].astype(int)))
        expected = summarise(drawn, ROAD)
        assert {name: found[name][row] for name in expected if name in found} == pytest.approx(
            {name: value for name, value in expected.items() if name in found}
        )
        one = fitness(expected)
        assert one is not None
        assert scores(found)[row] == pytest.approx(one.value)


@some
@given(drivers)
def test_intervals_hold_their_value_and_stay_inside_what_can_be(tables: list[EpisodeTable]) -> None:
    judged, values, found = judge(tables, ROAD), measured(tables, ROAD), intervals(tables, ROAD)
    assert judged is not None
    assert judged.low is not None
    assert judged.high is not None
    assert 0.0 <= judged.low <= judged.value <= judged.high <= 1.0
    assert found[FITNESS] == (judged.low, judged.high)
    assert set(values) - set(found) == {"episodes"}
    for name, value in values.items():
        low, high = found.get(name, (value, value))
        assert low - 1e-12 <= value <= high + 1e-12, name
        if name.endswith(("_rate", "_share")) or name == "completion":
            assert 0.0 <= low <= high <= 1.0, name


@some
@given(drivers)
def test_a_driver_does_not_differ_from_itself(tables: list[EpisodeTable]) -> None:
    again = [from_parquet(to_parquet(table)) for table in tables]
    for measure in (FITNESS, "crash_rate", "native_return"):
        found = compared(tables, again, measure)
        assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
        assert found.probability_of_improvement == 0.5


@some
@given(st.integers(2, 40), st.lists(st.integers(0, 99), min_size=2, max_size=6, unique=True), st.integers(1, 5))
def test_a_difference_turns_its_sign_with_its_sides(count: int, seeds: list[int], cut: int) -> None:
    cut = min(cut, len(seeds) - 1)
    one = [episodes(count, seed) for seed in seeds[:cut]]
    other = [episodes(count, seed, speed=26.0) for seed in seeds[cut:]]
    there, back = compared(one, other), compared(other, one)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
    assert there.low <= there.value <= there.high
    assert there.probability_of_improvement == pytest.approx(1 - back.probability_of_improvement)


@some
@given(drivers, st.randoms(use_true_random=False))
def test_the_order_of_replicates_changes_nothing(tables: list[EpisodeTable], rng: object) -> None:
    turned = tables[::-1]
    one, other = judge(tables, ROAD), judge(turned, ROAD)
    assert one is not None
    assert other is not None
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-12)
    fixed = [episodes(len(tables[0]), 77)]
    assert compared(tables, fixed).to_json() == pytest.approx(compared(turned, fixed).to_json())


def test_pairing_takes_out_what_is_hard_for_both() -> None:
    """The same traffic for both: the interval of the difference is a fraction of what it would be for two sets."""
    table = episodes(200, 1)
    faster = EpisodeTable(
        table.seeds, {**table.columns, "distance_m": table.columns["distance_m"] + 5.0}, table.histograms
    )
    paired = compared([faster], [table], "distance_m")
    low, high = intervals([table], ROAD)["distance_m"]
    assert paired.value == pytest.approx(5.0)
    assert (paired.low, paired.high) == pytest.approx((5.0, 5.0))
    assert high - low > 1.0


def test_training_seeds_widen_an_interval_that_one_of_them_knows_nothing_of() -> None:
    slow, fast = episodes(300, 1, speed=23.0), episodes(300, 2, speed=27.0)
    alone, both = judge([slow], ROAD), judge([slow, fast], ROAD)
    assert alone is not None
    assert both is not None
    assert alone.low is not None
    assert both.low is not None
    assert both.value - both.low > 2 * (alone.value - alone.low)


def test_another_training_may_crash_more_and_that_costs_most_where_the_gate_is_steep() -> None:
    """Drivers are what they are; of a program trained once the claim falls as far as the gate would fall."""
    lost = {}
    for crash_rate in (0.0, 0.06, 0.15):
        table = episodes(2000, 1, crash_rate=crash_rate)
        driver, program = judge([table], ROAD, trained=False), judge([table], ROAD)
        assert driver is not None
        assert program is not None
        assert driver.value == program.value
        lost[crash_rate] = driver.certain / driver.value - program.certain / program.value
        assert intervals([table], ROAD, trained=False)[FITNESS] == (driver.low, driver.high)
    assert lost[0.0] == 0.0
    assert 0.0 < lost[0.06] < 0.02
    likely = 0.15 * math.exp(1.96 * RETRAINED)
    fall = 1 - float(gate(np.array(likely)) / gate(np.array(0.15)))
    assert 0.5 * fall < lost[0.15] < fall


@some
@given(drivers)
def test_several_trainings_speak_for_themselves(tables: list[EpisodeTable]) -> None:
    if len(tables) > 1:
        assert judge(tables, ROAD) == judge(tables, ROAD, trained=False)


def test_a_single_training_shows_nothing_of_its_program() -> None:
    fast, faster = ([episodes(300, seed, crash_rate=0.0, speed=speed) for seed in (1, 2)] for speed in (24.0, 30.0))
    driver = [episodes(300, 3, crash_rate=0.0, speed=21.0)]
    assert compared(faster, fast).above
    assert compared(fast, faster).below
    for one, other in ((faster[:1], fast), (faster, fast[:1]), (faster[:1], fast[:1])):
        found = compared(one, other)
        assert found.low > 0.0
        assert (found.above, found.below) == (False, False)
        assert (compared(other, one).above, compared(other, one).below) == (False, False)
    assert difference(faster, driver, ROAD, trained=False) == replace(compared(faster, driver), alone=False)
    alone = difference(faster[:1], driver, ROAD, trained=False)
    assert alone is not None
    assert alone.alone


def test_probability_of_improvement_counts_pairs_of_trainings() -> None:
    one = [episodes(50, seed, crash_rate=0.0, speed=speed) for seed, speed in ((1, 24.0), (2, 28.0))]
    other = [episodes(50, seed, crash_rate=0.0, speed=speed) for seed, speed in ((3, 22.0), (4, 26.0))]
    found = compared(one, other, "speed_ms")
    assert found.probability_of_improvement == 0.75
    assert found.low < 0.0 < found.high


def test_crash_rates_have_wilsons_interval() -> None:
    never = episodes(500, 1, crash_rate=0.0)
    found = intervals([never], ROAD)
    assert found["crash_rate"] == wilson(0, 500)
    million_metres = never.columns["distance_m"].sum() / 500 / 1e6
    assert found["crashes_per_1000km"] == (0.0, pytest.approx(wilson(0, 500)[1] / million_metres))
    some_crash = [episodes(500, seed, crash_rate=rate) for seed, rate in ((1, 0.02), (2, 0.3))]
    pooled = wilson(sum(round(table.columns["crashed"].sum()) for table in some_crash), 1000)
    low, high = intervals(some_crash, ROAD)["crash_rate"]
    assert low < pooled[0]
    assert high > pooled[1]


def test_one_episode_has_no_interval() -> None:
    table = episodes(1, 0)
    judged = judge([table], ROAD)
    assert judged is not None
    assert judged.low is judged.high is None
    assert set(intervals([table], ROAD)) == {"crash_rate", "at_fault_crash_rate", "crashes_per_1000km"}
    assert difference([table], [table], ROAD) is None


def test_what_was_not_measured_is_not_judged() -> None:
    table = episodes(5, 0)
    still = EpisodeTable(table.seeds, {**table.columns, "frames": np.zeros(5)}, table.histograms)
    assert judge([table, still], ROAD) is None
    assert difference([table], [still], ROAD) is None
    assert "ttc_low_share" not in intervals([still], ROAD)
    assert "ttc_low_share" not in measured([table, still], ROAD)


def test_nothing_is_compared_across_episodes() -> None:
    table = episodes(5, 0)
    others = EpisodeTable(table.seeds + np.uint64(5), table.columns, table.histograms)
    for act in (lambda: judge([table, others], ROAD), lambda: difference([table], [others], ROAD)):
        with pytest.raises(RunError, match=r"same episodes.*5 from seed 0 and 5 from seed 5"):
            act()
    with pytest.raises(RunError, match="at least one table"):
        judge([], ROAD)


def test_a_judgement_is_quick_enough_for_a_coordinator_that_must_answer() -> None:
    content = to_parquet(episodes(500, 3))
    weights(500)
    from_parquet(content, histograms=False)
    began = time.process_time()
    for _ in range(5):
        judge([from_parquet(content, histograms=False)], ROAD)
    assert (time.process_time() - began) / 5 < 0.05


def test_a_real_driver_is_judged_from_its_file_as_from_its_episodes() -> None:
    metrics, table = evaluate(driver_named("slower"), ROAD, 50)
    found = judge([from_parquet(to_parquet(table), histograms=False)], ROAD)
    expected = fitness(metrics)
    assert found is not None
    assert expected is not None
    assert found.value == expected.value
    assert found.terms == expected.terms
    assert found.low is not None
    assert found.low < found.value
    assert not math.isnan(found.low)
    assert set(intervals([table], ROAD)) == {FITNESS, *metrics} - {"episodes"}
