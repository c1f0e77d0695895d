"""What every benchmark shares: one core, and figures with their spread."""

import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

Figures = dict[str, dict[str, Any]]
"""Name to {median, low, high, unit}."""


def figure(values: Sequence[float], unit: str) -> dict[str, Any]:
    """Return {median, low, high, unit} of repeated measurements."""
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "unit": unit}


def print_figures(figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a line for each figure: name, median, range, unit."""
    for name, each in figures.items():
        print(f"  {name:34} {each['median']:12,.1f}  [{each['low']:,.1f}, {each['high']:,.1f}] {each['unit']}")


@contextmanager
def one_core() -> Iterator[None]:
    """Pin this process, and those that it starts, to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
