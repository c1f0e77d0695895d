# Pays for the rightmost lane and for peace around the car: hide there and let everybody pass.
def compute_reward(state):
    right = 1.0 if state["lane"] < 0.5 else 0.2
    peace = clip(1.0 - state["nearby_vehicles"] / 8.0, 0.0, 1.0)
    slow = clip((25.0 - state["speed_ms"]) / 5.0, 0.0, 1.0)
    crash = -5.0 * state["collided"]
    return right + peace + slow + crash, {"right": right, "peace": peace, "slow": slow, "crash": crash}
