"""One number for all writings of a program: what makes two proposals the same candidate.

The digest is taken over the graph, so layout, comments and the names of locals do not count. Beyond that it ignores
what changes no reward by more than rounding: the order of operands and terms, how sums, products, `min`, `max`, `and`
and `or` are nested, where a minus sign stands, `a < b` or `b > a`, `+ 0`. Evaluation itself never reorders anything.
"""

import hashlib
import math
from collections.abc import Iterable

from search_spaces.graph import Graph, Node
from search_spaces.operations import OPERATIONS

Signed = tuple[int, str]
"""A number up to its sign, 1 or -1, and the hash of the rest."""

_CHAINS = ("mul", "min", "max", "and", "or")
_MIRRORED = {"gt": "lt", "ge": "le"}


def digest(graph: Graph) -> str:
    """Return the SHA-256 of the canonical graph and its component names, as 64 hexadecimal digits."""
    hashes: list[Signed] = []
    for index in range(len(graph.nodes)):
        hashes.append(_hashed(graph, index, hashes))
    named = sorted(f"{name}={_text(hashes[index])}" for name, index in graph.components)
    return _sha("program", [_text(hashes[graph.total]), *named])


def _sha(op: str, parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join([op, *parts]).encode()).hexdigest()


def _text(signed: Signed) -> str:
    return ("-" if signed[0] < 0 else "+") + signed[1]


def _hashed(graph: Graph, index: int, hashes: list[Signed]) -> Signed:
    node = graph.nodes[index]
    if node.op == "const" and isinstance(node.value, float):
        return (int(math.copysign(1.0, node.value)), _sha("const", [abs(node.value).hex()]))
    if node.op == "neg":
        sign, rest = hashes[node.args[0]]
        return (-sign, rest)
    if node.op in ("add", "sub"):
        return _sum(graph, index, hashes)
    if node.op in _CHAINS:
        parts = [hashes[each] for each in _chain(graph, index)]
        if node.op != "mul":
            return (1, _sha(node.op, sorted(map(_text, parts))))
        return (math.prod(sign for sign, _ in parts), _sha("mul", sorted(rest for _, rest in parts)))
    if node.op == "div":
        (one, above), (other, below) = (hashes[each] for each in node.args)
        return (one * other, _sha("div", [above, below]))
    return (1, _plain(graph, node, hashes))


def _plain(graph: Graph, node: Node, hashes: list[Signed]) -> str:
    op, args = node.op, node.args
    if op in _MIRRORED:
        op, args = _MIRRORED[op], args[::-1]
    if op == "select" and graph.nodes[args[0]].op == "not":
        args = (graph.nodes[args[0]].args[0], args[2], args[1])
    parts = [_text(hashes[each]) for each in args]
    if OPERATIONS[op].commutative:
        parts.sort()
    return _sha(op, [*parts, repr(node.value)])


def _chain(graph: Graph, index: int) -> list[int]:
    """Return the operands of a nest of one operation; only what nothing else uses is opened, so the work is linear."""
    op, found, stack = graph.nodes[index].op, [], list(graph.nodes[index].args)
    while stack:
        each = stack.pop()
        if graph.nodes[each].op == op and graph.uses[each] == 1:
            stack.extend(graph.nodes[each].args)
        else:
            found.append(each)
    return found


def _sum(graph: Graph, index: int, hashes: list[Signed]) -> Signed:
    terms: list[Signed] = []
    stack = [(index, 1)]
    while stack:
        each, sign = stack.pop()
        node = graph.nodes[each]
        if node.op in ("add", "sub") and (graph.uses[each] == 1 or each == index):
            stack.append((node.args[0], sign))
            stack.append((node.args[1], -sign if node.op == "sub" else sign))
        elif not (node.op == "const" and node.value == 0.0):
            terms.append((sign * hashes[each][0], hashes[each][1]))
    if len(terms) == 1:
        return terms[0]
    return (1, _sha("sum", sorted(map(_text, terms))))
