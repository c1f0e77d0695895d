"""The independent judge: episodes that the kernel drove are driven again in highway-env itself.

highway-env is pure Python and takes half a second for an episode, so it runs in child processes, which leave this
process free to answer. They start with NumPy's AVX-512 code switched off, without which highway-env itself gives other
last bits on one processor than on another. Where that made NumPy round as the kernel does (`driving.probe`), the two
simulators must agree to the last bit in every episode, and one that differs is a fault. Elsewhere the count of those
that differ is told and decides nothing.
"""

import base64
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np

from actors.upstream_child import Driven, Errand
from actors.upstream_comparison import BothWays
from driving.measures import EpisodeTable
from driving.probe import DISABLED_FEATURES
from search_spaces.errors import MachineError
from search_spaces.scenarios import Scenario

PROCESSES = 2
"""Child processes at most; each takes one core."""
_INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "HOME", "REWARD_ORCHESTRATOR_CACHE", "TMPDIR")
_LAST_WORDS = 600
"""Bytes of a dead child's complaint that are passed on."""


class UpstreamJudge:
    """Drives episodes in highway-env in child processes; may be closed from another thread.

    Args:
        processes: Child processes at most.
    """

    def __init__(self, processes: int = PROCESSES) -> None:
        self._processes = processes
        self._children: list[subprocess.Popen[bytes]] = []
        self._closed = False
        self._lock = threading.Lock()

    def drive(
        self, who: bytes | str, scenario: Scenario, seeds: Sequence[int], *, sample_seed: int | None = None
    ) -> BothWays | None:
        """Drive episodes in both simulators and wait for the result.

        Args:
            who: A policy (the bytes of its `policy.npz`) or the name of a baseline driver.
            scenario: The road.
            seeds: One episode for each; at least one, none twice.
            sample_seed: Seed for sampling a policy's actions; None takes the likeliest.

        Returns:
            The episodes, in the order of the seeds; None when the judge was closed.

        Raises:
            MachineError: A child could not be started, or died.
        """
        # A sampling driver draws for all episodes of its process together.
        count = 1 if sample_seed is not None else min(self._processes, len(seeds))
        driver = who if isinstance(who, str) else None
        policy = None if isinstance(who, str) else base64.b64encode(who).decode()
        errands = [
            Errand(
                scenario=scenario,
                seeds=tuple(seeds[first::count]),
                driver=driver,
                policy=policy,
                sample_seed=sample_seed,
            )
            for first in range(count)
        ]
        answers = self._answers(errands)
        return None if answers is None else _joined(answers, seeds)

    def close(self) -> None:
        """Give up what is being driven; later calls drive nothing."""
        with self._lock:
            self._closed = True
            for child in self._children:
                child.kill()

    def _answers(self, errands: Sequence[Errand]) -> list[Driven] | None:
        with ExitStack() as stack:
            stack.callback(self._children.clear)
            started = []
            for errand in errands:
                words = stack.enter_context(tempfile.TemporaryFile())
                child = self._start(words)
                if child is None:
                    return None
                stack.enter_context(child)
                stack.callback(child.kill)
                _send(child, errand)
                started.append((child, words))
            said = [child.stdout.read() if child.stdout is not None else b"" for child, _ in started]
            if self._closed:
                return None
            return [_answer(text, words) for text, (_, words) in zip(said, started, strict=True)]

    def _start(self, words: IO[bytes]) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._closed:
                return None
            try:
                child = subprocess.Popen(
                    [sys.executable, "-P", "-m", "actors.upstream_child"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=words,
                    env=_environment(),
                    bufsize=0,
                    # Ctrl-C in a terminal is for the parent, which ends its children.
                    start_new_session=True,
                )
            except OSError as error:
                raise MachineError(f"no process for highway-env could be started: {error}") from error
            self._children.append(child)
            return child


def _environment() -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {
        **inherited,
        "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
        "NPY_DISABLE_CPU_FEATURES": DISABLED_FEATURES,
        "OMP_NUM_THREADS": "1",
        "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    }


def _send(child: "subprocess.Popen[bytes]", errand: Errand) -> None:
    """Tell a child what to drive, and leave its input open: it ends when that does."""
    # A child that has died says so, by an empty answer, where answers are read.
    with contextlib.suppress(BrokenPipeError):
        if child.stdin is not None:
            rest = memoryview(json.dumps(errand.to_json()).encode() + b"\n")
            while rest:
                rest = rest[child.stdin.write(rest) or 0 :]


def _answer(said: bytes, words: IO[bytes]) -> Driven:
    try:
        return Driven.from_json(json.loads(said.splitlines()[-1]))
    except (IndexError, ValueError, TypeError) as error:
        size = words.seek(0, os.SEEK_END)
        words.seek(max(0, size - _LAST_WORDS))
        last = words.read().decode(errors="replace").strip()
        raise MachineError(
            f"a process that drives in highway-env died without an answer: {last or 'it said nothing'}; try "
            "orchestrate evaluate --driver idm --upstream --episodes 1"
        ) from error


def _joined(answers: Sequence[Driven], seeds: Sequence[int]) -> BothWays:
    """Put the shares of several children together again, in the order of the seeds."""
    tables = [answer.tables() for answer in answers]
    kernel = EpisodeTable.concatenate([ours for ours, _ in tables])
    upstream = EpisodeTable.concatenate([theirs for _, theirs in tables])
    place = {int(seed): row for row, seed in enumerate(kernel.seeds)}
    rows = np.array([place[seed] for seed in seeds], np.int64)
    differing = sorted({name for answer in answers for name in answer.differing_functions})
    return BothWays(kernel.take(rows), upstream.take(rows), tuple(differing))
