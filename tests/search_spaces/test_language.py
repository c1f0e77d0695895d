import json
import math
import threading
import time
import warnings
from pathlib import Path

import pytest

from search_spaces.language import compile_program
from search_spaces.program import CODES, RewardProgram, Violation
from search_spaces.state import STANDARD_STATE

CASES = Path(__file__).parent.parent / "cases"


def accepted(source: str | bytes) -> RewardProgram:
    program = compile_program(source)
    assert isinstance(program, RewardProgram), program
    return program


def refused(source: str | bytes) -> Violation:
    violation = compile_program(source)
    assert isinstance(violation, Violation), violation.source
    assert violation.code in CODES
    assert violation.message
    return violation


def body(*lines: str, before: str = "") -> str:
    return before + "def compute_reward(state):\n" + "".join(f"    {line}\n" for line in lines)


def value(source: str) -> float:
    evaluation = accepted(source).evaluate(STANDARD_STATE)
    assert not evaluation.fault
    return evaluation.total


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (body("speed = state['speed_ms']", "lane = state['lane']", "speed, lane = lane, speed", "return speed"), 1.0),
        (body("a = b = 2.0", "return a + b"), 4.0),
        (body("(a, b) = (1.0, 2.0)", "return a + 10 * b"), 21.0),
        (body("x: float", "x = 1.5", "return x"), 1.5),
        (body("x: 'float | None' = 1.5", "return x"), 1.5),
        (body("s = state", "return s['ttc']"), 3.0),
        (body("return True"), 1.0),
        (body("return (1.0)"), 1.0),
        (body("if state['ttc'] > 1:", "    return 2.0", "else:", "    return 3.0", "return 4.0"), 2.0),
        (body("return 1.0", "x = 2.0"), 1.0),
        (body("r = 1.0", "return r; r = 2"), 1.0),
        (body("return -2 ** 2"), -4.0),
        (body("return 2 ** -1"), 0.5),
        (body("return 2 ** 3 ** 2"), 512.0),
        (body("return 7 // -2 + 7 % -2 + -7 // 2 + -7 % 2"), -4.0 - 1.0 - 4.0 + 1.0),
        (body("return round(2.5) + round(3.5) + round(-0.5) + round(2.675, 2)"), 2.0 + 4.0 + 0.0 + 2.67),
        (body("return round(0.125, 2) + np.round(2.5) + np.round(0.125, 2)"), 0.12 + 2.0 + 0.12),
        (body("return int(-2.7) + int(2.7) + math.trunc(-0.5)"), 0.0),
        (body("return bool(0.1) + bool(0.0) + (not 3)"), 1.0),
        (body("return 0 or 0.0 or 5"), 5.0),
        (body("return 2 and 3"), 3.0),
        (body("return 0.0 and 3"), 0.0),
        (body("x = 2 > 1 and 0.25", "return x"), 0.25),
        (body("return 1 < 2 < 3 == 3.0"), 1.0),
        (body("return 1.0 if not state['collided'] else 1 / 0"), 1.0),
        (body("x = state['collided']", "return 1.0 / x if x else 7.0"), 7.0),
        (body("return min(math.inf, state['ttc']) + max(-np.inf, 1)"), 4.0),
        (body("return min(float('inf'), float('-Infinity') * -1, 2.0)"), 2.0),
        (body("return min((1.0, 2.0, 3.0)) + max([4.0])"), 5.0),
        (body("return sum((1, 2, 3)) + sum([])"), 6.0),
        (body("c = {}", "c['a'] = 1.0", "c['a'] += 2.0", "return c['a'], c"), 3.0),
        (body("c = dict(a=1.0, b=2.0)", "return sum(c.values()), c"), 3.0),
        (body("c = dict()", "c['a'] = 1.0", "return c['a'], c"), 1.0),
        (body("r = (2.0, {'a': 1.0})", "return r"), 2.0),
        (body("total, parts = 2.0, {'a': 1.0}", "return total, parts"), 2.0),
        (body("return 2.0, {}"), 2.0),
        (body("import math", "import numpy as np", "return math.sqrt(4.0)"), 2.0),
        (body("from typing import Any", "return numpy.clip(5, 0, 1)"), 1.0),
        (body("return np.hypot(3, 4) + math.hypot(5, 12)"), 18.0),
        (body("return np.square(-3) + np.power(2, 3) + np.fmin(1, 2) + np.fmax(1, 2)"), 20.0),
        (body("return np.arctan(0.0) + math.atan(0.0) + np.sign(-3) + sign(0)"), -1.0),
        (body("return abs(-3) + math.fabs(-3.5) + np.abs(-1)"), 7.5),
        (body("return state.get('ttc') + state.get('lane', 1 + 1)"), 4.0),
        (body("return 1e6 + 1_000_000"), 1e6),
        (body("return -(-(3))"), 3.0),
        (body("return 0x10 + 0b11 + 0o7 + .5 + 5."), 31.5),
        (body('"""Doc – ünïcode “quotes” 漢字."""', "# comment …", "return 1.0"), 1.0),
        (body("'doc'", "return 1.0"), 1.0),
        (body("return f(2, y=3)", before="def f(x, y):\n    return x * y\n"), 6.0),
        (body("return f(2)") + "def f(x):\n    x = x + 1\n    return x\n", 3.0),
        (body("return g(2)", before="def f(x):\n    return x + 1\ndef g(x):\n    return f(x) * f(x)\n"), 9.0),
        (body("a, b = f(2)", "return a - b", before="def f(x):\n    return x, x + 1\n"), -1.0),
        (body("return f(state)", before="def f(s):\n    return s['ttc']\n"), 3.0),
        (body("return f()", before="W = 2\ndef f():\n    if W > 1:\n        pass\n    return 2.0 * W\n"), 4.0),
        (body("return f()", before="W = 2\ndef f():\n    if W > 1:\n        return 1.0\n    return 2.0\n"), 1.0),
        (body("return f(state)", before="def f(s):\n    return 1.0, {'a': s['ttc']}\n"), 1.0),
        (body("return W['speed'] * K", before="W = {'speed': 0.5}\nK: float = 4\nK *= 2\n"), 4.0),
        (body("return B", before="A = 2.0\nB = A * 3 if A > 1 else 0\n"), 6.0),
        (body("return A") + "A = 2.0\n", 2.0),
        (body("return C", before="def f(x):\n    return 2 * x\nC = f(4)\n"), 8.0),
        ('"""Module."""\n"Another."\n' + body("return 1.0"), 1.0),
        (body("lambda_ = 2", "match = 3", "_ = 4", "type = 5", "return lambda_ + match + _ + type"), 14.0),
        (body("sum_ = 1", "len = 2", "print = 3", "return sum_ + len + print"), 6.0),
        ("def compute_reward(state: dict[str, float]) -> tuple[float, dict]:\n    return 1.0\n", 1.0),
        ("def compute_reward(state: 'Mapping') -> float | None:\n    return 1.0\n", 1.0),
        ("import typing\ndef compute_reward(state: typing.Dict[str, float]):\n    return 1.0\n", 1.0),
        ("def compute_reward(obs): return obs['ttc']", 3.0),
        ("def compute_reward(state):\n\treturn 1.0\n", 1.0),
        ("def compute_reward(state):\r    return 1.0\r", 1.0),
        (body("if True:", "    p = 1.0", "else:", "    p = 2.0", "return p"), 1.0),
        (body("if state['ttc'] < 1: r = 0.0", "elif state['ttc'] < 5: r = 1.0", "else: r = 2.0", "return r"), 1.0),
        (body("x = 1.0", "if x > 0:", "    pass", "return x"), 1.0),
        (body("return sigmoid(0) + exp(0) + log(1) + tanh(0) + sin(0) + cos(0)"), 2.5),
        (body("return pow(2, 0.5) ** 2 - math.pow(2, 0.5) ** 2"), 0.0),
        (body("return math.e - np.e + math.pi - np.pi"), 0.0),
        (body("return float(True) + float(3) - int(True)"), 3.0),
        (body("return 10 ** 7 / 10 ** 7"), 1.0),
        (body("return 1" + " + 1" * 50), 51.0),
    ],
)  # fmt: skip
def test_accepts_with_pythons_value(source: str, expected: float) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (body("if state['ttc'] > 1:", "    W = 2.0", "return W", before="W = 1.0\n"), "E_UNBOUND"),
        (body("x = W", "W = 2.0", "return x", before="W = 1.0\n"), "E_UNBOUND"),
        (body("W += 1", "return W", before="W = 1.0\n"), "E_UNBOUND"),
        (body("c = {'a': 1.0}", "d = c", "d['b'] = 2.0", "return 1.0, c"), "E_TYPE"),
        (body("c = {}", "d = c if state['lane'] else {}", "d['b'] = 2.0", "return 1.0, c"), "E_TYPE"),
        (body("c = {'a': 1.0}", "t = (1.0, c)", "c['a'] = 2.0", "return t"), "E_NODE"),
        (body("W['a'] = 2.0", "return 1.0", before="W = {'a': 1.0}\n"), "E_NODE"),
        (body("state['ttc'] += 1", "return 1.0"), "E_NODE"),
        (body("s = state", "s['ttc'] = 1", "return 1.0"), "E_NODE"),
        (body("state = 1.0", "return state"), "E_NAME"),
        (body("return f(1)", before="def f(x, y=2):\n    return x\n"), "E_STRUCTURE"),
        (body("return f(1)", before="def f(x, x):\n    return x\n"), "E_SYNTAX"),
        (body("return f(1, 2)", before="def f(x):\n    return x\n"), "E_ARITY"),
        (body("return f(1, x=2)", before="def f(x):\n    return x\n"), "E_ARITY"),
        (body("return f(1)", before="def f(x):\n    return 1 if x > 0 else (1, 2)\n"), "E_TYPE"),
        (body("return f(1)", before="def f(x):\n    if x > 0:\n        return x\n"), "E_RETURN"),
        (body("return compute_reward(state)"), "E_CALL"),
        (body("return math.log(2, 10)"), "E_ARITY"),
        (body("return max(1, 2, key=abs)"), "E_NODE"),
        (body("return round(1.5, 9)"), "E_CONST"),
        (body("return round(1.5, state['lane'])"), "E_CONST"),
        (body("return sum(state.values())"), "E_TYPE"),
        (body("return state.get('ttc', None)"), "E_TYPE"),
        (body("return state.get('tcc', 1.0)"), "E_KEY"),
        (body("return state.get()"), "E_ARITY"),
        (body("return state"), "E_TYPE"),
        (body("return state['ttc'] + state"), "E_TYPE"),
        (body("return exp"), "E_TYPE"),
        (body("return math"), "E_TYPE"),
        (body("x = {'a': 1.0}", "return x + 1"), "E_TYPE"),
        (body("return 1j"), "E_TYPE"),
        (body("return ..."), "E_TYPE"),
        (body("return float('nan')"), "E_CONST"),
        (body("return float('1.5')"), "E_TYPE"),
        (body("return 1.0, {'a b': 1.0}"), "E_NODE"),
        (body("return 1.0, {'ä': 1.0}"), "E_NODE"),
        (body("return 1.0, {'" + "a" * 41 + "': 1.0}"), "E_NODE"),
        (body("return 1.0, {a: 1.0}"), "E_NODE"),
        (body("return 1.0, dict(state)"), "E_CALL"),
        (body("return 1.0, dict(**state)"), "E_NODE"),
        (body("return 1.0, {'a': (1.0, 2.0)}"), "E_TYPE"),
        (body("return 1.0,"), "E_TYPE"),
        (body("t = (1.0, (2.0, 3.0))", "return 1.0"), "E_TYPE"),
        (body("return"), "E_RETURN"),
        (body("pass"), "E_RETURN"),
        (body("a, b = 1.0", "return a"), "E_TYPE"),
        (body("a, b = 1.0, 2.0, 3.0", "return a"), "E_TYPE"),
        (body("[a, b] = 1.0, 2.0", "return a"), "E_NODE"),
        (body("1.0", "return 1.0"), "E_NODE"),
        (body("return 1.0 if state['ttc'] is None else 2.0"), "E_NODE"),
        (body("return f'{1}'"), "E_NODE"),
        (body("match state['lane']:", "    case 1: return 1.0", "return 2.0"), "E_NODE"),
        (body("try:", "    return 1.0", "except Exception:", "    return 0.0"), "E_NODE"),
        (body("for i in (1, 2): pass", "return 1.0"), "E_NODE"),
        (body("del state", "return 1.0"), "E_NODE"),
        (body("assert state['ttc'] > 0", "return 1.0"), "E_NODE"),
        (body("raise ValueError", "return 1.0"), "E_NODE"),
        (body("return ~1"), "E_NODE"),
        (body("return 1 ^ 2"), "E_NODE"),
        (body("return max(*[1, 2])"), "E_NODE"),
        (body("return await f()"), "E_NODE"),
        (body("return {1.0}"), "E_NODE"),
        (body("return state[0]"), "E_KEY"),
        (body("return state['ttc']['x']"), "E_NODE"),
        (body("return np.array([1.0])[0]"), "E_NODE"),
        (body("return (1.0).real"), "E_NODE"),
        (body("return np.random"), "E_NODE"),
        (body("return getattr(state, 'x')"), "E_CALL"),
        (body("x = print", "return x"), "E_NAME"),
        (body("max = 1.0", "return max"), "E_NAME"),
        (body("np = 1.0", "return np"), "E_NAME"),
        (body("return 1.0", before="def helper(clip):\n    return clip\n"), "ok"),
        (body("return helper(1)", before="def helper(clip):\n    return clip\n"), "E_NAME"),
        (body("return 1.0", before="def f(x):\n    return x\ndef f(x):\n    return x\n"), "E_NAME"),
        (body("a__b = 1.0", "return a__b"), "E_NAME"),
        (body("return f(__x=1)", before="def f(x):\n    return x\n"), "E_ARITY"),
        ("def compute_reward(max):\n    return 1.0\n", "E_NAME"),
        ("def compute_reward(state, extra):\n    return 1.0\n", "E_STRUCTURE"),
        ("def compute_reward(state, *, k=1):\n    return 1.0\n", "E_STRUCTURE"),
        ("def compute_reward(**state):\n    return 1.0\n", "E_STRUCTURE"),
        ("async def compute_reward(state):\n    return 1.0\n", "E_NODE"),
        ("compute_reward = lambda state: 1.0\n", "E_NODE"),
        ("class compute_reward: pass\n", "E_NODE"),
        ("if True:\n    def compute_reward(state):\n        return 1.0\n", "E_STRUCTURE"),
        (body("return 1.0") + "print(compute_reward({}))\n", "E_NODE"),
        (body("return 1.0") + "if __name__ == '__main__':\n    pass\n", "E_NAME"),
        ("from math import *\n" + body("return 1.0"), "E_IMPORT"),
        ("from math import exp as min\n" + body("return 1.0"), "E_IMPORT"),
        ("from typing import Dict as np\n" + body("return 1.0"), "E_IMPORT"),
        ("from typing import Dict as __d__\n" + body("return 1.0"), "E_IMPORT"),
        (body("from typing import min", "return 1.0"), "E_NODE"),
        ("import math as np\n" + body("return 1.0"), "E_IMPORT"),
        ("import numpy as math\n" + body("return 1.0"), "E_IMPORT"),
        ("import numpy.ctypeslib\n" + body("return 1.0"), "E_IMPORT"),
        ("from .typing import x\n" + body("return 1.0"), "E_IMPORT"),
        ("def compute_reward(state) -> print():\n    return 1.0\n", "E_NODE"),
        ("def compute_reward(state: x.__class__):\n    return 1.0\n", "E_NODE"),
        ("def compute_reward(state: a[lambda: 0]):\n    return 1.0\n", "E_NODE"),
        (b"\xff\xfe", "E_ENCODING"),
        (body("return '\ud800'"), "E_ENCODING"),
        (body("return 1.0  # \u2028"), "E_ENCODING"),
        (body("return 1.0  # \u00ad"), "E_ENCODING"),
        (body("return 1.0\f"), "E_ENCODING"),
        (body("return 1.0  # \x7f"), "E_ENCODING"),
        (body("ﬁ = 1.0", "return ﬁ"), "E_NAME"),
        (body("x² = 1.0", "return 1.0"), "E_NAME"),
        (body("return “1.0”"), "E_SYNTAX"),
        (body("return 5 − 3"), "E_SYNTAX"),
        (body("x = '''never ends", "return 1.0"), "E_SYNTAX"),
        (body("x = 'never ends", "return 1.0"), "E_SYNTAX"),
        (body("a" * 65 + " = 1", "return 1.0"), "E_NAME"),
        (body("return 1000001"), "E_CONST"),
        (body("return 0." + "1" * 40), "E_CONST"),
        (body("return 1" + "0" * 31), "E_CONST"),
        (body("return " + "(" * 31 + "1" + ")" * 31), "E_DEPTH"),
        (body("return " + "-" * 5_000 + "1"), "E_DEPTH"),
        (body("return " + "not " * 3_000 + "1"), "E_DEPTH"),
        (body("return 1" + " + 1" * 70), "E_DEPTH"),
        (body("return " + "[" * 7_000), "E_DEPTH"),
        (body("return 0x" + "f" * 1_000_000), "E_SIZE"),
        (body("return 0x" + "f" * 10_000), "E_CONST"),
        (body(*("x = 1.0",) * 400, "return x"), "E_SIZE"),
        (body(*("x = " + "+".join(["1"] * 40),) * 90, "return x"), "E_SIZE"),
        ("", "E_STRUCTURE"),
        ("\n\n", "E_STRUCTURE"),
        ("x = 1\n", "E_STRUCTURE"),
    ],
)  # fmt: skip
def test_refuses_with_a_code(source: str | bytes, code: str) -> None:
    if code == "ok":
        accepted(source)
    else:
        violation = refused(source)
        assert violation.code == code, violation


