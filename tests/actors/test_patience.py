import threading
import time

import pytest

from actors.patience import SystemClock, backoff, retry_after, seconds_of

NOON = 1_793_448_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12", 12.0),
        ("7.66", 7.66),
        ("7.66s", 7.66),
        ("1m0.3s", 60.3),
        ("2m59.56s", 179.56),
        ("120ms", 0.12),
        ("1h2m3s", 3723.0),
        (" 3 ", 3.0),
        ("0", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("7.66s later", None),
        ("1e9", None),
        ("9" * 60, 10_000_000.0),
    ],
)
def test_reads_durations_as_providers_write_them(text: str, seconds: float | None) -> None:
    assert seconds_of(text, NOON) == (None if seconds is None else pytest.approx(seconds))


def test_reads_http_dates() -> None:
    assert seconds_of("Fri, 30 Oct 2026 12:01:30 GMT", 1_793_361_600.0) == pytest.approx(90.0)
    assert seconds_of("Fri, 30 Oct 2020 12:01:30 GMT", NOON) == 0.0
    assert seconds_of("Fri, 30 Oct 2026 12:01:30 -0000", 1_793_361_600.0) == pytest.approx(90.0)


def test_header_comes_before_the_message() -> None:
    message = "Rate limit reached. Please try again in 7m12.5s. Need more?"
    assert retry_after({}, message, NOON) == pytest.approx(432.5)
    assert retry_after({"retry-after": "3"}, message, NOON) == 3.0
    assert retry_after({"retry-after-ms": "1500", "retry-after": "3"}, message, NOON) == 1.5
    assert retry_after({"retry-after": "who knows"}, "no idea", NOON) is None


def test_backoff_doubles_up_to_its_bound() -> None:
    assert [backoff(tries) for tries in (1, 2, 3, 7, 8, 1000)] == [0.5, 1.0, 2.0, 32.0, 60.0, 60.0]


def test_a_wait_ends_when_the_search_stops() -> None:
    stop = threading.Event()
    clock = SystemClock(stop)
    assert clock.wait(0.0)
    threading.Timer(0.05, stop.set).start()
    before = time.monotonic()
    assert not clock.wait(30.0)
    assert time.monotonic() - before < 5.0
