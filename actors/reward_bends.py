"""Where a program's reward bends: the values of a state field at which it treats the field in another way.

`1.0 if state["time_headway"] > 0.6 else 0.0` and `min(state["time_headway"] - 0.6, 0.0)` both bend at 0.6 s. What is
rewarded on one side of such a value is often done right beside it.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from search_spaces.graph import Graph, Node
from search_spaces.operations import OPERATIONS
from search_spaces.program import RewardProgram

_COMPARING = ("lt", "le", "gt", "ge", "min", "max")
"""Operations that bend where their two arguments are equal; `clip` does with each of its bounds."""
_BENDING = ("abs", "sign", "sigmoid", "tanh")
"""Operations that bend where their argument is 0."""


class Line(NamedTuple):
    """A part of a program that is `slope * field + offset`; a number alone has no field."""

    field: str | None
    slope: float
    offset: float


def bends(program: RewardProgram, field: str) -> tuple[float, ...]:
    """Return the values of a field at which a program bends, ascending.

    Args:
        program: The program.
        field: Name of a state field.
    """
    lines = _lines(program.graph)
    roots = {
        -line.offset / line.slope
        for line in _bends(program.graph, lines)
        if line is not None and line.field == field and line.slope != 0.0
    }
    return tuple(sorted(root for root in roots if math.isfinite(root)))


def _lines(graph: Graph) -> list[Line | None]:
    """Return each node as a line; None where it is none, or one of several fields."""
    lines: list[Line | None] = []
    for node in graph.nodes:
        arguments = [lines[each] for each in node.args]
        lines.append(_line(node, [each for each in arguments if each is not None]) if None not in arguments else None)
    return lines


def _line(node: Node, arguments: Sequence[Line]) -> Line | None:
    if node.op == "const" and isinstance(node.value, float):
        return Line(None, 0.0, node.value)
    if node.op == "field":
        return Line(str(node.value), 1.0, 0.0)
    if not arguments or OPERATIONS[node.op].arguments[0] != "number":
        return None
    first, last = arguments[0], arguments[-1]
    match node.op:
        case "neg":
            return Line(first.field, -first.slope, -first.offset)
        case "add":
            return _sum(first, last, 1.0)
        case "sub":
            return _sum(first, last, -1.0)
        case "mul" if last.field is None:
            return Line(first.field, first.slope * last.offset, first.offset * last.offset)
        case "mul" if first.field is None:
            return Line(last.field, last.slope * first.offset, last.offset * first.offset)
        case "div" if last.field is None and last.offset != 0.0:
            return Line(first.field, first.slope / last.offset, first.offset / last.offset)
    return None


def _sum(one: Line, other: Line, sign: float) -> Line | None:
    if one.field is not None and other.field is not None and one.field != other.field:
        return None
    return Line(one.field or other.field, one.slope + sign * other.slope, one.offset + sign * other.offset)


def _bends(graph: Graph, lines: Sequence[Line | None]) -> Iterator[Line | None]:
    """Yield the lines at whose roots the program bends."""
    for node in graph.nodes:
        arguments = [lines[each] for each in node.args]
        if node.op in _BENDING:
            yield from arguments
        pairs = [arguments] if node.op in _COMPARING else []
        if node.op == "clip":
            pairs = [[arguments[0], bound] for bound in arguments[1:]]
        for one, other in pairs:
            if one is not None and other is not None:
                yield _sum(one, other, -1.0)
