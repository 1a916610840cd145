"""The gate between what this machine lacks and what a site does wrong.

A request, or the reading of a page, can fail because this machine has no file descriptor, memory, port, process or disk
space left. Such a failure says nothing about the site. `shortage_of` recognises it in any exception.
"""

from __future__ import annotations

import errno
import os
import re
import resource
import sys
from enum import Enum
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import SitemapCrawlerError

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_SPARE_DESCRIPTORS = 8
"""Descriptors that must be free for a failure that hides its errno to count as one of the site. A look-up of a name
needs four; connections that failed a moment ago have given theirs back by now."""
MIN_START_DESCRIPTORS = 32
"""Descriptors that must be free when a crawl begins: event loop, inventory, output and one connection need 20."""
MAX_LINKS = 100
"""Maximum number of exceptions of one chain that are examined."""
_NO_ISSUER = frozenset((2, 19, 20, 21, 27))
"""Error numbers of OpenSSL for an authority that it does not find. It opens files of authorities when it needs them:
https://docs.openssl.org/3.0/man3/X509_STORE_CTX_get_error/#error-codes"""
_NOT_MAPPED = "failed to map segment from shared object"
"""Message of the loader of Linux, https://sourceware.org/git/?p=glibc.git;f=elf/dl-load.c"""
_COMBINED = re.compile(r"Multiple exceptions: ")
_ERRNO = re.compile(r"\[Errno (\d+)\]")


class Shortage(Enum):
    """Something that this machine lacks, with the remedy."""

    DESCRIPTORS = (
        "this process has too few file descriptors",
        "raise its limit (ulimit -n, LimitNOFILE= of a service) or lower --concurrency",
    )
    MACHINE_DESCRIPTORS = (
        "this machine has too few file descriptors",
        "end other programs or raise the limit (fs.file-max)",
    )
    MEMORY = (
        "this machine has too little memory",
        "end other programs, lower --workers or --concurrency, or --exclude a page that needs too much each time",
    )
    BUFFERS = ("this machine has too little memory for connections", "end other programs or lower --concurrency")
    PORTS = (
        "this machine has no address or port left for a connection",
        "wait a minute, lower --concurrency, or correct DOWNLOAD_BIND_ADDRESS",
    )
    PROCESSES = (
        "this user may start no further process or thread",
        "end other programs or raise the limit (ulimit -u, TasksMax= of a service)",
    )
    FILE_SIZE = (
        "a file has reached the size that this process may write",
        "raise the limit (ulimit -f, LimitFSIZE= of a service)",
    )
    DISK = ("the disk is full", "free disk space")

    @property
    def lack(self) -> str:
        return self.value[0]

    @property
    def remedy(self) -> str:
        return f"{self.value[1]}, then run the same command"

    def __str__(self) -> str:
        return f"{self.lack}: {self.remedy}"


class ShortageError(SitemapCrawlerError):
    """This machine lacks something that the program needs."""

    def __init__(self, shortage: Shortage) -> None:
        super().__init__(str(shortage))
        self.shortage = shortage


_BY_ERRNO = {
    errno.EMFILE: Shortage.DESCRIPTORS,
    errno.ENFILE: Shortage.MACHINE_DESCRIPTORS,
    errno.ENOMEM: Shortage.MEMORY,
    errno.ENOBUFS: Shortage.BUFFERS,
    errno.EADDRNOTAVAIL: Shortage.PORTS,
    errno.EFBIG: Shortage.FILE_SIZE,
    errno.ENOSPC: Shortage.DISK,
    errno.EDQUOT: Shortage.DISK,
}
_SQLITE_NOMEM, _SQLITE_FULL, _SQLITE_CANTOPEN = 7, 13, 14
_SQLITE_IO_ERRORS_OF_WRITES = frozenset((778, 1546, 4874))
"""https://www.sqlite.org/rescode.html (SQLITE_IOERR_WRITE, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_SHMSIZE)"""
_BY_SQLITE_CODE = {_SQLITE_NOMEM: Shortage.MEMORY, _SQLITE_FULL: Shortage.DISK}


def shortage_of(error: BaseException | None) -> Shortage | None:
    """Return what this machine lacks, if that has caused the exception; None for any other cause."""
    chain = list(_chain(error))
    for link in chain:
        if (shortage := _shown_by(link)) is not None:
            return shortage
    if any(map(_hides_file_size, chain)) and _file_size_is_limited():
        return Shortage.FILE_SIZE
    return lacking_descriptors() if any(map(_hides_errno, chain)) else None


