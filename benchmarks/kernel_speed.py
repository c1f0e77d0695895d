"""The kernel against highway-env, side by side: both in this process, on one core, in alternating rounds.

Both drive uniformly random actions through whole episodes, resets included. highway-env's environments are stepped as
they are, without gymnasium's wrappers; the kernel is stepped through `HighwayVectorEnv` with 64 environments, and fills
reward states and measures as well, which highway-env does not.

    python -m benchmarks.kernel_speed
"""

import time
from collections.abc import Callable

import numpy as np
from highway_env.envs.highway_env import HighwayEnv, HighwayEnvFast

from benchmarks.figures import Figures, figure, one_core, print_figures
from driving.vector_env import HighwayVectorEnv
from search_spaces.scenarios import PRESETS, Scenario

ROUNDS = 7
ENVIRONMENTS = 64
ROUND_S = 3.0
"""How long a round of highway-env takes, s."""
KERNEL_ROUND_S = 1.0
"""How long a round of the kernel takes, s."""


def upstream(environment: HighwayEnv) -> Callable[[], int]:
    """Return a function that takes one random decision in highway-env and returns 1."""
    rng = np.random.default_rng(0)
    environment.reset(seed=0)

    def step() -> int:
        _, _, terminated, truncated, _ = environment.step(int(rng.integers(5)))
        if terminated or truncated:
            environment.reset()
        return 1

    return step


def kernel(scenario: Scenario) -> Callable[[], int]:
    """Return a function that takes random decisions in `ENVIRONMENTS` environments and returns how many."""
    rng = np.random.default_rng(0)
    env = HighwayVectorEnv(ENVIRONMENTS, scenario)
    env.reset(seed=0)
    actions = rng.integers(0, 5, (1000, ENVIRONMENTS))
    rows = iter(range(10**9))

    def step() -> int:
        env.step(actions[next(rows) % len(actions)])
        return ENVIRONMENTS

    step()
    return step


def rate(step: Callable[[], int], seconds: float) -> float:
    """Return decisions per second of wall time over at least `seconds`."""
    taken = 0
    started = time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds or taken == 0:
        taken += step()
    return taken / elapsed


def compare(environment: HighwayEnv, scenario: Scenario) -> tuple[list[float], list[float]]:
    """Return decisions per second of highway-env and of the kernel, round by round."""
    theirs, ours = upstream(environment), kernel(scenario)
    rounds = [(rate(theirs, ROUND_S), rate(ours, KERNEL_ROUND_S)) for _ in range(ROUNDS)]
    return [slow for slow, _ in rounds], [fast for _, fast in rounds]


def measure() -> Figures:
    """Return name -> {median, low, high, unit}; the process is pinned to one core meanwhile."""
    figures: Figures = {}
    with one_core():
        for name, environment, scenario in (
            ("fast", HighwayEnvFast(), PRESETS["highway-fast-v0"]),
            ("default", HighwayEnv(), PRESETS["highway-v0"]),
        ):
            theirs, ours = compare(environment, scenario)
            ratios = [fast / slow for slow, fast in zip(theirs, ours, strict=True)]
            figures[f"kernel_vs_highway_env_{name}"] = figure(ratios, "times")
            figures[f"kernel_{name}_steps_per_s"] = figure(ours, "decisions/s")
            figures[f"highway_env_{name}_steps_per_s"] = figure(theirs, "decisions/s")
    return figures


def main() -> None:
    """Print the figures."""
    print_figures(measure())


if __name__ == "__main__":
    main()
