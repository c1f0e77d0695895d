"""Resampling: what else could have been measured, had other episodes been driven or other training seeds been drawn.

Two things vary. **Episodes**: an evaluation is a sample of the traffic. They are drawn with replacement (Efron,
"Bootstrap methods: another look at the jackknife", Annals of Statistics 1979). All who drove the same episodes get
the same draws: what is easy for one in a draw is easy for all, and a difference of two drivers is a paired one.

**Training seeds**: a program trained again drives differently. They are few, three to five, and to draw five of five
again and again is too sure of itself: with standard deviations of 0.06 between seeds and 0.016 of one measurement, its
95 % interval holds the truth in 82 % of cases with three seeds and in 89 % with five. So a seed is not drawn but
weighted: each replicate's distance from the mean of all is multiplied by a standard normal number of its own (the wild
or multiplier bootstrap; Liu, "Bootstrap procedures under some non-i.i.d. models", Annals of Statistics 1988), scaled to
the unbiased variance of a mean and to the quantile of Student's t at 95 % instead of the normal one. That holds the
truth in 95 to 97 % of cases with two to ten seeds (`tests/actors/test_bootstrap.py` measures both with three and five).

The numbers of a replicate come from what it drove, not from its place: the order of replicates changes nothing, a
replicate is the same on both sides of a comparison, and two that were trained apart vary apart.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from driving.measures import EpisodeTable

DRAWS = 2000
"""Draws of an interval: its ends then vary by about 3 % of its width."""
CONFIDENCE = 0.95
"""Two-sided coverage of all intervals, dimensionless."""
_CELLS = 10_000_000
"""Weights that are held in memory at most, 80 MB; more than 5 000 episodes are drawn less often, down to `_LEAST`."""
_LEAST = 200
_EPISODES, _SEEDS = 2018, 1988
"""Seeds of the draws of episodes and of the multipliers: any numbers, but the same for everyone."""


def draws_for(episodes: int) -> int:
    """Return how many draws are made of so many episodes."""
    return max(_LEAST, min(DRAWS, _CELLS // episodes))


@lru_cache(maxsize=4)
def weights(episodes: int, draws: int = DRAWS) -> NDArray[np.float64]:
    """Return how often each episode stands in each draw; the same for everyone.

    Args:
        episodes: How many were driven, E, at least 1.
        draws: How many draws, B.

    Returns:
        float64[B, E], read-only; each row sums to E.
    """
    rng = np.random.default_rng(_EPISODES)
    drawn = rng.integers(episodes, size=(draws, episodes)) + episodes * np.arange(draws)[:, None]
    counts = np.bincount(drawn.reshape(-1), minlength=draws * episodes).reshape(draws, episodes).astype(np.float64)
    counts.flags.writeable = False
    return counts


def sway(tables: Sequence[EpisodeTable], values: NDArray[np.float64], draws: int) -> NDArray[np.float64]:
    """Return how far the mean over training seeds could lie from where it was found, before Student's factor.

    Args:
        tables: Episodes of each replicate, S of them.
        values: What was measured, replicate by replicate, float64[S].
        draws: How many draws, B.

    Returns:
        float64[B], with the variance of a mean of S; zeros for a single replicate, of which nothing can be said.
    """
    count = len(tables)
    if count == 1:
        return np.zeros(draws)
    numbers = np.stack([_multipliers(table, draws) for table in tables])
    return np.asarray((values - values.mean()) @ numbers / np.sqrt(count * (count - 1)))


def _multipliers(table: EpisodeTable, draws: int) -> NDArray[np.float64]:
    """Return the standard normal numbers of a replicate, float64[B], made from what it drove."""
    digest = hashlib.sha256(table.seeds.tobytes())
    for name in sorted(table.columns):
        digest.update(np.ascontiguousarray(table.columns[name]).tobytes())
    return np.random.default_rng([_SEEDS, *digest.digest()]).standard_normal(draws)


def student(freedom: float) -> float:
    """Return the factor from the normal quantile of `CONFIDENCE` to Student's.

    Args:
        freedom: Degrees of freedom, above 0; infinity gives 1.
    """
    if not np.isfinite(freedom):
        return 1.0
    share = (1 + CONFIDENCE) / 2
    return float(stdtrit(freedom, share) / ndtri(share))


def interval(draws: NDArray[np.float64], value: float) -> tuple[float, float] | None:
    """Return the ends of the middle 95 % of the draws, stretched to `value` where that lies outside.

    Args:
        draws: float64[B]; NaN where what is estimated is undefined.
        value: What was measured.

    Returns:
        Lower and upper end; None where it is undefined in more than half of the draws.
    """
    known = draws[np.isfinite(draws)]
    if 2 * len(known) < len(draws):
        return None
    low, high = np.quantile(known, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return min(float(low), value), max(float(high), value)
