"""A reward program is data: compile it, read it, evaluate it, print it in canonical form.

Run: python examples/check_a_program.py
"""

from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.state import STANDARD_STATE

TEXT = """
def closeness(distance, scale):
    return max(0.0, 1.0 - distance / scale)

def compute_reward(state):
    progress = state["speed_ms"] / 30.0
    caution = -0.5 * closeness(state["front_dist"], 25.0)
    if state["collided"]:
        return -3.0
    return progress + caution, {"progress": progress, "caution": caution}
"""

MISSPELT = 'def compute_reward(state):\n    return 1.0 if state["overtake"] else 0.0\n'


def main() -> None:
    """Show an accepted program and a refused one."""
    program = compile_program(TEXT)
    assert isinstance(program, RewardProgram), program
    print(f"digest {program.digest}, reads {', '.join(sorted(program.fields))}")
    print(program.source)
    evaluation = program.evaluate(STANDARD_STATE)
    print(f"on the standard state: {evaluation.total:.3f}", dict(evaluation.components))
    print("refused:", compile_program(MISSPELT))


if __name__ == "__main__":
    main()
