# The crash penalty looks severe and is clipped away.
def compute_reward(state):
    speed = clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    crash = -100.0 * state["collided"]
    return max(speed + crash, 0.0), {"speed": speed, "crash": crash}
