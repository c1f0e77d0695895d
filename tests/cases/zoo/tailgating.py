# Pays for staying just outside a gap that counts as dangerous.
def compute_reward(state):
    close = 1.0 if 4.0 < state["front_dist"] < 14.0 else 0.0
    approach = clip(1.0 - state["front_dist"] / 60.0, 0.0, 1.0)
    crash = -2.0 * state["collided"]
    return close + approach + crash, {"close": close, "approach": approach, "crash": crash}
