"""Reply text of a model to the source of one program: fences, prose, reasoning and JSON are taken off.

Nothing is judged here beyond finding the text: the program itself is judged by `search_spaces/language.py`. All scans
are linear in the length of the reply.
"""

import ast
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

from search_spaces.allowlist import parsed
from search_spaces.errors import ProgramError
from search_spaces.functions import ENTRY
from search_spaces.limits import checked_text, decoded
from search_spaces.program import Violation

MAX_REPLY = 200_000
"""Characters of a reply; longer ones are refused unread."""

_DEFINITION = re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{ENTRY}\b", re.MULTILINE)
_BODY = re.compile(rf"^[ \t]*def[ \t]+{ENTRY}\b[^\n]*\n?(?P<body>(?:(?:[ \t][^\n]*)?(?:\n|\Z))*)", re.MULTILINE)
_REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_FENCE = re.compile(
    r"^(?P<lead>[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$"
)
_FENCED = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_SPECIAL = re.compile(r"(?:<\|[a-z_]{1,20}\|>|</s>)\s*\Z")
_OBJECT = re.compile(r'\{\s*"')
_OBJECTS = 20
_LONGEST_LINE = 1_000
_HINT = f"Answer with one fenced block: ```python, then def {ENTRY}(state): ..., then ```."


def extract_program(reply: str | bytes | None) -> str | Violation:
    """Return the source of the program that a reply holds.

    Of several fenced blocks the last one counts that defines `compute_reward` with a body; helpers and constants in it
    are kept. Without fences the text from the first line of code to the last one counts.

    Args:
        reply: What the model sent; None when it sent nothing.

    Returns:
        Text for `compile_program`, or a violation: `E_ENCODING`, `E_SIZE`, or `E_STRUCTURE` when there is no program.
    """
    if reply is None:
        return Violation("E_STRUCTURE", "an empty reply", None, _HINT)
    if len(reply) > 4 * MAX_REPLY:
        return _too_long(len(reply))
    try:
        text = decoded(reply)
    except ProgramError as error:
        return Violation(error.code, error.message, error.line, error.hint)
    if len(text) > MAX_REPLY:
        return _too_long(len(text))
    answer = _SPECIAL.sub("", _without_reasoning(text))
    source = _found(answer, depth=0)
    if source is not None:
        return source
    if not answer.strip():
        what = "only reasoning" if text.strip() else "an empty reply"
        return Violation("E_STRUCTURE", what, None, _HINT)
    if "def " not in answer and _is_plain_prose(answer):
        return Violation("E_STRUCTURE", f"a reply without def {ENTRY}(state)", None, _HINT)
    # Whatever else it is, it is judged as it stands, so that its own fault is named.
    return answer


def _too_long(size: int) -> Violation:
    return Violation("E_SIZE", f"a reply of {size} characters; at most {MAX_REPLY} are read", None, _HINT)


def _without_reasoning(text: str) -> str:
    """Drop `<think>...</think>`; an opening without an end is kept when only its inside defines a program."""
    kept: list[str] = []
    position = depth = 0
    for tag in _REASONING.finditer(text):
        if tag.group(1):
            if depth == 0:
                kept.clear()
            depth = max(depth - 1, 0)
        else:
            if depth == 0:
                kept.append(text[position : tag.start()])
            depth += 1
        position = tag.end()
    rest = text[position:]
    if depth == 0 or not any(_DEFINITION.search(each) for each in kept):
        kept.append(rest)
    return "".join(kept)


