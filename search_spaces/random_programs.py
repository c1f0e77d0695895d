"""Random legal programs: the control of a search that learns nothing.

They are sums of the same parts that the move "add" draws from, so that a search and its control differ in what they
know of outcomes and not in the words they can say.
"""

import numpy as np

from search_spaces.edits import drawn_part
from search_spaces.errors import ProgramError
from search_spaces.parts import ONE, Part, Split
from search_spaces.program import RewardProgram

FEWEST, MOST = 2, 6
"""Parts of a random program: as many as programs had that drove well after a search."""


def random_program(rng: np.random.Generator) -> RewardProgram:
    """Return a random sum of `FEWEST` to `MOST` parts; every number of parts is equally likely.

    Raises:
        ProgramError: The vocabulary is no legal program.
    """
    count = int(rng.integers(FEWEST, MOST + 1))
    parts: dict[str, Part] = {}
    while len(parts) < count:
        part = drawn_part(rng)
        parts.setdefault(part.name, part)
    graph = Split(ONE, ()).join(list(parts.values()))
    if graph is None:
        raise ProgramError("E_BUDGET", f"{count} parts of the vocabulary do not fit into one program")
    return RewardProgram(graph)
