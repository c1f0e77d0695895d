import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fitness import CONSTANTS, NEEDED, fitness, gate, scores, terms
from actors.messages import Fitness

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
    better = fitness({**metrics, "crash_rate": fewer})
    worse = fitness({**metrics, "crash_rate": more})
    assert better is not None
    assert worse is not None
    assert better.value >= worse.value


@given(MEASURES)
def test_everything_lies_in_zero_to_one(metrics: dict[str, float]) -> None:
    judged = fitness(metrics)
    assert judged is not None
    assert set(judged.terms) == set(CONSTANTS.weights)
    for value in (judged.value, judged.gate, *judged.terms.values()):
        assert 0.0 <= value <= 1.0


@given(MEASURES, st.sampled_from(["speed_ms", "progress_ms", "overtakes_per_min"]), st.floats(0, 20))
def test_more_of_what_is_wanted_never_lowers_it(metrics: dict[str, float], name: str, more: float) -> None:
    worse, better = fitness(metrics), fitness({**metrics, name: metrics[name] + more})
    assert worse is not None
    assert better is not None
    assert better.value >= worse.value


@given(MEASURES, st.sampled_from(["accel_rms_ms2", "ttc_low_share"]), st.floats(0, 20))
def test_more_of_what_is_unwanted_never_raises_it(metrics: dict[str, float], name: str, more: float) -> None:
    better, worse = fitness(metrics), fitness({**metrics, name: metrics[name] + more})
    assert worse is not None
    assert better is not None
    assert better.value >= worse.value


@given(MEASURES, st.sampled_from(NEEDED), st.sampled_from([None, float("nan"), float("inf")]))
def test_what_was_not_measured_is_not_judged(metrics: dict[str, float], name: str, value: float | None) -> None:
    broken = {key: each for key, each in metrics.items() if key != name}
    if value is not None:
        broken[name] = value
    assert fitness(broken) is None


@pytest.mark.parametrize(
    ("crash_rate", "left"), [(0.0, 1.0), (0.05, 0.989), (0.20, 0.736), (0.25, 0.503), (0.40, 0.048), (0.81, 0.0)]
)
def test_gate(crash_rate: float, left: float) -> None:
    assert gate(np.array(crash_rate)) == pytest.approx(left, abs=5e-4)


def test_beyond_hopeless_only_a_tenth_is_left() -> None:
    below, above = gate(np.array([0.8, 0.8 + 1e-9]))
    assert above == pytest.approx(below / 10, rel=1e-6)


@given(st.lists(MEASURES, min_size=1, max_size=5))
def test_many_are_judged_as_each_alone(several: list[dict[str, float]]) -> None:
    together = scores({name: np.array([metrics[name] for metrics in several]) for name in NEEDED})
    alone = [judged.value for judged in map(fitness, several) if judged is not None]
    assert together == pytest.approx(alone, rel=1e-12, abs=1e-15)


def test_an_undefined_measure_leaves_an_undefined_fitness() -> None:
    metrics = {name: np.array([0.1, np.nan]) for name in NEEDED}
    assert np.isfinite(scores(metrics)).tolist() == [True, False]
    for name in NEEDED:
        broken = {**{each: np.array([0.1]) for each in NEEDED}, name: np.array([np.nan])}
        assert np.isnan(scores(broken)).all(), name


def test_a_fitness_of_an_old_journal_can_be_read() -> None:
    judged = Fitness.from_json({"value": 0.4, "terms": {"speed": 0.5}, "gate": 1.0, "at_crash_upper": 0.39})
    assert judged == Fitness(value=0.4, terms={"speed": 0.5}, gate=1.0)
    assert judged.certain == 0.4
    assert Fitness.from_json(judged.to_json()) == judged
    bounded = Fitness(value=0.4, terms={}, gate=1.0, low=0.3, high=0.5)
    assert bounded.certain == 0.3
    assert Fitness.from_json(bounded.to_json()) == bounded
    with pytest.raises(TypeError):
        Fitness.from_json({"value": 0.4, "terms": {}, "gate": 1.0, "fortune": 1.0})


def test_terms_of_a_car_that_only_brakes_are_nearly_nothing() -> None:
    braking = {"speed_ms": 20.1, "progress_ms": 19.8, "overtakes_per_min": -3.0, "accel_rms_ms2": 1.0}
    found = terms({name: np.array(value) for name, value in {**braking, "ttc_low_share": 0.0}.items()})
    assert {name: float(value) for name, value in found.items()} == pytest.approx(
        {"speed": 0.01, "overtake": 0.0, "comfort": 0.0, "ttc": 0.0, "completion": 0.0}
    )
