"""Prove that the kernel and highway-env 1.12.1 agree to the last bit: `make parity`, or `python -m benchmarks.parity`.

Compared are whole episodes of highway-fast-v0 and highway-v0 (some driven on past the crash), episodes of other roads
and frequencies, the ego driven by IDM and IDM+MOBIL, injected states and resets. At every decision: all quantities and
flags of all vehicles, observation, reward state, native reward, terminated, truncated, and the measures of the episode.

NumPy's tangent, arcsine, arctangent and power differ from the C library's in the last place where it dispatches to
AVX-512. So the processes that run highway-env start with those features off, and probe whether that made NumPy's
arithmetic the C library's. Where it did, a deviation of 0.0 is demanded; where it did not (another NumPy, another
processor), exactness cannot be shown, which is said, and the exit status is 1 too.
"""

import argparse
import dataclasses
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from benchmarks.parity_cases import Case, Tally, run_case
from driving.kernel.layout import EGO_IDM, EGO_MOBIL
from driving.probe import DISABLED_FEATURES, differing_functions
from search_spaces.scenarios import PRESETS, Scenario

FAST, DEFAULT = PRESETS["highway-fast-v0"], PRESETS["highway-v0"]
VARIANTS: tuple[Scenario, ...] = (
    Scenario(lanes=1, vehicles=3, density=2.0, simulation_frequency=10, duration=15),
    Scenario(lanes=2, vehicles=12, density=1.5, simulation_frequency=10, duration=15, all_pairs_collisions=True),
    Scenario(lanes=4, vehicles=30, density=0.7, ego_spacing=2.0, duration=20),
    Scenario(lanes=5, vehicles=25, density=1.3, simulation_frequency=10, duration=12, all_pairs_collisions=True),
    Scenario(lanes=8, vehicles=30, density=2.0, ego_spacing=0.5, duration=15),
)
FREQUENCIES: tuple[Scenario, ...] = (
    Scenario(policy_frequency=5, duration=15),
    Scenario(simulation_frequency=10, policy_frequency=5, duration=15),
    Scenario(simulation_frequency=10, policy_frequency=2, duration=15, all_pairs_collisions=True),
)

COMPILING = Case("compiling", "episodes", Scenario(vehicles=1, duration=1), range(1))
"""A case whose only purpose is that the kernel is compiled."""


def plan(share: float) -> list[Case]:
    """Return the chunks of a proof, slow ones first.

    Args:
        share: How much of the whole proof to run, in (0, 1]; at least one run of every kind remains.
    """
    cases: list[Case] = []

    def add(runs: int, chunk: int, case: Case) -> None:
        first, last = case.seeds.start, case.seeds.start + max(round(runs * share), 1)
        cases.extend(
            dataclasses.replace(case, seeds=range(start, min(start + chunk, last)))
            for start in range(first, last, chunk)
        )

    add(60, 3, Case("highway-v0 episodes", "episodes", DEFAULT, range(0)))
    add(200, 10, Case("highway-fast-v0 episodes", "episodes", FAST, range(0)))
    add(20, 5, Case("ego driven by IDM", "episodes", FAST, range(500, 500), EGO_IDM))
    add(20, 5, Case("ego driven by IDM+MOBIL", "episodes", FAST, range(600, 600), EGO_MOBIL))
    for scenario in VARIANTS:
        add(10, 10, Case("other roads", "episodes", scenario, range(700, 700)))
    for scenario in FREQUENCIES:
        add(10, 10, Case("2 and 5 decisions a second", "episodes", scenario, range(800, 800)))
    add(110, 22, Case("highway-fast-v0 injected states", "injected states", FAST, range(0)))
    add(20, 20, Case("ego driven by IDM+MOBIL injected states", "injected states", FAST, range(200, 200), EGO_MOBIL))
    add(20, 5, Case("highway-v0 injected states", "injected states", DEFAULT, range(300, 300), decisions=1))
    add(240, 60, Case("highway-fast-v0 resets", "resets", FAST, range(0)))
    add(60, 30, Case("highway-v0 resets", "resets", DEFAULT, range(0)))
    return cases


