"""The reward language: source text to a typed program, without ever executing it.

    text -> limits.py -> allowlist.py -> statements.py, calls.py, expressions.py -> graph.py -> program.py

A text is refused with a code, a line and a hint that its author (a person or an LLM) can act on.
"""

import ast

from search_spaces.allowlist import checked_tree, parsed, tolerated
from search_spaces.errors import ProgramError
from search_spaces.functions import ENTRY
from search_spaces.limits import checked_text
from search_spaces.program import RewardProgram, Violation
from search_spaces.statements import StatementCompiler
from search_spaces.values import Parts, Scalar, Several, State, Value

_EXAMPLE = f"Write def {ENTRY}(state): ... return total"


def compile_program(source: str | bytes) -> RewardProgram | Violation:
    """Check a program and turn it into data.

    Args:
        source: Text of one program; fences and prose around it are the business of `actors/replies.py`.

    Returns:
        The program, or why it is refused. Nothing is raised, whatever the text is.
    """
    try:
        tree = parsed(checked_text(source))
        checked_tree(tree)
        return _ModuleCompiler().program(tree)
    except ProgramError as error:
        return Violation(error.code, error.message, error.line, error.hint)
    except RecursionError:
        return Violation("E_DEPTH", "expressions nested too deep", None, "Assign parts of it to variables.")


class _ModuleCompiler(StatementCompiler):
    """Compiles a module: imports are erased, constants evaluated, helpers kept, and the entry point compiled."""

    def program(self, tree: ast.Module) -> RewardProgram:
        entry = self._entry(tree)
        for statement in tree.body:
            self._module_statement(statement, entry)
        value = self.function(entry, {entry.args.args[0].arg: State()})
        total, parts = _total_and_parts(value, entry)
        components = {name: each.index for name, each in parts.entries.items()}
        return RewardProgram(self.builder.finish(total.index, components))

    def _entry(self, tree: ast.Module) -> ast.FunctionDef:
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        entries = [node for node in functions if node.name == ENTRY]
        if not entries:
            hint = f"Rename {functions[-1].name[:40]} to {ENTRY}." if len(functions) == 1 else _EXAMPLE
            raise ProgramError("E_STRUCTURE", f"no function {ENTRY}(state)", None, hint)
        if len(entries) > 1:
            message = f"{ENTRY} is defined {len(entries)} times"
            raise ProgramError("E_STRUCTURE", message, entries[1].lineno, "Keep one definition.")
        if len(entries[0].args.args) != 1:
            message = f"{ENTRY} takes one parameter, not {len(entries[0].args.args)}"
            raise ProgramError("E_STRUCTURE", message, entries[0].lineno, _EXAMPLE)
        return entries[0]

    def _module_statement(self, node: ast.stmt, entry: ast.FunctionDef) -> None:
        match node:
            case ast.FunctionDef():
                if node is not entry:
                    self.check_target(node.name, node)
                    if node.name in self.module.variables:
                        raise ProgramError("E_NAME", f"{node.name} is defined twice", node.lineno, "Rename one.")
                    self.helpers[node.name] = node
            case ast.Import() | ast.ImportFrom():
                if not tolerated(node):
                    name = node.names[0].name if isinstance(node, ast.Import) else str(node.module)
                    hint = "Remove it: exp, sqrt, clip, math.log1p, np.where ... work without an import."
                    raise ProgramError("E_IMPORT", f"an import of {name[:40]!a}", node.lineno, hint)
            case ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.Assign(targets=targets) if any(
                isinstance(each, ast.Name) and each.id == ENTRY for each in targets
            ):
                raise ProgramError("E_NODE", f"{ENTRY} is bound again", node.lineno, "Keep its definition only.")
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self._module_constant(node)
            case _:
                message = f"{type(node).__name__} outside of a function"
                hint = "Only constants, helpers and compute_reward may stand there; remove test code."
                raise ProgramError("E_NODE", message, node.lineno, hint)

    def _module_constant(self, node: ast.stmt) -> None:
        try:
            self.assignment(node, self.module)
        except ProgramError as error:
            if error.line is None:
                error.line = node.lineno
            raise


def _total_and_parts(value: Value, entry: ast.FunctionDef) -> tuple[Scalar, Parts]:
    match value:
        case Several(items=(Scalar() as total, Parts() as parts)):
            return total, parts
    raise ProgramError("E_TYPE", f"{ENTRY} returns no number", entry.lineno, "Return total, components.")
