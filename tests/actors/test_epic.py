import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.epic import Embedding, Epic, distance, scaled_distance
from actors.lint_bank import record_bank
from search_spaces.edits import MOVES
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import PRESETS
from search_spaces.starting_programs import STARTING_PROGRAMS

BANK = record_bank(PRESETS["highway-fast-v0"])
EPIC = Epic(BANK.before, BANK.states, BANK.decision_s, 0.9)
BASE = 'state["speed_ms"] / 30.0 - 3.0 * state["collided"]'
AFTER, BEFORE = 'state["speed_ms"]', '(state["speed_ms"] - state["accel_ms2"])'


def embedded(text: str) -> Embedding:
    program = compile_program(text if "def " in text else f"def compute_reward(state):\n    return {text}\n")
    assert isinstance(program, RewardProgram), program
    embedding = EPIC.embedded(program)
    assert embedding is not None
    return embedding


def apart(text: str, other: str = BASE) -> float:
    return distance(embedded(other), embedded(text))


@pytest.mark.parametrize("factor", ["0.000001", "0.5", "100.0"])
def test_scale_does_not_count(factor: str) -> None:
    assert apart(f"{factor} * ({BASE})") < 1e-12
    assert scaled_distance(embedded(BASE), embedded(f"{factor} * ({BASE})")) < 1e-12


@pytest.mark.parametrize(
    "potential", ["0.1 * {0}", "0.01 * {0} ** 2", "3.0 * tanh({0} / 25.0 - 1.0)", "-2.0 + 0.0 * {0}"]
)
def test_shaping_by_a_potential_that_ends_with_the_crash_does_not_count(potential: str) -> None:
    after, before = potential.format(AFTER), potential.format(BEFORE)
    shaped = f'{BASE} + 0.9 * ({after}) * (1.0 - state["collided"]) - ({before})'
    assert apart(shaped) < 1e-9
    assert scaled_distance(embedded(BASE), embedded(shaped)) > 1e-3


def test_a_crash_penalty_is_as_good_as_pay_for_being_alive() -> None:
    # A penalty of 3 is the potential 3 that a crash loses: 0.3 less for every decision, discounted by 0.9.
    assert apart('state["speed_ms"] / 30.0 + (0.3 if not state["collided"] else 0.0)') < 1e-9


def test_a_constant_counts_because_episodes_end() -> None:
    assert apart(f"{BASE} - 1.0") > 0.1
    assert apart(f"{BASE} + 1.0") > 0.01


def test_the_opposite_is_farthest() -> None:
    assert apart(f"-({BASE})") == pytest.approx(1.0)


def test_a_constant_reward_is_far_from_any_other_and_not_from_itself() -> None:
    assert apart("0.0", "0.0") == 0.0
    assert apart("0.0") == pytest.approx(0.5)
    assert apart("5.0", "7.0") < 1e-12


def test_small_changes_are_small_and_rare_events_count() -> None:
    assert 0.0 < apart('state["speed_ms"] / 30.0 - 3.05 * state["collided"]') < 1e-3
    assert apart(f'{BASE} + 0.2 * state["was_overtaken"]') > 0.01
    assert apart(f"{BASE} - 0.5 * (state['front_dist'] < 3.0)") > 0.01


def test_a_program_that_is_not_finite_has_no_embedding() -> None:
    program = compile_program('def compute_reward(state):\n    return 1.0 / state["overtook"]\n')
    assert isinstance(program, RewardProgram)
    assert EPIC.embedded(program) is None


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_distances_are_a_metric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ones = []
    for name in rng.choice(sorted(STARTING_PROGRAMS), 3):
        program = compile_program(STARTING_PROGRAMS[str(name)])
        assert isinstance(program, RewardProgram)
        for move in rng.choice(sorted(MOVES), 2):
            program = MOVES[str(move)](program, rng)
        embedding = EPIC.embedded(program)
        assert embedding is not None
        ones.append(embedding)
    a, b, c = ones
    for measured in (distance, scaled_distance):
        assert measured(a, a) == 0.0
        assert measured(a, b) == measured(b, a)
        assert 0.0 <= measured(a, b) <= 1.0 + 1e-12
        assert measured(a, c) <= measured(a, b) + measured(b, c) + 1e-12
