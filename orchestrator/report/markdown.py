"""A report as Markdown, with its pictures and films as files beside it.

Every text is escaped, here and nowhere else: what Markdown or HTML would read as markup gets a backslash, control and
invisible characters become visible escapes, and longer texts stand in fences that nothing inside them can close.
"""

import re
from collections.abc import Iterator

from actors.untrusted import fenced, visible
from orchestrator.report.document import (
    Absent,
    Block,
    Clip,
    Code,
    Column,
    Details,
    Document,
    Facts,
    Lead,
    Paragraph,
    Picture,
    Points,
    Quote,
    Table,
    Tiles,
    blocks_in,
)

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
"""What may start or end markup anywhere in a line."""
_LINE_START = re.compile(r"^(\s*)([-+=>]|\d+(?=[.)](?:\s|$)))")
"""What may start a list, a heading or a quotation at the start of one; a number does before a dot and a space."""


def to_markdown(document: Document) -> str:
    """Return the report as Markdown; it refers to the files that `companions` returns."""
    parts = [f"# {escaped(document.title)}", escaped(document.subtitle)]
    for section in document.sections:
        parts.append(f"## {escaped(section.title)}")
        for block in section.blocks:
            parts.extend(_rendered(block))
    return "\n\n".join(parts) + "\n"


def companions(document: Document) -> dict[str, bytes]:
    """Return the files that the Markdown refers to, by name relative to it."""
    found: dict[str, bytes] = {}
    for section in document.sections:
        for block in blocks_in(section.blocks):
            if isinstance(block, Picture):
                found[f"images/{block.name}.svg"] = block.wide.encode()
            elif isinstance(block, Clip):
                found[f"films/{block.name}.mp4"] = block.mp4
    return found


def escaped(text: str) -> str:
    """Return untrusted text as one line of Markdown that reads as the text itself."""
    line = _MARKUP.sub(r"\\\1", visible(" ".join(text.split())))
    return _LINE_START.sub(_escape_start, line)


def _escape_start(found: re.Match[str]) -> str:
    return f"{found[1]}\\{found[2]}" if not found[2].isdigit() else f"{found[1]}{found[2]}\\"


def _rendered(block: Block) -> Iterator[str]:
    """Yield the parts of a block, which blank lines will separate."""
    match block:
        case Paragraph(text):
            yield escaped(text)
        case Lead(text):
            yield f"**{escaped(text)}**"
        case Absent(text):
            yield f"*{escaped(text)}*"
        case Tiles(tiles):
            yield "\n".join(
                f"- {escaped(each.label)}: **{escaped(each.value)}**"
                + (f" ({escaped(each.note)})" if each.note else "")
                for each in tiles
            )
        case Facts(pairs):
            yield "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in pairs)
        case Points(texts):
            yield "\n".join(f"- {escaped(text)}" for text in texts)
        case Table():
            yield _table(block)
            yield escaped(block.caption)
        case Picture():
            yield f"![{escaped(block.title)}](images/{block.name}.svg)"
            yield escaped(block.caption)
        case Clip():
            yield f"[Film: {block.name}](films/{block.name}.mp4): {escaped(block.caption)}"
        case Code(text, language):
            yield fenced(visible(text, kept="\n\t"), language)
        case Quote(text, who):
            yield f"{escaped(who)}:"
            yield fenced(visible(text, kept="\n\t"), "text")
        case Details(title, blocks):
            yield f"### {escaped(title)}"
            for inner in blocks:
                yield from _rendered(inner)


def _table(table: Table) -> str:
    lines = [_line([escaped(column.title) for column in table.columns])]
    lines.append(_line([_rule(column) for column in table.columns]))
    for each in table.rows:
        cells = [escaped(cell.text) + (f" ({escaped(cell.note)})" if cell.note else "") for cell in each.cells]
        lines.append(_line([f"**{cell}**" if each.kind == "champion" and cell else cell for cell in cells]))
    return "\n".join(lines)


def _rule(column: Column) -> str:
    return "---:" if column.numeric else "---"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
