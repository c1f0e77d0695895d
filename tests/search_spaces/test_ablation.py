import pytest

from search_spaces.ablation import without_component
from search_spaces.hand_tuned import HAND_TUNED
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.starting_programs import STARTING_PROGRAMS
from search_spaces.state import STANDARD_STATE

CRASHED = {**STANDARD_STATE, "collided": 1.0, "ttc": 1.0, "time_headway": 0.4}


def program(text: str) -> RewardProgram:
    if not text.startswith("def"):
        text = "def compute_reward(state):\n" + "".join(f"    {line}\n" for line in text.split("\n"))
    compiled = compile_program(text)
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


@pytest.mark.parametrize("name", [*STARTING_PROGRAMS, "hand_tuned"])
def test_each_component_of_a_sum_can_be_dropped_and_the_others_stay(name: str) -> None:
    whole = program({**STARTING_PROGRAMS, "hand_tuned": HAND_TUNED}[name])
    for component in whole.component_names:
        left = without_component(whole, component)
        assert isinstance(left, RewardProgram)
        assert left.component_names == tuple(each for each in whole.component_names if each != component)
        for state in (STANDARD_STATE, CRASHED):
            before, after = whole.evaluate(state), left.evaluate(state)
            assert after.total == pytest.approx(before.total - before.components[component])
            assert all(after.components[each] == before.components[each] for each in after.components)


def test_a_component_that_is_weighted_in_the_total_goes_with_its_weight() -> None:
    whole = program(
        'speed = state["speed_ms"] / 30.0\n'
        'crash = state["collided"]\n'
        "total = 0.5 * speed - 3.0 * crash\n"
        'return total, {"speed": speed, "crash": crash}'
    )
    left = without_component(whole, "crash")
    assert isinstance(left, RewardProgram)
    assert left.evaluate(CRASHED).total == pytest.approx(0.5 * CRASHED["speed_ms"] / 30.0)
    assert "collided" not in left.fields


def test_a_frame_around_the_sum_stays() -> None:
    whole = program(
        'speed = state["speed_ms"] / 30.0\n'
        'crash = -3.0 * state["collided"]\n'
        "bonus = 5.0\n"
        "total = clip(speed + crash + bonus, -1.0, 1.0)\n"
        'return total, {"speed": speed, "crash": crash, "bonus": bonus}'
    )
    left = without_component(whole, "bonus")
    assert isinstance(left, RewardProgram)
    assert left.evaluate(CRASHED).total == -1.0


def test_what_is_no_summand_or_all_there_is_cannot_be_dropped() -> None:
    factor = program(
        'safe = 1.0 - state["collided"]\n'
        'speed = state["speed_ms"] / 30.0\n'
        "total = speed * safe\n"
        'return total, {"safe": safe, "speed": speed}'
    )
    assert "no summand" in str(without_component(factor, "safe"))
    alone = program('speed = state["speed_ms"] / 30.0\nreturn speed, {"speed": speed}')
    assert "nothing is left" in str(without_component(alone, "speed"))


def test_a_component_that_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="expected one of"):
        without_component(program(STARTING_PROGRAMS["progress"]), "comfort")
