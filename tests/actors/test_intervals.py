import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from actors.intervals import wilson


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_wilson_is_scipys(counts: tuple[int, int], confidence: float) -> None:
    events, trials = counts
    expected = binomtest(events, trials).proportion_ci(confidence_level=confidence, method="wilson")
    assert wilson(events, trials, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_bounds_enclose_the_rate(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0.0 <= low <= counts[0] / counts[1] <= high <= 1.0


def test_no_crash_is_no_proof() -> None:
    assert wilson(0, 500)[1] == pytest.approx(0.00762, abs=1e-5)


@pytest.mark.parametrize(("events", "trials", "confidence"), [(1, 0, 0.95), (3, 2, 0.95), (-1, 5, 0.95), (1, 2, 1.0)])
def test_contradictions_are_refused(events: int, trials: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="wilson"):
        wilson(events, trials, confidence)
