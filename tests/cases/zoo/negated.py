# highway-env's own reward with the wrong sign.
def compute_reward(state):
    speed = -0.4 * clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    right = -0.1 * (1.0 - state["lane"] / max(state["lanes_count"] - 1.0, 1.0))
    crash = 1.0 * state["collided"]
    return speed + right + crash, {"speed": speed, "right": right, "crash": crash}
