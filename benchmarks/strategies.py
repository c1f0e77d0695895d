"""Evolution against its controls at equal compute: no feedback, greedy, random.

Each repeat searches once with every strategy: 4 generations of 6 candidates at 100 000 steps, then finals in which the
best 3 are trained with 3 fresh seeds at 300 000 steps and the champion is confirmed with 3 more on report episodes.
Repeats take turns, so that an interrupted benchmark is balanced; what has finished is not run again, and what was
interrupted goes on. A row for every finished search stands in `benchmarks/results/strategies.json`.

    python -m benchmarks.strategies --out FOLDER [--repeats 5] [--strategies evolve best-of-n eureka random]
"""

import argparse
import json
import multiprocessing
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from actors.keys import Credentials
from actors.plan import Strategy
from actors.progress import Progress
from benchmarks.figures import one_thread
from orchestrator import console
from orchestrator.compare import compare, repeat_of
from orchestrator.compare_table import print_comparison
from orchestrator.config import load_config
from orchestrator.machine import Machine
from orchestrator.runs import find_run, runs_in
from orchestrator.search import Search, new_search, resumed, run_search
from search_spaces.errors import UsageError

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
RESULTS = Path(__file__).parent / "results" / "strategies.json"
BUDGET: Mapping[str, Any] = {
    "population": 6,
    "generations": 4,
    "steps": 100_000,
    "rungs": [],
    "baselines": False,
    "films": False,
    "finals.finalists": 3,
    "finals.seeds": 3,
    "finals.most_seeds": 3,
    "finals.steps": 300_000,
    "finals.leaders": 1,
    "finals.leader_steps": 300_000,
    "finals.confirm": 3,
    "finals.ablate": 0,
    "finals.replays": 0,
}
"""Settings of every search: with one leader, and no seed added where intervals overlap, all cost the same."""


def tiny(steps: int) -> dict[str, Any]:
    """Return settings with which every training takes `steps`, for trying the benchmark out."""
    return {**BUDGET, "steps": steps, "finals.steps": steps, "finals.leader_steps": steps, "held_out": 50}


def folder_of(out: Path, strategy: str, seed: int) -> Path:
    """Return the run folder of a search."""
    return out / f"{strategy}-{seed}"


def search_once(folder: Path, strategy: str, seed: int, budget: Mapping[str, Any]) -> None:
    """Run a search to its end, from wherever its journal ends.

    Raises:
        UsageError: The folder holds a search that was asked for something else.
    """
    config = load_config(options={**budget, "strategy": strategy, "seed": seed})
    if folder in runs_in(folder.parent):
        search = resumed(str(folder))
        if search.plan != config.plan(search.plan.search_id):
            raise UsageError(f"{folder} holds a search with other settings; choose another --out")
    else:
        search = new_search(config, str(folder), folder.parent, datetime.now().astimezone())
    _run(search)


def _run(search: Search) -> None:
    run_search(search, Machine(), Credentials(), _ignore)


def _ignore(progress: Progress) -> None:
    """Show nothing: a line for each search is enough."""


def commit() -> str:
    """Return the commit that is measured, with a plus where the tree has changes of its own."""
    told = subprocess.run(["git", "describe", "--always", "--dirty=+", "--abbrev=12"], capture_output=True, text=True)
    return told.stdout.strip() or "unknown"


def row_of(folder: Path, strategy: str, seed: int) -> dict[str, Any] | None:
    """Return the row of a search; None while it has not finished."""
    if folder not in runs_in(folder.parent):
        return None
    record = find_run(str(folder)).record()
    if not record.finished:
        return None
    confirmed = record.confirmed
    found = repeat_of(folder.name, record).to_json()
    for name in ("finished", "steps_to_reach", "run", "confirmed_steps"):
        del found[name]
    return {
        "strategy": strategy,
        **found,
        "seed": seed,
        "shrinkage_of_selection": confirmed.shrinkage_of_selection if confirmed is not None else None,
        "shrinkage_of_finals": confirmed.shrinkage_of_finals if confirmed is not None else None,
    }


def known(row: Mapping[str, Any], results: Path) -> bool:
    """Return whether the results hold a row that says all that `row` says."""
    rows = json.loads(results.read_text()) if results.exists() else []
    return any(row.items() <= each.items() for each in rows)


def keep(row: Mapping[str, Any], results: Path) -> None:
    """Add a row to the results; one of the same strategy and seed is replaced, all others stay."""
    rows = json.loads(results.read_text()) if results.exists() else []
    others = [each for each in rows if (each["strategy"], each["seed"]) != (row["strategy"], row["seed"])]
    ordered = sorted([*others, row], key=lambda each: (STRATEGIES.index(each["strategy"]), each["seed"]))
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(json.dumps(ordered, indent=1) + "\n")


def measure(
    out: Path, repeats: Sequence[int], strategies: Sequence[str], budget: Mapping[str, Any], results: Path
) -> None:
    """Run what has not finished, repeat by repeat, and write a row for each search."""
    out.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    for seed in repeats:
        for strategy in strategies:
            folder = folder_of(out, strategy, seed)
            row = row_of(folder, strategy, seed)
            if row is not None:
                if not known(row, results):
                    keep({**row, "commit": "unknown"}, results)
                continue
            started = time.perf_counter()
            # A process of its own: whatever Ray leaves behind ends with it.
            with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
                pool.submit(search_once, folder, strategy, seed, budget).result()
            row = row_of(folder, strategy, seed)
            if row is None:
                raise SystemExit(f"{folder}: the search ended without a result; run this again to go on")
            keep({**row, "commit": commit()}, results)
            print(
                f"{folder.name}: champion {row['champion']}, selection {_number(row['selection'])}, finals "
                f"{_number(row['finals'])}, confirmed {_number(row['confirmed'])} "
                f"({time.perf_counter() - started:.0f} s)",
                flush=True,
            )


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def main() -> None:
    """Run, write and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=STRATEGIES)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--tiny", type=int, metavar="STEPS", help="train every candidate for so many steps only")
    asked = parser.parse_args()
    one_thread()
    out = asked.out.absolute()
    budget = BUDGET if asked.tiny is None else tiny(asked.tiny)
    measure(out, range(asked.repeats), asked.strategies, budget, asked.results)
    named = [folder_of(out, strategy, seed) for strategy in asked.strategies for seed in range(asked.repeats)]
    print_comparison(console.results(), compare({each.name: find_run(str(each)).record() for each in named}))


if __name__ == "__main__":
    main()
