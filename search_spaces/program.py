"""A reward program as data: what the rest of the project holds, sends, prints, compares and evaluates.

It is a graph with its canonical text and its digest. It is never Python code that runs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from search_spaces.digest import digest
from search_spaces.errors import ProgramError
from search_spaces.graph import Graph, GraphBuilder, Node
from search_spaces.operations import TOTAL_LIMIT
from search_spaces.printing import expression, printed
from search_spaces.semantics import BINARY, COMPARISONS, UNARY, clip, decimals

Value = float | bool


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a text is no program, so that its author can mend it.

    Attributes:
        code: Stable code, `E_...`; `CODES` says what each means.
        message: What was expected and what was found; control characters are escaped.
        line: Line of the text, from 1; None where no line is to blame.
        hint: What to do about it.
    """

    code: str
    message: str
    line: int | None
    hint: str


CODES: Mapping[str, str] = {
    "E_ENCODING": "not UTF-8, or an invisible or control character",
    "E_SIZE": "too many characters, lines, syntax nodes or components",
    "E_NAME": "a name that is unknown, reserved, not ASCII, too long, or has a double underscore",
    "E_CONST": "a number that is too large, too long or not a number",
    "E_DEPTH": "brackets or expressions nested too deep",
    "E_SYNTAX": "not Python",
    "E_NODE": "a construct that the language does not have",
    "E_IMPORT": "an import",
    "E_STRUCTURE": "not one function compute_reward(state) with plain parameters",
    "E_TYPE": "a value of the wrong type",
    "E_KEY": "a state field that does not exist",
    "E_CALL": "a function that does not exist",
    "E_ARITY": "a wrong number of arguments",
    "E_UNBOUND": "a variable that is not set on every path",
    "E_RETURN": "a path that returns nothing",
    "E_BUDGET": "a program that is too large after inlining",
    "E_NONFINITE": "a reward that is infinite or not a number",
    "E_LIMIT": "a text that took too long or too much memory to check",
}
"""Every code that a check can end with, and what it means."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One reward.

    Attributes:
        total: The reward, clipped to +-1e6; NaN on a fault.
        components: Each component, in the program's order; not clipped.
        fault: Whether the total, before it was clipped, or a component is infinite or NaN.
    """

    total: float
    components: dict[str, float]
    fault: bool


@dataclass(frozen=True)
class RewardProgram:
    """An accepted program: picklable, hashable, safe to send to any worker.

    Args:
        graph: The program.

    Attributes:
        source: Canonical text; it compiles to the same graph, and holds no word of the author but component names.
        digest: 64 hexadecimal digits, equal for all writings of one program (see `digest.py`).

    Raises:
        ProgramError: `E_BUDGET` when the canonical text exceeds the limits of the language.
    """

    graph: Graph
    source: str = field(init=False, compare=False, repr=False)
    digest: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", printed(self.graph))
        object.__setattr__(self, "digest", digest(self.graph))

    @cached_property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components, in the author's order."""
        return tuple(name for name, _ in self.graph.components)

    @cached_property
    def fields(self) -> frozenset[str]:
        """State fields that the program reads."""
        return frozenset(str(node.value) for node in self.graph.nodes if node.op == "field")

    @cached_property
    def constants(self) -> tuple[float, ...]:
        """Every numeric literal, one for each place where it stands, in the order of `Graph.sites`."""
        return tuple(self.graph.literal(site) for site in self.graph.sites)

    def with_constants(self, values: Sequence[float]) -> "RewardProgram":
        """Return the program with other literals and the same structure.

        Args:
            values: One for each of `constants`.

        Raises:
            ProgramError: `E_ARITY` for another number of values; `E_CONST` for one that is not finite or above 1e6.
        """
        if len(values) != len(self.constants):
            raise ProgramError("E_ARITY", f"expected {len(self.constants)} constants, got {len(values)}")
        literals: dict[tuple[int, int], float] = dict(zip(self.graph.sites, values, strict=True))
        builder = GraphBuilder()
        places: list[int] = []

        def place(user: int, position: int, argument: int) -> int:
            literal = literals.get((user, position))
            return places[argument] if literal is None else builder.const(literal)

        for index, node in enumerate(self.graph.nodes):
            if node.op == "const":
                places.append(-1)
                continue
            args = (place(index, position, argument) for position, argument in enumerate(node.args))
            places.append(builder.node(node.op, *args, value=node.value))
        roots = [place(-1 - k, 0, root) for k, root in enumerate(self.graph.roots)]
        return RewardProgram(builder.finish(roots[0], dict(zip(self.component_names, roots[1:], strict=True))))

    def evaluate(self, state: Mapping[str, float]) -> Evaluation:
        """Compute the reward in one state: the scalar reference that every other evaluator equals bit by bit.

        Args:
            state: At least the fields that the program reads.

        Raises:
            KeyError: A field that the program reads is missing.
        """
        values = self._values(state)
        total = float(values[self.graph.total])
        components = {name: float(values[index]) for name, index in self.graph.components}
        fault = not all(map(math.isfinite, (total, *components.values())))
        return Evaluation(math.nan if fault else clip(total, -TOTAL_LIMIT, TOTAL_LIMIT), components, fault)

    def first_fault(self, state: Mapping[str, float]) -> str | None:
        """Return the text of the operation that made the reward infinite or NaN in `state`; None where it is finite."""
        values = self._values(state)
        suspects = [root for root in self.graph.roots if not math.isfinite(values[root])]
        if not suspects:
            return None
        culprit = suspects[0]
        while True:
            node = self.graph.nodes[culprit]
            used = (node.args[1 if values[node.args[0]] else 2],) if node.op == "select" else node.args
            bad = [each for each in used if not math.isfinite(values[each])]
            if not bad:
                return expression(self.graph, culprit)
            culprit = bad[0]

    def _values(self, state: Mapping[str, float]) -> list[Value]:
        values: list[Value] = []
        for node in self.graph.nodes:
            values.append(_value(node, values, state))
        return values


def _value(node: Node, values: Sequence[Value], state: Mapping[str, float]) -> Value:
    op, args = node.op, node.args
    if op == "const" and isinstance(node.value, float):
        return node.value
    if op == "field":
        return float(state[str(node.value)])
    if op in UNARY:
        return UNARY[op](values[args[0]])
    if op in BINARY:
        return BINARY[op](values[args[0]], values[args[1]])
    if op in COMPARISONS:
        return COMPARISONS[op](values[args[0]], values[args[1]])
    if op == "select":
        return values[args[1]] if values[args[0]] else values[args[2]]
    return _rare(node, [values[each] for each in args])


def _rare(node: Node, operands: Sequence[Value]) -> Value:
    match node.op:
        case "and":
            return bool(operands[0] and operands[1])
        case "or":
            return bool(operands[0] or operands[1])
        case "not":
            return not operands[0]
        case "number":
            return float(operands[0])
        case "clip":
            return clip(*operands)
        case "decimals" if isinstance(node.value, float):
            return decimals(operands[0], int(node.value))
        case "inf":
            return math.inf
        case "true" | "false":
            return node.op == "true"
    raise ProgramError("E_TYPE", f"no semantics for the operation {node.op!a}")
