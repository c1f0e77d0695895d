import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from actors.calibration import Calibration, Case, calibrate
from actors.messages import Finding
from orchestrator.calibration_table import heading, verdicts
from orchestrator.cli import build_app
from tests.orchestrator.journals import Script

HOSTILE = "[bold]weaves[/] \x1b[2J"


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "140", "TERMINAL_WIDTH": "140"}).invoke(
        build_app(), list(arguments), prog_name="orchestrate"
    )


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A search of eight candidates; the linter warned about two."""
    script = Script(tmp_path / "owl")
    script.start(population=8, generations=1)
    script.refuse("g00-r000", 0, "GATE_RECKLESS")
    for number in range(8):
        name = f"g00-c{number:02d}"
        lint = (Finding(name="weaving" if number else HOSTILE, sentence="weaves"),) if number < 2 else ()
        script.accept(name, 0, lint=lint)
        script.deliver(name, better=number > 4)
    script.finish("g00-c07")
    script.close()
    return tmp_path / "owl"


def test_it_prints_what_was_right_and_what_cannot_be_said(finished: Path) -> None:
    result = run("calibration", str(finished))
    assert result.exit_code == 0
    assert "8 programs were trained to the end" in result.output
    assert "nothing can be said of the refusals: 1 GATE_RECKLESS" in result.output
    assert "Too few to judge" in result.output
    assert "lint weaving" in result.output
    assert "\x1b" not in result.output
    assert "\\x1b[2J" in result.output


def test_json_is_the_calibration(finished: Path, tmp_path: Path) -> None:
    result = run("calibration", str(finished), "--json", "-")
    found = Calibration.from_json(json.loads(result.output))
    assert found.count == 8
    assert found.refused == {"GATE_RECKLESS": 1}
    file = tmp_path / "calibration.json"
    assert run("calibration", str(finished), "--json", str(file)).exit_code == 0
    assert json.loads(file.read_text()) == found.to_json()
    assert run("calibration", str(finished), "--json", str(tmp_path / "no" / "x.json")).exit_code == 1


def test_a_run_named_twice_or_missing_is_refused(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = run("calibration", str(finished), f"{finished}/../owl")
    assert twice.exit_code == 2
    assert "named twice" in twice.output
    assert run("calibration", str(finished / "nothing")).exit_code == 1


def test_what_does_not_pay_is_named() -> None:
    cases = [
        Case(name=f"p{n}", group="run", fitness=0.02 * n, flags=("right",) if n < 10 else ("wrong",)) for n in range(20)
    ]
    found = calibrate(cases, {"run": 0.3})
    assert list(verdicts(found)) == ["Does not pay, as far as these programs show: wrong"]
    assert heading(found) == "20 programs were trained to the end; 4 of them are good."
