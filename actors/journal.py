"""The truth of a run: append-only events, one immutable JSON object each.

    events/<epoch, 4 digits>-<sequence, 8 digits>.json
    snapshots/<epoch>-<sequence>.json       the folded state before event <sequence>

The sequence counts through the whole run, the epoch grows by one with each writer. Where a later epoch begins at
sequence n, an event n or above of an earlier epoch comes from a writer that did not know it was dead, and counts for
nothing. A writer that was killed may leave its last object unfinished; anywhere else an unfinished object is damage.
"""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from actors.lock import lock_run
from actors.message import Message
from actors.storage import Storage
from search_spaces.errors import JournalError

SNAPSHOT_EVERY = 1000
"""Events between two snapshots."""

_NAME = re.compile(r"(\d{4,})-(\d{8})\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Message):
    """Something that happened, for good.

    Attributes:
        kind: What happened; `record.py` lists the kinds and folds them.
        data: Its details.
        epoch: Which writer wrote it, from 1.
        sequence: Its place in the run, from 0 without gaps.
        time: When, seconds since 1970 UTC.
    """

    kind: str
    data: Mapping[str, Any]
    epoch: int
    sequence: int
    time: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The folded state before event `sequence`."""

    sequence: int
    state: Mapping[str, Any]


class JournalReader:
    """Reads a journal without its lock, also while it is being written.

    Args:
        storage: The run's folder.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def events_after(self, sequence: int = -1) -> list[Event]:
        """Return the events that follow event `sequence` (-1: all), in order.

        Raises:
            JournalError: An event is missing or damaged.
        """
        wanted = [each for each in self._valid_names() if each[1] > sequence]
        events: list[Event] = []
        for place, (epoch, number) in enumerate(wanted):
            event = self._event(epoch, number, last=place == len(wanted) - 1)
            if event is not None:
                events.append(event)
        return events

    def snapshot(self) -> Snapshot | None:
        """Return the newest snapshot; None when there is none.

        Raises:
            JournalError: It is damaged.
        """
        names = self._storage.names("snapshots")
        count = len(self._valid_names())
        usable = [name for name in names if _parsed(name)[1] <= count]
        if not usable:
            return None
        name = f"snapshots/{usable[-1]}"
        data = self._storage.read(name) or b""
        try:
            return Snapshot(_parsed(usable[-1])[1], json.loads(data))
        except ValueError as error:
            raise JournalError(
                f"{self._storage.root}/{name}: {error}; delete it, and all events are replayed"
            ) from error

    def last_epoch(self) -> int:
        """Return the epoch of the last writer; 0 before the first."""
        return max((_parsed(name)[0] for name in self._storage.names("events")), default=0)

    def _valid_names(self) -> list[tuple[int, int]]:
        """Return (epoch, sequence) of the events that count; checks that none is missing."""
        written = sorted(_parsed(name) for name in self._storage.names("events"))
        first_of = dict(reversed(written))
        valid: list[tuple[int, int]] = []
        limit = None
        for epoch in sorted(first_of, reverse=True):
            mine = [each for each in written if each[0] == epoch and (limit is None or each[1] < limit)]
            valid = mine + valid
            limit = first_of[epoch] if limit is None else min(limit, first_of[epoch])
        for expected, (epoch, sequence) in enumerate(valid):
            if sequence != expected:
                raise JournalError(
                    f"{self._storage.root}/events: expected event {expected}, found {sequence} (epoch {epoch}); "
                    "an event is missing: restore the folder from a copy"
                )
        return valid

    def _event(self, epoch: int, sequence: int, *, last: bool) -> Event | None:
        name = f"events/{epoch:04d}-{sequence:08d}.json"
        data = self._storage.read(name) or b""
        try:
            return Event.from_json(json.loads(data))
        except (ValueError, TypeError) as error:
            if last:
                return None
            raise JournalError(f"{self._storage.root}/{name}: {error}; restore it from a copy") from error


class Journal(JournalReader):
    """Writes a journal; only one may be open for a run at a time.

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
        super().__init__(storage)
        self._lock = lock_run(storage, take_over=take_over, wait_s=wait_s)
        self._clock = clock
        self.epoch = self.last_epoch() + 1
        names = self._valid_names()
        whole = not names or self._event(*names[-1], last=True) is not None
        self.next_sequence = len(names) if whole else len(names) - 1

    def append(self, kind: str, data: Mapping[str, Any]) -> Event:
        """Write one event and return it once it is durable.

        Raises:
            JournalError: The data hold NaN or infinity, or the storage fails.
            RunLockedError: Another writer has taken over.
        """
        event = Event(kind=kind, data=data, epoch=self.epoch, sequence=self.next_sequence, time=self._clock())
        name = f"events/{self.epoch:04d}-{self.next_sequence:08d}.json"
        self._lock.check()
        try:
            self._storage.write(name, _encoded(event.to_json()))
        except (ValueError, OSError) as error:
            raise JournalError(f"{self._storage.root}/{name}: cannot write {kind}: {error}") from error
        self.next_sequence += 1
        return event

    def write_snapshot(self, state: Mapping[str, Any]) -> None:
        """Store the state that all events so far fold to.

        Raises:
            JournalError: See `append`.
        """
        name = f"snapshots/{self.epoch:04d}-{self.next_sequence:08d}.json"
        self._lock.check()
        try:
            self._storage.write(name, _encoded(state))
        except (ValueError, OSError) as error:
            raise JournalError(f"{self._storage.root}/{name}: cannot write: {error}") from error

    def close(self) -> None:
        """Let another writer have the run."""
        self._lock.release()


def _parsed(name: str) -> tuple[int, int]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise JournalError(f"{name}: not a name of an event (<epoch>-<sequence>.json); move it out of the folder")
    return int(match[1]), int(match[2])


def _encoded(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
