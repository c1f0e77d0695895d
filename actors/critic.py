"""Critique by rules: what a driver that earns its reward does wrong, each with its numbers.

    driving_rules.py   the measured driving, alone and against the parents'
    reward_rules.py    the learning curve and the components of the reward

Most of what they find is reward hacking: the reward was earned, the goal was not. A language model may read the same
evidence afterwards (`reader.py`); the rules need none.
"""

from collections.abc import Sequence

from actors.driving_rules import driving_findings
from actors.messages import ArchiveEntry, Critique, Finding
from actors.reward_rules import reward_findings


def criticise(entry: ArchiveEntry, parents: Sequence[ArchiveEntry]) -> Critique:
    """Return what the rules find in a candidate.

    Args:
        entry: The candidate with its outcome and, where it has one, its fitness.
        parents: Those it was written from, as far as the archive knows them.

    Returns:
        A critique without comment; without findings when the candidate was not trained.
    """
    return Critique(candidate_id=entry.candidate.id, findings=findings(entry, parents))


def findings(entry: ArchiveEntry, parents: Sequence[ArchiveEntry]) -> tuple[Finding, ...]:
    """Return the findings of `criticise` alone, in a fixed order."""
    if entry.outcome is None or entry.outcome.status != "trained":
        return ()
    return (*driving_findings(entry, entry.outcome, parents), *reward_findings(entry.outcome))
