# Pays for overtaking without charging for being overtaken, and for staying slow: fall back and pass again.
def compute_reward(state):
    overtake = 2.0 * state["overtook"]
    fall_back = 1.0 * state["was_overtaken"]
    slow = 0.3 * clip((25.0 - state["speed_ms"]) / 5.0, 0.0, 1.0)
    crash = -1.0 * state["collided"]
    return overtake + fall_back + slow + crash, {
        "overtake": overtake,
        "fall_back": fall_back,
        "slow": slow,
        "crash": crash,
    }
