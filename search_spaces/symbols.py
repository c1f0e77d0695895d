"""Operators, component keys and state keys: from syntax to the names of the graph, with hints for near misses."""

import ast
from collections.abc import Mapping

from search_spaces.errors import ProgramError
from search_spaces.operations import check_component_name
from search_spaces.state import FIELD_INDEX

_LONGEST_KEY = 40
_UNITS = frozenset({"ms", "ms2", "ms3", "s", "m"})
_SYNONYMS: Mapping[str, str] = {
    "time_to_collision": "ttc",
    "relative_velocity": "rel_vel_ms",
    "relative_speed": "rel_vel_ms",
    "rel_speed": "rel_vel_ms",
    "time_gap": "time_headway",
    "distance": "front_dist",
    "dist": "front_dist",
    "gap": "front_dist",
    "jerk": "long_jerk",
    "num_lanes": "lanes_count",
}
"""What else authors call a field."""
_WORDS: Mapping[str, str] = {
    "velocity": "speed",
    "vel": "speed",
    "distance": "dist",
    "gap": "dist",
    "relative": "rel",
    "acceleration": "accel",
    "acc": "accel",
    "lateral": "lat",
    "longitudinal": "long",
    "collision": "collided",
    "crashed": "collided",
    "crash": "collided",
    "overtaking": "overtook",
}
"""What else authors call a word of a field."""

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
    try:
        check_component_name(key.value)
    except ProgramError as error:
        error.line = key.lineno
        raise
    return key.value


def nearest_field(name: str) -> str:
    """Return a hint that names the nearest state field, or all of them."""
    wanted = name[:_LONGEST_KEY].lower()
    wanted = _SYNONYMS.get(wanted, wanted)
    spellings = (wanted, "_".join(_WORDS.get(word, word) for word in wanted.split("_")))
    remoteness = {field: min(_remoteness(each, field) for each in spellings) for field in FIELD_INDEX}
    nearest = min(FIELD_INDEX, key=remoteness.__getitem__)
    known = "The fields are " + ", ".join(FIELD_INDEX) + "."
    return f'Did you mean state["{nearest}"]? {known}' if remoteness[nearest] <= len(wanted) / 2 else known


def _remoteness(wanted: str, field: str) -> int:
    """Return how far a name is from a field: by letters, but less for each common word and for a field all in it."""
    words = set(field.split("_")) - _UNITS
    common = words & set(wanted.split("_"))
    return _distance(wanted, field) - 3 * len(common) - 3 * (common == words)


def _distance(one: str, other: str) -> int:
    """Return how many insertions, deletions and replacements of a letter turn one name into the other."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, against in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != against))
    return row[-1]
