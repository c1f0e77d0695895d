"""One candidate's trial: PPO under its reward, evaluation on held-out episodes, a film, and the delivery of it all.

`Training` is one PPO run, `train_candidate` the whole trial as a plain function, and `CandidateTrainer` the same under
Ray Tune. Whichever is used, in whatever process and after whatever else, an assignment has one outcome.
"""

import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
import ray
import torch
from ray import tune
from ray.exceptions import RayActorError
from ray.tune.registry import register_env

from actors.advantages import seed_streams
from actors.evaluator import PolicyDriver, evaluate
from actors.messages import Assignment, Delivery, Outcome, Status
from actors.policy import Policy, observation_scaling
from actors.rollout import ENVIRONMENT, BatchedEnvRunner, ppo_config
from driving.film import film_episode
from search_spaces.errors import UsageError
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import HELD_OUT

Progress = Callable[[int, float], None]
"""Called with environment steps so far and steps per second; an exception that it raises ends the training."""

REPORT_EVERY_S = 0.5
"""Least time between two progress reports to the coordinator, s."""
SLICE_S = 2.0
"""Time after which a trial comes back to Tune, s, so that Tune can stop it."""
COORDINATOR_PATIENCE_S = 120.0
"""How long a trial waits for a coordinator that is being restarted, s."""
REASON_LIMIT = 500
"""Characters of a failure's reason at most."""

logger = logging.getLogger(__name__)


class Training:
    """A PPO run that is advanced batch by batch.

    Use it as a context manager: RLlib's objects are released on exit.

    Attributes:
        assignment: What is trained.
    """

    def __init__(self, assignment: Assignment) -> None:
        """Build PPO.

        Raises:
            UsageError: A source that the language refuses; it should have been refused before.
        """
        self.assignment = assignment
        program = _compiled(assignment)
        torch.set_num_threads(1)
        logging.getLogger("ray.rllib").setLevel(logging.ERROR)
        _start_ray()
        register_env(ENVIRONMENT, _refuse_environment)
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed_streams(assignment.seed)[0])
            self._algorithm = ppo_config(assignment, program).build_algo()
        self._runner: BatchedEnvRunner = self._algorithm.env_runner
        self._diverged: str | None = None
        self._started = time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release RLlib's objects."""
        self._algorithm.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def module(self) -> Any:
        """RLlib's network that explores; after each batch it holds the learner's weights."""
        return self._runner.module

    @property
    def folder(self) -> str:
        """RLlib's folder of this run; nothing is written into it and it goes with `close`."""
        return str(self._algorithm.logdir)

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return self._runner.steps

    @property
    def steps_per_s(self) -> float:
        """Environment steps per second of wall clock since the build."""
        return self.steps / max(time.perf_counter() - self._started, 1e-9)

    @property
    def finished(self) -> bool:
        """Whether the steps are done, the reward broke or the network diverged."""
        return self._runner.fault is not None or self._diverged is not None or self.steps >= self.assignment.steps

    def advance(self) -> None:
        """Train on one more batch."""
        try:
            self._algorithm.train()
        except FloatingPointError as diverged:
            self._diverged = str(diverged)

    def policy(self) -> Policy:
        """Return the policy as it stands.

        Raises:
            PolicyError: Weights that are not finite.
        """
        state = self.module.get_state()
        layers = [name for name in state if name.startswith(("encoder.actor_encoder.", "pi."))]
        factor, offset = observation_scaling(self.assignment.ppo.scale_observations)
        return Policy(
            factor=factor,
            offset=offset,
            weights=tuple(np.ascontiguousarray(state[name].T) for name in layers if name.endswith(".weight")),
            biases=tuple(np.array(state[name]) for name in layers if name.endswith(".bias")),
        )

    def outcome(self) -> Delivery:
        """Measure and film the finished policy, or say why there is none."""
        assignment, fault = self.assignment, self._runner.fault
        if fault is not None:
            return self._delivery("faulted", reason=fault.sentence())
        if self._diverged is not None:
            return self._delivery("failed", reason=f"training diverged after {self.steps} steps: {self._diverged}")
        content = self.policy().to_bytes()
        driver = PolicyDriver(Policy.from_bytes(content))
        metrics, _ = evaluate(driver, assignment.scenario, assignment.held_out)
        film = film_episode(assignment.scenario, HELD_OUT.first, driver) if assignment.film else None
        return self._delivery("trained", metrics=metrics, policy=content, film=film)

    def _delivery(
        self,
        status: Status,
        *,
        reason: str = "",
        metrics: Mapping[str, float] | None = None,
        policy: bytes | None = None,
        film: bytes | None = None,
    ) -> Delivery:
        outcome = Outcome(
            candidate_id=self.assignment.candidate_id,
            status=status,
            reason=reason,
            metrics=metrics or {},
            curve=tuple(self._runner.curve.points),
            traces=tuple(self._runner.traces.points),
            env_steps=self.steps,
            wall_s=time.perf_counter() - self._started,
        )
        return Delivery(outcome=outcome, policy=policy, film=film)


def train_candidate(assignment: Assignment, on_progress: Progress | None = None) -> Delivery:
    """Run a whole trial in this process.

    Args:
        assignment: What to train; the outcome (apart from its wall clock) depends on nothing else.
        on_progress: Called after each batch.

    Returns:
        The outcome, `trained`, `faulted` or (diverged) `failed`, with its files.

    Raises:
        UsageError: A source that the language refuses.
    """
    with Training(assignment) as training:
        while not training.finished:
            training.advance()
            if on_progress is not None:
                on_progress(training.steps, training.steps_per_s)
        return training.outcome()


class CandidateTrainer(tune.Trainable):
    """A trial under Ray Tune; its process goes on to the next candidate (`reuse_actors=True`).

    The configuration holds `candidate` (an id), `coordinator` and `namespace` (the actor's name). The trial fetches its
    assignment from that actor, delivers the outcome to it, and only then reports `done` to Tune, so that a process that
    dies after delivery is never trained again.
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
        """Train for a slice of time; deliver when there is an outcome."""
        training = self._training
        assignment = training.assignment if training else self._call("assignment", self._candidate)
        delivery = self._advance(assignment)
        if delivery is None:
            return {"done": False}
        self.cleanup()
        self._call("deliver", delivery)
        return {"env_steps": delivery.outcome.env_steps, "status": delivery.outcome.status, "done": True}

    def _advance(self, assignment: Assignment) -> Delivery | None:
        """Return the delivery once there is one.

        This is the fault boundary of a trial: whatever breaks in it would break again if Tune started it again, so it
        becomes a `failed` outcome. A process that dies is another matter, and Tune's.
        """
        try:
            if self._training is None:
                self._training = Training(assignment)
            deadline = time.monotonic() + SLICE_S
            while not self._training.finished:
                self._training.advance()
                self._report(self._training)
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


def _compiled(assignment: Assignment) -> RewardProgram | None:
    if assignment.source is None:
        return None
    program = compile_program(assignment.source)
    if not isinstance(program, RewardProgram):
        raise UsageError(
            f"candidate {assignment.candidate_id}: its program was refused ({program.code}, line {program.line}): "
            f"{program.message}; only programs that the checker accepted can be trained"
        )
    return program


def _start_ray() -> None:
    """Start a Ray without workers where none runs in this process; RLlib would otherwise start or join one itself."""
    if not ray.is_initialized():
        ray.init(
            address="local",
            num_cpus=0,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )


def _refuse_environment(_: Any) -> Any:
    raise UsageError("the rollout builds its own environments; RLlib must not build one")
