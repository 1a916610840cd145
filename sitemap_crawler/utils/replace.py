"""The one way in which files are replaced whole: written as a temporary file in the same directory, then renamed.

Everything that the program replaces passes here: sitemaps, reports, the status file, the owner of a lock. The directory
may belong to another user, who can replace the temporary file by a link or by another file at any instant. So owner and
mode are given through the descriptor with which the file was created, the name is unpredictable, and a file that is
opened again by its name must be the same one. tests/unit/test_replacing.py holds that no other module replaces files.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
import stat
import time
from contextlib import contextmanager, suppress
from io import BufferedReader, BufferedWriter, FileIO
from typing import TYPE_CHECKING, BinaryIO, Self

from sitemap_crawler.exceptions import UntrustedLinkError
from sitemap_crawler.utils.directories import Directory, destination_in, open_destination, open_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

SQLITE_MAGIC = b"SQLite format 3\0"
"""Beginning of a database, https://www.sqlite.org/fileformat.html#magic_header_string"""
MAX_NAME_BYTES = 255
"""Bytes of a file name, https://man7.org/linux/man-pages/man7/path_resolution.7.html"""
LEFTOVER_SECONDS = 600.0
"""Age at which a temporary file of a report or status file is that of a killed process: writing takes milliseconds."""
PRIVATE_MODE = 0o600
_SUFFIX = ".sitemap-crawler-tmp"
_TOKEN_BYTES = 6
_TEMPORARY_NAME = re.compile(rf"\.(?P<name>.+)\.[0-9a-f]+{re.escape(_SUFFIX)}", re.DOTALL)
_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_APPENDED_FILE = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCK_FILE = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NewFile(BufferedWriter):
    """A temporary file that becomes the file called `destination` in `directory`.

    It has the mode of the umask, or owner and mode of the file that it replaces. A private one has the mode 0600, and
    the owner of the file that it replaces only if no other user can have put that file there.
    """

    def __init__(
        self, directory: Directory, destination: str, *, private: bool = False, replaces_database: bool = False
    ) -> None:
        """Create the file.

        Raises FileExistsError if something else than a file is to be replaced, or a database without
        `replaces_database`: a slip in the name of a report must not cost an inventory. Raises OSError.
        """
        self.directory = directory
        self.destination = destination
        self._replaced = directory.file_status(destination)
        if self._replaced is not None and not replaces_database:
            _check_no_database(directory, destination)
        self._private = private
        if private:
            self._mode: int | None = PRIVATE_MODE
        else:
            # Never the set-user-ID bit of a file that a stranger has put there.
            self._mode = None if self._replaced is None else stat.S_IMODE(self._replaced.st_mode) & 0o777
        self.temporary = f".{_stem(destination)}.{secrets.token_hex(_TOKEN_BYTES)}{_SUFFIX}"
        # tempfile creates files with mode 0600, which a web server cannot read. Here the kernel applies the umask, so
        # the process need not read it, which is not thread-safe.
        mode = 0o666 if self._mode is None else self._mode
        try:
            descriptor = os.open(self.temporary, _NEW_FILE, mode, dir_fd=directory.descriptor)
        except OSError as error:
            # A user knows the name of the file that it becomes.
            error.filename = str(directory.path / destination)
            raise
        super().__init__(FileIO(descriptor, "wb"))
        self._identity = _identity(os.fstat(self.fileno()))

    def close(self) -> None:
        """Give the file its owner and mode, and close it."""
        if self.closed:
            return
        try:
            self.flush()
            self._adopt()
        finally:
            super().close()

    def reopen(self) -> BufferedReader[FileIO]:
        """Open the closed file for reading. Raises OSError if it is not the file that was written."""
        file = self.directory.open_file(self.temporary)
        try:
            self._check(os.fstat(file.fileno()))
        except BaseException:
            file.close()
            raise
        return file

    def sync(self) -> None:
        """Synchronise the closed file to disk."""
        with self.reopen() as file:
            os.fsync(file.fileno())

    def replaces_same_bytes(self, *, size: int, sha256: str) -> bool:
        """Return whether the file that is to be replaced has exactly these bytes."""
        status = self.directory.file_status(self.destination)
        if status is None or status.st_size != size:
            return False
        with self.directory.open_file(self.destination) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256

    def move(self) -> None:
        """Make the file live. Raises OSError if it is not the file that was written."""
        self._check(self.directory.status(self.temporary))
        descriptor = self.directory.descriptor
        os.replace(self.temporary, self.destination, src_dir_fd=descriptor, dst_dir_fd=descriptor)

    def discard(self) -> None:
        """Close and remove the file. A failure is no error: the next publication removes the file."""
        with suppress(OSError):
            self.raw.close()
        with suppress(OSError):
            self.directory.remove(self.temporary)

    def _adopt(self) -> None:
        if self._replaced is not None and not (self._private and not self.directory.is_private):
            # Only root may change the owner. Any user may set a group that the user belongs to.
            for owner in (self._replaced.st_uid, -1):
                with suppress(PermissionError):
                    os.fchown(self.fileno(), owner, self._replaced.st_gid)
                    break
        if self._mode is not None:
            os.fchmod(self.fileno(), self._mode)

    def _check(self, status: os.stat_result | None) -> None:
        """Raise OSError unless this is the status of the file that was written, under its only name."""
        if status is None or _identity(status) != self._identity or status.st_nlink != 1:
            path = str(self.directory.path / self.temporary)
            raise OSError(errno.ESTALE, "Another process has changed this temporary file", path)


