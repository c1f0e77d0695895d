"""What a text must be before Python's parser may see it: size, characters, names, literals, brackets.

One linear scan with a regular expression that cannot backtrack; nothing here builds a tree.
"""

import re
import unicodedata

from search_spaces.errors import ProgramError

MAX_CHARACTERS = 16_000
"""Characters of one program."""
MAX_LINES = 400
"""Lines of one program."""
MAX_NAME = 64
"""Characters of one identifier."""
MAX_LITERAL = 32
"""Characters of one number."""
MAX_BRACKETS = 30
"""Brackets inside brackets."""
MAX_SYNTAX_NODES = 2_500
"""Nodes of the syntax tree, without load/store marks and operators."""
MAX_SYNTAX_DEPTH = 60
"""Depth of the syntax tree."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_TOKEN = re.compile(
    r"""
      (?P<string>[A-Za-z]{0,2}(?:
          \"\"\"(?:[^"\\]|\\.|"(?!""))*(?P<end1>\"\"\")?
        | '''(?:[^'\\]|\\.|'(?!''))*(?P<end2>''')?
        | "(?:[^"\\\n]|\\.)*(?P<end3>")?
        | '(?:[^'\\\n]|\\.)*(?P<end4>')?
      ))
    | (?P<comment>\#[^\n]*)
    | (?P<number>\.?[0-9](?:[eE][+-]|[0-9A-Za-z_.])*)
    | (?P<name>[^\W\d]\w*)
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<other>[^\x00-\x7f])
    """,
    re.VERBOSE | re.DOTALL,
)


def decoded(source: str | bytes) -> str:
    """Return the text of `source` without byte order mark and with line feeds only.

    Raises:
        ProgramError: `E_ENCODING` when it is not UTF-8.
    """
    try:
        text = source.decode("utf-8") if isinstance(source, bytes) else source
        if not text.isascii():
            text.encode("utf-8")
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        message = f"not UTF-8 text: {error.reason} at position {error.start}"
        raise ProgramError("E_ENCODING", message, hint="Send plain UTF-8 text.") from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def checked_text(source: str | bytes) -> str:
    """Return the text of a program that may be parsed.

    Raises:
        ProgramError: `E_ENCODING`, `E_SIZE`, `E_NAME`, `E_CONST`, `E_DEPTH`, or `E_SYNTAX` for a string without end.
    """
    if len(source) > 4 * MAX_CHARACTERS:
        raise _too_long(len(source))
    text = decoded(source)
    if len(text) > MAX_CHARACTERS:
        raise _too_long(len(text))
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines > MAX_LINES:
        raise ProgramError(
            "E_SIZE", f"{lines} lines; at most {MAX_LINES} are allowed", MAX_LINES + 1, "Write a shorter program."
        )
    _check_characters(text)
    _check_tokens(text)
    return text


def _too_long(size: int) -> ProgramError:
    message = f"{size} characters; at most {MAX_CHARACTERS} are allowed"
    return ProgramError("E_SIZE", message, hint="Write a shorter program.")


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _check_characters(text: str) -> None:
    found = _FORBIDDEN.search(text)
    place = found.start() if found else None
    if place is None and not text.isascii():
        unseen = ("Cc", "Cf", "Cs", "Zl", "Zp")
        place = next((k for k, each in enumerate(text) if each > "\x7f" and unicodedata.category(each) in unseen), None)
    if place is not None:
        raise ProgramError(
            "E_ENCODING",
            f"invisible or control character U+{ord(text[place]):04X}",
            _line(text, place),
            "Remove it; only line feeds and tabs are allowed.",
        )


def _check_tokens(text: str) -> None:
    depth = 0
    for token in _TOKEN.finditer(text):
        kind, found = token.lastgroup, token.group()
        if kind == "name":
            if not found.isascii() or len(found) > MAX_NAME:
                raise _bad_name(found, _line(text, token.start()))
        elif kind == "number":
            if len(found) > MAX_LITERAL:
                message = f"a number of {len(found)} characters; at most {MAX_LITERAL} are allowed"
                raise ProgramError("E_CONST", message, _line(text, token.start()), "Write fewer digits.")
        elif kind == "open":
            depth += 1
            if depth > MAX_BRACKETS:
                message = f"brackets more than {MAX_BRACKETS} deep"
                raise ProgramError("E_DEPTH", message, _line(text, token.start()), "Assign parts of it to variables.")
        elif kind == "close":
            depth -= 1
        elif kind == "string" and not any(token.group("end1", "end2", "end3", "end4")):
            raise ProgramError("E_SYNTAX", "a string without end", _line(text, token.start()), "Close the quotes.")
        elif kind == "other":
            raise _bad_character(found, _line(text, token.start()))


def _bad_name(name: str, line: int) -> ProgramError:
    if name.isascii():
        return ProgramError("E_NAME", f"a name of {len(name)} characters; at most {MAX_NAME} are allowed", line)
    return ProgramError(
        "E_NAME", f"the name {name[:40]!a} is not plain ASCII", line, "Use the letters a-z, digits and underscores."
    )


def _bad_character(character: str, line: int) -> ProgramError:
    code = "E_NAME" if f"a{character}".isidentifier() else "E_SYNTAX"
    return ProgramError(
        code,
        f"the character {character!a} (U+{ord(character):04X}) outside of comments and strings",
        line,
        "Use plain ASCII in code: straight quotes, '-' for minus, '*' for times.",
    )
