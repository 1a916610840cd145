"""Files that replace live ones: written beside them, made durable, then renamed over them."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TEMPORARY_NAME = re.compile(r"\.(?P<name>.+)\.[0-9]+\.sitemap-crawler-tmp", re.DOTALL)
_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class Staging:
    """Creates temporary files; on leaving, in whatever way, those that were not moved to their place are removed."""

    def __init__(self) -> None:
        self._files: dict[Path, BinaryIO | None] = {}
        self._created = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path in list(self._files):
            self.remove(path)

    def create(self, destination: Path) -> tuple[Path, BinaryIO]:
        """A new file in the directory of `destination`, with the mode that the umask gives a new file."""
        self._created += 1
        path = destination.with_name(f".{destination.name}.{self._created}.sitemap-crawler-tmp")
        self._files[path] = None
        # Unlike tempfile, whose 0600 a web server can't read; the kernel applies the umask, no thread has to read it.
        self._files[path] = file = os.fdopen(os.open(path, _NEW_FILE, 0o666), "wb")
        return path, file

    def move(self, path: Path, destination: Path) -> None:
        path.replace(destination)
        del self._files[path]

    def remove(self, path: Path) -> None:
        file = self._files.pop(path)
        # Neither failure may hide the error that brought us here; the next publish removes what stayed.
        with suppress(OSError):
            if file is not None:
                file.close()
        with suppress(OSError):
            path.unlink()


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Wait until no other process publishes into `directory`: it would take our temporary files for leftovers."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network file systems have no locks; the inventory's own lock remains.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_leftovers(directory: Path, is_ours: Callable[[str], bool]) -> None:
    """Remove the temporary files that a killed publish left for those files that `is_ours` knows by name."""
    with os.scandir(directory) as found:
        for item in found:
            match = _TEMPORARY_NAME.fullmatch(item.name)
            if match and is_ours(match["name"]) and item.is_file(follow_symlinks=False):
                Path(item.path).unlink(missing_ok=True)


def destination_of(path: Path) -> Path:
    """Where the bytes of `path` are: a symbolic link stays, its target is replaced."""
    return Path(os.path.realpath(path))


def has_bytes(path: Path, *, size: int, sha256: str) -> bool:
    """Whether the file exists with just these bytes. Raises OSError for what is no regular file."""
    status = _status(path)
    if status is None or status.st_size != size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def make_durable(path: Path, destination: Path) -> None:
    """Give a temporary file the mode and, where permitted, the owner of what it replaces; bring it to the disk."""
    status = _status(destination)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if status is not None:
            _adopt_owner(descriptor, status)
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_directory(directory: Path) -> None:
    """Bring the renames in a directory to the disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _status(path: Path) -> os.stat_result | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise FileExistsError(errno.EEXIST, "Not a regular file", str(path))
    return status


def _adopt_owner(descriptor: int, status: os.stat_result) -> None:
    for owner in (status.st_uid, -1):  # only root gives files away; a group of one's own may still be kept
        with suppress(PermissionError):
            os.fchown(descriptor, owner, status.st_gid)
            return
