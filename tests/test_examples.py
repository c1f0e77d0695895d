"""Each example runs as a stranger would run it."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

EXPECTED = {
    "check_a_program.py": ([], "refused: "),
    "drive_the_road.py": ([], "slower: fitness 0.0"),
    "train_a_program.py": (["8192"], "trained on 8192 steps"),
}


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name: str) -> None:
    arguments, expected = EXPECTED[name]
    ran = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, timeout=200, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert expected in ran.stdout
