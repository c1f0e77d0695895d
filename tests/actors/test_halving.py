import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.archive import Archive
from actors.coordinator import Coordinator
from actors.halving import HOPELESS, LEAST_RIVALS, RungVerdict, reason_to_stop
from actors.journal import JournalReader
from actors.ledger import replay
from actors.outcome import Outcome, RungPoint
from actors.record import SearchRecord
from actors.storage import Storage
from search_spaces.errors import RunError, UsageError
from tests.orchestrator.journals import Script, plan
from tests.searches import delivery, finish, opened, small_plan

NAMES = [f"g00-c{number:02d}" for number in range(4)]
FITNESSES = st.one_of(st.none(), st.floats(0, 1))


def at(fitness: float | None, steps: int = 100) -> RungPoint:
    return RungPoint(steps=steps, fitness=fitness, native_return=20.0, crash_rate=0.1)


@given(st.lists(FITNESSES, max_size=30))
def test_at_most_half_and_never_the_best_is_stopped_for_its_rank(fitnesses: list[float | None]) -> None:
    points = [at(each) for each in fitnesses]
    stopped = [
        point
        for number, point in enumerate(points)
        if reason_to_stop(point, points[:number] + points[number + 1 :]) is not None
    ]
    known = [each for each in fitnesses if each is not None]
    assert all(point.fitness is not None for point in stopped)
    for point in stopped:
        assert point.fitness is not None
        if point.fitness >= HOPELESS:
            assert len(known) >= LEAST_RIVALS
            assert 2 * sum(each > point.fitness for each in known) >= len(known)
    hopeful = [each for each in known if each >= HOPELESS]
    assert sum(each.fitness is not None and each.fitness >= HOPELESS for each in stopped) <= len(known) / 2
    if hopeful:
        assert all(point.fitness != max(hopeful) for point in stopped)


@pytest.mark.parametrize(
    ("fitness", "rivals", "stopped"),
    [
        (0.01, [], True),
        (0.02, [], False),
        (0.1, [0.2, 0.3], False),
        (0.1, [0.2, 0.3, 0.05], True),
        (0.2, [0.1, 0.3, 0.05], False),
        (0.2, [0.2, 0.2, 0.2], False),
        (0.2, [0.1, 0.3, 0.05, 0.4], False),
        (0.1, [0.2, 0.3, None], False),
        (None, [0.2, 0.3, 0.4, 0.5], False),
    ],
)
def test_the_worse_half_of_at_least_four_is_stopped(
    fitness: float | None, rivals: list[float | None], stopped: bool
) -> None:
    assert (reason_to_stop(at(fitness), [at(each) for each in rivals]) is not None) is stopped


def test_another_rung_does_not_count_and_the_reason_has_the_numbers() -> None:
    others = [at(each, steps=200) for each in (0.5, 0.6, 0.7, 0.8)]
    assert reason_to_stop(at(0.1), others) is None
    assert reason_to_stop(at(0.1, steps=200), others) == (
        "fitness 0.100 at 200 steps is rank 5 of the 5 that have reached this rung; the worse half is stopped"
    )


def record_of(run: Path) -> SearchRecord:
    return replay(JournalReader(Storage.at(run)))


def test_a_search_stops_the_worse_half_and_goes_on_without_them(tmp_path: Path) -> None:
    plan = small_plan(population=4, generations=2, rungs=(500,), early_stopping=True, baselines=False)
    coordinator = opened(tmp_path, plan)
    stopped = []
    for number, fitness in enumerate((0.30, 0.25, 0.20, 0.10)):
        name = coordinator.ask(f"t{number}").candidate_id
        assert name is not None
        assert coordinator.assignment(name).rungs == (500,)
        reason = coordinator.rung(name, at(fitness))
        assert coordinator.rung(name, at(fitness)) == reason
        changes = {} if reason is None else {"status": "stopped", "reason": reason, "metrics": {"crash_rate": 0.1}}
        coordinator.deliver(delivery(name, **changes))
        coordinator.tell(f"t{number}", None)
        stopped += [name] * (reason is not None)
    assert stopped == ["g00-c03"]
    assert len(finish(coordinator)) == 4
    coordinator.close()
    record = record_of(tmp_path)
    assert record.finished
    archive: Archive = record.archive
    assert archive.fitnesses.get("g00-c03") is None
    assert "g00-c03" not in archive.critiques
    assert archive.failed(10) == ()
    assert all("g00-c03" not in entry.candidate.parents for entry in archive.entries(1))
    assert record.champion != "g00-c03"
    assert [each.stopped is None for verdicts in record.rungs.values() for each in verdicts] == [True] * 3 + [False]
    assert SearchRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


@contextmanager
def waiting(run: Path, **changes: object) -> Iterator[Coordinator]:
    """A coordinator that was not handed its keys yet, of a search with four candidates and a baseline."""
    settings = {"population": 4, "steps": 1000, **changes}
    if not run.exists():
        script = Script(run)
        script.start(**settings)
        for name in NAMES:
            script.accept(name, 0)
        script.accept("ppo-native", -1, role="baseline", source="", origin="baseline")
        script.close()
    coordinator = Coordinator(str(run), plan(**settings), session="one", threads=False)
    yield coordinator
    coordinator.close()


def test_a_restarted_coordinator_says_what_it_said(tmp_path: Path) -> None:
    changes = {"rungs": (500,), "early_stopping": True}
    with waiting(tmp_path / "run", **changes) as coordinator:
        said = [coordinator.rung(name, at(fitness)) for name, fitness in zip(NAMES, (0.4, 0.3, 0.2, 0.1), strict=True)]
    with waiting(tmp_path / "run", **changes) as coordinator:
        assert [coordinator.rung(name, at(0.5)) for name in NAMES] == said
    assert [each is None for each in said] == [True, True, True, False]


def test_switched_off_it_only_writes_down(tmp_path: Path) -> None:
    with waiting(tmp_path / "run", rungs=(500, 1000, 2000)) as coordinator:
        assert coordinator.assignment("g00-c00").rungs == (500,)
        assert coordinator.assignment("ppo-native").rungs == ()
        assert coordinator.rung("g00-c00", at(0.001)) is None
        with pytest.raises(RunError, match="no candidate g99-c00"):
            coordinator.rung("g99-c00", at(0.001))
    verdict = RungVerdict(candidate_id="g00-c00", point=at(0.001))
    assert record_of(tmp_path / "run").rungs == {"g00-c00": (verdict,)}


@pytest.mark.parametrize("rungs", [(5, 5), (7, 3), (0, 5), (-1,)])
def test_rungs_rise(rungs: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="rungs: expected rising"):
        small_plan(rungs=rungs)


def test_early_stopping_without_a_rung_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a rung below steps"):
        small_plan(steps=1000, rungs=(1000,), early_stopping=True)


def test_an_outcome_keeps_its_rungs_through_json() -> None:
    outcome = Outcome(candidate_id="g00-c00", status="stopped", rungs=(at(0.2), at(None, 200)))
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome
