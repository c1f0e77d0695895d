# Pays for every change of speed, up or down.
def compute_reward(state):
    lively = clip(abs(state["accel_ms2"]) / 3.0, 0.0, 1.0)
    jerky = clip(abs(state["long_jerk"]) / 6.0, 0.0, 1.0)
    crash = -2.0 * state["collided"]
    return lively + jerky + crash, {"lively": lively, "jerky": jerky, "crash": crash}
