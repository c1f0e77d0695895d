"""Programs that stand as a string inside JSON, or inside what was meant to be JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from search_spaces.functions import ENTRY

_WANTED = f"def {ENTRY}"
_OBJECT = re.compile(r'\{\s*"')
_LITERAL = re.compile(r'[:\[,]\s*(?:"""(?P<raw>.*?)(?:"""|\Z)|"(?P<escaped>(?:[^"\\]|\\.)*))', re.DOTALL)
_OBJECTS = 20
_TEXTS = 20


def wrapped_texts(text: str) -> list[str]:
    """Return the strings in a JSON answer that mention a definition of `compute_reward`: the last 20, in their order.

    JSON that is cut off or not quite right is read as far as its strings go. The work is linear in the text's length.
    """
    if _WANTED not in text:
        return []
    found = [each for data in _values(text) for each in _strings(data) if _WANTED in each]
    if not found:
        found = [each for each in _literals(text) if _WANTED in each]
    return [_unescaped(each) for each in found[-_TEXTS:]]


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON values in `text`: the one that it starts with, and objects."""
    decoder = json.JSONDecoder(strict=False)
    position = len(text) - len(text.lstrip())
    if text[position] not in '[{"':
        position = _next_object(text, position)
    for _ in range(_OBJECTS):
        if position < 0:
            return
        try:
            data, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield data
        position = _next_object(text, end)


def _next_object(text: str, start: int) -> int:
    opening = _OBJECT.search(text, start)
    return opening.start() if opening else -1


def _literals(text: str) -> Iterator[str]:
    decoder = json.JSONDecoder(strict=False)
    for literal in _LITERAL.finditer(text):
        raw, escaped = literal.group("raw", "escaped")
        if raw is not None:
            yield raw
            continue
        try:
            decoded = decoder.decode(f'"{escaped}"')
        except ValueError:
            continue
        yield str(decoded)


def _unescaped(text: str) -> str:
    """Return `text` with line feeds where it was escaped twice."""
    if "\n" in text or "\\n" not in text or text.lstrip()[:1] in ("{", "[", '"'):
        return text
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


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
