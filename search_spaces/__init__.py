"""What may be searched: the reward language, the state it reads, program edits, PPO settings, scenarios.

Imports nothing heavier than numpy and nothing of the other packages.

| file | holds |
|---|---|
| `errors.py` | the error tree |
| `state.py` | the table of state fields |
| `language.py` | source text to typed program |
| `program.py` | the program: digest, components, canonical text, constants, reference evaluator |
| `edits.py` | mutation, crossover and perturbation of programs |
| `ppo.py`, `scenarios.py` | training settings; roads and seed sets |
"""
