"""What a search has found, as sentences and tables: who won the finals, by how much, and how much of it was luck."""

from collections.abc import Collection, Iterator, Mapping

from rich.console import Console
from rich.table import Table

from actors.archive import Baseline
from actors.difference import Difference
from actors.finals import NATIVE, starting_program
from actors.messages import Fitness, Origin
from actors.record import SearchRecord
from actors.standings import Ablation, Confirmation, Standing, StandingRow
from orchestrator.conclusion_tables import say_conclusion
from orchestrator.console import shown

NOTHING = ("slower", "idle")
"""Baseline drivers that do nothing: they brake, or hold lane and speed, whatever comes."""

CARELESS = ("faster", "left", "right", "random")
"""Baseline drivers that look at nothing: told of together where they are beaten."""

_GIVEN: Mapping[Origin, str] = {
    "seed": "one of the programs that every search starts from",
    "user": "a program that the search was given",
    "imported": "a program of another search",
}
"""Where a program comes from that no one wrote in this search."""

_TITLES = {"qualifying": "qualifying", "deciding": "deciding", "confirming": "confirming, on report episodes"}


def fitness_shown(fitness: Fitness) -> str:
    """Return a fitness with its interval, such as `0.512 [0.461, 0.551]`."""
    return f"{fitness.value:.3f} {_ends(fitness)}".rstrip()


def standing_sentence(standing: Standing) -> str:
    """Return in one line who stands where after a stage."""
    places = [
        f"{place}. {row.of} {' '.join(each for each in _figures(standing, row) if each)} ({_measured(row)})"
        for place, row in enumerate(standing.rows, start=1)
    ]
    return f"finals, {standing.stage}: {', '.join(places)}"


def sentences(record: SearchRecord) -> list[str]:
    """Return the verdict on a search, a sentence each; empty while nobody is judged."""
    if record.confirmed is not None:
        broken = list(_broken(record.standings.get("confirming")))
        return [*_confirmed(record.confirmed, record), *broken]
    best = record.archive.top(1)
    if not best or best[0].fitness is None:
        return ["nobody was judged, so that there is no champion"] if record.finished else []
    name, fitness = best[0].candidate.id, best[0].fitness
    if record.finished and record.champion is None:
        return ["every finalist's trainings broke, so that there is no champion; the notices say why"]
    judged = sum(each.fitness is not None for each in record.archive.entries())
    later = "" if record.finished else "; the finals are still to come"
    said = (
        f"best candidate {name}: fitness {fitness_shown(fitness)} on the selection episodes; it is the best of "
        f"{judged} trained once each, so that part of it is luck{later}"
    )
    return [said, *_against_nothing(fitness, record.archive.baselines)]


def say_verdict(console: Console, record: SearchRecord) -> None:
    """Print the finals, what each component of the champion is worth, the verdict, and what followed it."""
    standings = finals_table(record)
    if standings is not None:
        console.print(standings)
        console.print()
    if record.ablation is not None and record.ablation.rows:
        console.print(ablation_table(record.ablation))
        console.print()
    for sentence in sentences(record):
        console.print(shown(sentence))
    say_conclusion(console, record)


def given_words(record: SearchRecord, name: str) -> str:
    """Say of a candidate that nobody wrote in this search where it comes from; nothing of others."""
    candidate = record.archive.candidates.get(name)
    return "" if candidate is None else _GIVEN.get(candidate.origin, "")


def _confirmed(confirmed: Confirmation, record: SearchRecord) -> list[str]:
    name, start, given = confirmed.champion, starting_program(record), given_words(record, confirmed.champion)
    if confirmed.fitness is None:
        return [f"champion {name}: none of its confirming trainings can be judged, so that nothing is claimed"]
    said = [
        f"champion {name}{f', {given}' if given else ''}: fitness {fitness_shown(confirmed.fitness)} on "
        f"{confirmed.episodes} report episodes x {_seeds(confirmed.replicates)} of {confirmed.steps:,} steps"
    ]
    nothing = {each: confirmed.differences[each] for each in NOTHING if each in confirmed.differences}
    if nothing:
        figures = ", ".join(f"{_signed(each)} over {other}" for other, each in nothing.items())
        said.append(f"{_than_nothing(nothing.values())} than doing nothing: {figures}")
    careless = {each: confirmed.differences[each] for each in CARELESS if each in confirmed.differences}
    beaten = [other for other, each in careless.items() if each.above]
    for other, difference in confirmed.differences.items():
        if other not in NOTHING and other not in beaten:
            title = f"the best starting program {other}" if other == start else other
            said.append(f"{_compared(title, difference)}{_return_too(confirmed, other)}")
    if beaten:
        said.append(f"beats {', '.join(beaten)} by at least {min(careless[each].low for each in beaten):+.3f}")
    if confirmed.selection is not None and confirmed.shrinkage_of_selection is not None:
        won = "" if confirmed.finals is None else f", won the finals with {confirmed.finals:.3f}"
        said.append(
            f"selected with {confirmed.selection:.3f}{won}, confirmed with {confirmed.fitness.value:.3f}: "
            f"shrinkage from selection {confirmed.shrinkage_of_selection:+.3f}"
            + (
                ""
                if confirmed.shrinkage_of_finals is None
                else f", from the finals {confirmed.shrinkage_of_finals:+.3f}"
            )
            + "; that these are other episodes alone makes up to 0.04"
        )
    return said


