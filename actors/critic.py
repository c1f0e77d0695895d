"""Critique by numbers: what a driver that earns its reward does wrong.

    detectors.py      the known ways to hack a reward, measured on what was driven (names in `detector_table.py`)
    critic_rules.py   what costs the fitness, and what the reward turned out to be in training

A language model may read the same evidence afterwards (`reader.py`); this needs none.
"""

from collections.abc import Sequence

from actors.critic_rules import rule_findings
from actors.detectors import detect
from actors.drives import Drives
from actors.messages import ArchiveEntry, Critique


def criticise(entry: ArchiveEntry, parents: Sequence[ArchiveEntry], drives: Drives | None = None) -> Critique:
    """Return what detectors and rules find in a candidate.

    Args:
        entry: The candidate with its outcome and, where it has one, its fitness.
        parents: Those it was written from, as far as the archive knows them.
        drives: What it drives (`drives.read_drives`); None where its policy is not kept, and then the detectors that
            look at driving have nothing to measure.

    Returns:
        A critique without comment; empty when the candidate was not trained.
    """
    name = entry.candidate.id
    if entry.outcome is None or entry.outcome.status != "trained":
        return Critique(candidate_id=name)
    sightings = detect(entry, parents, drives)
    return Critique(
        candidate_id=name,
        findings=(*(each.finding for each in sightings if each.found), *rule_findings(entry, entry.outcome)),
        cleared=tuple(each.finding for each in sightings if not each.found),
    )
