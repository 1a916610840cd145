"""A lack of this machine is recognised in whatever exception it arrives, and a fault of a site is none."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import sqlite3
import ssl
import subprocess
import sys

import aiohttp
import pytest
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, DownloadFailedError
from sqlalchemy.exc import OperationalError

from sitemap_crawler.crawl.middlewares.robots import RobotsUnavailableError
from sitemap_crawler.exceptions import InventoryError, OptionError, WorkFailedError
from sitemap_crawler.utils.shortage import (
    Shortage,
    ShortageError,
    advice_for,
    lacking_descriptors,
    shortage_error_of,
    shortage_of,
)

KEY = aiohttp.client_reqrep.ConnectionKey("127.0.0.1", 80, False, True, None, None, None)


def os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def in_context(error: Exception, handled: Exception, *, suppressed: bool = False) -> Exception:
    error.__context__, error.__suppress_context__ = handled, suppressed
    return error


def connector_error(number: int) -> Exception:
    return caused(DownloadConnectionRefusedError("x"), aiohttp.ClientConnectorError(KEY, os_error(number)))


def sqlite_error(code: int) -> OperationalError:
    error = sqlite3.OperationalError("unable")
    error.sqlite_errorcode = code
    return OperationalError("SELECT 1", {}, error)


def two_addresses(first: int, second: int) -> OSError:
    """What asyncio and aiohttp raise if the addresses of a host fail differently."""
    return OSError(f"Multiple exceptions: {os_error(first)}, {os_error(second)}")


def certificate_error(code: int) -> Exception:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code = code
    return caused(
        DownloadConnectionRefusedError("x"),
        aiohttp.ClientConnectorCertificateError(KEY, error),  # type: ignore[arg-type]
    )


OWN = [
    (errno.EMFILE, Shortage.DESCRIPTORS),
    (errno.ENFILE, Shortage.MACHINE_DESCRIPTORS),
    (errno.ENOMEM, Shortage.MEMORY),
    (errno.ENOBUFS, Shortage.BUFFERS),
    (errno.EADDRNOTAVAIL, Shortage.PORTS),
    (errno.EFBIG, Shortage.FILE_SIZE),
    (errno.ENOSPC, Shortage.DISK),
    (errno.EDQUOT, Shortage.DISK),
]


@pytest.mark.parametrize(("number", "expected"), OWN)
def test_a_lack_is_found_wherever_the_errno_is(number: int, expected: Shortage) -> None:
    plain = os_error(number)
    errors = [
        plain,
        connector_error(number),
        caused(DownloadFailedError("x"), aiohttp.ClientOSError(number, os.strerror(number))),
        caused(OptionError("x"), plain),
        in_context(ValueError("x"), plain),
        OperationalError("SELECT 1", {}, plain),
        two_addresses(errno.ENETUNREACH, number),
        ExceptionGroup("x", [ValueError("y"), plain]),
        ImportError(f"libx.so: cannot open shared object file: {os.strerror(number)}"),
        caused(WorkFailedError("x"), ShortageError(expected)),
    ]
    assert [shortage_of(error) for error in errors] == [expected] * len(errors)


def test_a_library_that_cannot_be_mapped_lacks_memory() -> None:
    """As `ulimit -v` shows it."""
    error = ImportError("/usr/lib/libx.so.0: failed to map segment from shared object")
    assert shortage_of(error) is shortage_of(caused(ValueError("x"), error)) is Shortage.MEMORY


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), Shortage.MEMORY),
        (RuntimeError("can't start new thread"), Shortage.PROCESSES),
        (sqlite_error(sqlite3.SQLITE_NOMEM), Shortage.MEMORY),
        (sqlite_error(sqlite3.SQLITE_FULL), Shortage.DISK),
    ],
)
def test_lacks_without_errno(error: Exception, expected: Shortage) -> None:
    assert shortage_of(error) is expected


@pytest.mark.parametrize(
    "error",
    [
        None,
        ValueError(f"[Errno {errno.EMFILE}]"),
        OSError(f"[Errno {errno.EMFILE}]"),
        RuntimeError("can't"),
        ImportError("no module named x"),
        connector_error(errno.ECONNREFUSED),
        connector_error(errno.ENETUNREACH),
        two_addresses(errno.ENETUNREACH, errno.ECONNREFUSED),
        TimeoutError(),
        asyncio.CancelledError(),
        # Numbers of other lists that are equal to those of a lack.
        socket.gaierror(errno.EMFILE, "x"),
        ssl.SSLError(errno.ENOMEM, "x"),
        caused(CannotResolveHostError("x"), socket.gaierror(socket.EAI_NONAME, "x")),
        certificate_error(20),
        certificate_error(10),
        sqlite_error(sqlite3.SQLITE_CANTOPEN),
        sqlite_error(sqlite3.SQLITE_BUSY),
        in_context(RobotsUnavailableError("x"), os_error(errno.EMFILE), suppressed=True),
    ],
)
def test_what_a_site_does_is_no_lack(error: Exception | None) -> None:
    assert shortage_of(error) is None


def test_a_circle_of_exceptions_ends() -> None:
    one, other = ValueError("x"), ValueError("y")
    one.__cause__, other.__cause__ = other, one
    assert shortage_of(one) is None


def test_a_full_disk_keeps_the_message_that_names_the_file() -> None:
    full, files = caused(InventoryError("x"), os_error(errno.ENOSPC)), caused(InventoryError("x"), os_error(24))
    assert shortage_error_of(full) is full
    explained = shortage_error_of(files)
    assert isinstance(explained, ShortageError)
    assert str(explained) == str(Shortage.DESCRIPTORS)
    told = caused(InventoryError(f"cannot use x: y; {Shortage.FILE_SIZE}"), os_error(errno.EFBIG))
    assert shortage_error_of(told) is told
    assert advice_for(full, otherwise="free disk space") == "free disk space"
    assert advice_for(files, otherwise="free disk space") == str(Shortage.DESCRIPTORS)


def run_without_descriptors(code: str, *, spare: int = 0) -> str:
    """Run code in a process that has `spare` free descriptors from the name `lack` on, and return what it prints."""
    script = f"""
