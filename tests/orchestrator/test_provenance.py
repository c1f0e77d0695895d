from datetime import UTC, datetime
from pathlib import Path

import pytest

from actors.storage import Storage
from orchestrator.provenance import PROVENANCE_NAME, note_session, sessions

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_each_start_is_added(tmp_path: Path) -> None:
    storage = Storage.at(tmp_path)
    note_session(storage, ["--population", "4"], NOW)
    note_session(storage, ["--resume", "runs/a b"], NOW)
    assert [each.command for each in sessions(storage)] == [
        "orchestrate --population 4",
        "orchestrate --resume 'runs/a b'",
    ]
    assert sessions(storage)[0].started == "2026-01-02T03:04:05+00:00"


@pytest.mark.parametrize("content", [b"", b'[{"started": "2026', b"{}", b'[{"unknown": 1}]', b"[3]", b"\xff\xfe"])
def test_a_damaged_file_is_set_aside_and_not_overwritten(tmp_path: Path, content: bytes) -> None:
    storage = Storage.at(tmp_path)
    storage.write(PROVENANCE_NAME, content)
    assert sessions(storage) == ()
    note_session(storage, [], NOW)
    assert storage.read("provenance.damaged") == content
    assert len(sessions(storage)) == 1
