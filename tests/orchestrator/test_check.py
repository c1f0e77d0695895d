import json
import math
from pathlib import Path

import numpy as np
import pytest

from actors.lint_table import RULES
from actors.replies import extract_program
from orchestrator.check import check_cases, check_file
from search_spaces.errors import UsageError
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.state import FIELD_INDEX

COMPONENT_RULES = ("dead_component", "dominant_component")
CASES = Path(__file__).parent.parent / "cases"
KEYS = {"id", "verdict", "error", "line", "hint", "value", "components"}


def answers(path: Path) -> list[dict]:
    lines: list[str] = []
    assert check_cases(path, write=lines.append) == 0
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", ["benign_rewards.jsonl", "hostile_rewards.jsonl"])
def test_every_case_ends_as_expected(name: str) -> None:
    cases = [json.loads(line) for line in (CASES / name).read_text().splitlines()]
    for case, answer in zip(cases, answers(CASES / name), strict=True):
        expected = case["expect"]
        assert set(answer) == KEYS
        assert (answer["id"], answer["verdict"]) == (case["id"], expected["verdict"]), answer
        assert answer["error"] == expected.get("error"), case["id"]
        if expected["verdict"] == "accept":
            assert answer["value"] == pytest.approx(expected["value"], rel=1e-9, abs=1e-9), case["id"]
            assert answer["components"] == expected.get("components", answer["components"])
        else:
            assert answer["hint"]
            assert answer["value"] is None


def test_benign_cases_have_cpythons_own_value() -> None:
    compared = 0
    for line in (CASES / "benign_rewards.jsonl").read_text().splitlines():
        case = json.loads(line)
        source, program = extract_program(case["source"]), None
        if isinstance(source, str):
            program = compile_program(source)
        if not isinstance(program, RewardProgram):
            continue
        names = {"math": math, "np": np, "numpy": np, "clip": lambda x, low, high: min(max(x, low), high)}
        exec(compile(source, case["id"], "exec"), names)  # noqa: S102
        answer = names["compute_reward"](dict(case["state"]))
        total, parts = answer if isinstance(answer, tuple) else (answer, {})
        evaluation = program.evaluate(case["state"])
        assert (evaluation.total, evaluation.components) == (float(total), parts), case["id"]
        compared += 1
    assert compared >= 40


def test_a_state_of_its_own_replaces_fields_of_the_standard_state(tmp_path: Path) -> None:
    source = 'def compute_reward(state):\n    return state["ttc"] + state["lane"]\n'
    path = tmp_path / "cases.jsonl"
    path.write_text(
        json.dumps({"id": "a", "source": source, "state": {"ttc": 10, "unknown": 1}})
        + "\n\n"
        + json.dumps({"source_b64": "/w=="})
        + "\n"
        + json.dumps({"id": "c", "source": None})
        + "\n"
        + json.dumps({"id": "d", "source": source.replace("ttc", "tcc")})
        + "\n"
    )
    found = answers(path)
    assert [each["value"] for each in found] == [11.0, None, None, None]
    assert [each["error"] for each in found] == [None, "E_ENCODING", "E_STRUCTURE", "E_KEY"]
    assert [each["id"] for each in found] == ["a", 3, "c", "d"]
    assert 'state["ttc"]' in found[3]["hint"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"source": 5}',
        '{"source_b64": "?"}',
        '{"source": "x", "state": 3}',
        '{"source": "", "state": {"ttc": "x"}}',
        '{"source": "", "state": {"ttc": 1' + "0" * 400 + "}}",
        '{"id": NaN, "source": ""}',
        '{"id": {}, "source": ""}',
        '{"source": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)  # fmt: skip
def test_a_line_that_is_no_case_is_bad_usage(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"cases\.jsonl, line 1"):
        answers(path)


def test_a_file_is_accepted_with_its_reward(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text('def compute_reward(state):\n    a = state["ttc"] / 3\n    return a + 1, {"a": a}\n')
    lines: list[str] = []
    assert check_file(path, write=lines.append) == 0
    text = "\n".join(lines)
    assert text.startswith(f"accept {path}")
    assert "reward    2 on the standard state" in text
    assert "component a = 1" in text


def linted(path: Path, text: str) -> tuple[int, str]:
    path.write_text(text)
    lines: list[str] = []
    return check_file(path, lint=True, write=lines.append), "\n".join(lines)


def test_gate_and_linter_are_asked_too(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    code, text = linted(path, 'def compute_reward(state):\n    return state["lane_changed"] - 2 * state["collided"]\n')
    assert code == 0
    assert text.startswith(f"accept {path}")
    assert "gate      passed" in text
    assert "warns: a lane change earns" in text
    assert all(f" {rule} " in text for rule in RULES if rule not in ("duplicate", "scaled_copy", *COMPONENT_RULES))
    assert "lane_changed" in text.rsplit("fields", 1)[1]
    code, text = linted(path, 'def compute_reward(state):\n    return -1.0 - state["collided"]\n')
    assert code == 1
    assert text.startswith(f"reject {path}")
    assert "gate      refused, GATE_RECKLESS" in text


def test_a_file_is_refused_with_code_line_and_hint(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("def compute_reward(state):\n    return state['overtake']\n")
    lines: list[str] = []
    assert check_file(path, write=lines.append) == 1
    assert lines[0] == f"reject {path}, line 2"
    assert lines[1].strip().startswith("E_KEY:")
    assert 'hint: Did you mean state["overtook"]' in lines[2]


def test_a_file_is_no_reply_unless_said(tmp_path: Path) -> None:
    path = tmp_path / "reply.md"
    path.write_text('Sure:\n```python\ndef compute_reward(state):\n    return state["ttc"]\n```\n')
    assert check_file(path, write=lambda _: None) == 1
    assert check_file(path, reply=True, write=lambda _: None) == 0


def test_a_reward_that_is_not_finite_is_refused_with_its_cause(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text('def compute_reward(state):\n    return 1.0 + math.log(state["collided"])\n')
    lines: list[str] = []
    assert check_file(path, write=lines.append) == 1
    assert "E_NONFINITE" in lines[1]
    assert 'log(state["collided"])' in lines[1]


def test_a_missing_file_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        check_file(tmp_path / "none.py")


def test_the_cases_name_only_fields_of_the_table() -> None:
    for line in (CASES / "benign_rewards.jsonl").read_text().splitlines():
        assert set(json.loads(line)["state"]) <= set(FIELD_INDEX)
