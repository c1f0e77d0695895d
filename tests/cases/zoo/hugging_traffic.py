# Pays for company: look for a crowd and stay in it.
def compute_reward(state):
    company = clip(state["nearby_vehicles"] / 6.0, 0.0, 1.0)
    behind = clip(1.0 - state["rear_dist"] / 40.0, 0.0, 1.0)
    crash = -3.0 * state["collided"]
    return company + behind + crash, {"company": company, "behind": behind, "crash": crash}
