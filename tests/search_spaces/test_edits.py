import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_spaces.components import COMPONENTS, CONDITIONS, CRASH
from search_spaces.edits import MAX_PARTS, MOVES, add_component, change_constants, change_weight, cross, is_crash
from search_spaces.graph import Graph
from search_spaces.language import compile_program
from search_spaces.parts import split
from search_spaces.program import RewardProgram
from search_spaces.starting_programs import STARTING_PROGRAMS
from search_spaces.state import FIELDS, STANDARD_STATE
from tests.strategies import graphs

CASES = Path(__file__).parents[1] / "cases"


def program(text: str) -> RewardProgram:
    compiled = compile_program(text)
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


def benign() -> list[RewardProgram]:
    cases = [json.loads(line) for line in (CASES / "benign_rewards.jsonl").read_text().splitlines()]
    compiled = [compile_program(case["source"]) for case in cases]
    return [each for each in compiled if isinstance(each, RewardProgram)]


POOL = [program(text) for text in STARTING_PROGRAMS.values()] + benign()
NAMES = [*MOVES, "crossover"]


def edited(move: str, one: RewardProgram, other: RewardProgram, rng: np.random.Generator) -> RewardProgram:
    return cross(one, other, rng) if move == "crossover" else MOVES[move](one, rng)


def sums(rng: np.random.Generator) -> RewardProgram:
    child = program(STARTING_PROGRAMS["progress"])
    for _ in range(4):
        child = add_component(child, rng)
    return child


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=8),
    st.sampled_from(POOL),
    st.sampled_from(POOL),
    st.integers(0, 2**32),
)
def test_any_edits_of_any_programs_are_legal_programs(
    moves: list[str], one: RewardProgram, other: RewardProgram, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    child = one
    for move in moves:
        child = edited(move, child, other, rng)
    again = compile_program(child.source)
    assert again == child
    state = {field.name: float(rng.uniform(field.low, field.high)) for field in FIELDS}
    evaluation = child.evaluate(state)
    assert evaluation.fault or np.isfinite(evaluation.total)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), graphs(), graphs(), st.integers(0, 2**32))
def test_any_graphs_can_be_edited(moves: list[str], one: Graph, other: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    child = RewardProgram(one)
    for move in moves:
        child = edited(move, child, RewardProgram(other), rng)
    again = compile_program(child.source)
    assert isinstance(again, RewardProgram)
    assert again.digest == child.digest


@settings(max_examples=60)
@given(st.sampled_from(NAMES), st.sampled_from(POOL), st.sampled_from(POOL), st.integers(0, 2**32))
def test_same_seed_same_child(move: str, one: RewardProgram, other: RewardProgram, seed: int) -> None:
    first, second = (edited(move, one, other, np.random.default_rng(seed)) for _ in range(2))
    assert first == second


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_a_weight_changes_one_component_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent = sums(rng)
    child = change_weight(parent, rng)
    before, after = split(parent.graph).parts, split(child.graph).parts
    assert [part.body for part in before] == [part.body for part in after]
    assert sum(old.weight != new.weight for old, new in zip(before, after, strict=True)) <= 1


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_constants_change_no_structure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent = sums(rng)
    child = change_constants(parent, rng)
    assert child.component_names == parent.component_names
    for old, new in zip(split(parent.graph).parts, split(child.graph).parts, strict=True):
        assert [node.op for node in old.body.nodes if node.op != "const"] == [
            node.op for node in new.body.nodes if node.op != "const"
        ]
        assert np.sign(old.weight) == np.sign(new.weight)


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_add_leaves_the_rest_alone_and_names_what_it_adds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent = program(STARTING_PROGRAMS["comfort"])
    child = add_component(parent, rng)
    assert child.component_names[:-1] == parent.component_names
    added = child.component_names[-1]
    assert any(added.startswith(component.name) for component in (*COMPONENTS, CRASH))
    before, after = parent.evaluate(STANDARD_STATE), child.evaluate(STANDARD_STATE)
    assert after.total == pytest.approx(before.total + after.components[added])


def test_programs_do_not_grow_without_end() -> None:
    rng = np.random.default_rng(0)
    child = POOL[0]
    for _ in range(40):
        child = add_component(child, rng)
    assert len(split(child.graph).parts) == MAX_PARTS


def test_crossover_mixes_both_and_seldom_loses_the_crash() -> None:
    rng = np.random.default_rng(0)
    one, other = program(STARTING_PROGRAMS["comfort"]), program(STARTING_PROGRAMS["overtake"])
    children = [cross(one, other, rng) for _ in range(200)]
    names = {name for child in children for name in child.component_names}
    assert {"speed", "alive", "jerk", "crash", "overtake"} <= names
    assert sum(any(map(is_crash, split(child.graph).parts)) for child in children) > 180
    assert all(len(set(child.component_names)) == len(child.component_names) for child in children)


def test_wrapping_makes_a_component_conditional_and_unwrapping_undoes_it() -> None:
    rng = np.random.default_rng(1)
    parent = program(STARTING_PROGRAMS["progress"])
    wrapped = MOVES["wrap"](parent, rng)
    [name] = [each for each in wrapped.component_names if each != "crash"]
    assert name.startswith("progress_when_")
    assert MOVES["wrap"](wrapped, rng) == parent


def test_a_single_part_has_no_weight_to_change() -> None:
    alone = program('def compute_reward(state):\n    return 2.0 * state["speed_ms"]\n')
    assert change_weight(alone, np.random.default_rng(0)) == alone


def test_vocabulary_is_the_reward_language_and_bounded() -> None:
    rng = np.random.default_rng(0)
    box = [{field.name: float(rng.uniform(field.low, field.high)) for field in FIELDS} for _ in range(50)]
    box = [{**state, "lanes_count": 8.0} for state in box]
    for each in (*COMPONENTS, CRASH, *CONDITIONS):
        for end in (0, 1):
            text = each.text.format(**{name: bounds[end] for name, bounds in each.blanks.items()})
            compiled = program(f"def compute_reward(state):\n    return {text}\n")
            values = [compiled.evaluate(state).total for state in box]
            assert all(-2.0 <= value <= 2.0 for value in values), each.name
    names = [each.name for each in (*COMPONENTS, CRASH)]
    assert len(set(names)) == len(names)


def test_starting_programs_are_readable_and_punish_crashes() -> None:
    for name, text in STARTING_PROGRAMS.items():
        compiled = program(text)
        assert "crash" in compiled.component_names, name
        safe, crashed = dict(STANDARD_STATE), {**STANDARD_STATE, "collided": 1.0}
        assert compiled.evaluate(crashed).total < compiled.evaluate(safe).total
    assert len({program(text).digest for text in STARTING_PROGRAMS.values()}) == len(STARTING_PROGRAMS)


def test_starting_programs_leave_time_to_collision_to_the_search() -> None:
    assert not any("ttc" in program(text).fields for text in STARTING_PROGRAMS.values())


def test_native_program_is_highway_envs_reward() -> None:
    native = program(STARTING_PROGRAMS["native"])
    state = {**STANDARD_STATE, "speed_ms": 26.0, "lane": 1.0, "lanes_count": 3.0, "collided": 0.0}
    weighted = 0.4 * 0.6 + 0.1 * 0.5
    assert native.evaluate(state).total == pytest.approx((weighted + 1.0) / 1.5, abs=1e-3)
    assert native.evaluate({**state, "collided": 1.0}).total == pytest.approx(weighted / 1.5, abs=1e-3)
