"""A program without one of its components: what is left shows, once trained, what the component was worth."""

from search_spaces.errors import ProgramError
from search_spaces.graph import Graph
from search_spaces.parts import ONE, Part, factored, split
from search_spaces.program import RewardProgram


def without_component(program: RewardProgram, name: str) -> RewardProgram | str:
    """Drop one component from the total and from the returned components; all else stays as it is.

    Args:
        program: The program.
        name: One of `program.component_names`.

    Returns:
        The program that is left, or in one sentence why there is none.

    Raises:
        ValueError: The program has no such component.
    """
    roots = dict(program.graph.components)
    if name not in roots:
        raise ValueError(f"expected one of {', '.join(roots)}, got {name!r}")
    whole = split(program.graph)
    dropped = _summands(program.graph, roots[name], name, whole.parts)
    if not dropped:
        return f"{name} is no summand of the total, so that it cannot be taken out of it"
    left = [part for part in whole.parts if part not in dropped]
    graph = whole.join(left)
    if graph is None:
        return f"nothing is left without {name}"
    try:
        return RewardProgram(graph)
    except ProgramError as error:
        return f"without {name} the program is refused: {error}"


def _summands(graph: Graph, root: int, name: str, parts: tuple[Part, ...]) -> list[Part]:
    """Return the parts that are a component: by its name, else by what it computes, times any constant."""
    named = [part for part in parts if part.name == name]
    if named:
        return named
    _, body = factored(graph, root)
    return [] if body == ONE else [part for part in parts if part.body == body]
