import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fitness import CONSTANTS, NEEDED, fitness, gate, terms

MEASURES = st.fixed_dictionaries(
    {
        "speed_ms": st.floats(0, 40),
        "progress_ms": st.floats(0, 40),
        "overtakes_per_min": st.floats(-60, 60),
        "accel_rms_ms2": st.floats(0, 60),
        "ttc_low_share": st.floats(0, 1),
        "crash_rate": st.floats(0, 1),
    }
)


def test_weights_sum_to_one() -> None:
    assert sum(CONSTANTS.weights.values()) == pytest.approx(1.0)


@given(MEASURES, st.floats(0, 1))
def test_fewer_crashes_never_lower_the_fitness(metrics: dict[str, float], other: float) -> None:
    fewer, more = sorted((metrics["crash_rate"], other))
    better = fitness({**metrics, "crash_rate": fewer}, 500)
    worse = fitness({**metrics, "crash_rate": more}, 500)
    assert better is not None
    assert worse is not None
    assert better.value >= worse.value
    assert better.at_crash_upper >= worse.at_crash_upper


@given(MEASURES, st.integers(1, 2000))
def test_everything_lies_in_zero_to_one(metrics: dict[str, float], episodes: int) -> None:
    judged = fitness(metrics, episodes)
    assert judged is not None
    assert set(judged.terms) == set(CONSTANTS.weights)
    for value in (judged.value, judged.gate, judged.at_crash_upper, *judged.terms.values()):
        assert 0.0 <= value <= 1.0


@given(MEASURES, st.sampled_from(["speed_ms", "progress_ms", "overtakes_per_min"]), st.floats(0, 20))
def test_more_of_what_is_wanted_never_lowers_it(metrics: dict[str, float], name: str, more: float) -> None:
    worse, better = fitness(metrics, 500), fitness({**metrics, name: metrics[name] + more}, 500)
    assert worse is not None
    assert better is not None
    assert better.value >= worse.value


@given(MEASURES, st.sampled_from(["accel_rms_ms2", "ttc_low_share"]), st.floats(0, 20))
def test_more_of_what_is_unwanted_never_raises_it(metrics: dict[str, float], name: str, more: float) -> None:
    better, worse = fitness(metrics, 500), fitness({**metrics, name: metrics[name] + more}, 500)
    assert worse is not None
    assert better is not None
    assert better.value >= worse.value


@given(MEASURES, st.sampled_from(NEEDED), st.sampled_from([None, float("nan"), float("inf")]))
def test_what_was_not_measured_is_not_judged(metrics: dict[str, float], name: str, value: float | None) -> None:
    broken = {key: each for key, each in metrics.items() if key != name}
    if value is not None:
        broken[name] = value
    assert fitness(broken, 500) is None


@pytest.mark.parametrize(
    ("crash_rate", "left"), [(0.0, 1.0), (0.05, 0.989), (0.20, 0.736), (0.25, 0.503), (0.40, 0.048), (0.81, 0.0)]
)
def test_gate(crash_rate: float, left: float) -> None:
    assert gate(crash_rate) == pytest.approx(left, abs=5e-4)


def test_beyond_hopeless_only_a_tenth_is_left() -> None:
    below, above = gate(0.8), gate(0.8 + 1e-9)
    assert above == pytest.approx(below / 10, rel=1e-6)


def test_the_bound_judges_what_can_be_claimed() -> None:
    metrics = {
        "speed_ms": 25.0,
        "progress_ms": 24.0,
        "overtakes_per_min": 5.0,
        "accel_rms_ms2": 2.0,
        "ttc_low_share": 0.02,
        "crash_rate": 0.1,
    }
    few, many = fitness(metrics, 20), fitness(metrics, 2000)
    assert few is not None
    assert many is not None
    assert few.value == many.value
    assert few.at_crash_upper < many.at_crash_upper < many.value


def test_terms_of_a_car_that_only_brakes_are_nearly_nothing() -> None:
    braking = {"speed_ms": 20.1, "progress_ms": 19.8, "overtakes_per_min": -3.0, "accel_rms_ms2": 1.0}
    assert terms({**braking, "ttc_low_share": 0.0}) == pytest.approx(
        {"speed": 0.01, "overtake": 0.0, "comfort": 0.0, "ttc": 0.0, "completion": 0.0}
    )
