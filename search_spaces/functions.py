"""The one table of functions that a program may call, by the name that it calls them with.

Prompts, documentation, the compiler and its hints are derived from it. A name means an operation of the graph, never a
module or a Python object.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

MOST_ARGUMENTS = 8
"""Arguments of `min` and `max`."""


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the language.

    Attributes:
        op: Operation of the graph; `identity`, `truth`, `select`, `square` and `scaled_round` are written out.
        least: Smallest number of arguments.
        most: Largest number of arguments.
        integral: Whether Python returns an integer, which has no -0.
    """

    op: str
    least: int = 1
    most: int = 1
    integral: bool = False


def _spelled(prefix: str, names: str, **renamed: str) -> dict[str, Function]:
    return {prefix + name: Function(renamed.get(name, name)) for name in names.split()}


def _integral(prefix: str, names: str) -> dict[str, Function]:
    return {prefix + name: Function(name, integral=True) for name in names.split()}


FUNCTIONS: Mapping[str, Function] = {
    **_spelled("", "abs sqrt exp log tanh sin cos sign sigmoid float", float="identity"),
    **_integral("", "floor ceil"),
    "int": Function("trunc", integral=True),
    "bool": Function("truth", integral=True),
    "round": Function("round", 1, 2, integral=True),
    "min": Function("min", 2, MOST_ARGUMENTS),
    "max": Function("max", 2, MOST_ARGUMENTS),
    "pow": Function("pow", 2, 2),
    "clip": Function("clip", 3, 3),
    **_spelled("math.", "sqrt exp log log1p expm1 log10 log2 tanh sin cos tan atan fabs", fabs="abs"),
    **_integral("math.", "floor ceil trunc"),
    "math.pow": Function("pow", 2, 2),
    "math.hypot": Function("hypot", 2, 2),
    **_spelled("np.", "abs sqrt exp log log1p expm1 log10 log2 tanh sin cos tan arctan sign square", arctan="atan"),
    **_spelled("np.", "floor ceil trunc"),
    "np.round": Function("scaled_round", 1, 2),
    **{f"np.{name}": Function("min", 2, 2) for name in ("minimum", "fmin")},
    **{f"np.{name}": Function("max", 2, 2) for name in ("maximum", "fmax")},
    "np.clip": Function("clip", 3, 3),
    "np.power": Function("pow", 2, 2),
    "np.hypot": Function("hypot", 2, 2),
    "np.where": Function("select", 3, 3),
}
"""Name to function; `numpy.` may be written for `np.`."""

CONSTANTS: Mapping[str, float] = {
    "math.pi": math.pi,
    "math.e": math.e,
    "np.pi": math.pi,
    "np.e": math.e,
    "math.inf": math.inf,
    "np.inf": math.inf,
}
"""Name to number. Infinity is there as a neutral element of `min` and `max`, as `float("inf")` is."""

MODULES = ("math", "np", "numpy")
"""Names in front of a dot; they work without an import."""

ENTRY = "compute_reward"
"""Name of the entry point."""

RESERVED = frozenset({ENTRY, *MODULES, *(name for name in FUNCTIONS if "." not in name)})
"""Names that a program cannot bind."""
