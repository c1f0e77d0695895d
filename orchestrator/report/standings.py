"""Who stands where: the leaderboard and the finals."""

from collections.abc import Iterator

from actors.intervals import wilson
from actors.messages import Fitness
from actors.standings import Confirmation, Standing, StandingRow
from orchestrator import leaderboard
from orchestrator.leaderboard import Row as Standed
from orchestrator.report import plots, style
from orchestrator.report.document import (
    Absent,
    Block,
    Cell,
    Column,
    Details,
    Facts,
    Paragraph,
    Picture,
    Row,
    RowKind,
    Section,
    Table,
    row,
)
from orchestrator.report.gather import ReportData
from orchestrator.report.plots import Estimate
from orchestrator.report.wording import NAMES, counted, interval_text, named, rival, steps_text

_SHOWN = 15
"""Candidates on the leaderboard before the rest is folded away."""
_SAME_EPISODES = (
    "Every candidate and every baseline drives the same episodes, so that luck with the traffic is the same for all. "
    "The order is that of the lower ends of the intervals: what can be claimed. What stands below SLOWER does worse "
    "than a car that only brakes."
)
_WHY_FINALS = (
    "Training seeds are the largest noise of all: the same program trained again may come out 0.05 to 0.07 higher or "
    "lower. So the best were trained again with fresh seeds and measured in traffic that no candidate had met; the "
    "champion is the one of whom the most can be claimed: whose interval has the highest lower end."
)
_BOARD_NUMBERS = (
    ("progress_ms", 1.0, ""),
    ("overtakes_per_min", 1.0, ""),
    ("ttc_low_share", 100.0, " %"),
    ("native_return", 1.0, ""),
)
"""Measures on the leaderboard: name, factor, unit."""
_MEASURES = (
    ("fitness", "what candidates are judged by, 0 to 1: see “What was asked”"),
    ("crashes", "share of the episodes in which the car crashed"),
    ("progress", "mean distance along the road over the scheduled time, m/s: time lost to a crash counts as standing"),
    ("overtakes", "cars passed less cars that passed, a minute"),
    ("below a name", "who wrote the program and how, or why its training broke"),
    ("short gaps", "share of the time with less than 1.5 s to a collision at the present speeds"),
    ("return", "highway-env's own reward, summed over an episode; at most one point a decision"),
    (
        "small print",
        "the 95 % interval: in 95 of 100 such measurements it holds the true value. With one training it is that of "
        "this one policy; another training of its program may come out 0.05 to 0.07 higher or lower",
    ),
    ("SLOWER, FASTER, IDLE, LEFT, RIGHT", "a car that repeats this one action whatever happens"),
    ("IDM, IDM + MOBIL", "highway-env's own model drivers: IDM keeps its lane, MOBIL changes lanes as well"),
    ("native-reward PPO", "an agent that learns exactly as candidates do, from highway-env's own reward"),
    ("hand-tuned PPO", "the same from a reward that a person tuned and that ships with the project"),
)


def board(data: ReportData) -> Section:
    """Return the leaderboard of the search, baselines among the candidates."""
    rows = leaderboard.rows(data.record)
    if not rows:
        return Section("leaderboard", "Leaderboard", (Absent("Nobody has been trained or measured yet."),))
    champion = data.champion.candidate.id if data.champion is not None else ""
    first = _shown_rows(rows, champion)
    rest = [each for each in rows if each not in first]
    places = {
        each.name: place for place, each in enumerate((r for r in rows if r.role == "candidate" and r.fitness), 1)
    }
    caption = "Candidates and baselines by the lower end of their fitness's interval, best first."
    blocks: list[Block] = [
        Paragraph(_SAME_EPISODES),
        *_board_picture(first),
        _board_table(first, places, champion, caption),
    ]
    if rest:
        title = f"The other {counted(len(rest), 'candidate')}"
        blocks.append(Details(title, (_board_table(rest, places, champion, "The rest of the leaderboard."),)))
    blocks.append(Details("Who is who, and what the columns mean", (Facts(_MEASURES),)))
    return Section("leaderboard", "Leaderboard", tuple(blocks))


