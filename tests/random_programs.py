"""Random reward programs as Python text, of every construct that the language has, for comparisons with CPython."""

import math
import random
from collections.abc import Callable, Mapping

from search_spaces.functions import CONSTANTS
from search_spaces.state import FIELDS

FIELD_NAMES = [field.name for field in FIELDS]
FLOATS = ["0.0", "-0.0", "0.5", "1.0", "-1.5", "2.0", "3.25", "0.1", "30.0", "1e-3", "1e6", "7.0"]
INTEGERS = ["0", "1", "2", "-1", "-2", "3", "10", "7"]
ONE = ["abs", "sqrt", "exp", "log", "tanh", "sin", "cos", "sign", "sigmoid", "math.log1p", "math.expm1", "math.log10"]
ONE += ["math.log2", "math.tan", "math.atan", "math.fabs", "float"]
WHOLE = ["int", "round", "floor", "ceil", "math.floor", "math.ceil", "math.trunc"]
TWO = ["+", "-", "*", "/", "//", "%"]
# Small ones: Python would compute the power of an integer exactly, however long that takes.
POWERS = ["2", "3", "0.5", "-1", "1.7", "0"]


def write_program(source: random.Random) -> str:
    """Return one random program that CPython accepts; it may raise there, or overflow."""
    writer = _Writer(source)
    lines = ["W = 2.5", "N = 3"]
    helper = source.random() < 0.4
    if helper:
        lines += ["def helper(x, y):", "    if x > y:", "        return x - y", f"    return {writer.helper_body()}"]
    lines.append("def compute_reward(state):")
    writer.callable_helper = helper
    lines += writer.body()
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.names: list[str] = []
        self.callable_helper = False
        self.sees_state = True
        self.lines: list[str] = []

    def helper_body(self) -> str:
        self.names, self.sees_state = ["x", "y"], False
        text = self.number(2)
        self.names, self.sees_state = [], True
        return text

    def body(self) -> list[str]:
        for k in range(self.source.randint(1, 5)):
            self.statement(f"v{k}")
        total = self.number(3)
        if self.source.random() < 0.5:
            self.lines.append(f"    return {total}")
        else:
            parts = ", ".join(f'"p{k}": {name}' for k, name in enumerate(self.names[:3]))
            self.lines.append(f"    return {total}, {{{parts}}}")
        return self.lines

    def statement(self, name: str) -> None:
        kind = self.source.randrange(7)
        add = self.lines.append
        if kind == 0:
            add(f"    if {self.condition(2)}:")
            add(f"        {name} = {self.number(2)}")
            if self.source.random() < 0.5:
                add(f"    elif {self.condition(1)}:")
                add(f"        {name} = {self.number(2)}")
            add("    else:")
            add(f"        {name} = {self.number(2)}")
        elif kind == 1 and self.names:
            before = self.source.choice(self.names)
            add(f"    {name} = {self.number(1)}")
            add(f"    {before} {self.source.choice(['+', '-', '*', '/'])}= {self.number(1)}")
        elif kind == 2:
            add(f"    {name} = {self.number(1)}")
            add(f"    if {self.condition(1)}:")
            add(f"        return {self.number(2)}")
        elif kind == 6:
            add(f"    if {self.condition(1)}:")
            add(f"        {name} = {self.number(1)}")
            add(f"        if {self.condition(1)}:")
            add(f"            return {self.number(1)}")
            add(f"        elif {self.condition(1)}:")
            add(f"            {name} = {self.number(2)}")
            add(f"    elif {self.condition(1)}:")
            add(f"        {'return' if self.source.random() < 0.5 else name + ' ='} {self.number(2)}")
            add("    else:")
            add(f"        {name} = {self.number(1)}")
        elif kind == 3 and self.names:
            before = self.source.choice(self.names)
            add(f"    {name}, {before} = {before}, {self.number(2)}")
        else:
            add(f"    {name} = {self.number(3)}")
        self.names.append(name)

    def number(self, depth: int) -> str:
        if depth <= 0 or self.source.random() < 0.15:
            return self.leaf()

        def one() -> str:
            return self.number(depth - 1)

        two = one
        match self.source.randrange(14):
            case 0 | 1 | 2 | 3:
                return f"({one()} {self.source.choice(TWO)} {two()})"
            case 13:
                return f"({one()} ** {self.source.choice(POWERS)})"
            case 4:
                return f"{self.source.choice(ONE)}({one()})"
            case 5:
                return f"{self.source.choice(WHOLE)}({one()})"
            case 6:
                return f"-{one()}" if self.source.random() < 0.7 else f"+{one()}"
            case 7:
                several = ", ".join(one() for _ in range(self.source.randint(2, 4)))
                return f"{self.source.choice(['min', 'max'])}({several})"
            case 8:
                return f"({one()} if {self.condition(depth - 1)} else {two()})"
            case 9:
                return f"({one()} {self.source.choice(['and', 'or'])} {two()})"
            case 10:
                return f"round({one()}, {self.source.randrange(7)})"
            case 11 if self.callable_helper:
                return f"helper({one()}, {two()})"
            case 12:
                return f"clip({one()}, {two()}, {one()})"
            case _:
                return self.condition(depth - 1)

    def condition(self, depth: int) -> str:
        comparison = self.source.choice(["<", "<=", ">", ">=", "==", "!="])
        if depth <= 0:
            return f"({self.leaf()} {comparison} {self.leaf()})"
        match self.source.randrange(5):
            case 0:
                return f"(not {self.condition(depth - 1)})"
            case 1:
                return f"({self.condition(depth - 1)} {self.source.choice(['and', 'or'])} {self.condition(depth - 1)})"
            case 2:
                return f"({self.leaf()} < {self.number(depth - 1)} {comparison} {self.leaf()})"
            case 3:
                return f"bool({self.number(depth - 1)})"
            case _:
                return f"({self.number(depth - 1)} {comparison} {self.number(depth - 1)})"

    def leaf(self) -> str:
        choice = self.source.random()
        if choice < 0.35 and self.sees_state:
            name = self.source.choice(FIELD_NAMES)
            return f'state["{name}"]' if self.source.random() < 0.8 else f'state.get("{name}", 0.0)'
        if choice < 0.6 and self.names:
            return self.source.choice(self.names)
        if choice < 0.7:
            return self.source.choice(INTEGERS)
        if choice < 0.75:
            return self.source.choice(["True", "False", "W", "N", "math.pi"])
        return self.source.choice(FLOATS)


def cpython(text: str) -> Callable[[Mapping[str, float]], object]:
    """Return `compute_reward` of a text of `write_program`, run by CPython itself."""
    functions = {
        "math": math,
        "clip": lambda x, low, high: min(max(x, low), high),
        "sign": lambda x: float((x > 0) - (x < 0)),
        "sigmoid": lambda x: 1.0 / (1.0 + math.exp(-x)),
        **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "tanh", "sin", "cos", "floor", "ceil")},
    }
    assert CONSTANTS["math.pi"] == math.pi
    exec(compile(text, "random program", "exec"), functions)  # noqa: S102
    function: Callable[[Mapping[str, float]], object] = functions["compute_reward"]  # type: ignore[assignment]
    return function


def random_state(source: random.Random) -> dict[str, float]:
    """Return a state inside the table's bounds, corners included."""
    state = {}
    for field in FIELDS:
        drawn = source.uniform(field.low, field.high)
        value = drawn if field.kind == "number" else float(round(drawn))
        state[field.name] = source.choice([value, value, value, 0.0, field.low, field.high])
    return state
