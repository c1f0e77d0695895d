"""The winner's curse of searches: how much of a champion's score was luck, before the finals and after them.

A champion is the best of many noisy scores, so its score at selection is too high. For the searches of
`benchmarks.strategies` that finished first, each champion's program is trained again with fresh seeds:

- for the search's steps, on the selection's episodes: `selection` less this is the curse of the selection;
- for the finals' steps, on the finals' episodes: `finals` less this is what choosing among the finalists left of it;
- the same trainings on the report episodes: `confirmed` less this has selected nobody and should be 0;
- and on report episodes that nothing has met before. Here the traffic differs too, by the same amount for all searches,
  so that this one may lie beside 0 without anybody having been lucky.

Rows go to `benchmarks/results/winners_curse.json`; a champion that has a row is not trained again.

    python -m benchmarks.winners_curse --out FOLDER [--searches 10] [--seeds 3]
"""

import argparse
import json
import multiprocessing
import statistics
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.stats import t as student

from actors.comparison import judge
from actors.evaluator import PolicyDriver, evaluate
from actors.finals import decider
from actors.generation import derived_seed
from actors.messages import Assignment
from actors.plan import SearchPlan
from actors.policy import Policy
from actors.record import SearchRecord
from actors.trainer import train_candidate
from benchmarks.figures import one_thread
from benchmarks.strategies import commit, keep, known, row_of
from orchestrator.runs import Run, find_run, runs_in
from search_spaces.scenarios import FINALS, REPORT, SELECTION

RESULTS = Path(__file__).parent / "results" / "winners_curse.json"
WORKERS = 2
"""Trainings at the same time."""
FURTHER = 10_000
"""Report episodes that are passed over before those that nothing has met: a search measures 500 at most."""
SHRINKAGES = {
    "of_selection": ("selection", "selection_again", "selection, same steps and episodes"),
    "of_finals": ("finals", "finals_again", "finals, same episodes"),
    "of_confirmed": ("confirmed", "confirmed_again", "confirmed, same episodes"),
    "of_confirmed_elsewhere": ("confirmed", "confirmed_elsewhere", "confirmed, other episodes"),
}
"""Name of each shrinkage: what it is taken from, what is subtracted, and how it is called in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraining:
    """One fresh training of a champion, and where it is measured.

    Attributes:
        row: Strategy and seed of the search.
        assignment: The training.
        episodes: Episode seeds by the name of the figure that they give.
    """

    row: tuple[str, int]
    assignment: Assignment
    episodes: Mapping[str, range]


def first_finished(out: Path, count: int) -> list[Run]:
    """Return the runs of a folder that ended with a confirmed champion, the earliest first."""
    ended = []
    for folder in runs_in(out):
        run = find_run(str(folder))
        record = run.record()
        if record.finished and record.confirmed is not None and record.confirmed.fitness is not None:
            ended.append((record.latest_at, run))
    return [run for _, run in sorted(ended, key=lambda each: each[0])[:count]]


def retrainings(record: SearchRecord, plan: SearchPlan, seeds: int) -> Iterator[Retraining]:
    """Yield the fresh trainings of a champion: for the search's steps, then for the finals'."""
    if record.champion is None:
        return
    source, held_out = record.archive.candidates[record.champion].source, plan.held_out
    further = range(REPORT.first + FURTHER, REPORT.first + FURTHER + held_out)
    finals = {
        "finals_again": FINALS.seeds(held_out),
        "confirmed_again": REPORT.seeds(held_out),
        "confirmed_elsewhere": further,
    }
    if decider(plan) == "qualifying" and plan.finals.steps != plan.finals.leader_steps:
        del finals["finals_again"]  # the finals chose after trainings of another length
    for name, steps, episodes in (
        ("again", plan.steps, {"selection_again": SELECTION.seeds(held_out)}),
        ("anew", plan.finals.leader_steps, finals),
    ):
        for number in range(seeds):
            identity = f"{record.champion}-{name}{number}"
            yield Retraining(
                row=(plan.strategy, plan.seed),
                assignment=Assignment(
                    candidate_id=identity,
                    source=source,
                    seed=derived_seed(plan.seed, identity),
                    steps=steps,
                    ppo=plan.ppo,
                    scenario=plan.scenario,
                    held_out=1,
                    film=False,
                ),
                episodes=episodes,
            )


def retrain(asked: Retraining) -> dict[str, float]:
    """Train, and return the fitness on each set of episodes; nothing where the training broke."""
    delivery = train_candidate(asked.assignment)
    if delivery.policy is None:
        return {}
    driver, scenario = PolicyDriver(Policy.from_bytes(delivery.policy)), asked.assignment.scenario
    judged = {name: judge([evaluate(driver, scenario, each)[1]], scenario) for name, each in asked.episodes.items()}
    return {name: fitness.value for name, fitness in judged.items() if fitness is not None}


def measure(runs: Sequence[Run], seeds: int, results: Path) -> None:
    """Train what has no row yet and write a row for each search."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=WORKERS, mp_context=context) as pool:
        for run in runs:
            record = run.record()
            plan = record.plan
            row = row_of(Path(run.location), plan.strategy, plan.seed) if plan is not None else None
            if plan is None or row is None or known(row, results):
                continue
            found: dict[str, list[float]] = {}
            for figures in pool.map(retrain, retrainings(record, plan, seeds)):
                for name, value in figures.items():
                    found.setdefault(name, []).append(value)
            row |= {name: statistics.fmean(values) for name, values in found.items()}
            row |= {name: row[one] - row[other] for name, (one, other, _) in SHRINKAGES.items() if other in row}
            keep(
                {**row, "retrained": {name: len(values) for name, values in found.items()}, "commit": commit()}, results
            )
            print(
                f"{run.name}: " + ", ".join(f"{name} {row[name]:+.3f}" for name in SHRINKAGES if name in row),
                flush=True,
            )


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return mean and 95 % interval by Student's t, for at least two searches."""
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    half = float(student.ppf(0.975, len(values) - 1)) * deviation / len(values) ** 0.5
    return mean, mean - half, mean + half