def test_every_refusal_is_quick() -> None:
    texts = [
        body("return " + "-" * 15_900 + "1"),
        body("return " + "1+" * 7_000 + "1"),
        body("return " + "2**" * 5_000 + "1"),
        body("return " + "[" * 15_900),
        body("return " + "(lambda: " * 30 + "1" + ")" * 30),
        body("return " + "1 if 1 else " * 1_300 + "1"),
        "def f(" * 2_000,
        "if 1:\n" * 300,
        "".join(f"{' ' * k}if 1:\n" for k in range(120)),
        body("x = '" + "\\" * 15_000 + "'"),
        body("return " + "a." * 7_000 + "b"),
        body("return x" + "[0]" * 5_000),
        body("return f" + "()" * 7_000),
        '"""\\"""' * 2_200,
        body("return " + "f'{" * 5_000),
        "@" * 16_000,
        ";" * 16_000,
        "# " + "é" * 15_000,
        body("return " + "1_" * 7_000 + "1"),
    ]
    towers = [f"{name} = ({name}, {name})" for name in "tu" for _ in range(60)]
    texts.append(body("t = state['ttc']", "u = state['lane']", *towers, "return t if state['collided'] else u"))
    towers = ["def f0(t):\n    return t, t\n"]
    towers += [f"def f{k}(t):\n    t = f{k - 1}(t)\n    return t, t\n" for k in range(1, 50)]
    texts.append("".join(towers) + body("t = f49(state['ttc'])", "u = f49(1.0)", "return t if state['lane'] else u"))
    permutations = "def f0(a, b, c, d):\n    return a\n"
    for k in range(1, 12):
        permutations += (
            f"def f{k}(a, b, c, d):\n    return f{k - 1}(b, c, d, a) + f{k - 1}(d, a, c, b) + f{k - 1}(a, b, d, c)\n"
        )
    texts.append(permutations + body("return f11(1, 2, 3, 4)"))
    for text in texts:
        began = time.process_time()
        violation = refused(text)
        assert time.process_time() - began < 0.5, (violation, text[:60])


