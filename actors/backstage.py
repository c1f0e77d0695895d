"""Work that the coordinator does while it goes on answering: designing, measuring, reading."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

Job = Callable[[], None]

READERS = 4
"""Critiques that are written at the same time; LLM readings wait for the network, and small accounts take no more."""


class Backstage(Protocol):
    """Does named jobs. What a job raises is kept as the fault, and no job is started after it."""

    @property
    def fault(self) -> BaseException | None:
        """What the first broken job raised."""
        ...

    def busy(self, prefix: str) -> bool:
        """Return whether a job whose name begins with `prefix` is waiting or running."""
        ...

    def start(self, name: str, job: Job, done: Job) -> None:
        """Do a job, then call `done`; a name that is waiting or running is not started again."""
        ...

    def close(self) -> None:
        """Start nothing more."""
        ...


class Threads:
    """Does jobs in threads: those named `read...` several at once, the others one after the other."""

    def __init__(self) -> None:
        self._makers = ThreadPoolExecutor(max_workers=1, thread_name_prefix="backstage")
        self._readers = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="reader")
        self._running: set[str] = set()
        self._lock = threading.Lock()
        self._fault: BaseException | None = None
        self._closed = False

    @property
    def fault(self) -> BaseException | None:
        """See `Backstage`."""
        return self._fault

    def busy(self, prefix: str) -> bool:
        """See `Backstage`."""
        with self._lock:
            return any(name.startswith(prefix) for name in self._running)

    def start(self, name: str, job: Job, done: Job) -> None:
        """See `Backstage`."""
        with self._lock:
            if name in self._running or self._fault is not None or self._closed:
                return
            self._running.add(name)
        pool = self._readers if name.startswith("read") else self._makers

        def finish(future: Future[None]) -> None:
            with self._lock:
                self._running.discard(name)
                if future.cancelled():
                    return
                self._fault = self._fault or future.exception()
            done()

        pool.submit(job).add_done_callback(finish)

    def close(self) -> None:
        """See `Backstage`."""
        with self._lock:
            self._closed = True
        for pool in (self._makers, self._readers):
            pool.shutdown(wait=False, cancel_futures=True)


class Inline:
    """Does each job at once in the caller's thread, so that breakpoints and tracebacks work."""

    fault: BaseException | None = None

    def __init__(self) -> None:
        self._running: set[str] = set()

    def busy(self, prefix: str) -> bool:
        """See `Backstage`."""
        return any(name.startswith(prefix) for name in self._running)

    def start(self, name: str, job: Job, done: Job) -> None:
        """See `Backstage`."""
        if name in self._running:
            return
        self._running.add(name)
        try:
            job()
        finally:
            self._running.discard(name)
        done()

    def close(self) -> None:
        """See `Backstage`."""
