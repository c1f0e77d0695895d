"""What followed the confirmation of a champion, as sentences and tables."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from actors.generalisation import Cell, Generalisation, Lead, Road
from actors.pareto import FrontPoint, speed_crash_front
from actors.record import SearchRecord
from driving.lampilot import LampilotScores
from orchestrator.console import shown

MATRIX_LEGEND = (
    "each road: fitness and, in %, crash rate on report episodes; lead: feasible roads on which the champion's fitness "
    "is the higher one; (own): where it was trained; (out): infeasible for everyone"
)
LAMPILOT_LEGEND = (
    "LaMPilot-Bench's scores, for comparison with work that reports them (a compatibility score: it ranks nobody here; "
    "success is a whole episode without a collision, so that time efficiency is the same for all)"
)


def say_conclusion(console: Console, record: SearchRecord) -> None:
    """Print what followed the confirmation: other roads, other scores, highway-env's own word; nothing before."""
    if record.generalisation is not None:
        console.print()
        say_matrix(console, record.generalisation)
        console.print()
    if record.compatibility is not None:
        console.print(lampilot_table(record.compatibility.scores))
        console.print(LAMPILOT_LEGEND, style="dim")
        console.print()
    for sentence in sentences(record):
        broken = record.replay is not None and sentence == record.replay.sentence() and record.replay.broken
        console.print(shown(sentence, style="bold red" if broken else ""))


def say_matrix(console: Console, found: Generalisation) -> None:
    """Print how everyone drives on all roads."""
    console.print(matrix_table(found))
    console.print(MATRIX_LEGEND, style="dim")


def sentences(record: SearchRecord) -> list[str]:
    """Return what followed the confirmation, and the front of speed against crashes, a sentence each."""
    said = [] if record.replay is None else [record.replay.sentence()]
    said += [] if record.generalisation is None else [record.generalisation.sentence()]
    points = speed_crash_front(record.archive)
    return [*said, front_sentence(points)] if points else said


def front_sentence(points: Sequence[FrontPoint]) -> str:
    """Say who is on the front of speed against crashes."""
    told = [f"{each.name} {each.speed_ms:.1f} m/s {100 * each.crash_rate:.1f} %" for each in points]
    return f"nobody is both faster and safer than one of these, slowest first (speed, crash rate): {', '.join(told)}"


def matrix_table(found: Generalisation) -> Table:
    """Return the matrix: a row for each driver, a column for each road."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("driver", no_wrap=True, overflow="ellipsis")
    for road in found.roads:
        table.add_column(_title(road), justify="right", no_wrap=True)
    table.add_column("lead", justify="right", no_wrap=True)
    leads = {each.over: each for each in found.leads()}
    for place, cell in enumerate(found.roads[0].cells):
        row = [road.cells[place] for road in found.roads]
        style = "bold" if cell.name == found.champion else ""
        cells = [_figures(each, road) for each, road in zip(row, found.roads, strict=True)]
        table.add_row(shown(cell.name, style=style), *cells, shown(_lead(leads.get(cell.name)), style=style))
    return table


def _title(road: Road) -> Text:
    """Return a road's name on short lines; the champion's own road and infeasible ones are marked."""
    name = road.name.replace("the search's own", "own").replace("density ", "x").replace("highway-", "highway, -")
    marks = [*(["(own)"] if road.own else []), *([] if road.feasible else ["(out)"])]
    return shown("\n".join([*name.split(", "), *marks]), lines=True)


def _figures(cell: Cell, road: Road) -> Text:
    fitness = "" if cell.fitness is None else f"{cell.fitness.value:.2f}".lstrip("0")
    return shown(f"{fitness} {100 * cell.crash_rate:3.0f}", style="" if road.feasible else "dim")


def _lead(lead: Lead | None) -> str:
    return "" if lead is None else f"{lead.ahead}/{lead.roads}"


def lampilot_table(scores: Mapping[str, LampilotScores]) -> Table:
    """Return LaMPilot-Bench's scores, a row for each driver."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("compatibility score", no_wrap=True)
    for title in ("driving", "mean", "ttc", "speed", "time", "success%", "collided%"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, each in scores.items():
        parts = (each.score, each.ttc, each.speed, each.time)
        cells = [f"{each.driving_score:.1f}", *("" if part is None else f"{part:.1f}" for part in parts)]
        rates = [f"{100 * each.success_rate:.1f}", f"{100 * each.collision_rate:.1f}"]
        table.add_row(*(shown(cell) for cell in (name, *cells, *rates)))
    return table


def lampilot_sentence(scores: LampilotScores) -> str:
    """Return the scores of one driver in a sentence."""
    told = f"LaMPilot driving score {scores.driving_score:.1f} on {scores.episodes} episodes (a compatibility score"
    if scores.score is None:
        return f"{told}; no episode was driven to its end)"
    return (
        f"{told}; mean {scores.score:.1f} of the {100 * scores.success_rate:.0f} % driven to their end: TTC "
        f"{scores.ttc:.1f}, speed {scores.speed:.1f}, time {scores.time:.1f})"
    )
