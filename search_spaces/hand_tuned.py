"""The reward that a practitioner would write by hand: what a search has to beat to be worth its time.

Speed is paid; time to collision and headway, the two measures of traffic safety that textbooks begin with, are charged
below a threshold each; a crash costs the pay of several seconds. It is a baseline (`ppo-hand-tuned`) and never an
ancestor: neither it nor what one edit makes of it is among `starting_programs.STARTING_PROGRAMS`.
"""

HAND_TUNED = """\
def compute_reward(state):
    alive = 0.2
    speed = clip((state["speed_ms"] - 20.0) / 10.0, 0.0, 1.0)
    ttc = -1.0 if state["ttc"] < 3.0 else 0.0
    headway = -0.5 if state["time_headway"] < 0.7 else 0.0
    crash = -5.0 * state["collided"]
    total = alive + speed + ttc + headway + crash
    return total, {"alive": alive, "speed": speed, "ttc": ttc, "headway": headway, "crash": crash}
"""
"""Text of the program; its numbers were set by hand. Each search that measures baselines shows what it is worth."""
