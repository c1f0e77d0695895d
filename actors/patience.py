"""How long to wait: the clock that waits go through, and what a server's `retry-after` means."""

import re
import threading
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Protocol

_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 10_000_000.0
"""Longest wait that is taken at its word, s; four months are beyond any search and keep dates in range."""


class Clock(Protocol):
    """Time, and waiting in it."""

    def monotonic(self) -> float:
        """Return seconds on a clock that never jumps."""
        ...

    def wall(self) -> float:
        """Return seconds since 1970, to compare with dates of servers."""
        ...

    def wait(self, seconds: float) -> bool:
        """Wait; return False as soon as the search was told to stop."""
        ...


class SystemClock:
    """The machine's clock.

    Args:
        stop: Ends every wait, now and later, when it is set.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def monotonic(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    def wall(self) -> float:
        """See `Clock`."""
        return time.time()

    def wait(self, seconds: float) -> bool:
        """See `Clock`."""
        return not self._stop.wait(max(0.0, seconds))


def seconds_of(text: str, wall: float) -> float | None:
    """Read a duration or a date as providers write them.

    Args:
        text: "12", "7.66", "7.66s", "2m59.56s", "120ms", or an HTTP date.
        wall: Seconds since 1970 now, for dates.

    Returns:
        Seconds from now, 0 for the past; None when the text is none of these.
    """
    text = text.strip()[:64]
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return min(float(text), _LONGEST)
    if _DURATION.fullmatch(text):
        return min(sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text)), _LONGEST)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return min(max(0.0, date.timestamp() - wall), _LONGEST)
    except (TypeError, ValueError, OverflowError):
        return None


def retry_after(headers: Mapping[str, str], message: str, wall: float) -> float | None:
    """Return how long a refusing server wants to be left alone.

    Args:
        headers: Its headers, names in lower case.
        message: Its error message; Groq writes "Please try again in 7m12s" there too.
        wall: Seconds since 1970 now.

    Returns:
        Seconds; None when it does not say.
    """
    milliseconds = seconds_of(headers.get("retry-after-ms", ""), wall)
    if milliseconds is not None:
        return milliseconds / 1000.0
    said = seconds_of(headers.get("retry-after", ""), wall)
    if said is not None:
        return said
    found = re.search(r"try again in ((?:\d+(?:\.\d+)?(?:ms|h|m|s)){1,4})", message[:1000])
    return seconds_of(found.group(1), wall) if found else None


def backoff(tries: int, longest: float = 60.0) -> float:
    """Return how long to wait after `tries` failures in a row: 0.5 s, doubled each time, up to `longest`."""
    return min(longest, 0.5 * 2.0 ** max(0, min(tries, 30) - 1))
