"""The kernel against highway-env: a tenth of `make parity`, run as that runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.parity import plan
from benchmarks.parity_cases import NEGLIGIBLE, Case, Pair, Tally, run_case
from benchmarks.parity_states import random_state
from driving.kernel.layout import CRASHED, HEADING, IMPACT_PENDING, SPEED, X, Y
from driving.probe import differing_functions
from search_spaces.scenarios import PRESETS

pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).parents[2]
SHARE = 0.1
SECTIONS = sorted({case.section for case in plan(SHARE)})


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("parity") / "findings.json"
    command = [sys.executable, "-m", "benchmarks.parity", "--share", str(SHARE), "--workers", "2", "--json", str(path)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    assert path.exists(), done.stderr
    found: dict[str, Any] = json.loads(path.read_text())
    assert done.returncode == (0 if found["exact"] else 1)
    return found


@pytest.mark.parametrize("section", SECTIONS)
def test_the_kernel_equals_highway_env(
    findings: dict[str, Any], section: str, capsys: pytest.CaptureFixture[str]
) -> None:
    differing = findings["differing_functions"]
    found = findings["sections"][section]
    assert found["runs"] >= 1
    if differing:
        with capsys.disabled():
            sys.stdout.write(f"numpy rounds differently here: {differing}; 95 % of runs must lie within {NEGLIGIBLE}\n")
        everything = findings["sections"].values()
        assert sum(each["diverged"] for each in everything) <= 0.05 * sum(each["runs"] for each in everything), found
    else:
        assert (found["deviation"], found["mismatches"]) == (0.0, {}), found


def test_the_proof_covers_crashes_and_ties(findings: dict[str, Any]) -> None:
    sections = findings["sections"]
    assert sections["highway-fast-v0 episodes"]["crashes"] >= 5
    assert sections["highway-v0 episodes"]["crashes"] >= 2
    assert sections["highway-fast-v0 injected states"]["ties"] >= 20
    assert sections["ego driven by IDM"]["decisions"] >= 20


def test_the_whole_proof_is_as_large_as_promised() -> None:
    runs: dict[str, int] = {}
    for case in plan(1.0):
        name = f"{case.section} {case.ego_driver}" if case.kind == "episodes" else case.kind
        runs[name] = runs.get(name, 0) + len(case.seeds)
    assert runs["highway-fast-v0 episodes 0"] == 200
    assert runs["highway-v0 episodes 0"] == 60
    assert runs["ego driven by IDM 1"] == runs["ego driven by IDM+MOBIL 2"] == 20
    assert runs["injected states"] == 150
    assert runs["resets"] == 300


def test_injected_states_cover_what_episodes_never_reach() -> None:
    states = [random_state(np.random.default_rng(2_000_000 + seed), 21, 3, False) for seed in range(110)]
    vehicles = np.concatenate([vehicles for vehicles, _ in states])
    flags = np.concatenate([flags for _, flags in states])
    assert (vehicles[:, X] < 0).any()
    assert (vehicles[:, X] > 10_005).any()
    assert (vehicles[:, SPEED] < 0).any()
    assert (vehicles[:, SPEED] > 40).any()
    assert (np.abs(vehicles[:, HEADING]) > np.pi).any()
    assert (vehicles[:, Y] > 14).any()
    assert (vehicles[:, Y] < -2).any()
    assert flags[:, CRASHED, 0].any()
    assert flags[:, IMPACT_PENDING].any()
    assert any(np.unique(each[X]).size < each.shape[1] for each in vehicles)


def test_a_wrong_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: a kernel on a road with a little more traffic is told apart at once."""
    scenario = PRESETS["highway-fast-v0"]
    make_pair = Pair.__init__

    def make_unequal_pair(pair: Pair, case: Case) -> None:
        make_pair(pair, case)
        pair.kernel = type(pair.kernel)(1, scenario.changed({"density": 1.0001}), autoreset=False)

    monkeypatch.setattr(Pair, "__init__", make_unequal_pair)
    tally = run_case(Case("wrong", "episodes", scenario, range(1)))
    assert not tally.exact
    assert tally.diverged == 1
    assert tally.deviations["x"] > NEGLIGIBLE


def test_a_number_that_is_none_counts_as_infinitely_far() -> None:
    tally = Tally()
    tally.measure("x", np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    assert tally.deviation == np.inf
    assert not tally.exact


def test_the_probe_finds_numpy_that_rounds_differently(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = np.tan
    monkeypatch.setattr(np, "tan", lambda x: np.nextafter(exact(x), np.inf))
    assert "tan" in differing_functions()
