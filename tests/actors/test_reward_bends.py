import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.reward_bends import bends
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.starting_programs import STARTING_PROGRAMS


def found(expression: str, field: str = "time_headway") -> tuple[float, ...]:
    program = compile_program(f"def compute_reward(state):\n    h = state['{field}']\n    return {expression}\n")
    assert isinstance(program, RewardProgram), program
    return bends(program, field)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1.0 if h > 0.6 else 0.0", (0.6,)),
        ("1.0 if 0.6 >= h else 0.0", (0.6,)),
        ("1.0 if 0.5 < h < 0.8 else 0.0", (0.5, 0.8)),
        ("min(h - 1.5, 0.0)", (1.5,)),
        ("max(2.0 - h, 0.0) * 3.0", (2.0,)),
        ("clip(1.0 - h / 4.0, 0.0, 1.0)", (0.0, 4.0)),
        ("-abs(2.0 * h - 3.0)", (1.5,)),
        ("sigmoid((h - 1.2) / 0.1)", (1.2,)),
        ("1.0 if h * state['speed_ms'] > 20.0 else 0.0", ()),
        ("h / 3.0", ()),
        ("1.0 if h - h > 0.5 else h", ()),
        ("1.0 if h > state['front_dist'] else 0.0", ()),
        ("1.0 if state['ttc'] > 3.0 else h", ()),
    ],
)
def test_where_a_program_bends(expression: str, expected: tuple[float, ...]) -> None:
    assert found(expression) == pytest.approx(expected)


@given(st.floats(0.1, 100.0), st.floats(0.1, 50.0), st.booleans())
def test_the_reward_differs_on_the_two_sides(threshold: float, scale: float, below: bool) -> None:
    sign = "<" if below else ">"
    source = (
        f"def compute_reward(state):\n    return 1.0 if state['front_dist'] / {scale!r} {sign} {threshold!r} else 0.0\n"
    )
    program = compile_program(source)
    assert isinstance(program, RewardProgram)
    [bend] = bends(program, "front_dist")
    before, after = (program.evaluate({"front_dist": bend * factor}).total for factor in (0.999, 1.001))
    assert {before, after} == {0.0, 1.0}


@pytest.mark.parametrize("name", STARTING_PROGRAMS)
def test_programs_without_distances_set_none(name: str) -> None:
    program = compile_program(STARTING_PROGRAMS[name])
    assert isinstance(program, RewardProgram)
    assert bends(program, "time_headway") == bends(program, "front_dist") == ()
