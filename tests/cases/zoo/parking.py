# Pays for every decision survived: braking for ever is the best that can be done.
def compute_reward(state):
    alive = 1.0
    crash = -5.0 * state["collided"]
    return alive + crash, {"alive": alive, "crash": crash}
