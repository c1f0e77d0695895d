"""Early stopping: asynchronous successive halving on the fitness of the fixed evaluation.

A candidate that reaches a rung is compared with all that have reached it before, in the whole search. What is compared
is the fitness on the episodes that all candidates meet, never a candidate's own return, which is another quantity for
each. A candidate that is stopped is censored, not bad: nobody knows what it would have become.

Whether a candidate is stopped depends on who reached the rung before it, hence on how fast others were; what was
measured of it does not (`docs/decisions/` says what follows from that).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from actors.message import Message
from actors.outcome import RungPoint

LEAST_RIVALS = 4
"""How many must have reached a rung, the candidate among them, before any is stopped for its rank. Halving fewer loses
the best too easily: in 2 of 7 generations of eight unscreened programs it did even so, in none of 9 screened ones."""
HOPELESS = 0.02
"""Fitness below which a candidate is stopped whatever its rank: at 100 000 steps of 200 000 that saved 8 % of all
training and lost none of those that ended well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RungVerdict(Message):
    """What came of a candidate at a rung.

    Attributes:
        candidate_id: Whose it is.
        point: The measurement.
        stopped: Why it was stopped there, in one sentence; None: it went on.
    """

    candidate_id: str
    point: RungPoint
    stopped: str | None = None


def reason_to_stop(point: RungPoint, rivals: Iterable[RungPoint]) -> str | None:
    """Say why a candidate is stopped at a rung; None: it goes on.

    One without a fitness goes on: there is nothing to compare.

    Args:
        point: The candidate at the rung.
        rivals: All others at any rung; those at another number of steps do not count.
    """
    if point.fitness is None:
        return None
    if point.fitness < HOPELESS:
        return f"fitness {point.fitness:.3f} at {point.steps} steps is below {HOPELESS}"
    reached = [each.fitness for each in rivals if each.steps == point.steps and each.fitness is not None]
    better = sum(each > point.fitness for each in reached)
    count = len(reached) + 1
    if count < LEAST_RIVALS or 2 * better < count:
        return None
    return (
        f"fitness {point.fitness:.3f} at {point.steps} steps is rank {better + 1} of the {count} that have reached "
        "this rung; the worse half is stopped"
    )
