import json
from dataclasses import replace
from pathlib import Path

import pytest

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.journal import Journal
from actors.replay import ReplayProvider, recorded_exchanges, write_recording
from actors.storage import Storage
from search_spaces.errors import ProviderError, UsageError

REPLY = ChatReply(
    exchange="g00-a0-p00",
    text="hello \u4e2d",
    model="m",
    prompt_tokens=7,
    completion_tokens=3,
    wall_s=1.5,
    finish="length",
)
FAILURE = ChatFailure(exchange="g00-a0-p01", code="LLM_TOO_LARGE", reason="too large", limit_tokens=6000)


def asked(identity: str) -> Exchange:
    return Exchange(id=identity, purpose="design", generation=0, messages=())


def test_repeats_replies_and_failures_exactly(tmp_path: Path) -> None:
    assert write_recording(tmp_path / "new" / "folder", [REPLY, FAILURE]) == 2
    provider = ReplayProvider(tmp_path / "new" / "folder")
    for _ in range(2):
        assert provider.chat(asked("g00-a0-p00")) == REPLY
        assert provider.chat(asked("g00-a0-p01")) == FAILURE


def test_a_run_is_a_recording(tmp_path: Path) -> None:
    journal = Journal(Storage.at(tmp_path / "run"))
    journal.append("notice", {"text": "started"})
    for failed in (replace(FAILURE, code="LLM_RATE"), FAILURE, replace(FAILURE, exchange=REPLY.exchange)):
        journal.append("llm_failed", failed.to_json())
    journal.append("llm_replied", REPLY.to_json())
    journal.append("llm_failed", replace(FAILURE, exchange=REPLY.exchange).to_json())
    journal.close()
    provider = ReplayProvider(tmp_path / "run")
    assert provider.chat(asked("g00-a0-p00")) == REPLY
    assert provider.chat(asked("g00-a0-p01")) == FAILURE
    assert isinstance(provider.chat(asked("config")), ChatFailure)
    assert write_recording(tmp_path / "taken", recorded_exchanges(tmp_path / "run").values()) == 2
    assert ReplayProvider(tmp_path / "taken").chat(asked("g00-a0-p00")) == REPLY


def test_what_was_not_recorded_is_a_failure(tmp_path: Path) -> None:
    write_recording(tmp_path, [REPLY])
    result = ReplayProvider(tmp_path).chat(asked("g01-a0-p00"))
    assert isinstance(result, ChatFailure)
    assert result.code == "LLM_UNRECORDED"


def test_a_recording_can_be_written_by_hand(tmp_path: Path) -> None:
    (tmp_path / "g00-a0-p00.json").write_text('{"reply": {"text": "hi"}}')
    assert ReplayProvider(tmp_path).chat(asked("g00-a0-p00")) == ChatReply(
        exchange="g00-a0-p00", text="hi", model="replay"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"reply": 3}',
        '{"reply": {}}',
        '{"reply": {"text": null}}',
        '{"reply": {"text": "a", "b": 1}}',
        '{"reply": {"text": "a"}, "failure": {"reason": "b"}}',
        '{"other": {}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_recording_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g00-a0-p00.json"
    path.write_text(text)
    with pytest.raises(ProviderError, match=r"g00-a0-p00\.json: no recorded exchange"):
        ReplayProvider(tmp_path).chat(asked("g00-a0-p00"))


def test_an_exchange_id_never_leaves_the_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.json").write_text(json.dumps({"reply": {"text": "secret"}}))
    write_recording(tmp_path / "inner", [REPLY])
    result = ReplayProvider(tmp_path / "inner").chat(asked("../secret"))
    assert isinstance(result, ChatFailure)
    with pytest.raises(UsageError, match="exchange id"):
        write_recording(tmp_path, [ChatReply(exchange="../x", text="", model="m")])


def test_refuses_a_folder_without_recording(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        ReplayProvider(tmp_path / "none")
    with pytest.raises(UsageError, match="no recorded exchange"):
        ReplayProvider(tmp_path)