import encodings.idna, os, resource, socket, sqlite3, ssl, sys
from sitemap_crawler.utils.shortage import Shortage, lacking_descriptors, shortage_of

def lack():
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + {spare}, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

{code}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.parametrize(
    "failing",
    [
        "socket.getaddrinfo('www.example.invalid', 80)",
        "sqlite3.connect('absent.sqlite').execute('CREATE TABLE x (y)')",
        "open('/dev/null')",
        "socket.socket()",
        "import zoneinfo",
        "import _testcapi",
        "raise refused",
    ],
)
@pytest.mark.parametrize("spare", [0, 1])
def test_failures_of_a_process_without_descriptors(failing: str, spare: int) -> None:
    """The C library says that it knows no such name, SQLite that it cannot open the file, OpenSSL nothing."""
    code = f"""
refused = ssl.SSLCertVerificationError(1, "x")
refused.verify_code = 20
lack()
held = os.dup(1) if {spare} else None
try:
    {failing}
except Exception as error:
    print(shortage_of(error))
"""
    assert run_without_descriptors(code, spare=spare) == str(Shortage.DESCRIPTORS)


@pytest.mark.parametrize(
    "opening", ["open_file(Path('/etc/passwd'))", "Client('http://127.0.0.1:9').open_url('http://127.0.0.1:9/')"]
)
def test_what_a_validation_cannot_open_for_a_lack_is_no_finding(opening: str) -> None:
    code = f"""
from pathlib import Path
from sitemap_crawler.validation.reading.remote import Client
from sitemap_crawler.validation.reading.sources import open_file
lack()
try:
    {opening}.__enter__()
except Exception as error:
    print(error)
"""
    assert run_without_descriptors(code) == str(Shortage.DESCRIPTORS)


@pytest.mark.parametrize(("spare", "expected"), [(0, True), (7, True), (8, False)])
def test_a_spare_descriptor_is_left_for_each_step_of_a_look_up(spare: int, *, expected: bool) -> None:
    code = "lack()\nprint(lacking_descriptors() is Shortage.DESCRIPTORS)"
    assert run_without_descriptors(code, spare=spare) == str(expected)


def test_the_look_leaves_nothing_open() -> None:
    before = os.listdir("/proc/self/fd") if sys.platform == "linux" else []  # noqa: PTH208
    assert lacking_descriptors() is None
    assert (os.listdir("/proc/self/fd") if sys.platform == "linux" else []) == before  # noqa: PTH208
