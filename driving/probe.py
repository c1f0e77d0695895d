"""Does NumPy round here as the kernel does? Only then can highway-env and the kernel agree to the last bit.

NumPy's tangent, arcsine, arctangent and power differ from the C library's in the last place where it dispatches to
AVX-512. A process that is started with `NPY_DISABLE_CPU_FEATURES` set to `DISABLED_FEATURES` does without; whether that
made NumPy's arithmetic the C library's, as the kernel's is, `differing_functions` finds out by trying.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from driving.kernel.math import dot, norm

DISABLED_FEATURES = "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL"
"""NumPy's names of its AVX-512 code, of releases before and since 2.4; it ignores the ones that it does not know."""

PROBES = 10_000
"""Arguments tried for each function: a function that differs in one argument of a thousand is found for certain."""


def differing_functions() -> list[str]:
    """Return the NumPy functions, as highway-env calls them here, that do not round as the kernel does."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(-10.0, 10.0, PROBES) * 10.0 ** rng.uniform(-6.0, 0.0, PROBES)
    ratios = np.clip(angles, -1.0, 1.0)
    exponents = rng.uniform(3.5, 4.5, PROBES)
    unary: dict[str, tuple[Callable[..., Any], Callable[[float], float], Any]] = {
        "sin": (np.sin, math.sin, angles),
        "cos": (np.cos, math.cos, angles),
        "tan": (np.tan, math.tan, angles),
        "arcsin": (np.arcsin, math.asin, ratios),
        "arctan": (np.arctan, math.atan, angles),
    }
    # One call for each argument, as highway-env does: NumPy may take other code for whole arrays.
    differing = [name for name, (ours, libm, x) in unary.items() if any(float(ours(each)) != libm(each) for each in x)]
    bases = np.abs(angles) / 4.0
    if any(float(np.power(base, each)) != math.pow(base, each) for base, each in zip(bases, exponents, strict=True)):
        differing.append("power")
    if any(float(np.power(base, 2)) != base * base for base in bases):
        differing.append("square")
    pairs = rng.normal(0.0, 20.0, (PROBES, 2, 2))
    if any(float(np.dot(a, b)) != dot(a[0], a[1], b[0], b[1]) for a, b in pairs):
        differing.append("dot")
    if any(float(np.linalg.norm(a)) != norm(a[0], a[1]) for a, _ in pairs):
        differing.append("norm")
    return differing
