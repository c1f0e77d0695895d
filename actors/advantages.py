"""From whole batches of rollouts to what PPO learns from: return scale, advantages, order of minibatches."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing

from actors.messages import Assignment

SMALLEST_SPREAD = 1e-4
"""Advantages whose standard deviation is smaller are not blown up to 1; RLlib's own connector uses the same bound."""


def seed_streams(seed: int) -> tuple[int, np.random.Generator, np.random.Generator]:
    """Return the independent random streams of a training.

    Returns:
        weights: Seed of torch's initial weights.
        exploration: Where actions are sampled from.
        shuffling: Where the order of minibatches comes from.
    """
    weights, exploration, shuffling = np.random.SeedSequence(seed).spawn(3)
    return int(weights.generate_state(1)[0]), np.random.default_rng(exploration), np.random.default_rng(shuffling)


@dataclass(frozen=True, slots=True, eq=False)
class Fragment:
    """T decisions of N environments. RLlib carries it where it would carry episodes.

    Attributes:
        observations: float32[T + 1, N, D], scaled; row T follows the last decision.
        actions: int64[T, N].
        logits: float32[T, N, A], the exploring policy's.
        log_probabilities: float32[T, N], of the actions.
        rewards: float32[T, N], as PPO learns from them.
        terminated: bool[T, N], the episode crashed in this decision.
        truncated: bool[T, N], its time ran out.
        final_observations: float32[K, D], scaled; last observations of episodes whose time ran out without a crash.
    """

    observations: torch.Tensor
    actions: torch.Tensor
    logits: torch.Tensor
    log_probabilities: torch.Tensor
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final_observations: torch.Tensor

    def __len__(self) -> int:
        return self.rewards.size

    def env_steps(self) -> int:
        """Return T * N."""
        return self.rewards.size

    agent_steps = env_steps


