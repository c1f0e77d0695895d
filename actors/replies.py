"""Reply text of a model to the source of one program: fences, prose, reasoning and JSON are taken off.

Nothing is judged here beyond finding the text: the program itself is judged by `search_spaces/language.py`. All scans
are linear in the length of the reply.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import takewhile

from actors.prose import LONGEST_LINE, is_code, is_code_alone, is_prose, parses, syntax_tree
from actors.wrapped import wrapped_texts
from search_spaces.errors import ProgramError
from search_spaces.functions import ENTRY
from search_spaces.limits import checked_text, decoded
from search_spaces.program import Violation

MAX_REPLY = 200_000
"""Characters of a reply; longer ones are refused unread."""

_DEFINITION = re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{ENTRY}\b", re.MULTILINE)
_BODY = re.compile(rf"^[ \t]*def[ \t]+{ENTRY}\b[^\n]*\n?(?P<body>(?:(?:[ \t][^\n]*)?(?:\n|\Z))*)", re.MULTILINE)
_QUOTED = re.compile(rf"^[ \t]*>[> \t]*def[ \t]+{ENTRY}\b", re.MULTILINE)
_REASONING = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning|scratchpad|analysis)(?:[ \t][^<>\n]{0,80})?>", re.IGNORECASE
)
_FINAL_CHANNEL = re.compile(r"\A.*<\|channel\|>final<\|message\|>", re.DOTALL)
_TAGS = re.compile(
    r"^[ \t]*(?:<[a-z][^<>\n]{0,80}>)+(?=(?:async|def|import|from)[ \t]|```|~~~)", re.IGNORECASE | re.MULTILINE
)
_FENCE = re.compile(
    r"^(?P<lead>[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)$"
)
_FENCED = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_SPECIAL = re.compile(r"(?:<\|[a-z_]{1,20}\|>|</s>)\s*\Z")
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
    if _is_program(text):
        return text
    answer = _TAGS.sub("", _SPECIAL.sub("", _without_reasoning(text)))
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
    text = _FINAL_CHANNEL.sub("", text)
    kept: list[str] = []
    position = depth = 0
    for tag in _REASONING.finditer(text):
        if (depth == 0 or not tag.group(1)) and _in_comment(text, tag.start()):
            continue
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


def _in_comment(text: str, position: int) -> bool:
    before = text[max(position - LONGEST_LINE, 0) : position]
    return before[before.rfind("\n") + 1 :].lstrip().startswith("#")


def _is_program(text: str) -> bool:
    """Return whether `text` is the whole of a program, without fences and without remarks around it."""
    return _DEFINITION.search(text) is not None and not _FENCED.search(text) and is_code_alone(text)


def _found(text: str, depth: int) -> str | None:
    """Return the program in `text`; None when nothing in it looks like one."""
    if _is_program(text):
        return text
    blocks = list(_blocks(text.split("\n")))
    found = [source for source in (_of_block(block, depth) for block in blocks) if source is not None]
    complete = [source for source in found if not _is_stub(source)]
    if complete:
        return _trimmed(complete[-1])
    whole = _trimmed(text) if _DEFINITION.search(text) else None
    if whole is not None and parses(whole) and not _is_stub(whole):
        return whole
    wrapped = _from_json(text, depth + 1)
    if wrapped is not None:
        return wrapped
    if found or whole is not None:
        return _trimmed(found[-1]) if found else whole
    if depth < 2 and _QUOTED.search(text):
        return _found(_unquoted(text), depth + 1)
    return blocks[-1] if blocks else None


def _of_block(block: str, depth: int) -> str | None:
    """Return the text of a fenced block that defines the entry point, or what the JSON in it holds."""
    defines = _DEFINITION.search(block) is not None
    wrapped = None if defines and block.lstrip()[:1] not in ("{", "[") else _from_json(block, depth + 1)
    return wrapped or (block if defines else None)


def _from_json(text: str, depth: int) -> str | None:
    """Return the last program among the strings of a JSON answer: bare code first, drafts in prose after it."""
    texts = wrapped_texts(text) if depth <= 2 else []
    bare = [each for each in texts if _is_program(each) and not _is_stub(each)]
    found = bare or [source for source in (_found(each, depth) for each in texts) if source is not None]
    usable = [each for each in found if parses(each) and not _is_stub(each)] or found
    return usable[-1] if usable else None


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yield the contents of fenced blocks; one that is never closed ends with the text."""
    inside: list[str] = []
    mark = lead = ""
    quotes = 0
    for line in lines:
        fence = _FENCE.match(line)
        if not mark:
            if fence:
                mark, lead = fence["mark"], fence["lead"]
                opened = re.search(r"\bdef[ \t].*", fence["info"])
                inside, quotes = [opened.group()] if opened else [], 0
        elif _closes(line, mark) and (quotes % 2 == 0 or _margin(line) <= len(lead)):
            yield _unindented(inside, lead)
            mark = ""
        elif line.rstrip().endswith(mark) and quotes % 2 == 0 and "#" not in line and not fence:
            yield _unindented([*inside, line.rstrip().removesuffix(mark)], lead)
            mark = ""
        else:
            inside.append(line)
            quotes += line.count('"""') + line.count("'''")
    if mark:
        if inside and inside[-1].rstrip().endswith(mark):
            inside[-1] = inside[-1].rstrip().removesuffix(mark)
        yield _unindented(inside, lead)


