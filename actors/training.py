"""One PPO run of a candidate: built from its assignment, advanced batch by batch, measured and filmed at the end."""

import logging
import shutil
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
import ray
import torch
from ray.tune.registry import register_env

from actors.advantages import seed_streams
from actors.evaluator import PolicyDriver, evaluate
from actors.messages import Assignment
from actors.outcome import Delivery, Outcome, Status
from actors.policy import Policy, observation_scaling
from actors.rollout import ENVIRONMENT, BatchedEnvRunner, ppo_config
from driving.film import film_episode
from search_spaces.errors import UsageError
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import SELECTION

_TALKATIVE = ("ray.rllib", "ray._common.deprecation", "ray.tune.utils.util")
"""Loggers of RLlib and Tune that warn about their own old names and about GPU monitors, on each build."""


class Training:
    """A PPO run that is advanced batch by batch.

    Use it as a context manager: RLlib's objects are released on exit.

    Attributes:
        assignment: What is trained.
        runner: What drives the environments and keeps curve, traces and fault.
    """

    def __init__(self, assignment: Assignment) -> None:
        """Build PPO.

        Args:
            assignment: What to train.

        Raises:
            UsageError: A source that the language refuses; it should have been refused before.
        """
        self.assignment = assignment
        program = _compiled(assignment)
        torch.set_num_threads(1)
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.ERROR)
        _start_ray()
        register_env(ENVIRONMENT, _refuse_environment)
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed_streams(assignment.seed)[0])
            self._algorithm = ppo_config(assignment, program, on_gpu=_has_gpu()).build_algo()
        self.runner: BatchedEnvRunner = self._algorithm.env_runner
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
    def device(self) -> str:
        """Where the learner computes, such as `cpu`."""
        (device,) = self._algorithm.learner_group.foreach_learner(lambda learner: str(learner.device))
        return str(device.get())

    @property
    def folder(self) -> str:
        """RLlib's folder of this run; nothing is written into it and it goes with `close`."""
        return str(self._algorithm.logdir)

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return self.runner.steps

    @property
    def steps_per_s(self) -> float:
        """Environment steps per second of wall clock since the build."""
        return self.steps / max(time.perf_counter() - self._started, 1e-9)

    @property
    def finished(self) -> bool:
        """Whether the steps are done, the reward broke or the network diverged."""
        return self.runner.fault is not None or self._diverged is not None or self.steps >= self.assignment.steps

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
        state = self.runner.module.get_state()
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
        assignment, fault = self.assignment, self.runner.fault
        if fault is not None:
            return self._delivery("faulted", reason=fault.sentence())
        if self._diverged is not None:
            return self._delivery("failed", reason=f"training diverged after {self.steps} steps: {self._diverged}")
        content = self.policy().to_bytes()
        driver = PolicyDriver(Policy.from_bytes(content))
        metrics, _ = evaluate(driver, assignment.scenario, assignment.held_out)
        film = film_episode(assignment.scenario, SELECTION.first, driver) if assignment.film else None
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
            curve=tuple(self.runner.curve.points),
            traces=tuple(self.runner.traces.points),
            env_steps=self.steps,
            wall_s=time.perf_counter() - self._started,
        )
        return Delivery(outcome=outcome, policy=policy, film=film)


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


def _has_gpu() -> bool:
    """Whether Ray has given this process a GPU or a share of one. It changes the last bits of an outcome, no more."""
    return bool(ray.get_gpu_ids()) and torch.cuda.is_available()


def _refuse_environment(_: Any) -> Any:
    raise UsageError("the rollout builds its own environments; RLlib must not build one")
