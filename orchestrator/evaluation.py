"""Anyone behind the wheel, on episodes of one's choice: what `orchestrate evaluate` does."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from actors.archive import Archive
from actors.comparison import FITNESS, intervals, judge
from actors.conclusion import SCORED, entrants, stand_ins
from actors.evaluator import PolicyDriver
from actors.generalisation import EPISODES, Generalisation, matrix
from actors.messages import ArchiveEntry, Fitness
from actors.policy import Policy
from actors.record import SearchRecord
from actors.run_files import policy_file
from actors.storage import Storage
from actors.upstream_comparison import Replay, compared
from actors.upstream_judge import UpstreamJudge
from driving.drivers import Driver, driver_named, run_episodes
from driving.lampilot import LampilotScores, lampilot_scores
from driving.measures import EpisodeTable, summarise
from orchestrator.runs import Run
from search_spaces.errors import UsageError
from search_spaces.scenarios import SEED_SETS, Scenario

KERNEL_EPISODES = 500
"""Episodes without `--episodes`: the standard error of the fitness is then 0.016."""
UPSTREAM_EPISODES = 20
"""The same in highway-env itself, which takes half a second for one."""

_GENERATION = re.compile(r"g(\d+)")


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who is evaluated.

    Attributes:
        name: Candidate id or driver name.
        driver: Who drives.
        source: What the driver is made of: the bytes of a `policy.npz`, or a baseline driver's name.
        sample_seed: Seed for sampling the policy's actions; None takes the likeliest.
    """

    name: str
    driver: Driver
    source: bytes | str
    sample_seed: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What was measured.

    Attributes:
        entrant: Who drove.
        scenario: On which road.
        replay: The same episodes in the kernel, compared; None unless highway-env itself simulated.
        table: Every episode.
        metrics: Measures by name; undefined ones are absent.
        intervals: 95 % intervals of the fitness and the measures, lower and upper end, over the episodes.
        fitness: Fitness; None when a measure that it needs is undefined.
    """

    entrant: Entrant
    scenario: Scenario
    replay: Replay | None
    table: EpisodeTable
    metrics: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    fitness: Fitness | None

    def to_json(self) -> dict[str, object]:
        """Return a JSON object of everything but the single episodes."""
        return {
            "name": self.entrant.name,
            "simulator": "kernel" if self.replay is None else "highway-env",
            "replay": None if self.replay is None else self.replay.to_json(),
            "scenario": self.scenario.to_json(),
            "episodes": len(self.table),
            "first_seed": int(self.table.seeds[0]),
            "metrics": dict(self.metrics),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "fitness": None if self.fitness is None else self.fitness.to_json(),
        }


def best_of(record: SearchRecord) -> str:
    """Return whose policy `best` means: the champion's first confirming training, or, before the finals, the best yet.

    Raises:
        UsageError: Nobody is trained and judged.
    """
    standing_in = () if record.champion is None else stand_ins(record, record.champion)
    return standing_in[0] if standing_in else choose(record.archive, "best").candidate.id


def choose(archive: Archive, named: str) -> ArchiveEntry:
    """Return the candidate that `named` means.

    Args:
        archive: The search's archive.
        named: A candidate id, `best`, or a generation such as `g03` for its best.

    Raises:
        UsageError: There is no such candidate; those that there are are listed.
    """
    if named in archive.candidates:
        return archive.entry(named)
    known = ", ".join(archive.candidates) or "none yet"
    generation = _GENERATION.fullmatch(named)
    if named != "best" and generation is None:
        raise UsageError(f"no candidate {named!r}; expected best, a generation such as g03, or one of: {known}")
    wanted = None if generation is None else int(generation[1])
    for entry in archive.ranked():
        if wanted in (None, entry.candidate.generation):
            return entry
    where = "" if wanted is None else f" in generation {wanted}"
    raise UsageError(f"no candidate is trained and judged{where}; candidates: {known}")


def entrant_of(files: Storage, entry: ArchiveEntry, sample_seed: int | None) -> Entrant:
    """Return a trained candidate as a driver.

    Args:
        files: The run's folder.
        entry: The candidate.
        sample_seed: Seed for sampling its actions; None takes the likeliest.

    Raises:
        UsageError: It has no policy.
        PolicyError: Its policy file is damaged.
    """
    name = entry.candidate.id
    content = files.read(policy_file(name))
    if content is None:
        why = entry.outcome.reason if entry.outcome is not None else "it is not trained yet"
        raise UsageError(f"candidate {name} has no policy: {why}")
    rng = None if sample_seed is None else np.random.default_rng(sample_seed)
    return Entrant(name, PolicyDriver(Policy.from_bytes(content), rng), content, sample_seed)


def baseline_entrant(name: str) -> Entrant:
    """Return a baseline driver.

    Raises:
        UsageError: No driver of that name.
    """
    return Entrant(name, driver_named(name), name)


def measure(entrant: Entrant, scenario: Scenario, seeds: range, *, upstream: bool) -> Evaluation:
    """Drive one episode for each seed and measure them.

    Args:
        entrant: Who drives.
        scenario: The road.
        seeds: Seeds of the episodes.
        upstream: Whether highway-env itself simulates; the kernel then drives the same episodes to be compared with.

    Raises:
        MachineError: highway-env's processes cannot be started, or died.
    """
    both = UpstreamJudge().drive(entrant.source, scenario, seeds, sample_seed=entrant.sample_seed) if upstream else None
    table = run_episodes(scenario, seeds, entrant.driver) if both is None else both.upstream
    trained = isinstance(entrant.source, bytes)
    return Evaluation(
        entrant,
        scenario,
        None if both is None else compared(entrant.name, both),
        table,
        metrics=summarise(table, scenario),
        intervals=intervals([table], scenario, trained=trained),
        fitness=judge([table], scenario, trained=trained),
    )


def compatibility(evaluation: Evaluation) -> LampilotScores:
    """Return LaMPilot-Bench's scores of the first of the same episodes, `SCORED` at most, in the kernel."""
    seeds = [int(seed) for seed in evaluation.table.seeds[:SCORED]]
    return lampilot_scores(evaluation.scenario, seeds, evaluation.entrant.driver)


