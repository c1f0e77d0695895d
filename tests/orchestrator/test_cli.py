import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from actors.policy import Policy, observation_scaling
from driving.film import Film
from orchestrator import cli
from orchestrator.cli import build_app
from search_spaces.errors import RunError, SearchInterruptedError
from tests.golden_files import assert_golden
from tests.orchestrator.journals import SOURCE, Script

COMMANDS = ("", "check", "train", "evaluate", "show", "report", "ui", "compare", "calibration", "doctor")
HOSTILE = "[bold red]loud[/] \x1b[2J\x1b]0;title\x07 \u202egnidaer"


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100"}).invoke(
        build_app(), list(arguments), prog_name="orchestrate"
    )


def idle_policy() -> bytes:
    """A policy that always keeps its lane and speed."""
    factor, offset = observation_scaling(True)
    bias = np.array([0, 1, 0, 0, 0], np.float32)
    return Policy(factor, offset, (np.zeros((25, 5), np.float32),), (bias,)).to_bytes()


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A search of two generations; its champion keeps its lane."""
    script = Script(tmp_path / "night-owl")
    script.start()
    script.baseline("slower")
    script.refuse("g00-r000", 0, "GATE_CONSTANT")
    script.accept("g00-c00", 0)
    script.deliver("g00-c00")
    script.accept("g00-c01", 0)
    script.deliver("g00-c01", status="faulted", reason=f"log of -1 {HOSTILE}", metrics={}, curve=(), traces=())
    script.finish_generation(0, best=0.3, mean=0.3)
    changed = SOURCE.replace("30.0", "25.0")
    script.accept("g01-c00", 1, parents=("g00-c00",), source=changed, move=HOSTILE)
    script.deliver("g01-c00", better=True)
    script.files.write("candidates/g01-c00/policy.npz", idle_policy())
    script.finish_generation(1, best=0.4, mean=0.4)
    script.finish("g01-c00")
    script.close()
    return tmp_path / "night-owl"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_as_it_was_agreed(command: str) -> None:
    result = run(*([command] if command else []), "--help")
    assert result.exit_code == 0
    text = "\n".join(line.rstrip() for line in result.output.splitlines()) + "\n"
    assert_golden(f"help_{command or 'orchestrate'}.txt", text)


def test_show_prints_leaderboard_baselines_lineage_and_refusals(finished: Path) -> None:
    result = run("show", str(finished))
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert "night-owl (finished)" in lines[0]
    assert "strategy evolve" in result.output
    board = [line for line in lines if re.search(r"\b(g\d\d-c\d\d|slower)\b +(0\.\d{3}|faulted)", line)]
    assert [re.search(r"(g\d\d-c\d\d|slower)", line)[0] for line in board[:4]] == [
        "g01-c00",
        "g00-c00",
        "slower",
        "g00-c01",
    ]
    assert "└── g00-c00" in result.output
    assert "refused: 1 GATE_CONSTANT" in result.output
    assert re.search(r"g\d\d-r\d{3} \(\w+\) GATE_CONSTANT: ", result.output)


def test_show_prints_a_candidate_with_its_difference_from_its_parent(finished: Path) -> None:
    result = run("show", str(finished), "best")
    assert result.exit_code == 0
    assert '-    return state["speed_ms"] / 30.0' in result.output
    assert '+    return state["speed_ms"] / 25.0' in result.output
    assert "weaving" in result.output


@pytest.mark.parametrize("arguments", [[], ["best"], ["g00-c01"]])
def test_untrusted_text_is_shown_as_it_is_and_harmless(finished: Path, arguments: list[str]) -> None:
    output = run("show", str(finished), *arguments).output
    assert not set(output) & {"\x1b", "\x07", "\u202e"}
    if arguments:
        assert "[bold red]loud[/] \\x1b[2J" in output


def test_show_works_while_the_search_runs(tmp_path: Path) -> None:
    script = Script(tmp_path / "busy")
    script.start(search_id="busy")
    script.accept("g00-c00", 0)
    script.assign("g00-c00")
    result = run("show", str(tmp_path / "busy"))
    assert result.exit_code == 0
    assert "busy (running)" in result.output
    assert "training" in result.output
    script.close()
    assert "busy (interrupted)" in run("show", str(tmp_path / "busy")).output


def test_a_folder_that_is_no_run_is_answered_with_the_runs_there_are(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished.parent)
    result = run("show", "nightowl")
    assert result.exit_code == RunError.exit_code
    assert "nightowl does not exist" in result.stderr
    assert str(finished) in result.stderr
    assert result.stdout == ""


def test_evaluate_measures_a_candidate_on_fresh_episodes(finished: Path, tmp_path: Path) -> None:
    written = tmp_path / "measured.json"
    result = run("evaluate", str(finished), "g01", "--episodes", "12", "--json", str(written))
    assert result.exit_code == 0
    measured = json.loads(written.read_text())
    assert measured["name"] == "g01-c00"
    assert measured["simulator"] == "kernel"
    assert measured["first_seed"] == 60_000_000
    assert measured["metrics"]["episodes"] == measured["episodes"] == 12
    told = run("evaluate", "--driver", "idle", "--episodes", "3").stdout
    assert "idle on 3 report episodes (seeds 60000000 to 60000002) in the kernel" in told
    told = run("evaluate", "--driver", "idle", "--episodes", "3", "--seed", "7").stdout
    assert "idle on 3 training episodes (seeds 7 to 9) in the kernel" in told
    idle = json.loads(run("evaluate", "--driver", "idle", "--episodes", "12", "--json", "-").stdout)
    assert idle["metrics"] == measured["metrics"]
    low, high = measured["intervals"]["crash_rate"]
    assert 0 <= low <= measured["metrics"]["crash_rate"] <= high <= 1
    assert set(measured["intervals"]) == {"fitness", *measured["metrics"]} - {"episodes"}


def test_evaluate_in_highway_env_itself_agrees_with_the_kernel(finished: Path) -> None:
    options = ("evaluate", str(finished), "--episodes", "2", "--json", "-")
    kernel, upstream = (json.loads(run(*options, *more).stdout) for more in ((), ("--upstream",)))
    assert (kernel["simulator"], kernel["replay"]) == ("kernel", None)
    assert upstream["simulator"] == "highway-env"
    assert upstream["replay"]["episodes"] == 2
    assert upstream["metrics"] == kernel["metrics"]
    if not upstream["replay"]["differing_functions"]:
        assert upstream["replay"]["differing"] == []


def test_evaluate_drives_on_roads_that_nobody_was_trained_on(finished: Path) -> None:
    result = run("evaluate", str(finished), "--episodes", "4", "--matrix")
    assert result.exit_code == 0
    assert "LaMPilot driving score" in result.stdout
    table = result.stdout[result.stdout.index("driver ") :].splitlines()
    assert table[1].split()[0] == "g01-c00"
    assert {"slower", "idm", "mobil"} < {line.split()[0] for line in table if line}
    assert all(len(line) <= 80 for line in table[:8])
    assert "g01-c00 keeps its lead over" in result.stdout
    measured = json.loads(run("evaluate", "--driver", "mobil", "--episodes", "2", "--matrix", "--json", "-").stdout)
    assert [road["name"] for road in measured["generalisation"]["roads"]][-1] == "highway-v0"
    assert measured["lampilot_compatibility"]["episodes"] == 2


def test_evaluate_prints_the_native_return_alone(finished: Path) -> None:
    result = run("evaluate", str(finished), "best", "--episodes", "12", "--native")
    assert re.fullmatch(
        r"g01-c00: native return \d+\.\d{3} \(mean of 12 episodes, 95 % interval \d+\.\d{3} to \d+\.\d{3}\)\n",
        result.stdout,
    )


def test_evaluate_samples_repeatably(finished: Path) -> None:
    options = ("evaluate", str(finished), "--episodes", "6", "--stochastic", "--json", "-")
    first, again = (json.loads(run(*options).stdout) for _ in range(2))
    assert first == again
    assert first["metrics"] != json.loads(run(*options[:4], "--json", "-").stdout)["metrics"]


def test_evaluate_films_an_episode_of_the_scenario_asked_for(finished: Path, tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    result = run("evaluate", "--driver", "mobil", "--scenario", "easy", "--episodes", "1", "--video", str(film))
    assert result.exit_code == 0
    with Film.open(film) as opened:
        assert sum(1 for _ in opened.pictures()) == 30 * 5 + 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["evaluate", "{run}", "g00-c01"], "no policy: log of -1"),
        (["evaluate", "{run}", "g07"], "no candidate is trained and judged in generation 7"),
        (["evaluate", "{run}", "champion"], "expected best, a generation such as g03"),
        (["evaluate", "--driver", "slwer"], "did you mean slower?"),
        (["evaluate", "{run}", "--driver", "slower"], "not both"),
        (["evaluate"], "expected a run"),
        (["evaluate", "--driver", "idm", "--stochastic"], "is for candidates"),
        (["evaluate", "--driver", "idm", "--scenario", "hihgway-v0"], "did you mean highway-v0?"),
        (["check"], "expected one of"),
        (["--population", "3", "show", "{run}"], "--population belongs to a search"),
        (["--local", "--address", "127.0.0.1:6379"], "exclude each other"),
        (["--debug", "--address", "127.0.0.1:6379"], "leave --address out"),
        (["--resume", "{run}", "--population", "9"], "--population would change the search"),
        (["--population", "0"], "population"),
        (["--set", "ppo.epoch=3"], "did you mean epochs?"),
        (["--llm", "groq:some-model"], "no key"),
        (["--llm", "openai:http://192.0.2.1/v1#m"], "--allow-http"),
        (["--address", "ray://127.0.0.1:10001"], "no address of a Ray node"),
        (["--cluster", "nowhere.yaml"], "no such file"),
    ],
)
def test_bad_usage_is_answered_with_what_to_do(
    finished: Path, arguments: list[str], expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GROQ_API_KEY", "OPENAI_API_KEY", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    result = run(*(argument.replace("{run}", str(finished)) for argument in arguments))
    assert result.exit_code == 2
    assert expected in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (SearchInterruptedError("resume with: orchestrate --resume x"), 130, "resume with"),
        (RunError(HOSTILE), 1, "[bold red]loud[/] \\x1b"),
    ],
)
def test_what_a_command_raises_becomes_a_message_and_an_exit_code(raised: BaseException, code: int, said: str) -> None:
    app = typer.Typer(cls=cli.Boundary)

    @app.callback(invoke_without_command=True)
    def broken() -> None:
        raise raised

    result = CliRunner().invoke(app, [])
    assert result.exit_code == code
    assert said in result.stderr


def test_a_fault_keeps_its_traceback() -> None:
    app = typer.Typer(cls=cli.Boundary)

    @app.callback(invoke_without_command=True)
    def broken() -> None:
        raise ZeroDivisionError

    result = CliRunner().invoke(app, [])
    assert isinstance(result.exception, ZeroDivisionError)


def test_check_says_accept_or_reject_by_its_exit_code(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(SOURCE)
    bad.write_text("import os\n")
    assert run("check", str(good)).exit_code == 0
    result = run("check", str(bad))
    assert result.exit_code == 1
    assert "E_" in result.stdout


def test_a_film_of_another_kind_is_refused_before_anything_is_driven(tmp_path: Path) -> None:
    result = run("evaluate", "--driver", "idle", "--video", str(tmp_path / "film.gif"))
    assert result.exit_code == 2
    assert "ends in .mp4" in result.stderr
