"""One command crawls with several processes of this machine (--processes)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.crawl.test_several_processes import wait_for
from tests.support.postgres_server import ICU, needs_postgres
from tests.support.star_site import PAGES, PATIENCE, Star, answer_when_shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = pytest.mark.slow

PROCESSES = 3
OPTIONS = ("--processes", str(PROCESSES), "-s", "DOWNLOAD_TIMEOUT=170")
SHORT_LEASE = ("-s", "SITEMAP_LEASE=3")
"""So that a test need not wait for a minute until a killed process counts as dead."""

FAILING_HELPER = """
import sys

if sys.orig_argv[-1] == "helper":
    from sqlalchemy.exc import OperationalError

    from sitemap_crawler.inventory.shared_queue import SharedQueue

    def lease(*_arguments, **_options):
        raise OperationalError("SELECT", {}, Exception("the server has a fault"))

    SharedQueue.lease = lease
"""
"""Code that has each helper fail when it leases URLs."""


@pytest.fixture
def star(site: WebServer) -> Star:
    return Star(site)


def processes_of(mark: str) -> list[int]:
    """Return the living processes whose environment has the mark."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_marked = f"TEST_MARK={mark}".encode() in (entry / "environ").read_bytes().split(b"\0")
            if is_marked and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(int(entry.name))
    return found


@contextmanager
def crawling(program: Program, mark: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        program.command("crawl", *arguments),
        cwd=program.directory,
        env={**program.environment(), "TEST_MARK": mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            for left in processes_of(mark):
                with suppress(ProcessLookupError):
                    os.kill(left, signal.SIGKILL)


def sitemap(program: Program, output: str) -> bytes:
    return (program.directory / output / "sitemap.xml").read_bytes()


def crawl_alone(program: Program, star: Star) -> bytes:
    star.is_shared.set()
    result = program.crawl(star.url, "--state", "alone.sqlite", "-o", "alone")
    assert result.code == 0, result.err
    star.requested.clear()
    star.is_shared.clear()
    return sitemap(program, "alone")


@needs_postgres
def test_the_set_is_that_of_one_process_and_each_page_is_requested_once(
    program: Program, star: Star, postgres: PostgresServer
) -> None:
    expected = crawl_alone(program, star)
    mark = uuid4().hex
    state = postgres.url()
    command = (star.url, "--state", state, *OPTIONS, "--report", "report.json")
    with crawling(program, mark, *command) as process:
        answer_when_shared(star, postgres, state, processes=PROCESSES)
        out, _ = process.communicate(timeout=2 * PATIENCE)
        assert processes_of(mark) == []
    assert process.returncode == 0, out
    assert out.count("helped with ") == PROCESSES - 1
    assert set(star.requested.values()) == {1}
    assert len(star.requested) == PAGES - 1
    assert sitemap(program, "sitemaps") == expected
    assert "Traceback" not in out


@needs_postgres
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 4), (signal.SIGKILL, -9)])
def test_helpers_end_with_the_main_process_and_the_same_command_goes_on(
    program: Program, star: Star, postgres: PostgresServer, number: signal.Signals, code: int
) -> None:
    expected = crawl_alone(program, star)
    mark = uuid4().hex
    state = postgres.url()
    command = (star.url, "--state", state, *OPTIONS, *SHORT_LEASE)
    with crawling(program, mark, *command) as process:
        answer_when_shared(star, postgres, state, processes=PROCESSES)
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while processes_of(mark) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert processes_of(mark) == []
    assert process.returncode == code, out
    assert "Traceback" not in out
    result = program.crawl(*command)
    assert result.code == 0, result.err
    assert sitemap(program, "sitemaps") == expected


@needs_postgres
def test_a_suspended_helper_does_not_hold_up_the_end(program: Program, star: Star, postgres: PostgresServer) -> None:
    expected = crawl_alone(program, star)
    mark = uuid4().hex
    state = postgres.url()

    def suspend_one() -> None:
        # A helper that has not begun to crawl ends with its connection. One that has begun has a number of slots.
        begun = f"SELECT count(*) FROM {state.rpartition('=')[2]}.grants"
        wait_for(lambda: postgres.execute(ICU, begun) == [(PROCESSES,)])
        helpers = [number for number in processes_of(mark) if parent_of(number) == process.pid and is_helper(number)]
        assert len(helpers) == PROCESSES - 1
        os.kill(helpers[0], signal.SIGSTOP)

    with crawling(program, mark, star.url, "--state", state, *OPTIONS, *SHORT_LEASE) as process:
        answer_when_shared(star, postgres, state, processes=PROCESSES, before=suspend_one)
        out, _ = process.communicate(timeout=2 * PATIENCE)
        assert processes_of(mark) == []
    assert process.returncode == 0, out
    # Nobody had to kill it.
    assert "a helper process ended with code" not in out
    assert "Traceback" not in out
    assert sitemap(program, "sitemaps") == expected


@needs_postgres
def test_a_helper_that_fails_says_why(program: Program, star: Star, postgres: PostgresServer) -> None:
    expected = crawl_alone(program, star)
    mark = uuid4().hex
    state = postgres.url()
    program.patch(FAILING_HELPER)
    with crawling(program, mark, star.url, "--state", state, *OPTIONS, *SHORT_LEASE) as process:
        answer_when_shared(star, postgres, state, processes=PROCESSES)
        out, _ = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode == 0, out
    assert f"a helper process has failed: cannot use the inventory {state}: the server has a fault" in out
    assert "a helper process ended with code 1; the others have crawled its pages" in out
    assert sitemap(program, "sitemaps") == expected


def parent_of(number: int) -> int:
    return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])


def is_helper(number: int) -> bool:
    return Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")[-2] == b"helper"


def test_an_inventory_in_a_file_is_refused(program: Program, star: Star) -> None:
    result = program.crawl(star.url, "--processes", "3", "--state", "inventory.sqlite")
    assert result.code == 2
    message = (
        "processes 3: processes cannot share the inventory inventory.sqlite, which is a file: give "
        "--state postgresql://USER@HOST/DB, or leave processes out"
    )
    assert result.err.splitlines() == [f"sitemap-crawler: {message}"]
    assert not star.requested
    assert not (program.directory / "inventory.sqlite").exists()


def test_a_job_of_scrapy_is_one_process(program: Program, star: Star) -> None:
    command = (sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={star.url}", "-a", "processes=2")
    result = program.execute(*command, SCRAPY_SETTINGS_MODULE="sitemap_crawler.settings")
    assert result.code == 2
    assert "processes 2: a job is one process: run 2 jobs, all but one of them with join=1" in result.err
    assert not star.requested