class Staging:
    """Context manager of the files that are published together into one directory, which is locked meanwhile.

    On exit it removes the files that were not moved.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[NewFile, None] = {}
        self._linked: dict[tuple[int, int], Directory] = {}
        """Further directories, to which links in the directory lead."""

    def __enter__(self) -> Self:
        self.directory = open_directory(self._path, create=True)
        self._lock = self.directory.locked()
        try:
            self._lock.__enter__()
        except BaseException:
            self.directory.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for file in list(self._files):
            self.remove(file)
        self._lock.__exit__(None, None, None)
        for directory in (self.directory, *self._linked.values()):
            directory.close()

    def create(self, name: str, *, private: bool = False) -> NewFile:
        """Create a file that becomes the one called `name`. Raises UntrustedLinkError, OSError."""
        file = NewFile(*self._destination(name), private=private)
        self._files[file] = None
        return file

    def move(self, file: NewFile) -> None:
        file.move()
        del self._files[file]

    def remove(self, file: NewFile) -> None:
        del self._files[file]
        file.discard()

    def remove_leftovers(self, is_own_name: Callable[[str], bool], linked_names: Iterable[str]) -> None:
        """Remove the temporary files of a killed publication, if `is_own_name` accepts the name of their destination.

        `linked_names` are names in the directory that may be links, whose targets have temporary files elsewhere.
        """
        _remove_leftovers(self.directory, is_own_name)
        for name in linked_names:
            status = self.directory.status(name)
            # A link that may not be followed fails when a file is created for it.
            if status is not None and stat.S_ISLNK(status.st_mode):
                with suppress(OSError):
                    directory, target = self._destination(name)
                    _remove_leftovers(directory, target.__eq__)

    def _destination(self, name: str) -> tuple[Directory, str]:
        status = self.directory.status(name)
        if status is None or not stat.S_ISLNK(status.st_mode):
            return self.directory, name
        directory, target = destination_in(self.directory, name)
        known = self._linked.setdefault(_identity(os.fstat(directory.descriptor)), directory)
        if known is not directory:
            directory.close()
        return known, target


@contextmanager
def replacing(
    path: Path, *, private: bool = False, durable: bool = True, replaces_database: bool = False
) -> Iterator[BinaryIO]:
    """Yield a binary file that replaces `path` when the block ends, so that readers never see a partial file.

    Without `durable` the file may be lost when the power fails. Raises UntrustedLinkError, OSError.
    """
    directory, name = open_destination(path)
    with directory:
        file = NewFile(directory, name, private=private, replaces_database=replaces_database)
        try:
            yield file
            file.close()
            if durable:
                file.sync()
            file.move()
        except BaseException:
            file.discard()
            raise
        if durable:
            directory.sync()


def _check_no_database(directory: Directory, name: str) -> None:
    """Raise FileExistsError if a file is a database. One that cannot be read is none of ours."""
    with suppress(FileNotFoundError, PermissionError), directory.open_file(name) as file:
        if file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC:
            raise FileExistsError(errno.EEXIST, "It is an SQLite database", str(directory.path / name))


def check_replaceable(path: Path) -> None:
    """Raise UntrustedLinkError or OSError if `path` cannot be replaced. Remove the leftovers of a killed process."""
    directory, name = open_destination(path)
    with directory:
        NewFile(directory, name).discard()
        _remove_leftovers(directory, _stem(name).__eq__, min_age_seconds=LEFTOVER_SECONDS)


def real_path(path: Path, *, create: bool = False) -> Path:
    """Return the path without links. With `create` missing directories are created. Raises UntrustedLinkError."""
    directory, name = open_destination(path, create=create)
    with directory:
        return directory.path / name


def remove_file(path: Path) -> None:
    """Remove the file, if it exists. Raises UntrustedLinkError, OSError."""
    with open_directory(path.parent) as directory:
        directory.remove(path.name)


def is_private(path: Path) -> bool:
    """Return whether only the owner of the file may read it."""
    return not path.stat().st_mode & 0o077


def lock_file(path: Path, *, private: bool = False) -> int:
    """Open or create the file, lock it and return its descriptor. Its content stays. A private one gets mode 0600.

    Raises BlockingIOError if another process holds the lock, UntrustedLinkError, OSError.
    """
    directory, name = open_destination(path)
    with directory:
        directory.file_status(name)
        mode = PRIVATE_MODE if private else 0o666
        try:
            descriptor = os.open(name, _LOCK_FILE, mode, dir_fd=directory.descriptor)
        except OSError as error:
            error.filename = str(directory.path / name)
            raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileExistsError(errno.EEXIST, "Not a regular file", str(path))
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if private and status.st_uid == os.geteuid() and status.st_mode & 0o077:
            os.fchmod(descriptor, PRIVATE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_appended(path: Path, *, private: bool = False) -> int:
    """Open a file to append to it, or create it, and return its descriptor.

    With `private` only this user can read a file that is created. Raises UntrustedLinkError, OSError.
    """
    directory, name = open_destination(path)
    with directory:
        if directory.file_status(name) is not None:
            _check_no_database(directory, name)
        try:
            mode = PRIVATE_MODE if private else 0o666
            descriptor = os.open(name, _APPENDED_FILE, mode, dir_fd=directory.descriptor)
        except OSError as error:
            error.filename = str(directory.path / name)
            raise
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise FileExistsError(errno.EEXIST, "Not a regular file", str(path))
            if status.st_nlink > 1 and status.st_uid != directory.owner and not directory.is_private:
                # Where the kernel allows it, a stranger can give any file a second name.
                reason = "it has a second name (hard link), and another user can write its directory; remove it"
                raise UntrustedLinkError(errno.EPERM, reason, str(path))
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _remove_leftovers(
    directory: Directory, is_own_name: Callable[[str], bool], *, min_age_seconds: float = 0.0
) -> None:
    owner = directory.owner
    for name in directory.names():
        match = _TEMPORARY_NAME.fullmatch(name)
        if match is None or not is_own_name(match["name"]):
            continue
        status = directory.status(name)
        if status is None or not stat.S_ISREG(status.st_mode):
            continue
        if min_age_seconds and status.st_mtime > time.time() - min_age_seconds:
            continue
        # A finished temporary file already has the owner of the file that it was to replace.
        replaced = directory.status(match["name"])
        if status.st_uid in {os.geteuid(), owner, owner if replaced is None else replaced.st_uid}:
            directory.remove(name)


def _stem(name: str) -> str:
    """Return the name, cut so that the name of its temporary file is not too long."""
    room = MAX_NAME_BYTES - len(_SUFFIX) - 2 * _TOKEN_BYTES - 2
    return os.fsencode(name)[:room].decode(errors="ignore")


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
