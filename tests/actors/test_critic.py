from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from actors.critic import criticise, findings
from actors.fitness import fitness
from actors.messages import ArchiveEntry, Candidate
from actors.outcome import CurvePoint, Outcome, TracePoint

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


def names(candidate: ArchiveEntry, *parents: ArchiveEntry) -> list[str]:
    return [finding.name for finding in findings(candidate, parents)]


def curve(own: Sequence[float], crashes: Sequence[float]) -> list[CurvePoint]:
    return [
        CurvePoint(steps=1000 * n, own_return=gain, native_return=15.0, crash_rate=crash, length_s=20.0, episodes=100)
        for n, (gain, crash) in enumerate(zip(own, crashes, strict=True), 1)
    ]


def trace(component: str, low: float, mean: float, high: float) -> list[TracePoint]:
    return [TracePoint(component=component, steps=1000 * n, low=low, mean=mean, high=high) for n in (1, 2)]


def test_sound_driving_is_only_told_where_it_loses_most() -> None:
    assert names(entry()) == ["weakest_term"]
    assert findings(entry(), [])[0].evidence == pytest.approx({"speed_term": 0.4, "fitness_lost": 0.18})


@pytest.mark.parametrize(
    ("name", "metrics", "not_enough"),
    [
        ("lane_weaving", {"lane_changes_per_km": 6.0}, {"overtakes_per_km": 5.5}),
        ("acceleration_spam", {"accel_rms_ms2": 7.0}, {"accel_rms_ms2": 5.0}),
        ("ttc_exploitation", {"headway_low_share": 0.4}, {"ttc_low_share": 0.2}),
        ("crashes", {"crash_rate": 0.3}, {"crash_rate": 0.01}),
    ],
)
def test_rules_on_measures(name: str, metrics: dict[str, float], not_enough: dict[str, float]) -> None:
    assert name in names(entry(metrics))
    assert name not in names(entry({**metrics, **not_enough}))
    [finding] = [each for each in findings(entry(metrics), []) if each.name == name]
    assert set(metrics) & set(finding.evidence)
    assert finding.sentence


def test_a_reward_that_does_not_read_ttc_cannot_exploit_it() -> None:
    source = 'def compute_reward(state):\n    return state["speed_ms"]\n'
    assert "ttc_exploitation" not in names(entry({"headway_low_share": 0.4}, source=source))


def test_stationary_farming_needs_a_reward_that_pays_for_it() -> None:
    braking = {"speed_ms": 20.1, "progress_ms": 19.9}
    assert "stationary_farming" in names(entry(braking, curve=curve([20.0], [0.0])))
    assert "stationary_farming" not in names(entry(braking, curve=curve([-20.0], [0.0])))
    assert "stationary_farming" not in names(entry({**braking, "completion": 0.5}, curve=curve([20.0], [0.0])))
    assert "stationary_farming" not in names(entry(curve=curve([20.0], [0.0])))


def test_slowing_down_to_survive_is_seen_against_the_parent() -> None:
    parent = entry({"speed_ms": 26.0, "crash_rate": 0.2}, name="g00-c01")
    child = entry({"speed_ms": 23.0, "crash_rate": 0.05})
    [finding] = [each for each in findings(child, [parent]) if each.name == "slow_down_to_survive"]
    assert "g00-c01" in finding.sentence
    assert finding.evidence["parent_crash_rate"] == 0.2
    assert "slow_down_to_survive" not in names(parent, child)
    assert "slow_down_to_survive" not in names(entry({"speed_ms": 26.5, "crash_rate": 0.05}), parent)


def test_own_return_that_rises_while_crashes_stay() -> None:
    rising = [1.0, 2.0, 3.0, 5.0, 8.0, 9.0]
    assert "return_without_safety" in names(entry(curve=curve(rising, [0.5] * 6)))
    assert "return_without_safety" not in names(entry(curve=curve(rising, [0.5, 0.5, 0.4, 0.3, 0.1, 0.1])))
    assert "return_without_safety" not in names(entry(curve=curve(rising, [0.01] * 6)))
    assert "return_without_safety" not in names(entry(curve=curve([5.0] * 6, [0.5] * 6)))


def test_components_that_do_nothing() -> None:
    traces = [
        *trace("alive", 0.5, 0.5, 0.5),
        *trace("speed", 0.0, 50.0, 100.0),
        *trace("gap", -0.1, -0.05, 0.0),
        *trace("crash", -1.0, -0.01, 0.0),
        *trace("total", -1.0, 50.0, 100.5),
        *trace("residual", 0.0, 0.0, 0.0),
    ]
    found = {finding.name: finding for finding in findings(entry(traces=traces), [])}
    assert "alive" in found["constant_component"].sentence
    assert "speed" in found["dominant_component"].sentence
    assert "unexplained_reward" not in found
    balanced = [*trace("speed", 0.0, 0.5, 1.0), *trace("gap", -1.0, -0.5, 0.0), *trace("crash", -1.0, -0.01, 0.0)]
    assert "dominant_component" not in names(entry(traces=balanced))


def test_reward_beyond_its_components_is_told() -> None:
    traces = [*trace("speed", 0.0, 0.5, 1.0), *trace("total", -1.0, 0.5, 1.0), *trace("residual", -1.0, 0.0, 0.0)]
    [finding] = [each for each in findings(entry(traces=traces), []) if each.name == "unexplained_reward"]
    assert finding.evidence == {"residual": 1.0, "total_span": 2.0}


def test_what_was_not_measured_is_not_criticised() -> None:
    bare = entry()
    assert bare.outcome is not None
    unmeasured = ArchiveEntry(candidate=bare.candidate, outcome=Outcome(candidate_id="g01-c00", status="trained"))
    failed = ArchiveEntry(candidate=bare.candidate, outcome=Outcome(candidate_id="g01-c00", status="failed"))
    assert criticise(unmeasured, [bare]).findings == ()
    assert criticise(failed, [bare]).findings == ()
    assert criticise(ArchiveEntry(candidate=bare.candidate), [bare]).candidate_id == "g01-c00"