def _closes(line: str, mark: str) -> bool:
    stripped = line.strip(" \t>")
    return len(stripped) >= len(mark) and not stripped.strip(mark[0])


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" \t>"))


def _unquoted(text: str) -> str:
    return re.sub(r"^[ \t]*(?:>[ \t]?)+", "", text, flags=re.MULTILINE)


def _unindented(lines: Sequence[str], lead: str) -> str:
    if ">" in lead:
        lines = [_unquoted(line) for line in lines]
    first = next((line for line in lines if line.strip()), "")
    text = "\n".join(lines)
    return (textwrap.dedent(text) if first[:1] in (" ", "\t") else text) + "\n"


def _is_stub(block: str) -> bool:
    """Return whether the body of `compute_reward` is only `...`, `pass`, `raise`, comments and a docstring."""
    for definition in _functions(block):
        return all(isinstance(each, (ast.Pass, ast.Raise)) or _is_text(each) for each in definition.body)
    found = list(_BODY.finditer(block))
    if not found:
        return False
    body = re.sub(r'"""(?:[^"\\]|\\.|"(?!""))*"""|#[^\n]*', "", found[-1]["body"], flags=re.DOTALL)
    return not body.replace("...", "").replace("pass", "").strip()


def _functions(text: str) -> list[ast.FunctionDef]:
    """Return the definitions of `compute_reward`, the last one first; none where the text is not Python."""
    tree = syntax_tree(text)
    body = tree.body if tree is not None else []
    return [each for each in reversed(body) if isinstance(each, ast.FunctionDef) and each.name == ENTRY]


def _is_text(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ... or isinstance(value, str)
    return False


def _trimmed(text: str) -> str:
    """Drop the prose before and after the code of a text that is no program as it stands."""
    if is_code_alone(text):
        return text
    lines = text.split("\n")
    definitions = [number for number, line in enumerate(lines) if _DEFINITION.match(line)]
    if lines[definitions[0]][:1] in (" ", "\t") and not any(map(is_code, lines)):
        margin = lines[definitions[0]][: -len(lines[definitions[0]].lstrip())]
        inside = takewhile(lambda line: line.startswith(margin) or not line.strip(), lines[definitions[0] :])
        lines = [line.removeprefix(margin) for line in inside]
        text = "\n".join(lines)
        definitions = [0]
    first, last = definitions[0], definitions[-1]
    start = 1 + max((k for k in range(first) if is_prose(lines[k])), default=-1)
    if "\n".join(lines[start:first]).count('"""') % 2:
        # The prose was the inside of a docstring of the module.
        start = max((k for k in range(start) if '"""' in lines[k]), default=start)
    end = next((k for k in range(last + 1, len(lines)) if is_prose(lines[k])), len(lines))
    return text if (start, end) == (0, len(lines)) else "\n".join(lines[start:end]) + "\n"


def _is_plain_prose(text: str) -> bool:
    try:
        checked_text(text)
    except ProgramError as error:
        return error.code in ("E_SYNTAX", "E_NAME")
    return not parses(text)
