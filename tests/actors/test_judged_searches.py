"""What a search keeps of single episodes: judgements with intervals, for candidates and baselines alike."""

import json
from pathlib import Path
from typing import Any

import pytest

from actors.comparison import intervals, judge
from actors.coordinator import Coordinator
from actors.storage import Storage
from driving.drivers import DRIVERS
from driving.episodes import from_parquet
from tests.searches import driven, finish, opened, small_plan

TRAINED = ("ppo-native", "ppo-hand-tuned")


def searched(run: Path, **how: Any) -> Coordinator:
    coordinator = opened(run, small_plan(population=2, generations=1, held_out=40))
    finish(coordinator, **how)
    coordinator.close()
    return coordinator


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Coordinator]:
    run = tmp_path_factory.mktemp("run")
    return run, searched(run, deliver=driven)


def test_everyone_is_judged_from_the_episodes_that_are_kept(finished: tuple[Path, Coordinator]) -> None:
    run, coordinator = finished
    archive, scenario = coordinator.record.archive, small_plan().scenario
    files = {name: f"candidates/{name}/episodes.parquet" for name in archive.candidates}
    files |= {name: f"baselines/{name}.parquet" for name in DRIVERS}
    judged = {**archive.fitnesses, **{name: each.fitness for name, each in archive.baselines.items()}}
    assert set(files) == set(judged) == set(archive.intervals)
    assert set(TRAINED) < set(judged)
    for name, file in files.items():
        content = Storage.at(run).read(file)
        assert content is not None, name
        table = from_parquet(content)
        trained = name not in DRIVERS
        assert judged[name] == judge([table], scenario, trained=trained), name
        assert archive.intervals[name] == intervals([table], scenario, trained=trained), name


def test_the_summary_has_every_interval(finished: tuple[Path, Coordinator]) -> None:
    run, coordinator = finished
    summary = json.loads((run / "summary.json").read_text())
    told = {each["id"]: each["intervals"] for each in summary["generations"][0]["candidates"]}
    told |= {name: each["intervals"] for name, each in summary["baselines"].items()}
    kept = coordinator.record.archive.intervals
    assert told == {name: {measure: list(ends) for measure, ends in found.items()} for name, found in kept.items()}
    assert "crash_rate" in told["slower"]


def test_candidates_rank_by_the_lower_end(finished: tuple[Path, Coordinator]) -> None:
    ranked = finished[1].record.archive.ranked()
    lows = [each.fitness.low for each in ranked if each.fitness]
    assert None not in lows
    assert lows == sorted(lows, key=lambda low: -(low or 0.0))
    assert finished[1].record.champion == ranked[0].candidate.id


def test_intervals_are_read_again_from_the_journal(finished: tuple[Path, Coordinator]) -> None:
    run, coordinator = finished
    reopened = opened(run, coordinator.record.plan, "two")
    assert reopened.record.archive == coordinator.record.archive
    journal = reopened.record
    reopened.close()
    assert journal.archive.intervals == coordinator.record.archive.intervals


def test_a_run_without_single_episodes_is_judged_without_intervals(tmp_path: Path) -> None:
    archive = searched(tmp_path / "run").record.archive
    assert len(archive.ranked()) == 2
    for entry in archive.ranked():
        assert entry.fitness is not None
        assert entry.fitness.low is entry.fitness.high is None
        assert archive.intervals[entry.candidate.id] == {}
    values = [each.fitness.value for each in archive.ranked() if each.fitness]
    assert values == sorted(values, reverse=True)
    assert archive.intervals["ppo-native"] == {}
    assert archive.intervals["slower"]
