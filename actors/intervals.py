"""Intervals for what is estimated from a finite number of episodes."""

import math
from statistics import NormalDist


def wilson(events: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a rate.

    It stays inside [0, 1] and is honest at the ends, where crash rates live: no crash in 500 episodes still allows a
    rate of 0.008 (Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927).

    Args:
        events: How often it happened, 0 to `trials`.
        trials: How often it could have happened, at least 1.
        confidence: Two-sided coverage, dimensionless, inside (0, 1).

    Returns:
        Lower and upper bound of the rate, each 0 to 1.

    Raises:
        ValueError: Counts that contradict each other, or a confidence outside (0, 1).
    """
    if trials < 1 or not 0 <= events <= trials:
        raise ValueError(f"wilson: expected 0 <= events <= trials and trials >= 1, got {events} of {trials}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"wilson: confidence must lie inside (0, 1), got {confidence}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = events / trials
    shrink = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    low = 0.0 if events == 0 else max(0.0, centre - half)
    high = 1.0 if events == trials else min(1.0, centre + half)
    return low, high
