"""The batched environment: seeds, autoreset, freezing, and what is refused."""

import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from driving.kernel.layout import IDLE, SLOWER, X
from driving.vector_env import OBSERVATION_SIZE, HighwayVectorEnv
from search_spaces.scenarios import Scenario

SCENARIO = Scenario(duration=10)


def drive(env, seed, actions):
    """Step through `actions`, int64[T, N], and return everything that was seen."""
    observations, _ = env.reset(seed=seed)
    steps = [(*env.step(row), env.states.copy(), env.active.copy()) for row in actions]
    return observations, steps


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_autoreset_changes_nothing_before_the_end_and_starts_the_next_episode_of_the_stream(seed, data):
    count = data.draw(st.integers(1, 5))
    actions = np.random.default_rng(seed).integers(0, 5, (SCENARIO.decisions, count))
    rolling = HighwayVectorEnv(count, SCENARIO)
    freezing = HighwayVectorEnv(count, SCENARIO, autoreset=False)
    (first, rolled), (same, frozen) = drive(rolling, seed, actions), drive(freezing, seed, actions)
    assert (first == same).all()
    last_records = freezing.records.columns.copy()
    following, _ = freezing.reset()
    for env in range(count):
        for step, (one, other) in enumerate(zip(rolled, frozen, strict=True)):
            assert one[1][env] == other[1][env]
            assert (one[5][env] == other[5][env]).all()
            assert one[2][env] == other[2][env]
            assert one[3][env] == other[3][env]
            if one[2][env] or one[3][env]:
                place = list(one[4]["final_index"]).index(env)
                assert (one[4]["final_obs"][place] == other[0][env]).all()
                assert (one[0][env] == following[env]).all()
                assert one[6][env]
                assert not other[6][env]
                assert step + 1 == last_records[env, 1]
                break
            assert (one[0][env] == other[0][env]).all()
        else:
            pytest.fail("an episode outlived its duration")


def test_an_episode_is_named_by_its_seed_alone():
    actions = np.random.default_rng(0).integers(0, 5, (10, 6))
    together = HighwayVectorEnv(6, SCENARIO, autoreset=False)
    seen, steps = drive(together, 40, actions)
    for env in (0, 3, 5):
        alone = HighwayVectorEnv(1, SCENARIO, autoreset=False)
        only, same = drive(alone, [40 + env], actions[:, [env]])
        assert (only[0] == seen[env]).all()
        for one, other in zip(same, steps, strict=True):
            assert (one[0][0] == other[0][env]).all()
            assert one[1][0] == other[1][env]
        assert (alone.records.columns[0] == together.records.columns[env]).all()
        assert (alone.records.histograms[0] == together.records.histograms[env]).all()


def test_an_integer_seeds_like_consecutive_seeds():
    one, other = (HighwayVectorEnv(3, SCENARIO).reset(seed=seed)[0] for seed in (7, [7, 8, 9]))
    assert (one == other).all()


def test_without_seed_episodes_differ_between_environments_and_processes():
    first, second = (HighwayVectorEnv(2, SCENARIO).reset()[0] for _ in range(2))
    assert (first[0] != first[1]).any()
    assert (first != second).any()


def test_ended_environments_freeze():
    env = HighwayVectorEnv(16, SCENARIO, autoreset=False)
    env.reset(seed=0)
    rng = np.random.default_rng(1)
    while env.active.any():
        active, vehicles, states = env.active.copy(), env.vehicles.copy(), env.states.copy()
        records = env.records.columns.copy()
        _, rewards, terminated, truncated, info = env.step(rng.integers(0, 5, 16))
        assert info == {}
        assert (rewards[~active] == 0.0).all()
        assert (vehicles[~active] == env.vehicles[~active]).all()
        assert (states[~active] == env.states[~active]).all()
        assert (records[~active] == env.records.columns[~active]).all()
        assert ((terminated | truncated) == ~env.active).all()


def test_returned_arrays_outlive_the_next_step():
    env = HighwayVectorEnv(4, SCENARIO)
    env.reset(seed=0)
    results = env.step(np.full(4, SLOWER))
    kept = [array.copy() for array in results[:4]]
    for _ in range(12):
        env.step(np.full(4, IDLE))
    for array, copy in zip(results, kept, strict=False):
        assert (array == copy).all()


def test_states_cannot_be_written_from_outside():
    env = HighwayVectorEnv(1, SCENARIO)
    for array in (env.states, env.active, env.records.columns, env.records.histograms):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_film_frames_are_the_physics_of_the_watched_environment():
    env = HighwayVectorEnv(3, SCENARIO, autoreset=False)
    env.watch(1)
    env.reset(seed=0)
    env.step(np.full(3, IDLE))
    frames = env.film_frames()
    assert frames.vehicles.shape == (5, 13, 21)
    assert (frames.vehicles[-1] == env.vehicles[1]).all()
    assert (frames.flags[-1] == env.flags[1]).all()
    assert np.diff(frames.vehicles[:, X, 0]) == pytest.approx(5.0)


def test_spaces_hold_what_the_environment_gives():
    env = HighwayVectorEnv(2, SCENARIO)
    observations, _ = env.reset(seed=0)
    assert observations.shape == (2, OBSERVATION_SIZE)
    assert env.observation_space.contains(observations)
    observations, *_ = env.step(env.action_space.sample())
    assert env.observation_space.contains(observations)


def test_misuse_is_refused():
    env = HighwayVectorEnv(2, SCENARIO)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="expected 2 seeds"):
        env.reset(seed=[1])
    with pytest.raises(ValueError, match="expected 2 seeds"):
        env.reset(seed=-1)
    with pytest.raises(ValueError, match="takes no options"):
        env.reset(options={"lanes": 2})
    env.reset(seed=0)
    before = env.vehicles.copy()
    with pytest.raises(InvalidAction, match="got 5 for environment 1"):
        env.step(np.array([0, 5]))
    with pytest.raises(InvalidAction, match="expected 2 actions"):
        env.step(np.zeros(3, np.int64))
    assert (env.vehicles == before).all()
    with pytest.raises(ValueError, match="expected an environment"):
        env.watch(2)
