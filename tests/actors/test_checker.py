import contextlib
import os
import pickle
import signal
import threading
import time
from pathlib import Path

import pytest

from actors.checker import ProgramChecker
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram, Violation

CODE = 'def compute_reward(state):\n    return state["ttc"] / 3, {"a": 1.0}\n'


def children() -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            found.update(int(pid) for pid in (task / "children").read_text().split())
    return found


@pytest.fixture(scope="module")
def checker():
    with ProgramChecker() as checker:
        yield checker


def test_the_child_answers_as_the_compiler_does(checker: ProgramChecker) -> None:
    program = checker.check(f"Sure:\n```python\n{CODE}```\n")
    assert program == compile_program(CODE)
    assert isinstance(program, RewardProgram)
    assert pickle.loads(pickle.dumps(program)).digest == program.digest


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (None, "E_STRUCTURE"),
        ("", "E_STRUCTURE"),
        (b"\xff", "E_ENCODING"),
        ("def compute_reward(state):\n    return '\ud800'\n", "E_ENCODING"),
        ("def compute_reward(state):\n    return state['tcc']\n", "E_KEY"),
        ("def compute_reward(state):\n    return " + "-" * 15_000 + "1\n", "E_DEPTH"),
        ("x" * 5_000_000, "E_SIZE"),
        ("def compute_reward(state):\n    return 0x" + "f" * 1_000_000, "E_SIZE"),
    ],
)  # fmt: skip
def test_refusals_come_back_whole(checker: ProgramChecker, reply: str | bytes | None, code: str) -> None:
    answer = checker.check(reply)
    assert isinstance(answer, Violation)
    assert answer.code == code


def test_one_child_serves_many_texts_from_many_threads(checker: ProgramChecker) -> None:
    checker.check(CODE)
    before = children()
    answers: list[object] = []
    texts = [CODE.replace("3", str(k)) for k in range(3, 19)]
    threads = [threading.Thread(target=lambda text=text: answers.append(checker.check(text))) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.digest for answer in answers} == {compile_program(text).digest for text in texts}
    assert children() == before


def test_a_dead_child_is_replaced(checker: ProgramChecker) -> None:
    checker.check(CODE)
    before = children()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.1)
    assert isinstance(checker.check(CODE), RewardProgram)
    assert children().isdisjoint(before)


def test_a_child_that_overruns_is_replaced_and_its_text_refused() -> None:
    with ProgramChecker(seconds=0.3) as checker:
        assert isinstance(checker.check(CODE), RewardProgram)
        (pid,) = children() - _others(checker)
        os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        answer = checker.check(CODE)
        assert isinstance(answer, Violation)
        assert answer.code == "E_LIMIT"
        assert time.monotonic() - began < 5
        assert isinstance(checker.check(CODE), RewardProgram)


def test_a_child_without_memory_gives_a_verdict() -> None:
    with ProgramChecker(memory=64 * 1024**2) as checker:
        deep = "def compute_reward(state):\n    return " + "(" * 29 + "1+" * 6_000 + "1" + ")" * 29
        answer = checker.check(deep)
        assert isinstance(answer, Violation)
        assert answer.code in ("E_LIMIT", "E_DEPTH", "E_SIZE")


def test_the_child_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk_secret")
    with ProgramChecker() as checker:
        before = children()
        checker.check(CODE)
        (pid,) = children() - before
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"gsk_secret" not in environment
    assert pid not in children()


def _others(checker: ProgramChecker) -> set[int]:
    own = {checker._child.pid} if checker._child else set()
    return children() - own


def test_a_child_that_does_not_read_holds_nobody() -> None:
    with ProgramChecker(seconds=0.5) as checker:
        assert isinstance(checker.check(CODE), RewardProgram)
        child = checker._child
        assert child is not None
        os.kill(child.pid, signal.SIGSTOP)
        answer = checker.check("x" * 199_000)
        assert isinstance(answer, Violation)
        assert answer.code == "E_LIMIT"
        assert isinstance(checker.check(CODE), RewardProgram)
