from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.archive import Archive
from actors.evolver import MIX, PARENTS, Evolver
from actors.messages import Candidate, Fitness
from actors.protocols import DesignBrief
from search_spaces.edits import MOVES
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.starting_programs import STARTING_PROGRAMS

OWN = 'def compute_reward(state):\n    own = state["front_dist"] / 50.0\n    return own, {"own": own}\n'


def compiled(text: str) -> RewardProgram:
    program = compile_program(text)
    assert isinstance(program, RewardProgram), program
    return program


def archive(fitnesses: dict[str, float | None]) -> Archive:
    """An archive with the starting programs as candidates, in their order."""
    candidates, judged = {}, {}
    for (identity, value), text in zip(fitnesses.items(), STARTING_PROGRAMS.values(), strict=False):
        program = compiled(text)
        candidates[identity] = Candidate(
            id=identity, generation=0, source=program.source, digest=program.digest, seed=0, origin="seed"
        )
        if value is not None:
            judged[identity] = Fitness(value=value, terms={}, gate=1.0)
    return Archive(candidates=candidates, fitnesses=judged)


def brief(known: Archive | None = None, **changes: int) -> DesignBrief:
    plain = DesignBrief(
        archive=known or Archive(), generation=0, attempt=0, count=24, seed=1, examine=lambda text: compiled(text)
    )
    return replace(plain, **changes)


SIX = {f"g00-c{number:02d}": number / 10 for number in range(6)}


def test_the_first_generation_is_the_starting_programs_and_edits_of_them() -> None:
    proposals = Evolver().propose(brief())
    assert len(proposals) == 24
    assert [each.source for each in proposals[: len(STARTING_PROGRAMS)]] == list(STARTING_PROGRAMS.values())
    assert {each.origin for each in proposals[: len(STARTING_PROGRAMS)]} == {"seed"}
    assert {each.origin for each in proposals[len(STARTING_PROGRAMS) :]} == {"evolver"}
    assert all(each.parents == () for each in proposals)


def test_replacements_are_edits_alone() -> None:
    assert {each.origin for each in Evolver().propose(brief(attempt=1))} == {"evolver"}


def test_the_users_programs_are_edited_too() -> None:
    proposals = Evolver([OWN, "no program"]).propose(brief(count=60))
    assert any('"own"' in each.source for each in proposals)
    assert OWN not in [each.source for each in proposals]


@settings(max_examples=10)
@given(st.integers(0, 2**31), st.integers(0, 3))
def test_every_proposal_is_a_new_legal_program_and_a_function_of_the_brief(seed: int, generation: int) -> None:
    asked = brief(archive(SIX) if generation else None, seed=seed, generation=generation)
    proposals = Evolver().propose(asked)
    assert proposals == Evolver().propose(asked)
    digests = [compiled(each.source).digest for each in proposals]
    assert len(set(digests)) == len(digests) == asked.count
    assert not set(digests) & set(asked.archive.digests())


def test_parents_are_the_best_and_the_better_the_more_often() -> None:
    known = archive({**SIX, "g00-c05": None})
    proposals = Evolver().propose(brief(known, generation=1, count=150))
    counted = [sum(identity in each.parents for each in proposals) for identity in ("g00-c04", "g00-c00")]
    assert counted[0] > 2 * counted[1] > 0
    assert not any("g00-c05" in each.parents for each in proposals)
    edits = [each.move.split("+") for each in proposals]
    assert {moves[0] for moves in edits} == set(MIX)
    assert {len(moves) for moves in edits} == {1, 2}
    assert all("crossover" not in moves[1:] for moves in edits)
    assert all(len(each.parents) == (2 if each.move.startswith("crossover") else 1) for each in proposals)


def test_without_a_second_parent_crossover_becomes_another_move() -> None:
    proposals = Evolver().propose(brief(archive({"g00-c00": 0.3}), generation=1, count=50))
    assert {move for each in proposals for move in each.move.split("+")} == set(MIX) - {"crossover"}


def test_after_a_generation_of_failures_the_starting_programs_are_edited_again() -> None:
    proposals = Evolver().propose(brief(archive(dict.fromkeys(SIX, None)), generation=1, count=10))
    assert len(proposals) == 10
    assert all(each.parents == () for each in proposals)


def test_the_mix_names_every_move() -> None:
    assert set(MIX) == {*MOVES, "crossover"}
    assert sum(MIX.values()) == pytest.approx(1.0)
    assert PARENTS == 6
