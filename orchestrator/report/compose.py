"""The whole report, in order: what was asked, what came of it, and everything that one may want to look up."""

from orchestrator.report import against, champion, course, elsewhere, evidence, opening, repeat, standings
from orchestrator.report.document import Document
from orchestrator.report.films import Shot
from orchestrator.report.gather import ReportData


def compose(data: ReportData, shots: tuple[Shot, ...], clips: tuple[Shot, ...], *, videos: bool) -> Document:
    """Return the report.

    Args:
        data: The run.
        shots: Films of everyone in the same traffic.
        clips: Films of what findings are about.
        videos: Whether films were asked for.
    """
    crown = "champion" if data.record.finished else "best so far"
    best = "" if data.champion is None else f" · {crown} {data.champion.candidate.id}"
    return Document(
        title=data.plan.search_id,
        subtitle=f"A search for a reward, {data.state}{best}",
        sections=(
            opening.asked(data),
            opening.verdict(data),
            standings.board(data),
            standings.finals(data),
            against.differences(data),
            course.generations(data),
            course.pareto(data),
            champion.program(data),
            champion.learning(data),
            champion.ablation(data),
            course.lineage(data),
            course.gate(data),
            evidence.detectors(data, clips),
            evidence.films(data, shots, wanted=videos),
            elsewhere.generalisation(data),
            elsewhere.lampilot(data),
            repeat.costs(data),
            repeat.repeat(data),
        ),
    )
