"""What may be searched: the reward language, the state it reads, program edits, PPO settings, scenarios.

Imports nothing heavier than numpy and nothing of the other packages.

| file | holds |
|---|---|
| `errors.py` | the error tree |
| `state.py` | the table of state fields |
| `language.py` | source text to typed program: the way through the next nine |
| `limits.py`, `allowlist.py` | what a text must be before it is parsed; which syntax exists |
| `statements.py`, `calls.py`, `expressions.py` | syntax to graph |
| `functions.py`, `symbols.py` | the table of functions; operators and keys |
| `arithmetic.py`, `values.py` | Python's numbers in terms of the graph; what a variable can hold at compile time |
| `operations.py`, `graph.py` | the table of operations; the typed, hash-consed graph of a program and its builder |
| `program.py` | the program: components, constants, reference evaluator; error codes |
| `semantics.py`, `printing.py`, `digest.py` | what each operation computes; canonical text; identity of a program |
| `edits.py`, `parts.py` | mutation, crossover and perturbation of programs; a program as a sum of named parts |
| `components.py`, `starting_programs.py` | what edits add; what a search starts from |
| `random_programs.py`, `hand_tuned.py` | random legal programs; the reward that a practitioner would write |
| `ablation.py`, `naming.py` | a program without one of its components; component names without prose |
| `ppo.py`, `scenarios.py` | training settings; roads and seed sets |
"""
