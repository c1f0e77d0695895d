"""Programs that divide by something that is zero in a single state of a training, which no gate can foresee."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.coordinator import Coordinator
from actors.generation import derived_seed
from actors.messages import Assignment
from actors.outcome import Delivery
from actors.plan import FinalsSettings, SearchPlan
from actors.storage import Storage
from actors.trainer import train_candidate
from actors.training import Training
from orchestrator import leaderboard
from orchestrator.console import results
from orchestrator.show import show_candidate, show_run
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.state import FIELD_INDEX, FIELDS, STANDARD_STATE
from tests.actors.small_trials import ROAD, SETTINGS, assignment
from tests.searches import finish, opened

SOUND = """
def compute_reward(state):
    progress = state["speed_ms"] / 32.0
    crash = -2.0 * state["collided"]
    return progress + crash, {"progress": progress, "crash": crash}
"""
RARE = """
def compute_reward(state):
    progress = state["speed_ms"] / 32.0
    crash = -2.0 * state["collided"]
    odd = 0.0 / (state["front_dist"] - %r)
    return progress + crash + odd, {"progress": progress, "crash": crash}
"""
"""The same reward as that of `SOUND`, bit for bit, but in the one state that has this gap."""
BATCH = SETTINGS.batch


def gap_in_the_middle(seed: int) -> float:
    """Return a gap that a training under `SOUND` meets for the first time in its third batch."""
    seen: list[np.ndarray[Any, np.dtype[np.float64]]] = []
    with Training(assignment(source=SOUND, seed=seed)) as training:
        step = training.runner.env.step

        def spy(actions: Any) -> Any:
            answer = step(actions)
            seen.append(training.runner.env.states[:, FIELD_INDEX["front_dist"]].copy())
            return answer

        training.runner.env.step = spy  # type: ignore[method-assign]
        while not training.finished:
            training.advance()
    gaps = np.concatenate(seen)
    cap = FIELDS[FIELD_INDEX["front_dist"]].high
    early = set(gaps[: 2 * BATCH])
    return next(float(gap) for gap in gaps[2 * BATCH : 3 * BATCH] if gap not in early and 1.0 < gap < cap)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Coordinator, float]:
    """A search of real trainings in which all of generation 0 breaks half way, and the gap that breaks it."""
    run = tmp_path_factory.mktemp("search")
    gap = gap_in_the_middle(derived_seed(0, "g00-c00"))
    settings: dict[str, Any] = {
        "search_id": "rare",
        "population": 1,
        "generations": 2,
        "steps": 2048,
        "scenario": ROAD,
        "ppo": SETTINGS,
        "held_out": 20,
        "baselines": False,
        "finals": FinalsSettings(finalists=0),
        "proposals_per_slot": 2,
    }
    coordinator = opened(run, SearchPlan(**settings, start_from=(RARE % gap,)))
    finish(coordinator, deliver=trained_without_film)
    coordinator.close()
    return run, coordinator, gap


def trained_without_film(given: Assignment) -> Delivery:
    return train_candidate(Assignment.from_json({**given.to_json(), "film": False}))


def test_a_candidate_that_breaks_on_a_rare_state_has_failed_with_the_state_that_did_it(
    searched: tuple[Path, Coordinator, float],
) -> None:
    run, coordinator, gap = searched
    entry = coordinator.record.archive.entry("g00-c00")
    outcome = entry.outcome
    assert outcome is not None
    assert outcome.status == "faulted"
    assert outcome.env_steps == 2 * BATCH
    assert f"after {2 * BATCH} training steps" in outcome.reason
    assert f"front_dist={gap!r}" in outcome.reason
    assert entry.fitness is None
    assert outcome.metrics == {}
    assert not (run / "candidates" / "g00-c00" / "policy.npz").exists()


def test_the_state_that_broke_a_program_breaks_it_again(searched: tuple[Path, Coordinator, float]) -> None:
    _, coordinator, gap = searched
    program = compile_program(coordinator.record.archive.candidates["g00-c00"].source)
    assert isinstance(program, RewardProgram)
    assert program.evaluate({**STANDARD_STATE, "front_dist": gap}).fault
    assert not program.evaluate({**STANDARD_STATE, "front_dist": float(np.nextafter(gap, 0.0))}).fault


def test_a_search_goes_on_after_a_generation_in_which_all_failed(searched: tuple[Path, Coordinator, float]) -> None:
    record = searched[1].record
    (second,) = record.archive.entries(1)
    assert record.generations["0"].best is record.generations["0"].mean is None
    assert second.outcome is not None
    assert second.outcome.status == "trained"
    assert record.generations["1"].best is not None
    assert record.champion == "g01-c00"
    assert record.finished


def test_what_follows_is_edited_from_sound_starting_programs(searched: tuple[Path, Coordinator, float]) -> None:
    _, coordinator, gap = searched
    candidate = coordinator.record.archive.candidates["g01-c00"]
    assert candidate.parents == ()
    assert candidate.origin == "evolver"
    assert repr(gap)[:6] not in candidate.source


def test_the_state_is_shown_wherever_the_failure_is(
    searched: tuple[Path, Coordinator, float], capsys: pytest.CaptureFixture[str]
) -> None:
    run, coordinator, _ = searched
    record = coordinator.record
    reason = record.archive.outcomes["g00-c00"].reason
    show_run(results(), record, running=False)
    assert "".join(f"g00-c00 faulted: {reason}".split()) in "".join(capsys.readouterr().out.split())
    show_candidate(results(), record, record.archive.entry("g00-c00"))
    assert "".join(reason.split()) in "".join(capsys.readouterr().out.split())
    assert [(row.name, row.status, row.reason) for row in leaderboard.rows(record)] == [
        ("g01-c00", "trained", ""),
        ("g00-c00", "faulted", reason),
    ]
    assert list(csv.DictReader(leaderboard.as_csv(record).splitlines()))[1]["reason"] == reason
    summary = json.loads(Storage.at(run).read("summary.json") or b"")
    (told,) = summary["generations"][0]["candidates"]
    assert (told["status"], told["reason"], told["fitness"], told["intervals"]) == ("faulted", reason, None, {})


def test_a_judged_candidate_has_its_episodes_and_its_intervals(searched: tuple[Path, Coordinator, float]) -> None:
    run, coordinator, _ = searched
    archive = coordinator.record.archive
    fitness, found = archive.fitnesses["g01-c00"], archive.intervals["g01-c00"]
    assert fitness is not None
    assert fitness.low is not None
    assert fitness.low <= fitness.value
    assert (run / "candidates" / "g01-c00" / "episodes.parquet").exists()
    assert found["fitness"] == (fitness.low, fitness.high)
    metrics = archive.outcomes["g01-c00"].metrics
    assert set(found) == {"fitness", *metrics} - {"episodes"}
    assert found["crash_rate"][0] <= metrics["crash_rate"] <= found["crash_rate"][1]
