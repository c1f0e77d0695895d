import re

import pytest
from hypothesis import given, settings

from search_spaces.errors import ProgramError
from search_spaces.graph import Graph, GraphBuilder
from search_spaces.language import compile_program
from search_spaces.limits import MAX_CHARACTERS, MAX_LINES
from search_spaces.printing import expression, printed
from search_spaces.program import RewardProgram
from search_spaces.starting_programs import STARTING_PROGRAMS
from tests.strategies import graphs, programs


@given(programs())
@settings(max_examples=80)
def test_canonical_text_compiles_to_the_same_graph(program: RewardProgram) -> None:
    again = compile_program(program.source)
    assert isinstance(again, RewardProgram), (again, program.source)
    assert again.graph == program.graph
    assert (again.source, again.digest) == (program.source, program.digest)


@given(graphs())
@settings(max_examples=50)
def test_canonical_text_is_plain(graph: Graph) -> None:
    text = printed(graph)
    assert text.isascii()
    assert "#" not in text
    assert all(len(line) < 1_000 for line in text.splitlines())
    assert text.startswith("def compute_reward(state):\n    ")


@pytest.mark.parametrize("name", STARTING_PROGRAMS)
def test_starting_programs_survive_printing(name: str) -> None:
    program = compile_program(STARTING_PROGRAMS[name])
    assert isinstance(program, RewardProgram)
    again = compile_program(program.source)
    assert again == program


@pytest.mark.parametrize(
    "text",
    [
        "(-2.0) ** 2.0",
        "-2.0 ** 2.0",
        "-(state[\"ttc\"] ** 2.0)",
        "(-state[\"ttc\"]) ** 2.0",
        "(state[\"ttc\"] ** 2.0) ** 3.0",
        "state[\"ttc\"] ** 2.0 ** 3.0",
        "state[\"ttc\"] - (1.0 - state[\"lane\"])",
        "state[\"ttc\"] / (2.0 * state[\"lane\"])",
        "(state[\"ttc\"] % 3.0 + 1.0) // 2.0",
        "1.0 - -2.0",
        "(1.0 if state[\"ttc\"] < 2.0 else 2.0) if state[\"lane\"] > 1.0 else 3.0",
        "1.0 if (True if state[\"ttc\"] < 1.0 else state[\"lane\"] > 0.0) else 2.0",
        "1.0 if not (state[\"ttc\"] < 2.0 and (state[\"lane\"] > 1.0 or not state[\"collided\"])) else 2.0",
        "float(float(state[\"ttc\"] < 2.0) == 1.0)",
        "max(min(state[\"ttc\"], 1.0, 2.0), 3.0, max(4.0, state[\"lane\"]))",
        "-float(\"inf\") if state[\"ttc\"] < 0.0 else 1.0",
    ],
)  # fmt: skip
def test_precedence_is_kept(text: str) -> None:
    program = compile_program(f"def compute_reward(state):\n    return {text}\n")
    assert isinstance(program, RewardProgram)
    again = compile_program(program.source)
    assert isinstance(again, RewardProgram)
    assert again.graph == program.graph


def test_component_names_that_cannot_be_variables_are_kept() -> None:
    parts = '{"min": state["ttc"] * 2, "class": state["ttc"] * 3, "total": 4.0}'
    program = compile_program(f"def compute_reward(state):\n    return 1.0, {parts}\n")
    assert isinstance(program, RewardProgram)
    assert program.component_names == ("min", "class", "total")
    assert re.search(r'"class": \w*', program.source)
    assert compile_program(program.source) == program


def test_a_graph_too_large_to_print_is_refused() -> None:
    builder = GraphBuilder()
    last = [builder.field("ttc"), builder.field("lane"), builder.field("speed_ms")]
    while len(builder.nodes) < 500:
        last = [*last[1:], builder.node("clip", *last)]
    with pytest.raises(ProgramError) as caught:
        printed(builder.finish(last[-1], {}))
    assert caught.value.code == "E_BUDGET"


def test_the_largest_programs_print_within_the_limits() -> None:
    lines = [f"    x{k} = x{k - 1} * 1.{k} + sin(x{k - 1}) - {k}.5" for k in range(1, 100)]
    text = "\n".join(["def compute_reward(state):", '    x0 = state["ttc"]', *lines, "    return x99", ""])
    program = compile_program(text)
    assert isinstance(program, RewardProgram), program
    assert len(program.source) <= MAX_CHARACTERS
    assert program.source.count("\n") <= MAX_LINES


def test_an_expression_for_a_message_is_short() -> None:
    builder = GraphBuilder()
    last = builder.field("ttc")
    for _ in range(60):
        last = builder.node("add", last, last)
    assert len(expression(builder.finish(last, {}), 60)) <= 203