def _return_too(confirmed: Confirmation, other: str) -> str:
    """Return the difference in highway-env's own return, for the driver that was trained for it."""
    found = confirmed.native_returns.get(other)
    if found is None or other != NATIVE:
        return ""
    words = "more" if found.above else "less" if found.below else "not shown to differ"
    return f"; in highway-env's own return {words}: {_signed(found, 2)}"


def _compared(other: str, difference: Difference) -> str:
    if difference.alone:
        return f"{difference.words} {other} in a single training, and another may turn it: {_signed(difference)}"
    if difference.above:
        return f"beats {other} by {_signed(difference)}"
    if difference.below:
        return f"loses to {other} by {_signed(difference)}"
    return f"cannot be told apart from {other}: {_signed(difference)}"


def _than_nothing(differences: Collection[Difference]) -> str:
    if all(each.above for each in differences):
        return "better"
    ahead = all(each.low > 0.0 for each in differences)
    return "in a single training better" if ahead else "NOT shown to be better"


def _broken(standing: Standing | None) -> Iterator[str]:
    """Say whose confirming trainings broke: a mean of those that did not is told, and may flatter."""
    for row in () if standing is None else standing.rows:
        if row.failed and row.fitness is not None:
            said = f"{row.failed} of the {row.seeds} confirming trainings of {row.of} broke, and its figure leaves"
            yield f"{said} {'it' if row.failed == 1 else 'them'} out: {row.reason}"
        elif row.fitness is None:
            why = f"its trainings broke: {row.reason}" if row.failed else "a measure of it is undefined"
            yield f"{row.of} has no figure on the report episodes: {why}"


def _against_nothing(fitness: Fitness, baselines: Mapping[str, Baseline]) -> list[str]:
    found = {name: baselines[name].fitness for name in NOTHING if name in baselines}
    known = {name: each for name, each in found.items() if each is not None}
    if not known:
        return []
    low = fitness.value if fitness.low is None else fitness.low
    better = all(low > (each.value if each.high is None else each.high) for each in known.values())
    figures = ", ".join(f"{name} {fitness_shown(each)}" for name, each in known.items())
    return [f"{'in a single training better' if better else 'NOT shown to be better'} than doing nothing: {figures}"]


def finals_table(record: SearchRecord) -> Table | None:
    """Return the standings of the finals, stage by stage; None where there are none yet."""
    if not record.standings:
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("finals", no_wrap=True, min_width=2)
    table.add_column("name", no_wrap=True)
    for title in ("fitness", "95 % interval", "seeds"):
        table.add_column(title, justify="right", no_wrap=True)
    for stage, title in _TITLES.items():
        standing = record.standings.get(stage)
        if standing is None:
            continue
        table.add_row(title)
        for place, row in enumerate(standing.rows, start=1):
            champion = row.of == (record.confirmed.champion if record.confirmed is not None else record.champion)
            cells = [f"  {place}", row.of, *_figures(standing, row), _of_seeds(row.replicates, row.failed)]
            table.add_row(*(shown(cell, style="bold" if champion else "") for cell in cells))
        if stage == "confirming":
            for name, baseline in sorted(record.report_baselines.items(), key=lambda each: -_value(each[1].fitness)):
                figures = fitness_shown(baseline.fitness).split(" ", 1) if baseline.fitness is not None else [""]
                table.add_row(*(shown(cell, style="dim") for cell in ("", name, *figures)))
    return table


def ablation_table(ablation: Ablation) -> Table:
    """Return what the champion is without each of its components."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column(f"{ablation.champion} without", no_wrap=True)
    for title in ("fitness", "difference", "95 % interval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("")
    for row in ablation.rows:
        difference = row.difference
        cells = [
            row.component,
            "" if row.fitness is None else f"{row.fitness.value:.3f}",
            *(["", ""] if difference is None else [f"{difference.value:+.3f}", _interval(difference)]),
            row.reason,
        ]
        table.add_row(*(shown(cell) for cell in cells))
    return table


def _figures(standing: Standing, row: StandingRow) -> list[str]:
    """Return a fitness and its interval: what is claimed of those that are confirmed, what ranks the others."""
    if row.fitness is None:
        return ["out", ""]
    ranks = standing.stage != "confirming" and row.bounds
    return [f"{row.fitness.value:.3f}", _between(*row.bounds) if ranks else _ends(row.fitness)]


def _ends(fitness: Fitness) -> str:
    return "" if fitness.low is None or fitness.high is None else _between(fitness.low, fitness.high)


def _between(low: float, high: float) -> str:
    return f"[{low:.3f}, {high:.3f}]"


def _of_seeds(replicates: int, failed: int) -> str:
    return f"{replicates}" if not failed else f"{replicates} of {replicates + failed}"


def _value(fitness: Fitness | None) -> float:
    return -1.0 if fitness is None else fitness.value


def _measured(row: StandingRow) -> str:
    return f"{row.replicates} of {_seeds(row.seeds)}" if row.failed else _seeds(row.seeds)


def _seeds(count: int) -> str:
    return f"{count} training seed{'' if count == 1 else 's'}"


def _signed(difference: Difference, digits: int = 3) -> str:
    return f"{difference.value:+.{digits}f} [{difference.low:+.{digits}f}, {difference.high:+.{digits}f}]"


def _interval(difference: Difference) -> str:
    return f"{difference.low:+.3f} to {difference.high:+.3f}"
