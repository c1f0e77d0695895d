import copy
import math
import pickle
import random
import struct
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_spaces.errors import ProgramError
from search_spaces.graph import graph_from_json
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.semantics import hypot
from search_spaces.state import STANDARD_STATE
from tests.random_programs import cpython, random_state, write_program
from tests.strategies import constants, programs, states

PLAIN = """
import math

def compute_reward(state):
    # Secret words of the author.
    '''More of them.'''
    gain = 0.5 * state["speed_ms"] / 30.0
    cost = 0.5 if state["ttc"] < 1.5 else 0.0
    unused = state["lane"] * 3
    return gain - cost, {"gain": gain, "cost": cost}
"""


def compiled(source: str) -> RewardProgram:
    program = compile_program(source)
    assert isinstance(program, RewardProgram), program
    return program


def test_says_what_it_reads_and_names() -> None:
    program = compiled(PLAIN)
    assert program.fields == {"speed_ms", "ttc"}
    assert program.component_names == ("gain", "cost")
    assert program.evaluate(STANDARD_STATE).components == {"gain": 0.5 * 25.0 / 30.0, "cost": 0.0}


def test_holds_nothing_of_the_authors_prose() -> None:
    program = compiled(PLAIN)
    assert program.source == (
        "def compute_reward(state):\n"
        '    gain = 0.5 * state["speed_ms"] / 30.0\n'
        '    cost = 0.5 if state["ttc"] < 1.5 else 0.0\n'
        "    total = gain - cost\n"
        '    return total, {"gain": gain, "cost": cost}\n'
    )
    assert b"Secret" not in pickle.dumps(program)
    assert b"unused" not in pickle.dumps(program)


def test_is_a_value() -> None:
    program, again = compiled(PLAIN), compiled(PLAIN.replace("gain", "benefit").replace('benefit":', 'gain":'))
    assert program == again
    assert hash(program) == hash(again)
    for twin in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program), RewardProgram(program.graph)):
        assert twin == program
        assert (twin.source, twin.digest) == (program.source, program.digest)
    assert graph_from_json(program.graph.to_json()) == program.graph


def test_each_literal_has_its_own_address() -> None:
    program = compiled(PLAIN)
    assert program.constants == (0.5, 30.0, 1.5, 0.5, 0.0)
    changed = program.with_constants([0.7, 31.0, 2.5, 4.0, 0.0])
    assert changed.constants == (0.7, 31.0, 2.5, 4.0, 0.0)
    assert "0.7 * state" in changed.source
    assert "4.0 if state" in changed.source
    assert program.with_constants(program.constants) == program


def test_a_total_or_component_that_is_a_literal_has_an_address_too() -> None:
    program = compiled('def compute_reward(state):\n    return 1.0, {"a": 2.0, "b": 1.0}\n')
    assert program.constants == (1.0, 2.0, 1.0)
    evaluation = program.with_constants([3.0, 4.0, 5.0]).evaluate(STANDARD_STATE)
    assert (evaluation.total, evaluation.components) == (3.0, {"a": 4.0, "b": 5.0})


@pytest.mark.parametrize(("values", "code"), [([1.0], "E_ARITY"), ([math.nan] * 5, "E_CONST"), ([1e7] * 5, "E_CONST")])
def test_refuses_impossible_constants(values: list[float], code: str) -> None:
    with pytest.raises(ProgramError) as caught:
        compiled(PLAIN).with_constants(values)
    assert caught.value.code == code


@given(programs(), st.data())
@settings(max_examples=40)
def test_other_constants_keep_the_structure(program: RewardProgram, data: st.DataObject) -> None:
    values = data.draw(st.lists(constants, min_size=len(program.constants), max_size=len(program.constants)))
    changed = program.with_constants(values)
    assert changed.component_names == program.component_names
    assert changed.fields <= program.fields
    assert program.with_constants(program.constants).digest == program.digest


@given(programs(), states(), states(absurd=True))
@settings(max_examples=80)
def test_any_program_is_a_finite_number_or_a_counted_fault(
    program: RewardProgram, state: dict[str, float], absurd: dict[str, float]
) -> None:
    for each in (state, absurd):
        evaluation = program.evaluate(each)
        assert tuple(evaluation.components) == program.component_names
        if evaluation.fault:
            assert math.isnan(evaluation.total)
            assert program.first_fault(each)
        else:
            assert abs(evaluation.total) <= 1e6
            assert all(map(math.isfinite, evaluation.components.values()))
            assert program.first_fault(each) is None


def bits(number: float) -> bytes:
    return struct.pack("d", number)


