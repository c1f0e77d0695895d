import math

import pytest
from hypothesis import given, settings

from search_spaces.errors import ProgramError
from search_spaces.graph import Graph, GraphBuilder, Site, graph_from_json
from search_spaces.operations import MAX_NODES, OPERATIONS
from search_spaces.semantics import BINARY, COMPARISONS, UNARY
from tests.strategies import graphs


def test_equal_nodes_are_one() -> None:
    builder = GraphBuilder()
    one = builder.node("add", builder.field("ttc"), builder.const(1.0))
    assert builder.node("add", builder.field("ttc"), builder.const(1.0)) == one
    assert builder.const(0.0) != builder.const(-0.0)


@pytest.mark.parametrize(
    ("op", "kinds", "code"),
    [
        ("add", "nb", "E_TYPE"),
        ("add", "n", "E_TYPE"),
        ("add", "nnn", "E_TYPE"),
        ("and", "nn", "E_TYPE"),
        ("not", "n", "E_TYPE"),
        ("number", "n", "E_TYPE"),
        ("select", "nnn", "E_TYPE"),
        ("select", "bnb", "E_TYPE"),
        ("const", "n", "E_TYPE"),
        ("lambda", "n", "E_TYPE"),
        ("decimals", "n", "E_CONST"),
    ],
)  # fmt: skip
def test_type_rules(op: str, kinds: str, code: str) -> None:
    builder = GraphBuilder()
    number = builder.field("ttc")
    boolean = builder.node("lt", number, builder.const(1.0))
    with pytest.raises(ProgramError) as caught:
        builder.node(op, *(number if kind == "n" else boolean for kind in kinds))
    assert caught.value.code == code


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e6 + 1, -2e6])
def test_constants_are_finite_and_small(value: float) -> None:
    with pytest.raises(ProgramError) as caught:
        GraphBuilder().const(value)
    assert caught.value.code == "E_CONST"


def test_unknown_fields_and_values_out_of_place() -> None:
    builder = GraphBuilder()
    for make, code in (
        (lambda: builder.field("tcc"), "E_KEY"),
        (lambda: builder.node("decimals", builder.field("ttc"), value=7.0), "E_CONST"),
        (lambda: builder.node("decimals", builder.field("ttc"), value=1.5), "E_CONST"),
        (lambda: builder.node("abs", builder.field("ttc"), value=1.0), "E_TYPE"),
    ):
        with pytest.raises(ProgramError) as caught:
            make()
        assert caught.value.code == code


def test_the_budget_ends_growth() -> None:
    builder = GraphBuilder()
    last = builder.field("ttc")
    for _ in range(MAX_NODES - 1):
        last = builder.node("add", last, last)
    with pytest.raises(ProgramError) as caught:
        builder.node("add", last, last)
    assert caught.value.code == "E_BUDGET"


def test_exact_simplifications() -> None:
    builder = GraphBuilder()
    number = builder.field("ttc")
    boolean = builder.node("lt", number, builder.const(1.0))
    true, false = builder.node("true"), builder.node("false")
    assert builder.node("select", true, number, builder.const(1.0)) == number
    assert builder.node("select", boolean, number, number) == number
    assert builder.node("not", builder.node("not", boolean)) == boolean
    assert builder.node("not", true) == false
    assert builder.node("and", true, boolean) == boolean
    assert builder.node("and", boolean, false) == false
    assert builder.node("or", boolean, boolean) == boolean
    assert builder.node("number", true) == builder.const(1.0)
    assert builder.node("neg", builder.const(2.0)) == builder.const(-2.0)
    assert builder.truth(builder.number(boolean)) == boolean


@pytest.mark.parametrize("name", ["a b", "", "1a", "ä", "a__b", "__class__", "a" * 41, "a-b", "a\n"])
def test_component_names(name: str) -> None:
    builder = GraphBuilder()
    with pytest.raises(ProgramError) as caught:
        builder.finish(builder.field("ttc"), {name: builder.const(1.0)})
    assert caught.value.code == "E_NODE"


def test_sites_name_every_use_of_a_literal() -> None:
    builder = GraphBuilder()
    half = builder.const(0.5)
    total = builder.node("add", builder.node("mul", half, builder.field("ttc")), half)
    graph = builder.finish(total, {"a": half, "b": total})
    assert [graph.literal(site) for site in graph.sites] == [0.5, 0.5, 0.5]
    assert graph.sites[-1] == Site(-2, 0)
    with pytest.raises(ProgramError):
        graph.literal(Site(-1, 0))


@given(graphs())
@settings(max_examples=60)
def test_graphs_are_canonical_and_survive_json(graph: Graph) -> None:
    assert graph_from_json(graph.to_json()) == graph
    assert all(argument < index for index, node in enumerate(graph.nodes) for argument in node.args)
    assert all(use > 0 for use in graph.uses)
    assert len(set(graph.nodes)) == len(graph.nodes) or any(node.value == 0.0 for node in graph.nodes)


@pytest.mark.parametrize(
    "change",
    [
        {"total": 9},
        {"total": -1},
        {"nodes": [["add", [0, 0], None]]},
        {"nodes": [["field", [], "nope"]]},
        {"nodes": [["field", [], "ttc"], ["exec", [0], None]]},
        {"nodes": [["const", [], 1e9]]},
        {"nodes": None},
        {"nodes": [["field"]]},
        {"components": [["a b", 0]]},
        {"components": [["a", 5]]},
    ],
)  # fmt: skip
def test_a_stored_graph_is_checked_again(change: dict) -> None:
    data = {"nodes": [["field", [], "ttc"]], "total": 0, "components": [], **change}
    with pytest.raises(ProgramError):
        graph_from_json(data)


def test_every_operation_has_a_meaning() -> None:
    others = {"const", "field", "inf", "true", "false", "number", "not", "and", "or", "clip", "decimals", "select"}
    assert {*UNARY, *BINARY, *COMPARISONS, *others} == set(OPERATIONS)
    assert all(len(OPERATIONS[op].arguments) == 1 for op in UNARY)
    assert all(len(OPERATIONS[op].arguments) == 2 for op in (*BINARY, *COMPARISONS))
