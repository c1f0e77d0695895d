import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, mannwhitneyu, trim_mean

from actors.aggregate import improvement, interquartile_mean, mean
from search_spaces.errors import RunError

scores = st.lists(st.floats(0.0, 1.0, allow_subnormal=False), min_size=1, max_size=9)


def test_figures_by_hand() -> None:
    assert interquartile_mean([0.9, 0.1, 0.2, 0.3, 0.4]).value == pytest.approx(0.3)
    assert interquartile_mean([0.1, 0.2, 0.3, 0.4]).value == pytest.approx(0.25)
    assert interquartile_mean([0.1, 0.2, 0.6]).value == pytest.approx(0.3)
    assert mean([0.1, 0.2, 0.6]).value == pytest.approx(0.3)
    # 0.5 beats 0.4, ties with 0.5, loses to 0.6; 0.7 beats all.
    assert improvement([0.5, 0.7], [0.4, 0.5, 0.6]).value == pytest.approx((1 + 0.5 + 0 + 3) / 6)


@settings(max_examples=30)
@given(scores, scores)
def test_figures_are_those_of_scipy(ones: list[float], others: list[float]) -> None:
    assert interquartile_mean(ones).value == pytest.approx(trim_mean(ones, 0.25))
    statistic = mannwhitneyu(ones, others).statistic
    assert improvement(ones, others).value == pytest.approx(float(statistic) / (len(ones) * len(others)))


@settings(max_examples=20)
@given(scores, scores)
def test_intervals_hold_the_figure_and_stay_within_what_can_be(ones: list[float], others: list[float]) -> None:
    for estimate in (interquartile_mean(ones), mean(ones)):
        assert min(ones) - 1e-12 <= estimate.low <= estimate.high <= max(ones) + 1e-12
        assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9 or len(set(ones)) > 1
    chance = improvement(ones, others)
    assert 0.0 <= chance.low <= chance.high <= 1.0
    assert chance.value + improvement(others, ones).value == pytest.approx(1.0)
    assert chance == improvement(ones, others)


def test_the_interval_of_the_mean_is_that_of_scipy() -> None:
    values = [0.31, 0.42, 0.38, 0.5, 0.45, 0.29, 0.36]
    ours = mean(values)
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1))
    assert (ours.low, ours.high) == pytest.approx(theirs.confidence_interval, abs=0.003)


def test_the_interval_of_the_interquartile_mean_is_that_of_all_resamples() -> None:
    values = [0.1, 0.2, 0.4, 0.8]
    every = [trim_mean(each, 0.25) for each in itertools.product(values, repeat=4)]
    ours = interquartile_mean(values)
    assert (ours.low, ours.high) == pytest.approx(tuple(np.percentile(every, [2.5, 97.5])), abs=0.03)


def test_clear_differences_are_certain_and_equal_groups_are_not() -> None:
    better, worse = [0.5, 0.52, 0.51, 0.55, 0.53], [0.3, 0.35, 0.32, 0.31, 0.2]
    assert improvement(better, worse) == improvement([2.0, 3.0], [1.0])
    assert improvement(better, worse).low == 1.0
    level = improvement(worse, worse)
    assert level.value == 0.5
    assert level.low < 0.5 < level.high


def test_a_single_repeat_has_no_spread() -> None:
    estimate = interquartile_mean([0.4])
    assert (estimate.low, estimate.value, estimate.high) == (0.4, 0.4, 0.4)


@pytest.mark.parametrize("wrong", [[], [float("nan")], [0.1, float("inf")]])
def test_scores_that_are_none_are_refused(wrong: list[float]) -> None:
    with pytest.raises(RunError, match="finite score"):
        mean(wrong)


def test_the_interval_holds_the_truth_about_as_often_as_the_docstring_says() -> None:
    rng = np.random.default_rng(3)
    held = [each.low <= 0.0 <= each.high for each in (mean(rng.normal(0.0, 1.0, 5).tolist()) for _ in range(400))]
    assert 0.78 <= np.mean(held) <= 0.90
