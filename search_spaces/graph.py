"""The typed, hash-consed graph that every reward program is.

A node is an operation, the indexes of its arguments (always smaller than its own) and, for three operations, a value.
Equal nodes are one node. Whatever builds a graph (the compiler, an edit, a reader of stored graphs) goes through
`GraphBuilder`, which holds the type rules and the limits; so every graph is legal.

    builder = GraphBuilder()
    speed = builder.node("div", builder.field("speed_ms"), builder.const(30.0))
    graph = builder.finish(speed, {"speed": speed})
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from search_spaces.errors import ProgramError
from search_spaces.operations import (
    MAX_COMPONENTS,
    MAX_NODES,
    OPERATIONS,
    Kind,
    check_component_name,
    check_value,
)


class Node(NamedTuple):
    """An operation, the indexes of its arguments and, for `const`, `field` and `decimals`, a value."""

    op: str
    args: tuple[int, ...] = ()
    value: float | str | None = None


class Site(NamedTuple):
    """One literal of a graph: where a `const` node is used.

    Attributes:
        user: Index of the node that uses it; -1 when it is the total; -2 - k when it is component k.
        position: Which argument of that node; else 0.
    """

    user: int
    position: int


@dataclass(frozen=True)
class Graph:
    """A finished program: live nodes only, arguments before users.

    Attributes:
        nodes: The nodes.
        total: Index of the reward, a number.
        components: Names and indexes of the named parts, numbers, in the author's order.
    """

    nodes: tuple[Node, ...]
    total: int
    components: tuple[tuple[str, int], ...] = ()

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Type of each node."""
        kinds: list[Kind] = []
        for node in self.nodes:
            kinds.append(kinds[node.args[1]] if node.op == "select" else OPERATIONS[node.op].result)
        return tuple(kinds)

    @cached_property
    def uses(self) -> tuple[int, ...]:
        """How often each node is used, as an argument, as the total or as a component."""
        counts = [0] * len(self.nodes)
        for node in self.nodes:
            for argument in node.args:
                counts[argument] += 1
        for root in self.roots:
            counts[root] += 1
        return tuple(counts)

    @property
    def roots(self) -> tuple[int, ...]:
        """The total and the components."""
        return (self.total, *(index for _, index in self.components))

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every literal, in the order of the nodes, then the total, then the components."""
        found = [
            Site(user, position)
            for user, node in enumerate(self.nodes)
            for position, argument in enumerate(node.args)
            if self.nodes[argument].op == "const"
        ]
        found += [Site(-1 - k, 0) for k, root in enumerate(self.roots) if self.nodes[root].op == "const"]
        return tuple(found)

    def literal(self, site: Site) -> float:
        """Return the number at `site`.

        Raises:
            ProgramError: `E_TYPE` when `site` is not one of this graph's `sites`.
        """
        index = self.nodes[site.user].args[site.position] if site.user >= 0 else self.roots[-1 - site.user]
        value = self.nodes[index].value
        if not isinstance(value, float):
            raise ProgramError("E_TYPE", f"{site} is no literal of this graph")
        return value

    def to_json(self) -> dict[str, Any]:
        """Return the graph as a JSON object; numbers survive bit by bit."""
        return {
            "nodes": [[node.op, list(node.args), node.value] for node in self.nodes],
            "total": self.total,
            "components": [[name, index] for name, index in self.components],
        }


def graph_from_json(data: Mapping[str, Any]) -> Graph:
    """Build a graph from what `Graph.to_json` returned, checking every rule again.

    Raises:
        ProgramError: The object is not a legal graph.
    """
    try:
        nodes = [Node(str(op), tuple(int(each) for each in args), value) for op, args, value in data["nodes"]]
        total, components = int(data["total"]), {str(name): int(index) for name, index in data["components"]}
    except (KeyError, TypeError, ValueError) as error:
        raise ProgramError("E_STRUCTURE", f"a stored graph needs nodes, total and components: {error!r}") from error
    builder = GraphBuilder()
    places = builder.include(nodes)
    if not all(0 <= index < len(places) for index in (total, *components.values())):
        raise ProgramError("E_STRUCTURE", "a stored graph names a node that it does not have")
    return builder.finish(places[total], {name: places[index] for name, index in components.items()})


class GraphBuilder:
    """Builds one graph; holds the type rules, the budget and the exact simplifications.

    Only simplifications that change no bit of any result are made: constant conditions, equal branches, double
    negation of a boolean, a minus sign before a literal.

    Args:
        budget: Most nodes that may be created.
    """

    def __init__(self, budget: int = MAX_NODES) -> None:
        self.nodes: list[Node] = []
        self.kinds: list[Kind] = []
        self._index: dict[tuple[str, tuple[int, ...], str | None], int] = {}
        self._budget = budget

    def const(self, value: float) -> int:
        """Return the node of a literal.

        Raises:
            ProgramError: `E_CONST` when it is not finite or larger than 1e6 in size; `E_BUDGET`.
        """
        return self._store("const", (), float(value), "number")

    def field(self, name: str) -> int:
        """Return the node of a state field.

        Raises:
            ProgramError: `E_KEY` when there is no such field; `E_BUDGET`.
        """
        return self._store("field", (), name, "number")

    def node(self, op: str, *args: int, value: float | str | None = None) -> int:
        """Return the node of `op` on `args`, simplified where that is exact.

        Args:
            op: A key of `OPERATIONS`.
            args: Indexes that this builder returned.
            value: For `const`, `field` and `decimals`.

        Raises:
            ProgramError: `E_TYPE` for an unknown operation, a wrong number of arguments or an argument of the wrong
                type; `E_CONST`, `E_KEY` for an illegal value; `E_BUDGET` when the graph is full.
        """
        kind = self._checked_kind(op, args)
        simple = self._simplified(op, args)
        return self._store(op, args, value, kind) if simple is None else simple

    def number(self, index: int) -> int:
        """Return `index` as a number: itself, or 1 for true and 0 for false."""
        return index if self.kinds[index] == "number" else self.node("number", index)

    def truth(self, index: int) -> int:
        """Return `index` as a boolean: itself, or whether it differs from 0 (true for NaN)."""
        if self.kinds[index] == "bool":
            return index
        node = self.nodes[index]
        return node.args[0] if node.op == "number" else self.node("ne", index, self.const(0.0))

    def select(self, condition: int, chosen: int, other: int) -> int:
        """Return `chosen` where `condition` holds and `other` elsewhere; a boolean beside a number becomes one."""
        if self.kinds[chosen] != self.kinds[other]:
            chosen, other = self.number(chosen), self.number(other)
        return self.node("select", condition, chosen, other)

    def include(self, nodes: Sequence[Node]) -> list[int]:
        """Add the nodes of another graph; return where each of them is here.

        Raises:
            ProgramError: As `node`; `E_STRUCTURE` when an argument does not come before its user.
        """
        places: list[int] = []
        for node in nodes:
            if not all(0 <= each < len(places) for each in node.args):
                raise ProgramError("E_STRUCTURE", f"an argument of {node.op!a} does not come before it")
            places.append(self.node(node.op, *(places[each] for each in node.args), value=node.value))
        return places

    def finish(self, total: int, components: Mapping[str, int]) -> Graph:
        """Return the graph of what `total` and `components` need, in a canonical order.

        Raises:
            ProgramError: `E_NODE` for a component name that is not an ASCII identifier of at most 40 characters
                without a double underscore; `E_SIZE` for more than 16 components; `E_BUDGET`.
        """
        if len(components) > MAX_COMPONENTS:
            raise ProgramError("E_SIZE", f"{len(components)} components; at most {MAX_COMPONENTS} are allowed")
        for name in components:
            check_component_name(name)
        roots = [self.number(total), *(self.number(index) for index in components.values())]
        order = self._reachable(roots)
        places = {old: new for new, old in enumerate(order)}
        nodes = tuple(
            Node(self.nodes[old].op, tuple(places[each] for each in self.nodes[old].args), self.nodes[old].value)
            for old in order
        )
        named = tuple((name, places[root]) for name, root in zip(components, roots[1:], strict=True))
        return Graph(nodes, places[roots[0]], named)

    def _reachable(self, roots: Sequence[int]) -> list[int]:
        order: list[int] = []
        seen: set[int] = set()
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            index, ready = stack.pop()
            if ready:
                order.append(index)
            elif index not in seen:
                seen.add(index)
                stack.append((index, True))
                stack.extend((each, False) for each in reversed(self.nodes[index].args) if each not in seen)
        return order

    def _simplified(self, op: str, args: tuple[int, ...]) -> int | None:
        first = self.nodes[args[0]] if args else Node("")
        constant = first.op if first.op in ("true", "false") else ""
        if op == "neg" and isinstance(first.value, float) and first.op == "const":
            return self.const(-first.value)
        if op == "number" and constant:
            return self.const(1.0 if constant == "true" else 0.0)
        if op == "not" and first.op == "not":
            return first.args[0]
        if op == "not" and constant:
            return self.node("false" if constant == "true" else "true")
        if op in ("and", "or"):
            return self._simplified_logic("true" if op == "and" else "false", args)
        if op == "select" and constant:
            return args[1] if constant == "true" else args[2]
        return args[1] if op == "select" and args[1] == args[2] else None

    def _simplified_logic(self, neutral: str, args: tuple[int, ...]) -> int | None:
        for one, other in (args, args[::-1]):
            if self.nodes[one].op in ("true", "false"):
                return other if self.nodes[one].op == neutral else one
        return args[0] if args[0] == args[1] else None

    def _store(self, op: str, args: tuple[int, ...], value: float | str | None, kind: Kind) -> int:
        key = (op, args, None if value is None else repr(value))
        if key in self._index:
            return self._index[key]
        check_value(op, value)
        if len(self.nodes) >= self._budget:
            raise ProgramError(
                "E_BUDGET",
                f"more than {self._budget} operations after inlining",
                hint="Shorten the program: fewer terms, fewer calls of helpers.",
            )
        self._index[key] = len(self.nodes)
        self.nodes.append(Node(op, args, value))
        self.kinds.append(kind)
        return self._index[key]

    def _checked_kind(self, op: str, args: tuple[int, ...]) -> Kind:
        operation = OPERATIONS.get(op)
        if operation is None:
            raise ProgramError("E_TYPE", f"unknown operation {op[:40]!a}")
        found = tuple(self.kinds[each] for each in args)
        if op == "select" and len(found) == 3 and found[0] == "bool" and found[1] == found[2]:
            return found[1]
        if found != operation.arguments:
            expected = ", ".join(operation.arguments) or "nothing"
            raise ProgramError("E_TYPE", f"{op} takes {expected}, not {', '.join(found) or 'nothing'}")
        return operation.result
