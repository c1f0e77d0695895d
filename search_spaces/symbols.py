"""Operators, component keys and state keys: from syntax to the names of the graph, with hints for near misses."""

import ast
import difflib
from collections.abc import Mapping

from search_spaces.errors import ProgramError
from search_spaces.operations import check_component_name
from search_spaces.state import FIELD_INDEX

ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}


def arithmetic_operation(operator: ast.operator, node: ast.stmt | ast.expr) -> str:
    """Return the graph's name of an operator.

    Raises:
        ProgramError: `E_NODE` for a bitwise or matrix operator.
    """
    op = ARITHMETIC.get(type(operator))
    if op is None:
        name = type(operator).__name__
        hint = "Use and / or between conditions." if name in ("BitAnd", "BitOr") else "Use + - * / // % **."
        raise ProgramError("E_NODE", f"the operator {name}", node.lineno, hint)
    return op


def component_key(key: ast.expr | None) -> str:
    """Return the name that a literal key of a dict of components gives.

    Raises:
        ProgramError: `E_NODE` when it is not a literal identifier.
    """
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        message = "the key of a component must be written out as a string"
        raise ProgramError("E_NODE", message, getattr(key, "lineno", None), 'Write {"safety": ...}.')
    check_component_name(key.value)
    return key.value


def nearest_field(name: str) -> str:
    """Return a hint that names the nearest state field, or all of them."""
    lowered = name.lower()
    near = difflib.get_close_matches(lowered, FIELD_INDEX, 1, 0.6)
    near = near or [field for field in FIELD_INDEX if lowered and (lowered in field or field in lowered)][:1]
    known = "The fields are " + ", ".join(FIELD_INDEX) + "."
    return f'Did you mean state["{near[0]}"]? {known}' if near else known
