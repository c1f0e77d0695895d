# A speed reward a million times too large, whose crash term vanishes beside it.
def compute_reward(state):
    speed = 1000000.0 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    crash = -1.0 * state["collided"]
    return speed + crash, {"speed": speed, "crash": crash}
