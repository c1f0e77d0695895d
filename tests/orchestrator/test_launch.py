"""The whole command, in one process with a tiny budget: everything is real but the size."""

import json
import platform
import re
from pathlib import Path

import pytest
from mlflow import MlflowClient
from typer.testing import CliRunner, Result

from actors.messages import Candidate
from actors.plan import LLMSettings, SearchPlan
from orchestrator.cli import build_app
from orchestrator.launch import Asked, Conditions, configure
from orchestrator.provenance import sessions
from orchestrator.runs import find_run
from orchestrator.single import accept
from orchestrator.tracking import Store
from search_spaces.errors import UsageError
from tests.orchestrator.journals import SOURCE, Script

TINY = [*("--steps", "512"), *("--set", "held_out=4"), *("--set", "baselines=false"), *("--set", "ppo.batch=512")]
TINY += ["--set", "ppo.minibatch=256", "--set", "proposals_per_slot=2"]
TINY += ["--set", "finals.steps=512", "--set", "finals.leader_steps=512"]


@pytest.fixture
def home(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder whose `runs/` is the shared store's."""
    monkeypatch.chdir(root.parent)
    monkeypatch.setattr("orchestrator.runs.ROOT", Path(root.name))
    for name in ("GROQ_API_KEY", "OPENAI_API_KEY", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    return root


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), list(arguments), prog_name="orchestrate", catch_exceptions=False)


def test_a_search_ends_with_a_leaderboard_and_where_to_look(home: Path) -> None:
    result = run("--debug", "--population", "1", "--generations", "2", "--out", str(home / "tiny"), *TINY)
    assert result.exit_code == 0, result.output
    output = result.output
    assert "Ray: none" in output
    assert output.count("o LLM was used") + output.count("o language model was used") >= 2
    assert re.search(r"^1 +g0\d-c00 +0\.\d{3}", output, re.MULTILINE)
    assert f"orchestrate show {home.name}/tiny" in output
    assert "viewStateShareKey=search-" in output

    summary = json.loads((home / "tiny" / "summary.json").read_text())
    store = Store(home)
    runs = MlflowClient(store.uri).search_runs([store.experiment], f"tags.search_id = '{summary['search_id']}'")
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert {run.info.run_name for run in runs} >= {summary["search_id"], "g00-c00", "g01-c00"}
    tagged = {run.info.run_name: run.data.tags for run in runs}
    qualifying, confirming = tagged["g01-c00-q0"], tagged[f"{summary['champion']}-r0"]
    assert (qualifying["role"], qualifying["stage"], qualifying["of"]) == ("replicate", "qualifying", "g01-c00")
    assert qualifying["generation"] == confirming["generation"] == "finals"
    assert re.search(rf"^champion {summary['champion']}(, .*)?: fitness ", output, re.MULTILINE)
    assert "report episodes x 1 training seed of 512 steps" in output
    assert f"{home.name}/tiny/report/report.html" in output
    assert summary["champion"] in (home / "tiny" / "report" / "report.html").read_text()
    (session,) = sessions(find_run(str(home / "tiny")).storage)
    assert session.versions["python"] == platform.python_version()
    again = run("--resume", str(home / "tiny"), "--debug")
    assert again.exit_code == 0
    assert "has finished" in again.output
    assert json.loads((home / "tiny" / "summary.json").read_text())["champion"] == summary["champion"]


def test_a_finished_search_gets_the_report_that_it_lacks_and_survives_one_that_fails(home: Path) -> None:
    script = Script(home / "tawny")
    script.start(search_id="tawny", llm=LLMSettings(spec="replay:elsewhere"))
    script.accept("g00-c00", 0)
    script.deliver("g00-c00")
    script.finish("g00-c00")
    script.close()
    episodes = home / "tawny" / "candidates" / "g00-c00" / "episodes.parquet"
    episodes.write_bytes(b"damaged")
    broken = run("--resume", str(home / "tawny"))
    assert broken.exit_code == 0
    assert "no report: expected a table of episodes as Parquet, found 7 other bytes" in broken.output
    assert "report:   " not in broken.output
    episodes.unlink()
    whole = run("--resume", str(home / "tawny"))
    assert "tawny/report/report.html   (open it in a browser)" in whole.output


