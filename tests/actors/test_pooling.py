import numpy as np
import pytest
from scipy.stats import t

from actors.pooling import pooled


def test_equal_numbers_of_trainings_are_ordered_by_their_means_and_more_of_them_reach_less_far() -> None:
    ends = pooled([[0.4, 0.5, 0.3], [0.44, 0.45, 0.43], [0.41] * 6])
    assert ends is not None
    widths = [high - low for low, high in ends]
    assert widths[0] == pytest.approx(widths[1])
    assert widths[2] == pytest.approx(widths[0] / 2**0.5)
    assert ends[1][0] > ends[0][0]


def test_one_driver_alone_has_students_interval() -> None:
    values = [0.40, 0.47, 0.52]
    ends = pooled([values])
    assert ends is not None
    half = t.ppf(0.975, 2) * np.std(values, ddof=1) / 3**0.5
    assert ends[0] == pytest.approx((np.mean(values) - half, np.mean(values) + half))


def test_single_trainings_say_nothing_of_spread() -> None:
    assert pooled([[0.4], [0.5]]) is None
    assert pooled([[0.4], [0.5, 0.6]]) is not None


def test_the_interval_holds_the_truth_in_95_of_100_cases_and_finds_better_drivers_than_ones_own_spread() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(0.42, 0.04, (4000, 4))
    measured = truth[:, :, None] + rng.normal(0.0, 0.06, (4000, 4, 3))
    ends = np.array([pooled(list(each)) for each in measured])
    held = (ends[:, :, 0] <= truth) & (truth <= ends[:, :, 1])
    assert held.mean() == pytest.approx(0.95, abs=0.01)
    own = measured.mean(2) - t.ppf(0.975, 2) * measured.std(2, ddof=1) / 3**0.5
    row = np.arange(4000)
    gained = truth[row, ends[:, :, 0].argmax(1)].mean() - truth[row, own.argmax(1)].mean()
    assert gained == pytest.approx(0.010, abs=0.003)
