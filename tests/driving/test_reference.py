"""highway-env behind the interface of the vector environment: same shapes, same resets, same episode ends.

The arithmetic is compared in `test_parity.py`, in processes whose NumPy rounds as the kernel does; here it may differ
in the last place.
"""

import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded

from driving.kernel.layout import CRASHED, EGO_ACTIONS, EGO_IDM, FASTER, SLOWER, SPEED, TARGET_SPEED, X
from driving.reference import ReferenceVectorEnv
from driving.vector_env import HighwayVectorEnv
from search_spaces.scenarios import Scenario

SCENARIO = Scenario(vehicles=8, duration=4)


def pair(count: int, *, autoreset: bool, ego_driver: int = EGO_ACTIONS) -> tuple[HighwayVectorEnv, ReferenceVectorEnv]:
    return (
        HighwayVectorEnv(count, SCENARIO, autoreset=autoreset, ego_driver=ego_driver),
        ReferenceVectorEnv(count, SCENARIO, autoreset=autoreset, ego_driver=ego_driver),
    )


@pytest.mark.parametrize("ego_driver", [EGO_ACTIONS, EGO_IDM])
def test_episodes_follow_each_other_as_in_the_kernel(ego_driver: int) -> None:
    kernel, upstream = pair(2, autoreset=True, ego_driver=ego_driver)
    ours, _ = kernel.reset(seed=7)
    theirs, _ = upstream.reset(seed=7)
    assert theirs.shape == ours.shape == (2, 25)
    assert theirs.dtype == ours.dtype == np.float32
    ends = 0
    for _ in range(9):
        actions = np.full(2, FASTER)
        ours, our_reward, our_end, our_limit, our_info = kernel.step(actions)
        theirs, their_reward, their_end, their_limit, their_info = upstream.step(actions)
        np.testing.assert_allclose(theirs, ours, atol=1e-5)
        np.testing.assert_allclose(their_reward, our_reward, atol=1e-8)
        np.testing.assert_array_equal(their_end, our_end)
        np.testing.assert_array_equal(their_limit, our_limit)
        assert sorted(their_info) == sorted(our_info)
        if our_info:
            ends += 1
            np.testing.assert_allclose(their_info["final_obs"], our_info["final_obs"], atol=1e-5)
            np.testing.assert_array_equal(their_info["final_index"], our_info["final_index"])
            np.testing.assert_allclose(upstream.records.columns, kernel.records.columns, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(upstream.states, kernel.states, atol=1e-5)
    assert ends >= 2


def test_without_autoreset_an_ended_episode_freezes() -> None:
    _, upstream = pair(1, autoreset=False)
    upstream.reset(seed=[3])
    for _ in range(4):
        upstream.step(np.array([SLOWER]))
    assert not upstream.active.any()
    before = upstream.vehicles.copy()
    observation, reward, _, truncated, info = upstream.step(np.array([SLOWER]))
    assert (reward[0], bool(truncated[0]), info) == (0.0, True, {})
    np.testing.assert_array_equal(upstream.vehicles, before)
    assert observation[0, 0] == 1.0


def test_a_whole_state_goes_in_and_comes_out_unchanged() -> None:
    kernel, upstream = pair(2, autoreset=False)
    kernel.reset(seed=11)
    for _ in range(2):
        kernel.step(np.array([FASTER, SLOWER]))
    kernel.flags[0, CRASHED, 3] = 1
    kernel.vehicles[1, SPEED, 2] = -5.0
    upstream.reset(seed=99)
    upstream.inject(kernel.vehicles.copy(), kernel.flags.copy())
    # Sine and cosine are numpy's, and the kernel's are the C library's; they agree everywhere numpy was seen.
    np.testing.assert_allclose(upstream.vehicles, kernel.vehicles, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(upstream.flags, kernel.flags)
    upstream.step(np.array([SLOWER, SLOWER]))
    kernel.inject(kernel.vehicles.copy(), kernel.flags.copy())
    kernel.step(np.array([SLOWER, SLOWER]))
    np.testing.assert_allclose(upstream.vehicles[:, X], kernel.vehicles[:, X], atol=1e-9)


def test_an_ego_driven_by_idm_ignores_actions_and_wants_30_ms() -> None:
    ends = []
    for action in (SLOWER, FASTER):
        _, upstream = pair(1, autoreset=False, ego_driver=EGO_IDM)
        upstream.reset(seed=5)
        assert upstream.vehicles[0, TARGET_SPEED, 0] == 30.0
        upstream.step(np.array([action]))
        ends.append(upstream.vehicles.copy())
    np.testing.assert_array_equal(ends[0], ends[1])
    assert ends[0][0, TARGET_SPEED, 0] == 30.0


def test_the_film_holds_every_frame() -> None:
    kernel, upstream = pair(1, autoreset=False)
    for env in (kernel, upstream):
        env.watch(0)
        env.reset(seed=2)
        env.step(np.array([FASTER]))
    ours, theirs = kernel.film_frames(), upstream.film_frames()
    assert theirs.vehicles.shape == ours.vehicles.shape == (5, 13, 9)
    np.testing.assert_allclose(theirs.vehicles, ours.vehicles, atol=1e-9)
    np.testing.assert_array_equal(theirs.flags, ours.flags)


def test_misuse_is_refused_as_by_the_kernel() -> None:
    upstream = ReferenceVectorEnv(1, SCENARIO)
    with pytest.raises(ResetNeeded):
        upstream.step(np.array([0]))
    upstream.reset(seed=0)
    with pytest.raises(InvalidAction, match="got 5 for environment 0"):
        upstream.step(np.array([5]))
