"""Recorded exchanges instead of a model: for demonstrations, and for repeating a search exactly.

A recording is the folder of a run, whose journal holds every exchange, or a folder with one JSON file per exchange,
`<exchange id>.json`, holding either a reply or a failure:

    {"reply": {"exchange": "g00-a0-p00", "text": "...", "model": "...", "prompt_tokens": 812, ...}}
    {"failure": {"exchange": "g00-a0-p01", "code": "LLM_EMPTY", "reason": "..."}}

In a reply only `text` is needed, so that a recording can be written by hand. `write_recording` takes the exchanges out
of a run (`recorded_exchanges`) into such a folder. With either, the same plan and seed design the same programs again.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.journal import JournalReader
from actors.storage import Storage
from search_spaces.errors import ProviderError, UsageError

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LARGEST = 2_000_000
MODEL = "replay"
"""What a recorded reply names as its model when the recording does not say."""


class ReplayProvider:
    """Answers from a recording; see the module's docstring for its formats.

    Args:
        folder: The recording.

    Raises:
        UsageError: No such folder, or no recorded exchange in it.
        JournalError: A run whose journal is damaged.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"--llm replay:{folder}: no such folder")
        self._folder = folder
        self._of_run = recorded_exchanges(folder)
        if not self._of_run and not any(folder.glob("*.json")):
            raise UsageError(
                f"--llm replay:{folder}: holds no recorded exchange; expected a run that asked a model, or files "
                "<exchange id>.json"
            )

    @property
    def model(self) -> str:
        """See `ChatProvider`."""
        return MODEL

    def chat(self, exchange: Exchange) -> ChatReply | ChatFailure:
        """Return what was recorded under the exchange's id; `LLM_UNRECORDED` when nothing was.

        Raises:
            ProviderError: The file is there but is no recorded exchange.
        """
        if exchange.id in self._of_run:
            return self._of_run[exchange.id]
        path = self._folder / f"{exchange.id}.json"
        if not self._of_run and _ID.fullmatch(exchange.id) and path.is_file():
            return _read(path, exchange.id)
        return ChatFailure(
            exchange=exchange.id, code="LLM_UNRECORDED", reason=f"{self._folder} holds no exchange {exchange.id}"
        )

    def close(self) -> None:
        """See `ChatProvider`; there is nothing to release."""


def recorded_exchanges(run: Path) -> dict[str, ChatReply | ChatFailure]:
    """Return what came of every exchange of a run, by exchange id; a reply counts before any failure.

    Args:
        run: The run's folder; one without journal holds none.

    Raises:
        JournalError: The journal is damaged.
    """
    results: dict[str, ChatReply | ChatFailure] = {}
    for event in JournalReader(Storage.at(run)).events_after():
        if event.kind == "llm_replied":
            reply = ChatReply.from_json(event.data)
            results[reply.exchange] = reply
        elif event.kind == "llm_failed":
            failure = ChatFailure.from_json(event.data)
            if not isinstance(results.get(failure.exchange), ChatReply):
                results[failure.exchange] = failure
    return results


def write_recording(folder: Path, results: Iterable[ChatReply | ChatFailure]) -> int:
    """Write exchanges as a recording that `--llm replay:FOLDER` answers from.

    Args:
        folder: Where to; made when missing.
        results: What came of each exchange.

    Returns:
        How many were written.

    Raises:
        UsageError: An exchange id that is no plain file name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for result in results:
        if not _ID.fullmatch(result.exchange):
            raise UsageError(
                f"recording: expected an exchange id of letters, digits, '.', '_', '-', not {result.exchange!r}"
            )
        name = "reply" if isinstance(result, ChatReply) else "failure"
        text = json.dumps({name: result.to_json()}, indent=1, sort_keys=True)
        (folder / f"{result.exchange}.json").write_text(text + "\n", encoding="utf-8")
        count += 1
    return count


def _read(path: Path, exchange_id: str) -> ChatReply | ChatFailure:
    try:
        if path.stat().st_size <= _LARGEST:
            return _result(json.loads(path.read_text(encoding="utf-8")), exchange_id)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ProviderError(f"{path}: no recorded exchange: {error}") from error
    raise ProviderError(f"{path}: no recorded exchange: longer than {_LARGEST} bytes")


def _result(record: dict[str, Any], exchange_id: str) -> ChatReply | ChatFailure:
    if record.keys() == {"failure"}:
        return ChatFailure.from_json({**record["failure"], "exchange": exchange_id})
    if record.keys() == {"reply"}:
        reply = ChatReply.from_json({"model": MODEL, **record["reply"], "exchange": exchange_id})
        if isinstance(reply.text, str):
            return reply
        raise TypeError("text must be a string")
    raise ValueError('expected {"reply": {...}} or {"failure": {...}}')
