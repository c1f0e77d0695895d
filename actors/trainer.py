"""One candidate's trial: PPO under its reward, evaluation on held-out episodes, a film, and the delivery of it all.

`train_candidate` is the whole trial as a plain function and `CandidateTrainer` the same under Ray Tune. Whichever is
used, in whatever process and after whatever else, an assignment has one outcome.
"""

import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any

import ray
from ray import tune
from ray.exceptions import RayActorError

from actors.messages import Assignment
from actors.outcome import Delivery, Outcome, RungPoint
from actors.training import Training

Progress = Callable[[int, float], None]
"""Called with environment steps so far and steps per second; an exception that it raises ends the training."""

OnRung = Callable[[RungPoint], str | None]
"""Called with each measurement on the way; returns why the training ends there, None: it goes on."""

REPORT_EVERY_S = 0.5
"""Least time between two progress reports to the coordinator, s."""
SLICE_S = 2.0
"""Time after which a trial comes back to Tune, s, so that Tune can stop it."""
COORDINATOR_PATIENCE_S = 120.0
"""How long a trial waits for a coordinator that is being restarted, s."""
REASON_LIMIT = 500
"""Characters of a failure's reason at most."""

logger = logging.getLogger(__name__)


def train_candidate(
    assignment: Assignment, on_progress: Progress | None = None, on_rung: OnRung | None = None
) -> Delivery:
    """Run a whole trial in this process.

    Args:
        assignment: What to train; the outcome (apart from its wall clock) depends on nothing else.
        on_progress: Called after each batch.
        on_rung: Called at each rung of the assignment.

    Returns:
        The outcome, `trained`, `stopped`, `faulted` or (diverged) `failed`, with its files.

    Raises:
        UsageError: A source that the language refuses.
    """
    with Training(assignment) as training:
        while not training.finished:
            point = training.advance()
            if on_progress is not None:
                on_progress(training.steps, training.steps_per_s)
            reason = on_rung(point) if point is not None and on_rung is not None else None
            if reason is not None:
                training.stop(reason)
        return training.outcome()


class CandidateTrainer(tune.Trainable):
    """A trial under Ray Tune; its process goes on to the next candidate (`reuse_actors=True`).

    The configuration holds `candidate` (an id), `coordinator` and `namespace` (the actor's name). The trial fetches its
    assignment from that actor, asks it at each rung whether to go on, delivers the outcome to it, and only then reports
    `done` to Tune, so that a process that dies after delivery is never trained again.
    """

    def setup(self, config: dict[str, Any]) -> None:
        """Take a candidate; nothing is fetched before the first step."""
        self._candidate: str = config["candidate"]
        self._coordinator: str = config["coordinator"]
        self._namespace: str = config["namespace"]
        self._training: Training | None = None
        self._reported = 0.0

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take the next candidate in the same process."""
        self.cleanup()
        self.setup(new_config)
        return True

    def cleanup(self) -> None:
        """Let go of a training that may not have finished."""
        if self._training is not None:
            self._training.close()
            self._training = None

    def step(self) -> dict[str, Any]:
        """Train for a slice of time or up to a rung; deliver when there is an outcome."""
        training = self._training
        assignment = training.assignment if training else self._call("assignment", self._candidate)
        reached = self._advance(assignment)
        if isinstance(reached, RungPoint):
            self._ask_at(reached)
        if not isinstance(reached, Delivery):
            return {"done": False}
        self.cleanup()
        self._call("deliver", reached)
        return {"env_steps": reached.outcome.env_steps, "status": reached.outcome.status, "done": True}

    def _ask_at(self, point: RungPoint) -> None:
        """Ask whether the training ends at the rung that it has reached."""
        reason = self._call("rung", self._candidate, point)
        if reason is not None and self._training is not None:
            self._training.stop(reason)

    def _advance(self, assignment: Assignment) -> Delivery | RungPoint | None:
        """Train on; return the delivery once there is one, and the measurement at a rung.

        This is the fault boundary of a trial: whatever breaks in it would break again if Tune started it again, so it
        becomes a `failed` outcome. A process that dies is another matter, and Tune's.
        """
        try:
            if self._training is None:
                self._training = Training(assignment)
            deadline = time.monotonic() + SLICE_S
            while not self._training.finished:
                point = self._training.advance()
                self._report(self._training)
                if point is not None:
                    return point
                if time.monotonic() >= deadline:
                    return None
            return self._training.outcome()
        except Exception as fault:
            logger.exception("candidate %s failed", self._candidate)
            reason = f"{type(fault).__name__}: {fault}"[:REASON_LIMIT]
            return Delivery(outcome=Outcome(candidate_id=self._candidate, status="failed", reason=reason))

    def _report(self, training: Training) -> None:
        now = time.monotonic()
        if now - self._reported >= REPORT_EVERY_S:
            self._reported = now
            with contextlib.suppress(ValueError, RayActorError):
                actor = ray.get_actor(self._coordinator, namespace=self._namespace)
                actor.training.remote(self._candidate, training.steps, training.steps_per_s)

    def _call(self, method: str, *arguments: Any) -> Any:
        deadline = time.monotonic() + COORDINATOR_PATIENCE_S
        while True:
            try:
                actor = ray.get_actor(self._coordinator, namespace=self._namespace)
                return ray.get(getattr(actor, method).remote(*arguments))
            except (ValueError, RayActorError):
                # The name is unknown, or its process gone, while the coordinator is being restarted.
                if time.monotonic() >= deadline:
                    raise
                time.sleep(1.0)
