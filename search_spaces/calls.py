"""Calls in a program to nodes of its graph: listed functions, `state.get`, `sum`, `dict`, the program's helpers."""

import ast
import difflib
from abc import abstractmethod
from collections.abc import Iterable

from search_spaces import arithmetic
from search_spaces.errors import ProgramError
from search_spaces.expressions import ExpressionCompiler
from search_spaces.functions import ENTRY, FUNCTIONS, MOST_ARGUMENTS, Function
from search_spaces.values import Frame, Parts, Scalar, State, Value, merged

_INFINITE = ("inf", "infinity")
_HINTS = {
    "print": "Remove it: a reward only computes a number.",
    "len": 'There are no lists to count; nearby vehicles are state["nearby_vehicles"].',
    "range": "There are no loops: write each term out.",
    "isinstance": "Every field is a number already.",
    "np.array": "Use plain numbers.",
    "np.sum": "Add the terms with +.",
    "np.mean": "Add the terms and divide.",
    "np.isnan": "State fields are finite.",
    "np.isfinite": "State fields are finite.",
}

_USAGE = {
    "clip": "clip(x, low, high)",
    "select": "np.where(condition, x, y)",
    "pow": "x ** y",
    "min": "min(a, b)",
    "max": "max(a, b)",
    "hypot": "math.hypot(x, y)",
    "round": "round(x, 2)",
}


