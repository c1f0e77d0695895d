"""What `orchestrate check` does: the verdict of the reward language on a file, a reply or a file of cases.

    orchestrate check PROGRAM.py          the user's own file, checked in this process
    orchestrate check PROGRAM.py --lint   and what gate and linter say of it
    orchestrate check --reply FILE        a model's reply, checked in the limited child
    orchestrate check --jsonl CASES       one JSON answer a line

The functions return the exit code: 0 for accept (or for cases that were all answered), 1 for reject. Their output is
plain text without markup; whatever comes from the text under test is escaped in it.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from actors.checker import ProgramChecker
from search_spaces.errors import UsageError
from search_spaces.language import compile_program
from search_spaces.limits import MAX_CHARACTERS
from search_spaces.program import Evaluation, RewardProgram, Violation
from search_spaces.state import FIELD_INDEX, STANDARD_STATE

ACCEPTED, REJECTED = 0, 1

Write = Callable[[str], object]
"""Prints one line."""


def check_file(path: Path, *, reply: bool = False, lint: bool = False, write: Write = print) -> int:
    """Print the verdict on a program, its reward on the standard state, or code, line, message and hint.

    Args:
        path: The file; at most a few times the largest program is read.
        reply: Whether it holds a model's reply, with fences and prose.
        lint: Whether the gate and the linter judge it too; a refusal of theirs is a rejection.
        write: Prints one line.

    Returns:
        0 for accept, 1 for reject.

    Raises:
        UsageError: The file cannot be read.
    """
    text = _read(path, None if reply else 8 * MAX_CHARACTERS)
    if reply:
        with ProgramChecker() as checker:
            program = checker.check(text)
    else:
        program = compile_program(text)
    judged = judge(program, STANDARD_STATE)
    if isinstance(judged, Violation) or isinstance(program, Violation):
        violation = judged if isinstance(judged, Violation) else program
        for line in _rejection(path, violation):
            write(line)
        return REJECTED
    lines, refused = _examined(program) if lint else ([], False)
    write(f"{'reject' if refused else 'accept'} {path}")
    write(f"  digest    {program.digest[:16]}")
    write(f"  reads     {', '.join(sorted(program.fields)) or 'nothing of the state'}")
    write(f"  reward    {judged.total:g} on the standard state")
    for name, value in judged.components.items():
        write(f"  component {name} = {value:g}")
    if judged.components:
        write(f"  the components leave {judged.total - sum(judged.components.values()):g} of it unexplained")
    for line in lines:
        write(line)
    return REJECTED if refused else ACCEPTED


def _examined(program: RewardProgram) -> tuple[list[str], bool]:
    from orchestrator.lint import examine  # it loads the simulator, which a plain check does not wait for

    return examine(program)


def check_cases(path: Path, *, write: Write = print) -> int:
    """Print one JSON line for each case: id, verdict, error, line, hint, value, components.

    Args:
        path: JSON lines with `id`, `source` or `source_b64` (a program or a reply), and optionally a `state` that
            replaces fields of the standard state.
        write: Prints one line.

    Returns:
        0 when every case was answered.

    Raises:
        UsageError: The file cannot be read, or a line is no case.
    """
    with ProgramChecker() as checker:
        for number, case in _cases(path):
            where = f"{path}, line {number}"
            program = checker.check(_source(case, where))
            answer = _answer(judge(program, _state(case, where)))
            write(json.dumps({"id": _identifier(case, number, where), **answer}, allow_nan=False))
    return ACCEPTED


def judge(program: RewardProgram | Violation, state: Mapping[str, float]) -> Evaluation | Violation:
    """Return the reward of a program in one state, or why there is none: `E_NONFINITE` when it is not finite."""
    if isinstance(program, Violation):
        return program
    evaluation = program.evaluate(state)
    if not evaluation.fault:
        return evaluation
    return Violation(
        "E_NONFINITE",
        f"the reward is infinite or not a number on this state because of {program.first_fault(state)}",
        None,
        "Guard it: max(x, 1e-6) in a divisor or a log, min(x, 50.0) in an exp, or an if around it.",
    )


def _answer(judged: Evaluation | Violation) -> dict[str, Any]:
    if isinstance(judged, Violation):
        code, line, hint = judged.code, judged.line, f"{judged.message}. {judged.hint}".rstrip()
        return {"verdict": "reject", "error": code, "line": line, "hint": hint, "value": None, "components": {}}
    value, components = judged.total, judged.components
    return {"verdict": "accept", "error": None, "line": None, "hint": None, "value": value, "components": components}


def _rejection(path: Path, violation: Violation | RewardProgram) -> Iterator[str]:
    if isinstance(violation, Violation):
        place = path if violation.line is None else f"{path}, line {violation.line}"
        yield f"reject {place}"
        yield f"  {violation.code}: {violation.message}"
        if violation.hint:
            yield f"  hint: {violation.hint}"


def _read(path: Path, limit: int | None) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read() if limit is None else file.read(limit)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; give the path of a readable file") from error


def _cases(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(_read(path, None).splitlines(), 1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number}: expected one JSON object a line: {error}") from error
        if not isinstance(case, dict):
            raise UsageError(f"{path}, line {number}: expected a JSON object, found {type(case).__name__}")
        yield number, case


def _identifier(case: Mapping[str, Any], number: int, where: str) -> str | int | None:
    given = case.get("id", number)
    if given is None or isinstance(given, (str, int)):
        return given
    raise UsageError(f"{where}: id must be a string or an integer, not {type(given).__name__}")


def _source(case: Mapping[str, Any], where: str) -> str | bytes | None:
    source = case.get("source")
    if source is None and case.get("source_b64") is not None:
        try:
            return base64.b64decode(case["source_b64"], validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise UsageError(f"{where}: source_b64 is not base64: {error}") from error
    if source is None or isinstance(source, str):
        return source
    raise UsageError(f"{where}: source must be a string, not {type(source).__name__}")


def _state(case: Mapping[str, Any], where: str) -> Mapping[str, float]:
    given = case.get("state") or {}
    if not isinstance(given, dict) or not all(isinstance(each, (int, float)) for each in given.values()):
        raise UsageError(f"{where}: state must be an object of numbers")
    try:
        return {**STANDARD_STATE, **{name: float(value) for name, value in given.items() if name in FIELD_INDEX}}
    except OverflowError as error:
        raise UsageError(f"{where}: a number of the state does not fit float64: {error}") from error