def test_equals_cpython_where_cpython_returns_a_finite_float() -> None:
    compared = same_zeros = zeros = 0
    for seed in range(300):
        source = random.Random(seed)
        text = write_program(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            function = cpython(text)
        program = compiled(text)
        for _ in range(4):
            state = random_state(source)
            try:
                answer = function(state)
            except (ArithmeticError, ValueError, TypeError):
                program.evaluate(state)
                continue
            total, parts = answer if isinstance(answer, tuple) else (answer, {})
            expected = [total, *(parts.get(name, 0.0) for name in program.component_names)]
            # Python's integers are unbounded and its powers may be complex: neither is float64.
            if not all(isinstance(each, (int, float)) and abs(each) < 1e300 for each in expected):
                continue
            if not all(map(math.isfinite, program._values(state))):
                continue
            found = program.evaluate(state)
            assert not found.fault
            expected[0] = min(max(expected[0], -1e6), 1e6)
            for one, two in zip(expected, [found.total, *found.components.values()], strict=True):
                assert one == two, (seed, text, state)
                compared += 1
                if one == 0.0 and isinstance(one, float):
                    zeros += 1
                    same_zeros += bits(one) == bits(two)
    assert compared > 1_000
    # The sign of a zero is CPython's too, but for a minus sign before a value that is an integer on some paths only.
    assert same_zeros > 0.95 * zeros > 0


def test_hypot_is_cpythons() -> None:
    source = random.Random(0)
    for _ in range(20_000):
        x, y = (source.uniform(-1, 1) * 10.0 ** source.choice([0, 0, 1, 3, -3, 12, -150, 150, -300, 300]) for _ in "xy")
        assert hypot(x, y) == math.hypot(x, y)
    for x, y in ((0.0, 0.0), (-3.0, 0.0), (math.inf, math.nan), (5e-324, 5e-324)):
        assert hypot(x, y) == math.hypot(x, y)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 / state['collided']", math.inf),
        ("-1 / state['collided']", -math.inf),
        ("state['collided'] / state['collided']", math.nan),
        ("log(state['collided'])", -math.inf),
        ("log(-1.0)", math.nan),
        ("math.log1p(-1.0)", -math.inf),
        ("math.log2(0.0) + math.log10(0.0)", -math.inf),
        ("(-2.0) ** 0.5", math.nan),
        ("9 ** 9 ** 9", math.inf),
        ("(-9.0) ** 999999", -math.inf),
        ("0.0 ** -1", math.inf),
        ("(-0.0) ** -1", -math.inf),
        ("(-0.0) ** -2", math.inf),
        ("exp(1e6)", math.inf),
        ("math.expm1(1e6)", math.inf),
        ("sqrt(-1.0)", math.nan),
        ("sin(float('inf')) + cos(float('inf')) + math.tan(float('inf'))", math.nan),
        ("5 % state['collided']", math.nan),
        ("5 // state['collided']", math.inf),
        ("-5 // state['collided']", -math.inf),
        ("min(1.0, (-1) ** 0.5)", math.nan),
        ("max((-1) ** 0.5, 1.0)", math.nan),
        ("clip((-1) ** 0.5, 0, 1)", math.nan),
        ("sign((-1) ** 0.5)", math.nan),
        ("round(float('inf')) + int(float('inf')) + floor(float('inf')) + round(float('inf'), 2)", math.inf),
        ("sigmoid(-1e6)", 0.0),
        ("1.0 if (-1) ** 0.5 < 1 or (-1) ** 0.5 >= 1 or (-1) ** 0.5 == (-1) ** 0.5 else 0.0", 0.0),
        ("1.0 if (-1) ** 0.5 != 1 and (-1) ** 0.5 else 0.0", 1.0),
    ],
)  # fmt: skip
def test_total_semantics(expression: str, expected: float) -> None:
    program = compiled(f"def compute_reward(state):\n    return {expression}\n")
    value = program._values(STANDARD_STATE)[program.graph.total]
    assert value == expected or (math.isnan(expected) and math.isnan(value))
    assert program.evaluate(STANDARD_STATE).fault == (not math.isfinite(expected))


def test_names_the_operation_at_fault_and_not_a_guarded_one() -> None:
    source = "x = state['collided']\n    g = 1 / x if x else 0.0\n    return g + sqrt(state['lane'] - 2)"
    program = compiled(f"def compute_reward(state):\n    {source}\n")
    assert program.first_fault(STANDARD_STATE) == 'sqrt(state["lane"] - 2.0)'


def test_a_missing_field_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        compiled(PLAIN).evaluate({"speed_ms": 1.0})
