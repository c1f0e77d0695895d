# The same everywhere: nothing can be learned.
def compute_reward(state):
    base = 1.0
    return base, {"base": base}
