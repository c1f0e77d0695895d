# Pays for the beginning of a lane change: ask for a lane, take it back, ask again.
def compute_reward(state):
    sway = clip(abs(state["lateral_offset"]) / 1.5, 0.0, 1.0)
    swing = clip(abs(state["lat_jerk"]) / 10.0, 0.0, 1.0)
    crash = -2.0 * state["collided"]
    return sway + swing + crash, {"sway": sway, "swing": swing, "crash": crash}
