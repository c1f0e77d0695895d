import numpy as np
import pytest

from actors.evaluator import PolicyDriver, evaluate
from actors.policy import Policy, observation_scaling
from driving.drivers import driver_named
from search_spaces.errors import ScenarioError
from search_spaces.scenarios import SELECTION, Scenario

QUIET = Scenario(vehicles=5, duration=10)


def steady_policy(action: int) -> Policy:
    """A network whose last bias alone decides."""
    factor, offset = observation_scaling(True)
    bias = np.zeros(5, np.float32)
    bias[action] = 1.0
    return Policy(factor=factor, offset=offset, weights=(np.zeros((25, 5), np.float32),), biases=(bias,))


def test_a_policy_that_always_brakes_is_measured_as_the_driver_that_always_brakes():
    policy_metrics, policy_table = evaluate(PolicyDriver(steady_policy(4)), QUIET, 20)
    driver_metrics, driver_table = evaluate(driver_named("slower"), QUIET, 20)
    assert policy_metrics == driver_metrics
    assert policy_metrics["episodes"] == 20
    for name, column in policy_table.columns.items():
        assert np.array_equal(column, driver_table.columns[name]), name


def test_a_number_of_episodes_counts_from_the_first_selection_seed():
    by_number, _ = evaluate(driver_named("faster"), QUIET, 8)
    by_seeds, _ = evaluate(driver_named("faster"), QUIET, range(SELECTION.first, SELECTION.first + 8))
    others, _ = evaluate(driver_named("faster"), QUIET, range(SELECTION.first + 8, SELECTION.first + 16))
    assert by_number == by_seeds
    assert by_number["native_return"] != others["native_return"]
    with pytest.raises(ScenarioError, match="selection episodes"):
        evaluate(driver_named("faster"), QUIET, 0)


def test_more_episodes_than_are_driven_together_are_those_of_two_evaluations():
    policy = PolicyDriver(steady_policy(3))
    short = Scenario(vehicles=3, duration=4)
    _, table = evaluate(policy, short, range(700))
    _, first = evaluate(policy, short, range(600))
    _, rest = evaluate(policy, short, range(600, 700))
    for name, column in table.columns.items():
        assert np.array_equal(column, np.concatenate([first.columns[name], rest.columns[name]])), name


def test_a_sampling_policy_is_repeatable_by_its_generator_and_differs_from_the_greedy_one():
    policy = Policy(
        factor=np.ones(25, np.float32),
        offset=np.zeros(25, np.float32),
        weights=(np.zeros((25, 5), np.float32),),
        biases=(np.array([0, 0, 0, 0.1, 0], np.float32),),
    )
    sampled, _ = evaluate(PolicyDriver(policy, np.random.default_rng(0)), QUIET, 10)
    again, _ = evaluate(PolicyDriver(policy, np.random.default_rng(0)), QUIET, 10)
    greedy, _ = evaluate(PolicyDriver(policy), QUIET, 10)
    assert sampled == again
    assert sampled["native_return"] != greedy["native_return"]
