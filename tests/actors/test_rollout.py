from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing

from actors.advantages import (
    AdvantageConnector,
    Fragment,
    ReturnScale,
    generalised_advantages,
    next_values,
    seed_streams,
)
from actors.messages import Assignment
from actors.policy import observation_scaling
from actors.rollout import first_training_seed
from actors.training_record import CURVE_POINTS, TRACE_POINTS, ComponentTraces, LearningCurve, find_fault
from driving.vector_env import HighwayVectorEnv
from search_spaces.language import compile_program
from search_spaces.ppo import PPOSettings
from search_spaces.program import RewardProgram
from search_spaces.scenarios import SELECTION, TRAINING, Scenario
from search_spaces.state import FIELD_INDEX, FIELDS

SHORT = Scenario(duration=6, vehicles=10)
SETTINGS = PPOSettings(environments=8, batch=8 * 20, minibatch=40, epochs=3, discount=0.9, gae_lambda=0.8)
ASSIGNMENT = Assignment(candidate_id="g00-c00", source=None, seed=5, steps=320, ppo=SETTINGS, scenario=SHORT)


class PlainCritic(torch.nn.Module):
    """A value function that needs no training: anything that tells observations apart."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(0.3))

    def compute_values(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        observation = batch[Columns.OBS]
        return torch.tanh(observation.sum(-1) * self.factor) * 3 + observation[:, 3]


def value_of(observation: np.ndarray) -> float:
    with torch.no_grad():
        return float(PlainCritic().compute_values({Columns.OBS: torch.from_numpy(observation[None])})[0])


@pytest.fixture(scope="module")
def driven() -> tuple[Fragment, list[dict[int, np.ndarray]], np.ndarray]:
    """A fragment of real driving, with the last observation of each episode kept by decision and environment."""
    env = HighwayVectorEnv(SETTINGS.environments, SHORT)
    factor, offset = observation_scaling(True)
    rng = np.random.default_rng(0)
    decisions, count = SETTINGS.batch // SETTINGS.environments, SETTINGS.environments
    observation, _ = env.reset(seed=3)
    observations, rewards, terminated, truncated = [observation * factor + offset], [], [], []
    finals: list[dict[int, np.ndarray]] = []
    for _ in range(decisions):
        # Mostly braking, so that episodes end both ways.
        actions = np.where(rng.random(count) < 0.7, 4, rng.integers(0, 5, count))
        observation, reward, crashed, out_of_time, info = env.step(actions)
        observations.append(observation * factor + offset)
        rewards.append(reward.astype(np.float32))
        terminated.append(crashed)
        truncated.append(out_of_time)
        finals.append(dict(zip(info.get("final_index", ()), info.get("final_obs", ()), strict=True)))
    kept = [
        final[env_index] * factor + offset
        for final, crashed, out_of_time in zip(finals, terminated, truncated, strict=True)
        for env_index in np.flatnonzero(out_of_time & ~crashed)
    ]
    fragment = Fragment(
        observations=torch.from_numpy(np.array(observations)),
        actions=torch.zeros((decisions, count), dtype=torch.int64),
        logits=torch.zeros((decisions, count, 5)),
        log_probabilities=torch.arange(decisions * count, dtype=torch.float32).reshape(decisions, count),
        rewards=np.array(rewards),
        terminated=np.array(terminated),
        truncated=np.array(truncated),
        final_observations=torch.from_numpy(np.array(kept, np.float32)),
    )
    scaled = [{index: last * factor + offset for index, last in final.items()} for final in finals]
    return fragment, scaled, np.array(observations)


def reference_advantages(
    fragment: Fragment, finals: list[dict[int, np.ndarray]], observations: np.ndarray
) -> np.ndarray:
    """GAE by the book: one episode at a time, one decision at a time."""
    discount, decay = SETTINGS.discount, SETTINGS.gae_lambda
    decisions, count = fragment.rewards.shape
    result = np.zeros((decisions, count))
    for env in range(count):
        start = 0
        while start < decisions:
            end = start
            while end < decisions - 1 and not (fragment.terminated[end, env] or fragment.truncated[end, env]):
                end += 1
            if fragment.terminated[end, env]:
                beyond = 0.0
            elif fragment.truncated[end, env]:
                beyond = value_of(finals[end][env])
            else:
                beyond = value_of(observations[end + 1, env])
            advantage = 0.0
            for row in range(end, start - 1, -1):
                value = value_of(observations[row, env])
                surprise = fragment.rewards[row, env] + discount * beyond - value
                advantage = surprise + discount * decay * advantage
                result[row, env] = advantage
                beyond = value
            start = end + 1
    return result


def test_advantages_equal_the_textbook_on_real_episodes_that_crash_and_run_out_of_time(driven):
    fragment, finals, observations = driven
    assert fragment.terminated.sum() >= 3
    assert (fragment.truncated & ~fragment.terminated).sum() >= 3
    expected = reference_advantages(fragment, finals, observations)
    connector = AdvantageConnector(assignment=ASSIGNMENT)
    batch = connector(rl_module={DEFAULT_MODULE_ID: PlainCritic()}, episodes=[fragment])[DEFAULT_MODULE_ID]
    rows = batch[Columns.ACTION_LOGP].numpy().astype(int)
    values = np.array([value_of(each) for each in observations[:-1].reshape(-1, 25)])
    targets = batch[Postprocessing.VALUE_TARGETS].numpy()
    assert targets == pytest.approx((expected.ravel() + values)[rows], abs=1e-4)
    standardised = (expected - expected.mean()) / expected.std()
    assert batch[Postprocessing.ADVANTAGES].numpy() == pytest.approx(standardised.ravel()[rows], abs=1e-4)
    assert np.array_equal(batch[Columns.OBS].numpy(), observations[:-1].reshape(-1, 25)[rows])


def test_every_epoch_sees_every_decision_once_in_an_order_of_its_own(driven):
    fragment, *_ = driven
    module = {DEFAULT_MODULE_ID: PlainCritic()}

    def orders(seed: int) -> np.ndarray:
        connector = AdvantageConnector(assignment=replace(ASSIGNMENT, seed=seed))
        batch = connector(rl_module=module, episodes=[fragment])[DEFAULT_MODULE_ID]
        return batch[Columns.ACTION_LOGP].numpy().astype(int).reshape(SETTINGS.epochs, -1)

    first = orders(5)
    assert all(np.array_equal(np.sort(epoch), np.arange(SETTINGS.batch)) for epoch in first)
    assert not np.array_equal(first[0], first[1])
    np.random.seed(99)
    torch.manual_seed(99)
    assert np.array_equal(first, orders(5))
    assert not np.array_equal(first, orders(6))


def test_a_crash_in_the_last_second_is_a_crash():
    values = np.ones((2, 3), np.float32)
    terminated = np.array([[True, False, False]])
    truncated = np.array([[True, True, False]])
    following = next_values(values, terminated, truncated, np.array([7.0], np.float32))
    assert following.tolist() == [[0.0, 7.0, 1.0]]
    advantages = generalised_advantages(
        np.zeros((1, 3), np.float32), values, following, terminated | truncated, 0.5, 0.9
    )
    assert advantages.tolist() == [[-1.0, 2.5, -0.5]]


batches = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=50)
@given(rng=batches, exponent=st.integers(-40, 40))
def test_a_reward_and_its_multiple_by_a_power_of_two_are_learnt_bit_for_bit_alike(rng, exponent):
    one, other = ReturnScale(4, 0.9), ReturnScale(4, 0.9)
    for _ in range(3):
        rewards = rng.normal(size=(6, 4))
        ended = rng.random((6, 4)) < 0.2
        assert np.array_equal(one.normalise(rewards, ended), other.normalise(rewards * 2.0**exponent, ended))


@settings(max_examples=50)
@given(rng=batches)
def test_rewards_are_divided_by_the_deviation_of_all_returns_so_far(rng):
    scale = ReturnScale(3, 0.8)
    returns, running = [], np.zeros(3)
    for _ in range(4):
        rewards = rng.normal(5.0, 2.0, size=(5, 3))
        ended = rng.random((5, 3)) < 0.3
        normalised = scale.normalise(rewards, ended)
        for reward, end in zip(rewards, ended, strict=True):
            running = running * 0.8 + reward
            returns.append(running)
            running = np.where(end, 0.0, running)
        assert normalised == pytest.approx(rewards / np.std(returns), rel=1e-9)


def test_rewards_that_never_differ_are_left_alone():
    rewards = np.zeros((4, 2))
    assert np.array_equal(ReturnScale(2, 0.9).normalise(rewards, np.zeros((4, 2), np.bool_)), rewards)


def test_training_seeds_of_different_candidates_never_meet_each_other_or_the_held_out_set():
    blocks = [
        set(range(first := first_training_seed(seed, 128), first + 128)) for seed in (0, 1, 2, 78_124, 5 * 10**9 + 4)
    ]
    assert len(set.union(*blocks)) == 128 * len(blocks)
    assert all(0 <= seed < TRAINING.limit for block in blocks for seed in block)
    assert TRAINING.first + TRAINING.limit <= SELECTION.first


def test_streams_depend_on_the_seed_and_are_independent_of_each_other():
    weights, exploration, shuffling = seed_streams(7)
    again = seed_streams(7)
    assert weights == again[0]
    assert exploration.random() == again[1].random()
    assert shuffling.random() != again[1].random()
    assert seed_streams(8)[0] != weights


def test_a_learning_curve_counts_each_episode_where_it_ends():
    curve = LearningCurve(environments=2, steps=4 * CURVE_POINTS, decision_s=0.5)
    no = np.zeros((2, 2), np.bool_)
    curve.add(4, np.ones((2, 2)), np.full((2, 2), 2.0), no, no)
    assert curve.points == [], "nothing has ended yet"
    ended = np.array([[True, False], [False, True]])
    crashed = np.array([[True, False], [False, False]])
    curve.add(8, np.ones((2, 2)), np.full((2, 2), 2.0), crashed, ended)
    (point,) = curve.points
    assert (point.steps, point.episodes) == (8, 2)
    assert (point.own_return, point.native_return) == (3.5, 7.0)
    assert point.crash_rate == 0.5
    assert point.length_s == pytest.approx(3.5 * 0.5)


def test_a_long_training_has_as_many_points_as_a_curve_and_a_trace_may_have():
    steps = 10_007
    curve, traces = LearningCurve(2, steps, 1.0), ComponentTraces(("a",), steps)
    always = np.ones((3, 2), np.bool_)
    for batch in range(1, -(-steps // 6) + 1):
        curve.add(6 * batch, np.ones((3, 2)), np.ones((3, 2)), always, always)
        traces.add(6 * batch, np.ones(6), np.ones((6, 1)))
    assert len(curve.points) == CURVE_POINTS
    assert [point.component for point in traces.points] == ["a", "total", "residual"] * TRACE_POINTS
    assert curve.points[-1].steps == traces.points[-1].steps >= steps


def test_traces_give_range_mean_and_residual_and_leave_out_what_is_not_finite():
    traces = ComponentTraces(("speed", "odd"), steps=4)
    components = np.array([[1.0, 0.0], [3.0, np.inf], [2.0, 0.0], [2.0, 0.0]])
    traces.add(4, np.array([1.5, 3.5, 2.5, 2.5]), components)
    points = {point.component: point for point in traces.points}
    assert set(points) == {"speed", "total"}, "the residual of an infinite component is not finite either"
    speed = points["speed"]
    assert (speed.low, speed.mean, speed.high) == (1.0, 2.0, 3.0)
    plain = ComponentTraces(("speed",), steps=4)
    plain.add(4, np.array([1.5, 3.5, 2.5, 2.5]), components[:, :1])
    assert {(p.low, p.mean, p.high) for p in plain.points if p.component == "residual"} == {(0.5, 0.5, 0.5)}


def test_a_fault_names_the_operation_and_the_state_and_only_what_the_program_reads():
    program = compile_program(
        "def compute_reward(state):\n"
        "    ratio = 3.0 / (state['speed_ms'] - 24.5)\n"
        "    return ratio + state['ttc'], {'ratio': ratio}"
    )
    assert isinstance(program, RewardProgram)
    states = np.ones((3, len(FIELDS)))
    states[1, FIELD_INDEX["speed_ms"]] = 24.5
    fault = find_fault(program, states, np.array([False, True, False]), 96)
    assert fault is not None
    assert fault.sentence().startswith("the reward was not finite after 96 training steps: 3.0 / (")
    assert fault.sentence().endswith(" in the state speed_ms=24.5, ttc=1")
    assert find_fault(program, states, np.zeros(3, np.bool_), 0) is None
