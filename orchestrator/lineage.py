"""Where a candidate comes from: its ancestors, what changed at each step, and which critique the change answers."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from actors.archive import Archive, place
from actors.messages import ArchiveEntry, Finding

LONGEST = 40
"""Ancestors that a lineage holds at most, the nearest."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A point of a parent's critique, and what became of it in the child.

    Attributes:
        finding: What was found in the parent.
        persists: Whether the same is found in the child; None when the child was not criticised.
        measures: Those of the finding's numbers that are measures of driving, by name: the parent's and the child's.
    """

    finding: Finding
    persists: bool | None
    measures: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Parentage:
    """A parent of a candidate.

    Attributes:
        parent: The parent.
        answers: Its critique, point by point.
    """

    parent: ArchiveEntry
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A candidate and what it was written from.

    Attributes:
        child: The candidate.
        parents: Its parents, as far as the archive knows them; none for a starting program.
    """

    child: ArchiveEntry
    parents: tuple[Parentage, ...]


def lineage_of(archive: Archive, candidate_id: str) -> tuple[Step, ...]:
    """Return a candidate and its ancestors, the oldest first.

    Args:
        archive: The search's archive.
        candidate_id: A candidate of it.
    """
    found = {candidate_id: archive.entry(candidate_id)}
    waiting = [candidate_id]
    while waiting and len(found) < LONGEST:
        for parent in archive.parents(waiting.pop(0)):
            if parent.candidate.id not in found and len(found) < LONGEST:
                found[parent.candidate.id] = parent
                waiting.append(parent.candidate.id)
    ordered = sorted(found.values(), key=lambda entry: place(entry.candidate))
    return tuple(
        Step(child, tuple(Parentage(each, _answers(each, child)) for each in archive.parents(child.candidate.id)))
        for child in ordered
    )


def _answers(parent: ArchiveEntry, child: ArchiveEntry) -> tuple[Answer, ...]:
    if parent.critique is None:
        return ()
    still = None if child.critique is None else {finding.name for finding in child.critique.findings}
    before = parent.outcome.metrics if parent.outcome is not None else {}
    after = child.outcome.metrics if child.outcome is not None else {}
    return tuple(
        Answer(
            finding,
            None if still is None else finding.name in still,
            {name: (before[name], after[name]) for name in finding.evidence if name in before and name in after},
        )
        for finding in parent.critique.findings
    )


def program_difference(parent: ArchiveEntry, child: ArchiveEntry) -> list[str]:
    """Return the lines of a unified diff between two programs, untrusted; none when they are equal."""
    return list(
        difflib.unified_diff(
            parent.candidate.source.splitlines(),
            child.candidate.source.splitlines(),
            parent.candidate.id,
            child.candidate.id,
            lineterm="",
        )
    )
