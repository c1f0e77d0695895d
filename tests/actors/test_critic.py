from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from actors.critic import criticise
from actors.fitness import fitness
from actors.messages import ArchiveEntry, Candidate, Finding
from actors.outcome import CurvePoint, Outcome, RungPoint, TracePoint

SOUND: Mapping[str, float] = {
    "crash_rate": 0.02,
    "speed_ms": 24.0,
    "progress_ms": 23.7,
    "completion": 0.99,
    "overtakes_per_min": 6.0,
    "overtakes_per_km": 4.0,
    "lane_changes_per_km": 2.0,
    "accel_rms_ms2": 3.0,
    "ttc_low_share": 0.01,
    "headway_low_share": 0.05,
}


def entry(
    metrics: Mapping[str, float] | None = None,
    *,
    curve: Sequence[CurvePoint] = (),
    traces: Sequence[TracePoint] = (),
    name: str = "g01-c00",
    source: str = 'def compute_reward(state):\n    return state["ttc"]\n',
    **outcome: Any,
) -> ArchiveEntry:
    measured = {**SOUND, **(metrics or {})}
    return ArchiveEntry(
        candidate=Candidate(id=name, generation=1, source=source, digest=name, seed=0, origin="evolver"),
        outcome=Outcome(
            **{
                "candidate_id": name,
                "status": "trained",
                "metrics": measured,
                "curve": tuple(curve),
                "traces": tuple(traces),
                **outcome,
            }
        ),
        fitness=fitness(measured),
    )


def findings(candidate: ArchiveEntry, *parents: ArchiveEntry) -> dict[str, Finding]:
    return {finding.name: finding for finding in criticise(candidate, parents).findings}


def cleared(candidate: ArchiveEntry, *parents: ArchiveEntry) -> dict[str, Finding]:
    return {finding.name: finding for finding in criticise(candidate, parents).cleared}


def curve(own: Sequence[float], crashes: Sequence[float]) -> list[CurvePoint]:
    return [
        CurvePoint(steps=1000 * n, own_return=gain, native_return=15.0, crash_rate=crash, length_s=20.0, episodes=100)
        for n, (gain, crash) in enumerate(zip(own, crashes, strict=True), 1)
    ]


def trace(component: str, low: float, mean: float, high: float) -> list[TracePoint]:
    return [TracePoint(component=component, steps=1000 * n, low=low, mean=mean, high=high) for n in (1, 2)]


def test_sound_driving_is_only_told_where_it_loses_most() -> None:
    assert list(findings(entry())) == ["weakest_term"]
    weakest = findings(entry())["weakest_term"]
    assert weakest.sentence == "loses most on speed: that term gives 0.12 of the 0.30 it could give"
    assert weakest.evidence == pytest.approx({"speed_term": 0.4, "fitness_lost": 0.18})


def test_crashes_are_told_from_where_they_cost_fitness() -> None:
    assert "crashes" not in findings(entry({"crash_rate": 0.01}))
    found = findings(entry({"crash_rate": 0.3}))["crashes"]
    assert found.evidence["crash_rate"] == 0.3
    assert "30%" in found.sentence


def test_slowing_down_to_survive_is_seen_against_the_parent() -> None:
    parent = entry({"speed_ms": 26.0, "crash_rate": 0.2}, name="g00-c01")
    child = entry({"speed_ms": 23.0, "crash_rate": 0.05})
    found = findings(child, parent)["slow_down_to_survive"]
    assert "g00-c01" in found.sentence
    assert (found.value, found.threshold) == (3.0, 1.0)
    assert found.evidence["parent_crash_rate"] == 0.2
    assert cleared(parent, child)["slow_down_to_survive"].value == -3.0
    for other in ({"speed_ms": 26.5}, {"crash_rate": 0.18}, {"overtakes_per_min": 6.5}):
        survivor = entry({"speed_ms": 23.0, "crash_rate": 0.05, **other})
        assert "slow_down_to_survive" not in findings(survivor, parent), other


def test_of_several_parents_the_one_that_was_left_behind_is_named() -> None:
    child = entry({"speed_ms": 23.0, "crash_rate": 0.05})
    near = entry({"speed_ms": 24.5, "crash_rate": 0.2}, name="g00-c01")
    far = entry({"speed_ms": 26.0, "crash_rate": 0.2}, name="g00-c02")
    safe = entry({"speed_ms": 29.0, "crash_rate": 0.04}, name="g00-c03")
    assert "g00-c02" in findings(child, near, far, safe)["slow_down_to_survive"].sentence


