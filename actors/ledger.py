"""The journal and what it folds to, for several threads of one process."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.journal import SNAPSHOT_EVERY, Event, Journal, JournalReader
from actors.record import SearchRecord
from actors.storage import Storage


def replay(reader: JournalReader) -> SearchRecord:
    """Fold a journal, from its newest snapshot on.

    Raises:
        JournalError: The journal is damaged.
    """
    snapshot = reader.snapshot()
    record = SearchRecord() if snapshot is None else SearchRecord.from_json(snapshot.state)
    for event in reader.events_after(record.next_sequence - 1):
        record = record.after(event)
    return record


class Ledger:
    """Writes events and folds each at once. Also the log of LLM exchanges (`exchanges.ExchangeLog`).

    Args:
        storage: The run's folder.
        take_over: See `lock.lock_run`.
        wait_s: See `lock.lock_run`.
        clock: Seconds since 1970 UTC.

    Raises:
        RunLockedError: Another writer holds the run.
        JournalError: The journal is damaged.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        take_over: bool = False,
        wait_s: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._journal = Journal(storage, take_over=take_over, wait_s=wait_s, clock=clock)
        self._lock = threading.Lock()
        self.record = replay(self._journal)

    def write(self, kind: str, data: Mapping[str, Any]) -> Event:
        """Write one event; it is durable and folded when this returns.

        Raises:
            JournalError: See `Journal.append`.
        """
        with self._lock:
            event = self._journal.append(kind, data)
            self.record = self.record.after(event)
            if self.record.next_sequence % SNAPSHOT_EVERY == 0:
                self._journal.write_snapshot(self.record.to_json())
            return event

    def close(self) -> None:
        """Let another writer have the run."""
        with self._lock:
            self._journal.close()

    def find(self, exchange_id: str) -> ChatReply | ChatFailure | None:
        """See `ExchangeLog`."""
        record = self.record
        return record.replies.get(exchange_id) or record.failures.get(exchange_id)

    def settled(self, exchange: Exchange) -> bool:
        """See `ExchangeLog`: a generation that has candidates is designed again just as it was."""
        return exchange.purpose != "critique" and bool(self.record.archive.entries(exchange.generation))

    def asked(self, exchange: Exchange) -> None:
        """See `ExchangeLog`."""
        self.write("llm_asked", exchange.to_json())

    def replied(self, reply: ChatReply) -> None:
        """See `ExchangeLog`."""
        self.write("llm_replied", reply.to_json())

    def failed(self, failure: ChatFailure) -> None:
        """See `ExchangeLog`."""
        self.write("llm_failed", failure.to_json())

    def tokens_spent(self) -> int:
        """See `ExchangeLog`."""
        return self.record.tokens
