"""A model behind HTTP designs generations that pass language, gate and screen; its replies repeat them exactly."""

import json
import shutil
from pathlib import Path

import pytest

from actors.journal import JournalReader
from actors.keys import Credentials, Secret
from actors.ledger import Ledger, replay
from actors.messages import Candidate
from actors.plan import LLMSettings, SearchPlan
from actors.record import SearchRecord
from actors.storage import Storage
from actors.studio import Studio
from tests.groq_server import GroqServer, SearchScript

KEY = "gsk_" + "s3cr3t" * 6


def designed(run: Path, spec: str, base_url: str | None = None, generations: int = 2) -> list[Candidate]:
    """Design generations in a run folder, or what is missing of them; nothing is trained."""
    ledger = Ledger(Storage.at(run))
    if ledger.record.plan is None:
        plan = SearchPlan(search_id="s", population=4, generations=2, llm=LLMSettings(spec=spec, timeout_s=10.0))
        ledger.write("search_started", {"plan": plan.to_json()})
    assert ledger.record.plan is not None
    credentials = Credentials((Secret(KEY),), base_url) if base_url else Credentials()
    studio = Studio(ledger.record.plan, ledger, Storage.at(run), credentials)
    try:
        for generation in range(generations):
            studio.design(generation)
        return candidates_of(ledger.record)
    finally:
        studio.close()
        ledger.close()


def candidates_of(record: SearchRecord) -> list[Candidate]:
    return [entry.candidate for entry in record.archive.entries()]


def record_of(run: Path) -> SearchRecord:
    return replay(JournalReader(Storage.at(run)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search") / "run"
    with GroqServer(SearchScript("10ms")) as server:
        designed(folder, "groq:m", server.url)
        assert {received.authorization for received in server.received} == {f"Bearer {KEY}"}
    return folder


def test_every_candidate_comes_from_the_model(run: Path) -> None:
    record = record_of(run)
    candidates = candidates_of(record)
    assert len({candidate.digest for candidate in candidates}) == 8
    assert {candidate.origin for candidate in candidates} == {"llm"}
    assert all(candidate.exchange in record.replies for candidate in candidates)
    assert {exchange[:3] for exchange in record.replies} == {"g00", "g01"}
    assert any(exchange.endswith("-r1") for exchange in record.replies)
    assert record.notices == ()
    assert record.tokens > 0


def test_no_reply_is_bought_again_after_a_kill(run: Path, tmp_path: Path) -> None:
    events = sorted((run / "events").iterdir())
    accepted = [path for path in events if json.loads(path.read_text())["kind"] == "accepted"]
    for name, last in (("replies only", accepted[0]), ("two of four", accepted[2])):
        killed = tmp_path / name
        (killed / "events").mkdir(parents=True)
        for path in events[: events.index(last)]:
            shutil.copy(path, killed / "events")
        with GroqServer([]) as server:
            assert designed(killed, "groq:m", server.url, generations=1) == candidates_of(record_of(run))[:4]
        assert server.received == []


def test_a_replay_designs_the_same_candidates_and_refusals(run: Path, tmp_path: Path) -> None:
    assert designed(tmp_path / "again", f"replay:{run}") == candidates_of(record_of(run))
    assert record_of(tmp_path / "again").archive.refusals == record_of(run).archive.refusals


def test_the_key_is_nowhere_on_disk(run: Path) -> None:
    files = [path for path in run.rglob("*") if path.is_file()]
    assert len(files) > 16
    assert not any(KEY.encode() in path.read_bytes() for path in files)
