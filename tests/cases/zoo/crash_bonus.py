# Pays for the crash itself, more than the rest of the episode is worth.
def compute_reward(state):
    progress = state["speed_ms"] / 30.0
    impact = 20.0 * state["collided"]
    return progress + impact, {"progress": progress, "impact": impact}
