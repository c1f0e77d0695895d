"""PPO settings: what a candidate is trained with, and where each default comes from.

The defaults were chosen on highway-fast-v0 under its native reward. `python -m benchmarks.native_ppo` trains three
seeds and drives 500 held-out episodes with the deterministic policy: after 300 000 steps a return of 21.6, 22.6 and
22.4, where a car that only brakes has 20.8. `docs/decisions/0004-ppo-defaults.md` says what else was tried.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from search_spaces.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class PPOSettings:
    """Hyperparameters of one training, equal for every candidate of a search.

    Attributes:
        discount: Discount per decision, dimensionless. At 0.99 the agent only brakes, at 0.8 it turns reckless.
        gae_lambda: Decay of generalised advantage estimation, dimensionless (Schulman et al. 2016 use 0.95).
        learning_rate: Adam's step, constant; 5e-4 was slow, a decaying rate gained nothing.
        clip: PPO's ratio clip, dimensionless (Schulman et al. 2017).
        entropy: Weight of the entropy bonus, dimensionless.
        value_weight: Weight of the value loss, dimensionless (RLlib's default).
        gradient_clip: Global gradient norm, dimensionless.
        environments: Environments stepped together.
        batch: Decisions in one batch; a multiple of `environments`.
        minibatch: Decisions in one minibatch; below 512 the learner's overhead dominates.
        epochs: Passes over a batch.
        hidden: Widths of the hidden tanh layers; wider nets gained nothing at equal time.
        normalise_returns: Whether rewards are divided by the running standard deviation of the discounted return, so
            that a reward and its hundredfold train alike.
        scale_observations: Whether observations are scaled by constants (see `actors/policy.py`).
        averaging: Share of the training, at its end, over whose batches the policy's weights are averaged, 0 to 1; 0:
            the last weights. Halves what two trainings of one program differ by; `docs/decisions/0004-ppo-defaults.md`.
    """

    discount: float = 0.9
    gae_lambda: float = 0.95
    learning_rate: float = 3e-3
    clip: float = 0.2
    entropy: float = 0.0
    value_weight: float = 1.0
    gradient_clip: float = 0.5
    environments: int = 128
    batch: int = 4096
    minibatch: int = 1024
    epochs: int = 4
    hidden: tuple[int, ...] = (64, 64)
    normalise_returns: bool = True
    scale_observations: bool = True
    averaging: float = 0.05

    def __post_init__(self) -> None:
        if self.batch % self.environments:
            raise UsageError(f"ppo: batch {self.batch} must be a multiple of environments {self.environments}")
        if not 1 <= self.minibatch <= self.batch:
            raise UsageError(f"ppo: minibatch {self.minibatch} must lie in [1, batch {self.batch}]")
        if not 0.0 <= self.averaging <= 1.0:
            raise UsageError(f"ppo: averaging {self.averaging} must lie in [0, 1]")

    def averaged_batches(self, steps: int) -> int:
        """Return over how many batches the weights of a policy are averaged that is trained for `steps` steps."""
        return max(1, round(self.averaging * steps / self.batch))

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a JSON object."""
        return {**asdict(self), "hidden": list(self.hidden)}

    @classmethod
    def from_json(cls, settings: Mapping[str, Any]) -> "PPOSettings":
        """Build settings from a JSON object; absent ones take their default.

        Raises:
            UsageError: An unknown setting or inconsistent values.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise UsageError(f"ppo: unknown settings {', '.join(unknown)}; known: {', '.join(sorted(known))}")
        values = dict(settings)
        if "hidden" in values:
            values["hidden"] = tuple(values["hidden"])
        return cls(**values)
