"""Directories by descriptor, and the files that paths name, reached through no symbolic link that a stranger planted.

A process may write into a directory of another user: root publishes below /var/www. That user can replace any name
there by a link at any instant. So a path is opened one name after the other, relative to the descriptor of the
directory above. A link on the way is followed only if its owner gains nothing by it, which is the rule of the kernel's
protected_symlinks without its limit to sticky directories:
https://docs.kernel.org/admin-guide/sysctl/fs.html#protected-symlinks
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import contextmanager, suppress
from io import BufferedReader, FileIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, Self

from sitemap_crawler.exceptions import DirectoryLockedError, UntrustedInventoryError, UntrustedLinkError
from sitemap_crawler.utils.stopping import interruptible

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

MAX_LINKS = 40
"""Links that are followed on one path, as in Linux: https://man7.org/linux/man-pages/man7/path_resolution.7.html"""
MAX_LOCK_SECONDS = 600.0
"""Maximum wait for the lock of a directory. Any user who can read the directory can hold its lock without end."""
DATABASE_ENDINGS = ("-wal", "-shm", "-journal")
"""Endings of the files next to a database, https://www.sqlite.org/tempfiles.html"""
_LOCK_POLL_SECONDS = 0.1
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
"""Without permission to read, a directory or link can still be searched or read. Only Linux has O_PATH."""
_READ_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Without O_NONBLOCK a named pipe in the place of the file would block."""


class Directory:
    """An open directory. A parent directory that is moved or replaced afterwards changes nothing."""

    def __init__(self, descriptor: int, path: Path) -> None:
        """The directory takes over the descriptor. `path` has no links; it is for messages and records only."""
        self.descriptor = descriptor
        self.path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self.descriptor)

    def copy(self) -> Directory:
        return Directory(os.dup(self.descriptor), self.path)

    @property
    def owner(self) -> int:
        return os.fstat(self.descriptor).st_uid

    @property
    def is_private(self) -> bool:
        """Whether only this user and root can write the directory."""
        status = os.fstat(self.descriptor)
        return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a name itself, also that of a link; None if it does not exist."""
        try:
            with _naming(self.path / name):
                return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def file_status(self, name: str) -> os.stat_result | None:
        """Return the status of a file; None if it does not exist. Raises FileExistsError for anything else."""
        status = self.status(name)
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise FileExistsError(errno.EEXIST, "Not a regular file", str(self.path / name))
        return status

    def open_file(self, name: str) -> BufferedReader[FileIO]:
        """Open a regular file for reading. Raises OSError for anything else."""
        with _naming(self.path / name):
            descriptor = os.open(name, _READ_FILE, dir_fd=self.descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileExistsError(errno.EEXIST, "Not a regular file", str(self.path / name))
        return BufferedReader(FileIO(descriptor))

    def open_linked_file(self, name: str) -> BufferedReader[FileIO]:
        """Open a regular file, or the one that a link leads to. Raises UntrustedLinkError, OSError for others."""
        directory, target = destination_in(self, name)
        with directory:
            return directory.open_file(target)

    def names(self) -> list[str]:
        """Return the names of everything in the directory, sorted."""
        with self._readable() as descriptor, os.scandir(descriptor) as items:
            return sorted(item.name for item in items)

    def remove(self, name: str) -> None:
        """Remove a file or link, if it exists."""
        with suppress(FileNotFoundError), _naming(self.path / name):
            os.unlink(name, dir_fd=self.descriptor)

    def sync(self) -> None:
        """Synchronise the names in the directory to disk."""
        with self._readable() as descriptor:
            os.fsync(descriptor)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory against other processes that publish into it. Raises DirectoryLockedError."""
        with self._readable() as descriptor:
            # Some network file systems have no locks. The lock of the inventory remains.
            with suppress(OSError):
                self._wait_for_lock(descriptor)
            yield

    def _wait_for_lock(self, descriptor: int) -> None:
        """Wait for the lock. A signal raises KeyboardInterrupt, as the event loop of a crawl would not hear of it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with interruptible():
                self._wait_longer(descriptor)

    def _wait_longer(self, descriptor: int) -> None:
        until = time.monotonic() + MAX_LOCK_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise DirectoryLockedError(
                        f"cannot write to {self.path}: another process has locked this directory for more than "
                        f"{MAX_LOCK_SECONDS:g} s: find it with fuser or lsof and end it"
                    ) from None
            else:
                return
            time.sleep(_LOCK_POLL_SECONDS)

    @contextmanager
    def _readable(self) -> Iterator[int]:
        with _naming(self.path):
            descriptor = os.open(".", _READ_DIRECTORY, dir_fd=self.descriptor)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


class Link(NamedTuple):
    """A symbolic link."""

    path: Path
    text: str
    owner: int
    is_alone: bool
    """Whether it has no other name by a hard link. Where the kernel lets any user make hard links, a stranger can put
    a link of root anywhere."""
    is_private: bool
    """Whether only this user and root can write its directory."""

    def serves(self, target_owner: int) -> bool:
        """Return whether the link may be followed to a file of `target_owner`."""
        return self.is_private or (self.is_alone and self.owner in (os.geteuid(), 0, target_owner))


def open_directory(path: Path, *, create: bool = False) -> Directory:
    """Open a directory; with `create` the missing ones, too, are created. Raises UntrustedLinkError, OSError."""
    return _walk(_start(str(path), None), _names(str(path)), create=create, links=0)


def open_regular(path: Path) -> BufferedReader[FileIO]:
    """Open a regular file for reading. Raises UntrustedLinkError, OSError for anything else."""
    directory, name = open_destination(path)
    with directory:
        return directory.open_file(name)


def check_database(path: Path) -> None:
    """Check the file of a database, and the files next to it, which SQLite trusts as much as the database.

    In a directory that strangers can write, a file of a stranger is refused: a planted write-ahead log or journal would
    replace what is in the database. Raises UntrustedInventoryError, UntrustedLinkError, OSError.
    """
    directory, name = open_destination(path)
    with directory:
        status = os.fstat(directory.descriptor)
        if status.st_uid in (os.geteuid(), 0) and not status.st_mode & stat.S_IWOTH:
            return
        trusted = {os.geteuid(), 0}
        database = directory.status(name)
        _check_owner(directory, name, trusted | {status.st_uid})
        if database is not None:
            trusted.add(database.st_uid)
        for ending in DATABASE_ENDINGS:
            _check_owner(directory, name + ending, trusted)


def _check_owner(directory: Directory, name: str, trusted: Container[int]) -> None:
    status = directory.status(name)
    if status is not None and status.st_uid not in trusted:
        raise UntrustedInventoryError(
            f"cannot use {directory.path / name}: it belongs to another user (uid {status.st_uid}), who can write its "
            "directory; remove it, or choose a --state in a directory that only you can write"
        )


def open_destination(path: Path, *, create: bool = False) -> tuple[Directory, str]:
    """Return the directory and the name of the file that `path` names: a symbolic link stays, its target is replaced.

    The file need not exist. The caller closes the directory. With `create` missing directories are created. Raises
    UntrustedLinkError, OSError.
    """
    *above, name = _names(str(path)) or ["."]
    directory = _walk(_start(str(path), None), above, create=create, links=0)
    return _replace_by_destination(directory, name, links=0)


def destination_in(directory: Directory, name: str) -> tuple[Directory, str]:
    """Return the same for a name in a directory. The returned directory is a new one, which the caller closes."""
    return _replace_by_destination(directory.copy(), name, links=0)


def _start(path: str, directory: Directory | None) -> Directory:
    """Open the directory where a path begins; a relative one begins in `directory` or the working directory."""
    if path.startswith("/"):
        return Directory(os.open("/", _PATH_ONLY | os.O_DIRECTORY), Path("/"))
    if directory is not None:
        return directory.copy()
    return Directory(os.open(".", _PATH_ONLY | os.O_DIRECTORY), Path.cwd())


def _names(path: str) -> list[str]:
    return [name for name in PurePosixPath(path).parts if not name.startswith("/")]


def _walk(directory: Directory, names: Sequence[str], *, create: bool, links: int) -> Directory:
    """Go down from `directory`, which is closed. Return the directory at the end."""
    try:
        for name in names:
            below = _enter(directory, name, create=create, links=links)
            directory.close()
            directory = below
    except BaseException:
        directory.close()
        raise
    return directory


def _enter(directory: Directory, name: str, *, create: bool, links: int) -> Directory:
    path = directory.path.parent if name == ".." else directory.path / name
    with _naming(path):
        try:
            return Directory(os.open(name, _PATH_ONLY | os.O_DIRECTORY, dir_fd=directory.descriptor), path)
        except FileNotFoundError:
            if not create:
                raise
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=directory.descriptor)
            return Directory(os.open(name, _PATH_ONLY | os.O_DIRECTORY, dir_fd=directory.descriptor), path)
        except OSError as error:
            link = _read_link(directory, name) if error.errno in (errno.ENOTDIR, errno.ELOOP) else None
            if link is None:
                raise
    _count(path, links)
    target = _walk(_start(link.text, directory), _names(link.text), create=False, links=links + 1)
    try:
        _check_trust(link, target.owner)
    except BaseException:
        target.close()
        raise
    return target


