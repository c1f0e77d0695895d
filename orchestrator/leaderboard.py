"""The leaderboard: candidates and baselines in one order, as rows, as a table and as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.table import Table

from actors.messages import ArchiveEntry, Fitness
from actors.record import SearchRecord
from orchestrator.console import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One measured column.

    Attributes:
        metric: Metric name (see `docs/metrics.md`).
        title: Heading.
        form: Format specification.
        scale: Factor between the metric and what is shown.
    """

    metric: str
    title: str
    form: str
    scale: float = 1.0


COLUMNS = (
    Column(metric="crash_rate", title="crash%", form=".1f", scale=100.0),
    Column(metric="progress_ms", title="m/s", form=".1f"),
    Column(metric="overtakes_per_min", title="ovt", form=".1f"),
    Column(metric="ttc_low_share", title="ttc%", form=".1f", scale=100.0),
    Column(metric="accel_rms_ms2", title="accel", form=".2f"),
    Column(metric="native_return", title="return", form=".1f"),
)
"""What is shown of the measures; each row fits a terminal of 80 characters."""

LEGEND = (
    "95 %: interval of the fitness over episodes, by whose lower end the board is ordered; m/s: progress; ovt: net "
    "overtakes a minute; ttc%: time below 1.5 s to collision; accel: RMS, m/s2; return: highway-env's own reward"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the leaderboard.

    Attributes:
        name: Candidate id or baseline name.
        role: `candidate` or `baseline`.
        generation: Generation; None for a baseline.
        status: Of a candidate, what its outcome says, else `training` or `waiting`; of a baseline `trained`, or
            `unjudged` where a measure that its fitness needs is undefined.
        reason: Why it is not trained; empty otherwise.
        fitness: Fitness; None where there is none.
        metrics: Measures; undefined ones are absent.
        written: Who wrote it and how, such as `evolver weight`.
        parents: Candidate ids that it was written from.
    """

    name: str
    role: str
    generation: int | None
    status: str
    reason: str
    fitness: Fitness | None
    metrics: Mapping[str, float]
    written: str
    parents: tuple[str, ...]


def status_of(entry: ArchiveEntry, training: Iterable[str] = ()) -> str:
    """Return the status of a candidate in one word."""
    if entry.outcome is not None:
        return entry.outcome.status
    return "training" if entry.candidate.id in training else "waiting"


def rows(record: SearchRecord) -> list[Row]:
    """Return candidates in their order (`actors/ranking.py`) with the baselines where their fitness puts them."""
    candidates = [_candidate_row(entry, record) for entry in record.archive.ordered()]
    baselines = [
        Row(
            name=name,
            role="baseline",
            generation=None,
            status="trained" if baseline.fitness is not None else "unjudged",
            reason="",
            fitness=baseline.fitness,
            metrics=baseline.metrics,
            written="baseline",
            parents=(),
        )
        for name, baseline in sorted(record.archive.baselines.items())
    ]
    return sorted([*candidates, *baselines], key=_order)


def _candidate_row(entry: ArchiveEntry, record: SearchRecord) -> Row:
    candidate, outcome = entry.candidate, entry.outcome
    return Row(
        name=candidate.id,
        role="candidate",
        generation=candidate.generation,
        status=status_of(entry, record.assigned),
        reason="" if outcome is None else outcome.reason,
        fitness=entry.fitness,
        metrics={} if outcome is None else outcome.metrics,
        written=f"{candidate.origin} {candidate.move}".strip(),
        parents=candidate.parents,
    )


def _order(row: Row) -> tuple[int, float]:
    """Return what rows are sorted by; equals stay as they came, candidates before baselines."""
    if row.fitness is not None:
        return 0, -row.fitness.certain
    return {"stopped": 1, "failed": 3, "faulted": 3}.get(row.status, 2), 0.0


def table(record: SearchRecord, *, limit: int | None = None) -> Table:
    """Return the leaderboard as a rich table.

    Args:
        record: The search.
        limit: How many candidates are shown at most; baselines are always shown. None: all.
    """
    board = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    board.add_column("", no_wrap=True, min_width=2)
    board.add_column("name", no_wrap=True)
    for title in ("fitness", "95 %", *(column.title for column in COLUMNS)):
        board.add_column(title, justify="right", no_wrap=True)
    board.add_column("written by", no_wrap=True, overflow="ellipsis", max_width=13)
    place = 0
    for row in _limited(rows(record), limit):
        ranked = row.role == "candidate" and row.fitness is not None
        place += ranked
        style = "dim" if row.role == "baseline" else "red" if row.status in ("failed", "faulted") else ""
        board.add_row(str(place) if ranked else "", *(shown(cell, style=style) for cell in _cells(row)))
    return board


def _limited(found: list[Row], limit: int | None) -> list[Row]:
    if limit is None:
        return found
    kept = {row.name for row in [row for row in found if row.role == "candidate"][:limit]}
    return [row for row in found if row.role == "baseline" or row.name in kept]


def _cells(row: Row) -> list[str]:
    judged = row.fitness
    cells = [
        row.name,
        row.status if judged is None else f"{judged.value:.3f}",
        interval_shown(judged),
    ]
    cells += [
        f"{row.metrics[each.metric] * each.scale:{each.form}}" if each.metric in row.metrics else "" for each in COLUMNS
    ]
    return [*cells, row.written]


def broken(record: SearchRecord) -> list[str]:
    """Return one sentence for each candidate and each other training that broke: which, how, and in which state."""
    archive = record.archive
    return [
        f"{name} {outcome.status}: {outcome.reason}"
        for name, outcome in archive.outcomes.items()
        if outcome.status in ("faulted", "failed")
    ]


def interval_shown(fitness: Fitness | None) -> str:
    """Return the interval of a fitness in a few characters; empty where there is none."""
    return (
        ""
        if fitness is None or fitness.low is None or fitness.high is None
        else f"{fitness.low:.2f}-{fitness.high:.2f}"
    )


def bounds(fitness: Fitness) -> str:
    """Say how exact a fitness of one training is."""
    if fitness.low is None or fitness.high is None:
        return "no interval: its single episodes were not kept"
    return (
        f"95 % interval {fitness.low:.4f} to {fitness.high:.4f} over the episodes; another training of this program "
        "differs by about 0.06"
    )


def as_csv(record: SearchRecord) -> str:
    """Return the leaderboard as CSV, every metric in a column."""
    found = rows(record)
    metrics = sorted({name for row in found for name in row.metrics})
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        [
            "name",
            "role",
            "generation",
            "status",
            "fitness",
            "fitness_low",
            "fitness_high",
            *metrics,
            "parents",
            "reason",
        ]
    )
    for row in found:
        judged = () if row.fitness is None else (row.fitness.value, row.fitness.low, row.fitness.high)
        writer.writerow(
            [
                row.name,
                row.role,
                "" if row.generation is None else row.generation,
                row.status,
                *("" if number is None else number for number in judged or (None, None, None)),
                *(row.metrics.get(name, "") for name in metrics),
                " ".join(row.parents),
                row.reason,
            ]
        )
    return out.getvalue()
