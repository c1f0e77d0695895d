"""What follows a confirmed champion: trainings are made up, policies, kernel and highway-env are real."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors.conclusion import Conclusion, entrants, stand_ins
from actors.evaluator import PolicyDriver
from actors.generalisation import ROADS
from actors.journal import JournalReader
from actors.ledger import Ledger, replay
from actors.messages import Assignment
from actors.outcome import Delivery
from actors.plan import FinalsSettings, SearchPlan
from actors.record import SearchRecord
from actors.run_files import policy_file
from actors.storage import Storage
from driving.drivers import DRIVERS, run_episodes
from driving.episodes import to_parquet
from search_spaces.errors import RunError, SimulatorMismatchError
from search_spaces.scenarios import REPORT, SEED_SETS, Scenario
from tests.policies import drawn_policy
from tests.searches import driven, finish, opened, small_plan

SHORT = Scenario(duration=6)
ROLES = ("champion", "ppo-native", "ppo-hand-tuned")


def plan(replays: int = 4) -> SearchPlan:
    finals = FinalsSettings(
        finalists=1,
        seeds=1,
        steps=2000,
        leaders=1,
        leader_steps=2000,
        most_seeds=1,
        confirm=2,
        ablate=0,
        replays=replays,
    )
    return small_plan(generations=1, held_out=12, finals=finals, scenario=SHORT)


def really_driven(assignment: Assignment) -> Delivery:
    """A made-up training, whose policy then really drives its episodes."""
    policy = drawn_policy(assignment.seed % 1000)
    table = run_episodes(
        assignment.scenario, SEED_SETS[assignment.seed_set].seeds(assignment.held_out), PolicyDriver(policy)
    )
    made_up = driven(assignment)
    return replace(made_up, policy=policy.to_bytes(), episodes=to_parquet(table))


def record_of(run: Path) -> SearchRecord:
    return replay(JournalReader(Storage.at(run)))


def kinds(run: Path) -> list[str]:
    return [event.kind for event in JournalReader(Storage.at(run)).events_after()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("conclusion") / "run"
    coordinator = opened(run, plan())
    finish(coordinator, deliver=really_driven)
    coordinator.close()
    return run


def test_the_first_confirming_policy_is_replayed_in_highway_env(finished: Path) -> None:
    record = record_of(finished)
    assert record.finished
    assert record.replay is not None
    assert record.replay.name == f"{record.champion}-r0"
    assert (record.replay.episodes, record.replay.first_seed) == (4, REPORT.first)
    assert record.replay.redelivered == 0
    if record.replay.maths_equal:
        assert record.replay.differing == ()


def test_all_confirming_policies_drive_on_other_roads(finished: Path) -> None:
    record = record_of(finished)
    found = record.generalisation
    assert found is not None
    assert found.champion == record.champion
    assert [road.name for road in found.roads] == ["the search's own", *ROADS]
    names = [cell.name for cell in found.roads[0].cells]
    assert names[: len(ROLES)] == [record.champion, *ROLES[1:]]
    assert set(DRIVERS) < set(names)
    own = next(cell for cell in found.roads[0].cells if cell.name == record.champion)
    assert record.confirmed is not None
    assert record.confirmed.fitness is not None
    assert own.fitness == record.confirmed.fitness, "the same episodes of the same two policies"


def test_lampilots_scores_are_taken_of_all(finished: Path) -> None:
    record = record_of(finished)
    assert record.compatibility is not None
    assert {record.champion, *ROLES[1:], *DRIVERS} <= set(record.compatibility.scores)
    assert all(each.episodes == 12 for each in record.compatibility.scores.values())


def test_each_part_is_written_once_and_before_the_end(finished: Path) -> None:
    found = kinds(finished)
    assert [each for each in found if each in ("replayed", "generalised", "scored", "search_finished")] == [
        "replayed",
        "generalised",
        "scored",
        "search_finished",
    ]
    record = record_of(finished)
    assert SearchRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_the_summary_has_all_of_it(finished: Path) -> None:
    record = record_of(finished)
    summary: dict[str, Any] = json.loads((finished / "summary.json").read_text())
    assert record.replay is not None
    assert summary["finals"]["replay"]["verdict"] == record.replay.sentence()
    assert summary["finals"]["replay"]["episodes"] == 4
    assert len(summary["finals"]["generalisation"]["roads"]) == len(ROADS) + 1
    assert {each["over"] for each in summary["finals"]["generalisation"]["leads"]} >= set(DRIVERS)
    assert "slower" in summary["finals"]["lampilot_compatibility"]
    assert [each["crash_rate"] for each in summary["pareto"]] == sorted(
        each["crash_rate"] for each in summary["pareto"]
    )


def cut(run: Path, copy: Path, before: str) -> Path:
    """Copy a run as it was before the first event of a kind."""
    shutil.copytree(run, copy)
    for file in sorted((copy / "events").iterdir())[kinds(run).index(before) :]:
        file.unlink()
    return copy


def test_a_search_that_was_stopped_here_goes_on_here(finished: Path, tmp_path: Path) -> None:
    run = cut(finished, tmp_path / "run", "generalised")
    assert not record_of(run).finished
    opened(run, plan(), "two").close()
    again, before = record_of(run), record_of(finished)
    assert again.finished
    assert again.generalisation == before.generalisation
    assert kinds(run).count("replayed") == 1


def test_closing_in_the_middle_ends_the_children_and_writes_nothing(finished: Path, tmp_path: Path) -> None:
    run = cut(finished, tmp_path / "run", "replayed")
    coordinator = opened(run, plan(), "two", threads=True)
    assert coordinator.progress().phase == "replaying"
    began = time.monotonic()
    coordinator.close()
    assert time.monotonic() - began < 5
    time.sleep(0.2)
    assert "replayed" not in kinds(run)
    assert not record_of(run).finished


def test_without_replays_nothing_follows(finished: Path, tmp_path: Path) -> None:
    run = cut(finished, tmp_path / "run", "replayed")
    ledger = Ledger(Storage.at(run))
    assert set(Conclusion(plan(), ledger, Storage.at(run)).due()) == {"replay", "matrix", "scores"}
    assert Conclusion(plan(replays=0), ledger, Storage.at(run)).due() == {}
    ledger.close()


def test_a_child_that_cannot_run_is_told_and_holds_nothing_up(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = cut(finished, tmp_path / "run", "replayed")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    ledger = Ledger(Storage.at(run))
    Conclusion(plan(), ledger, Storage.at(run)).replay()
    ledger.close()
    found = record_of(run).replay
    assert found is not None
    assert "could NOT be replayed" in found.sentence()
    assert "/nowhere/python" in found.reason
    assert not found.broken


def test_a_policy_that_went_away_is_told(finished: Path, tmp_path: Path) -> None:
    run = cut(finished, tmp_path / "run", "replayed")
    confirmed = record_of(run).confirmed
    assert confirmed is not None
    (run / policy_file(f"{confirmed.champion}-r0")).unlink()
    ledger = Ledger(Storage.at(run))
    with pytest.raises(RunError, match=r"-r0/policy\.npz is missing"):
        Conclusion(plan(), ledger, Storage.at(run)).replay()
    ledger.close()


def test_a_mismatch_where_the_maths_are_equal_is_refused_with_the_way_to_see_it_again(finished: Path) -> None:
    record = record_of(finished)
    assert record.replay is not None
    record.replay.refuse("runs/x c")
    difference = {"seed": REPORT.first + 3, "kernel": {"native_return": 21.0}, "upstream": {"native_return": 20.5}}
    wrong = type(record.replay).from_json(
        {**record.replay.to_json(), "differing": [difference], "differing_functions": []}
    )
    with pytest.raises(SimulatorMismatchError, match=f"evaluate runs/x c --upstream .*--seed {REPORT.first + 3}"):
        wrong.refuse("runs/x c")
    replace(wrong, differing_functions=("tan",)).refuse("runs/x c")


def test_who_stands_for_whom(finished: Path) -> None:
    record = record_of(finished)
    champion = str(record.champion)
    assert stand_ins(record, champion) == (f"{champion}-r0", f"{champion}-r1")
    assert stand_ins(record, "g00-c99") == ()
    found = entrants(record, Storage.at(finished), champion)
    assert next(iter(found)) == champion
    assert {len(policies) for policies in found.values()} == {2}


def test_a_rival_whose_policy_file_is_gone_is_not_left_out_in_silence(finished: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(finished, damaged)
    (damaged / "candidates" / "ppo-native-r1" / "policy.npz").unlink()
    record = record_of(damaged)
    with pytest.raises(RunError, match=r"ppo-native-r1/policy\.npz is missing"):
        entrants(record, Storage.at(damaged), str(record.champion))
