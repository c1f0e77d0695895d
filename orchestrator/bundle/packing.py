"""A run into one file: programs, prompts, seeds, figures, episodes, films, versions, and a hash of each.

The journal is read once, so that a run that is still being written is packed as it stood at that moment. The same
moment packed twice gives the same bytes.
"""

import gzip
import hashlib
import importlib.metadata
import io
import json
import platform
import tarfile
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.journal import Event, JournalReader
from actors.lock import LEASE_NAME, LOCK_NAME
from actors.record import SearchRecord
from actors.storage import Storage
from actors.summary import SUMMARY_NAME, summarise_search
from orchestrator.bundle.listing import LISTING, listing_of
from orchestrator.bundle.members import COUNT_LIMIT, MANIFEST, TOTAL_LIMIT, check_content, check_name, size_limit
from search_spaces.errors import BundleError, RunError

FORMAT = 1
"""Format of the manifest."""
LOCK = "lock.txt"
JOURNAL = "journal.jsonl"
_OWN = frozenset({MANIFEST, LISTING, LOCK, JOURNAL, SUMMARY_NAME, LEASE_NAME, LOCK_NAME})
"""Files that are made anew, and those by which writers of a run know of each other."""
_LEFT_OUT = frozenset({"events", "snapshots", "tune"})
"""Folders of a run that are not packed: the journal goes in as one file, and Tune's is empty."""
_SUFFIXES = (".tar.gz", ".tgz", ".zip")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What was packed.

    Attributes:
        path: The bundle.
        members: How many files are in it.
        size: Its bytes.
        left_out: Files of the run that are not in it, and why.
    """

    path: Path
    members: int
    size: int
    left_out: Mapping[str, str]


def pack(storage: Storage, path: Path, *, films: bool = True) -> Packed:
    """Write a run into a bundle.

    Args:
        storage: The run's folder; may be written meanwhile.
        path: The bundle, `.tar.gz` or `.zip`; must not exist.
        films: Whether films are packed.

    Raises:
        BundleError: A path that exists, cannot be written or has another suffix; more than a bundle may hold.
        RunError: The folder holds no search.
        JournalError: Its journal is damaged.
    """
    if not path.name.endswith(_SUFFIXES):
        raise BundleError(f"{path}: expected a name that ends in {', '.join(_SUFFIXES)}")
    if path.exists():
        raise BundleError(f"{path} exists already; choose another --out")
    events = JournalReader(storage).events_after()
    record = _folded(events)
    members = dict(_derived(events, record))
    left_out: dict[str, str] = {}
    for name in _files(storage, record):
        reason = _unfit(storage, name, members, films=films)
        if reason is not None:
            left_out[name] = reason
    _refuse_too_much(members)
    members[MANIFEST] = _manifest(record, members)
    _write(path, members)
    return Packed(path=path, members=len(members), size=path.stat().st_size, left_out=left_out)


def _folded(events: list[Event]) -> SearchRecord:
    record = SearchRecord()
    for event in events:
        record = record.after(event)
    if record.plan is None:
        raise RunError("expected a run with a search in it, found an empty journal")
    return record


def _derived(events: list[Event], record: SearchRecord) -> Iterator[tuple[str, bytes]]:
    """Yield the members that are made from the journal and from what is installed."""
    yield LISTING, listing_of(record).to_bytes()
    yield SUMMARY_NAME, _json(summarise_search(record))
    yield JOURNAL, b"".join(json.dumps(each.to_json(), ensure_ascii=False).encode() + b"\n" for each in events)
    yield LOCK, _lock()
    for event in events:
        if event.kind == "llm_asked":
            exchange = Exchange.from_json(event.data)
            answer: ChatReply | ChatFailure | None = record.replies.get(exchange.id) or record.failures.get(exchange.id)
            said = {"asked": exchange.to_json(), "answered": None if answer is None else answer.to_json()}
            yield f"exchanges/{exchange.id}.json", _json(said)


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _lock() -> bytes:
    """Return the exact version of everything that is installed here, as pip would install it again."""
    found = {each.metadata["Name"]: each.version for each in importlib.metadata.distributions()}
    lines = [f"{name}=={version}" for name, version in sorted(found.items(), key=lambda item: item[0].lower())]
    return "\n".join([f"# Python {platform.python_version()}", *lines, ""]).encode()


def _files(storage: Storage, record: SearchRecord) -> list[str]:
    """Return the files of the run that belong to what the journal has delivered."""
    done = record.archive.outcomes
    return [
        name
        for name in storage.tree()
        if name not in _OWN
        and (parts := PurePosixPath(name).parts)[0] not in _LEFT_OUT
        and not any(part.startswith(".") for part in parts)
        and not (parts[0] == "candidates" and len(parts) > 1 and parts[1] not in done)
    ]


def _unfit(storage: Storage, name: str, members: dict[str, bytes], *, films: bool) -> str | None:
    """Add a file to the members, or say why it is left out."""
    if name.endswith(".mp4") and not films:
        return "films were left out"
    content = storage.read(name)
    if content is None:
        return "it went away"
    try:
        check_name(name)
        check_content(name, content)
    except BundleError as error:
        return str(error).removesuffix("; nothing was written")
    if len(content) > size_limit(name):
        return f"it has {len(content)} bytes; at most {size_limit(name)} are packed"
    members[name] = content
    return None


def _refuse_too_much(members: Mapping[str, bytes]) -> None:
    total = sum(len(content) for content in members.values())
    if total > TOTAL_LIMIT * 0.99 or len(members) >= COUNT_LIMIT:
        raise BundleError(
            f"the run has {total} bytes in {len(members)} files; a bundle holds {TOTAL_LIMIT} and {COUNT_LIMIT} at "
            "most; leave the films out with --no-films"
        )


def _manifest(record: SearchRecord, members: Mapping[str, bytes]) -> bytes:
    plan = record.plan
    return _json(
        {
            "format": FORMAT,
            "search_id": "" if plan is None else plan.search_id,
            "events": record.next_sequence,
            "finished": record.finished,
            "members": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(members.items())},
        }
    )


def _write(path: Path, members: Mapping[str, bytes]) -> None:
    """Write the bundle under a temporary name first, the manifest as its first member."""
    order = [MANIFEST, *sorted(name for name in members if name != MANIFEST)]
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = temporary.open("xb")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with stream:
            if path.suffix == ".zip":
                with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, allowZip64=False) as archive:
                    for name in order:
                        archive.writestr(zipfile.ZipInfo(name), members[name], zipfile.ZIP_DEFLATED)
            else:
                with (
                    gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as zipped,
                    tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar,
                ):
                    for name in order:
                        header = tarfile.TarInfo(name)
                        header.size = len(members[name])
                        tar.addfile(header, io.BytesIO(members[name]))
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> BundleError:
    return BundleError(f"{path} cannot be written: {error.strerror or error}; choose another --out")
