"""A report before it is HTML or Markdown: headed sections of blocks, whose texts a renderer escapes, all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

RowKind = Literal["", "champion", "baseline", "failed"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True)
class Lead:
    """Running text that carries the message of its section."""

    text: str


@dataclass(frozen=True, slots=True)
class Absent:
    """What the run does not hold, said in one sentence, with what would bring it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One number at a glance.

    Attributes:
        label: What it is.
        value: The number with its unit.
        note: What it stands beside: an interval, a comparison.
    """

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Numbers at a glance, side by side."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what they are, one a line."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Points:
    """Sentences, one a line."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: What stands there.
        note: What stands smaller beside it, such as an interval.
    """

    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: Heading.
        numeric: Whether it holds numbers, which stand to the right.
    """

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    cells: tuple[Cell, ...]
    kind: RowKind = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table.

    Attributes:
        columns: Its columns.
        rows: Its rows, each as long as `columns`.
        caption: One sentence that explains it.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A plot.

    Attributes:
        name: File name without suffix, of letters, digits and dashes.
        title: What it shows, for those who cannot see it.
        caption: One sentence that explains it.
        wide: SVG for a page, in light colours (`style.darkened` makes the dark ones).
        narrow: SVG for a phone, likewise.
    """

    name: str
    title: str
    caption: str
    wide: str
    narrow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A film.

    Attributes:
        name: File name without suffix, of letters, digits and dashes.
        caption: What happens in it.
        mp4: The film.
    """

    name: str
    caption: str
    mp4: bytes


@dataclass(frozen=True, slots=True)
class Code:
    """Text of a fixed width that nobody runs.

    Attributes:
        text: The text.
        language: `python`, `diff`, `sh` or `text`.
    """

    text: str
    language: Literal["python", "diff", "sh", "text"] = "text"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a person or a model; never the report's own.

    Attributes:
        text: The words, untrusted.
        who: Who said them.
    """

    text: str
    who: str


@dataclass(frozen=True, slots=True)
class Details:
    """What is folded away until someone asks."""

    title: str
    blocks: "tuple[Block, ...]"


Block: TypeAlias = Paragraph | Lead | Absent | Tiles | Facts | Points | Table | Picture | Clip | Code | Quote | Details


@dataclass(frozen=True, slots=True)
class Section:
    """A headed part of the report.

    Attributes:
        id: Anchor, of letters and dashes.
        title: Heading.
        blocks: What stands in it.
    """

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    Attributes:
        title: Name of the search.
        subtitle: Its state in one line.
        sections: In order.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]


def row(*cells: str | Cell, kind: RowKind = "") -> Row:
    """Return a row of a table."""
    return Row(tuple(each if isinstance(each, Cell) else Cell(each) for each in cells), kind)


def blocks_in(blocks: Sequence[Block]) -> list[Block]:
    """Return all blocks, those that are folded away included, in order."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Details):
            found.extend(blocks_in(block.blocks))
    return found
