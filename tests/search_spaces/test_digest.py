import pytest
from hypothesis import given, settings

from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from tests.strategies import programs


def digest(*lines: str) -> str:
    program = compile_program("def compute_reward(state):\n" + "".join(f"    {line}\n" for line in lines))
    assert isinstance(program, RewardProgram), program
    return program.digest


A, B, C = 'state["ttc"]', 'state["lane"]', 'state["speed_ms"]'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([f"return {A} + {B}"], [f"return {B} + {A}"]),
        ([f"return {A} * {B}"], [f"return {B} * {A}"]),
        ([f"return max({A}, {B}, {C})"], [f"return max({C}, {A}, {B})"]),
        ([f"return min({A}, min({B}, {C}))"], [f"return min(min({C}, {A}), {B})"]),
        ([f"return 0.5 * {A} + 2 * {B} - 3.0 * {C}"], [f"return {B} * 2 - {C} * 3 + {A} * 0.5"]),
        ([f"return {A} - 2.0 * {B}"], [f"return {A} + -2.0 * {B}"]),
        ([f"return {A} - {B}"], [f"return -{B} + {A}"]),
        ([f"return 1.0 if {A} < {B} else 2.0"], [f"return 1.0 if {B} > {A} else 2.0"]),
        ([f"return 1.0 if {A} == {B} else 2.0"], [f"return 1.0 if {B} == {A} else 2.0"]),
        ([f"return 1.0 if {A} > 1 and {B} > 1 else 0"], [f"return 1.0 if {B} > 1 and {A} > 1 else 0"]),
        ([f"return 1.0 if {A} > 1 or {B} > 1 else 0"], [f"return 1.0 if {B} > 1 or {A} > 1 else 0"]),
        ([f"return 1.0 if not {A} > 1 else 2.0"], [f"return 2.0 if {A} > 1 else 1.0"]),
        ([f"if {A} > 1:", "    return 1.0", "return 2.0"], [f"return 1.0 if {A} > 1 else 2.0"]),
        (
            [f"if {A} > 1:", "    return 1.0", f"if {B} > 1:", "    return 2.0", "return 3.0"],
            [f"if {A} > 1:", "    r = 1.0", f"elif {B} > 1:", "    r = 2.0", "else:", "    r = 3.0", "return r"],
        ),
        ([f"x = {A}", "return x"], [f"unused = {B}", "# comment", f"return ({A})"]),
        ([f"return {A}, {{'a': {B}, 'b': {C}}}"], [f"return {A}, {{'b': {C}, 'a': {B}}}"]),
        ([f"return -max(0, {A})"], [f"return -max(0.0, {A})"]),
        ([f"return {A} / 30"], [f"return {A} / 30.0 + 0.0"]),
    ],
)  # fmt: skip
def test_one_program_in_two_writings(one: list[str], other: list[str]) -> None:
    assert digest(*one) == digest(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([f"return {A} - {B}"], [f"return {B} - {A}"]),
        ([f"return {A} / {B}"], [f"return {B} / {A}"]),
        ([f"return {A} ** 2"], [f"return 2 ** {A}"]),
        ([f"return {A} % 2"], [f"return {A} // 2"]),
        ([f"return {A}"], [f"return -{A}"]),
        ([f"return abs({A})"], [f"return abs(-{A} - 1)"]),
        ([f"return exp({A})"], [f"return exp(-{A})"]),
        ([f"return 0.5 * {A}"], [f"return 0.25 * {A}"]),
        ([f"return 0.5 * {A}"], [f"return 0.5 + {A}"]),
        ([f"return {A} * {B} + {C}"], [f"return {A} * {C} + {B}"]),
        ([f"return min({A}, {B})"], [f"return max({A}, {B})"]),
        ([f"return 1.0 if {A} < {B} else 2.0"], [f"return 1.0 if {A} > {B} else 2.0"]),
        ([f"return 1.0 if {A} < {B} else 2.0"], [f"return 1.0 if {A} <= {B} else 2.0"]),
        ([f"return 1.0 if {A} < {B} else 2.0"], [f"return 2.0 if {A} < {B} else 1.0"]),
        ([f"return clip({A}, 0, 1)"], [f"return clip({A}, 1, 0)"]),
        ([f"return round({A}, 1)"], [f"return round({A}, 2)"]),
        ([f"return {A}"], [f"return {B}"]),
        ([f"return {A}"], [f"return {A}, {{'a': {A}}}"]),
        ([f"return {A}, {{'a': {A}}}"], [f"return {A}, {{'b': {A}}}"]),
        ([f"return ({A} + 1) * 2"], [f"return {A} + 1 * 2"]),
    ],
)  # fmt: skip
def test_two_programs(one: list[str], other: list[str]) -> None:
    assert digest(*one) != digest(*other)


def test_a_chain_that_doubles_costs_no_time() -> None:
    assert digest(f"x = {A}", *("x = x + x",) * 60, *("x = x * x",) * 60, *("x = max(x, x)",) * 5, "return x")


@given(programs())
@settings(max_examples=50)
def test_is_64_hexadecimal_digits_of_the_graph(program: RewardProgram) -> None:
    assert len(program.digest) == 64
    assert int(program.digest, 16) >= 0
    assert RewardProgram(program.graph).digest == program.digest
