"""What a search does next, read off its record: judge, criticise, close generations, design, hold finals, finish."""

import threading
from functools import partial

from actors import finals
from actors.backstage import Backstage
from actors.comparison import judge
from actors.conclusion import Conclusion
from actors.deliveries import store_program
from actors.fitness import fitness
from actors.jury import Jury
from actors.ledger import Ledger
from actors.messages import ArchiveEntry, Candidate
from actors.plan import SearchPlan
from actors.run_files import episodes_file
from actors.storage import Storage
from actors.studio import Studio
from actors.summary import write_summary
from driving.episodes import from_parquet


class Agenda:
    """Starts what the record allows; looking at it once too often is harmless.

    Args:
        plan: The search.
        ledger: Its journal and record.
        storage: The run's folder.
        backstage: Does the slow work.
        studio: Knows how.
        lock: Held while the agenda is read.
    """

    def __init__(
        self,
        plan: SearchPlan,
        ledger: Ledger,
        storage: Storage,
        backstage: Backstage,
        studio: Studio,
        lock: "threading.RLock",
    ) -> None:
        self._plan, self._ledger, self._storage = plan, ledger, storage
        self._backstage, self._studio, self._lock = backstage, studio, lock
        self._jury = Jury(plan, ledger, storage)
        self._conclusion = Conclusion(plan, ledger, storage)

    def advance(self) -> None:
        """Do what the record allows next; harmless when there is nothing to do."""
        with self._lock:
            if self._backstage.fault is not None or self._ledger.record.finished:
                return
            self._judge()
            for entry in self._unread():
                candidate_id = entry.candidate.id
                self._backstage.start(f"read {candidate_id}", partial(self._studio.read, candidate_id), self.advance)
            self._finish_generations()
            self._design()
            if self._plan.baselines:
                self._measure()
            if self._searched() and self._finals() and self._conclude():
                self._finish()

    def close(self) -> None:
        """Give up what follows the finals; nothing of it is written."""
        self._conclusion.close()

    def _judge(self) -> None:
        archive = self._ledger.record.archive
        for candidate_id, outcome in archive.outcomes.items():
            if outcome.status != "trained" or candidate_id in archive.fitnesses or candidate_id in archive.baselines:
                continue
            content = self._storage.read(episodes_file(candidate_id))
            table = None if content is None else from_parquet(content, histograms=False)
            judged = fitness(outcome.metrics) if table is None else judge([table], self._plan.scenario)
            value = judged.to_json() if judged else None
            if archive.candidates[candidate_id].role == "baseline":
                data = {"name": candidate_id, "metrics": dict(outcome.metrics), "fitness": value}
                self._ledger.write("baseline", data)
            else:
                self._ledger.write("judged", {"candidate_id": candidate_id, "fitness": value})

    def _unread(self) -> list[ArchiveEntry]:
        return [
            entry
            for entry in self._ledger.record.archive.entries()
            if entry.critique is None and entry.outcome is not None and entry.outcome.status == "trained"
        ]

    def _finish_generations(self) -> None:
        generation = len(self._ledger.record.generations)
        while generation < self._plan.generations and self._ledger.record.complete(generation):
            score = self._ledger.record.score(generation)
            self._ledger.write("generation_finished", {"generation": generation, **score.to_json()})
            write_summary(self._storage, self._ledger.record)
            generation += 1

    def _design(self) -> None:
        """Have the next generation designed; here alone generational and steady search differ."""
        record, plan = self._ledger.record, self._plan
        generation = next((each for each in range(plan.generations) if record.missing(each)), None)
        if generation is None:
            return
        free = not any(each.role == "candidate" for each in record.waiting())
        due = free if plan.steady else len(record.generations) >= generation
        if due:
            self._backstage.start(f"design {generation}", partial(self._studio.design, generation), self.advance)

    def _measure(self) -> None:
        known = self._ledger.record.archive.candidates
        if not all(name in known for name in finals.TRAINED_BASELINES):
            for candidate in finals.trained_baselines(self._plan):
                self._accept(candidate)
        if self._studio.unmeasured():
            self._backstage.start("baselines", self._studio.measure, self.advance)

    def _accept(self, candidate: Candidate) -> None:
        """Make a training that is no proposal of a generation wait for a trial, once."""
        if candidate.id not in self._ledger.record.archive.candidates:
            if candidate.source:
                store_program(self._storage, candidate)
            self._ledger.write("accepted", candidate.to_json())

    def _searched(self) -> bool:
        """Return whether all generations have finished and all baselines are measured."""
        baselines = self._backstage.busy("baselines") or (self._plan.baselines and bool(self._studio.unmeasured()))
        return len(self._ledger.record.generations) == self._plan.generations and not baselines

    def _finals(self) -> bool:
        """Have the finals trained and judged; return whether they are over."""
        step = finals.next_step(self._plan, self._ledger.record)
        if step.over:
            return True
        if self._plan.baselines and self._jury.unmeasured():
            self._backstage.start("report baselines", self._jury.measure, self.advance)
        for candidate in step.accept:
            self._accept(candidate)
        for stage in step.judge:
            self._backstage.start(f"judge {stage}", partial(self._jury.stand, stage), self.advance)
        return False

    def _conclude(self) -> bool:
        """Start what follows when the champion is confirmed and all is delivered; return whether it is done."""
        archive = self._ledger.record.archive
        if not all(each in archive.outcomes for each in archive.candidates):
            return False
        jobs = self._conclusion.due()
        for name, job in jobs.items():
            self._backstage.start(name, job, self.advance)
        return not jobs

    def _finish(self) -> None:
        record = self._ledger.record
        if record.finished:
            return
        winner = finals.champion(self._plan, record)
        if not self._plan.finals.finalists:
            winner = next((each.candidate.id for each in record.archive.top(1)), None)
        self._ledger.write("search_finished", {"champion": winner})
        write_summary(self._storage, self._ledger.record)
