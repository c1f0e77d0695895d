from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from actors.archive import Baseline
from actors.pareto import front, speed_crash_front
from tests.entries import METRICS, archive_of, faulted, trained

SPEEDS = st.sampled_from([20.0, 21.0, 22.5, 25.0]) | st.floats(0, 40)
CRASHES = st.sampled_from([0.0, 0.1]) | st.floats(0, 1)
DRIVERS = st.dictionaries(st.text(min_size=1, max_size=3), st.tuples(SPEEDS, CRASHES), max_size=12)


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] >= other[0] and one[1] <= other[1] and one != other


@given(DRIVERS)
def test_the_front_is_exactly_what_nobody_dominates(drivers: dict[str, tuple[float, float]]) -> None:
    expected = {name for name, each in drivers.items() if not any(dominates(other, each) for other in drivers.values())}
    found = front(drivers)
    assert set(found) == expected
    assert len(found) == len(expected)


@given(DRIVERS)
def test_faster_on_the_front_is_never_safer(drivers: dict[str, tuple[float, float]]) -> None:
    found = [drivers[name] for name in front(drivers)]
    assert found == sorted(found)
    assert front(dict(reversed(drivers.items()))) == front(drivers)


def test_nobody_is_no_front() -> None:
    assert front({}) == ()


def test_equals_stand_side_by_side() -> None:
    assert front({"b": (22.0, 0.1), "a": (22.0, 0.1), "c": (21.0, 0.1)}) == ("a", "b")


def test_the_archives_front_takes_candidates_and_baselines_that_were_measured() -> None:
    fast = trained("g00-c00", speed_ms=28.0, crash_rate=0.4)
    worse = trained("g00-c01", speed_ms=26.0, crash_rate=0.5)
    archive = replace(
        archive_of(fast, worse, faulted("g01-c00")),
        baselines={
            "slower": Baseline(name="slower", metrics={**METRICS, "speed_ms": 20.1, "crash_rate": 0.02}),
            "unmeasured": Baseline(name="unmeasured", metrics={}),
        },
    )
    points = speed_crash_front(archive)
    assert [each.name for each in points] == ["slower", "g00-c00"]
    assert points[0].fitness is None
    assert fast.fitness is not None
    assert points[1].fitness == fast.fitness.value
