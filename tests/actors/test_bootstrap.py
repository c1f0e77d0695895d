import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import t

from actors.bootstrap import DRAWS, draws_for, interval, student, sway, weights
from tests.tables import episodes

BETWEEN, WITHIN = 0.06, 0.016
"""Standard deviations of the fitness: between training seeds, and of one policy measured on 500 episodes."""


def test_each_draw_has_as_many_episodes_as_were_driven() -> None:
    found = weights(50, 300)
    assert found.shape == (300, 50)
    assert (found.sum(axis=1) == 50).all()
    assert (found >= 0).all()
    assert found.var() == pytest.approx(1.0, abs=0.1)  # counts of a draw with replacement: 1 - 1/50


def test_everyone_is_given_the_same_draws() -> None:
    assert weights(20) is weights(20)
    kept = weights(20).copy()
    weights.cache_clear()
    assert np.array_equal(weights(20), kept)
    with pytest.raises(ValueError, match="read-only"):
        weights(20)[0, 0] = 3.0


def test_many_episodes_are_drawn_less_often() -> None:
    assert draws_for(1) == draws_for(500) == draws_for(5000) == DRAWS
    assert draws_for(20_000) == 500
    assert draws_for(1_000_000) == 200


@given(st.floats(1.0, 200.0))
def test_the_factor_is_that_of_students_quantile(freedom: float) -> None:
    assert student(freedom) == pytest.approx(t.ppf(0.975, freedom) / 1.959964, rel=1e-5)


def test_the_factor_of_no_uncertainty_is_one() -> None:
    assert student(np.inf) == 1.0


def test_a_single_training_says_nothing_of_others() -> None:
    assert not sway([episodes(5, 0)], np.ones(1), 100).any()


def test_sway_has_the_variance_of_a_mean() -> None:
    values = np.array([0.1, 0.3, 0.2, 0.6])
    found = sway([episodes(5, seed) for seed in range(4)], values, 20_000)
    assert found.var() == pytest.approx(values.var(ddof=1) / 4, rel=0.05)
    assert found.mean() == pytest.approx(0.0, abs=0.01)


def test_an_interval_needs_half_of_its_draws() -> None:
    draws = np.array([1.0, 2.0, 3.0, np.nan])
    assert interval(draws, 2.0) is not None
    assert interval(np.array([1.0, np.nan, np.nan]), 1.0) is None
    assert interval(draws, 9.0) == (pytest.approx(1.05), 9.0)


def _percentiles_of_drawn_seeds(values: NDArray[np.float64], rng: np.random.Generator) -> tuple[float, float]:
    """The interval of the plain hierarchical bootstrap: seeds drawn with replacement."""
    drawn = np.take_along_axis(values, rng.integers(len(values), size=values.shape), axis=0).mean(axis=0)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


@pytest.mark.parametrize("seeds", [3, 5])
def test_intervals_hold_the_truth_as_often_as_they_say(seeds: int) -> None:
    """400 experiments with a known truth of 0; the plain bootstrap over seeds is far too sure of itself."""
    rng = np.random.default_rng(seeds)
    held = plain = 0
    for number in range(400):
        measured = rng.normal(0.0, BETWEEN, seeds) + rng.normal(0.0, WITHIN, seeds)
        drawn = measured[:, None] + rng.normal(0.0, WITHIN, (seeds, 500))
        tables = [episodes(2, 1000 * number + seed) for seed in range(seeds)]
        deviations = student(seeds - 1) * sway(tables, measured, 500)
        low, high = np.quantile(drawn.mean(axis=0) + deviations, (0.025, 0.975))
        held += low <= 0.0 <= high
        low, high = _percentiles_of_drawn_seeds(drawn, rng)
        plain += low <= 0.0 <= high
    assert 0.92 <= held / 400 <= 0.985
    assert plain / 400 < 0.92


@pytest.mark.parametrize(("seeds", "least", "most"), [(1, 0.3, 0.5), (5, 0.65, 0.85)])
def test_where_one_side_was_trained_once_a_difference_is_too_sure(seeds: int, least: float, most: float) -> None:
    """400 differences of two programs that drive alike, one of them trained once: `Difference.alone`."""
    rng = np.random.default_rng(seeds)
    held = 0
    for number in range(400):
        one, other = rng.normal(0.0, BETWEEN, seeds), rng.normal(0.0, BETWEEN)
        measured = one + rng.normal(0.0, WITHIN, seeds)
        less = measured.mean() - other - rng.normal(0.0, WITHIN)
        drawn = less + rng.normal(0.0, WITHIN, 500) - rng.normal(0.0, WITHIN, (seeds, 500)).mean(axis=0)
        tables = [episodes(2, 1000 * number + seed) for seed in range(seeds)]
        deviations = student(seeds - 1) * sway(tables, measured, 500) if seeds > 1 else np.zeros(500)
        low, high = np.quantile(drawn + deviations, (0.025, 0.975))
        held += low <= 0.0 <= high
    assert least <= held / 400 <= most
