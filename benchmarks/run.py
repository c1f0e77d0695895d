"""Run every benchmark, print its figures and write them down: `make bench`, or `python -m benchmarks.run`.

A benchmark is a module with `measure() -> {name: {"median", "low", "high", "unit"}}`. All figures of one run are
written to `benchmarks/results/latest.json`; those of a benchmark that was left out are kept as they were.

    python -m benchmarks.run [--only kernel_speed ppo_speed]
"""

import argparse
import importlib
import json
import time
from pathlib import Path

from benchmarks.figures import one_thread, print_figures

BENCHMARKS = ("kernel_speed", "ppo_speed")
RESULTS = Path(__file__).parent / "results" / "latest.json"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS)
    chosen = parser.parse_args().only
    one_thread()
    figures = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for benchmark in chosen:
        started = time.perf_counter()
        print(f"{benchmark}:", flush=True)
        measured = importlib.import_module(f"benchmarks.{benchmark}").measure()
        print_figures(measured)
        print(f"  ({time.perf_counter() - started:.0f} s)", flush=True)
        figures |= measured
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n")
    print(f"written to {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}")


if __name__ == "__main__":
    main()