def prove(cases: list[Case], workers: int) -> tuple[list[str], dict[str, Tally]]:
    """Run all cases, a line of progress for each; return the differing functions and a tally for each section."""
    os.environ["NPY_DISABLE_CPU_FEATURES"] = DISABLED_FEATURES
    started = time.monotonic()
    sections = {case.section: Tally() for case in cases}
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        differing = pool.submit(differing_functions).result()
        print(f"numpy functions that differ from the kernel's: {', '.join(differing) or 'none'}", flush=True)
        # One process compiles, the others load what it cached.
        pool.submit(run_case, COMPILING).result()
        running = {pool.submit(run_case, case): case for case in cases}
        for done, future in enumerate(as_completed(running), 1):
            case, tally = running[future], future.result()
            sections[case.section].add(tally)
            print(
                f"[{time.monotonic() - started:5.0f} s, {done}/{len(cases)}] {case.section}: {tally.runs} runs, "
                f"{tally.decisions} decisions, deviation {tally.deviation}, {tally.mismatches.total()} flags differ",
                flush=True,
            )
    return differing, sections


def report(differing: list[str], sections: dict[str, Tally]) -> dict[str, Any]:
    """Return the findings as a JSON object."""
    return {
        "differing_functions": differing,
        "exact": not differing and all(tally.exact for tally in sections.values()),
        "sections": {
            name: {
                "runs": tally.runs,
                "diverged": tally.diverged,
                "decisions": tally.decisions,
                "crashes": tally.crashes,
                "ties": tally.ties,
                "deviation": tally.deviation,
                "deviations": {name: value for name, value in tally.deviations.items() if value},
                "mismatches": {name: count for name, count in tally.mismatches.items() if count},
            }
            for name, tally in sections.items()
        },
    }


def print_report(findings: dict[str, Any]) -> None:
    """Print a table of the findings, and a verdict."""
    print(
        f"\n{'':42}{'runs':>6}{'decisions':>11}{'crashes':>9}{'max deviation':>15}{'flags differ':>14}{'diverged':>10}"
    )
    for name, section in findings["sections"].items():
        print(
            f"{name:42}{section['runs']:6}{section['decisions']:11}{section['crashes']:9}{section['deviation']:15.3g}"
            f"{sum(section['mismatches'].values()):14}{section['diverged']:10}"
        )
        if section["deviations"] or section["mismatches"]:
            print(f"    {section['deviations']} {section['mismatches']}")
    if findings["exact"]:
        print("\nparity: exact. The kernel equals highway-env in every bit that was compared.")
    elif findings["differing_functions"]:
        names = ", ".join(findings["differing_functions"])
        print(f"\nparity: exactness cannot be shown here, because NumPy's {names} round differently from the kernel's.")
    else:
        print("\nparity: BROKEN. The arithmetic is the same, so the kernel must be, and is not.")


def main(arguments: list[str] | None = None) -> int:
    """Run the proof; return the exit status."""
    parser = argparse.ArgumentParser(prog="parity", description="Compare the kernel with highway-env, bit for bit.")
    parser.add_argument("--share", type=float, default=1.0, help="how much of the proof to run, in (0, 1]")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 8), help="processes")
    parser.add_argument("--json", type=Path, help="also write the findings to this file")
    chosen = parser.parse_args(arguments)
    if not 0.0 < chosen.share <= 1.0:
        parser.error(f"--share: expected a number in (0, 1], got {chosen.share}")
    findings = report(*prove(plan(chosen.share), chosen.workers))
    print_report(findings)
    if chosen.json:
        chosen.json.write_text(json.dumps(findings, indent=2) + "\n", encoding="utf-8")
    return 0 if findings["exact"] else 1


if __name__ == "__main__":
    sys.exit(main())
