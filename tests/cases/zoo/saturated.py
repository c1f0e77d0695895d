# Reaches its ceiling at any speed that the car can drive: there is nothing left to gain.
def compute_reward(state):
    speed = clip(state["speed_ms"] / 15.0, 0.0, 1.0)
    safe = 1.0 if state["front_dist"] >= 0.0 else 0.0
    crash = -1.0 * state["collided"]
    return speed + safe + crash, {"speed": speed, "safe": safe, "crash": crash}
