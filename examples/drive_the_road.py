"""Drive 64 highways at once, read what a reward would see, and measure a baseline driver.

Run: python examples/drive_the_road.py
"""

import numpy as np

from actors.evaluator import evaluate
from actors.fitness import fitness
from driving.drivers import driver_named
from driving.vector_env import HighwayVectorEnv
from search_spaces.scenarios import scenario_named
from search_spaces.state import FIELD_INDEX


def main() -> None:
    """Step random actions, then measure braking and IDM with lane changes."""
    scenario = scenario_named("highway-fast-v0")
    env = HighwayVectorEnv(64, scenario)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    crashes = 0
    for _ in range(100):
        _, _, terminated, _, _ = env.step(rng.integers(0, 5, 64))
        crashes += int(terminated.sum())
    speed = env.states[:, FIELD_INDEX["speed_ms"]].mean()
    print(f"random driving: {crashes} crashes in 6 400 decisions, {speed:.1f} m/s at the end")
    for name in ("slower", "mobil"):
        metrics, _ = evaluate(driver_named(name), scenario, 200)
        judged = fitness(metrics)
        value = "not measurable" if judged is None else f"{judged.value:.3f}"
        print(f"{name}: fitness {value}, {metrics['speed_ms']:.1f} m/s, {100 * metrics['crash_rate']:.0f} % crashes")


if __name__ == "__main__":
    main()
