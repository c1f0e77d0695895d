"""PPO under highway-env's own reward: what it learns on highway-fast-v0, and how long that takes.

Three training seeds, measured after 300 000 and after 1 000 000 steps on 500 held-out episodes with the likeliest
action. A car that only brakes returns 20.7 there.

    python -m benchmarks.native_ppo [--seeds 0 1 2] [--steps 300000 1000000]
"""

import argparse
import statistics
import time
from collections.abc import Sequence

from actors.evaluator import PolicyDriver, evaluate
from actors.messages import Assignment
from actors.training import Training
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import scenario_named

HELD_OUT_EPISODES = 500
SEEDS = (0, 1, 2)
STEPS = (300_000, 1_000_000)


def train(seed: int, steps: Sequence[int]) -> list[dict[str, float]]:
    """Train once and return return, crash rate and seconds of training at each number of steps."""
    assignment = Assignment(
        candidate_id=f"native-{seed}",
        source=None,
        seed=seed,
        steps=max(steps),
        ppo=PPOSettings(),
        scenario=scenario_named("highway-fast-v0"),
        film=False,
    )
    results, trained_s = [], 0.0
    with Training(assignment) as training:
        for milestone in sorted(steps):
            started = time.perf_counter()
            while training.steps < milestone:
                training.advance()
            trained_s += time.perf_counter() - started
            metrics, _ = evaluate(PolicyDriver(training.policy()), assignment.scenario, HELD_OUT_EPISODES)
            results.append(
                {"return": metrics["native_return"], "crash_rate": metrics["crash_rate"], "seconds": trained_s}
            )
            print(
                f"seed {seed}, {training.steps:9,} steps: return {metrics['native_return']:.2f}, "
                f"crashes {metrics['crash_rate']:.1%}, {trained_s:.1f} s",
                flush=True,
            )
    return results


def measure(seeds: Sequence[int] = SEEDS, steps: Sequence[int] = STEPS) -> dict[str, dict[str, float | str]]:
    """Return name -> {median, low, high, unit} over the training seeds."""
    runs = [train(seed, steps) for seed in seeds]
    units = {"return": "native return", "crash_rate": "share of episodes", "seconds": "s"}
    figures: dict[str, dict[str, float | str]] = {}
    for index, milestone in enumerate(sorted(steps)):
        for quantity, unit in units.items():
            values = [run[index][quantity] for run in runs]
            figures[f"native_ppo_{quantity}_{milestone // 1000}k"] = {
                "median": statistics.median(values),
                "low": min(values),
                "high": max(values),
                "mean": statistics.fmean(values),
                "unit": unit,
            }
    return figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--steps", type=int, nargs="+", default=STEPS)
    arguments = parser.parse_args()
    for name, figure in measure(arguments.seeds, arguments.steps).items():
        print(
            f"{name:32} mean {figure['mean']:8.3f}  median {figure['median']:8.3f}  "
            f"[{figure['low']:.3f}, {figure['high']:.3f}] {figure['unit']}"
        )


if __name__ == "__main__":
    main()
