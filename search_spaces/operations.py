"""The one table of operations that a reward graph is made of: their argument and result types, and their spelling.

Numbers are float64, IEEE, and nothing raises; booleans are separate and become numbers (0 or 1) only through `number`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from search_spaces.errors import ProgramError
from search_spaces.state import FIELD_INDEX

Kind = Literal["number", "bool"]

MAX_CONSTANT = 1e6
"""Largest size of a literal: beyond it value functions break, and no reward needs it."""
MAX_NODES = 600
"""Nodes of one graph after inlining: ends programs that double themselves line by line."""
MAX_COMPONENTS = 16
"""Named components of one program."""
MAX_COMPONENT_NAME = 40
"""Characters of a component's name."""
MAX_DIGITS = 6
"""Largest number of digits in `round(x, digits)`."""
TOTAL_LIMIT = 1e6
"""A finite total is clipped to [-TOTAL_LIMIT, TOTAL_LIMIT]."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the graph.

    Attributes:
        arguments: Types of its arguments. `select` is the one exception: its last two arguments and its result may be
            numbers or booleans, but all of one type.
        result: Type of its result.
        spelling: How canonical text writes it: an infix operator, a prefix, or the name of a function.
        binding: How tightly the spelling binds, as in Python's grammar; `CALL` for functions and literals.
        commutative: Whether the digest ignores the order of its two arguments, and how a chain of it is nested.
    """

    arguments: tuple[Kind, ...]
    result: Kind
    spelling: str
    binding: int
    commutative: bool = False


CONDITION, OR, AND, NOT, COMPARISON, SUM, PRODUCT, UNARY, POWER, CALL = range(10)
"""Binding strengths of Python's grammar, weakest first."""


def _functions(names: Mapping[str, str]) -> dict[str, Operation]:
    return {op: Operation(("number",), "number", spelling, CALL) for op, spelling in names.items()}


def _infix(spellings: Mapping[str, str], argument: Kind, result: Kind, binding: int) -> dict[str, Operation]:
    commutative = ("add", "mul", "eq", "ne", "and", "or")
    return {
        op: Operation((argument, argument), result, spelling, binding, op in commutative)
        for op, spelling in spellings.items()
    }


OPERATIONS: Mapping[str, Operation] = {
    "const": Operation((), "number", "", CALL),
    "field": Operation((), "number", "state", CALL),
    "inf": Operation((), "number", 'float("inf")', CALL),
    "true": Operation((), "bool", "True", CALL),
    "false": Operation((), "bool", "False", CALL),
    "number": Operation(("bool",), "number", "float", CALL),
    "not": Operation(("bool",), "bool", "not ", NOT),
    "neg": Operation(("number",), "number", "-", UNARY),
    **_infix({"or": "or"}, "bool", "bool", OR),
    **_infix({"and": "and"}, "bool", "bool", AND),
    **_infix({"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}, "number", "bool", COMPARISON),
    **_infix({"add": "+", "sub": "-"}, "number", "number", SUM),
    **_infix({"mul": "*", "div": "/", "floordiv": "//", "mod": "%"}, "number", "number", PRODUCT),
    **_infix({"pow": "**"}, "number", "number", POWER),
    **_functions({op: op for op in ("abs", "sqrt", "exp", "log", "tanh", "sin", "cos", "sign", "sigmoid")}),
    **_functions({op: f"math.{op}" for op in ("log1p", "expm1", "log10", "log2", "tan", "atan")}),
    # Not int, floor, ceil, round: in canonical text nothing is a Python integer.
    **_functions({op: f"np.{op}" for op in ("floor", "ceil", "trunc", "round")}),
    "decimals": Operation(("number",), "number", "round", CALL),
    "min": Operation(("number", "number"), "number", "min", CALL, commutative=True),
    "max": Operation(("number", "number"), "number", "max", CALL, commutative=True),
    "hypot": Operation(("number", "number"), "number", "math.hypot", CALL, commutative=True),
    "clip": Operation(("number", "number", "number"), "number", "clip", CALL),
    "select": Operation(("bool", "number", "number"), "number", "if", CONDITION),
}
"""Operation name to operation. `const` carries a float, `field` a field name, `decimals` (`round(x, digits)`) the
digits; the others carry no value. `trunc`, `floor`, `ceil` and `round` give +0 rather than -0, as Python's integers
do; `round` is half-even; `clip(x, low, high)` is `min(max(x, low), high)`; `sigmoid(x)` is `1/(1 + exp(-x))`."""


def check_value(op: str, value: float | str | None) -> None:
    """Refuse a value that a node of `op` cannot carry.

    Raises:
        ProgramError: `E_CONST`, `E_KEY` or `E_TYPE`.
    """
    if op == "const":
        if not isinstance(value, float) or not math.isfinite(value) or abs(value) > MAX_CONSTANT:
            found = f"{value:g}" if isinstance(value, float) else "none"
            hint = f"Use constants of at most {MAX_CONSTANT:.0f} in size."
            message = f"the constant {found} is not finite or exceeds {MAX_CONSTANT:.0f} in size"
            raise ProgramError("E_CONST", message, hint=hint)
    elif op == "field":
        if value not in FIELD_INDEX:
            raise ProgramError("E_KEY", f"the state has no field {str(value)[:40]!a}")
    elif op == "decimals":
        if not isinstance(value, float) or value not in range(MAX_DIGITS + 1):
            raise ProgramError("E_CONST", f"round takes 0 to {MAX_DIGITS} digits")
    elif value is not None:
        raise ProgramError("E_TYPE", f"{op} carries no value")


def check_component_name(name: str) -> None:
    """Refuse a component name that could not be a column, a metric or an identifier.

    Raises:
        ProgramError: `E_NODE`.
    """
    legal = name.isascii() and name.isidentifier() and "__" not in name and len(name) <= MAX_COMPONENT_NAME
    if not legal:
        raise ProgramError(
            "E_NODE",
            f"component name {name[:48]!a} is not an ASCII identifier of at most {MAX_COMPONENT_NAME} characters "
            "without a double underscore",
            hint='Write names such as {"lane_change": ...}.',
        )
