"""Judges the stages of the finals from the files of single episodes. Its methods are called from backstage threads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from actors import finals
from actors.archive import Baseline
from actors.comparison import FITNESS, difference, judge
from actors.difference import Difference
from actors.evaluator import evaluate
from actors.ledger import Ledger
from actors.messages import Candidate
from actors.plan import SearchPlan
from actors.pooling import pooled
from actors.record import SearchRecord
from actors.run_files import driver_episodes_file, episodes_file
from actors.standings import Ablation, AblationRow, Confirmation, Stage, Standing, StandingRow
from actors.storage import Storage
from driving.drivers import DRIVERS, driver_named
from driving.episodes import from_parquet, to_parquet
from driving.measures import EpisodeTable
from search_spaces.errors import RunError
from search_spaces.scenarios import REPORT, seed_sets_digest

RETURN = "native_return"
"""The measure that candidates are compared by beside the fitness: what highway-env itself pays."""


class Jury:
    """Writes down standings, what was confirmed, and what each component of the champion is worth.

    Each of its judgements is written once; judging again is harmless.

    Args:
        plan: The search.
        ledger: Its journal and record.
        storage: The run's folder.
    """

    def __init__(self, plan: SearchPlan, ledger: Ledger, storage: Storage) -> None:
        self._plan, self._ledger, self._storage = plan, ledger, storage

    def unmeasured(self) -> list[str]:
        """Return the baseline drivers that have not driven the report episodes."""
        return [name for name in DRIVERS if name not in self._ledger.record.report_baselines]

    def measure(self) -> None:
        """Have the baseline drivers drive the report episodes; store these and write the measures down."""
        for name in self.unmeasured():
            seeds = REPORT.seeds(self._plan.held_out)
            metrics, table = evaluate(driver_named(name), self._plan.scenario, seeds)
            self._storage.write(driver_episodes_file(name, reported=True), to_parquet(table))
            baseline = Baseline(name=name, metrics=metrics, fitness=judge([table], self._plan.scenario, trained=False))
            self._ledger.write("report_baseline", baseline.to_json())

    def stand(self, stage: Stage) -> None:
        """Judge a stage whose trainings are all delivered."""
        record = self._ledger.record
        if stage not in finals.next_step(self._plan, record).judge:
            return
        winner = finals.champion(self._plan, record)
        if stage == "ablation" and winner is not None:
            self._ledger.write("ablated", self._ablation(record, winner).to_json())
            return
        first = stage not in record.standings
        standing = self._standing(record, stage)
        self._ledger.write("standing", standing.to_json())
        for row in standing.rows:
            if first and row.fitness is None:
                why = f"its trainings broke, the last one so: {row.reason}" if row.failed else "it never moved"
                self._ledger.write("notice", {"text": f"finals, {stage}: {row.of} is out: {why}"})
        if stage == "confirming" and winner is not None:
            self._ledger.write("confirmed", self._confirmation(record, winner, standing).to_json())

    def _standing(self, record: SearchRecord, stage: Stage) -> Standing:
        names = dict.fromkeys(each.of for each in record.archive.candidates.values() if each.stage == stage)
        rows = [self._row(record, stage, of) for of in names if of is not None]
        return Standing(stage=stage, rows=tuple(sorted(_bounded(record, stage, rows), key=_order)))

    def _row(self, record: SearchRecord, stage: Stage, of: str) -> StandingRow:
        trained = finals.members(record, stage, of)
        tables = self._tables(record, trained)
        broken = [
            record.archive.outcomes[each.id].reason
            for each in trained
            if record.archive.outcomes[each.id].status != "trained"
        ]
        return StandingRow(
            of=of,
            fitness=judge(tables, self._plan.scenario) if tables else None,
            replicates=len(tables),
            failed=len(broken),
            reason=broken[-1] if broken else "",
        )

    def _confirmation(self, record: SearchRecord, winner: str, standing: Standing) -> Confirmation:
        chosen = record.archive.fitnesses.get(winner)
        deciding = record.standings[finals.decider(self._plan)].row(winner)
        decided = None if deciding is None else deciding.fitness
        row = standing.row(winner)
        confirmed = None if row is None else row.fitness
        mine = self._tables(record, finals.members(record, "confirming", winner))
        others = self._compared(record, winner, standing) if mine else {}
        return Confirmation(
            champion=winner,
            episodes=self._plan.held_out,
            replicates=len(mine),
            steps=self._plan.finals.leader_steps,
            selection=None if chosen is None else chosen.value,
            finals=None if decided is None else decided.value,
            fitness=confirmed,
            shrinkage_of_selection=None if chosen is None or confirmed is None else chosen.value - confirmed.value,
            shrinkage_of_finals=None if decided is None or confirmed is None else decided.value - confirmed.value,
            differences=self._differences(mine, others, FITNESS),
            native_returns=self._differences(mine, others, RETURN),
            seeds_digest=seed_sets_digest(),
        )

    def _compared(self, record: SearchRecord, winner: str, standing: Standing) -> dict[str, list[EpisodeTable]]:
        """Return the report episodes of all that the champion is compared with, by name."""
        found = {
            row.of: self._tables(record, finals.members(record, "confirming", row.of))
            for row in standing.rows
            if row.of != winner and row.fitness is not None
        }
        return found | {
            name: [self._table(driver_episodes_file(name, reported=True))] for name in record.report_baselines
        }

    def _differences(
        self, mine: Sequence[EpisodeTable], others: Mapping[str, Sequence[EpisodeTable]], measure: str
    ) -> dict[str, Difference]:
        """Return what the champion has more than each other; those for whom that is undefined are absent."""
        road = self._plan.scenario
        compared = {
            name: difference(mine, each, road, measure, trained=name not in DRIVERS) for name, each in others.items()
        }
        return {name: each for name, each in compared.items() if each is not None}

    def _ablation(self, record: SearchRecord, winner: str) -> Ablation:
        trained, skipped = finals.ablations(self._plan, record, winner)
        against = record.archive.candidates[finals.whole(self._plan, winner)]
        whole = self._tables(record, [against])
        rows = [
            self._ablation_row(record, each, whole, each.move.removeprefix("without "))
            for each in trained
            if each.id != against.id
        ]
        rows += [AblationRow(component=name, reason=reason) for name, reason in skipped.items()]
        return Ablation(champion=winner, steps=self._plan.finals.ablate, rows=tuple(rows))

    def _ablation_row(
        self, record: SearchRecord, candidate: Candidate, whole: Sequence[EpisodeTable], component: str
    ) -> AblationRow:
        mine = self._tables(record, [candidate])
        if not mine:
            return AblationRow(component=component, reason=record.archive.outcomes[candidate.id].reason)
        judged = judge(mine, self._plan.scenario)
        if not whole:
            return AblationRow(component=component, fitness=judged, reason="the whole program's training broke")
        return AblationRow(component=component, fitness=judged, difference=difference(mine, whole, self._plan.scenario))

    def _tables(self, record: SearchRecord, trained: Sequence[Candidate]) -> list[EpisodeTable]:
        """Return the episodes of those trainings that came to their end, one table for each."""
        outcomes = record.archive.outcomes
        done = [each.id for each in trained if each.id in outcomes and outcomes[each.id].status == "trained"]
        return [self._table(episodes_file(name)) for name in done]

    def _table(self, name: str) -> EpisodeTable:
        content = self._storage.read(name)
        if content is None:
            raise RunError(f"{name} is missing in the run's folder, and without it the finals cannot be judged")
        return from_parquet(content)


def _bounded(record: SearchRecord, stage: Stage, rows: Sequence[StandingRow]) -> Iterator[StandingRow]:
    """Yield the rows with their bounds: by one spread over training seeds, or, for single trainings, over episodes."""
    fitnesses = record.archive.fitnesses
    judged = {row.of: row.fitness for row in rows if row.fitness is not None}
    each = {of: [fitnesses.get(one.id) for one in finals.members(record, stage, of)] for of in judged}
    ends = pooled([[one.value for one in found if one is not None] for found in each.values()]) if each else None
    bounds = None if ends is None else dict(zip(each, ends, strict=True))
    for row in rows:
        fitness = row.fitness
        if fitness is None:
            yield row
        elif bounds is not None:
            yield replace(row, bounds=bounds[row.of])
        else:
            low = fitness.value if fitness.low is None else fitness.low
            yield replace(row, bounds=(low, fitness.value if fitness.high is None else fitness.high))


def _order(row: StandingRow) -> tuple[bool, bool, float, float, str]:
    """Sort by the lower bound; a reward that broke in one of its trainings is no safe choice."""
    if row.fitness is None:
        return True, True, 0.0, 0.0, row.of
    return False, row.failed > 0, -row.bounds[0], -row.fitness.value, row.of