def test_a_program_as_deep_as_allowed_survives_a_deep_stack() -> None:
    def deeper(level: int) -> RewardProgram | Violation:
        return compile_program(text) if level == 0 else deeper(level - 1)

    helpers = "def f0(x):\n    return x\n"
    for k in range(1, 15):
        helpers += f"def f{k}(x):\n    return " + "-abs(" * 8 + f"f{k - 1}(x)" + ")" * 8 + "\n"
    text = helpers + body("return f14(state['ttc'])")
    for level in (0, 500, 800, 900):
        answer = deeper(level)
        assert isinstance(answer, RewardProgram) or answer.code in ("E_DEPTH", "E_BUDGET")


def test_warnings_of_the_parser_stay_inside() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(body("return 1.0 if 1 is 1 else 0"))
        accepted(body("'\\d'", "return 1.0"))
        refused(body("return 1if 1else 2()"))


def test_threads_leave_the_warning_filters_alone() -> None:
    before = list(warnings.filters)
    text = body("'\\d'", "return 1.0")
    threads = [threading.Thread(target=lambda: [compile_program(text) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (body("return state['overtake']"), 2, 'Did you mean state["overtook"]'),
        (body("x = 1.0", "return state['speed']"), 3, 'Did you mean state["speed_ms"]'),
        (body("return state['zzz']"), 2, "The fields are speed_ms, front_dist, ttc"),
        (body("return ttc * 2"), 2, 'state["ttc"]'),
        (body("speed = 1.0", "return sped"), 3, "Did you mean speed?"),
        (body("return f(1)", before="def f(x):\n    return x + state['ttc']\n"), 2, "pass state"),
        (body("return log10(2)"), 2, "math.log10"),
        (body("return math.exq(2)"), 2, "math.exp"),
        (body("if state['ttc'] < 1:", "    p = 1.0", "return p"), 4, "before the if"),
        (body("r = 1.0", "for i in range(3):", "    r += i", "return r"), 3, "no loops"),
        (body("print('x')", "return 1.0"), 2, "Remove the call of print"),
        (body("def inner(x):", "    return x", "return inner(1)"), 2, "above compute_reward"),
        ("def reward(state):\n    return 1.0\n", None, "Rename reward to compute_reward"),
        (body("return np.clip(1, 2)"), 2, "clip(x, low, high)"),
        (body("return 1.0 & 2"), 2, "and / or"),
        (body("return 1.0, {'lane-change': 1.0}"), 2, "lane_change"),
        (body("return {'total': 1.0}"), 2, "return total"),
    ],
)  # fmt: skip
def test_says_where_and_what_to_do(source: str, line: int | None, words: str) -> None:
    violation = refused(source)
    assert violation.line == line
    assert words in violation.hint


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (("x = (", "    1.0", "    + 1e30", ")", "return x"), 4),
        (("return (1.0", "    + state)"), 3),
        (("return (1.0 +", "    round(1.5, 9))"), 3),
        (("return 1.0, {", "    'a': 1.0,", "    'b': (1.0, 2.0),", "}"), 4),
        (("return 1.0, {", "    'a': 1.0,", "    'b c': 2.0,", "}"), 4),
    ],
)  # fmt: skip
def test_a_fault_inside_a_long_statement_has_its_own_line(lines: tuple[str, ...], line: int) -> None:
    assert refused(body(*lines)).line == line
    assert refused(body("return f()", before="def f():\n" + "".join(f"    {each}\n" for each in lines))).line == line


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ("velocity", "speed_ms"),
        ("time_to_collision", "ttc"),
        ("front_distance", "front_dist"),
        ("distance_to_front", "front_dist"),
        ("relative_velocity", "rel_vel_ms"),
        ("crashed", "collided"),
        ("lane_index", "lane"),
        ("lane_change", "lane_changed"),
        ("lateral_jerk", "lat_jerk"),
        ("acceleration", "accel_ms2"),
        ("target_speed", "target_speed_ms"),
    ],
)  # fmt: skip
def test_knows_what_others_call_a_field(wanted: str, field: str) -> None:
    assert refused(body(f"return state['{wanted}']")).hint.startswith(f'Did you mean state["{field}"]?')


