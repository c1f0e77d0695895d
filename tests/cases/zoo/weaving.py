# Pays for every lane change, wherever it leads.
def compute_reward(state):
    agile = 1.0 * state["lane_changed"]
    speed = 0.1 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    crash = -2.0 * state["collided"]
    return agile + speed + crash, {"agile": agile, "speed": speed, "crash": crash}
