"""A program as a weighted sum of named parts: the view that edits work on.

    total = 0.4 * clip((speed - 20) / 10, 0, 1) - 3 * collided
    parts = speed: weight 0.4, clip((speed - 20) / 10, 0, 1);  crash: weight -3, collided

A sum inside a frame, such as `clip(a + b, -1, 1)` or `-10 if collided else a + b`, is opened too: the frame is kept and
its parts are edited. A program that is no sum has one part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search_spaces.graph import Graph, GraphBuilder, Node
from search_spaces.operations import MAX_COMPONENT_NAME, MAX_COMPONENTS, MAX_CONSTANT, MAX_NODES

ONE = Graph((Node("const", (), 1.0),), 0)
"""The body of a part that is a constant."""


@dataclass(frozen=True)
class Part:
    """One summand of a total.

    Attributes:
        name: Its name as a component; a legal one.
        weight: Its factor, dimensionless.
        body: What the factor multiplies; a graph without components.
    """

    name: str
    weight: float
    body: Graph

    @property
    def fields(self) -> frozenset[str]:
        """Names of the state fields that it reads."""
        return frozenset(str(node.value) for node in self.body.nodes if node.op == "field")


@dataclass(frozen=True)
class Split:
    """A program taken apart.

    Attributes:
        graph: The program's graph.
        parts: The summands in the order of the sum; their names differ.
        frame: The nodes around the sum, from the total inwards, each with the position of the argument that leads to
            the sum; empty when the total is the sum.
    """

    graph: Graph
    parts: tuple[Part, ...]
    frame: tuple[tuple[int, int], ...] = ()

    def join(self, parts: Sequence[Part]) -> Graph | None:
        """Put `parts` together in this program's frame; their names must differ.

        Parts beyond the limits of a program (components, nodes) are left out from the end.

        Returns:
            The graph of the new program, or None when not even one part fits.
        """
        room = MAX_NODES - (len(self.graph.nodes) if self.frame else 0)
        fitting: list[Part] = []
        for part in parts[:MAX_COMPONENTS]:
            room -= len(part.body.nodes) + 3
            if room < 0:
                break
            fitting.append(part)
        if not fitting:
            return None
        builder = GraphBuilder()
        components = {part.name: _weighted(builder, part) for part in fitting}
        first, *others = components.values()
        total = first
        for index in others:
            total = builder.node("add", total, index)
        return builder.finish(self._framed(builder, total), components)

    def _framed(self, builder: GraphBuilder, total: int) -> int:
        for index, hole in reversed(self.frame):
            node = self.graph.nodes[index]
            arguments = [
                total if position == hole else graft(builder, self.graph, argument)
                for position, argument in enumerate(node.args)
            ]
            total = builder.node(node.op, *arguments, value=node.value)
        return total


def split(graph: Graph) -> Split:
    """Take a program apart."""
    named = _named_nodes(graph)
    frame, root = _open(graph)
    leaves = _leaves(graph, root, frozenset(named))
    if frame and sum(graph.nodes[index].op != "const" for index, _ in leaves) < 2:
        frame, leaves = (), [(graph.total, 1.0)]
    parts: list[Part] = []
    for index, sign in leaves:
        weight, body = factored(graph, index)
        part = Part(named.get(index, ""), sign * weight, body)
        name = unused_name(part.name or _description(part), {each.name for each in parts})
        parts.append(Part(name, part.weight, body))
    return Split(graph, tuple(parts), tuple(frame))


def graft(builder: GraphBuilder, graph: Graph, root: int, literals: Mapping[int, float] | None = None) -> int:
    """Copy what `root` needs from `graph` into `builder`, with some literals replaced; return where it is there.

    Args:
        builder: Where to copy to.
        graph: Where to copy from.
        root: Index in `graph`.
        literals: New numbers by index of their `const` node.
    """
    changed = literals or {}
    places: dict[int, int] = {}
    for index in _needed(graph, root):
        node = graph.nodes[index]
        value = changed.get(index, node.value)
        places[index] = builder.node(node.op, *(places[each] for each in node.args), value=value)
    return places[root]


def unused_name(name: str, used: frozenset[str] | set[str]) -> str:
    """Return `name`, shortened and numbered as far as the limits and `used` demand."""
    short = name[:MAX_COMPONENT_NAME].rstrip("_")
    count = 1
    while short in used:
        count += 1
        suffix = f"_{count}"
        short = name[: MAX_COMPONENT_NAME - len(suffix)].rstrip("_") + suffix
    return short


def _needed(graph: Graph, root: int) -> list[int]:
    needed = {root}
    for index in range(root, -1, -1):
        if index in needed:
            needed.update(graph.nodes[index].args)
    return sorted(needed)


def _weighted(builder: GraphBuilder, part: Part) -> int:
    weight = min(max(part.weight, -MAX_CONSTANT), MAX_CONSTANT)
    if part.body == ONE:
        return builder.const(weight)
    body = graft(builder, part.body, part.body.total)
    return body if weight == 1.0 else builder.node("mul", builder.const(weight), body)


def _named_nodes(graph: Graph) -> dict[int, str]:
    """Name the nodes that are components, also those that are one except where a program returned early."""
    named: dict[int, str] = {}
    for name, root in graph.components:
        named.setdefault(root, name)
        node = graph.nodes[root]
        if node.op == "select":
            for branch, other in (node.args[1:], node.args[:0:-1]):
                if graph.nodes[other] == Node("const", (), 0.0):
                    named.setdefault(branch, name)
    return named


def _open(graph: Graph) -> tuple[tuple[tuple[int, int], ...], int]:
    """Walk from the total inwards to the first sum; without one, to nowhere."""
    frame: list[tuple[int, int]] = []
    index = graph.total
    while (node := graph.nodes[index]).op not in ("add", "sub"):
        hole = _hole(graph, node)
        if hole is None:
            return (), graph.total
        frame.append((index, hole))
        index = node.args[hole]
    return tuple(frame), index


def _hole(graph: Graph, node: Node) -> int | None:
    if node.op in ("clip", "tanh", "sigmoid", "neg"):
        return 0
    if node.op == "select":
        return max((1, 2), key=lambda position: len(_needed(graph, node.args[position])))
    if node.op in ("min", "max", "mul", "div"):
        open_ones = [position for position, each in enumerate(node.args) if graph.nodes[each].op != "const"]
        return open_ones[0] if len(open_ones) == 1 and not (node.op == "div" and open_ones == [1]) else None
    return None


def _leaves(graph: Graph, root: int, named: frozenset[int]) -> list[tuple[int, float]]:
    leaves: list[tuple[int, float]] = []
    stack = [(root, 1.0)]
    while stack:
        index, sign = stack.pop()
        node = graph.nodes[index]
        if node.op not in ("add", "sub", "neg") or (index in named and index != root):
            leaves.append((index, sign))
            continue
        signs = {"add": (sign, sign), "sub": (sign, -sign), "neg": (-sign,)}[node.op]
        stack.extend(reversed(list(zip(node.args, signs, strict=True))))
    return leaves


def factored(graph: Graph, index: int) -> tuple[float, Graph]:
    """Take the constant factor out of a summand; return it and what it multiplies."""
    node = graph.nodes[index]
    values = [graph.nodes[each].value if graph.nodes[each].op == "const" else None for each in node.args]
    if node.op == "const" and isinstance(node.value, float):
        return node.value, ONE
    if node.op == "mul":
        for value, other in ((values[0], node.args[1]), (values[1], node.args[0])):
            if isinstance(value, float):
                return value, _body(graph, other)
    if node.op == "select" and values[2] == 0.0 and isinstance(values[1], float):
        builder = GraphBuilder()
        condition = graft(builder, graph, node.args[0])
        chosen = builder.select(condition, builder.const(1.0), builder.const(0.0))
        return values[1], builder.finish(chosen, {})
    return 1.0, _body(graph, index)


def _body(graph: Graph, index: int) -> Graph:
    builder = GraphBuilder()
    return builder.finish(graft(builder, graph, index), {})


def _description(part: Part) -> str:
    fields = [str(node.value) for node in part.body.nodes if node.op == "field"]
    return "_".join(dict.fromkeys(fields[:2])) or "constant"
