"""The reward tuned by hand is a fair baseline: it passes the gate, and no search starts from it or beside it."""

import numpy as np
import pytest

from actors.finals import trained_baselines
from actors.gate import Gate
from search_spaces.edits import MOVES
from search_spaces.hand_tuned import HAND_TUNED
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import PRESETS
from search_spaces.starting_programs import STARTING_PROGRAMS
from tests.searches import small_plan

DRAWS = 300


def program(text: str) -> RewardProgram:
    compiled = compile_program(text)
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


def shape(of: RewardProgram) -> str:
    """The digest of a program whose constants are all the same: equal for programs that differ in constants alone."""
    return of.with_constants([0.5] * len(of.constants)).digest


def test_it_passes_the_gate_without_a_warning() -> None:
    assert Gate(PRESETS["highway-fast-v0"]).judge(program(HAND_TUNED)) is None


def test_it_is_among_the_baselines_of_a_search() -> None:
    baselines = {each.id: each for each in trained_baselines(small_plan())}
    assert list(baselines) == ["ppo-native", "ppo-hand-tuned"]
    assert baselines["ppo-hand-tuned"].digest == program(HAND_TUNED).digest
    assert baselines["ppo-native"].source == ""


def test_no_search_starts_from_it_nor_from_it_with_other_constants() -> None:
    seeds = [program(text) for text in STARTING_PROGRAMS.values()]
    mine = program(HAND_TUNED)
    assert mine.digest not in {each.digest for each in seeds}
    assert shape(mine) not in {shape(each) for each in seeds}


@pytest.mark.parametrize("move", MOVES)
def test_no_search_starts_from_what_one_edit_makes_of_it(move: str) -> None:
    seeds = {shape(program(text)) for text in STARTING_PROGRAMS.values()}
    mine = program(HAND_TUNED)
    rng = np.random.default_rng(2026)
    neighbours = {each.digest: each for each in (MOVES[move](mine, rng) for _ in range(DRAWS))}
    assert len(neighbours) > DRAWS / 10
    assert not seeds & {shape(each) for each in neighbours.values()}
