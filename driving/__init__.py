"""The road: simulator kernel, environments, measures, baseline drivers, film.

Knows nothing of learning, clusters or language models.

| file | holds |
|---|---|
| `kernel/` | compiled physics, bitwise equal to highway-env 1.12.1, and the reward machine |
| `vector_env.py` | the batched environment over the kernel |
| `reference.py` | the same interface over highway-env itself |
| `upstream.py` | highway-env's own vehicles as the kernel's arrays, and back |
| `reward_state.py` | what a reward program sees |
| `measures.py` | what the simulator measures |
| `drivers.py` | baseline drivers |
| `renderer.py` | highway-env's renderer, drawing the kernel's states |
| `film.py` | films and contact sheets as mp4 |
"""