class CallCompiler(ExpressionCompiler):
    """Compiles calls; what a helper does is its subclass's."""

    @abstractmethod
    def call_helper(self, node: ast.Call, name: str, frame: Frame) -> Value:
        """Compile a call of one of the program's helpers."""

    def call(self, node: ast.Call, frame: Frame) -> Value:
        """Compile a call.

        Raises:
            ProgramError: `E_CALL`, `E_ARITY`, `E_NODE`, or what an argument is refused with.
        """
        target = node.func
        if isinstance(target, ast.Attribute):
            return self._call_attribute(node, target, frame)
        if not isinstance(target, ast.Name):
            raise ProgramError("E_CALL", "a call of an expression", node.lineno, "Call functions by their name.")
        name = target.id
        if name in self.helper_names():
            return self.call_helper(node, name, frame)
        if name in frame.assigned or name in frame.variables or name in self.module.variables:
            raise ProgramError("E_CALL", f"{name} is a variable, not a function", node.lineno, "Rename the variable.")
        if name == "sum":
            return self._sum(node, frame)
        if name == "dict" and not node.args:
            pairs = [(each.arg, each.value) for each in node.keywords if each.arg is not None]
            if len(pairs) < len(node.keywords):
                raise ProgramError("E_NODE", "dict unpacking", node.lineno, "Write each component out.")
            return self.parts(node, pairs, frame)
        if name not in FUNCTIONS:
            raise _unknown_function(name, node, self.helper_names())
        return self._call_function(node, name, frame)

    def _call_attribute(self, node: ast.Call, target: ast.Attribute, frame: Frame) -> Value:
        name = self.dotted(target, frame)
        if name is not None:
            if name not in FUNCTIONS:
                raise _unknown_function(name, node, ())
            return self._call_function(node, name, frame)
        named = isinstance(target.value, ast.Name) and target.attr == "get"
        if named and isinstance(self.expression(target.value, frame), State):
            return self._get(node, frame)
        message = f"the method .{target.attr[:40]}"
        raise ProgramError("E_NODE", message, node.lineno, 'The only method is state.get("key", default).')

    def _get(self, node: ast.Call, frame: Frame) -> Scalar:
        if node.keywords or not 1 <= len(node.args) <= 2:
            message = "state.get takes a key and at most one default, by position"
            raise ProgramError("E_ARITY", message, node.lineno, 'Write state["ttc"], or state.get("ttc", 30.0).')
        field = self.field(node.args[0])
        if len(node.args) == 2:
            self.number(node.args[1], frame)
        return field

    def _sum(self, node: ast.Call, frame: Frame) -> Scalar:
        if len(node.args) != 1 or node.keywords:
            raise ProgramError("E_ARITY", "sum takes one list", node.lineno, "Add the terms with +.")
        terms = self._listed(node, frame)
        return arithmetic.chained(self.builder, "add", terms) if terms else arithmetic.literal(self.builder, 0)

    def _listed(self, node: ast.Call, frame: Frame) -> list[Scalar]:
        """Return the members of a literal list, or of `components.values()`."""
        match node.args[0]:
            case ast.List(elts=members) | ast.Tuple(elts=members):
                return [self.number(each, frame) for each in members]
            case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="values"), args=[], keywords=[]):
                parts = self.lookup(name, frame)
                if isinstance(parts, Parts):
                    return list(parts.entries.values())
        raise ProgramError("E_TYPE", "sum of something else than a list", node.lineno, "Add the terms with +.")

    def _call_function(self, node: ast.Call, name: str, frame: Frame) -> Value:
        function = FUNCTIONS[name]
        if node.keywords:
            message = f"{name} with a keyword argument"
            raise ProgramError("E_NODE", message, node.lineno, "Give arguments by position.")
        if name in ("min", "max") and len(node.args) == 1:
            return self._extreme_of_list(node, name, frame)
        match name, node.args:
            case "float", [ast.Constant(value=str() as text)]:
                return self._number_in_words(text, node)
        _check_arity(name, function, len(node.args), node)
        if function.op == "select":
            return self._where(node, frame)
        arguments = [self.number(each, frame) for each in node.args]
        return arithmetic.applied(self.builder, function, arguments)

    def _extreme_of_list(self, node: ast.Call, name: str, frame: Frame) -> Scalar:
        if not isinstance(node.args[0], (ast.List, ast.Tuple)):
            message = f"{name} of a single number"
            raise ProgramError("E_TYPE", message, node.lineno, f"Give {name} two or more numbers.")
        members = self._listed(node, frame)
        _check_arity(name, Function(name, 1, MOST_ARGUMENTS), len(members), node)
        return arithmetic.chained(self.builder, name, members)

    def _where(self, node: ast.Call, frame: Frame) -> Value:
        condition, chosen, other = node.args
        truth = self.truth(condition, frame)
        value = merged(self.builder, truth, self.number(chosen, frame), self.number(other, frame))
        return Scalar(value.index) if isinstance(value, Scalar) else value

    def _number_in_words(self, text: str, node: ast.Call) -> Scalar:
        word = text.strip().lower()
        sign = -1.0 if word.startswith("-") else 1.0
        if word.lstrip("+-") in _INFINITE and len(word) - len(word.lstrip("+-")) <= 1:
            return arithmetic.infinity(self.builder, sign)
        if word.lstrip("+-") == "nan":
            raise ProgramError("E_CONST", "NaN as a constant", node.lineno, "A reward must be a finite number.")
        raise ProgramError("E_TYPE", "float of a string", node.lineno, "Write the number without quotes.")


def _check_arity(name: str, function: Function, given: int, node: ast.Call) -> None:
    if not function.least <= given <= function.most:
        expected = str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
        usage = _USAGE.get(function.op, f"{name}(x)")
        hint = "Write log(x) / log(base)." if name.endswith("log") and given == 2 else f"Write {usage}."
        noun = "argument" if expected == "1" else "arguments"
        raise ProgramError("E_ARITY", f"{name} takes {expected} {noun}, not {given}", node.lineno, hint)


def _unknown_function(name: str, node: ast.Call, helpers: Iterable[str]) -> ProgramError:
    bare = name.split(".")[-1]
    same = [each for each in FUNCTIONS if each.split(".")[-1] == bare]
    near = same or difflib.get_close_matches(name, [*FUNCTIONS, *helpers], 1, 0.8)
    module = name.removesuffix(bare)
    if name == ENTRY:
        hint = "compute_reward cannot call itself."
    elif name in _HINTS:
        hint = _HINTS[name]
    elif near:
        hint = f"Did you mean {near[0]}?"
    else:
        listed = ", ".join(each for each in FUNCTIONS if each.removesuffix(each.split(".")[-1]) == module)
        hint = f"There are {listed}; or write a helper."
    return ProgramError("E_CALL", f"no function {name[:60]} in the reward language", node.lineno, hint)
