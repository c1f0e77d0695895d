"""A bundle into an empty folder: every member checked, counted and hashed while it is written, or nothing is kept.

Of a tar only plain files are understood, header by header: links, devices, folders, sparse files and the extended
headers of later formats, which may be as long as they like, are refused before they are read. Sizes are counted as
bytes come out of the decompressor; what headers say is compared with that, not trusted.
"""

import gzip
import hashlib
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from stat import S_IFMT, S_ISREG
from typing import IO

from orchestrator.bundle.members import COUNT_LIMIT, NAME_LIMIT, TOTAL_LIMIT, check_name, size_limit
from search_spaces.errors import BundleError

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 2**18
_ZIP_END_MAGIC, _ZIP_END = b"PK\x05\x06", 22
"""How the end of a zip begins, and its length without the comment of up to 65 535 bytes that may follow."""
_ZIP_END_SPAN = _ZIP_END + 65_535 + 20
_ZIP64_MAGIC = b"PK\x06\x07"
"""How the 20 bytes before it begin where members or bytes are too many for the plain format."""
_DAMAGED = (
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""What the readers of Python raise at damaged, encrypted or unknown archives."""
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_KINDS = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
    tarfile.DIRTYPE: "a folder",
}

Member = tuple[str, int, Iterator[bytes]]
"""Name, size as its header says, and content as it comes out of the decompressor."""


def unpack(bundle: Path, folder: Path) -> Mapping[str, str]:
    """Unpack a bundle.

    Args:
        bundle: A `.tar.gz` or `.zip` file, told apart by its first bytes.
        folder: An empty folder; what lies in it after a refusal is of no use.

    Returns:
        SHA-256 of each member, hexadecimal, by name.

    Raises:
        BundleError: It is refused.
        OSError: The disk does not take it.
    """
    try:
        return _unpacked(bundle, folder)
    except _DAMAGED as error:
        raise BundleError(f"{bundle}: damaged: {error}; nothing was written") from error


def _unpacked(bundle: Path, folder: Path) -> Mapping[str, str]:
    hashes: dict[str, str] = {}
    folded: set[str] = set()
    total = 0
    for name, size, chunks in _members(bundle):
        check_name(name)
        if name.casefold() in folded:
            raise BundleError(f"member {name} is there twice; nothing was written")
        folded.add(name.casefold())
        if len(folded) > COUNT_LIMIT:
            raise BundleError(f"expected at most {COUNT_LIMIT} members; nothing was written")
        room = min(size_limit(name), TOTAL_LIMIT - total)
        written, hashes[name] = _write(folder, name, chunks, room)
        if written != size:
            raise BundleError(f"member {name}: expected {size} bytes, found {written}; nothing was written")
        total += written
    return hashes


def _write(folder: Path, name: str, chunks: Iterator[bytes], room: int) -> tuple[int, str]:
    """Write a member; return its size and SHA-256."""
    digest, written = hashlib.sha256(), 0
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise BundleError(f"member {name} is both a file and a folder; nothing was written") from error
    with stream:
        for chunk in chunks:
            written += len(chunk)
            if written > room:
                raise BundleError(
                    f"member {name}: expected at most {room} bytes, unpacked, found more; a bundle has {TOTAL_LIMIT} "
                    "at most; nothing was written"
                )
            digest.update(chunk)
            stream.write(chunk)
    return written, digest.hexdigest()


def _members(bundle: Path) -> Iterator[Member]:
    with bundle.open("rb") as stream:
        magic = stream.read(4)
        stream.seek(0)
        if magic[:2] == b"\x1f\x8b":
            with gzip.open(stream) as unzipped:
                yield from _of_tar(unzipped)
        elif magic == b"PK\x03\x04":
            _refuse_long_directory(stream)
            with zipfile.ZipFile(stream) as archive:
                yield from _of_zip(archive)
        else:
            raise BundleError(f"{bundle}: expected a .tar.gz or .zip file, found neither")


def _of_tar(stream: gzip.GzipFile) -> Iterator[Member]:
    while True:
        block = stream.read(_BLOCK)
        if not block.strip(b"\0"):
            return
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as error:
            raise BundleError(f"not a tar of plain files: {error}; nothing was written") from error
        if header.type not in _PLAIN:
            what = _KINDS.get(header.type, f"an entry of type {header.type!r}")
            raise BundleError(f"member {header.name[:200]!a} is {what}; bundles hold plain files; nothing was written")
        if header.size < 0:
            raise BundleError(f"member {header.name[:200]!a}: a size of {header.size}; nothing was written")
        yield header.name, header.size, _content(stream, header.size)
        stream.read(-header.size % _BLOCK)


def _content(stream: gzip.GzipFile, size: int) -> Iterator[bytes]:
    left = size
    while left > 0:
        chunk = stream.read(min(left, _CHUNK))
        if not chunk:
            return
        left -= len(chunk)
        yield chunk


def _refuse_long_directory(stream: IO[bytes]) -> None:
    """Refuse a zip whose list of members would fill the memory before the first of them is seen."""
    stream.seek(0, io.SEEK_END)
    stream.seek(max(0, stream.tell() - _ZIP_END_SPAN))
    tail = stream.read()
    stream.seek(0)
    plain = tail[-_ZIP_END:]
    place = (
        len(tail) - _ZIP_END if plain[:4] == _ZIP_END_MAGIC and plain[-2:] == b"\0\0" else tail.rfind(_ZIP_END_MAGIC)
    )
    if place < 0 or len(tail) - place < _ZIP_END:
        raise zipfile.BadZipFile("no list of members at its end")
    count = int.from_bytes(tail[place + 10 : place + 12], "little")
    size = int.from_bytes(tail[place + 12 : place + 16], "little")
    extended = tail[max(0, place - 20) : place][:4] == _ZIP64_MAGIC
    if extended or count > COUNT_LIMIT or size > COUNT_LIMIT * 2 * NAME_LIMIT:
        raise BundleError(f"expected at most {COUNT_LIMIT} members; nothing was written")


def _of_zip(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        mode = info.external_attr >> 16
        if info.is_dir() or (S_IFMT(mode) and not S_ISREG(mode)):
            raise BundleError(f"member {info.filename[:200]!a} is no plain file; nothing was written")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BundleError(f"member {info.filename[:200]!a} is packed in an unknown way; nothing was written")
        with archive.open(info) as stream:
            yield info.filename, info.file_size, iter(partial(stream.read, _CHUNK), b"")
