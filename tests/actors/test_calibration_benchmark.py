"""The benchmark that trains refused programs too, with trainings of a moment."""

import json

import numpy as np
import pytest

from actors.calibration import Case
from actors.messages import Assignment
from actors.storage import Storage
from benchmarks.calibration import draw, edits, measure, threshold, walks
from orchestrator.runs import Run
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import Scenario
from tests.searches import finish, opened, small_plan

BASE = Assignment(
    candidate_id="base",
    source=None,
    seed=0,
    steps=256,
    ppo=PPOSettings(environments=16, batch=256, minibatch=256, epochs=1, hidden=(8,)),
    scenario=Scenario(vehicles=8, duration=10),
    held_out=5,
    film=False,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A search that came to its end."""
    folder = tmp_path_factory.mktemp("search") / "run"
    coordinator = opened(folder, small_plan(baselines=False))
    finish(coordinator)
    coordinator.close()
    return Run(str(folder), Storage.at(folder), folder.parent)


def test_programs_are_drawn_once_each_and_the_same_again(run: Run) -> None:
    for source in (None, run):
        drawn = draw(source, 20, 3)
        assert len({each.program.digest for each in drawn}) == 20
        assert [each.how for each in drawn].count("edit") == 10
        assert [each.program for each in draw(source, 20, 3)] == [each.program for each in drawn]
        assert [each.program for each in draw(source, 20, 4)] != [each.program for each in drawn]


def test_edits_come_from_each_generation_and_are_new(run: Run) -> None:
    known = set(run.record().archive.digests())
    found = edits(run, 8, 0)
    assert len(found) == 8
    first = set(run.record().archive.before(1).digests())
    assert not {each.digest for each in found[:4]} & first
    assert known - first


def test_walks_go_beyond_the_starting_programs() -> None:
    assert len({each.digest for each in walks(12, np.random.default_rng(0))}) == 12


def test_everything_is_trained_and_judged(run: Run) -> None:
    calibration, found = measure(run, programs=4, seed=0, processes=1, base=BASE)
    assert calibration.count == 4
    assert [each["name"] for each in found["programs"]] == ["p000", "p001", "p002", "p003"]
    assert {each["status"] for each in found["programs"]} <= {"trained", "faulted"}
    assert found["native"] is not None
    assert {"screen tau", "number of return_order"} <= {each.name for each in calibration.scores}
    json.dumps(found, allow_nan=False)


@pytest.mark.slow
def test_two_processes_come_to_the_same() -> None:
    alone = measure(None, programs=4, seed=1, processes=1, base=BASE)
    together = measure(None, programs=4, seed=1, processes=2, base=BASE)
    assert alone == together


def test_a_threshold_keeps_the_good() -> None:
    cases = [
        Case(
            name=str(n),
            group="drawn",
            fitness=0.01 * n,
            scores={"number of parking": -n / 100, "number of return_order": n},
        )
        for n in range(100)
    ]
    found = threshold(cases, "return_order", 0.5)
    assert found == {"threshold": 53, "beyond": 53, "bad": 51}
    turned = threshold(cases, "parking", 0.5)
    assert turned is not None
    assert turned["threshold"] == pytest.approx(0.97)
    assert threshold(cases, "return_order", 2.0) is None
    assert threshold(cases, "return_order", None) is None
