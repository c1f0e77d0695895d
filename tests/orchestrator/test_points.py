from actors.messages import Fitness
from orchestrator.points import bounded, judged


def test_a_fitness_is_logged_with_its_interval_and_without_where_there_is_none() -> None:
    known = Fitness(value=0.4, terms={"speed": 0.5}, gate=0.9, low=0.3, high=0.5)
    named = {point.name: point.value for point in judged(known)}
    assert named == {
        "fitness/value": 0.4,
        "fitness/low": 0.3,
        "fitness/high": 0.5,
        "fitness/gate": 0.9,
        "fitness/speed": 0.5,
    }
    old = {point.name for point in judged(Fitness(value=0.4, terms={}, gate=0.9))}
    assert old == {"fitness/value", "fitness/gate"}


def test_both_ends_of_each_measure_are_logged() -> None:
    points = bounded({"fitness": (0.3, 0.5), "crash_rate": (0.0, 0.008), "speed_ms": [24.0, 25.0]})
    assert {point.name: point.value for point in points} == {
        "interval/crash_rate/low": 0.0,
        "interval/crash_rate/high": 0.008,
        "interval/speed_ms/low": 24.0,
        "interval/speed_ms/high": 25.0,
    }