def _replace_by_destination(directory: Directory, name: str, *, links: int) -> tuple[Directory, str]:
    """Return directory and name of the file behind `name`, which may be a link. `directory` is returned or closed."""
    try:
        link = _read_link(directory, name)
        if link is None:
            return directory, name
        _count(link.path, links)
        *above, last = _names(link.text) or ["."]
        below = _walk(_start(link.text, directory), above, create=False, links=links + 1)
        below, last = _replace_by_destination(below, last, links=links + 1)
    except BaseException:
        directory.close()
        raise
    directory.close()
    try:
        status = below.status(last)
        # The owner of a file that does not exist yet is the owner of its directory.
        _check_trust(link, below.owner if status is None else status.st_uid)
    except BaseException:
        below.close()
        raise
    return below, last


def _read_link(directory: Directory, name: str) -> Link | None:
    """Return a symbolic link; None for anything else. Raises OSError for a link of /proc."""
    status = directory.status(name)
    if status is None or not stat.S_ISLNK(status.st_mode):
        return None
    path = directory.path / name
    above = os.fstat(directory.descriptor)
    with _naming(path):
        if above.st_dev == _proc_device():
            # The text of such a link names a file that need not be the one which the process has open.
            raise OSError(errno.EINVAL, "It leads to a stream of a process, not to a file")
        if hasattr(os, "O_PATH"):
            # Owner and text are those of one link, even if the name is given to another one in between.
            descriptor = os.open(name, _PATH_ONLY, dir_fd=directory.descriptor)
            try:
                status = os.fstat(descriptor)
                text = os.readlink("", dir_fd=descriptor)
            finally:
                os.close(descriptor)
        else:
            text = os.readlink(name, dir_fd=directory.descriptor)
    return Link(path, text, status.st_uid, status.st_nlink == 1, directory.is_private)


def _proc_device() -> int | None:
    try:
        return os.stat("/proc").st_dev  # noqa: PTH116 - a device number, no file
    except OSError:
        return None


def _check_trust(link: Link, target_owner: int) -> None:
    """Raise UntrustedLinkError for a link by which its owner would have another user's file replaced."""
    if not link.serves(target_owner):
        raise UntrustedLinkError(
            errno.EPERM,
            f"it is a symbolic link of another user (uid {link.owner}) to {link.text}, which is not that user's; "
            "remove the link, or give the path that it leads to",
            str(link.path),
        )


def _count(path: Path, links: int) -> None:
    if links >= MAX_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Give OSErrors the whole path: the system call only knows the last name."""
    try:
        yield
    except UntrustedLinkError:
        raise
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
