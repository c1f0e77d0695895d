# The safety term looks at a situation that cannot occur; only speed is left.
def compute_reward(state):
    speed = clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    safety = -10.0 if state["ttc"] < 0.0 else 0.0
    headway = -5.0 if state["time_headway"] > 40.0 else 0.0
    return speed + safety + headway, {"speed": speed, "safety": safety, "headway": headway}
