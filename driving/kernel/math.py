"""Scalar arithmetic that rounds exactly as highway-env's NumPy calls do.

Transcendental functions come from the C library through `math`. NumPy's float64 sine and cosine are the C library's;
its tangent, arcsine, arctangent and power are too unless NumPy dispatches to AVX-512, which differs by one unit in the
last place in a few arguments of a hundred. OpenBLAS computes the dot product of two 2-vectors with one fused
multiply-add, hence `fused_multiply_add`; nothing else may be contracted, so that the order of operations in this
package is the order of rounding.
"""

import math
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic

from driving.kernel.jit import compiled

PI = math.pi
TWO_PI = 2.0 * math.pi


def _fused_multiply_add(_context: Any, _a: Any, _b: Any, _c: Any) -> tuple[Any, Callable[..., Any]]:
    """Type and emit LLVM's `fma`, which the compiler may neither split nor form on its own."""

    def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), emit


fused_multiply_add: Callable[[float, float, float], float] = intrinsic(_fused_multiply_add)
"""`a * b + c` with one rounding; callable from compiled code only."""


@compiled
def dot(ax: float, ay: float, bx: float, by: float) -> float:
    """Return the dot product of two 2-vectors as OpenBLAS rounds it."""
    return fused_multiply_add(ay, by, ax * bx)


@compiled
def norm(x: float, y: float) -> float:
    """Return the length of a 2-vector as `numpy.linalg.norm` rounds it."""
    return math.sqrt(fused_multiply_add(y, y, x * x))


@compiled
def clip(value: float, low: float, high: float) -> float:
    """Return `value` limited to [`low`, `high`]."""
    return min(max(value, low), high)


@compiled
def not_zero(value: float) -> float:
    """Return `value`, or 0.01 with its sign where it is smaller than that (highway-env's `not_zero`)."""
    if abs(value) > 1e-2:
        return value
    if value >= 0.0:
        return 1e-2
    return -1e-2


@compiled
def wrap_to_pi(angle: float) -> float:
    """Return `angle`, rad, wrapped to [-pi, pi)."""
    turned = angle + PI
    # The remainder of a number that already lies in [0, 2 pi) is that number: no division is needed.
    if turned < 0.0 or turned >= TWO_PI:
        turned = turned % TWO_PI
    return turned - PI


@compiled
def linear_map(value: float, low: float, high: float, to_low: float, to_high: float) -> float:
    """Map `value` from [`low`, `high`] to [`to_low`, `to_high`], unclipped (highway-env's `lmap`)."""
    return to_low + (value - low) * (to_high - to_low) / (high - low)
