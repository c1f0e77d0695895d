"""What is printed: one console for results, one for messages, and the way untrusted text reaches either.

Text from a model, a bundle or an archive may hold terminal escapes, bidirectional overrides or rich markup. `plain`
makes it harmless; every such text passes through it before it is printed.
"""

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from actors.untrusted import visible
from search_spaces.errors import MachineError

STANDARD_OUTPUT = "-"
"""What names standard output where a file is expected, as in `--json -`."""


def plain(text: str, *, lines: bool = False) -> str:
    r"""Return `text` with control and invisible characters escaped.

    Args:
        text: Untrusted text.
        lines: Whether line feeds and tabs are kept; otherwise the result is one line.
    """
    return visible(text, kept="\n\t" if lines else "")


def shown(text: str, *, style: str = "", lines: bool = False) -> Text:
    """Return untrusted text as rich shows it literally: no markup, no control characters.

    Args:
        text: Untrusted text.
        style: A rich style for the whole of it.
        lines: See `plain`.
    """
    return Text(plain(text, lines=lines), style=style)


def results() -> Console:
    """Return a console on standard output that interprets no markup."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True)


def messages() -> Console:
    """Return a console on standard error that interprets no markup."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)


def write_json(place: str, value: object) -> None:
    """Write a result for other programs to read.

    Args:
        place: A file, or `STANDARD_OUTPUT`.
        value: What JSON can hold.

    Raises:
        MachineError: The file cannot be written.
    """
    text = json.dumps(value, indent=2) + "\n"
    if place == STANDARD_OUTPUT:
        sys.stdout.write(text)
    else:
        write_file(Path(place), text.encode())


def write_file(path: Path, content: bytes) -> None:
    """Write a file that the user named.

    Raises:
        MachineError: It cannot be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise MachineError(f"{path} cannot be written: {error.strerror}") from error
