"""What a search does next, read off its record: judge, criticise, close a generation, design the next, finish."""

import threading
from functools import partial

from actors.backstage import Backstage
from actors.fitness import fitness
from actors.ledger import Ledger
from actors.messages import ArchiveEntry
from actors.plan import SearchPlan
from actors.storage import Storage
from actors.studio import Studio
from actors.summary import write_summary

NATIVE = "ppo-native"
"""Baseline that is trained: PPO under highway-env's own reward."""


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
            self._finish()

    def _judge(self) -> None:
        archive = self._ledger.record.archive
        for candidate_id, outcome in archive.outcomes.items():
            if outcome.status != "trained" or candidate_id in archive.fitnesses or candidate_id in archive.baselines:
                continue
            judged = fitness(outcome.metrics)
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
        if NATIVE not in self._ledger.record.archive.candidates:
            self._ledger.write("accepted", self._studio.native(NATIVE).to_json())
        if self._studio.unmeasured():
            self._backstage.start("baselines", self._studio.measure, self.advance)

    def _finish(self) -> None:
        archive, plan = self._ledger.record.archive, self._plan
        done = len(self._ledger.record.generations) == plan.generations and not self._backstage.busy("baselines")
        if not done or any(each not in archive.outcomes for each in archive.candidates) or self._ledger.record.finished:
            return
        best = archive.top(1)
        self._ledger.write("search_finished", {"champion": best[0].candidate.id if best else None})
        write_summary(self._storage, self._ledger.record)
