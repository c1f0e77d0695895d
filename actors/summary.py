"""`summary.json`: what came of a search, on one page that programs can read."""

import json
from typing import Any

from actors.agreement import summarise_rungs
from actors.archive import Archive
from actors.messages import ArchiveEntry, Candidate, Refusal
from actors.pareto import speed_crash_front
from actors.record import SearchRecord
from actors.storage import Storage

SUMMARY_NAME = "summary.json"


def write_summary(storage: Storage, record: SearchRecord) -> None:
    """Write `summary.json` into the run's folder.

    Raises:
        OSError: The storage fails.
    """
    text = json.dumps(summarise_search(record), indent=2, allow_nan=False)
    storage.write(SUMMARY_NAME, f"{text}\n".encode())


def summarise_search(record: SearchRecord) -> dict[str, Any]:
    """Return the summary of a search, finished or not. What was not measured is null or absent."""
    plan, archive = record.plan, record.archive
    if plan is None:
        return {}
    generations = sorted({each.candidate.generation for each in archive.entries()})
    return {
        "search_id": plan.search_id,
        "goal": plan.goal,
        "strategy": plan.strategy,
        "llm": plan.llm.spec,
        "seed": plan.seed,
        "population": plan.population,
        "generations": [_generation(record, each) for each in generations],
        "champion": record.champion,
        "baselines": {
            name: {
                "fitness": each.fitness.value if each.fitness else None,
                "metrics": dict(each.metrics),
                "intervals": _intervals(archive, name),
            }
            for name, each in sorted(archive.baselines.items())
        },
        "finals": _finals(record),
        "pareto": [point.to_json() for point in speed_crash_front(archive)],
        "rungs": summarise_rungs(archive),
        "env_steps": sum(each.env_steps for each in archive.outcomes.values()),
        "wall_s": round(record.wall_s, 3),
        "llm_usage": {
            "replies": len(record.replies),
            "failures": len(record.failures),
            "prompt_tokens": sum(each.prompt_tokens for each in _answers(record)),
            "completion_tokens": sum(each.completion_tokens for each in _answers(record)),
        },
        "notices": list(record.notices),
        "finished": record.finished,
    }


def _finals(record: SearchRecord) -> dict[str, Any] | None:
    """Return what the finals say; None where there are none yet."""
    if not record.standings:
        return None
    return {
        "standings": {stage: standing.to_json()["rows"] for stage, standing in record.standings.items()},
        "confirmed": None if record.confirmed is None else record.confirmed.to_json(),
        "ablation": None if record.ablation is None else record.ablation.to_json(),
        **concluded(record),
        "report_baselines": {
            name: {"fitness": None if each.fitness is None else each.fitness.to_json(), "metrics": dict(each.metrics)}
            for name, each in sorted(record.report_baselines.items())
        },
    }


def concluded(record: SearchRecord) -> dict[str, Any]:
    """Return what followed the confirmation; null where it has not, or was not asked for."""
    replay, roads, scores = record.replay, record.generalisation, record.compatibility
    return {
        "replay": None if replay is None else {**replay.to_json(), "verdict": replay.sentence()},
        "generalisation": None
        if roads is None
        else {**roads.to_json(), "leads": [each.to_json() for each in roads.leads()], "verdict": roads.sentence()},
        "lampilot_compatibility": None if scores is None else scores.to_json()["scores"],
    }


def _answers(record: SearchRecord) -> list[Any]:
    return [*record.replies.values(), *record.failures.values()]


def _generation(record: SearchRecord, generation: int) -> dict[str, Any]:
    score = record.score(generation)
    return {
        "generation": generation,
        "best": score.best,
        "mean": score.mean,
        "candidates": [_candidate(each, record.archive) for each in record.archive.entries(generation)],
        "refused": [_refusal(each) for each in _refusals(record.archive, generation)],
    }


def _refusals(archive: Archive, generation: int) -> list[Refusal]:
    return [each for _, each in sorted(archive.refusals.items()) if each.generation == generation]


def _refusal(refusal: Refusal) -> dict[str, Any]:
    return {"id": refusal.id, "code": refusal.code, "reason": refusal.reason}


def _intervals(archive: Archive, name: str) -> dict[str, list[float]]:
    """Return 95 % intervals, lower and upper end, by measure; that of the fitness is among them."""
    return {measure: list(ends) for measure, ends in archive.intervals.get(name, {}).items()}


def _candidate(entry: ArchiveEntry, archive: Archive) -> dict[str, Any]:
    candidate: Candidate = entry.candidate
    outcome = entry.outcome
    return {
        "id": candidate.id,
        "parents": list(candidate.parents),
        "status": outcome.status if outcome else "waiting",
        "reason": outcome.reason if outcome else "",
        "fitness": entry.fitness.value if entry.fitness else None,
        "metrics": dict(outcome.metrics) if outcome else {},
        "intervals": _intervals(archive, candidate.id),
        "program_digest": candidate.digest,
    }