def other_roads(run: Run | None, entrant: Entrant, home: Scenario, episodes: int) -> Generalisation | None:
    """Drive an entrant, and what it is compared with, on roads that nobody was trained on.

    Args:
        run: Its run; None for a baseline driver.
        entrant: Who it is about. All confirming policies drive for one that was confirmed.
        home: The road that it knows.
        episodes: Report episodes on each road; `EPISODES` at most.
    """
    name = entrant.name
    drivers: dict[str, list[Driver]] = {}
    if run is not None:
        record = run.record()
        candidate = record.archive.candidates[name]
        name = candidate.of or name if candidate.stage == "confirming" else name
        drivers = entrants(record, run.storage, name)
    # Where the entrant is one of several trainings, all of them drive; a sampling one drives alone.
    alone = not drivers or entrant.sample_seed is not None
    drivers = {**drivers, name: [entrant.driver]} if alone else drivers
    return matrix(name, drivers, home, episodes=min(episodes, EPISODES))


def native_sentence(evaluation: Evaluation) -> str:
    """Return the native return in one sentence."""
    ends = evaluation.intervals.get("native_return")
    shown = "" if ends is None else f", 95 % interval {ends[0]:.3f} to {ends[1]:.3f}"
    return (
        f"{evaluation.entrant.name}: native return {evaluation.metrics['native_return']:.3f} "
        f"(mean of {len(evaluation.table)} episodes{shown})"
    )


def metrics_table(evaluation: Evaluation) -> Table:
    """Return all measures and the fitness, each with its interval, as a rich table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("95 % interval", justify="right")
    judged = evaluation.fitness
    values = {**evaluation.metrics, **({} if judged is None else {FITNESS: judged.value})}
    for name, value in values.items():
        ends = evaluation.intervals.get(name)
        table.add_row(name, f"{value:.5g}", "" if ends is None else f"{ends[0]:.5g} to {ends[1]:.5g}")
    return table


def heading(evaluation: Evaluation) -> str:
    """Say in one line what was measured, and in which traffic: a policy may know that of the trainings."""
    seeds = [int(seed) for seed in evaluation.table.seeds]
    simulator = "the kernel" if evaluation.replay is None else "highway-env"
    sets = [each.name for each in SEED_SETS.values() if each.holds(seeds[0]) or each.holds(seeds[-1])]
    traffic = f"{' and '.join(sets)} episodes" if sets else "episodes"
    return f"{evaluation.entrant.name} on {len(seeds)} {traffic} (seeds {seeds[0]} to {seeds[-1]}) in {simulator}"
