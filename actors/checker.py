"""Checks text from a model in a child process of its own, under a memory limit and a deadline.

The checker executes nothing of a text, but Python's own parser has been crashed by texts before. The child lives as
long as the checker; one that dies or overruns is replaced, and its text is refused. What comes back is a graph as JSON,
which is built again under the same rules, so even a child gone wrong cannot hand over anything but a legal program.
"""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from actors.replies import extract_program
from search_spaces.errors import MachineError, ProgramError
from search_spaces.graph import graph_from_json
from search_spaces.language import compile_program
from search_spaces.limits import decoded
from search_spaces.program import RewardProgram, Violation

SECONDS = 2.0
"""Wall clock for one text, s; a typical one takes two milliseconds."""
MEMORY = 512 * 1024**2
"""Address space of the child, bytes."""
_START_SECONDS = 60.0
_CHUNK = 65_536
_INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")


class ProgramChecker:
    """A long-lived checker; may be used from several threads, which take turns.

    Args:
        seconds: Wall clock for one text, s.
        memory: Address space of the child, bytes.
    """

    def __init__(self, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def check(self, reply: str | bytes | None) -> RewardProgram | Violation:
        """Extract the program of a reply and check it.

        Args:
            reply: What the model sent, or the bare source of a program.

        Returns:
            The program, or why there is none; `E_LIMIT` when the child died or took longer than allowed.

        Raises:
            MachineError: The child cannot be started at all.
        """
        if reply is None or len(reply) > 1_000_000:
            answer = extract_program(reply)
            return answer if isinstance(answer, Violation) else compile_program(answer)
        try:
            text = decoded(reply) if isinstance(reply, bytes) else reply
        except ProgramError as error:
            return Violation(error.code, error.message, error.line, error.hint)
        with self._turn:
            answered = self._exchange(text)
        if answered is None:
            hint = "Write a shorter, flatter program."
            return Violation(
                "E_LIMIT", f"checking it took more than {self._seconds:g} s or too much memory", None, hint
            )
        return _program(answered)

    def close(self) -> None:
        """End the child; the next check starts another."""
        with self._turn:
            self._end()

    def _exchange(self, text: str) -> dict[str, Any] | None:
        child = self._running()
        if child.stdin is None:
            return None
        try:
            deadline = time.monotonic() + self._seconds
            _send(child.stdin.fileno(), json.dumps(text).encode() + b"\n", deadline)
            return self._answer(child, max(0.0, deadline - time.monotonic()))
        except (BrokenPipeError, json.JSONDecodeError, TimeoutError, EOFError):
            self._end()
            return None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._end()
        root = str(Path(__file__).resolve().parent.parent)
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "actors.checker", str(self._memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, "PYTHONPATH": root},
            bufsize=0,
        )
        try:
            self._answer(self._child, _START_SECONDS)
        except (json.JSONDecodeError, TimeoutError, EOFError) as error:
            self._end()
            raise MachineError(
                f"the checker's process did not start within {_START_SECONDS:g} s; run `{sys.executable} -P -m "
                f"actors.checker {self._memory}` to see why"
            ) from error
        return self._child

    def _answer(self, child: subprocess.Popen[bytes], seconds: float) -> dict[str, Any]:
        """Read one line of JSON.

        Raises:
            TimeoutError: It took longer than `seconds`.
            EOFError: The child is gone.
        """
        if child.stdout is None:
            raise EOFError
        deadline = time.monotonic() + seconds
        received = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while not received.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                chunk = os.read(child.stdout.fileno(), _CHUNK)
                if not chunk:
                    raise EOFError
                received += chunk
        answer: dict[str, Any] = json.loads(received)
        return answer

    def _end(self) -> None:
        if self._child is None:
            return
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._child = None


def _send(pipe: int, content: bytes, deadline: float) -> None:
    """Write all of `content`; a child that does not read must not hold its parent.

    Raises:
        TimeoutError: It was not taken before `deadline`, in seconds of the monotonic clock.
    """
    os.set_blocking(pipe, False)
    rest = memoryview(content)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_WRITE)
        while rest:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            rest = rest[os.write(pipe, rest[:_CHUNK]) :]


def serve(memory: int) -> None:
    """Answer texts, one JSON string a line, until the input ends; this is what the child runs.

    Args:
        memory: Address space that it may use, bytes.
    """
    _limit(memory)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sink.write(b"{}\n")
    sink.flush()
    for line in source:
        sink.write(json.dumps(_verdict(json.loads(line))).encode() + b"\n")
        sink.flush()


def _limit(memory: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _verdict(text: str) -> dict[str, Any]:
    source = extract_program(text)
    program = source if isinstance(source, Violation) else compile_program(source)
    if isinstance(program, Violation):
        return {"code": program.code, "message": program.message, "line": program.line, "hint": program.hint}
    return {"graph": program.graph.to_json()}


def _program(answer: dict[str, Any]) -> RewardProgram | Violation:
    if "graph" not in answer:
        return Violation(answer["code"], answer["message"], answer["line"], answer["hint"])
    try:
        return RewardProgram(graph_from_json(answer["graph"]))
    except ProgramError as error:
        return Violation(error.code, error.message, error.line, error.hint)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
