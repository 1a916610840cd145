"""The progress line on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.program import Program

pytestmark = pytest.mark.slow

FAILING = rb"only 1 page that keeps failing is left, 1 requested now"


def shown_on_terminal(
    program: Program, url: str, *options: str, until: bytes | None = None, then: threading.Event | None = None
) -> bytes:
    """Return all that a crawl shows on a terminal. Set the event when the terminal shows the expression `until`."""
    master, slave = pty.openpty()
    process = program.start(
        "crawl", url, *options, stdout=subprocess.DEVNULL, stderr=slave, TERM="xterm", COLUMNS="250"
    )
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4_096):
            shown += chunk
            if then is not None and until is not None and re.search(until, shown):
                then.set()
    except OSError:
        pass  # the end of a terminal whose other side is closed
    finally:
        if then is not None:
            then.set()
    os.close(master)
    assert process.wait(60) == 0
    return shown


def test_a_terminal_shows_how_far_the_crawl_is(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    shown = shown_on_terminal(program, site.url("/"))
    assert re.search(rb"\d+ done, \d+ queued, \d+ to list, \d+\.\d pages/s, \d+\.\d requests/s", shown)
    assert b"INFO" not in shown


@pytest.mark.parametrize(
    ("options", "told"), [((), rb"delay 0\.1 s \(robots\.txt\)"), (("--delay", "0.2"), rb"delay 0\.2 s[,\x1b\r\n ]")]
)
def test_it_says_who_asks_for_the_delay(
    program: Program, site: WebServer, options: tuple[str, ...], told: bytes
) -> None:
    go_on = threading.Event()

    def answer(_: LoggedRequest) -> Answer:
        go_on.wait(60)
        return Answer(page())

    site.pages |= {"/": page("/a"), "/a": answer}
    site.pages["/robots.txt"] = Answer("User-agent: *\nCrawl-delay: 0.1\n", content_type="text/plain")
    shown = shown_on_terminal(program, site.url("/"), *options, until=told, then=go_on)
    assert re.search(told, shown)


def test_there_is_no_progress_line_without_a_terminal(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    result = program.crawl(site.url("/"))
    assert "pages/s" not in result.err
    assert "\x1b" not in result.err + result.out


def fails_until(go_on: threading.Event) -> Callable[[LoggedRequest], Answer]:
    """Return a page whose first answer is 503, and whose second one comes when `go_on` is set."""
    answered = threading.Event()

    def answer(_: LoggedRequest) -> Answer:
        if answered.is_set():
            go_on.wait(60)
        answered.set()
        return Answer(status=503)

    return answer


def test_a_terminal_says_that_only_failing_pages_are_left(program: Program, site: WebServer) -> None:
    go_on = threading.Event()
    site.pages.update({"/": page("/a", "/bad"), "/a": page(title="A"), "/bad": fails_until(go_on)})
    shown = shown_on_terminal(program, site.url("/"), until=FAILING, then=go_on)
    assert re.search(rb"2 done, 1 queued, .*" + FAILING, shown)


def test_the_log_says_that_only_failing_pages_are_left(program: Program, site: WebServer) -> None:
    go_on = threading.Event()
    site.pages.update({"/": page("/a", "/bad"), "/a": page(title="A"), "/bad": fails_until(go_on)})
    program.patch("from sitemap_crawler.crawl.extensions import progress\nprogress.LOG_INTERVAL_SECONDS = 0.2\n")
    process = program.start("crawl", site.url("/"), "-v", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    logged = ""
    assert process.stderr is not None
    try:
        for line in process.stderr:
            logged += line
            if re.search(FAILING.decode(), line):
                go_on.set()
    finally:
        go_on.set()
        process.stderr.close()
    assert process.wait(60) == 0
    assert re.search(r"INFO: 2 done, 1 queued, .*" + FAILING.decode(), logged)


def test_a_queue_that_grows_is_told_above_the_line(program: Program, site: WebServer) -> None:
    told = threading.Event()

    def numbered(request: LoggedRequest) -> Answer:
        number = int(request.path.rpartition("=")[2])
        links = [] if told.is_set() else [f"/list?n={2 * number + 1}", f"/list?n={2 * number + 2}"]
        return Answer(page(*links, title=f"Number {number}"))

    site.pages.update({"/": page("/list?n=0"), "/list": numbered})
    options = ("-s", "GROWTH_AFTER_REQUESTS=50", "-s", "GROWTH_WINDOW=20", "--max-pages", "20000")
    until = rb"[0-9,]+ like /list\?n=\*: --exclude '\^http://127[^ ]*'\r\n"
    shown = shown_on_terminal(program, site.url("/"), *options, until=until, then=told)
    assert shown.count(b"the queue grows: over the last 20 requests more URLs were added than requested, and ") == 1
    assert re.search(until, shown)
    assert b"WARNING" not in shown
