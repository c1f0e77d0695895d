"""What a bundle may hold: which names, which kinds of file, how much, and what each must look like.

| suffix | what | checked how |
|---|---|---|
| `.json`, `.jsonl` | settings, figures, exchanges, the journal | parsed |
| `.py` | a reward program | text; whoever imports it has it checked by the language |
| `.txt`, `.md`, `.html`, `.svg`, `.csv` | lock, critiques, report | text |
| `.npz` | a policy, `policy.npz` alone | read by `Policy.from_bytes`, which knows no pickles |
| `.parquet` | single episodes | footer read: plain columns of numbers, and not too many |
| `.mp4`, `.png` | films and pictures | first bytes |
"""

import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq

from actors.policy import Policy
from search_spaces.errors import BundleError, PolicyError

MANIFEST = "MANIFEST.json"
"""Lists every other member with its SHA-256."""
TOTAL_LIMIT = 2**30
"""Bytes of a bundle at most, unpacked: 1 GiB."""
COUNT_LIMIT = 20_000
"""Members at most."""
NAME_LIMIT = 200
"""Characters of a member's name at most."""
_MEBIBYTE = 2**20
_CELL_LIMIT = 50_000_000
"""Numbers in one table of episodes at most: what a Parquet footer says, before anything is decoded."""
_CHUNK_LIMIT = 10_000
"""Column chunks in one table of episodes at most."""
_LINE_LIMIT = 16 * _MEBIBYTE
"""Bytes of one line of `.jsonl` at most; Python's objects take many times as much."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,4}")
"""Names that are the same file on every system: no root, no drive, no `..`, nothing hidden, no spaces or controls."""


def check_name(name: str) -> None:
    """Refuse a member by its name.

    Raises:
        BundleError: An absolute path, one that leads out, one that some system would read otherwise, or a file of a
            kind that bundles do not have.
    """
    if len(name) > NAME_LIMIT or _NAME.fullmatch(name) is None:
        raise BundleError(
            f"member {name[:NAME_LIMIT]!a}: expected a relative path of letters, digits, dots, dashes and underscores "
            f"of at most {NAME_LIMIT} characters; nothing was written"
        )
    suffix = PurePosixPath(name).suffix
    if suffix not in _CHECKS or (suffix == ".npz" and PurePosixPath(name).name != "policy.npz"):
        raise BundleError(
            f"member {name!a}: bundles hold {', '.join(sorted(_CHECKS))} files, and of .npz files policy.npz alone; "
            "nothing was written"
        )


def size_limit(name: str) -> int:
    """Return how many bytes a member of this name may have; it passed `check_name`."""
    return _SIZES.get(PurePosixPath(name).suffix, TOTAL_LIMIT)


def check_content(name: str, content: bytes) -> None:
    """Refuse a member by what it holds; its name passed `check_name`.

    Raises:
        BundleError: It is not what its name says.
    """
    try:
        _CHECKS[PurePosixPath(name).suffix](content)
    except (ValueError, RecursionError, PolicyError, pa.ArrowException, OSError) as error:
        raise BundleError(f"member {name}: not what its name says: {error}; nothing was written") from error


def _check_json(content: bytes) -> None:
    json.loads(content.decode("utf-8"))


def _check_lines(content: bytes) -> None:
    for line in content.splitlines():
        if len(line) > _LINE_LIMIT:
            raise ValueError(f"expected lines of at most {_LINE_LIMIT} bytes, found {len(line)}")
        json.loads(line.decode("utf-8"))


def _check_text(content: bytes) -> None:
    if "\0" in content.decode("utf-8"):
        raise ValueError("expected text, found a byte 0")


def _check_policy(content: bytes) -> None:
    Policy.from_bytes(content)


def _check_table(content: bytes) -> None:
    footer = pq.read_metadata(io.BytesIO(content))
    if footer.num_row_groups * footer.num_columns > _CHUNK_LIMIT:
        raise ValueError(f"expected a table of at most {_CHUNK_LIMIT} column chunks")
    cells = sum(
        footer.row_group(group).column(column).num_values
        for group in range(footer.num_row_groups)
        for column in range(footer.num_columns)
    )
    if cells > _CELL_LIMIT or footer.num_rows * footer.num_columns > _CELL_LIMIT:
        raise ValueError(f"expected a table of at most {_CELL_LIMIT} numbers, found {cells}")
    for column in range(footer.num_columns):
        kind = footer.schema.column(column).physical_type
        if kind not in ("BOOLEAN", "DOUBLE", "FLOAT", "INT32", "INT64"):
            raise ValueError(f"expected columns of numbers, found {kind}")


def _begins(start: int, magic: bytes) -> Callable[[bytes], None]:
    def check(content: bytes) -> None:
        if content[start : start + len(magic)] != magic:
            raise ValueError(f"expected {magic!r} at byte {start}, found {content[start : start + len(magic)]!r}")

    return check


_CHECKS: Mapping[str, Callable[[bytes], None]] = MappingProxyType(
    {
        ".json": _check_json,
        ".jsonl": _check_lines,
        ".py": _check_text,
        ".txt": _check_text,
        ".md": _check_text,
        ".html": _check_text,
        ".svg": _check_text,
        ".csv": _check_text,
        ".npz": _check_policy,
        ".parquet": _check_table,
        ".mp4": _begins(4, b"ftyp"),
        ".png": _begins(0, b"\x89PNG\r\n\x1a\n"),
    }
)
_SIZES: Mapping[str, int] = MappingProxyType(
    {
        ".py": _MEBIBYTE,
        ".npz": 16 * _MEBIBYTE,
        ".parquet": 64 * _MEBIBYTE,
        ".json": 16 * _MEBIBYTE,
        ".md": 64 * _MEBIBYTE,
        ".txt": 64 * _MEBIBYTE,
        ".csv": 64 * _MEBIBYTE,
        ".jsonl": 256 * _MEBIBYTE,
    }
)
