import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driving.kernel import reward_arithmetic
from driving.kernel.reward_code import OPERATION_NAMES
from driving.kernel.reward_machine import BLOCK, RewardMachine
from search_spaces import semantics
from search_spaces.language import compile_program
from search_spaces.operations import OPERATIONS
from search_spaces.program import RewardProgram
from search_spaces.state import FIELDS
from tests.random_programs import random_state, write_program
from tests.strategies import programs, states

NAMES = [field.name for field in FIELDS]


def rows(several: list[dict[str, float]]) -> np.ndarray:
    return np.array([[state[name] for name in NAMES] for state in several])


def identical(one: np.ndarray, other: np.ndarray) -> bool:
    """Bit by bit, but that one NaN is as good as another."""
    return bool(
        np.array_equal(
            np.where(np.isnan(one), np.nan, one).view(np.int64), np.where(np.isnan(other), np.nan, other).view(np.int64)
        )
    )


def check(program: RewardProgram, several: list[dict[str, float]]) -> None:
    result = RewardMachine(program).evaluate(rows(several))
    reference = [program.evaluate(state) for state in several]
    assert result.faults.tolist() == [each.fault for each in reference]
    assert identical(result.totals, np.array([each.total for each in reference])), program.source
    parts = np.array([list(each.components.values()) for each in reference]).reshape(result.components.shape)
    assert identical(result.components, parts), program.source


@given(programs(), st.lists(states(), min_size=1, max_size=4), st.lists(states(absurd=True), min_size=1, max_size=4))
@settings(max_examples=60)
def test_equals_the_reference_on_any_graph(
    program: RewardProgram, ordinary: list[dict[str, float]], absurd: list[dict[str, float]]
) -> None:
    check(program, ordinary + absurd)


def test_equals_the_reference_on_random_programs() -> None:
    for seed in range(200):
        source = random.Random(seed)
        program = compile_program(write_program(source))
        assert isinstance(program, RewardProgram)
        check(program, [random_state(source) for _ in range(12)])


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_blocks_cover_every_row(count: int) -> None:
    program = compile_program(
        'def compute_reward(state):\n    a = state["ttc"] * 2\n    return a + state["lane"], {"a": a, "b": 3.0}\n'
    )
    assert isinstance(program, RewardProgram)
    machine = RewardMachine(program)
    states = np.random.default_rng(count).normal(size=(count, len(FIELDS)))
    first = machine.evaluate(states)
    assert first.totals.tolist() == [2 * row[NAMES.index("ttc")] + row[NAMES.index("lane")] for row in states.tolist()]
    assert first.components.shape == (count, 2)
    assert (first.components[:, 1] == 3.0).all()
    kept = first.totals.copy()
    machine.evaluate(states + 1.0)
    assert np.array_equal(first.totals, kept)


def test_takes_states_in_any_layout_and_refuses_other_shapes() -> None:
    program = compile_program('def compute_reward(state):\n    return state["ttc"]\n')
    assert isinstance(program, RewardProgram)
    machine = RewardMachine(program)
    states = np.random.default_rng(0).normal(size=(10, len(FIELDS)))
    assert np.array_equal(machine.evaluate(np.asfortranarray(states)).totals, states[:, NAMES.index("ttc")])
    for wrong in (states[:, :5], states[0], states.astype(np.float32)):
        with pytest.raises(ValueError, match="expected states float64"):
            machine.evaluate(wrong)


def test_a_fault_is_counted_and_clipping_comes_after() -> None:
    source = (
        'def compute_reward(state):\n    return 1 / state["lane"] * 1e6 * state["ttc"], {"a": log(state["speed_ms"])}\n'
    )
    program = compile_program(source)
    assert isinstance(program, RewardProgram)
    base = dict.fromkeys(NAMES, 1.0)
    several = [base, {**base, "lane": 0.0}, {**base, "speed_ms": 0.0}, {**base, "ttc": -5.0}, {**base, "ttc": math.nan}]
    result = RewardMachine(program).evaluate(rows(several))
    assert result.faults.tolist() == [False, True, True, False, True]
    assert result.totals[0] == 1e6
    assert result.totals[3] == -1e6
    assert np.isnan(result.totals[[1, 2, 4]]).all()


def test_the_machine_has_every_operation() -> None:
    elsewhere = {"const", "inf", "true", "false", "number"}
    assert set(OPERATION_NAMES) | elsewhere == set(OPERATIONS)


def draw(source: random.Random) -> float:
    match source.randrange(8):
        case 0:
            return source.choice(
                [0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, 2.5, -2.5, 1e308, 5e-324, 2.0**52 + 0.5]
            )
        case 1:
            return source.uniform(-1, 1) * 10.0 ** source.uniform(-300, 300)
        case 2:
            return round(source.uniform(-100, 100), source.randrange(7))
        case 3:
            return source.randrange(-(10**6), 10**6) / 2 ** source.randrange(12)
        case 4:
            return source.uniform(1, 9) * 10.0 ** source.uniform(8, 18)
        case _:
            return source.uniform(-100, 100)


def test_arithmetic_without_libm_is_written_twice_alike() -> None:
    source = random.Random(0)
    for _ in range(4_000):
        x, y = draw(source), draw(source)
        for name in ("minimum", "maximum", "modulo", "floor_divide", "hypot"):
            one, other = getattr(semantics, name)(x, y), getattr(reward_arithmetic, name)(x, y)
            assert identical(np.array([one]), np.array([other])), (name, x, y)
        assert identical(np.array([semantics.sign(x)]), np.array([reward_arithmetic.sign(x)]))
        for digits in range(7):
            one, other = semantics.decimals(x, digits), reward_arithmetic.decimals(x, digits)
            assert identical(np.array([one]), np.array([other])), (x, digits)
