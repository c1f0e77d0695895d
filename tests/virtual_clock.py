"""Time that passes only when somebody waits."""

import threading


class VirtualClock:
    """See `actors.patience.Clock`; `waits` holds every wait in order, s."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []
        self.stopped = False
        self._lock = threading.Lock()

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return 1_793_361_600.0 + self.now - 1000.0

    def wait(self, seconds: float) -> bool:
        with self._lock:
            self.waits.append(seconds)
            self.now += seconds
        return not self.stopped