def distinct(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows whose trainings are their own.

    Strategies begin alike: of one seed, two of them may find the same champion in the first generation, by the same
    trainings, and to count its luck twice would make the interval too narrow.
    """
    found: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for row in rows:
        found.setdefault((row["seed"], row["champion"], row["selection"]), row)
    return list(found.values())


def print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print each search's scores and the mean shrinkages."""
    columns = ("selection", "selection_again", "finals", "finals_again", "confirmed", "confirmed_again")
    print(f"{'search':14}{'champion':>10}" + "".join(f"{name:>17}" for name in columns))
    for row in rows:
        cells = "".join(f"{row[name]:17.3f}" if row.get(name) is not None else f"{'':17}" for name in columns)
        print(f"{row['strategy']}-{row['seed']}".ljust(14) + f"{row['champion']:>10}{cells}")
    print("\nshrinkage: score less that of fresh trainings, mean over searches with 95 % interval")
    counted = distinct(rows)
    if len(counted) < len(rows):
        print(f"  {len(rows) - len(counted)} searches found a champion that another one had found before: counted once")
    for name, (_, _, title) in SHRINKAGES.items():
        values = [row[name] for row in counted if name in row]
        if len(values) < 2:
            print(f"  {title:36} too few searches")
            continue
        mean, low, high = interval(values)
        verdict = "0 is inside" if low <= 0.0 <= high else "0 is outside"
        print(f"  {title:36} {mean:+.3f} [{low:+.3f}, {high:+.3f}] of {len(values)}: {verdict}")


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs of benchmarks.strategies")
    parser.add_argument("--searches", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3, help="fresh trainings of each kind")
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args()
    one_thread()
    runs = first_finished(asked.out.absolute(), asked.searches)
    if not runs:
        raise SystemExit(f"{asked.out} holds no finished search with finals; run benchmarks.strategies first")
    measure(runs, asked.seeds, asked.results)
    print_table(json.loads(asked.results.read_text()))


if __name__ == "__main__":
    main()
