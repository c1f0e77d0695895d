"""Numbers with Python's meaning, written with operations of the graph.

Python's integers have no -0. Where Python would hold an integer, a result that could be -0 is written as `0.0 - ...` or
`... + 0.0`, so that even the sign of a zero is CPython's. (Where only one path holds an integer, as in `max(0, x)`,
zero is taken to come from that path.)
"""

import math
from collections.abc import Sequence

from search_spaces.errors import ProgramError
from search_spaces.functions import Function
from search_spaces.graph import GraphBuilder
from search_spaces.operations import MAX_DIGITS
from search_spaces.values import Scalar


def literal(builder: GraphBuilder, value: float) -> Scalar:
    """Return a number as it stands in the text.

    Raises:
        ProgramError: `E_CONST` when it is not finite or larger than 1e6.
    """
    if isinstance(value, bool):
        return Scalar(builder.node("true" if value else "false"), integral=True)
    if isinstance(value, int) and value.bit_length() > 64:
        raise ProgramError("E_CONST", "an integer of more than 64 bits", hint="Constants are at most 1000000 in size.")
    return Scalar(builder.const(float(value)), isinstance(value, int))


def infinity(builder: GraphBuilder, sign: float) -> Scalar:
    """Return plus or minus infinity."""
    index = builder.node("inf")
    return Scalar(index if sign > 0 else builder.node("neg", index))


def negated(builder: GraphBuilder, operand: Scalar) -> Scalar:
    """Return `-operand`."""
    index = builder.number(operand.index)
    value = _constant(builder, index)
    if operand.integral and not value:
        index = builder.const(0.0) if value == 0.0 else builder.node("sub", builder.const(0.0), index)
        return Scalar(index, integral=True)
    return Scalar(builder.node("neg", index), operand.integral)


def combined(builder: GraphBuilder, op: str, left: Scalar, right: Scalar) -> Scalar:
    """Return `left op right` for an arithmetic operation."""
    one, two = builder.number(left.index), builder.number(right.index)
    integral = left.integral and right.integral and op not in ("div", "hypot")
    if integral and op == "mul":
        return Scalar(_integer_product(builder, one, two), integral=True)
    index = builder.node(op, one, two)
    if integral and op in ("floordiv", "mod") and (_constant(builder, two) or -1.0) < 0.0:
        index = builder.node("add", index, builder.const(0.0))
    if op == "pow":
        integral = integral and (_constant(builder, two) or 0.0) > 0.0
    return Scalar(index, integral)


def compared(builder: GraphBuilder, op: str, left: Scalar, right: Scalar) -> int:
    """Return the boolean node of `left op right`."""
    return builder.node(op, builder.number(left.index), builder.number(right.index))


def chained(builder: GraphBuilder, op: str, operands: Sequence[Scalar]) -> Scalar:
    """Return the operands joined from the left by `add`, `min` or `max`."""
    result = Scalar(builder.number(operands[0].index), operands[0].integral)
    for each in operands[1:]:
        if op == "add":
            result = combined(builder, op, result, each)
        else:
            index = builder.node(op, result.index, builder.number(each.index))
            result = Scalar(index, result.integral or each.integral)
    return result


def applied(builder: GraphBuilder, function: Function, arguments: Sequence[Scalar]) -> Scalar:
    """Return a function of the language on its arguments, whose number is right.

    Raises:
        ProgramError: `E_CONST` when the digits of `round` are not a literal from 0 to 6.
    """
    first = arguments[0]
    index = builder.number(first.index)
    match function.op:
        case "identity":
            return Scalar(index)
        case "truth":
            return Scalar(builder.truth(first.index), integral=True)
        case "square":
            return Scalar(builder.node("mul", index, index))
        case "min" | "max":
            return chained(builder, function.op, arguments)
        case "abs":
            return Scalar(builder.node("abs", index), first.integral)
        case "round" if len(arguments) == 2:
            digits = float(_digits(builder, arguments[1]))
            return Scalar(builder.node("decimals", index, value=digits), first.integral)
        case "scaled_round":
            return _scaled_round(builder, index, arguments)
    return Scalar(builder.node(function.op, *(builder.number(each.index) for each in arguments)), function.integral)


def _scaled_round(builder: GraphBuilder, index: int, arguments: Sequence[Scalar]) -> Scalar:
    """Return numpy's `round(x, digits)`: scale, round half to even, scale back."""
    digits = _digits(builder, arguments[1]) if len(arguments) == 2 else 0
    if digits == 0:
        return Scalar(builder.node("round", index))
    scale = builder.const(10.0**digits)
    return Scalar(builder.node("div", builder.node("round", builder.node("mul", index, scale)), scale))


def _digits(builder: GraphBuilder, argument: Scalar) -> int:
    value = _constant(builder, argument.index)
    if value is None or not argument.integral or not 0 <= value <= MAX_DIGITS:
        message = f"the digits of round are not a literal from 0 to {MAX_DIGITS}"
        raise ProgramError("E_CONST", message, hint="Write round(x, 2).")
    return int(value)


def _constant(builder: GraphBuilder, index: int) -> float | None:
    node = builder.nodes[index]
    return node.value if node.op == "const" and isinstance(node.value, float) else None


def _never_negative(builder: GraphBuilder, index: int) -> bool:
    value = _constant(builder, index)
    return builder.nodes[index].op in ("number", "abs") or (value is not None and math.copysign(1.0, value) > 0.0)


def _integer_product(builder: GraphBuilder, one: int, two: int) -> int:
    values = _constant(builder, one), _constant(builder, two)
    if (_never_negative(builder, one) and _never_negative(builder, two)) or (values[0] and values[1]):
        return builder.node("mul", one, two)
    for value, factor, first in ((values[0], two, True), (values[1], one, False)):
        if value is not None and value < 0.0:
            size = builder.const(-value)
            product = builder.node("mul", size, factor) if first else builder.node("mul", factor, size)
            return builder.node("sub", builder.const(0.0), product)
    return builder.node("add", builder.node("mul", one, two), builder.const(0.0))
