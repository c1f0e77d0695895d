"""Telling the code of a reply from the prose around it, line by line and statement by statement."""

import ast
import re

from search_spaces.allowlist import parsed
from search_spaces.errors import ProgramError
from search_spaces.limits import checked_text

LONGEST_LINE = 1_000
"""Characters of a line that is looked at closely."""


def syntax_tree(text: str) -> ast.Module | None:
    """Return the tree of a text within the limits of the language; None when it is not Python."""
    try:
        return parsed(checked_text(text))
    except ProgramError:
        return None


def parses(text: str) -> bool:
    """Return whether a text within the limits of the language is Python."""
    return syntax_tree(text) is not None


def is_code_alone(text: str) -> bool:
    """Return whether a text is Python without remarks that happen to parse, such as `Done`."""
    tree = syntax_tree(text)
    return tree is not None and not any(map(_is_remark, tree.body))


def is_prose(line: str) -> bool:
    """Return whether a line stands at the margin, shows something, and is no code."""
    shows = any(each.isprintable() and not each.isspace() for each in line)
    return shows and line[0] not in " \t" and not is_code(line)


def is_code(line: str) -> bool:
    """Return whether a line at the margin is code: a definition, import, comment, assignment, call or bracket."""
    if not line.strip() or line[0] in " \t":
        return False
    if line[0] in "#)]}" or (line[0] == "@" and len(line.split()) == 1):
        return True
    if len(line) > LONGEST_LINE:
        return False
    stripped = line.rstrip()
    if re.match(r"(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[(:]", stripped):
        return True
    if stripped.endswith(("(", "[", "{", "\\", ",", '"""')):
        return re.match(r"[A-Za-z_]\w*(?:\s*,\s*\w+)*\s*(?::[^=]*)?=", stripped) is not None or stripped == '"""'
    tree = syntax_tree(stripped + (" pass" if stripped.endswith(":") else ""))
    return tree is not None and bool(tree.body) and not _is_word(tree.body[0])


def _is_remark(statement: ast.stmt) -> bool:
    """Return whether a statement is nothing but words, as `Note: it is fast` is."""
    match statement:
        case ast.Expr(value=words):
            least = 1
        case ast.AnnAssign(annotation=words, value=None):
            least = 2
        case _:
            return False
    names = [each.id for each in ast.walk(words) if isinstance(each, ast.Name)]
    plain = (ast.Name, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.expr_context)
    marks = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
    only_words = all(isinstance(each, (*plain, *marks)) for each in ast.walk(words))
    return only_words and len(names) >= least and not any("_" in name for name in names)


def _is_word(statement: ast.stmt) -> bool:
    """Return whether a line that parses is more likely a word or a heading than code."""
    match statement:
        case ast.Expr(value=ast.Call() | ast.Constant(value=str())):
            return False
        case ast.Expr() | ast.AnnAssign(value=None):
            return True
    return False
