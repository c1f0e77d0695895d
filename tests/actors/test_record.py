from pathlib import Path
from typing import Any

import pytest

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.journal import SNAPSHOT_EVERY, Event, JournalReader
from actors.ledger import Ledger, replay
from actors.messages import Message
from actors.record import SearchRecord
from actors.storage import Storage
from search_spaces.errors import JournalError
from tests.entries import trained
from tests.searches import delivery, small_plan


def folded(*events: tuple[str, Message | dict[str, Any]], start: float = 0.0) -> SearchRecord:
    record = SearchRecord()
    for number, (kind, data) in enumerate(events):
        plain = data if isinstance(data, dict) else data.to_json()
        event = Event(kind=kind, data=plain, epoch=1, sequence=number, time=start + number)
        record = record.after(event)
    return record


def opened(session: str) -> tuple[str, dict[str, Any]]:
    return "opened", {"session": session}


def test_trials_of_an_earlier_session_are_gone_and_those_of_this_one_are_not() -> None:
    accepted = [("accepted", trained(name).candidate) for name in ("g00-c00", "g00-c01")]
    assigned = ("assigned", {"candidate_id": "g00-c00", "trial_id": "t"})
    again = folded(opened("a"), *accepted, assigned, opened("a"))
    assert again.assigned == {"g00-c00": "t"}
    assert [each.id for each in again.waiting()] == ["g00-c01"]
    resumed = folded(opened("a"), *accepted, assigned, opened("b"))
    assert resumed.assigned == {}
    assert [each.id for each in resumed.waiting()] == ["g00-c00", "g00-c01"]


def test_wall_seconds_leave_out_the_time_between_sessions() -> None:
    record = folded(opened("a"), ("notice", {"text": "x"}), ("notice", {"text": "y"}), start=100.0)
    assert record.wall_s == 2.0
    record = record.after(Event(kind="opened", data={"session": "b"}, epoch=2, sequence=3, time=9000.0))
    record = record.after(Event(kind="notice", data={"text": "z"}, epoch=2, sequence=4, time=9003.0))
    assert record.wall_s == 5.0


def test_tokens_of_replies_and_failures_count() -> None:
    exchange = Exchange(id="g00-a0-p00", purpose="design", generation=0, messages=())
    reply = ChatReply(exchange="g00-a0-p00", text="x", model="m", prompt_tokens=10, completion_tokens=5)
    failure = ChatFailure(exchange="g00-a0-p01", reason="gone", prompt_tokens=3)
    record = folded(("llm_asked", exchange), ("llm_replied", reply), ("llm_failed", failure))
    assert record.tokens == 18
    assert record.replies["g00-a0-p00"].text == "x"
    assert set(record.failures) == {"g00-a0-p01"}


def test_deaths_are_counted_and_free_the_candidate() -> None:
    record = folded(
        opened("a"),
        ("accepted", trained("g00-c00").candidate),
        ("assigned", {"candidate_id": "g00-c00", "trial_id": "t"}),
        ("trial_failed", {"candidate_id": "g00-c00", "trial_id": "t", "reason": "killed", "attempt": 1}),
    )
    assert record.deaths == {"g00-c00": 1}
    assert [each.id for each in record.waiting()] == ["g00-c00"]


def test_a_gap_or_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(JournalError, match="expected event 0, found 1"):
        SearchRecord().after(Event(kind="notice", data={"text": ""}, epoch=1, sequence=1, time=0.0))
    with pytest.raises(JournalError, match="unknown kind 'teleported'"):
        SearchRecord().after(Event(kind="teleported", data={}, epoch=1, sequence=0, time=0.0))


def test_replay_from_a_snapshot_is_replay_from_the_start(tmp_path: Path) -> None:
    ledger = Ledger(Storage.at(tmp_path), clock=lambda: 5.0)
    ledger.write("search_started", {"plan": small_plan().to_json()})
    ledger.write("opened", {"session": "s"})
    for number in range(3):
        entry = trained(f"g00-c{number:02d}")
        ledger.write("accepted", entry.candidate.to_json())
        ledger.write("assigned", {"candidate_id": entry.candidate.id, "trial_id": f"t{number}"})
    ledger.write("delivered", delivery("g00-c00").outcome.to_json())
    ledger.write("judged", {"candidate_id": "g00-c00", "fitness": None})
    while ledger.record.next_sequence < SNAPSHOT_EVERY + 5:
        ledger.write("notice", {"text": f"event {ledger.record.next_sequence}"})
    ledger.close()
    reader = JournalReader(Storage.at(tmp_path))
    assert [each.name for each in (tmp_path / "snapshots").iterdir()] == [f"0001-{SNAPSHOT_EVERY:08d}.json"]
    whole = SearchRecord()
    for event in reader.events_after():
        whole = whole.after(event)
    assert replay(reader) == whole == ledger.record
    # The snapshot is really used: without the events that it holds, the rest still folds.
    again = Ledger(Storage.at(tmp_path))
    assert again.record == whole
    again.close()
