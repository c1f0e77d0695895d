"""Component names without prose: what is left of a program's words when its author is not trusted.

The canonical text of a program holds no word of its author but the names of its components, and a name of forty
letters is long enough for a sentence that a language model would read.
"""

from collections.abc import Mapping

from search_spaces.components import COMPONENTS, CONDITIONS, CRASH
from search_spaces.graph import Graph
from search_spaces.parts import unused_name
from search_spaces.program import RewardProgram
from search_spaces.state import FIELDS

_NAMES = [CRASH.name, *(each.name for each in COMPONENTS), *(each.name for each in CONDITIONS)]
_NAMES += [field.name for field in FIELDS]
_WORDS = frozenset(word for name in _NAMES for word in name.split("_")) | {
    "comfort",
    "efficiency",
    "headway",
    "penalty",
    "reward",
    "safety",
    "times",
    "when",
}
"""Words of the project's own vocabulary, of the fields of the state, and a few that rewards are usually made of."""
_LONGEST = 8
"""Words of a name at most."""


def plainly_named(program: RewardProgram) -> RewardProgram:
    """Return the program with every component renamed whose name is not made of known words and numbers.

    Raises:
        ProgramError: `E_BUDGET`: with the new names the text would exceed the limits of the language.
    """
    renamed = _renamed(program.component_names)
    if all(name == new for name, new in renamed.items()):
        return program
    graph = program.graph
    components = tuple((renamed[name], index) for name, index in graph.components)
    return RewardProgram(Graph(graph.nodes, graph.total, components))


def _renamed(names: tuple[str, ...]) -> Mapping[str, str]:
    taken = {name for name in names if _plain(name)}
    renamed = {name: name for name in taken}
    for name in names:
        if name not in renamed:
            renamed[name] = unused_name("part", taken)
            taken.add(renamed[name])
    return renamed


def _plain(name: str) -> bool:
    words = name.split("_")
    return len(words) <= _LONGEST and all(word in _WORDS or (word.isdigit() and len(word) <= 2) for word in words)
