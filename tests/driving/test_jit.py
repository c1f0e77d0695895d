"""Where compiled kernels are kept: apart for other sources, other options, and wherever the user says."""

import shutil
from pathlib import Path

import pytest

from driving.kernel import jit


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REWARD_ORCHESTRATOR_CACHE", str(tmp_path))
    assert jit.cache_directory().parent == tmp_path
    assert jit.cache_directory() == jit.cache_directory()
    monkeypatch.delenv("REWARD_ORCHESTRATOR_CACHE")
    assert jit.cache_directory().parent == Path.home() / ".cache" / "reward-orchestrator"


def test_other_options_get_another_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    before = jit.cache_directory()
    monkeypatch.setitem(jit.OPTIONS, "fastmath", True)
    assert jit.cache_directory() != before


@pytest.mark.parametrize("changed", ["kernel/traffic.py", "kernel/math.py", "reward_state.py"])
def test_a_changed_source_gets_another_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changed: str) -> None:
    """numba itself would not notice a change in an imported file."""
    driving = tmp_path / "driving"
    shutil.copytree(Path(jit.__file__).parents[1], driving, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(driving / "kernel" / "jit.py"))
    before = jit.cache_directory()
    source = driving / changed
    source.write_text(source.read_text() + "\n")
    assert jit.cache_directory() != before