def test_nothing_of_a_refused_text_is_printed_raw() -> None:
    for text in (
        body("return state['\\x1b[2J\\x00']"),
        body("return 1.0, {'\\x1b]0;x\\x07': 1.0}"),
        body("x\x1b = 1"),
        body("return ünïcode"),
    ):
        violation = refused(text)
        assert (violation.message + violation.hint).isprintable()
        assert violation.message.isascii()


def test_a_component_missing_on_a_path_is_zero_there() -> None:
    source = body("if state['collided']:", "    return -10.0", "return 1.0, {'a': state['ttc']}")
    crashed = accepted(source).evaluate({**STANDARD_STATE, "collided": 1.0})
    assert (crashed.total, crashed.components) == (-10.0, {"a": 0.0})


def test_programs_that_misbehave_in_value() -> None:
    programs = json.loads((CASES / "programs.json").read_text())
    fine = {"log_zero", "constant_reward", "always_negative_suicide", "crash_penalty_clipped_away"}
    for name, source in programs.items():
        program = compile_program(source)
        usable = isinstance(program, RewardProgram) and not program.evaluate(STANDARD_STATE).fault
        assert usable == (name in fine), name


def test_a_non_finite_component_is_a_fault() -> None:
    evaluation = accepted(body("return 1.0, {'a': log(state['collided'])}")).evaluate(STANDARD_STATE)
    assert evaluation.fault
    assert math.isnan(evaluation.total)
