import csv
import io
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from actors.archive import Archive, Baseline
from actors.ledger import replay
from actors.messages import Fitness
from actors.record import SearchRecord
from orchestrator import leaderboard
from tests.orchestrator.journals import Script, candidate, outcome


def judged(value: float) -> Fitness:
    return Fitness(value=value, terms={}, gate=1.0)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8))
def test_the_best_come_first_and_failures_last(values: list[float | None]) -> None:
    names = [f"g00-c{number:02d}" for number in range(len(values))]
    archive = Archive(
        candidates={name: candidate(name, 0) for name in names},
        outcomes={
            name: outcome(name, status="failed" if value is None else "trained", metrics={})
            for name, value in zip(names, values, strict=True)
        },
        fitnesses={name: judged(value) for name, value in zip(names, values, strict=True) if value is not None},
    )
    rows = leaderboard.rows(SearchRecord(archive=archive))
    shown = [None if row.fitness is None else row.fitness.value for row in rows]
    ranked = sorted((value for value in values if value is not None), reverse=True)
    assert shown == ranked + [None] * values.count(None)
    assert sorted(row.name for row in rows) == names


def test_what_was_not_measured_is_empty_and_never_zero(tmp_path: Path) -> None:
    script = Script(tmp_path / "run")
    script.start()
    script.accept("g00-c00", 0)
    script.deliver("g00-c00", status="faulted", reason="log of -1", metrics={}, curve=(), traces=())
    script.accept("g00-c01", 0)
    script.accept("g00-c02", 0)
    script.assign("g00-c02")
    record = replay(script.journal)
    script.close()
    rows = list(csv.DictReader(leaderboard.as_csv(record).splitlines()))
    assert [(row["name"], row["status"], row["fitness"]) for row in rows] == [
        ("g00-c01", "waiting", ""),
        ("g00-c02", "training", ""),
        ("g00-c00", "faulted", ""),
    ]


def test_the_csv_holds_every_measure(tmp_path: Path) -> None:
    script = Script(tmp_path / "run")
    script.start()
    script.baseline("slower")
    script.accept("g00-c00", 0)
    script.deliver("g00-c00", better=True)
    record = replay(script.journal)
    script.close()
    rows = list(csv.DictReader(leaderboard.as_csv(record).splitlines()))
    assert [(row["name"], row["role"]) for row in rows] == [("g00-c00", "candidate"), ("slower", "baseline")]
    assert float(rows[0]["progress_ms"]) == 24.0
    assert float(rows[0]["fitness"]) > float(rows[1]["fitness"])


def test_the_board_is_ordered_by_the_lower_end_and_shows_the_interval() -> None:
    lucky = Fitness(value=0.6, terms={}, gate=1.0, low=0.301, high=0.71)
    sure = Fitness(value=0.5, terms={}, gate=1.0, low=0.45, high=0.551)
    names = ("g00-c00", "g00-c01")
    archive = Archive(
        candidates={name: candidate(name, 0) for name in names},
        outcomes={name: outcome(name) for name in names},
        fitnesses=dict(zip(names, (lucky, sure), strict=True)),
        baselines={"slower": Baseline(name="slower", metrics={}, fitness=judged(0.4))},
    )
    record = SearchRecord(archive=archive)
    assert [row.name for row in leaderboard.rows(record)] == ["g00-c01", "slower", "g00-c00"]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(leaderboard.table(record))
    lines = console.export_text().splitlines()
    assert "0.500 0.45-0.55" in lines[1]
    assert lines[2].split()[:2] == ["slower", "0.400"]
    assert "0.600 0.30-0.71" in lines[3]
    assert max(map(len, lines)) <= 80
    assert leaderboard.bounds(sure).startswith("95 % interval 0.4500 to 0.5510 over the episodes")
    assert leaderboard.bounds(judged(0.4)) == "no interval: its single episodes were not kept"
    [best, *_] = csv.DictReader(leaderboard.as_csv(record).splitlines())
    assert (best["fitness_low"], best["fitness_high"]) == ("0.45", "0.551")
