"""Which Python syntax the language has at all: one walk over the whole tree, without recursion, before anything else.

It covers unreachable code and helpers that nobody calls; what a construct means is decided in `expressions.py` and
`statements.py`.
"""

import ast
import threading
import warnings
from collections.abc import Iterator, Mapping

from search_spaces.errors import ProgramError
from search_spaces.functions import RESERVED
from search_spaces.limits import MAX_SYNTAX_DEPTH, MAX_SYNTAX_NODES

_ALLOWED = frozenset({
    ast.Module, ast.FunctionDef, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Expr, ast.Pass,
    ast.Import, ast.ImportFrom, ast.alias, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call,
    ast.keyword, ast.Constant, ast.Attribute, ast.Subscript, ast.Name, ast.Tuple, ast.Dict,
})  # fmt: skip
_ANNOTATION = frozenset({ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp})
_MARKS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.type_ignore)
_OVER_LISTS = ("sum", "min", "max")

_WARNING_FILTERS = threading.Lock()
"""Held while the parser's warnings are silenced: the filters are the whole process's, and threads check programs."""

_LOOP = "There are no loops: write each term out."
_PURE = "A reward is a plain function of the state: keep nothing between calls."
HINTS: Mapping[str, str] = {
    "For": _LOOP,
    "While": _LOOP,
    "ListComp": _LOOP,
    "SetComp": _LOOP,
    "DictComp": _LOOP,
    "GeneratorExp": _LOOP,
    "FunctionDef": "Move it out, above compute_reward, and pass it what it needs.",
    "Lambda": "Write a helper function above compute_reward.",
    "ClassDef": "Write plain functions.",
    "Try": "Nothing raises here: 1/0 is inf and log(0) is -inf; guard with max(x, 1e-6) or an if.",
    "With": _PURE,
    "Global": _PURE,
    "Nonlocal": _PURE,
    "Delete": "Variables need no deleting.",
    "Match": "Use if / elif / else.",
    "NamedExpr": "Assign in a statement of its own.",
    "JoinedStr": "Text is no value here: remove it.",
    "Starred": "Write each argument out.",
    "List": "Lists exist only as the argument of sum, min or max: sum([a, b]).",
    "Set": "Sets do not exist here.",
    "Slice": 'Read one field: state["ttc"].',
    "AsyncFunctionDef": "Write a plain def.",
    "Yield": "Use return.",
    "YieldFrom": "Use return.",
    "Await": "Use plain calls.",
    "Assert": "Remove it: a reward only computes a number.",
    "Raise": "Return a penalty instead.",
    "Break": _LOOP,
    "Continue": _LOOP,
}
"""What to write instead, by the name of the syntax node."""


def parsed(text: str) -> ast.Module:
    """Parse a text that passed `limits.checked_text`.

    Raises:
        ProgramError: `E_SYNTAX`, or `E_DEPTH` when Python's parser gives up on nesting.
    """
    try:
        with _WARNING_FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, type_comments=False)
    except SyntaxError as error:
        message = f"Python cannot parse it: {error.msg[:100]}"
        raise ProgramError(
            "E_SYNTAX", message, error.lineno, "Send one complete, correctly indented program."
        ) from error
    except ValueError as error:
        raise ProgramError("E_SYNTAX", f"Python cannot parse it: {str(error)[:100]}") from error
    except (MemoryError, RecursionError) as error:
        message = "expressions nested deeper than Python's parser goes"
        raise ProgramError("E_DEPTH", message, hint="Assign parts of it to variables.") from error


def checked_tree(tree: ast.Module) -> None:
    """Refuse a tree that holds what the language does not have.

    Raises:
        ProgramError: `E_NODE`, `E_NAME`, `E_STRUCTURE`, `E_TYPE`, `E_SIZE` or `E_DEPTH`.
    """
    count = 0
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        count += 1
        line = getattr(node, "lineno", None)
        if depth > MAX_SYNTAX_DEPTH:
            message = f"syntax nested more than {MAX_SYNTAX_DEPTH} deep"
            raise ProgramError("E_DEPTH", message, line, "Assign parts of it to variables; shorten elif chains.")
        if count > MAX_SYNTAX_NODES:
            message = f"more than {MAX_SYNTAX_NODES} syntax nodes"
            raise ProgramError("E_SIZE", message, line, "Write a shorter program.")
        if type(node) not in _ALLOWED:
            raise refused_node(node)
        stack.extend((child, depth + 1) for child in reversed(list(_children(node))))


