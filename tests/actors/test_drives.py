"""What the detectors look at, read back from a run's folder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from actors.critic import criticise
from actors.drives import EPISODES, read_drives
from actors.evaluator import PolicyDriver, evaluate
from actors.plan import SearchPlan
from actors.policy import Policy, observation_scaling
from actors.storage import Storage
from driving.episodes import to_parquet
from driving.kernel.layout import SLOWER
from search_spaces.errors import PolicyError, RunError
from search_spaces.scenarios import SELECTION
from tests.entries import trained

PLAN = SearchPlan(search_id="s", held_out=12)
CHILD, PARENT = trained("g01-c00"), trained("g00-c00")


def braking() -> Policy:
    """A policy that always brakes."""
    factor, offset = observation_scaling(True)
    bias = np.zeros(5, np.float32)
    bias[SLOWER] = 1.0
    return Policy(factor=factor, offset=offset, weights=(np.zeros((25, 5), np.float32),), biases=(bias,))


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    stored = Storage.at(tmp_path)
    stored.write("candidates/g01-c00/policy.npz", braking().to_bytes())
    return stored


def test_a_stored_policy_drives_the_episodes_that_it_was_measured_on(storage: Storage) -> None:
    _, table = evaluate(PolicyDriver(braking()), PLAN.scenario, PLAN.held_out)
    for name in ("g01-c00", "g00-c00"):
        storage.write(f"candidates/{name}/episodes.parquet", to_parquet(table))
    drives = read_drives(storage, CHILD, (PARENT, trained("g00-c01")), PLAN)
    assert drives is not None
    assert [log.seed for log in drives.logs] == list(SELECTION.seeds(12))
    assert [log.crashed for log in drives.logs] == list(table.columns["crashed"] > 0)
    assert set(drives.tables) == {"g01-c00", "g00-c00"}
    assert drives.program is not None
    assert drives.program.source == CHILD.candidate.source
    assert drives.horizon == pytest.approx(10.0)
    assert "parking" in {finding.name for finding in criticise(CHILD, (PARENT,), drives).findings}


def test_as_many_episodes_are_logged_as_a_critique_has_time_for(storage: Storage) -> None:
    drives = read_drives(storage, CHILD, (), replace(PLAN, held_out=500, ppo=replace(PLAN.ppo, discount=1.0)))
    assert drives is not None
    assert len(drives.logs) == EPISODES
    assert drives.horizon == PLAN.scenario.decisions
    assert drives.tables == {}


def test_without_a_policy_there_is_nothing_to_look_at(storage: Storage) -> None:
    assert read_drives(storage, PARENT, (), PLAN) is None
    assert criticise(PARENT, (), None).cleared == ()


def test_the_native_reward_is_no_program(storage: Storage) -> None:
    native = replace(CHILD, candidate=replace(CHILD.candidate, source=""))
    drives = read_drives(storage, native, (), PLAN)
    assert drives is not None
    assert drives.program is None
    assert drives.earned() is None


def test_what_is_kept_in_their_place_is_refused(storage: Storage) -> None:
    storage.write("candidates/g01-c00/episodes.parquet", b"no table")
    with pytest.raises(RunError, match="expected a table of episodes"):
        read_drives(storage, CHILD, (), PLAN)
    storage.write("candidates/g01-c00/policy.npz", b"no policy")
    storage.remove("candidates/g01-c00/episodes.parquet")
    with pytest.raises(PolicyError):
        read_drives(storage, CHILD, (), PLAN)


def test_own_rewards_are_parted_by_what_they_ended_in(storage: Storage) -> None:
    drives = read_drives(storage, CHILD, (), PLAN)
    assert drives is not None
    earned = drives.earned()
    assert earned is not None
    ordinary, crashes = earned
    assert len(ordinary) + len(crashes) == sum(len(log.states) for log in drives.logs)
    assert len(crashes) == sum(log.crashed for log in drives.logs)
    assert ordinary.min() > 0.5
    assert len(crashes) == 0 or crashes.max() < -1.0
