"""Rewards that ask for something else than driving: what names each of them, and what comes of training it.

    python -m benchmarks.zoo [--steps 1000000] [--seeds 3] [--only weaving parking]

Every reward of `tests/cases/zoo/` is judged by gate and linter, then trained despite both, on several training seeds,
beside PPO under highway-env's own reward. What the detectors find in most trainings counts as found. Fitness and
difference have 95 % intervals over training seeds and episodes; a reward is above the native one where the whole
interval of the difference is, and below it likewise.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.comparison import difference, judge
from actors.detectors import detect
from actors.drives import EPISODES, record_drives
from actors.evaluator import PolicyDriver
from actors.finals import NATIVE
from actors.gate import Gate
from actors.linter import Linter
from actors.messages import ArchiveEntry, Assignment, Candidate
from actors.policy import Policy
from actors.trainer import train_candidate
from benchmarks.figures import in_processes, one_thread
from driving.episodes import from_parquet
from driving.measures import EpisodeTable
from search_spaces.language import compile_program
from search_spaces.ppo import PPOSettings
from search_spaces.program import RewardProgram
from search_spaces.scenarios import FINALS, Scenario

ZOO = Path(__file__).parents[1] / "tests" / "cases" / "zoo"
RESULTS = Path(__file__).parent / "results" / "zoo.json"
ROAD = Scenario()
HELD_OUT = 500


@dataclass(frozen=True, slots=True)
class Job:
    """One training: a reward (None: highway-env's own) on one training seed."""

    name: str
    source: str | None
    seed: int
    steps: int


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a job; no episodes unless it was trained."""

    job: Job
    status: str
    reason: str
    episodes: bytes | None
    detectors: tuple[str, ...]


def programs(only: Sequence[str]) -> dict[str, RewardProgram]:
    """Return the rewards of the zoo by name, all or those asked for."""
    found = {}
    for path in sorted(ZOO.glob("*.py")):
        if not only or path.stem in only:
            program = compile_program(path.read_text(encoding="utf-8"))
            assert isinstance(program, RewardProgram), (path, program)
            found[path.stem] = program
    return found


def run(job: Job) -> Trained:
    """Train, measure and look for habits."""
    assignment = Assignment(
        candidate_id=job.name,
        source=job.source,
        seed=job.seed,
        steps=job.steps,
        ppo=PPOSettings(),
        scenario=ROAD,
        held_out=HELD_OUT,
        seed_set="finals",
        rungs=tuple(job.steps * part // 4 for part in (1, 2, 3)),
        film=False,
    )
    delivery = train_candidate(assignment)
    outcome = delivery.outcome
    if delivery.policy is None:
        return Trained(job, outcome.status, outcome.reason, None, ())
    candidate = Candidate(
        id=job.name, generation=0, source=job.source or "", digest="", seed=job.seed, origin="user", seed_set="finals"
    )
    drives = record_drives(
        PolicyDriver(Policy.from_bytes(delivery.policy)),
        ROAD,
        FINALS.seeds(EPISODES),
        job.source or "",
        1.0 / (1.0 - assignment.ppo.discount),
    )
    sightings = detect(ArchiveEntry(candidate=candidate, outcome=outcome), (), drives)
    found = tuple(each.finding.name for each in sightings if each.found)
    return Trained(job, outcome.status, outcome.reason, delivery.episodes, found)


def conclude(
    program: RewardProgram | None,
    trained: Sequence[Trained],
    native: Sequence[EpisodeTable],
    expected: Mapping[str, Any],
) -> dict[str, Any]:
    """Return all that is said of one reward before and after its trainings.

    Args:
        program: The reward; None for highway-env's own.
        trained: Its trainings.
        native: Episodes under highway-env's own reward, one table for each training seed.
        expected: What should name it.
    """
    tables = [from_parquet(each.episodes) for each in trained if each.episodes is not None]
    counts = Counter(name for each in trained for name in each.detectors)
    found = sorted(name for name, count in counts.items() if 2 * count > len(trained))
    fitness = judge(tables, ROAD) if tables else None
    against = difference(tables, native, ROAD) if tables and native and program is not None else None
    said: dict[str, Any] = {"gate": None, "linter": []}
    if program is not None:
        refusal = Gate(ROAD).judge(program)
        lint = Linter(ROAD, PPOSettings().discount).lint(program)
        said = {"gate": refusal and refusal.code, "linter": [each.name for each in lint.findings]}
    return {
        **said,
        "detectors": found,
        "unfound": sorted(set(expected.get("detectors", ())) - set(found)),
        "trainings": len(tables),
        "failures": [f"{each.status}: {each.reason}" for each in trained if each.status != "trained"],
        "fitness": fitness and {"value": fitness.value, "low": fitness.low, "high": fitness.high},
        "difference": against and {"value": against.value, "low": against.low, "high": against.high},
        "above_native": against is not None and against.low > 0.0,
        "below_native": against is not None and against.below,
    }


def line(name: str, said: Mapping[str, Any]) -> str:
    """Return the line of one reward in the table."""
    fitness, against = said["fitness"], said["difference"]
    figures = "not trained" if fitness is None else _interval(fitness)
    if against is not None:
        figures += f"  native {_interval(against, signed=True)}{'  ABOVE NATIVE' if said['above_native'] else ''}"
    named = [said["gate"] or "", ", ".join(said["linter"]), ", ".join(said["detectors"])]
    words = "; ".join(
        f"{who}: {what}" for who, what in zip(("gate", "linter", "detectors"), named, strict=True) if what
    )
    return f"{name:22}{figures:62}  {words or 'named by nothing'}"


def _interval(figure: Mapping[str, float | None], *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    ends = "" if figure["low"] is None else f" [{figure['low']:{sign}.3f}, {figure['high']:{sign}.3f}]"
    return f"{figure['value']:{sign}.3f}{ends}"


def measure(rewards: Mapping[str, RewardProgram], steps: int, seeds: int, processes: int) -> dict[str, Any]:
    """Train all and return what is said of each, the native reward first."""
    sources: dict[str, str | None] = {NATIVE: None, **{name: each.source for name, each in rewards.items()}}
    jobs = [Job(name, source, seed, steps) for name, source in sources.items() for seed in range(seeds)]
    trained: dict[str, list[Trained]] = {name: [] for name in sources}
    for number, each in enumerate(in_processes(run, jobs, processes), 1):
        trained[each.job.name].append(each)
        print(f"{number} of {len(jobs)}: {each.job.name}, seed {each.job.seed}: {each.status}", flush=True)
    for several in trained.values():
        several.sort(key=lambda one: one.job.seed)
    native = [from_parquet(each.episodes) for each in trained[NATIVE] if each.episodes is not None]
    expected = json.loads((ZOO / "expected.json").read_text(encoding="utf-8"))
    return {name: conclude(rewards.get(name), trained[name], native, expected.get(name, {})) for name in sources}


def sentences(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield who is above the native reward, who may be, and who is named by nothing."""
    if not said[NATIVE]["trainings"]:
        yield "the native reward was never trained to its end, so that nothing can be compared with it"
        return
    rewards = {name: each for name, each in said.items() if name != NATIVE}
    for words, found in (
        ("above the native reward", [name for name, each in rewards.items() if each["above_native"]]),
        (
            "shown to be neither above nor below it",
            [name for name, each in rewards.items() if not each["above_native"] and not each["below_native"]],
        ),
        ("named by nothing", [name for name, each in rewards.items() if not _named(each)]),
    ):
        yield f"{words}: {', '.join(found) or 'none'}"


def shown(said: Mapping[str, Any]) -> bool:
    """Return whether the native reward was trained, no reward ends above it, and something names each."""
    rewards = [each for name, each in said.items() if name != NATIVE]
    return bool(said[NATIVE]["trainings"]) and all(_named(each) and not each["above_native"] for each in rewards)


def _named(said: Mapping[str, Any]) -> bool:
    return bool(said["gate"] or said["linter"] or said["detectors"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write.

    The exit status is 1 where a reward ends above the native one, where nothing names it, and where the native one was
    never trained, so that nothing is known.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[], help="rewards of the zoo; all unless given")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    one_thread()
    said = measure(programs(asked.only), asked.steps, asked.seeds, asked.processes)
    print()
    for name, each in said.items():
        print(line(name, each))
    print()
    for sentence in sentences(said):
        print(sentence)
    settings = {"steps": asked.steps, "seeds": asked.seeds, "episodes": HELD_OUT}
    asked.out.parent.mkdir(exist_ok=True, parents=True)
    asked.out.write_text(json.dumps({"settings": settings, "rewards": said}, indent=2, allow_nan=False) + "\n")
    print(f"written to {asked.out}")
    return 0 if shown(said) else 1


if __name__ == "__main__":
    raise SystemExit(main())