def next_values(
    values: NDArray[np.float32],
    terminated: NDArray[np.bool_],
    truncated: NDArray[np.bool_],
    final_values: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return the value that each decision leads to.

    A crash is worth nothing from there on; an episode that merely ran out of time is worth what its last observation
    promises, and the environment's next observation belongs to another episode already.

    Args:
        values: float32[T + 1, N], value of each observation; row T follows the last decision.
        terminated: bool[T, N], the episode crashed in this decision.
        truncated: bool[T, N], its time ran out.
        final_values: float32[K], values of the last observations of the K decisions that truncated and did not
            terminate, in the order of `numpy.flatnonzero(truncated & ~terminated)`.

    Returns:
        float32[T, N].
    """
    following = values[1:].copy()
    following[terminated] = 0.0
    following[truncated & ~terminated] = final_values
    return following


def generalised_advantages(
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    following: NDArray[np.float32],
    ended: NDArray[np.bool_],
    discount: float,
    decay: float,
) -> NDArray[np.float32]:
    """Estimate advantages as Schulman et al. (2016) do, without crossing the end of an episode.

    Args:
        rewards: float32[T, N].
        values: float32[T + 1, N], value of each observation.
        following: float32[T, N], from `next_values`.
        ended: bool[T, N], the episode ended in this decision, for whatever reason.
        discount: Discount per decision, dimensionless.
        decay: GAE's lambda, dimensionless.

    Returns:
        float32[T, N].
    """
    surprise = rewards + np.float32(discount) * following - values[:-1]
    carry = np.float32(discount * decay) * (~ended).astype(np.float32)
    advantages = np.empty_like(surprise)
    running = np.zeros(surprise.shape[1], np.float32)
    for row in range(len(surprise) - 1, -1, -1):
        running = surprise[row] + carry[row] * running
        advantages[row] = running
    return advantages


@dataclass(slots=True)
class ReturnScale:
    """Running standard deviation of the discounted return, by which rewards are divided.

    Every operation is homogeneous in the reward: a reward and its double train bit for bit alike.

    Attributes:
        environments: How many environments run side by side, N.
        discount: Discount per decision, dimensionless.
    """

    environments: int
    discount: float
    _returns: NDArray[np.float64] = field(init=False)
    _count: int = field(init=False, default=0)
    _mean: float = field(init=False, default=0.0)
    _squares: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self._returns = np.zeros(self.environments)

    def normalise(self, rewards: NDArray[np.float64], ended: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Take the rewards in and return them divided by the standard deviation so far.

        Args:
            rewards: float64[T, N], in decision order.
            ended: bool[T, N], the episode ended in this decision.

        Returns:
            float64[T, N], dimensionless; unchanged as long as every return was equal.
        """
        returns = np.empty_like(rewards)
        for row, reward in enumerate(rewards):
            self._returns = self._returns * self.discount + reward
            returns[row] = self._returns
            self._returns[ended[row]] = 0.0
        self._merge(returns)
        deviation = float(np.sqrt(self._squares / self._count))
        return rewards / deviation if deviation > 0.0 else rewards

    def _merge(self, returns: NDArray[np.float64]) -> None:
        count, mean = returns.size, float(returns.mean())
        squares = float(np.square(returns - mean).sum())
        total = self._count + count
        shift = mean - self._mean
        self._squares += squares + shift * shift * (self._count * count / total)
        self._mean += shift * (count / total)
        self._count = total


class AdvantageConnector(ConnectorV2):
    """Turns fragments into PPO's train batch: advantages, value targets, and every epoch in its own order.

    RLlib's learner shuffles with process-wide generators, and only after the first epoch. The batch therefore holds
    all epochs one after another, and the learner is told to go over it once.
    """

    def __init__(
        self,
        input_observation_space: Any = None,
        input_action_space: Any = None,
        *,
        assignment: Assignment,
    ) -> None:
        super().__init__(input_observation_space, input_action_space)
        self._settings = assignment.ppo
        self._shuffling = seed_streams(assignment.seed)[2]

    @torch.no_grad()
    def __call__(self, *, rl_module: Any, episodes: Sequence[Fragment], **_: Any) -> dict[str, dict[str, torch.Tensor]]:
        """Return the train batch of the one module.

        Raises:
            FloatingPointError: The value network diverged.
        """
        with np.errstate(over="raise", invalid="raise"):
            columns = [self._columns(rl_module[DEFAULT_MODULE_ID], fragment) for fragment in episodes]
            batch = {name: torch.cat([each[name] for each in columns]) for name in columns[0]}
            advantages = batch[Postprocessing.ADVANTAGES].numpy()
            spread = max(SMALLEST_SPREAD, float(advantages.std()))
            standardised = (advantages - advantages.mean()) / np.float32(spread)
        batch[Postprocessing.ADVANTAGES] = torch.from_numpy(standardised)
        order = np.concatenate([self._shuffling.permutation(len(advantages)) for _ in range(self._settings.epochs)])
        rows, device = torch.from_numpy(order), _device(rl_module[DEFAULT_MODULE_ID])
        return {DEFAULT_MODULE_ID: {name: column[rows].to(device) for name, column in batch.items()}}

    def _columns(self, module: Any, fragment: Fragment) -> dict[str, torch.Tensor]:
        decisions, count = fragment.rewards.shape
        observations = fragment.observations.reshape((decisions + 1) * count, -1)
        values = _values(module, observations).reshape(decisions + 1, count)
        final_values = _values(module, fragment.final_observations)
        advantages = generalised_advantages(
            fragment.rewards,
            values,
            next_values(values, fragment.terminated, fragment.truncated, final_values),
            fragment.terminated | fragment.truncated,
            self._settings.discount,
            self._settings.gae_lambda,
        )
        size = decisions * count
        return {
            Columns.OBS: observations[:size],
            Columns.ACTIONS: fragment.actions.reshape(size),
            Columns.ACTION_DIST_INPUTS: fragment.logits.reshape(size, -1),
            Columns.ACTION_LOGP: fragment.log_probabilities.reshape(size),
            Postprocessing.ADVANTAGES: torch.from_numpy(advantages.reshape(size)),
            Postprocessing.VALUE_TARGETS: torch.from_numpy((advantages + values[:-1]).reshape(size)),
        }


def _device(module: Any) -> torch.device:
    device: torch.device = next(module.parameters()).device
    return device


def _values(module: Any, observations: torch.Tensor) -> NDArray[np.float32]:
    on_device = observations.to(_device(module))
    values: NDArray[np.float32] = module.compute_values({Columns.OBS: on_device}).cpu().numpy()
    return values
