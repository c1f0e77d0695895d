from dataclasses import replace
from pathlib import Path

import pytest

from actors import fitness, measurement
from actors.coordinator import Coordinator
from actors.journal import JournalReader
from actors.ledger import Ledger, replay
from actors.measurement import measurement_digest
from actors.storage import Storage
from orchestrator.search import resumed
from search_spaces import scenarios
from search_spaces.errors import RunError
from search_spaces.scenarios import REPORT
from tests.searches import small_plan


def test_other_episodes_and_another_fitness_have_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    here = measurement_digest()
    monkeypatch.setattr(measurement, "CONSTANTS", replace(fitness.CONSTANTS, gate_centre=0.3))
    other_fitness = measurement_digest()
    monkeypatch.undo()
    moved = {**scenarios.SEED_SETS, "report": replace(REPORT, first=REPORT.first + 1)}
    monkeypatch.setattr(scenarios, "SEED_SETS", moved)
    assert len({here, other_fitness, measurement_digest()}) == 3
    monkeypatch.undo()
    assert measurement_digest() == here


def begun(location: Path, **said: str) -> None:
    ledger = Ledger(Storage.at(location))
    ledger.write("search_started", {"plan": small_plan().to_json(), **said})
    ledger.close()


def test_a_search_that_was_measured_otherwise_is_not_gone_on_with(tmp_path: Path) -> None:
    begun(tmp_path, measurement="0" * 64)
    before = [each.read_bytes() for each in sorted(tmp_path.rglob("*")) if each.is_file()]
    with pytest.raises(RunError, match="was begun by a release that measures otherwise"):
        resumed(str(tmp_path))
    for _ in range(2):  # the second would find the run locked, had the first kept its lease
        with pytest.raises(RunError, match="other episodes or another fitness"):
            Coordinator(str(tmp_path), small_plan(), session="s", threads=False)
    assert [each.read_bytes() for each in sorted(tmp_path.rglob("*")) if each.is_file()][: len(before)] == before


def test_one_that_says_nothing_or_the_same_is(tmp_path: Path) -> None:
    begun(tmp_path / "old")
    begun(tmp_path / "same", measurement=measurement_digest())
    assert resumed(str(tmp_path / "old")).plan == resumed(str(tmp_path / "same")).plan == small_plan()


def test_a_new_search_writes_what_it_is_measured_with(tmp_path: Path) -> None:
    coordinator = Coordinator(str(tmp_path), small_plan(), session="s", threads=False)
    coordinator.close()
    assert replay(JournalReader(Storage.at(tmp_path))).measurement == measurement_digest()
