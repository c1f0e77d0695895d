"""One PPO run of a candidate: built from its assignment, advanced by batches, measured on the way and at its end."""

import logging
import shutil
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import ray
import torch
from numpy.typing import NDArray
from ray.tune.registry import register_env

from actors.advantages import seed_streams
from actors.evaluator import PolicyDriver, evaluate
from actors.fitness import fitness
from actors.messages import Assignment
from actors.outcome import Delivery, Outcome, RungPoint, Status
from actors.policy import Policy, observation_scaling
from actors.rollout import ENVIRONMENT, BatchedEnvRunner, ppo_config
from driving.episodes import to_parquet
from driving.film import film_episode
from search_spaces.errors import PolicyError, UsageError
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import SEED_SETS

_TALKATIVE = ("ray.rllib", "ray._common.deprecation", "ray.tune.utils.util")
"""Loggers of RLlib and Tune that warn about their own old names and about GPU monitors, on each build."""


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """A policy with its evaluation.

    Attributes:
        policy: `policy.npz`.
        metrics: Measures on the episodes of the evaluation.
        episodes: These episodes as Parquet.
    """

    policy: bytes
    metrics: Mapping[str, float]
    episodes: bytes


@dataclass(frozen=True, slots=True, eq=False)
class _Layers:
    """Weights and biases of the actor's layers after a batch, as in `Policy`."""

    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]


class Training:
    """A PPO run that is advanced batch by batch.

    Use it as a context manager: RLlib's objects are released on exit.

    Attributes:
        assignment: What is trained.
        runner: What drives the environments and keeps curve, traces and fault.
        rungs: Measurements on the way, so far.
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
        self._stopped: str | None = None
        self._recent: deque[_Layers] = deque(maxlen=assignment.ppo.averaged_batches(assignment.steps))
        self.rungs: list[RungPoint] = []
        self._rungs_ahead = list(assignment.rungs)
        self._at_rung: _Measured | None = None
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
        """Whether the steps are done, it was stopped, the reward broke or the network diverged."""
        broken = self.runner.fault is not None or self._diverged is not None
        return broken or self._stopped is not None or self.steps >= self.assignment.steps

    def advance(self) -> RungPoint | None:
        """Train on one more batch, and measure the policy where a rung of the assignment is reached.

        The measurement draws on nothing that the training uses: with and without rungs it trains the same policy.

        Returns:
            The measurement; None between rungs. What the last batch reaches is measured by `outcome` alone.
        """
        try:
            self._algorithm.train()
            self._recent.append(self._layers())
            if self.finished or not self._reached_rung():
                return None
            self._at_rung = self._measure()
        except (FloatingPointError, PolicyError) as diverged:
            self._diverged = str(diverged)
            return None
        metrics = self._at_rung.metrics
        judged = fitness(metrics)
        point = RungPoint(
            steps=self.steps,
            fitness=None if judged is None else judged.value,
            native_return=metrics["native_return"],
            crash_rate=metrics["crash_rate"],
        )
        self.rungs.append(point)
        return point

    def stop(self, reason: str) -> None:
        """End the training at the rung that was just reached.

        Args:
            reason: Why, in one sentence.
        """
        self._stopped = reason

    def _reached_rung(self) -> bool:
        reached = [each for each in self._rungs_ahead if each <= self.steps]
        del self._rungs_ahead[: len(reached)]
        return bool(reached)

    def policy(self) -> Policy:
        """Return the policy as it stands: its weights are means over the last batches, see `PPOSettings.averaging`.

        Raises:
            PolicyError: Weights that are not finite.
        """
        factor, offset = observation_scaling(self.assignment.ppo.scale_observations)
        recent = self._recent or (self._layers(),)
        return Policy(
            factor=factor,
            offset=offset,
            weights=_means([layers.weights for layers in recent]),
            biases=_means([layers.biases for layers in recent]),
        )

    def _layers(self) -> _Layers:
        state = self.runner.module.get_state()
        names = [name for name in state if name.startswith(("encoder.actor_encoder.", "pi."))]
        return _Layers(
            weights=tuple(state[name].T.copy() for name in names if name.endswith(".weight")),
            biases=tuple(state[name].copy() for name in names if name.endswith(".bias")),
        )

    def outcome(self) -> Delivery:
        """Measure and film the finished policy, or say why there is none."""
        assignment, fault = self.assignment, self.runner.fault
        if fault is not None:
            return self._delivery("faulted", reason=fault.sentence())
        if self._diverged is not None:
            return self._delivery("failed", reason=f"training diverged after {self.steps} steps: {self._diverged}")
        if self._stopped is not None:
            return self._delivery("stopped", reason=self._stopped, measured=self._at_rung)
        measured = self._measure()
        driver = PolicyDriver(Policy.from_bytes(measured.policy))
        film = film_episode(assignment.scenario, self._seeds()[0], driver) if assignment.film else None
        return self._delivery("trained", measured=measured, film=film)

    def _measure(self) -> _Measured:
        content = self.policy().to_bytes()
        driver = PolicyDriver(Policy.from_bytes(content))
        metrics, table = evaluate(driver, self.assignment.scenario, self._seeds())
        return _Measured(content, metrics, to_parquet(table))

    def _seeds(self) -> range:
        return SEED_SETS[self.assignment.seed_set].seeds(self.assignment.held_out)

    def _delivery(
        self, status: Status, *, reason: str = "", measured: _Measured | None = None, film: bytes | None = None
    ) -> Delivery:
        outcome = Outcome(
            candidate_id=self.assignment.candidate_id,
            status=status,
            reason=reason,
            metrics=measured.metrics if measured else {},
            curve=tuple(self.runner.curve.points),
            rungs=tuple(self.rungs),
            traces=tuple(self.runner.traces.points),
            env_steps=self.steps,
            wall_s=time.perf_counter() - self._started,
        )
        if measured is None:
            return Delivery(outcome=outcome)
        return Delivery(outcome=outcome, policy=measured.policy, film=film, episodes=measured.episodes)


def _means(batches: Sequence[tuple[NDArray[np.float32], ...]]) -> tuple[NDArray[np.float32], ...]:
    """Return the mean of each layer over batches."""
    layers = zip(*batches, strict=True)
    return tuple(np.ascontiguousarray(np.mean(layer, axis=0, dtype=np.float64), np.float32) for layer in layers)


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