def _shown_rows(rows: list[Standed], champion: str) -> list[Standed]:
    """Return the rows that are not folded away: the best candidates, the champion, and all baselines."""
    best = [each.name for each in rows if each.role == "candidate"][:_SHOWN]
    return [each for each in rows if each.role == "baseline" or each.name in (*best, champion)]


def _board_picture(rows: list[Standed]) -> Iterator[Picture]:
    estimates = [
        Estimate(
            name=named(each.name),
            value=each.fitness.value,
            low=each.fitness.low,
            high=each.fitness.high,
            colour=style.CHAMPION if each.role == "candidate" else style.BASELINE,
        )
        for each in rows
        if each.fitness is not None
    ]
    if estimates:
        wide, narrow = plots.forest(estimates, "fitness")
        yield Picture(
            name="leaderboard",
            title="Fitness of candidates and baselines with intervals",
            caption="Fitness of candidates (blue) and baselines (grey); the bar is the 95 % interval over episodes.",
            wide=wide,
            narrow=narrow,
        )


def _board_table(rows: list[Standed], places: dict[str, int], champion: str, caption: str) -> Table:
    titles = ("fitness", "crashes", "progress", "overtakes", "short gaps", "return")
    columns = (Column("", True), Column("who"), *(Column(each, True) for each in titles))
    return Table(
        columns=columns,
        rows=tuple(_board_row(each, places.get(each.name), _kind(each, champion)) for each in rows),
        caption=caption,
    )


def _board_row(entrant: Standed, place: int | None, kind: RowKind) -> Row:
    numbers = [
        f"{entrant.metrics[name] * scale:.1f}{unit}" if name in entrant.metrics else ""
        for name, scale, unit in _BOARD_NUMBERS
    ]
    who = Cell(named(entrant.name), entrant.reason or ("" if kind == "baseline" else entrant.written))
    score = _score(entrant.fitness, entrant.status)
    return row(str(place or ""), who, score, _crashes(entrant), *numbers, kind=kind)


def _kind(entrant: Standed, champion: str) -> RowKind:
    if entrant.role == "baseline":
        return "baseline"
    if entrant.name == champion:
        return "champion"
    return "failed" if entrant.status in ("failed", "faulted") else ""


def _score(fitness: Fitness | None, otherwise: str) -> Cell:
    """Return a fitness with its interval, or what stands in its place."""
    if fitness is None:
        return Cell(otherwise)
    return Cell(f"{fitness.value:.3f}", interval_text(fitness.low, fitness.high))


def _crashes(entrant: Standed) -> Cell:
    metrics = entrant.metrics
    if "crash_rate" not in metrics or "episodes" not in metrics:
        return Cell("")
    episodes = round(metrics["episodes"])
    low, high = wilson(round(metrics["crash_rate"] * episodes), episodes)
    return Cell(f"{100 * metrics['crash_rate']:.1f} %", f"{100 * low:.1f} to {100 * high:.1f}")


def finals(data: ReportData) -> Section:
    """Return the finals: who stood where after each stage, and what selection had added by luck."""
    record, settings = data.record, data.plan.finals
    blocks: list[Block] = []
    if not settings.finalists:
        blocks.append(Absent("This search held no finals: its champion is the best of one training each."))
    elif not record.standings:
        blocks.append(Absent("No stage of the finals has been decided."))
    else:
        blocks.append(Paragraph(_WHY_FINALS))
        held = [record.standings[stage] for stage in ("qualifying", "deciding") if stage in record.standings]
        blocks += [_standing_table(data, standing) for standing in held]
        if record.confirmed is not None:
            blocks += _shrinkage(record.confirmed)
            blocks.append(_confirming_table(data, record.confirmed))
    return Section("finals", "The finals", tuple(blocks))


