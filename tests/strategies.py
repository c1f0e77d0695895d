"""Hypothesis strategies for the values that many tests need."""

from hypothesis import strategies as st

from search_spaces.errors import ProgramError
from search_spaces.graph import Graph, GraphBuilder
from search_spaces.operations import OPERATIONS
from search_spaces.program import RewardProgram
from search_spaces.state import FIELDS

NAMES = ("safety", "progress", "ttc", "total", "v1", "clip", "state", "lambda", "Lane_2", "speed_ms")

constants = st.one_of(
    st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 3.0, 1e6, 1e-9]),
    st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=True),
)


def states(*, absurd: bool = False) -> st.SearchStrategy[dict[str, float]]:
    """Return states inside the table's bounds; `absurd` ones hold any float64 at all."""
    bounded = {
        field.name: st.floats(field.low, field.high)
        if field.kind == "number"
        else st.integers(int(field.low), int(field.high)).map(float)
        for field in FIELDS
    }
    return st.fixed_dictionaries({field.name: st.floats() for field in FIELDS} if absurd else bounded)


@st.composite
def graphs(draw: st.DrawFn, most: int = 40) -> Graph:
    """Draw a legal graph of any operations, with up to four components."""
    builder = GraphBuilder()
    for name in draw(st.lists(st.sampled_from([field.name for field in FIELDS]), min_size=1, max_size=4)):
        builder.field(name)
    for value in draw(st.lists(constants, min_size=1, max_size=5)):
        builder.const(value)
    builder.node("lt", 0, len(builder.nodes) - 1)
    operations = sorted(op for op in OPERATIONS if op not in ("const", "field"))
    for op in draw(st.lists(st.sampled_from(operations), min_size=1, max_size=most)):
        _grow(draw, builder, op)
    numbers = [index for index, kind in enumerate(builder.kinds) if kind == "number"]
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    components = {name: draw(st.sampled_from(numbers)) for name in names}
    return builder.finish(draw(st.sampled_from(numbers[-5:])), components)


def _grow(draw: st.DrawFn, builder: GraphBuilder, op: str) -> None:
    wanted = list(OPERATIONS[op].arguments)
    if op == "select" and draw(st.booleans()):
        wanted = ["bool", "bool", "bool"]
    arguments = []
    for kind in wanted:
        offered = [index for index, found in enumerate(builder.kinds) if found == kind]
        # The later half is favoured, so that the graph grows deep and little of it is dead.
        start = draw(st.integers(0, len(offered) - 1))
        arguments.append(offered[draw(st.integers(start, len(offered) - 1))])
    builder.node(op, *arguments, value=float(draw(st.integers(0, 6))) if op == "decimals" else None)


@st.composite
def programs(draw: st.DrawFn, most: int = 40) -> RewardProgram:
    """Draw a legal program."""
    try:
        return RewardProgram(draw(graphs(most)))
    except ProgramError as error:
        raise AssertionError(f"a small legal graph must print: {error}") from error
