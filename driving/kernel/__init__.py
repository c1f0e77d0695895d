"""Compiled physics of highway-env's straight highway, one small file for each subject.

`layout.py` says where each quantity lives; `jit.py` is the one wrapper around numba. The physics reads in this order:
`math.py` (arithmetic that rounds as NumPy's), `vehicle.py` (one vehicle's steering and motion), `traffic.py`
(neighbours, IDM, MOBIL), `ego.py` (actions, control, native reward), `collisions.py`, `frame.py` (one physics frame),
`random.py` and `reset.py` (the start of an episode), `observation.py`.

What is made of the physics: `gaps.py` (distances and times to neighbours), `faults.py` (whose fault a collision is),
`records.py` (sums and histograms of an episode), `decision.py` (one decision of a whole batch). Rewards:
`reward_code.py` (a program as code), `reward_arithmetic.py` (what libm lacks), `reward_machine.py` (the interpreter).
"""