def advice_for(error: BaseException, *, otherwise: str) -> str:
    """Return lack and remedy for an exception; `otherwise` if it shows no shortage, or a full disk."""
    shortage = shortage_of(error)
    return otherwise if shortage is None or shortage is Shortage.DISK else str(shortage)


def shortage_error_of(error: Exception) -> Exception:
    """Return the ShortageError that explains an exception, or else the exception itself.

    A full disk and a file that is too large are not explained where the message names the file.
    """
    shortage = shortage_of(error)
    if shortage is None or shortage is Shortage.DISK:
        return error
    is_of_file = shortage is Shortage.FILE_SIZE and isinstance(error, SitemapCrawlerError)
    return error if is_of_file or str(shortage) in str(error) else ShortageError(shortage)


def raise_shortage(error: Exception) -> None:
    """Raise ShortageError if a shortage has caused the exception.

    PORTS does not count: here it may stand for IPv6 that is off. The crawl tells the two apart by its own sockets.
    """
    shortage = shortage_of(error)
    if shortage is not None and shortage is not Shortage.PORTS:
        raise ShortageError(shortage) from error


def lacking_descriptors(spare: int = MIN_SPARE_DESCRIPTORS) -> Shortage | None:
    """Return the shortage if fewer than `spare` descriptors are free."""
    opened: list[int] = []
    try:
        while len(opened) < spare:
            opened += os.pipe()
    except OSError as error:
        return _BY_ERRNO.get(error.errno or 0)
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the exception and all that it stands for: its causes, and what libraries keep in attributes."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < MAX_LINKS:
        link = waiting.pop(0)
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting.append(link.__cause__)
        if not link.__suppress_context__:
            waiting.append(link.__context__)
        # aiohttp, SQLAlchemy.
        waiting += [getattr(link, name, None) for name in ("os_error", "certificate_error", "orig")]
        if isinstance(link, BaseExceptionGroup):
            waiting += link.exceptions


def _shown_by(error: BaseException) -> Shortage | None:
    """Return the shortage that one exception shows by itself."""
    if isinstance(error, ShortageError):
        return error.shortage
    if isinstance(error, MemoryError):
        return Shortage.MEMORY
    if _is_a(error, "sqlite3.Error"):
        return _BY_SQLITE_CODE.get(_sqlite_code(error))
    if _is_a(error, "socket.gaierror") or _is_a(error, "ssl.SSLError"):
        # Their errno is a number of another list.
        return None
    if isinstance(error, OSError):
        numbers = [error.errno] if error.errno is not None else _combined_errnos(error)
        return next((_BY_ERRNO[number] for number in numbers if number in _BY_ERRNO), None)
    if isinstance(error, ImportError):
        # A shared library that cannot be loaded: the loader gives the reason as text.
        if str(error).endswith(_NOT_MAPPED):
            return Shortage.MEMORY
        return next(
            (shortage for number, shortage in _BY_ERRNO.items() if str(error).endswith(os.strerror(number))), None
        )
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return Shortage.PROCESSES
    return None


def _combined_errnos(error: OSError) -> list[int]:
    """Return the error numbers of an exception in which asyncio or aiohttp combines those of several addresses."""
    text = str(error)
    return list(map(int, _ERRNO.findall(text))) if _COMBINED.match(text) else []


def _hides_errno(error: BaseException) -> bool:
    """Return whether a lack of descriptors may have caused the exception although its errno is another one.

    The C library then does not find a name, OpenSSL no authority, SQLite no file, the driver no PostgreSQL server.
    """
    if _is_a(error, "ssl.SSLCertVerificationError"):
        return getattr(error, "verify_code", None) in _NO_ISSUER
    if _is_a(error, "sqlite3.Error"):
        return _sqlite_code(error) == _SQLITE_CANTOPEN
    if _is_a(error, "psycopg.OperationalError"):
        return getattr(error, "sqlstate", None) is None
    return _is_a(error, "socket.gaierror")


def _hides_file_size(error: BaseException) -> bool:
    """Return whether SQLite may have reached the limit of a file's size: it then says "disk I/O error"."""
    code = getattr(error, "sqlite_errorcode", None)
    return _is_a(error, "sqlite3.Error") and code in _SQLITE_IO_ERRORS_OF_WRITES


def _file_size_is_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY


def _is_a(error: BaseException, name: str) -> bool:
    """Return whether the exception is one of a class that is given by its module and name.

    A module that is not imported has raised nothing, and it could not be imported without a descriptor.
    """
    module, _, class_name = name.partition(".")
    known: Any = getattr(sys.modules.get(module), class_name, ())
    return isinstance(error, known)


def _sqlite_code(error: BaseException) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
