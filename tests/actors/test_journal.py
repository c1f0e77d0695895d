import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import fs

from actors import lock
from actors.journal import Event, Journal, JournalReader
from actors.storage import Storage
from search_spaces.errors import JournalError, RunLockedError

DATA = [{"n": 0}, {"text": "ein Satz mit Umlaut: ä"}, {"deep": [{"x": 1.5}, None, True]}, {}, {"n": 4}]


def written(root: Path, count: int = 5) -> list[Event]:
    journal = Journal(Storage.at(root), clock=lambda: 1.5e9)
    events = [journal.append(f"kind{number}", DATA[number % len(DATA)]) for number in range(count)]
    journal.close()
    return events


def names(root: Path) -> list[str]:
    return sorted(each.name for each in (root / "events").iterdir())


def test_events_come_back_in_order_and_after_any_of_them(tmp_path: Path) -> None:
    events = written(tmp_path)
    reader = JournalReader(Storage.at(tmp_path))
    assert reader.events_after() == events
    assert reader.events_after(2) == events[3:]
    assert reader.events_after(4) == []
    assert names(tmp_path)[0] == "0001-00000000.json"


def test_an_empty_folder_is_an_empty_journal(tmp_path: Path) -> None:
    assert JournalReader(Storage.at(tmp_path)).events_after() == []
    assert JournalReader(Storage.at(tmp_path)).snapshot() is None


def test_each_writer_gets_the_next_epoch_and_the_sequence_goes_on(tmp_path: Path) -> None:
    for number in range(12):
        journal = Journal(Storage.at(tmp_path))
        assert (journal.epoch, journal.next_sequence) == (number + 1, number)
        journal.append("opened", {})
        journal.close()
    assert [each.epoch for each in JournalReader(Storage.at(tmp_path)).events_after()] == list(range(1, 13))


@settings(max_examples=60)
@given(data=st.data())
def test_cut_at_any_byte_it_replays_to_a_clean_prefix_and_goes_on(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("cut")
    events = written(root, 4) + written(root, 3)
    files = names(root)
    kept = data.draw(st.integers(0, len(files)), label="whole objects")
    for name in files[kept:]:
        content = (root / "events" / name).read_bytes()
        (root / "events" / name).unlink()
        if name == files[kept]:
            cut = data.draw(st.integers(0, len(content)), label="bytes of the next")
            (root / "events" / name).write_bytes(content[:cut])
    found = JournalReader(Storage.at(root)).events_after()
    assert found == events[: len(found)]
    assert len(found) in (kept, kept + 1)
    journal = Journal(Storage.at(root))
    added = journal.append("after", {})
    journal.close()
    assert JournalReader(Storage.at(root)).events_after() == [*found, added]


def test_a_missing_or_damaged_event_in_the_middle_is_an_error(tmp_path: Path) -> None:
    written(tmp_path)
    middle = tmp_path / "events" / names(tmp_path)[2]
    content = middle.read_text()
    middle.write_text(content[:10])
    with pytest.raises(JournalError, match="0001-00000002"):
        JournalReader(Storage.at(tmp_path)).events_after()
    middle.unlink()
    with pytest.raises(JournalError, match="expected event 2, found 3"):
        JournalReader(Storage.at(tmp_path)).events_after()


def test_events_of_a_writer_that_did_not_know_it_was_dead_count_for_nothing(tmp_path: Path) -> None:
    events = written(tmp_path, 3)
    later = Journal(Storage.at(tmp_path))
    events.append(later.append("opened", {}))
    later.close()
    for number in (3, 4):
        stale = Event(kind="stale", data={}, epoch=1, sequence=number, time=0.0)
        (tmp_path / "events" / f"0001-{number:08d}.json").write_text(json.dumps(stale.to_json()))
    assert JournalReader(Storage.at(tmp_path)).events_after() == events


def test_a_foreign_file_is_named(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "events" / "notes.txt").write_text("x")
    with pytest.raises(JournalError, match=r"notes\.txt"):
        JournalReader(Storage.at(tmp_path)).events_after()


def test_a_temporary_file_of_a_killed_writer_is_no_event(tmp_path: Path) -> None:
    events = written(tmp_path)
    (tmp_path / "events" / ".0001-00000005.json.abc").write_text("{")
    assert JournalReader(Storage.at(tmp_path)).events_after() == events


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_nan_is_refused_and_leaves_no_gap(tmp_path: Path, number: float) -> None:
    journal = Journal(Storage.at(tmp_path))
    with pytest.raises(JournalError, match="cannot write judged"):
        journal.append("judged", {"value": number})
    event = journal.append("judged", {"value": 1.0})
    journal.close()
    assert JournalReader(Storage.at(tmp_path)).events_after() == [event]


def test_the_newest_snapshot_that_the_events_reach_is_used(tmp_path: Path) -> None:
    journal = Journal(Storage.at(tmp_path))
    journal.append("a", {})
    journal.write_snapshot({"count": 1})
    journal.append("b", {})
    journal.write_snapshot({"count": 2})
    journal.close()
    reader = JournalReader(Storage.at(tmp_path))
    found = reader.snapshot()
    assert found is not None
    assert (found.sequence, found.state) == (2, {"count": 2})
    (tmp_path / "events" / "0001-00000001.json").unlink()
    found = reader.snapshot()
    assert found is not None
    assert (found.sequence, found.state) == (1, {"count": 1})


def _hold(root: str, ready: "multiprocessing.synchronize.Event") -> None:
    journal = Journal(Storage.at(root))
    ready.set()
    time.sleep(100)
    journal.close()


def test_one_writer_at_a_time_and_a_killed_one_leaves_nothing_locked(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(str(tmp_path), ready), daemon=True)
    holder.start()
    assert ready.wait(60)
    with pytest.raises(RunLockedError, match=f"process {holder.pid}"):
        Journal(Storage.at(tmp_path))
    assert JournalReader(Storage.at(tmp_path)).events_after() == []
    assert holder.pid is not None
    os.kill(holder.pid, 9)
    Journal(Storage.at(tmp_path), wait_s=10).close()
    holder.join()


def test_an_object_store_holds_a_journal_too() -> None:
    storage = Storage(fs._MockFileSystem(), "bucket/run")
    journal = Journal(storage)
    events = [journal.append("a", {"x": 1}), journal.append("b", {})]
    with pytest.raises(RunLockedError, match="seen 0 s ago"):
        Journal(storage)
    journal.close()
    again = Journal(storage)
    assert again.epoch == 2
    events.append(again.append("c", {}))
    again.close()
    assert JournalReader(storage).events_after() == events
    assert storage.read("nowhere") is None


def test_an_abandoned_lease_is_taken_over_on_request_only_and_its_owner_stops() -> None:
    storage = Storage(fs._MockFileSystem(), "bucket/run")
    old = Journal(storage)
    lease = json.loads(storage.read(lock.LEASE_NAME) or b"")
    storage.write(lock.LEASE_NAME, json.dumps({**lease, "time": lease["time"] - lock.LEASE_S - 1}).encode())
    with pytest.raises(RunLockedError, match="--take-over"):
        Journal(storage)
    new = Journal(storage, take_over=True)
    new.append("opened", {})
    with pytest.raises(RunLockedError, match="taken over"):
        old.append("late", {})
    old.close()
    new.append("more", {})
    new.close()
    assert [each.kind for each in JournalReader(storage).events_after()] == ["opened", "more"]
