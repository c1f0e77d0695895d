"""What every operation of a graph computes: the readable scalar reference, float64 and IEEE, where nothing raises.

The compiled machine (`driving/kernel/reward_machine.py`) computes the same bit by bit; both call libm, and both write
out what libm lacks. Where CPython returns a real finite float, so do these, the same one.
"""

import math
from collections.abc import Callable, Mapping

_BEYOND_FRACTIONS = 2.0**52
_SPLITTER = 2.0**27 + 1.0


def _guarded(function: Callable[[float], float], pole: float | None, at_pole: float) -> Callable[[float], float]:
    """Return `function` without exceptions: infinite at its pole or on overflow, NaN outside its domain."""

    def evaluate(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return at_pole if x == pole else math.nan

    return evaluate


def divide(x: float, y: float) -> float:
    """Return `x / y`; by zero a signed infinity, or NaN for 0/0 and NaN."""
    if y != 0.0:
        return x / y
    if x == 0.0 or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def floor_divide(x: float, y: float) -> float:
    """Return `x // y` as CPython does; by zero what `divide` returns."""
    return x // y if y != 0.0 else divide(x, y)


def modulo(x: float, y: float) -> float:
    """Return `x % y` as CPython does, with the sign of `y`; NaN by zero."""
    return x % y if y != 0.0 else math.nan


def power(x: float, y: float) -> float:
    """Return libm's `pow(x, y)`: NaN for a fractional power of a negative number, infinite on overflow and at 0."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and math.fmod(y, 2.0) in (1.0, -1.0) else math.inf
    except ValueError:
        if x != 0.0:
            return math.nan
        return math.copysign(math.inf, x) if math.isfinite(y) and math.fmod(y, 2.0) == -1.0 else math.inf


def minimum(x: float, y: float) -> float:
    """Return Python's `min(x, y)`, or NaN when either is NaN."""
    return y if y < x or y != y else x


def maximum(x: float, y: float) -> float:
    """Return Python's `max(x, y)`, or NaN when either is NaN."""
    return y if y > x or y != y else x


def clip(x: float, low: float, high: float) -> float:
    """Return `min(max(x, low), high)`."""
    return minimum(maximum(x, low), high)


def integral(function: Callable[[float], int]) -> Callable[[float], float]:
    """Return `math.floor` and its like as float64: +0 for every zero, infinities and NaN unchanged."""

    def evaluate(x: float) -> float:
        return float(function(x)) if abs(x) < _BEYOND_FRACTIONS else x

    return evaluate


def decimals(x: float, digits: int) -> float:
    """Return Python's `round(x, digits)`: the decimal nearest to the exact value of `x`, half to even."""
    return round(x, digits) if math.isfinite(x) else x


def hypot(x: float, y: float) -> float:
    """Return the square root of `x*x + y*y`, computed with twice the precision so that it rounds as CPython's does.

    Written out because libm's `hypot`, and CPython's from one release to the next, differ in the last place.
    """
    x, y = abs(x), abs(y)
    if x == math.inf or y == math.inf:
        return math.inf
    if x != x or y != y:
        return math.nan
    large, small = (x, y) if x > y else (y, x)
    if small <= large * 2.0**-30:
        return large
    scale = 1.0
    if large > 1e150:
        scale = 2.0**-600
    elif large < 1e-130:
        scale = 2.0**600
    large, small = large * scale, small * scale
    square, square_error = _squared(large)
    other, other_error = _squared(small)
    total = square + other
    error = ((square - total) + other) + (square_error + other_error)
    root = math.sqrt(total)
    product, product_error = _squared(root)
    return (root + ((total - product) - product_error + error) / (2.0 * root)) / scale


def _squared(x: float) -> tuple[float, float]:
    """Return `x*x` and what rounding took from it (Dekker 1971)."""
    shifted = x * _SPLITTER
    high = shifted - (shifted - x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2.0 * high * low) + low * low


def sign(x: float) -> float:
    """Return 1, -1 or 0; NaN for NaN."""
    return float((x > 0.0) - (x < 0.0)) if x == x else x


def sigmoid(x: float) -> float:
    """Return `1 / (1 + exp(-x))`."""
    return 1.0 / (1.0 + _exp(-x))


_exp = _guarded(math.exp, None, math.nan)

UNARY: Mapping[str, Callable[[float], float]] = {
    "neg": lambda x: -x,
    "abs": abs,
    "sqrt": _guarded(math.sqrt, None, math.nan),
    "exp": _exp,
    "log": _guarded(math.log, 0.0, -math.inf),
    "log1p": _guarded(math.log1p, -1.0, -math.inf),
    "expm1": _guarded(math.expm1, None, math.nan),
    "log10": _guarded(math.log10, 0.0, -math.inf),
    "log2": _guarded(math.log2, 0.0, -math.inf),
    "tanh": math.tanh,
    "sin": _guarded(math.sin, None, math.nan),
    "cos": _guarded(math.cos, None, math.nan),
    "tan": _guarded(math.tan, None, math.nan),
    "atan": math.atan,
    "floor": integral(math.floor),
    "ceil": integral(math.ceil),
    "trunc": integral(math.trunc),
    "round": integral(round),
    "sign": sign,
    "sigmoid": sigmoid,
}
"""Operations of one number."""

BINARY: Mapping[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": divide,
    "floordiv": floor_divide,
    "mod": modulo,
    "pow": power,
    "hypot": hypot,
    "min": minimum,
    "max": maximum,
}
"""Operations of two numbers."""

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}
"""Comparisons; all but `ne` are false when an operand is NaN."""
