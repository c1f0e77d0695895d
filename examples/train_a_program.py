"""Train, measure and judge one reward program, without Tune, coordinator or run folder.

Run: python examples/train_a_program.py [STEPS]
"""

import sys

from actors.fitness import fitness
from actors.messages import Assignment
from actors.policy import Policy
from actors.trainer import train_candidate
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import scenario_named

TEXT = """
def compute_reward(state):
    progress = state["speed_ms"] / 30.0
    crash = -3.0 if state["collided"] else 0.0
    return progress + crash, {"progress": progress, "crash": crash}
"""


def main(steps: int) -> None:
    """Train for `steps` decisions and say what came of it."""
    assignment = Assignment(
        candidate_id="mine",
        source=TEXT,
        seed=1,
        steps=steps,
        ppo=PPOSettings(),
        scenario=scenario_named("highway-fast-v0"),
        film=False,
    )
    delivery = train_candidate(assignment)
    outcome = delivery.outcome
    print(f"{outcome.status} on {outcome.env_steps} steps")
    judged = fitness(outcome.metrics)
    if judged is not None and delivery.policy is not None:
        policy = Policy.from_bytes(delivery.policy)
        print(f"fitness {judged.value:.3f}, crash rate {outcome.metrics['crash_rate']:.3f}")
        print("layers", [weights.shape for weights in policy.weights])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
