"""Who knows how far a search is: hands out candidates, takes outcomes, and has the next generation designed.

`ask`, `assignment`, `training`, `rung`, `deliver`, `tell` and `progress` answer at once; designing, measuring baselines
and critique happen backstage. Every call may come twice. All state is the journal's: a coordinator that is started
again on the same folder goes on where the journal ends.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from actors.agenda import Agenda
from actors.backstage import Backstage, Inline, Threads
from actors.deliveries import sound_outcome, store_delivery
from actors.finals import steps_left
from actors.halving import RungVerdict, reason_to_stop
from actors.keys import Credentials
from actors.ledger import Ledger
from actors.measurement import measurement_digest, refuse_other_measurement
from actors.message import Message
from actors.messages import Assignment, Candidate
from actors.outcome import Delivery, Outcome, RungPoint
from actors.plan import SearchPlan
from actors.progress import Pace, Phase, Progress, progress_of
from actors.record import SearchRecord
from actors.storage import Storage
from actors.studio import Studio
from actors.summary import write_summary
from search_spaces.errors import RunError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Message):
    """What a free trial is told.

    Attributes:
        verdict: `train` a candidate; `wait` and ask again; `finished`: nothing will ever come.
        candidate_id: Whom to train.
    """

    verdict: Literal["train", "wait", "finished"]
    candidate_id: str | None = None


class Coordinator:
    """Runs one search.

    Args:
        location: The run's folder: a path or a URI.
        plan: The search; the one in the folder, if there is one.
        session: Names the driver that started it; trials of an earlier session count as gone.
        take_over: See `lock.lock_run`.
        wait_s: See `lock.lock_run`.
        threads: Whether to work backstage; otherwise each call does what it leads to before it returns.
        clock: Seconds since 1970 UTC.

    Raises:
        RunError: The folder holds another search than `plan`.
        RunLockedError: Another coordinator writes this run.
        JournalError: The journal is damaged.
    """

    def __init__(
        self,
        location: str,
        plan: SearchPlan,
        *,
        session: str,
        take_over: bool = False,
        wait_s: float = 0.0,
        threads: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._storage = Storage.at(location)
        self._ledger = Ledger(self._storage, take_over=take_over, wait_s=wait_s, clock=clock)
        self._plan = plan
        self._begin(location, session)
        self._clock = clock
        self._lock = threading.RLock()
        self._backstage: Backstage = Threads() if threads else Inline()
        self._studio: Studio | None = None
        self._agenda: Agenda | None = None
        self._paces: dict[str, Pace] = {}
        self._steps_here = 0

    def _begin(self, location: str, session: str) -> None:
        try:
            self._refuse_another(location)
        except RunError:
            self._ledger.close()
            raise
        if self._ledger.record.plan is None:
            self._ledger.write("search_started", {"plan": self._plan.to_json(), "measurement": measurement_digest()})
        self._ledger.write("opened", {"session": session})

    def _refuse_another(self, location: str) -> None:
        known = self._ledger.record.plan
        if known is not None and known != self._plan:
            raise RunError(
                f"{location} holds another search ({known.search_id}); choose another folder, or --resume it"
            )
        refuse_other_measurement(self._ledger.record.measurement, location)

    @property
    def record(self) -> SearchRecord:
        """The search as its journal stands."""
        return self._ledger.record

    def unlock(self, credentials: Credentials) -> None:
        """Take the keys and begin (or go on) designing; unlocking twice is harmless.

        Raises:
            UsageError: An LLM spec, URL or folder that cannot be used, or no key for Groq.
        """
        with self._lock:
            if self._studio is None:
                self._studio = Studio(self._plan, self._ledger, self._storage, credentials)
                self._agenda = Agenda(
                    self._plan, self._ledger, self._storage, self._backstage, self._studio, self._lock
                )
                self._agenda.advance()

    def ask(self, trial_id: str) -> Ask:
        """Give a candidate to a trial; the same one when the trial asks again."""
        with self._lock:
            record = self.record
            if record.finished or self._backstage.fault is not None:
                return Ask(verdict="finished")
            for candidate_id, trial in record.assigned.items():
                if trial == trial_id:
                    return Ask(verdict="train", candidate_id=candidate_id)
            waiting = record.waiting() if self._studio is not None else []
            if not waiting:
                return Ask(verdict="wait")
            chosen = waiting[0].id
            self._ledger.write("assigned", {"candidate_id": chosen, "trial_id": trial_id})
            self._advance()
            return Ask(verdict="train", candidate_id=chosen)

    def assignment(self, candidate_id: str) -> Assignment:
        """Return what a trial needs to train a candidate.

        Raises:
            RunError: No candidate of that id.
        """
        candidate = self._candidate(candidate_id)
        competes = candidate.role == "candidate"
        return Assignment(
            candidate_id=candidate_id,
            source=candidate.source or None,
            seed=candidate.seed,
            steps=candidate.steps or self._plan.steps,
            ppo=self._plan.ppo,
            scenario=self._plan.scenario,
            held_out=self._plan.held_out,
            seed_set=candidate.seed_set,
            rungs=tuple(each for each in self._plan.rungs if each < self._plan.steps) if competes else (),
            film=self._plan.films and (not candidate.stage or candidate.stage == "confirming"),
        )

    def training(self, candidate_id: str, steps: int, steps_per_s: float) -> None:
        """Hear how far a trial is."""
        self._paces[candidate_id] = Pace(steps, steps_per_s)

    def rung(self, candidate_id: str, point: RungPoint) -> str | None:
        """Hear how a candidate drives on the way, and say why it is stopped there; None: it goes on.

        Raises:
            RunError: No candidate of that id.
        """
        self._candidate(candidate_id)
        with self._lock:
            known = self.record.rungs.get(candidate_id, ())
            said = next((each for each in known if each.point.steps == point.steps), None)
            if said is not None:
                return said.stopped
            rivals = [verdict.point for verdicts in self.record.rungs.values() for verdict in verdicts]
            stopped = reason_to_stop(point, rivals) if self._plan.early_stopping else None
            verdict = RungVerdict(candidate_id=candidate_id, point=point, stopped=stopped)
            self._ledger.write("rung", verdict.to_json())
            return stopped

    def deliver(self, delivery: Delivery) -> None:
        """Take an outcome: store its files, write it down, judge it; the first one of a candidate counts.

        Raises:
            RunError: No candidate of that id.
        """
        candidate_id = delivery.outcome.candidate_id
        self._candidate(candidate_id)
        with self._lock:
            if candidate_id in self.record.archive.outcomes:
                return
            delivery = replace(delivery, outcome=sound_outcome(delivery.outcome))
            store_delivery(self._storage, delivery)
            self._ledger.write("delivered", delivery.outcome.to_json())
            self._paces.pop(candidate_id, None)
            self._steps_here += delivery.outcome.env_steps
            self._advance()

    def tell(self, trial_id: str, reason: str | None) -> None:
        """Hear that a trial ended.

        A candidate whose trial ended without delivering is given to another trial, `plan.attempts` times in all.

        Args:
            trial_id: Which trial.
            reason: Why it ended early; None when it ended by itself.
        """
        with self._lock:
            record = self.record
            lost = [each for each, trial in record.assigned.items() if trial == trial_id]
            for candidate_id in lost:
                self._bury(candidate_id, trial_id, reason or "the trial ended without an outcome")

    def _bury(self, candidate_id: str, trial_id: str, reason: str) -> None:
        attempt = self.record.deaths.get(candidate_id, 0) + 1
        death = {"candidate_id": candidate_id, "trial_id": trial_id, "reason": reason, "attempt": attempt}
        self._ledger.write("trial_failed", death)
        self._paces.pop(candidate_id, None)
        if attempt >= self._plan.attempts:
            reason = f"its trial died {attempt} times; last: {reason}"
            self.deliver(Delivery(outcome=Outcome(candidate_id=candidate_id, status="failed", reason=reason)))

    def progress(self) -> Progress:
        """Return how far the search is."""
        fault = self._backstage.fault
        with self._lock:
            paces = dict(self._paces)
        return progress_of(self.record, paces, self._phase(), self._left_s(), None if fault is None else str(fault))

    def check(self) -> None:
        """Raise what broke the search, if anything did."""
        fault = self._backstage.fault
        if fault is not None:
            raise fault

    def close(self) -> None:
        """Write the summary and let another coordinator have the run."""
        self._backstage.close()
        if self._agenda is not None:
            self._agenda.close()
        if self._studio is not None:
            self._studio.close()
        write_summary(self._storage, self.record)
        self._ledger.close()

    def _candidate(self, candidate_id: str) -> Candidate:
        candidate = self.record.archive.candidates.get(candidate_id)
        if candidate is None:
            raise RunError(f"search {self._plan.search_id} has no candidate {candidate_id}")
        return candidate

    def _phase(self) -> Phase:
        if self._backstage.fault is not None:
            return "broken"
        if self.record.finished:
            return "finished"
        if self._studio is None:
            return "locked"
        if self._backstage.busy("design"):
            return "designing"
        if self._backstage.busy("replay"):
            return "replaying"
        if self._backstage.busy("matrix") or self._backstage.busy("scores"):
            return "generalising"
        if any(each.stage for each in self.record.archive.candidates.values()):
            return "finals"
        return "training" if self.record.assigned or self.record.waiting() else "criticising"

    def _left_s(self) -> float | None:
        record, plan = self.record, self._plan
        if not self._steps_here:
            return None
        done = sum(entry.outcome is not None for entry in record.archive.entries())
        left = (plan.population * plan.generations - done) * plan.steps + steps_left(plan, record)
        return (self._clock() - record.opened_at) / self._steps_here * left

    def _advance(self) -> None:
        if self._agenda is not None:
            self._agenda.advance()
