"""What may be claimed of the champion: its measures and its differences from the baselines, with their intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from actors import comparison
from actors.conclusion import stand_ins
from actors.difference import Difference
from actors.finals import TRAINED_BASELINES
from actors.jury import RETURN
from actors.messages import Fitness
from actors.record import SearchRecord
from actors.run_files import driver_episodes_file, episodes_file
from actors.storage import Storage
from driving.episodes import from_parquet
from driving.measures import EpisodeTable
from search_spaces.scenarios import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What may be claimed of the champion.

    Attributes:
        name: Candidate id.
        confirmed: Whether it was measured on report episodes over fresh trainings; otherwise on those that selected it.
        episodes: How many episodes each of its trainings drove.
        replicates: How many trainings of it were measured.
        broken: How many more were to be and broke.
        fitness: Its fitness; None when it was not judged.
        metrics: Its measures, as means over its trainings.
        intervals: Their 95 % intervals; those that are not known are absent.
        differences: Its fitness less that of each it is compared with, by name.
        native_returns: The same for highway-env's own return.
    """

    name: str
    confirmed: bool
    episodes: int
    replicates: int
    broken: int = 0
    fitness: Fitness | None
    metrics: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    differences: Mapping[str, Difference] = field(default_factory=dict)
    native_returns: Mapping[str, Difference] = field(default_factory=dict)


def claim_of(record: SearchRecord, files: Storage, champion: str) -> Claim:
    """Return what may be claimed of a candidate, from the single episodes that the run keeps.

    Args:
        record: The search.
        files: The run's folder.
        champion: A judged candidate.

    Raises:
        RunError: A file of episodes is damaged.
    """
    plan = record.plan
    scenario = plan.scenario if plan is not None else Scenario()
    confirmed = record.confirmed
    if confirmed is not None and confirmed.champion == champion:
        tables = _replicates(record, files, champion)
        return Claim(
            name=champion,
            confirmed=True,
            episodes=confirmed.episodes,
            replicates=confirmed.replicates,
            broken=_broken(record, champion),
            fitness=confirmed.fitness,
            metrics=comparison.measured(tables, scenario) if tables else {},
            intervals=comparison.intervals(tables, scenario) if tables else {},
            differences=confirmed.differences,
            native_returns=confirmed.native_returns,
        )
    outcome = record.archive.outcomes.get(champion)
    mine = _table(files, episodes_file(champion))
    rivals = _rivals(record, files) if mine is not None else {}
    metrics = outcome.metrics if outcome is not None else {}
    return Claim(
        name=champion,
        confirmed=False,
        episodes=round(metrics.get("episodes", 0)),
        replicates=1,
        fitness=record.archive.fitnesses.get(champion),
        metrics=metrics,
        intervals=comparison.intervals([mine], scenario) if mine is not None else {},
        differences=_compared(mine, rivals, scenario, comparison.FITNESS),
        native_returns=_compared(mine, rivals, scenario, RETURN),
    )


def _replicates(record: SearchRecord, files: Storage, champion: str) -> list[EpisodeTable]:
    """Return the report episodes of the trainings that confirm the champion; those that broke have none."""
    mine = [each for each in stand_ins(record, champion) if each != champion]
    return [table for name in mine if (table := _table(files, episodes_file(name))) is not None]


def _broken(record: SearchRecord, champion: str) -> int:
    standing = record.standings.get("confirming")
    row = None if standing is None else standing.row(champion)
    return 0 if row is None else row.failed


def _rivals(record: SearchRecord, files: Storage) -> dict[str, EpisodeTable]:
    """Return the selection episodes of the baselines."""
    places = {name: driver_episodes_file(name) for name in record.archive.baselines}
    places |= {name: episodes_file(name) for name in TRAINED_BASELINES}
    found = {name: _table(files, place) for name, place in places.items()}
    return {name: table for name, table in found.items() if table is not None}


def _table(files: Storage, name: str) -> EpisodeTable | None:
    content = files.read(name)
    return None if content is None else from_parquet(content)


def _compared(
    mine: EpisodeTable | None, rivals: Mapping[str, EpisodeTable], scenario: Scenario, measure: str
) -> dict[str, Difference]:
    if mine is None:
        return {}
    found = {name: comparison.difference([mine], [table], scenario, measure) for name, table in rivals.items()}
    return {name: each for name, each in found.items() if each is not None}