def rungs(*fitnesses: float | None) -> tuple[RungPoint, ...]:
    return tuple(
        RungPoint(steps=1000 * n, fitness=fitness, native_return=20.0, crash_rate=0.1)
        for n, fitness in enumerate(fitnesses, 1)
    )


def test_own_return_that_rises_while_fitness_falls() -> None:
    name, rising = "own_return_up_fitness_down", curve([1.0, 2.0, 4.0, 8.0], [0.01] * 4)
    found = findings(entry(curve=rising, rungs=rungs(0.2, 0.45, None, 0.3)))[name]
    assert found.value == pytest.approx(0.15)
    assert found.evidence == {"own_return_then": 2.0, "own_return_last": 8.0, "fitness_then": 0.45, "fitness": 0.3}
    assert cleared(entry(curve=rising, rungs=rungs(0.2, 0.3, 0.45)))[name].value == pytest.approx(-0.15)
    assert name in cleared(entry(curve=rising, rungs=rungs(0.2, 0.45, 0.42)))
    falling = curve([8.0, 4.0, 2.0, 1.0], [0.01] * 4)
    assert name in cleared(entry(curve=falling, rungs=rungs(0.2, 0.45, 0.3)))
    judged = entry(curve=rising, rungs=rungs(0.2, 0.9), env_steps=4000)
    assert judged.fitness is not None
    assert findings(judged)[name].evidence["fitness"] == judged.fitness.value
    for unknown in (entry(curve=rising), entry(curve=rising, rungs=rungs(0.9)), entry(rungs=rungs(0.9, 0.1))):
        assert name not in {**findings(unknown), **cleared(unknown)}


def test_own_return_that_rises_while_crashes_stay() -> None:
    name, rising = "return_without_safety", [1.0, 2.0, 3.0, 5.0, 8.0, 9.0]
    assert name in findings(entry(curve=curve(rising, [0.5] * 6)))
    assert name not in findings(entry(curve=curve(rising, [0.5, 0.5, 0.4, 0.3, 0.1, 0.1])))
    assert name not in findings(entry(curve=curve(rising, [0.01] * 6)))
    assert name not in findings(entry(curve=curve([5.0] * 6, [0.5] * 6)))


def test_components_that_do_nothing() -> None:
    traces = [
        *trace("alive", 0.5, 0.5, 0.5),
        *trace("speed", 0.0, 50.0, 100.0),
        *trace("gap", -0.1, -0.05, 0.0),
        *trace("crash", -1.0, -0.01, 0.0),
        *trace("total", -1.0, 50.0, 100.5),
        *trace("residual", 0.0, 0.0, 0.0),
    ]
    found = findings(entry(traces=traces))
    assert "alive" in found["constant_component"].sentence
    assert "speed" in found["dominant_component"].sentence
    assert "unexplained_reward" not in found
    balanced = [*trace("speed", 0.0, 0.5, 1.0), *trace("gap", -1.0, -0.5, 0.0), *trace("crash", -1.0, -0.01, 0.0)]
    assert "dominant_component" not in findings(entry(traces=balanced))


def test_reward_beyond_its_components_is_told() -> None:
    traces = [*trace("speed", 0.0, 0.5, 1.0), *trace("total", -1.0, 0.5, 1.0), *trace("residual", -1.0, 0.0, 0.0)]
    assert findings(entry(traces=traces))["unexplained_reward"].evidence == {"residual": 1.0, "total_span": 2.0}


def test_what_was_not_measured_is_not_criticised() -> None:
    bare = entry()
    assert bare.outcome is not None
    unmeasured = ArchiveEntry(candidate=bare.candidate, outcome=Outcome(candidate_id="g01-c00", status="trained"))
    failed = ArchiveEntry(candidate=bare.candidate, outcome=Outcome(candidate_id="g01-c00", status="failed"))
    for untold in (unmeasured, failed, ArchiveEntry(candidate=bare.candidate)):
        critique = criticise(untold, [bare])
        assert (critique.candidate_id, critique.findings, critique.cleared) == ("g01-c00", (), ())
