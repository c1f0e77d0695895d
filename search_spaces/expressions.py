"""Expressions of a program to nodes of its graph."""

import ast
import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from search_spaces import arithmetic
from search_spaces.allowlist import refused_node
from search_spaces.errors import ProgramError
from search_spaces.functions import CONSTANTS, FUNCTIONS, MODULES
from search_spaces.graph import GraphBuilder
from search_spaces.operations import MAX_COMPONENTS
from search_spaces.state import FIELD_INDEX
from search_spaces.symbols import COMPARISONS, arithmetic_operation, component_key, nearest_field
from search_spaces.values import Frame, Parts, Scalar, Several, State, Unset, Value, merged, scalar

_MAX_STEPS = 20_000
"""Expressions compiled for one program, each call of a helper anew."""
_MAX_NESTING = 150
"""Expressions and blocks open at a time, through all calls of helpers."""


class ExpressionCompiler(ABC):
    """Compiles expressions; statements and calls of helpers are its subclass's.

    Attributes:
        builder: The graph so far.
        module: Constants of the module.
    """

    def __init__(self) -> None:
        self.builder = GraphBuilder()
        self.module = Frame({})
        self._steps = 0
        self._nesting = 0

    @abstractmethod
    def helper_names(self) -> Iterable[str]:
        """Return the names of helpers, callable here or not."""

    @abstractmethod
    def call(self, node: ast.Call, frame: Frame) -> Value:
        """Compile a call."""

    def enter(self, node: ast.AST) -> None:
        """Count one step down.

        Raises:
            ProgramError: `E_BUDGET` or `E_DEPTH`.
        """
        self._steps += 1
        self._nesting += 1
        if self._steps > _MAX_STEPS:
            message = "too many operations after helpers are inlined"
            raise ProgramError("E_BUDGET", message, hint="Call helpers less often.")
        if self._nesting > _MAX_NESTING:
            message = "expressions nested too deep after helpers are inlined"
            raise ProgramError("E_DEPTH", message, getattr(node, "lineno", None), "Nest fewer calls of helpers.")

    def leave(self) -> None:
        """Count one step up."""
        self._nesting -= 1

    def expression(self, node: ast.expr, frame: Frame) -> Value:
        """Return the value of an expression.

        Raises:
            ProgramError: It is not in the language, or has no legal type.
        """
        compile_one = self._COMPILERS.get(type(node))
        if compile_one is None:
            raise refused_node(node)
        self.enter(node)
        try:
            value = compile_one(self, node, frame)
        except ProgramError as error:
            if error.line is None:
                error.line = node.lineno
            raise
        self.leave()
        return value

    def number(self, node: ast.expr, frame: Frame) -> Scalar:
        """Return the value of an expression that must be a number or a boolean."""
        return scalar(self.expression(node, frame), node.lineno)

    def truth(self, node: ast.expr, frame: Frame) -> int:
        """Return the boolean node of an expression used as a condition."""
        return self.builder.truth(self.number(node, frame).index)

    def _constant(self, node: ast.Constant, frame: Frame) -> Value:
        value = node.value
        if isinstance(value, (bool, int, float)):
            return arithmetic.literal(self.builder, value)
        hint = 'Strings are keys only: state["ttc"].' if isinstance(value, str) else "Use a number."
        raise ProgramError("E_TYPE", f"{type(value).__name__} is no value of the reward language", node.lineno, hint)

    def _name(self, node: ast.Name, frame: Frame) -> Value:
        value = self.lookup(node, frame)
        if isinstance(value, Parts):
            frame.shared.add(node.id)
        return value

    def lookup(self, node: ast.Name, frame: Frame) -> Value:
        """Return what a name stands for.

        Raises:
            ProgramError: `E_UNBOUND`, `E_TYPE`, or `E_NAME` with the nearest name.
        """
        name = node.id
        value = frame.variables.get(name)
        if value is None and name in frame.assigned:
            hint = f"Set {name} first; what a function assigns anywhere is its own, even if the module has it too."
            raise ProgramError("E_UNBOUND", f"{name} is used before it is set", node.lineno, hint)
        if value is None:
            value = self.module.variables.get(name)
        if isinstance(value, Unset):
            hint = f"Give {name} a value before the if." if value.code == "E_UNBOUND" else "Use one type everywhere."
            raise ProgramError(value.code, f"{name} {value.message}", node.lineno, hint)
        if value is not None:
            return value
        if name in FUNCTIONS or name in self.helper_names() or name in MODULES:
            raise ProgramError("E_TYPE", f"{name} is a function, not a number", node.lineno, f"Call it: {name}(...).")
        raise self._unknown_name(node, frame)

    def _unknown_name(self, node: ast.Name, frame: Frame) -> ProgramError:
        known = {*frame.variables, *self.module.variables}
        if node.id in FIELD_INDEX:
            hint = f'Read the field: state["{node.id}"].'
        elif node.id == "state":
            hint = "A helper sees the state only as a parameter: pass state to it."
        else:
            near = difflib.get_close_matches(node.id, known, 1)
            hint = f"Did you mean {near[0]}?" if near else "Set it before it is used."
        return ProgramError("E_NAME", f"unknown name {node.id}", node.lineno, hint)

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        if not isinstance(node.value, ast.Name):
            raise ProgramError("E_NODE", "an index on an expression", node.lineno, 'Index names only: state["ttc"].')
        value = self.lookup(node.value, frame)
        if isinstance(value, State):
            return self.field(node.slice)
        if isinstance(value, Several) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            if -len(value.items) <= node.slice.value < len(value.items):
                return value.items[node.slice.value]
        elif isinstance(value, Parts):
            key = component_key(node.slice)
            if key in value.entries:
                return value.entries[key]
            near = difflib.get_close_matches(key, value.entries, 1)
            hint = f'Did you mean "{near[0]}"?' if near else "Set it first."
            raise ProgramError("E_KEY", f"{node.value.id} has no entry {key}", node.lineno, hint)
        raise ProgramError("E_NODE", f"{node.value.id} cannot be indexed so", node.lineno, 'Read state["ttc"].')

    def field(self, key: ast.expr) -> Scalar:
        """Return the state field that a literal key names.

        Raises:
            ProgramError: `E_KEY` with the nearest key.
        """
        if isinstance(key, ast.Slice):
            raise refused_node(key)
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            message = "the key of a state field must be written out as a string"
            raise ProgramError("E_KEY", message, key.lineno, 'Write state["ttc"].')
        name = key.value
        if name not in FIELD_INDEX:
            raise ProgramError("E_KEY", f"the state has no field {name[:40]!a}", key.lineno, nearest_field(name))
        return Scalar(self.builder.field(name))

    def _unary(self, node: ast.UnaryOp, frame: Frame) -> Value:
        match node.op:
            case ast.Not():
                return Scalar(self.builder.node("not", self.truth(node.operand, frame)), integral=True)
            case ast.USub():
                return arithmetic.negated(self.builder, self.number(node.operand, frame))
            case ast.UAdd():
                operand = self.number(node.operand, frame)
                return Scalar(self.builder.number(operand.index), operand.integral)
        raise ProgramError("E_NODE", "the operator ~", node.lineno, "Use not.")

    def _binary(self, node: ast.BinOp, frame: Frame) -> Value:
        op = arithmetic_operation(node.op, node)
        return arithmetic.combined(self.builder, op, self.number(node.left, frame), self.number(node.right, frame))

    def _logic(self, node: ast.BoolOp, frame: Frame) -> Value:
        conjunction = isinstance(node.op, ast.And)
        result = self.number(node.values[0], frame)
        for operand in node.values[1:]:
            other = self.number(operand, frame)
            integral = result.integral or other.integral
            if self.builder.kinds[result.index] == self.builder.kinds[other.index] == "bool":
                index = self.builder.node("and" if conjunction else "or", result.index, other.index)
            else:
                chosen, rest = (other, result) if conjunction else (result, other)
                index = self.builder.select(self.builder.truth(result.index), chosen.index, rest.index)
            result = Scalar(index, integral)
        return result

    def _comparison(self, node: ast.Compare, frame: Frame) -> Value:
        left = self.number(node.left, frame)
        result: int | None = None
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            op = COMPARISONS.get(type(operator))
            if op is None:
                message = f"the comparison {type(operator).__name__}"
                raise ProgramError("E_NODE", message, node.lineno, "Use <, <=, >, >=, == or != between numbers.")
            right = self.number(operand, frame)
            holds = arithmetic.compared(self.builder, op, left, right)
            result = holds if result is None else self.builder.node("and", result, holds)
            left = right
        if result is None:
            raise refused_node(node)
        return Scalar(result, integral=True)

    def _conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        condition = self.truth(node.test, frame)
        value = merged(self.builder, condition, self.expression(node.body, frame), self.expression(node.orelse, frame))
        if isinstance(value, (Unset, Parts)):
            message = "the two sides of a conditional expression are not two numbers"
            raise ProgramError("E_TYPE", message, node.lineno, "Make both numbers.")
        return value

    def _tuple(self, node: ast.Tuple, frame: Frame) -> Value:
        return self.several(node, tuple(self.expression(each, frame) for each in node.elts))

    def several(self, node: ast.expr, items: tuple[Value, ...]) -> Several:
        """Return a tuple.

        Raises:
            ProgramError: `E_TYPE` when a member is a tuple itself.
        """
        if any(isinstance(each, Several) for each in items):
            # Tuples of tuples could double their size line by line without adding a node to the graph.
            raise ProgramError("E_TYPE", "a tuple inside a tuple", node.lineno, "Use separate variables.")
        return Several(items)

    def _dict(self, node: ast.Dict, frame: Frame) -> Value:
        pairs = zip(node.keys, node.values, strict=True)
        return self.parts(node, ((component_key(key), value) for key, value in pairs), frame)

    def parts(self, node: ast.expr, pairs: Iterable[tuple[str, ast.expr]], frame: Frame) -> Parts:
        """Return a dict of components.

        Raises:
            ProgramError: `E_SIZE` for more than 16.
        """
        entries: dict[str, Scalar] = {}
        for name, value in pairs:
            entries[name] = self.number(value, frame)
            if len(entries) > MAX_COMPONENTS:
                message = f"more than {MAX_COMPONENTS} components"
                raise ProgramError("E_SIZE", message, node.lineno, "Join some of them.")
        return Parts(entries)

    def _attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        name = self.dotted(node, frame)
        value = CONSTANTS.get(name or "")
        if value is None:
            message = f"the attribute .{node.attr[:40]} used as a value"
            hint = 'Attributes exist only in math.f(x), np.f(x), math.pi and state.get("key").'
            raise ProgramError("E_NODE", message, node.lineno, hint)
        if math.isinf(value):
            return arithmetic.infinity(self.builder, value)
        return Scalar(self.builder.const(value))

    def dotted(self, node: ast.Attribute, frame: Frame) -> str | None:
        """Return `math.f` or `np.f`; None when something else stands before the dot."""
        if not isinstance(node.value, ast.Name) or node.value.id not in MODULES:
            return None
        return f"{'np' if node.value.id == 'numpy' else node.value.id}.{node.attr}"

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        return self.call(node, frame)

    _COMPILERS: ClassVar[Mapping[type[ast.expr], Callable[[Any, Any, Frame], Value]]] = {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Subscript: _subscript,
        ast.UnaryOp: _unary,
        ast.BinOp: _binary,
        ast.BoolOp: _logic,
        ast.Compare: _comparison,
        ast.IfExp: _conditional,
        ast.Tuple: _tuple,
        ast.Dict: _dict,
        ast.Attribute: _attribute,
        ast.Call: _call,
    }
