"""Statements of a program, turned into conditions: every path is computed, then one is selected."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from search_spaces import arithmetic
from search_spaces.allowlist import HINTS, refused_node, tolerated
from search_spaces.calls import CallCompiler
from search_spaces.errors import ProgramError
from search_spaces.functions import MODULES, RESERVED
from search_spaces.operations import MAX_COMPONENTS
from search_spaces.symbols import arithmetic_operation, component_key
from search_spaces.values import Frame, Parts, Scalar, Several, State, Unset, Value, merged, scalar


@dataclass(slots=True)
class Flow:
    """What a block does: which values it returns under which conditions, and whether its end can be reached.

    Attributes:
        returns: Conditions and values in order; the first condition that holds decides.
        final: What is returned when none holds; None when the end is reached then.
    """

    returns: list[tuple[int, Value]] = field(default_factory=list)
    final: Value | None = None


class StatementCompiler(CallCompiler):
    """Compiles the bodies of functions, and calls of helpers by compiling their body where they are called."""

    def __init__(self) -> None:
        super().__init__()
        self.helpers: dict[str, ast.FunctionDef] = {}
        self._callable: list[frozenset[str]] = []

    def helper_names(self) -> Iterable[str]:
        """Return the names of all helpers."""
        return self.helpers

    def call_helper(self, node: ast.Call, name: str, frame: Frame) -> Value:
        """Compile the helper's body for these arguments.

        Raises:
            ProgramError: `E_CALL` when the helper is not defined above its caller; `E_ARITY`; what its body is refused
                with.
        """
        helper = self.helpers[name]
        if self._callable and name not in self._callable[-1]:
            message = f"{name} is called by a helper that is not below it"
            raise ProgramError("E_CALL", message, node.lineno, "A helper calls only helpers defined above it.")
        arguments = self._bound(node, helper, frame)
        above = list(self.helpers)
        self._callable.append(frozenset(above[: above.index(name)]))
        value = self.function(helper, arguments)
        self._callable.pop()
        return value

    def _bound(self, node: ast.Call, helper: ast.FunctionDef, frame: Frame) -> dict[str, Value]:
        names = [each.arg for each in helper.args.args]
        given: dict[str, Value] = {}
        for name, argument in zip(names, node.args, strict=False):
            given[name] = self.expression(argument, frame)
        for keyword in node.keywords:
            if keyword.arg in names and keyword.arg not in given:
                given[keyword.arg] = self.expression(keyword.value, frame)
        if len(given) != len(names) or len(node.args) + len(node.keywords) != len(names):
            message = f"{helper.name} takes the arguments ({', '.join(names)})"
            raise ProgramError("E_ARITY", message, node.lineno, "Give each exactly once.")
        return given

    def function(self, node: ast.FunctionDef, arguments: dict[str, Value]) -> Value:
        """Return what a function returns for these arguments.

        Raises:
            ProgramError: `E_RETURN` when some path returns nothing; what its body is refused with.
        """
        for each in node.args.args:
            self.check_target(each.arg, each)
        frame = Frame(dict(arguments), frozenset(_assigned(node.body)), set(arguments))
        flow = self._block(_without_docstring(node.body), frame)
        if flow.final is None:
            message = f"{node.name} does not return a value on every path"
            raise ProgramError("E_RETURN", message, node.lineno, "End it with return total.")
        value = flow.final
        for condition, earlier in reversed(flow.returns):
            value = merged(self.builder, condition, earlier, value)
            if isinstance(value, Unset):
                message = f"{node.name} returns different types on different paths"
                raise ProgramError("E_TYPE", message, node.lineno, "Return total, components everywhere.")
        return value

    def _block(self, statements: Sequence[ast.stmt], frame: Frame) -> Flow:
        flow = Flow()
        for statement in statements:
            self.enter(statement)
            try:
                self._statement(statement, frame, flow)
            except ProgramError as error:
                if error.line is None:
                    error.line = statement.lineno
                raise
            self.leave()
            if flow.final is not None:
                break
        return flow

    def _statement(self, node: ast.stmt, frame: Frame, flow: Flow) -> None:
        match node:
            case ast.Return():
                flow.final = self._returned(node, frame)
            case ast.If():
                self._if(node, frame, flow)
            case ast.Pass():
                return
            case ast.Import() | ast.ImportFrom():
                if not tolerated(node):
                    message = "an import inside a function"
                    raise ProgramError("E_NODE", message, node.lineno, "Remove it: math and np work without an import.")
            case _:
                self.assignment(node, frame)

    def assignment(self, node: ast.stmt, frame: Frame) -> None:
        """Compile an assignment of any form.

        Raises:
            ProgramError: `E_NODE` when it is none; what its target or value is refused with.
        """
        match node:
            case ast.Assign():
                value = self.expression(node.value, frame)
                if isinstance(value, Parts) and len(node.targets) > 1:
                    raise _two_names(node)
                for target in node.targets:
                    self._store(target, value, frame)
            case ast.AnnAssign():
                if not isinstance(node.target, ast.Name):
                    message = "an annotation of something else than a name"
                    raise ProgramError("E_NODE", message, node.lineno, "Remove the annotation.")
                self.check_target(node.target.id, node)
                if node.value is not None:
                    self._store(node.target, self.expression(node.value, frame), frame)
            case ast.AugAssign():
                self._augment(node, frame)
            case ast.Expr():
                raise _idle_expression(node)
            case _:
                raise refused_node(node)

    def _returned(self, node: ast.Return, frame: Frame) -> Value:
        value = self._return_value(node, frame)
        if self._callable:
            return value
        match value:
            case Scalar():
                return Several((value, Parts({})))
            case Several(items=(total, Parts() as parts)):
                return Several((scalar(total), parts))
            case Parts():
                message = "a dict is returned without a total"
            case _:
                message = "neither a number nor a number and a dict is returned"
        raise ProgramError("E_TYPE", message, node.lineno, 'Write return total, {"name": part} or return total.')

    def _return_value(self, node: ast.Return, frame: Frame) -> Value:
        match node.value:
            case None:
                raise ProgramError("E_RETURN", "return without a value", node.lineno, "Return a number.")
            case ast.Name():
                return self.lookup(node.value, frame)
            case ast.Tuple(elts=[total, ast.Name() as name]):
                return self.several(node.value, (self.expression(total, frame), self.lookup(name, frame)))
        return self.expression(node.value, frame)

    def _if(self, node: ast.If, frame: Frame, flow: Flow) -> None:
        condition = self.truth(node.test, frame)
        otherwise = self.builder.node("not", condition) if _returns(node) else condition
        going_on: list[dict[str, Value]] = []
        for body, holds in ((node.body, condition), (node.orelse, otherwise)):
            arm = frame.branch()
            inner = self._block(body, arm)
            flow.returns += [(self.builder.node("and", holds, each), value) for each, value in inner.returns]
            if inner.final is None:
                going_on.append(arm.variables)
            else:
                flow.returns.append((holds, inner.final))
        if not going_on:
            flow.final = flow.returns.pop()[1]
        elif len(going_on) == 1:
            frame.variables = going_on[0]
        else:
            then, other = going_on
            unset = Unset()
            frame.variables = {
                name: merged(self.builder, condition, then.get(name, unset), other.get(name, unset))
                for name in {**then, **other}
            }

    def _store(self, target: ast.expr, value: Value, frame: Frame) -> None:
        match target:
            case ast.Name(id=name):
                self.check_target(name, target)
                if isinstance(frame.variables.get(name), State):
                    raise ProgramError("E_NAME", f"{name} is the state", target.lineno, "Use another name.")
                if isinstance(value, Parts) and self._seen_elsewhere(value, frame):
                    raise _two_names(target)
                frame.variables[name] = value
            case ast.Tuple(elts=targets):
                if not isinstance(value, Several) or len(value.items) != len(targets):
                    message = f"{len(targets)} names on the left, another number of values on the right"
                    raise ProgramError("E_TYPE", message, target.lineno, "Give each name one value.")
                for each, item in zip(targets, value.items, strict=True):
                    self._store(each, item, frame)
            case ast.Subscript(value=ast.Name() as name, slice=key):
                self._store_entry(name, key, scalar(value), frame)
            case _:
                raise ProgramError("E_NODE", "a target that is not a name", target.lineno, "Assign to plain names.")

    def _seen_elsewhere(self, value: Parts, frame: Frame) -> bool:
        return any(value is frame.variables.get(name) for name in frame.shared)

    def _store_entry(self, name: ast.Name, key: ast.expr, value: Scalar, frame: Frame) -> None:
        parts = self.lookup(name, frame)
        if isinstance(parts, State):
            raise ProgramError("E_NODE", "a store into the state", name.lineno, "The state is read-only.")
        if not isinstance(parts, Parts):
            raise ProgramError(
                "E_NODE", f"a store into {name.id}", name.lineno, "Only a dict of components has entries."
            )
        if name.id in frame.shared or name.id not in frame.variables:
            message = f"a store into {name.id}, which something else can see"
            raise ProgramError("E_NODE", message, name.lineno, "Fill a dict before it is passed on.")
        entries = {**parts.entries, component_key(key): value}
        if len(entries) > MAX_COMPONENTS:
            raise ProgramError("E_SIZE", f"more than {MAX_COMPONENTS} components", name.lineno, "Join some of them.")
        frame.variables[name.id] = Parts(entries)

    def _augment(self, node: ast.AugAssign, frame: Frame) -> None:
        op = arithmetic_operation(node.op, node)
        match node.target:
            case ast.Name():
                before = self.lookup(ast.copy_location(ast.Name(node.target.id), node), frame)
            case ast.Subscript(value=ast.Name(id=name)) if not isinstance(frame.variables.get(name), State):
                before = self.expression(node.target, frame)
            case ast.Subscript(value=ast.Name()):
                raise ProgramError("E_NODE", "a store into the state", node.lineno, "The state is read-only.")
            case _:
                raise ProgramError("E_NODE", "a target that is not a name", node.lineno, "Assign to plain names.")
        after = arithmetic.combined(self.builder, op, scalar(before), self.number(node.value, frame))
        self._store(node.target, after, frame)

    def check_target(self, name: str, node: ast.AST) -> None:
        """Refuse to bind a name that means something already.

        Raises:
            ProgramError: `E_NAME`.
        """
        if name in RESERVED or name in self.helpers:
            kind = "module" if name in MODULES else "function"
            message = f"{name} is the name of a {kind} and cannot be bound"
            raise ProgramError("E_NAME", message, getattr(node, "lineno", None), "Use another name.")


def _without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[1:]
    return body


def _assigned(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _returns(node: ast.If) -> bool:
    return any(isinstance(each, ast.Return) for statement in node.orelse for each in ast.walk(statement))


def _two_names(node: ast.stmt | ast.expr) -> ProgramError:
    return ProgramError("E_TYPE", "two names for one dict", node.lineno, "Keep one name for the components.")


def _idle_expression(node: ast.Expr) -> ProgramError:
    match node.value:
        case ast.Constant(value=value) if value is ...:
            return ProgramError("E_STRUCTURE", "a function without a body", node.lineno, "Write the whole program.")
        case ast.Call(func=ast.Name(id=name)):
            hint = f"Remove the call of {name[:40]}: a reward only computes a number."
        case ast.Constant(value=str()):
            hint = "Text may stand only at the start of a function; use a comment."
        case _:
            hint = HINTS.get(type(node.value).__name__, "Assign it or remove it.")
    return ProgramError("E_NODE", "an expression whose value is not used", node.lineno, hint)
