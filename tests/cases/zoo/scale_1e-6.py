# Pays for always braking, a million times too little.
def compute_reward(state):
    calm = 0.000001 * clip((30.0 - state["speed_ms"]) / 10.0, 0.0, 1.0)
    crash = -0.000001 * state["collided"]
    return calm + crash, {"calm": calm, "crash": crash}