def _standing_table(data: ReportData, standing: Standing) -> Table:
    steps = data.plan.finals.leader_steps if standing.stage == "deciding" else data.plan.finals.steps
    fitnesses = data.record.archive.fitnesses
    rows = []
    for place, each in enumerate(standing.rows):
        before, fitness = fitnesses.get(each.of), each.fitness
        lost = "" if before is None or fitness is None else f"{before.value - fitness.value:+.3f}"
        selected = "" if before is None else f"{before.value:.3f}"
        broke = f"{each.failed} broke: {each.reason}" if each.failed else ""
        kind: RowKind = "failed" if fitness is None else "champion" if place == 0 else ""
        rows.append(row(named(each.of), _deciding_score(each), selected, lost, _trainings(each), broke, kind=kind))
    titles = ("fitness", "when selected", "shrinkage", "trainings")
    return Table(
        columns=(Column("finalist"), *(Column(title, True) for title in titles), Column("")),
        rows=tuple(rows),
        caption=f"After the {standing.stage} stage, {steps_text(steps)} decisions a training; shrinkage is what the "
        "score of the selection was too high by. The small print is the interval that decides: three trainings tell a "
        "spread badly, so that one spread, pooled over all finalists, counts for each.",
    )


def _deciding_score(place: StandingRow) -> Cell:
    """Return a finalist's fitness with the interval that it was ranked by; runs of earlier releases hold none."""
    if place.fitness is None or len(place.bounds) != 2:
        return _score(place.fitness, "broken")
    return Cell(f"{place.fitness.value:.3f}", interval_text(place.bounds[0], place.bounds[1]))


def _shrinkage(confirmed: Confirmation) -> Iterator[Block]:
    parts = [
        f"{words} ({before:.3f}) was {abs(shrunk):.3f} {'higher' if shrunk > 0.0 else 'lower'} than this"
        for words, before, shrunk in (
            ("the score that selected it", confirmed.selection, confirmed.shrinkage_of_selection),
            ("its score in the finals", confirmed.finals, confirmed.shrinkage_of_finals),
        )
        if before is not None and shrunk is not None
    ]
    if confirmed.fitness is None:
        yield Absent("All trainings that were to confirm the champion broke, so that nothing may be claimed of it.")
    elif parts:
        yield Paragraph(
            f"Confirmed on {counted(confirmed.episodes, 'report episode')} over "
            f"{counted(confirmed.replicates, 'training')} of {steps_text(confirmed.steps)} decisions, "
            f"{confirmed.champion} has {confirmed.fitness.value:.3f}: {', and '.join(parts)}."
        )


def _confirming_table(data: ReportData, confirmed: Confirmation) -> Table:
    """Return everyone on the report episodes: fresh trainings of what learns, and the drivers that do not."""
    standing = data.record.standings.get("confirming")
    figures: list[tuple[str, Fitness | None, str]] = []
    if standing is not None:
        figures = [(each.of, each.fitness, _trainings(each)) for each in standing.rows]
    figures += [(name, each.fitness, "") for name, each in data.record.report_baselines.items()]
    ordered = sorted(figures, key=lambda each: -each[1].value if each[1] is not None else 1.0)
    rows = []
    for name, fitness, trainings in ordered:
        mine = name == confirmed.champion
        kind: RowKind = "champion" if mine else "baseline" if name in NAMES else ""
        rows.append(row(name if mine else rival(name), _score(fitness, "broken"), trainings, kind=kind))
    return Table(
        columns=(Column("who"), Column("fitness", True), Column("trainings", True)),
        rows=tuple(rows),
        caption=f"Everyone on {counted(confirmed.episodes, 'report episode')}; what learns was trained afresh. "
        "Trainings that broke are left out of a fitness.",
    )


def _trainings(row: StandingRow) -> str:
    return f"{row.replicates} of {row.seeds}" if row.failed else str(row.replicates)
