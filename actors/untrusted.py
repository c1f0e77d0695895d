"""Text from a model, a server or a user on its way into a prompt, an error, the journal or a terminal.

It is made harmless, never run.
"""

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories of what steers a terminal or hides from a reader."""


def clean(text: str) -> str:
    """Return the text without lone surrogates, which no UTF-8 file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, longest: int = 300) -> str:
    """Return the beginning of a text on one line, control and invisible characters escaped.

    Args:
        text: Untrusted text.
        longest: Characters at most.
    """
    return visible(" ".join(text[: 4 * longest].split()))[:longest]


def paragraphs(text: str, longest: int) -> str:
    """Return the beginning of a text with its lines, control and invisible characters escaped.

    Args:
        text: Untrusted text.
        longest: Characters at most.
    """
    lines = (visible(line.rstrip()) for line in text[:longest].replace("\t", " ").split("\n"))
    return "\n".join(lines).strip()[:longest]


def quoted(text: str, longest: int) -> str:
    """Return a text as a block quotation, which nothing inside it can end.

    Args:
        text: Untrusted text.
        longest: Characters at most, before the marks of quotation.
    """
    return "\n".join(f"> {line}".rstrip() for line in paragraphs(text, longest).split("\n"))


def fenced(code: str, language: str = "python") -> str:
    """Return code in a fence that is longer than any inside it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def visible(text: str, kept: str = "") -> str:
    """Return a text with control and invisible characters escaped.

    Args:
        text: Untrusted text.
        kept: Characters that stay as they are.
    """
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _UNSEEN and character not in kept
        else character
        for character in text
    )
