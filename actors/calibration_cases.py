"""Searches as cases of a calibration: what was said of their candidates, and what these became."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from actors.agreement import rung_agreements
from actors.calibration import Calibration, Case, calibrate
from actors.finals import NATIVE
from actors.messages import ArchiveEntry
from actors.record import SearchRecord


def calibrate_runs(records: Mapping[str, SearchRecord]) -> Calibration:
    """Judge the verdicts of searches by what their candidates became.

    Args:
        records: Searches by name.
    """
    cases: list[Case] = []
    natives: dict[str, float] = {}
    refused: Counter[str] = Counter()
    stopped = 0
    for name, record in records.items():
        entries = record.archive.entries()
        cases += [case for entry in entries if (case := case_of(entry, name)) is not None]
        stopped += sum(each.outcome is not None and each.outcome.status == "stopped" for each in entries)
        refused.update(each.code for each in record.archive.refusals.values())
        native = record.archive.baselines.get(NATIVE)
        if native is not None and native.fitness is not None:
            natives[name] = native.fitness.value
    found = calibrate(cases, natives)
    return replace(
        found,
        stopped=stopped,
        refused=dict(sorted(refused.items())),
        rungs=rung_agreements([each.archive for each in records.values()]),
    )


def case_of(entry: ArchiveEntry, group: str) -> Case | None:
    """Return a candidate as a case; None while it has not ended, or where it says nothing: stopped, or a dead trial.

    A trial that died delivered no steps. One that delivered some and failed has diverged, which its reward did.
    """
    candidate, outcome = entry.candidate, entry.outcome
    if outcome is None or outcome.status == "stopped" or (outcome.status == "failed" and not outcome.env_steps):
        return None
    scores = {f"rung {each.steps}": each.fitness for each in outcome.rungs if each.fitness is not None}
    if candidate.screen is not None and candidate.screen.tau is not None:
        scores["screen tau"] = candidate.screen.tau
    flags = [f"lint {finding.name}" for finding in candidate.lint]
    flags += [f"warning: {numberless(each)}" for each in candidate.warnings]
    return Case(
        name=candidate.id,
        group=group,
        fitness=None if entry.fitness is None else entry.fitness.value,
        flags=tuple(dict.fromkeys(flags)),
        scores=scores,
    )


def numberless(sentence: str) -> str:
    """Return a warning without its numbers, so that the same one about two programs has one name."""
    head, _, _ = sentence.partition(":")
    return re.sub(r"\d[\d.,]*(e[+-]?\d+)?", "N", head)
