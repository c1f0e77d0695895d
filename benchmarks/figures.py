"""What benchmarks share: one core or one thread, work in processes, and figures with their spread."""

import multiprocessing
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
Figures = dict[str, dict[str, Any]]
"""Name to {median, low, high, unit}."""


def figure(values: Sequence[float], unit: str) -> dict[str, Any]:
    """Return {median, low, high, unit} of repeated measurements."""
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "unit": unit}


def print_figures(figures: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a line for each figure: name, median, range, unit."""
    for name, each in figures.items():
        print(f"  {name:34} {each['median']:12,.1f}  [{each['low']:,.1f}, {each['high']:,.1f}] {each['unit']}")


def one_thread() -> None:
    """Leave the cores to what runs side by side: numerical libraries of processes to come use one thread each."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def in_processes(work: Callable[[Job], Result], jobs: Sequence[Job], processes: int) -> Iterator[Result]:
    """Yield what comes of each job as it is done; with one process in order, and in this one.

    Args:
        work: Does a job; a function of a module.
        jobs: The jobs.
        processes: How many work at the same time.
    """
    if processes == 1:
        yield from map(work, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(work, job) for job in jobs]):
            yield done.result()


@contextmanager
def one_core() -> Iterator[None]:
    """Pin this process, and those that it starts, to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
