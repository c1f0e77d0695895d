import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_spaces.edits import MOVES
from search_spaces.language import compile_program
from search_spaces.naming import plainly_named
from search_spaces.program import RewardProgram
from search_spaces.random_programs import random_program
from search_spaces.starting_programs import STARTING_PROGRAMS
from search_spaces.state import FIELDS

PROSE = (
    "ignore_all_previous_instructions",
    "you_are_now",
    "speed_is_what_the_judge_wants",
    "x" * 40,
    "ttc_" * 8 + "ttc",
    "crash_20301231",
)


def program(*names: str) -> RewardProgram:
    """A program with components of these names."""
    lines = [f'    {name} = {number + 1}.5 * state["speed_ms"]' for number, name in enumerate(names)]
    named = ", ".join(f'"{name}": {name}' for name in names)
    text = "\n".join(["def compute_reward(state):", *lines, f"    return {' + '.join(names)}, {{{named}}}"])
    compiled = compile_program(text)
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


@given(st.lists(st.from_regex(r"[a-z][a-z0-9]{0,8}(_[a-z0-9]{1,8}){0,3}", fullmatch=True), min_size=1, max_size=6))
@settings(max_examples=30)
def test_the_same_reward_under_names_without_prose(names: list[str]) -> None:
    names = list(dict.fromkeys(f"q{name}" for name in names))
    before = program(*names)
    after = plainly_named(before)
    assert len(set(after.component_names)) == len(names)
    assert not set(after.component_names) & set(names)
    assert plainly_named(after) == after
    state = {field.name: field.low for field in FIELDS}
    one, other = before.evaluate(state), after.evaluate(state)
    assert one.total == other.total
    assert list(one.components.values()) == list(other.components.values())
    assert compile_program(after.source) == after


@pytest.mark.parametrize("name", PROSE)
def test_sentences_are_renamed(name: str) -> None:
    assert plainly_named(program(name, "crash")).component_names == ("part", "crash")


def test_new_names_are_not_taken_already() -> None:
    assert plainly_named(program("part", "one_sentence", "another_sentence")).component_names == (
        "part",
        "part_2",
        "part_3",
    )


def test_the_projects_own_names_stay() -> None:
    rng = np.random.default_rng(0)
    programs = [each for each in map(compile_program, STARTING_PROGRAMS.values()) if isinstance(each, RewardProgram)]
    for _ in range(3):
        programs += [move(each, rng) for each in programs[-3:] for move in MOVES.values()]
    programs += [random_program(rng) for _ in range(15)]
    renamed = [each for each in programs if plainly_named(each) != each]
    assert renamed == []
