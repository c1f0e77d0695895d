import pytest

from search_spaces.language import compile_program
from search_spaces.operations import MAX_COMPONENT_NAME
from search_spaces.parts import ONE, split, unused_name
from search_spaces.program import RewardProgram
from search_spaces.state import STANDARD_STATE


def program(body: str) -> RewardProgram:
    compiled = compile_program("def compute_reward(state):\n" + "".join(f"    {line}\n" for line in body.split("\n")))
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


def parts(body: str) -> list[tuple[str, float]]:
    return [(part.name, part.weight) for part in split(program(body).graph).parts]


def test_a_sum_is_taken_apart_by_component() -> None:
    body = (
        'speed = 0.5 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)\n'
        'danger = -2.0 if state["ttc"] < 1.5 else 0.0\n'
        "alive = 0.3\n"
        'crash = state["collided"] * 3.0\n'
        "total = speed + danger + alive - crash\n"
        'return total, {"speed": speed, "danger": danger, "alive": alive, "crash": crash}'
    )
    assert parts(body) == [("speed", 0.5), ("danger", -2.0), ("alive", 0.3), ("crash", -3.0)]


def test_a_component_that_is_a_sum_stays_whole() -> None:
    body = (
        'safety = -clip(1.0 - state["ttc"] / 4.0, 0.0, 1.0) - 0.5 * state["lane_changed"]\n'
        'total = state["speed_ms"] / 30.0 + safety\n'
        'return total, {"safety": safety}'
    )
    assert parts(body) == [("speed_ms", 1.0), ("safety", 1.0)]


def test_without_components_fields_give_the_names() -> None:
    body = 'return state["speed_ms"] / 30.0 - state["collided"] + state["speed_ms"] * state["ttc"] + 0.1'
    assert parts(body) == [("speed_ms", 1.0), ("collided", -1.0), ("speed_ms_ttc", 1.0), ("constant", 0.1)]


@pytest.mark.parametrize(
    "frame",
    [
        "clip({}, -1.0, 1.0)",
        "math.tanh({})",
        '-10.0 if state["collided"] > 0.5 else {}',
        "0.01 * ({})",
        "min({}, 2.0)",
        "-clip({}, -5.0, 5.0) / 2.0",
    ],
)
def test_a_sum_in_a_frame_is_opened_and_the_frame_kept(frame: str) -> None:
    inside = 'state["speed_ms"] / 30.0 - 0.5 * state["lane_changed"] - state["overtook"]'
    framed = program("return " + frame.format(f"({inside})"))
    whole = split(framed.graph)
    assert [part.name for part in whole.parts] == ["speed_ms", "lane_changed", "overtook"]
    joined = whole.join(whole.parts)
    assert joined is not None
    for state in (STANDARD_STATE, {**STANDARD_STATE, "collided": 1.0, "lane_changed": 1.0, "overtook": 1.0}):
        assert RewardProgram(joined).evaluate(state).total == pytest.approx(framed.evaluate(state).total)


def test_components_of_a_program_that_returns_early_keep_their_names() -> None:
    body = (
        'if state["collided"]:\n'
        "    return -10.0\n"
        'speed = state["speed_ms"] / 30.0\n'
        'gap = 0.2 * clip(state["front_dist"] / 50.0, 0.0, 1.0)\n'
        'return speed + gap, {"speed": speed, "gap": gap}'
    )
    assert parts(body) == [("speed", 1.0), ("gap", 0.2)]


@pytest.mark.parametrize(
    "body",
    [
        'return clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)',
        'return state["speed_ms"]',
        'return math.tanh(state["speed_ms"] - 20.0)',
        'return 1.0 / (1.0 + state["ttc"])',
    ],
)
def test_what_is_no_sum_of_two_quantities_is_one_part(body: str) -> None:
    whole = split(program(body).graph)
    assert len(whole.parts) == 1
    assert whole.frame == ()


def test_joining_the_same_parts_gives_the_same_reward() -> None:
    body = (
        'speed = 0.4 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)\n'
        'total = speed + 0.3 - (state["collided"] - 0.1 * state["lane"])\n'
        'return total, {"speed": speed}'
    )
    before = program(body)
    whole = split(before.graph)
    graph = whole.join(whole.parts)
    assert graph is not None
    assert RewardProgram(graph).evaluate(STANDARD_STATE).total == pytest.approx(before.evaluate(STANDARD_STATE).total)
    assert ONE in [part.body for part in whole.parts]


def test_parts_beyond_the_limits_are_left_out() -> None:
    whole = split(program('return state["speed_ms"] + state["ttc"]').graph)
    many = [type(whole.parts[0])(f"part{n}", 1.0, whole.parts[0].body) for n in range(40)]
    graph = whole.join(many)
    assert graph is not None
    assert len(graph.components) == 16
    assert whole.join([]) is None


def test_names_stay_legal_and_apart() -> None:
    long = "a" * 60
    assert len(unused_name(long, set())) == MAX_COMPONENT_NAME
    assert unused_name(long, {unused_name(long, set())}) == "a" * (MAX_COMPONENT_NAME - 2) + "_2"
    assert unused_name("speed", {"speed", "speed_2"}) == "speed_3"


def test_a_program_that_is_one_component_keeps_its_name() -> None:
    assert parts('own = state["front_dist"] / 50.0\nreturn own, {"own": own}') == [("own", 1.0)]
    total = 'total = state["front_dist"] + state["lane"]\nreturn total, {"all": total}'
    assert [name for name, _ in parts(total)] == ["front_dist", "lane"]
