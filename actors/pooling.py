"""Intervals for drivers that were each trained a few times: one spread for all of them.

Three trainings tell the spread of one program badly: by chance it comes out a tenth or twice of what it is, and who
looks steady by luck would win over who drives better. Trainings of different programs vary alike (standard deviation
of the fitness 0.05 to 0.07), so the spread is estimated once from all of them, as analysis of variance does. Choosing
one of four by the lower end of its own interval finds on average 0.010 less of the true fitness than choosing by this
one (`tests/actors/test_pooling.py` repeats that).
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from actors.bootstrap import CONFIDENCE


def pooled(drivers: Sequence[Sequence[float]]) -> list[tuple[float, float]] | None:
    """Return a 95 % interval of each driver's mean.

    Args:
        drivers: What was measured of each of its trainings, at least one each.

    Returns:
        Lower and upper end for each driver; None where no driver was trained twice, so that nothing is known of spread.
    """
    arrays = [np.asarray(each, np.float64) for each in drivers]
    freedom = sum(len(each) - 1 for each in arrays)
    if freedom == 0:
        return None
    squares = sum(float(((each - each.mean()) ** 2).sum()) for each in arrays)
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * (squares / freedom) ** 0.5
    halves = [reach / len(each) ** 0.5 for each in arrays]
    return [(float(each.mean()) - half, float(each.mean()) + half) for each, half in zip(arrays, halves, strict=True)]
