"""Files that replace live files: written as temporary files in the same directory, synchronised, then renamed."""

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
    """Context manager that creates temporary files, and on exit removes the files that were not moved."""

    def __init__(self) -> None:
        self._files: dict[Path, BinaryIO | None] = {}
        self._created = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for path in list(self._files):
            self.remove(path)

    def create(self, destination: Path) -> tuple[Path, BinaryIO]:
        """Create a file in the directory of `destination`, with the mode of the umask. Return its path and the file."""
        self._created += 1
        path = destination.with_name(f".{destination.name}.{self._created}.sitemap-crawler-tmp")
        self._files[path] = None
        # tempfile creates files with mode 0600, which a web server cannot read. Here the kernel applies the umask, so
        # the process need not read it, which is not thread-safe.
        self._files[path] = file = os.fdopen(os.open(path, _NEW_FILE, 0o666), "wb")
        return path, file

    def move(self, path: Path, destination: Path) -> None:
        path.replace(destination)
        del self._files[path]

    def remove(self, path: Path) -> None:
        file = self._files.pop(path)
        # A failure here must not hide the error that led to the removal. The next publication removes the file.
        with suppress(OSError):
            if file is not None:
                file.close()
        with suppress(OSError):
            path.unlink()


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lock `directory` against other publishing processes, which would remove our temporary files as leftovers."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network file systems have no locks. The lock of the inventory remains.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_leftovers(directory: Path, is_own_name: Callable[[str], bool]) -> None:
    """Remove the temporary files of a killed publication, if `is_own_name` accepts the name of their destination."""
    with os.scandir(directory) as items:
        for item in items:
            match = _TEMPORARY_NAME.fullmatch(item.name)
            if match and is_own_name(match["name"]) and item.is_file(follow_symlinks=False):
                Path(item.path).unlink(missing_ok=True)


def destination_of(path: Path) -> Path:
    """Return the file that is replaced when `path` is published: a symbolic link stays, and its target is replaced."""
    return Path(os.path.realpath(path))


def has_bytes(path: Path, *, size: int, sha256: str) -> bool:
    """Return whether the file exists with exactly these bytes. Raises OSError if it is no regular file."""
    status = _status(path)
    if status is None or status.st_size != size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def make_durable(path: Path, destination: Path) -> None:
    """Give a temporary file the mode and, if permitted, the owner of the file it replaces. Synchronise it to disk."""
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
    """Synchronise the renames in a directory to disk."""
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
    # Only root may change the owner. Any user may set a group that the user belongs to.
    for owner in (status.st_uid, -1):
        with suppress(PermissionError):
            os.fchown(descriptor, owner, status.st_gid)
            return
