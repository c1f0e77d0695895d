from pathlib import Path

import pytest

from actors.keys import Credentials, Secret
from actors.plan import LLMSettings
from orchestrator import doctor
from tests.groq_server import GroqServer, answer, error


def test_this_machine_passes(root: Path) -> None:
    found = [
        doctor.check_python(),
        doctor.check_packages(),
        doctor.check_disk(root / "not" / "there" / "yet"),
        doctor.check_film(),
        doctor.check_store(root),
    ]
    assert [(check.name, check.verdict) for check in found] == [
        ("python", "ok"),
        ("packages", "ok"),
        ("disk", "ok"),
        ("film", "ok"),
        ("mlflow", "ok"),
    ]
    assert "ray 2.60" in found[1].sentence


@pytest.mark.slow
def test_ray_runs_a_task_and_is_summed_up() -> None:
    check = doctor.check_ray("local")
    assert check.verdict == "ok"
    assert "on 1 nodes" in check.sentence


def test_the_simulators_agree_or_the_machine_rounds_differently(monkeypatch: pytest.MonkeyPatch) -> None:
    check = doctor.check_simulator()
    assert check.name == "highway-env"
    if check.verdict == "ok":
        assert check.sentence == "2 of 2 report episodes of idm are identical in highway-env"
    else:
        assert check.verdict == "warning"
        assert "round differently" in check.sentence
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert doctor.check_simulator().verdict == "failed"


def test_a_package_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0.1" if name == "torch" else "999")
    check = doctor.check_packages()
    assert check.verdict == "failed"
    assert "torch 0.0.1 is not >=2.6" in check.sentence


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "NEEDED_DISK_GB", 1e9)
    check = doctor.check_disk(tmp_path)
    assert check.verdict == "failed"
    assert "needed" in check.sentence


def test_a_store_that_takes_nothing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    check = doctor.check_store(tmp_path)
    assert check.verdict == "failed"
    assert "MLFLOW_TRACKING_URI" in check.sentence


def ask(server: GroqServer, key: str = "gsk_0123456789abcdef") -> doctor.Check:
    settings = LLMSettings(spec="groq:scripted")
    return doctor.check_model(settings, Credentials((Secret(key),), server.url))


def test_a_model_that_answers_is_named_and_one_that_refuses_is_quoted_without_its_key() -> None:
    with GroqServer([answer("ready")]) as server:
        check = ask(server)
    assert (check.verdict, check.sentence.split()[:2]) == ("ok", ["scripted", "answered"])
    key = "gsk_secretsecretsecret"
    with GroqServer([error(401, f"Invalid API Key {key}", "invalid_api_key")]) as server:
        check = ask(server, key)
    assert check.verdict == "failed"
    assert key not in check.sentence


def test_without_an_llm_the_doctor_says_how_to_get_one() -> None:
    check = doctor.check_model(LLMSettings(), Credentials())
    assert check.verdict == "warning"
    assert "GROQ_API_KEY" in check.sentence
