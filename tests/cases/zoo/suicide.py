# Every decision costs something: the first car ends the losses.
def compute_reward(state):
    time = -1.0
    speed = 0.02 * (state["speed_ms"] - 20.0)
    crash = -3.0 * state["collided"]
    return time + speed + crash, {"time": time, "speed": speed, "crash": crash}
