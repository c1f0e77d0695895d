"""The operations of reward programs that libm lacks, on one number, as `search_spaces/semantics.py` defines them.

Written out a second time because compiled code must not depend on a file outside of this package: numba's cache would
not notice a change there. A test holds the two equal bit by bit.
"""

import math

import numpy as np

from driving.kernel.jit import compiled

_SPLITTER = 2.0**27 + 1.0
_EXACT = 2.0**53


@compiled
def minimum(x: float, y: float) -> float:
    """Return the smaller number, the first of equals; NaN when either is NaN."""
    return y if y < x or y != y else x


@compiled
def maximum(x: float, y: float) -> float:
    """Return the larger number, the first of equals; NaN when either is NaN."""
    return y if y > x or y != y else x


@compiled
def clip(x: float, low: float, high: float) -> float:
    """Return `min(max(x, low), high)`."""
    return minimum(maximum(x, low), high)


@compiled
def sign(x: float) -> float:
    """Return 1, -1 or 0; NaN for NaN."""
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return 0.0 if x == 0.0 else x


@compiled
def modulo(x: float, y: float) -> float:
    """Return CPython's `x % y`; NaN by zero."""
    remainder = float(np.fmod(x, y))
    if remainder != 0.0:
        if (y < 0.0) != (remainder < 0.0):
            remainder += y
        return remainder
    return math.copysign(0.0, y)


@compiled
def floor_divide(x: float, y: float) -> float:
    """Return CPython's `x // y`; what `x / y` is by zero."""
    if y == 0.0:
        return x / y
    remainder = float(np.fmod(x, y))
    quotient = (x - remainder) / y
    if remainder != 0.0 and (y < 0.0) != (remainder < 0.0):
        quotient -= 1.0
    if quotient == 0.0:
        return math.copysign(0.0, x / y)
    whole = float(np.floor(quotient))
    return whole + 1.0 if quotient - whole > 0.5 else whole


@compiled
def product(x: float, y: float) -> tuple[float, float]:
    """Return `x * y` and what rounding took from it (Dekker 1971); both must be below 1e150 in size."""
    shifted = x * _SPLITTER
    high = shifted - (shifted - x)
    low = x - high
    shifted = y * _SPLITTER
    other_high = shifted - (shifted - y)
    other_low = y - other_high
    rounded = x * y
    error = ((high * other_high - rounded) + high * other_low + low * other_high) + low * other_low
    return rounded, error


@compiled
def decimals(x: float, digits: int) -> float:
    """Return Python's `round(x, digits)` for 0 to 6 digits: the decimal nearest to the exact value, half to even.

    `abs(x)` times a power of ten is known exactly as a rounded product and its error. Beyond 2**53 a float64 has no
    digit left to round.
    """
    scale = 1.0
    for _ in range(digits):
        scale *= 10.0
    size = abs(x)
    if not size * scale < _EXACT:
        return x
    scaled, error = product(size, scale)
    whole = float(np.floor(scaled))
    beyond = (scaled - whole - 0.5) + error
    if beyond > 0.0 or (beyond == 0.0 and whole % 2.0 == 1.0):
        whole += 1.0
    elif whole == scaled and error <= -0.5 and (error < -0.5 or whole % 2.0 == 1.0):
        whole -= 1.0
    return math.copysign(whole / scale, x)


@compiled
def hypot(x: float, y: float) -> float:
    """Return the square root of `x*x + y*y`, computed with twice the precision."""
    x, y = abs(x), abs(y)
    if x == math.inf or y == math.inf:
        return math.inf
    if x != x or y != y:
        return math.nan
    large = max(x, y)
    small = min(x, y)
    if small <= large * 2.0**-30:
        return large
    scale = 1.0
    if large > 1e150:
        scale = 2.0**-600
    elif large < 1e-130:
        scale = 2.0**600
    large, small = large * scale, small * scale
    square, square_error = product(large, large)
    other, other_error = product(small, small)
    total = square + other
    error = ((square - total) + other) + (square_error + other_error)
    root = math.sqrt(total)
    squared_root, root_error = product(root, root)
    return (root + ((total - squared_root) - root_error + error) / (2.0 * root)) / scale
