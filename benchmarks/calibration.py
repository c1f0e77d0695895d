"""How right gate, linter and screen are: programs are drawn, judged, and then all trained, the refused ones too.

A search trains only what passed, so that its own runs cannot say what its gate has cost. Here half of the programs are
edits, as the evolver makes them from the best of each generation of a run (or, without a run, walks of one to five
edits from the starting programs), and half are random sums of parts. Each is judged as it would be before its trial;
then every one of them is trained, and PPO under highway-env's own reward beside them.

    python -m benchmarks.calibration [--run RUN] [--programs 60] [--steps 100000] [--seed 0] [--processes 2]

Prints the table of `orchestrate calibration`, and for each rule of the linter at which threshold it would keep 95 % of
the good programs. Everything is written to `benchmarks/results/calibration.json`.
"""

import argparse
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from actors.calibration import Calibration, Case, calibrate
from actors.evaluator import PolicyDriver
from actors.evolver import MIX, Evolver
from actors.finals import NATIVE
from actors.fitness import fitness
from actors.gate import Gate
from actors.generation import derived_seed
from actors.lint_table import RULES
from actors.linter import Linter
from actors.messages import Assignment
from actors.outcome import Outcome
from actors.policy import Policy
from actors.protocols import DesignBrief
from actors.run_files import policy_file
from actors.screen import Screen
from actors.trainer import train_candidate
from benchmarks.figures import in_processes, one_thread
from orchestrator.calibration_table import print_calibration
from orchestrator.console import results
from orchestrator.runs import Run, find_run
from search_spaces.edits import MOVES, cross
from search_spaces.language import compile_program
from search_spaces.ppo import PPOSettings
from search_spaces.program import RewardProgram
from search_spaces.random_programs import random_program
from search_spaces.scenarios import Scenario
from search_spaces.starting_programs import STARTING_PROGRAMS

RESULTS = Path(__file__).parent / "results" / "calibration.json"
LONGEST_WALK = 5
"""Edits between a starting program and a drawn one, at most."""
GOOD_KEPT = 0.95
"""Share of the good programs that a threshold is asked to keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A program and how it was made."""

    program: RewardProgram
    how: str


def edits(run: Run, count: int, seed: int) -> list[RewardProgram]:
    """Return edits as the evolver would make them at each generation of a run, about as many of each."""
    archive = run.record().archive
    generations = max((each.candidate.generation for each in archive.entries()), default=-1) + 1
    found: dict[str, RewardProgram] = {}
    for generation in range(1, generations + 1):
        brief = DesignBrief(
            archive=archive.before(generation),
            generation=generation,
            attempt=0,
            count=math.ceil(count / generations),
            seed=derived_seed(seed, "calibration", generation),
            examine=compile_program,
        )
        for proposal in Evolver().propose(brief):
            program = compile_program(proposal.source)
            if isinstance(program, RewardProgram):
                found[program.digest] = program
    return list(found.values())[:count]