def refused_node(node: ast.AST) -> ProgramError:
    """Return the refusal of a construct that the language does not have."""
    name = type(node).__name__
    phrase = "a function inside a function" if isinstance(node, ast.FunctionDef) else name
    return ProgramError(
        "E_NODE",
        f"{phrase} is not part of the reward language",
        getattr(node, "lineno", None),
        HINTS.get(
            name, "Use assignments, if / elif / else, arithmetic, comparisons and calls of the listed functions."
        ),
    )


def check_name(name: str, node: ast.AST) -> None:
    """Refuse a name with a double underscore.

    Raises:
        ProgramError: `E_NAME`.
    """
    if "__" in name:
        message = f"the name {name[:40]!a} has a double underscore"
        hint = "Remove the test code." if name == "__name__" else "Remove it, or use single underscores."
        raise ProgramError("E_NAME", message, getattr(node, "lineno", None), hint)


def tolerated(node: ast.Import | ast.ImportFrom) -> bool:
    """Return whether an import is one of those that are erased: math, numpy as np, names of typing.

    One that would bind a name with a meaning of its own, or a dunder, is none of them.
    """
    if isinstance(node, ast.ImportFrom):
        bound = [each.asname or each.name for each in node.names]
        harmless = not any(name in RESERVED or "__" in name for name in bound)
        return node.module == "typing" and node.level == 0 and harmless
    spelled = {("math", None), ("math", "math"), ("numpy", None), ("numpy", "np"), ("typing", None)}
    return all((each.name, each.asname) in spelled for each in node.names)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children to walk next, having checked what depends on their place."""
    match node:
        case ast.FunctionDef():
            _check_function(node)
            yield from node.body
        case ast.AnnAssign():
            _check_annotation(node.annotation)
            yield node.target
            if node.value is not None:
                yield node.value
        case ast.Call(func=ast.Name(id=name), args=[ast.List() | ast.Tuple() as several], keywords=[]) if (
            name in _OVER_LISTS
        ):
            yield node.func
            yield from several.elts
        case ast.Assign(targets=targets) if any(_starred(each) for each in targets):
            raise ProgramError("E_TYPE", "a starred target", node.lineno, HINTS["Starred"])
        case ast.Attribute(value=ast.Name(), attr=attribute) if "__" not in attribute:
            yield node.value
        case ast.Attribute(attr=attribute):
            message = f"the attribute .{ascii(attribute[:40])[1:-1]} is not part of the reward language"
            hint = 'Attributes exist only in math.f(x), np.f(x) and state.get("key").'
            raise ProgramError("E_NODE", message, node.lineno, hint)
        case ast.Dict(keys=keys) if None in keys:
            raise ProgramError("E_NODE", "dict unpacking", node.lineno, "Write each component out.")
        case _:
            if isinstance(node, ast.Name):
                check_name(node.id, node)
            yield from (child for child in ast.iter_child_nodes(node) if not isinstance(child, _MARKS))


def _starred(target: ast.AST) -> bool:
    return isinstance(target, ast.Tuple) and any(isinstance(each, ast.Starred) for each in target.elts)


def _check_function(node: ast.FunctionDef) -> None:
    if node.decorator_list:
        raise ProgramError("E_NODE", "a decorator", node.lineno, "Write the function without it.")
    if getattr(node, "type_params", None):
        raise ProgramError("E_NODE", "type parameters", node.lineno, "Write the function without them.")
    check_name(node.name, node)
    given = node.args
    odd = (given.posonlyargs, given.kwonlyargs, given.vararg, given.kwarg, given.defaults, given.kw_defaults)
    if any(odd):
        raise ProgramError(
            "E_STRUCTURE",
            f"{node.name[:40]} has parameters other than plain ones",
            node.lineno,
            "Use plain parameters: no *, no /, no default values.",
        )
    names = [each.arg for each in given.args]
    if len(set(names)) < len(names):
        raise ProgramError("E_SYNTAX", f"{node.name[:40]} names a parameter twice", node.lineno, "Rename one.")
    for each in given.args:
        check_name(each.arg, each)
        _check_annotation(each.annotation)
    _check_annotation(node.returns)


def _check_annotation(annotation: ast.expr | None) -> None:
    if annotation is None:
        return
    for count, node in enumerate(ast.walk(annotation)):
        if count > MAX_SYNTAX_NODES:
            raise ProgramError("E_SIZE", "an annotation that is too large", annotation.lineno, "Remove it.")
        if isinstance(node, ast.Name):
            check_name(node.id, node)
        union = not isinstance(node, ast.BinOp) or isinstance(node.op, ast.BitOr)
        dunder = isinstance(node, ast.Attribute) and "__" in node.attr
        if not isinstance(node, _MARKS) and (type(node) not in _ANNOTATION or dunder or not union):
            message = f"{type(node).__name__} in an annotation"
            raise ProgramError("E_NODE", message, annotation.lineno, "Annotate with plain names or not at all.")
