"""The champion elsewhere: on other roads, and by other people's scores."""

from actors.finals import TRAINED_BASELINES
from actors.generalisation import Cell as Driven
from actors.generalisation import Generalisation
from orchestrator.report.document import Absent, Cell, Column, Paragraph, Section, Table, row
from orchestrator.report.gather import ReportData
from orchestrator.report.wording import listed, named

_MATRIX = (*TRAINED_BASELINES, "mobil", "idm", "slower")
"""Baselines in the matrix of roads."""


def generalisation(data: ReportData) -> Section:
    """Return how the champion drives on roads that it was not trained on, beside the baselines."""
    title = "On roads it never saw"
    found = data.record.generalisation
    if found is None or not found.roads:
        return Section("generalisation", title, (Absent("The champion was not driven on other roads."),))
    names = [name for name in (found.champion, *_MATRIX) if any(name == cell.name for cell in found.roads[0].cells)]
    rows = []
    for road in found.roads:
        by_name = {cell.name: cell for cell in road.cells}
        cells = [_matrix_cell(by_name[name], found.champion) for name in names if name in by_name]
        note = "its own road" if road.own else "" if road.feasible else "infeasible for everyone"
        rows.append(row(Cell(road.name, note), *cells, kind="" if road.feasible else "baseline"))
    table = Table(
        columns=(Column("road"), *(Column(named(name), True) for name in names)),
        rows=tuple(rows),
        caption=f"Fitness on {found.episodes} report episodes of each road; below it how far the champion is ahead, "
        "with a star where the whole 95 % interval of that, over trainings and episodes, lies on one side of zero.",
    )
    return Section("generalisation", title, (Paragraph(_leads(found)), table))


def _leads(found: Generalisation) -> str:
    """Say over whom the champion keeps its lead on the roads that anyone can drive."""
    leads = [each for each in found.leads() if each.over in _MATRIX]
    feasible = sum(road.feasible for road in found.roads)
    kept = [named(each.over) for each in leads if feasible and each.ahead == feasible]
    lost = [f"{named(each.over)} ({each.ahead} of {feasible})" for each in leads if each.ahead < feasible]
    said = [f"Of the {len(found.roads)} roads, {feasible} can be driven with the five actions at all."]
    if kept:
        said.append(f"{found.champion} is ahead of {listed(kept)} on every one of them.")
    if lost:
        said.append(f"It is not everywhere ahead of {listed(lost)}.")
    return " ".join(said)


def _matrix_cell(cell: Driven, champion: str) -> Cell:
    text = "" if cell.fitness is None else f"{cell.fitness.value:.3f}"
    if cell.name == champion or cell.lead is None:
        return Cell(text, f"{100 * cell.crash_rate:.0f} % crash" if cell.name == champion else "")
    sure = " *" if cell.lead.above or cell.lead.below else ""
    return Cell(text, f"{cell.lead.value:+.3f}{sure}")


def lampilot(data: ReportData) -> Section:
    """Return the scores of LaMPilot-Bench, for comparison with work that reports them."""
    title = "LaMPilot-compatible scores"
    found = data.record.compatibility
    if found is None or not found.scores:
        return Section("lampilot", title, (Absent("The champion was not scored as LaMPilot-Bench does."),))
    rows = tuple(
        row(
            named(name),
            f"{scores.driving_score:.1f}",
            *("" if each is None else f"{each:.1f}" for each in (scores.ttc, scores.speed, scores.time)),
            f"{100 * scores.success_rate:.0f} %",
            kind="champion" if data.champion is not None and name == data.champion.candidate.id else "",
        )
        for name, scores in sorted(found.scores.items(), key=lambda pair: -pair[1].driving_score)
    )
    episodes = next(iter(found.scores.values())).episodes
    titles = ("driving score", "TTC", "speed deviation", "time efficiency", "success")
    table = Table(
        columns=(Column("who"), *(Column(each, True) for each in titles)),
        rows=rows,
        caption=f"{episodes} report episodes. A compatibility score: this project judges by its fitness alone, and "
        "time efficiency is the same for everyone here because an episode has no instruction to complete.",
    )
    return Section("lampilot", title, (table,))
