"""Tracking: a thread of the driver that follows the journal and mirrors it to MLflow.

The journal is the truth and also the spool. An event that cannot be written now is written later: by this thread, by
`orchestrate --resume`, or by `orchestrate ui`. How far a store has come, it says itself (`mirror.POSITION`).
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from actors.journal import JournalReader
from actors.storage import Storage
from orchestrator.mirror import Mirror
from orchestrator.report.attach import attach_report
from orchestrator.tracking import Store, store_uri

_POLL_S = 0.5
_POLL_REMOTE_S = 3.0
_LONGEST_WAIT_S = 30.0
_TRIES = 5
"""Attempts at an event that a store refuses while it answers otherwise."""


class Follower:
    """Mirrors one run's journal to the store that runs under `root` share, until it is closed.

    A store that fails never stops a search: the failure is said once, writing is tried again with growing waits, and
    what is missing in the end is counted.

    Args:
        files: The run's folder.
        root: Folder that holds the runs.
        say: Takes a sentence for the user; called from the thread.
    """

    def __init__(self, files: Storage, root: Path, say: Callable[[str], None]) -> None:
        self._files = files
        self._root = root
        self._say = say
        self._journal = JournalReader(files)
        self._store: Store | None = None
        self._mirror: Mirror | None = None
        self._folded = -1
        self._written = -1
        self._complaint = ""
        self._tries = 0
        self._poll_s = _POLL_S if files.local_root is not None else _POLL_REMOTE_S
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tracking", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self, patience_s: float = 60.0) -> int:
        """Write what is left, mark what was interrupted, and stop.

        Args:
            patience_s: How long to wait for the store, s.

        Returns:
            Events that are not in the store.
        """
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join(patience_s)
        left = len(self._journal.events_after(self._written))
        if left:
            self._say(
                f"{left} events are not in MLflow ({store_uri(self._root)}): {self._complaint or 'it is too slow'}. "
                "Nothing is lost; `orchestrate ui` writes them from the journal"
            )
        return left

    def _run(self) -> None:
        wait_s = self._poll_s
        while True:
            last = self._closing.is_set()
            try:
                self._advance()
                if last and self._mirror is not None and self._store is not None:
                    self._mirror.interrupt(int(time.time() * 1000))
                    attach_report(self._store, self._files)
                wait_s = self._poll_s
            # Whatever a store raises (mlflow lets SQLAlchemy, HTTP and OS errors through), the search goes on.
            except Exception as error:  # noqa: BLE001
                again = self._complain(error)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
                if last and again:
                    continue
            if last:
                return
            self._closing.wait(wait_s)

    def _advance(self) -> None:
        """Write the events that have come since."""
        if self._mirror is None:
            self._store = Store(self._root)
            self._mirror = Mirror(self._store, self._files)
        for event in self._journal.events_after(self._written):
            if event.sequence > self._folded:
                self._mirror.fold(event)
                self._folded = event.sequence
            self._mirror.write(event)
            self._written, self._tries = event.sequence, 0
        if self._complaint:
            self._complaint = ""
            self._say("tracking: MLflow has caught up")

    def _complain(self, error: Exception) -> bool:
        """Say what went wrong, once; give up on an event that fails while the store answers.

        Returns:
            Whether to try again at once.
        """
        if not self._complaint:
            self._say(f"tracking: {type(error).__name__}: {error}. The search goes on; tracking tries again")
        self._complaint = str(error)
        if self._store is None or self._folded == self._written or not self._store.answers():
            return False
        self._tries += 1
        if self._tries >= _TRIES:
            self._say(f"tracking: event {self._folded} cannot be written and is left out")
            self._written, self._tries = self._folded, 0
        return True
