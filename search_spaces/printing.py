"""Canonical text of a graph: a small, readable program that compiles to the same graph again.

Nothing of the author's prose is in it: only operations, numbers, state fields and the names of components. What is used
more than once, what is a component and what would make a line too long becomes a local variable.
"""

import keyword
from typing import NamedTuple

from search_spaces.errors import ProgramError
from search_spaces.functions import RESERVED
from search_spaces.graph import Graph, Node
from search_spaces.limits import MAX_CHARACTERS, MAX_LINES, MAX_SYNTAX_NODES
from search_spaces.operations import CALL, COMPARISON, CONDITION, OPERATIONS, OR, POWER, UNARY

_LINE = 88
_DEPTH = 12
_ARGUMENTS = 8


class _Piece(NamedTuple):
    """Text of an expression, how tightly it binds, its depth and its number of syntax nodes."""

    text: str
    binding: int = CALL
    depth: int = 1
    size: int = 1


def printed(graph: Graph) -> str:
    """Return the canonical text of `graph`.

    Raises:
        ProgramError: `E_BUDGET` when the text would exceed the limits of the language.
    """
    return _Printer(graph).program()


def expression(graph: Graph, index: int) -> str:
    """Return the text of one node without local variables, cut after 200 characters; for messages."""
    printer = _Printer(graph, inline=True)
    for each in range(index + 1):
        printer.place(each)
    text = printer.pieces[index].text
    return text if len(text) <= 200 else f"{text[:200]}..."


class _Printer:
    def __init__(self, graph: Graph, *, inline: bool = False) -> None:
        self.graph = graph
        self.inline = inline
        self.pieces: list[_Piece] = []
        self.lines: list[str] = []
        self.size = 12
        self.taken = {*RESERVED, *keyword.kwlist, "state"}
        self.wanted: dict[int, str] = {}
        for name, component in graph.components:
            if name not in self.taken and graph.nodes[component].args:
                self.wanted.setdefault(component, name)
                self.taken.add(name)
        if graph.components and graph.nodes[graph.total].args and "total" not in self.taken:
            self.wanted.setdefault(graph.total, "total")
            self.taken.add("total")

    def program(self) -> str:
        for index in range(len(self.graph.nodes)):
            self.place(index)
        total = self.pieces[self.graph.total].text
        if self.graph.components:
            named = (f'"{name}": {self.pieces[index].text}' for name, index in self.graph.components)
            total += f", {{{', '.join(named)}}}"
            self.size += sum(1 + self.pieces[index].size for _, index in self.graph.components)
        self.size += self.pieces[self.graph.total].size
        text = "\n".join(["def compute_reward(state):", *self.lines, f"    return {total}", ""])
        if self.size > MAX_SYNTAX_NODES or len(text) > MAX_CHARACTERS or len(self.lines) + 2 > MAX_LINES:
            raise ProgramError(
                "E_BUDGET",
                f"written out, the program has {len(text)} characters, {len(self.lines) + 2} lines and {self.size} "
                f"syntax nodes; allowed are {MAX_CHARACTERS}, {MAX_LINES} and {MAX_SYNTAX_NODES}",
                hint="Shorten the program: fewer branches, fewer components, fewer calls of helpers.",
            )
        return text

    def place(self, index: int) -> None:
        piece = self._piece(self.graph.nodes[index])
        if self.inline:
            text = piece.text if len(piece.text) <= 400 else f"{piece.text[:400]}"
            piece = piece._replace(text=text)
        elif self._named(index, piece):
            name = self._name(index)
            self.lines.append(f"    {name} = {piece.text}")
            self.size += piece.size + 2
            piece = _Piece(name)
        self.pieces.append(piece)

    def _named(self, index: int, piece: _Piece) -> bool:
        if index in self.wanted:
            return True
        if self.graph.nodes[index].op == "field":
            return self.graph.uses[index] > 1
        if not self.graph.nodes[index].args:
            return False
        if self.graph.uses[index] > 1:
            return True
        return index != self.graph.total and (len(piece.text) > _LINE or piece.depth > _DEPTH)

    def _name(self, index: int) -> str:
        name = self.wanted.get(index)
        node = self.graph.nodes[index]
        if name is None and node.op == "field" and node.value not in self.taken:
            name = str(node.value)
        number = len(self.lines) + 1
        while name is None or (name in self.taken and index not in self.wanted):
            name = f"v{number}"
            number += 1
        self.taken.add(name)
        return name

    def _piece(self, node: Node) -> _Piece:
        operation = OPERATIONS[node.op]
        if node.op == "const" and isinstance(node.value, float):
            negative = repr(node.value).startswith("-")
            return _Piece(repr(node.value), UNARY if negative else CALL, 1, 2 if negative else 1)
        if node.op == "field":
            return _Piece(f'state["{node.value}"]', size=3)
        if not node.args:
            return _Piece(operation.spelling, size=3 if node.op == "inf" else 1)
        if node.op == "select":
            return self._condition(node)
        if operation.binding == CALL:
            return self._call(node)
        if len(node.args) == 1:
            operand = self._at(node.args[0], operation.binding)
            return _Piece(operation.spelling + operand.text, operation.binding, operand.depth + 1, operand.size + 1)
        return self._infix(node)

    def _at(self, index: int, binding: int) -> _Piece:
        piece = self.pieces[index]
        return piece if piece.binding >= binding else piece._replace(text=f"({piece.text})")

    def _infix(self, node: Node) -> _Piece:
        operation = OPERATIONS[node.op]
        tighter = operation.binding + 1
        left = self._at(node.args[0], tighter if operation.binding in (COMPARISON, POWER) else operation.binding)
        right = self._at(node.args[1], UNARY if operation.binding == POWER else tighter)
        text = f"{left.text} {operation.spelling} {right.text}"
        return _Piece(text, operation.binding, max(left.depth, right.depth) + 1, left.size + right.size + 1)

    def _condition(self, node: Node) -> _Piece:
        condition, chosen, other = node.args
        parts = (self._at(chosen, OR), self._at(condition, OR), self._at(other, CONDITION))
        text = f"{parts[0].text} if {parts[1].text} else {parts[2].text}"
        return _Piece(text, CONDITION, max(each.depth for each in parts) + 1, sum(each.size for each in parts) + 1)

    def _call(self, node: Node) -> _Piece:
        arguments = list(node.args)
        while node.op in ("min", "max") and len(arguments) < _ARGUMENTS:
            first = self.graph.nodes[arguments[0]]
            if first.op != node.op or self.pieces[arguments[0]].text.isidentifier():
                break
            arguments[:1] = first.args
        parts = [self.pieces[each] for each in arguments]
        spelling = OPERATIONS[node.op].spelling
        inside = [each.text for each in parts]
        if node.op == "decimals" and isinstance(node.value, float):
            inside.append(str(int(node.value)))
        size = sum(each.size for each in parts) + 4
        return _Piece(f"{spelling}({', '.join(inside)})", CALL, max(each.depth for each in parts) + 1, size)
