"""What a crawl may wait for without end: a pipe without a writer, the lock of another process. A signal ends it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.forks import Fork
    from tests.support.program import Program

SECONDS = 60.0


def wait_for(happened: Callable[[], bool], process: Fork) -> None:
    until = time.monotonic() + SECONDS
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def begin(program: Program, *arguments: str) -> Fork:
    return program.start("crawl", *arguments, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)


def end(process: Fork, number: int) -> None:
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert process.returncode == 4
    assert "interrupted; run the same command to continue" in errors


def has_reader(pipe: Path, opened: list[int]) -> bool:
    """Return whether a process waits for the pipe, and open it then."""
    # Without a reader: no such device or address.
    with suppress(OSError):
        opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    return bool(opened)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("option", ["--urls", "--access-log"])
def test_a_signal_ends_the_wait_for_a_pipe(
    program: Program, site: WebServer, tmp_path: Path, option: str, number: int
) -> None:
    site.pages["/"] = page("/a")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = begin(program, site.url(), option, str(pipe))
    opened: list[int] = []
    wait_for(lambda: has_reader(pipe, opened), process)
    try:
        end(process, number)
    finally:
        os.close(*opened)


def test_a_pipe_is_read(program: Program, site: WebServer, tmp_path: Path) -> None:
    site.pages.update({"/": page("/a"), "/a": page(), "/b": page()})
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = begin(program, site.url(), "--urls", str(pipe))
    pipe.write_text(site.url("/b"))
    assert process.wait(SECONDS) == 0
    process.communicate()
    text = (program.output / "sitemap.xml").read_text()
    assert all(site.url(path) in text for path in ("/", "/a", "/b"))


def test_a_signal_ends_the_wait_for_the_lock_of_the_output(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    program.output.mkdir()
    descriptor = os.open(program.output, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        process = begin(program, site.url())
        wait_for(lambda: bool(site.requests) and has_open(process.pid, program.output), process)
        end(process, signal.SIGTERM)
    finally:
        os.close(descriptor)
    result = program.crawl(site.url())
    assert (result.code, result.listed()) == (0, [site.url()])


SIGNALLED = """
import fcntl, os, signal, stat

lock = fcntl.flock

def signalled(descriptor, operation):
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        fcntl.flock = lock
        os.kill(os.getpid(), signal.SIGTERM)
    return lock(descriptor, operation)

fcntl.flock = signalled
"""


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_signal_just_before_the_wait_for_the_lock_of_the_output_ends_it(
    program: Program, site: WebServer, *, is_locked: bool
) -> None:
    site.pages["/"] = page()
    program.output.mkdir()
    program.patch(SIGNALLED)
    descriptor = os.open(program.output, os.O_RDONLY)
    if is_locked:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        process = begin(program, site.url())
        try:
            _, errors = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    finally:
        os.close(descriptor)
    # Where nothing has to be waited for, the run is published.
    assert process.returncode == (4 if is_locked else 0), errors
    program.hook = None
    result = program.crawl(site.url())
    assert (result.code, result.listed()) == (0, [site.url()])


def has_open(pid: int, path: Path) -> bool:
    for link in Path(f"/proc/{pid}/fd").iterdir():
        # Files are opened and closed meanwhile.
        with suppress(FileNotFoundError):
            if link.readlink() == path:
                return True
    return False
