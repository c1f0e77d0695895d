"""What a search's values are called in MLflow: numbers, parameters, texts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from actors.agreement import rung_agreements
from actors.archive import Archive
from actors.chat import Exchange
from actors.comparison import FITNESS
from actors.messages import ArchiveEntry, Fitness
from actors.outcome import Outcome
from orchestrator.tracking import Point


def conversation(exchange: Exchange) -> str:
    """Return a prompt as one text, speaker by speaker."""
    return "\n\n".join(f"=== {message.role} ===\n{message.content}" for message in exchange.messages)


def settings(plan: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield a plan's settings under `group/name`; programs are artifacts of their candidates and are left out."""
    for name, value in plan.items():
        if isinstance(value, Mapping):
            yield from settings(value, f"{prefix}{name}/")
        elif name not in ("start_from", "imported"):
            yield prefix + name, value


def measured(metrics: Mapping[str, float]) -> list[Point]:
    """Return measures on held-out episodes under `eval/`."""
    return [Point(f"eval/{name}", value) for name, value in metrics.items()]


def judged(fitness: Fitness) -> list[Point]:
    """Return a fitness, the ends of its interval where it has one, and its terms under `fitness/`."""
    named = {"value": fitness.value, "low": fitness.low, "high": fitness.high, "gate": fitness.gate, **fitness.terms}
    return [Point(f"fitness/{name}", value) for name, value in named.items() if value is not None]


def bounded(intervals: Mapping[str, Sequence[float]]) -> list[Point]:
    """Return the ends of the measures' 95 % intervals under `interval/`; those of the fitness are under `fitness/`."""
    return [
        Point(f"interval/{name}/{end}", value)
        for name, ends in intervals.items()
        if name != FITNESS
        for end, value in zip(("low", "high"), ends, strict=True)
    ]


def trained(outcome: Outcome) -> Iterator[Point]:
    """Yield learning curve and component traces under `train/`, over environment steps."""
    for point in outcome.curve:
        for name, value in point.to_json().items():
            if name != "steps":
                yield Point(f"train/{name}", float(value), point.steps)
    for trace in outcome.traces:
        for name, value in (("low", trace.low), ("mean", trace.mean), ("high", trace.high)):
            yield Point(f"train/component/{trace.component}/{name}", value, trace.steps)
    for rung in outcome.rungs:
        if rung.fitness is not None:
            yield Point("rungs/fitness", rung.fitness, rung.steps)
    yield Point("train/env_steps", outcome.env_steps)
    yield Point("train/wall_s", outcome.wall_s)


def foretold(archive: Archive, generation: int) -> Iterator[Point]:
    """Yield how far the rungs foretell what comes after them, over all candidates so far, under `rungs/`."""
    for each in rung_agreements([archive]):
        for name, value in (("spearman", each.agreement.spearman), ("kendall", each.agreement.kendall)):
            if value is not None:
                yield Point(f"rungs/{name}_{each.name}", value, generation)


def label(entry: ArchiveEntry) -> str:
    """Return what stands above a candidate's film in a contact sheet."""
    fitness = "" if entry.fitness is None else f"   fitness {entry.fitness.value:.3f}"
    metrics = {} if entry.outcome is None else entry.outcome.metrics
    crashes = f"   crashes {100 * metrics['crash_rate']:.0f} %" if "crash_rate" in metrics else ""
    return f"{entry.candidate.id}{fitness}{crashes}"
