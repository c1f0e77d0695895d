"""One writer per run: `flock` on a local disk, a lease with a heartbeat in an object store."""

import fcntl
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TextIO

from actors.storage import Storage
from search_spaces.errors import RunLockedError

HEARTBEAT_S = 10.0
"""Seconds between two renewals of a lease."""
LEASE_S = 60.0
"""Age, s, at which a lease counts as abandoned."""
LEASE_NAME = "lease.json"
LOCK_NAME = "lock"


class WriterLock(Protocol):
    """The right to write a run."""

    def check(self) -> None:
        """Raise `RunLockedError` when another writer has taken over, or after `release`."""
        ...

    def release(self) -> None:
        """Give the right back; releasing twice is harmless."""
        ...


def lock_run(storage: Storage, *, take_over: bool = False, wait_s: float = 0.0) -> WriterLock:
    """Become the only writer of a run.

    Args:
        storage: The run's folder.
        take_over: Whether an abandoned lease in an object store may be taken. A local lock needs no such word: the
            operating system frees it with the process that held it.
        wait_s: How long to wait for a local lock, s; a killed coordinator may take a moment to die.

    Raises:
        RunLockedError: Another writer holds the run, or has left its lease there.
    """
    if storage.local_root is not None:
        return _FileLock(storage.local_root / LOCK_NAME, wait_s)
    return _Lease(storage, take_over=take_over)


class _FileLock:
    def __init__(self, path: Path, wait_s: float) -> None:
        self._folder = path.parent
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO | None = path.open("a+")
        deadline = time.monotonic() + wait_s
        while not _try_flock(self._file):
            if time.monotonic() >= deadline:
                self._file.seek(0)
                holder = self._file.read().strip() or "an unknown process"
                self._file.close()
                raise RunLockedError(f"{path.parent} is being written by {holder}; stop it, or wait until it ends")
            time.sleep(0.1)
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        self._file.flush()

    def check(self) -> None:
        if self._file is None:
            raise RunLockedError(f"{self._folder}: this writer has closed the run; it must not write any more")

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _try_flock(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _Lease:
    """An object that names its owner and is renewed while the owner lives.

    A store without conditional writes cannot exclude two owners that start in the same second; each reads its lease
    back after writing it, so that the later one wins and the earlier one stops at its next event.
    """

    def __init__(self, storage: Storage, *, take_over: bool, clock: Callable[[], float] = time.time) -> None:
        self._storage, self._clock = storage, clock
        self._owner = uuid.uuid4().hex
        found = self._read()
        if found is not None:
            age = clock() - float(found["time"])
            who = f"process {found['process']} on {found['host']}"
            if age < LEASE_S:
                raise RunLockedError(f"{storage.root} is being written by {who}, seen {age:.0f} s ago; stop it first")
            if not take_over:
                raise RunLockedError(
                    f"{storage.root} was left by {who} {age:.0f} s ago without a word; "
                    "if it is gone for good, go on with --take-over"
                )
        self._renew()
        self._stop = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="lease", daemon=True)
        self._heart.start()

    def _read(self) -> dict[str, Any] | None:
        data = self._storage.read(LEASE_NAME)
        return None if data is None else json.loads(data)

    def _renew(self) -> None:
        lease = {"owner": self._owner, "time": self._clock(), "process": os.getpid(), "host": socket.gethostname()}
        self._storage.write(LEASE_NAME, json.dumps(lease).encode())

    def _beat(self) -> None:
        while not self._stop.wait(HEARTBEAT_S):
            found = self._read()
            if found is None or found["owner"] != self._owner:
                return
            self._renew()

    def check(self) -> None:
        found = self._read()
        if found is None or found["owner"] != self._owner:
            raise RunLockedError(f"{self._storage.root}: another writer has taken over; this one stops")

    def release(self) -> None:
        if self._stop.is_set():
            return
        self._stop.set()
        self._heart.join()
        found = self._read()
        if found is not None and found["owner"] == self._owner:
            self._storage.remove(LEASE_NAME)