def _found(text: str, depth: int) -> str | None:
    """Return the program in `text`; None when nothing in it looks like one."""
    if _DEFINITION.search(text) and not _FENCED.search(text) and _parses(text):
        return text
    blocks = list(_blocks(text.split("\n")))
    defining = [block for block in blocks if _DEFINITION.search(block)]
    if defining:
        complete = [block for block in defining if not _is_stub(block)]
        return _trimmed((complete or defining)[-1])
    for candidate in [*reversed(blocks), text]:
        wrapped = _from_json(candidate) if depth < 2 else None
        if wrapped is not None:
            return _found(wrapped, depth + 1)
    if _DEFINITION.search(text):
        return _trimmed(text)
    return blocks[-1] if blocks else None


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yield the contents of fenced blocks; one that is never closed ends with the text."""
    inside: list[str] = []
    mark = lead = ""
    for line in lines:
        fence = _FENCE.match(line)
        if not mark:
            if fence:
                mark, lead = fence["mark"], fence["lead"]
                words = fence["info"].split(None, 1)
                inside = [words[1]] if len(words) == 2 and words[1].startswith("def ") else []
        elif _closes(line, mark):
            yield _unindented(inside, lead)
            mark = ""
        else:
            inside.append(line)
    if mark:
        if inside and inside[-1].rstrip().endswith(mark):
            inside[-1] = inside[-1].rstrip().removesuffix(mark)
        yield _unindented(inside, lead)


def _closes(line: str, mark: str) -> bool:
    stripped = line.strip(" \t>")
    return len(stripped) >= len(mark) and not stripped.strip(mark[0])


def _unindented(lines: Sequence[str], lead: str) -> str:
    if ">" in lead:
        lines = [re.sub(r"^[ \t]*(?:>[ \t]?)+", "", line) for line in lines]
    first = next((line for line in lines if line.strip()), "")
    text = "\n".join(lines)
    return (textwrap.dedent(text) if first[:1] in (" ", "\t") else text) + "\n"


def _is_stub(block: str) -> bool:
    """Return whether the body of `compute_reward` is only `...`, `pass`, comments and a docstring."""
    found = list(_BODY.finditer(block))
    if not found:
        return False
    body = re.sub(r'"""(?:[^"\\]|\\.|"(?!""))*"""|#[^\n]*', "", found[-1]["body"], flags=re.DOTALL)
    return not body.replace("...", "").replace("pass", "").strip()


def _trimmed(text: str) -> str:
    """Drop the prose before and after the code of a text that is no program as it stands."""
    if _parses(text):
        return text
    lines = text.split("\n")
    definitions = [number for number, line in enumerate(lines) if _DEFINITION.match(line)]
    if lines[definitions[0]][:1] in (" ", "\t") and not any(map(_is_code, lines)):
        margin = lines[definitions[0]][: -len(lines[definitions[0]].lstrip())]
        inside = takewhile(lambda line: line.startswith(margin) or not line.strip(), lines[definitions[0] :])
        lines = [line.removeprefix(margin) for line in inside]
        text = "\n".join(lines)
        definitions = [0]
    first, last = definitions[0], definitions[-1]
    start = 1 + max((k for k in range(first) if _is_prose(lines[k])), default=-1)
    end = next((k for k in range(last + 1, len(lines)) if _is_prose(lines[k])), len(lines))
    return text if (start, end) == (0, len(lines)) else "\n".join(lines[start:end]) + "\n"


def _parses(text: str) -> bool:
    try:
        checked = checked_text(text)
    except ProgramError:
        return False
    return _tree(checked) is not None


def _is_plain_prose(text: str) -> bool:
    try:
        return _tree(checked_text(text)) is None
    except ProgramError as error:
        return error.code in ("E_SYNTAX", "E_NAME")


def _tree(text: str) -> ast.Module | None:
    try:
        return parsed(text)
    except ProgramError:
        return None


def _is_prose(line: str) -> bool:
    return bool(line.strip()) and line[0] not in " \t" and not _is_code(line)


def _is_code(line: str) -> bool:
    """Return whether a line at the margin is code: a definition, import, comment, assignment, call or bracket."""
    if not line.strip() or line[0] in " \t":
        return False
    if line[0] in "#)]}" or (line[0] == "@" and len(line.split()) == 1):
        return True
    if len(line) > _LONGEST_LINE:
        return False
    stripped = line.rstrip()
    if re.match(r"(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[(:]", stripped):
        return True
    if stripped.endswith(("(", "[", "{", "\\", ",", '"""')):
        return re.match(r"[A-Za-z_]\w*(?:\s*,\s*\w+)*\s*(?::[^=]*)?=", stripped) is not None or stripped == '"""'
    try:
        tree = _tree(checked_text(stripped) + (" pass" if stripped.endswith(":") else ""))
    except ProgramError:
        return False
    return tree is not None and bool(tree.body) and not _is_word(tree.body[0])


def _is_word(statement: ast.stmt) -> bool:
    """Return whether a line that parses is more likely a word or a heading than code."""
    match statement:
        case ast.Expr(value=ast.Call() | ast.Constant(value=str())):
            return False
        case ast.Expr() | ast.AnnAssign(value=None):
            return True
    return False


def _from_json(text: str) -> str | None:
    """Return the string in a JSON answer that holds the program."""
    if f"def {ENTRY}" not in text:
        return None
    decoder = json.JSONDecoder(strict=False)
    for opening in islice(_OBJECT.finditer(text), _OBJECTS):
        try:
            data, _ = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        found = next((each for each in _strings(data) if f"def {ENTRY}" in each), None)
        if found is not None:
            return found
    return None


def _strings(data: Any) -> Iterator[str]:
    stack = [data]
    while stack:
        match stack.pop():
            case str() as text:
                yield text
            case list() as items if items and all(isinstance(each, str) for each in items):
                yield "\n".join(items)
            case list() as items:
                stack.extend(reversed(items))
            case Mapping() as entries:
                stack.extend(reversed(list(entries.values())))
