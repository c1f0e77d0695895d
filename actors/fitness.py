"""Judgement: one number for measured driving, behind a safety gate that no speed can buy back.

    v     speed_ms             total distance over total time driven, m/s
    p     progress_ms          mean distance over the scheduled duration, m/s
    o     overtakes_per_min    net overtakes per scheduled minute
    a     accel_rms_ms2        root mean square acceleration, m/s2
    s     ttc_low_share        share of frames with a time to collision below 1.5 s
    c     crash_rate           share of episodes that crash

    q     = clip((p - 20) / 3)               comfort and distance count only for a car that gets on
    terms = speed      clip((v - 20) / 10)
            overtake   clip(o / 10)
            comfort    q / (1 + (a / 4)^2)
            ttc        q * clip(1 - 10 s)
            completion clip((p - 20) / 10)
    gate  = sigmoid((0.25 - c) / 0.05) / sigmoid(5), a tenth of that above c = 0.8

    fitness = gate * (0.30 speed + 0.25 overtake + 0.10 comfort + 0.20 ttc + 0.15 completion)

`clip` is to [0, 1]. The derivation, with worked examples, is in `docs/metrics.md`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from actors.messages import Fitness

_WEIGHTS = {"speed": 0.30, "overtake": 0.25, "comfort": 0.10, "ttc": 0.20, "completion": 0.15}


@dataclass(frozen=True, slots=True, kw_only=True)
class FitnessConstants:
    """Every constant of the fitness.

    The forms and weights were chosen so that constant actions, random driving, crashing on purpose and merely staying
    alive score about 0 while trained drivers spread over 0.2 to 0.6 (policies of 50 000 to 2 000 000 steps under
    twelve rewards; table in `docs/metrics.md`). Other sources are named.

    Attributes:
        weights: Weight of each term, dimensionless; they sum to 1.
        slow_ms: Speed that earns nothing, m/s: the ego's lowest target speed, which a car reaches by only braking.
        span_ms: Span from there to full marks, m/s; 20 + 10 is the ego's highest target speed and the end of
            highway-env's own `reward_speed_range`.
        moving_ms: Progress above `slow_ms` at which comfort and distance count in full, m/s. Without it a car that only
            brakes scores 0.455 where one trained on the native reward scores 0.53.
        overtakes_per_min: Net overtakes per minute that earn full marks.
        comfort_ms2: Acceleration at which comfort halves, m/s2; nuPlan's comfort bound is 4.05.
        ttc_slope: How fast time below 1.5 s costs: at a share of 1 / ttc_slope nothing is left.
        gate_centre: Crash rate at which half is left, 0 to 1 (`docs/decisions/` says why not 0.30).
        gate_width: Steepness of the gate, as a crash rate.
        hopeless: Crash rate above which only `hopeless_factor` of the gate is left.
        hopeless_factor: That factor, dimensionless.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType(_WEIGHTS))
    slow_ms: float = 20.0
    span_ms: float = 10.0
    moving_ms: float = 3.0
    overtakes_per_min: float = 10.0
    comfort_ms2: float = 4.0
    ttc_slope: float = 10.0
    gate_centre: float = 0.25
    gate_width: float = 0.05
    hopeless: float = 0.8
    hopeless_factor: float = 0.1


CONSTANTS = FitnessConstants()
"""The constants in use."""

NEEDED = ("speed_ms", "progress_ms", "overtakes_per_min", "accel_rms_ms2", "ttc_low_share", "crash_rate")
"""The measures that the fitness is made of."""


def terms(metrics: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Return the terms before weights and gate, each 0 to 1.

    Args:
        metrics: Measures by name, float64 arrays of one shape; all of `NEEDED` but the crash rate.

    Returns:
        Term to float64 of that shape; NaN where a measure is.
    """
    constants = CONSTANTS
    progress = metrics["progress_ms"] - constants.slow_ms
    moving = _clip(progress / constants.moving_ms)
    return {
        "speed": _clip((metrics["speed_ms"] - constants.slow_ms) / constants.span_ms),
        "overtake": _clip(metrics["overtakes_per_min"] / constants.overtakes_per_min),
        "comfort": moving / (1 + (metrics["accel_rms_ms2"] / constants.comfort_ms2) ** 2),
        "ttc": moving * _clip(1 - constants.ttc_slope * metrics["ttc_low_share"]),
        "completion": _clip(progress / constants.span_ms),
    }


def gate(crash_rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the crash rate leaves of the terms.

    Args:
        crash_rate: Shares of episodes that crash, 0 to 1, float64 of any shape.

    Returns:
        Factors of the same shape, 1 at no crashes, never rising with the crash rate.
    """
    constants = CONSTANTS
    open_gate = _sigmoid(np.array(constants.gate_centre / constants.gate_width))
    factor = _sigmoid((constants.gate_centre - crash_rate) / constants.gate_width) / open_gate
    return np.where(crash_rate > constants.hopeless, factor * constants.hopeless_factor, factor)


def scores(metrics: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the fitness of many sets of measures.

    Args:
        metrics: Measures by name, float64 arrays of one shape; all of `NEEDED`.

    Returns:
        float64 of that shape, 0 to 1; NaN where a needed measure is.
    """
    return _weighted(terms(metrics)) * gate(metrics["crash_rate"])


def fitness(metrics: Mapping[str, float]) -> Fitness | None:
    """Judge measured driving, without an interval; `comparison.judge` adds it where single episodes are known.

    Args:
        metrics: Measures on held-out episodes, by name.

    Returns:
        The fitness, or None when a needed measure is absent or not finite: what was not measured is not ranked.
    """
    if not all(name in metrics and math.isfinite(metrics[name]) for name in NEEDED):
        return None
    needed = {name: np.array(metrics[name]) for name in NEEDED}
    each = {name: float(value) for name, value in terms(needed).items()}
    return Fitness(value=float(scores(needed)), terms=each, gate=float(gate(needed["crash_rate"])))


def _weighted(each: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.asarray(sum(CONSTANTS.weights[name] * value for name, value in each.items()))


def _clip(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(values, 0.0, 1.0)


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-values))