def walks(count: int, rng: np.random.Generator) -> list[RewardProgram]:
    """Return programs that lie one to five edits away from the starting programs; nobody has chosen among them."""
    starts = [each for each in map(compile_program, STARTING_PROGRAMS.values()) if isinstance(each, RewardProgram)]
    found = {each.digest: each for each in starts[: count // 4]}
    while len(found) < count:
        program = starts[int(rng.integers(len(starts)))]
        for _ in range(int(rng.integers(1, LONGEST_WALK + 1))):
            move = str(rng.choice(list(MIX), p=list(MIX.values())))
            other = starts[int(rng.integers(len(starts)))]
            program = cross(program, other, rng) if move == "crossover" else MOVES[move](program, rng)
        found[program.digest] = program
    return list(found.values())


def draw(run: Run | None, count: int, seed: int) -> list[Drawn]:
    """Return `count` different programs, half edits and half random ones."""
    rng = np.random.default_rng(seed)
    edited = walks(count - count // 2, rng) if run is None else edits(run, count - count // 2, seed)
    drawn = {each.digest: Drawn(program=each, how="edit") for each in edited}
    while len(drawn) < count:
        program = random_program(rng)
        drawn.setdefault(program.digest, Drawn(program=program, how="random"))
    return list(drawn.values())


def judge(drawn: Sequence[Drawn], scenario: Scenario, discount: float, run: Run | None) -> list[Case]:
    """Return the programs with all that is said of them before training, and no fitness yet."""
    gate, linter, screen = Gate(scenario), Linter(scenario, discount), Screen(scenario)
    if run is not None:
        _teach(screen, run)
    taus = [verdict.tau for verdict in screen.rank([each.program for each in drawn])]
    cases = []
    for number, (each, tau) in enumerate(zip(drawn, taus, strict=True)):
        refusal, lint = gate.judge(each.program), linter.lint(each.program)
        flags = [] if refusal is None else [f"gate {refusal.code}"]
        flags += [f"lint {finding.name}" for finding in lint.findings]
        # More should be better: a rule that finds what lies above its threshold is turned round.
        scores = {
            _score(measure.rule): -measure.value if RULES[measure.rule].side == "above" else measure.value
            for measure in lint.measures
        }
        if tau is not None:
            scores["screen tau"] = tau
        cases.append(Case(name=f"p{number:03d}", group="drawn", fitness=None, flags=tuple(flags), scores=scores))
    return cases


def _teach(screen: Screen, run: Run) -> None:
    for entry in run.record().archive.ranked():
        content = run.storage.read(policy_file(entry.candidate.id))
        if content is not None and entry.fitness is not None:
            driver = PolicyDriver(Policy.from_bytes(content))
            screen.add_policy(entry.candidate.id, driver, entry.fitness.value)


def _trained(assignment: Assignment) -> Outcome:
    return train_candidate(assignment).outcome


def measure(
    run: Run | None,
    *,
    programs: int,
    seed: int,
    processes: int,
    base: Assignment,
) -> tuple[Calibration, dict[str, Any]]:
    """Draw, judge and train.

    Args:
        run: The search whose generations are edited; None: the starting programs.
        programs: How many programs.
        seed: Seed of all draws and trainings.
        processes: Trainings at a time.
        base: What all trainings share: steps, road, PPO settings, episodes of the evaluation.

    Returns:
        The calibration, and all that it was made from.
    """
    drawn = draw(run, programs, seed)
    cases = {each.name: each for each in judge(drawn, base.scenario, base.ppo.discount, run)}
    sources: dict[str, str | None] = {NATIVE: None}
    sources |= {name: each.program.source for name, each in zip(cases, drawn, strict=True)}
    assignments = [
        replace(base, candidate_id=name, source=source, seed=derived_seed(seed, name))
        for name, source in sources.items()
    ]
    outcomes = _outcomes(assignments, processes)
    values = {
        name: None if (judged := fitness(each.metrics)) is None else judged.value for name, each in outcomes.items()
    }
    native = values.pop(NATIVE)
    judged_cases = [replace(case, fitness=values[name]) for name, case in cases.items()]
    calibration = calibrate(judged_cases, {} if native is None else {"drawn": native})
    return calibration, {
        "native": native,
        "calibration": calibration.to_json(),
        "thresholds": {rule: threshold(judged_cases, rule, native) for rule in RULES},
        "programs": [
            {
                **cases[name].to_json(),
                "how": each.how,
                "source": each.program.source,
                "status": outcomes[name].status,
                "fitness": values[name],
                "metrics": dict(outcomes[name].metrics),
            }
            for name, each in zip(cases, drawn, strict=True)
        ],
    }


def _outcomes(assignments: Sequence[Assignment], processes: int) -> dict[str, Outcome]:
    """Train all, a line of progress for each; return their outcomes by name."""
    outcomes: dict[str, Outcome] = {}
    started = time.perf_counter()
    for outcome in in_processes(_trained, assignments, processes):
        outcomes[outcome.candidate_id] = outcome
        print(f"  {len(outcomes)} of {len(assignments)} trained, {time.perf_counter() - started:.0f} s", flush=True)
    return outcomes


def _score(rule: str) -> str:
    return f"number of {rule}"


def threshold(cases: Sequence[Case], rule: str, native: float | None) -> dict[str, float] | None:
    """Return the threshold of a lint rule that keeps `GOOD_KEPT` of the programs above the native reward.

    Returns:
        The threshold in the rule's own unit, how many programs lie beyond it, and how many of those are bad; None
        where the native reward has no fitness, nothing is good, or the rule has no number.
    """
    score = _score(rule)
    if native is None:
        return None
    known = [each for each in cases if score in each.scores]
    good = sorted(each.scores[score] for each in known if each.fitness is not None and each.fitness > native)
    if not good:
        return None
    limit = good[math.floor((1.0 - GOOD_KEPT) * len(good))]
    beyond = [each for each in known if each.scores[score] < limit]
    bad = sum(each.fitness is None or each.fitness <= native for each in beyond)
    sign = -1.0 if RULES[rule].side == "above" else 1.0
    return {"threshold": sign * limit, "beyond": len(beyond), "bad": bad}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="a run whose generations are edited")
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    one_thread()
    run = None if asked.run is None else find_run(asked.run)
    base = Assignment(
        candidate_id="base", source=None, seed=0, steps=asked.steps, ppo=PPOSettings(), scenario=Scenario(), film=False
    )
    calibration, found = measure(run, programs=asked.programs, seed=asked.seed, processes=asked.processes, base=base)
    print_calibration(results(), calibration)
    print(f"\nthresholds of the linter that keep {GOOD_KEPT:.0%} of the programs above the native reward:")
    for rule, each in found["thresholds"].items():
        if each is not None:
            print(
                f"  {rule:22} {RULES[rule].side} {each['threshold']:10.4g} (now {RULES[rule].threshold:g}); "
                f"{each['beyond']:.0f} programs beyond, {each['bad']:.0f} of them bad"
            )
    settings = {"programs": asked.programs, "steps": asked.steps, "seed": asked.seed, "edits_of": run and run.name}
    asked.out.parent.mkdir(exist_ok=True, parents=True)
    asked.out.write_text(json.dumps({"settings": settings, **found}, indent=2, allow_nan=False) + "\n")
    print(f"written to {asked.out}")


if __name__ == "__main__":
    main()
