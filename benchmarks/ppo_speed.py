"""Whole PPO training, side by side on one core: this project under Ray Tune against SB3 on highway-env.

Ours trains a reward program on highway-fast-v0 with the default settings, as a search does: through Tune, in one
reused worker, the reward computed on state arrays. The peer is Stable-Baselines3's PPO on highway-env's own
highway-fast-v0 with the settings that highway-env publishes for it (`scripts/sb3_highway_ppo.py`): six environments in
processes of their own, [256, 256] networks, batches of 768, minibatches of 64, ten epochs. Both are pinned to the same
core and both rates count environment steps per second of sampling and learning together.

    python -m benchmarks.ppo_speed
"""

import logging
import os
import statistics
import tempfile
import time

import ray
from ray import tune
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

from actors.messages import Assignment
from actors.outcome import Delivery
from actors.trainer import CandidateTrainer
from benchmarks.figures import Figures, figure, one_core, print_figures
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import scenario_named

REPEATS = 3
STEPS = 200_000
"""Steps of each of our trainings; a candidate of a search gets 300 000."""
PROGRAM = """
def compute_reward(state):
    progress = clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    caution = -0.5 * clip(1.0 - state["ttc"] / 4.0, 0.0, 1.0)
    overtaking = 0.2 * (state["overtook"] - state["was_overtaken"])
    weaving = -0.1 * state["lane_changed"]
    crash = -5.0 * state["collided"]
    parts = {"progress": progress, "caution": caution, "overtaking": overtaking, "weaving": weaving, "crash": crash}
    return progress + caution + overtaking + weaving + crash, parts
"""


class Desk:
    """Stands where a search has its coordinator: hands out assignments and keeps what is delivered."""

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}

    def assignment(self, candidate_id: str) -> Assignment:
        """Return the same training for every candidate but for its seed."""
        return Assignment(
            candidate_id=candidate_id,
            source=PROGRAM,
            seed=int(candidate_id.removeprefix("speed-")),
            steps=STEPS,
            ppo=PPOSettings(),
            scenario=scenario_named("highway-fast-v0"),
            held_out=1,
            film=False,
        )

    def training(self, candidate_id: str, steps: int, steps_per_s: float) -> None:
        """Take progress, which nobody looks at here."""

    def deliver(self, delivery: Delivery) -> None:
        """Keep the rate of a training; its one held-out episode costs milliseconds."""
        outcome = delivery.outcome
        if outcome.status != "trained":
            raise RuntimeError(f"{outcome.candidate_id} {outcome.status}: {outcome.reason}")
        self._rates[outcome.candidate_id] = outcome.env_steps / outcome.wall_s

    def rates(self) -> dict[str, float]:
        """Return steps per second by candidate."""
        return self._rates


def ours() -> list[float]:
    """Return steps per second of `REPEATS` trainings under Tune; one before them loads the compiled kernel."""
    # The variable keeps Tune from printing its table, the folder from growing in the home directory.
    os.environ["RAY_AIR_NEW_OUTPUT"] = "0"
    ray.init(
        address="local",
        num_cpus=1,
        include_dashboard=False,
        namespace="bench",
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    try:
        desk = ray.remote(Desk).options(name="desk", num_cpus=0).remote()
        names = [f"speed-{number}" for number in range(REPEATS + 1)]
        with tempfile.TemporaryDirectory() as folder:
            results = tune.Tuner(
                tune.with_resources(CandidateTrainer, {"cpu": 1}),
                param_space={"candidate": tune.grid_search(names), "coordinator": "desk", "namespace": "bench"},
                tune_config=tune.TuneConfig(reuse_actors=True, max_concurrent_trials=1),
                run_config=tune.RunConfig(
                    storage_path=folder, verbose=0, checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False)
                ),
            ).fit()
            if results.errors:
                raise RuntimeError(f"{results.num_errors} trainings failed: {results.errors[0]}")
        rates: dict[str, float] = ray.get(desk.rates.remote())
        return [rates[name] for name in names[1:]]
    finally:
        ray.shutdown()


def stable_baselines() -> list[float]:
    """Return steps per second of `REPEATS` batches of SB3's PPO, sampling and learning together."""
    minibatch, processes = 64, 6
    # The name brings its module, so that processes that know nothing of this one find the environment.
    env = make_vec_env("highway_env:highway-fast-v0", n_envs=processes, vec_env_cls=SubprocVecEnv, seed=0)
    try:
        model = PPO(
            "MlpPolicy",
            env,
            policy_kwargs={"net_arch": {"pi": [256, 256], "vf": [256, 256]}},
            n_steps=minibatch * 12 // processes,
            batch_size=minibatch,
            n_epochs=10,
            learning_rate=5e-4,
            gamma=0.8,
            device="cpu",
            seed=0,
        )
        batch = model.n_steps * processes
        rates = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            model.learn(batch, reset_num_timesteps=False)
            rates.append(batch / (time.perf_counter() - started))
        return rates
    finally:
        env.close()


def measure() -> Figures:
    """Return name -> {median, low, high, unit}; the process is pinned to one core meanwhile."""
    with one_core():
        mine, theirs = ours(), stable_baselines()
    ratio = {
        "median": statistics.median(mine) / statistics.median(theirs),
        "low": min(mine) / max(theirs),
        "high": max(mine) / min(theirs),
        "unit": "times",
    }
    return {
        "ppo_steps_per_s": figure(mine, "environment steps/s"),
        "sb3_ppo_steps_per_s": figure(theirs, "environment steps/s"),
        "ppo_vs_sb3": ratio,
    }


def main() -> None:
    """Print the figures."""
    print_figures(measure())


if __name__ == "__main__":
    main()
