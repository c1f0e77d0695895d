import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from search_spaces.language import compile_program
from search_spaces.parts import split
from search_spaces.program import RewardProgram
from search_spaces.random_programs import FEWEST, MOST, random_program


@settings(max_examples=60)
@given(st.integers(0, 2**31))
def test_random_programs_are_legal_sums_and_a_function_of_the_seed(seed: int) -> None:
    program = random_program(np.random.default_rng(seed))
    again = compile_program(program.source)
    assert isinstance(again, RewardProgram)
    assert again.digest == program.digest == random_program(np.random.default_rng(seed)).digest
    names = [part.name for part in split(program.graph).parts]
    assert FEWEST <= len(program.graph.components) <= MOST
    assert len(set(names)) == len(names)


def test_every_number_of_parts_is_drawn_and_most_programs_know_the_collision() -> None:
    rng = np.random.default_rng(0)
    programs = [random_program(rng) for _ in range(200)]
    assert {len(program.graph.components) for program in programs} == set(range(FEWEST, MOST + 1))
    assert len({program.digest for program in programs}) == 200
    assert 20 <= sum("collided" in program.fields for program in programs) <= 180
