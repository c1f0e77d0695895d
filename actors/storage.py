"""A run's folder, on a local disk or in an object store, where a file is either whole or absent."""

import os
import uuid
from pathlib import Path, PurePosixPath

from pyarrow import fs


class Storage:
    """Whole files below one root.

    Locally a file is written under a temporary name, flushed, fsynced and renamed, because a local stream that is
    killed half way leaves half a file under its name. An object store gets one PUT, which is whole or absent by itself.

    Args:
        filesystem: The disk or the object store.
        root: The folder in it; need not exist.
    """

    def __init__(self, filesystem: fs.FileSystem, root: str) -> None:
        self.filesystem = filesystem
        self.root = root.rstrip("/")

    @classmethod
    def at(cls, location: str | Path) -> "Storage":
        """Open a local folder (made absolute) or a URI such as `s3://bucket/run`."""
        if "://" in str(location):
            return cls(*fs.FileSystem.from_uri(str(location)))
        return cls(fs.LocalFileSystem(), str(Path(location).absolute()))

    @property
    def local_root(self) -> Path | None:
        """The root as a local path; None in an object store."""
        return Path(self.root) if isinstance(self.filesystem, fs.LocalFileSystem) else None

    def write(self, name: str, data: bytes) -> None:
        """Store `data` under `name`, in place of what was there.

        Raises:
            OSError: The disk or the store does not take it.
        """
        if self.local_root is not None:
            _write_local(self.local_root / name, data)
            return
        self.filesystem.create_dir(str(PurePosixPath(self.root, name).parent), recursive=True)
        with self.filesystem.open_output_stream(f"{self.root}/{name}") as stream:
            stream.write(data)

    def read(self, name: str) -> bytes | None:
        """Return the file's content; None when there is no such file.

        Raises:
            OSError: It is there but cannot be read.
        """
        try:
            with self.filesystem.open_input_file(f"{self.root}/{name}") as stream:
                return bytes(stream.readall())
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        """Return the names of the files directly in `folder`, sorted; temporary ones are left out."""
        selector = fs.FileSelector(f"{self.root}/{folder}", allow_not_found=True)
        found = self.filesystem.get_file_info(selector)
        return sorted(each.base_name for each in found if each.is_file and not each.base_name.startswith("."))

    def tree(self) -> list[str]:
        """Return the names of all files, at any depth, sorted; temporary ones are among them."""
        selector = fs.FileSelector(self.root, allow_not_found=True, recursive=True)
        found = self.filesystem.get_file_info(selector)
        return sorted(each.path.removeprefix(self.root).lstrip("/") for each in found if each.is_file)

    def remove(self, name: str) -> None:
        """Delete a file; one that is not there is no error."""
        try:
            self.filesystem.delete_file(f"{self.root}/{name}")
        except FileNotFoundError:
            return


def _write_local(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