def test_one_program_is_trained_and_becomes_a_run(home: Path, tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text(SOURCE)
    result = run("train", str(program), "--out", str(home / "mine"), *TINY)
    assert result.exit_code == 0, result.output
    assert "written by user" in result.output
    folder = home / "mine" / "candidates" / "g00-c00"
    assert {each.name for each in folder.iterdir()} == {
        "reward_program.py",
        "policy.npz",
        "episode.mp4",
        "episodes.parquet",
        "critique.md",
    }
    measured = run("evaluate", str(home / "mine"), "best", "--episodes", "4", "--seed", "10000000", "--json", "-")
    record = find_run(str(home / "mine")).record()
    assert json.loads(measured.stdout)["metrics"] == dict(record.archive.outcomes["g00-c00"].metrics)


def test_a_program_that_the_gate_refuses_is_trained_only_when_told(home: Path, tmp_path: Path) -> None:
    source = "def compute_reward(state):\n    return 1.0\n"
    program = tmp_path / "constant.py"
    program.write_text(source)
    result = run("train", str(program), "--out", str(home / "refused"), *TINY)
    assert result.exit_code == 1
    assert "GATE_" in result.stderr
    assert not (home / "refused").exists()
    accepted = accept(source, SearchPlan(search_id="x"), despite_gate=True)
    assert isinstance(accepted, Candidate)
    assert accepted.warnings[0].startswith("GATE_")


def test_a_program_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    program = tmp_path / "bad.py"
    program.write_text("def compute_reward(state):\n    return open('x')\n")
    result = run("train", str(program))
    assert result.exit_code == 1
    assert f"{program}, line 2: E_CALL" in result.stderr


NOTHING = Conditions(local=True, address=None, gpus_per_trial=None, debug=False, keys=None, take_over=False)


def spec(llm: str | None, environ: dict[str, str], *settings: str) -> str | None:
    asked = Asked(file=None, settings=settings, options={}, llm=llm)
    return configure(asked, NOTHING, environ).plan("x").llm.spec


def test_groq_is_asked_when_there_is_a_key_and_nothing_else_is_said() -> None:
    key = {"GROQ_API_KEY": "gsk_0123456789abcdef"}
    assert spec(None, {}) is None
    assert spec(None, key) == "groq"
    assert spec("none", key) is None
    assert spec("openai:http://127.0.0.1:8000/v1#m", key) == "openai:http://127.0.0.1:8000/v1#m"
    assert spec(None, key, "llm.spec=groq:other") == "groq:other"
    assert spec("none", key, "llm.spec=groq:other") is None


def test_random_programs_need_no_model_and_refuse_one() -> None:
    key = {"GROQ_API_KEY": "gsk_0123456789abcdef"}
    assert spec(None, key, "strategy=random") is None
    assert spec(None, key, "strategy=best-of-n") == "groq"
    with pytest.raises(UsageError, match="--llm none"):
        spec("groq", key, "strategy=random")


def test_a_folder_that_holds_a_run_is_not_searched_into(home: Path) -> None:
    taken = home / "taken" / "events"
    taken.mkdir(parents=True)
    (taken / "0001-00000000.json").write_text("{}")
    result = run("--debug", "--out", str(home / "taken"), *TINY)
    assert result.exit_code == 1
    assert "--resume" in result.stderr


def test_a_folder_that_cannot_be_written_is_refused_in_words(home: Path) -> None:
    (home / "file").write_text("in the way")
    result = run("--debug", "--out", str(home / "file" / "run"), *TINY)
    assert result.exit_code == 1
    assert "cannot be written (Not a directory)" in result.output
