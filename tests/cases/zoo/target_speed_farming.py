# Pays for the speed that is asked for, not for the one that is driven, and nothing for staying alive.
def compute_reward(state):
    wish = clip((state["target_speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    crash = -0.5 * state["collided"]
    return wish + crash, {"wish": wish, "crash": crash}
