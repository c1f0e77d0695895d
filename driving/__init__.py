"""The road: simulator kernel, environments, measures, baseline drivers, film.

Knows nothing of learning, clusters or language models.

| file | holds |
|---|---|
| `kernel/` | compiled physics, bitwise equal to highway-env 1.12.1, and the reward machine |
| `vector_env.py` | the batched environment over the kernel |
| `reference.py` | the same interface over highway-env itself |
| `upstream.py` | highway-env's own vehicles as the kernel's arrays, and back |
| `reward_state.py` | what a reward program sees |
| `measures.py`, `episodes.py` | what the simulator measures; single episodes as a file |
| `trajectory.py` | what the ego did, frame by frame |
| `lampilot.py` | LaMPilot-Bench's scores, for comparison with work that reports them |
| `probe.py` | whether NumPy rounds here as the kernel does |
| `drivers.py` | baseline drivers |
| `renderer.py` | highway-env's renderer, drawing the kernel's states |
| `film.py`, `side_by_side.py` | films and contact sheets as mp4; several drivers in the same traffic |
"""
