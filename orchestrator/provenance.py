"""What made a run: commands, versions and machine of each of its sessions, kept beside the journal."""

import importlib.metadata
import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from actors.keys import redact
from actors.message import Message
from actors.storage import Storage

PROVENANCE_NAME = "provenance.json"
_DAMAGED_NAME = "provenance.damaged"
"""Where the file goes that cannot be read, before another takes its place."""
DISTRIBUTION = "reward-orchestrator"
"""Name of the project among installed packages."""
_PACKAGES = ("numpy", "numba", "torch", "ray", "highway-env", "gymnasium", "scipy", "mlflow")
"""Packages whose version can change what comes out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Message):
    """One start of a run.

    Attributes:
        started: When, ISO 8601 in UTC.
        command: The command line, without secrets.
        versions: Version by name, of the project, Python and the packages that can change what comes out.
        machine: Processor and operating system.
    """

    started: str
    command: str
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""


def versions() -> dict[str, str]:
    """Return the versions that run here; packages that are not installed are absent."""
    found = {DISTRIBUTION: importlib.metadata.version(DISTRIBUTION), "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def note_session(storage: Storage, arguments: Sequence[str], now: datetime) -> None:
    """Add this start to a run's folder.

    Args:
        storage: The run's folder.
        arguments: The command line after the program's name.
        now: When it starts.

    Raises:
        OSError: The storage fails.
    """
    this = Session(
        started=now.astimezone(UTC).isoformat(timespec="seconds"),
        command=redact(shlex.join(["orchestrate", *arguments])),
        versions=versions(),
        machine=f"{platform.system()} {platform.machine()}",
    )
    known, content = sessions(storage), storage.read(PROVENANCE_NAME)
    if content is not None and not known:
        storage.write(_DAMAGED_NAME, content)
    lines = [each.to_json() for each in (*known, this)]
    storage.write(PROVENANCE_NAME, (json.dumps(lines, indent=2) + "\n").encode())


def sessions(storage: Storage) -> tuple[Session, ...]:
    """Return the starts of a run; none where it does not say, as in runs of earlier releases.

    Raises:
        OSError: The storage fails.
    """
    content = storage.read(PROVENANCE_NAME)
    if content is None:
        return ()
    try:
        return tuple(Session.from_json(each) for each in json.loads(content))
    except (ValueError, TypeError, AttributeError):  # cut short, or not written by this project: it tells us nothing
        return ()
