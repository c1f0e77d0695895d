"""A policy or a baseline driver on scenarios that training never sees, measured by the simulator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from actors.policy import Policy
from driving.drivers import Act, Driver, run_episodes
from driving.measures import EpisodeTable, summarise
from search_spaces.scenarios import SELECTION, Scenario


@dataclass(frozen=True, slots=True, eq=False)
class PolicyDriver:
    """Puts a policy behind the wheel.

    Attributes:
        policy: The policy.
        rng: Where actions are sampled from; None takes the likeliest one.
    """

    policy: Policy
    rng: np.random.Generator | None = field(default=None)

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        """Choose an action for each environment; the states are not looked at.

        Args:
            observations: float32[N, D].
            states: float64[N, len(FIELDS)].

        Returns:
            int64[N].
        """
        return self.policy.act(observations, deterministic=self.rng is None, rng=self.rng)


def evaluate(
    driver: Driver | Act, scenario: Scenario, seeds: int | Sequence[int]
) -> tuple[Mapping[str, float], EpisodeTable]:
    """Drive a fixed set of episodes and measure them.

    Args:
        driver: Who drives; `PolicyDriver(policy)` for a policy.
        scenario: The road.
        seeds: One episode for each; a number counts from the first seed of `scenarios.SELECTION`.

    Returns:
        metrics: The measures of `driving.measures.summarise`; undefined ones are absent.
        table: The single episodes, in the order of the seeds.

    Raises:
        ScenarioError: More episodes than the held-out set has, or fewer than one.
    """
    chosen = SELECTION.seeds(seeds) if isinstance(seeds, int) else seeds
    table = run_episodes(scenario, chosen, driver)
    return summarise(table, scenario), table
