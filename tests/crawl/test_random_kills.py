"""Killed again and again at random moments, a crawl ends with the bytes of one that nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

pytestmark = pytest.mark.slow

PAGES = 8_000
KILLS = 10
# With a batch of 128 pages and 16 requests under way a kill costs 144 pages and a robots.txt, and the answers that wait
# for a reader, which are more on a busy machine. Without batches ten kills would nearly double the requests.
CONCURRENCY = 16
ALLOWED = 1.4
LATEST_KILL = 1_300
"""Requests after which each crawl is killed at the latest."""
# Dates that lie in the past, so that nothing in the sitemap depends on when it was made.
MODIFIED = "Tue, 07 May 2024 08:09:{second:02} GMT"
ROBOTS = "User-agent: *\nDisallow: /private/\n"


@dataclass
class Site:
    """/ and /1 to /7999. Each page links to the three below it in a tree, to one anywhere, and now and then to what
    is not listed; it shows two images. A third of the pages says when it was modified."""

    requests: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _awaited: int = 0
    _reached: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: LoggedRequest) -> Answer:
        with self._lock:
            self.requests += 1
            if self.requests == self._awaited:
                self._reached.set()
        if request.path == "/robots.txt":
            return Answer(ROBOTS, content_type="text/plain")
        number = int(request.path.removeprefix("/") or 0)
        leaf = number * 3 + 1 >= PAGES
        if leaf and number % 97 == 5:
            return Answer(status=301, headers={"Location": f"/{number // 3}"})
        if leaf and number % 101 == 7:
            return Answer("Gone", status=404)
        return Answer(self._page(number), headers=_modified(number))

    def _page(self, number: int) -> str:
        below = [f"/{child}" for child in range(number * 3 + 1, number * 3 + 4) if child < PAGES]
        head = '<meta name="robots" content="noindex">' if number % 103 == 11 else ""
        private = [f"/private/{number}"] if number % 500 == 0 else []
        images = f'<img src="/{number % 700}.png" alt=""><img src="/picture-{number}.jpg" alt="">'
        links = [*below, f"/{number * 7919 % PAGES or ''}", "/", *private]
        return page(*links, title=f"Page {number}", head=head, body=f"<main>Words of page {number}. {images}</main>")

    def wait_for(self, more: int) -> bool:
        with self._lock:
            self._awaited = self.requests + more
            self._reached.clear()
        return self._reached.wait(60)


def _modified(number: int) -> dict[str, str]:
    return {"Last-Modified": MODIFIED.format(second=number % 60)} if number % 3 == 0 else {}


def serve(server: WebServer) -> Site:
    site = Site()
    server.pages.update({"/robots.txt": site.answer, **{f"/{number or ''}": site.answer for number in range(PAGES)}})
    return site


def crawl_and_kill(program: Program, options: list[str], site: Site, after: int) -> None:
    """Kill the crawl and whatever it started when the site has been asked `after` times more."""
    with program.start(
        "crawl", *options, new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert site.wait_for(after)
        finally:
            # An ended process that nobody has waited for is still there to be signalled.
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def inventory(program: Program, state: str) -> list[tuple[Any, ...]]:
    """What was decided of every URL, and by what."""
    result = program.run("pages", "--state", state, "--format", "jsonl")
    assert result.code == 0, result.err
    names = ("url", "decision", "reason", "evidence", "status", "depth", "lastmod", "lastmod_source", "redirects_to")
    rows = [json.loads(line) for line in result.out.splitlines()]
    return sorted(tuple(row[name] for name in names) for row in rows)


def test_ten_random_kills_change_nothing_and_cost_little(program: Program, site: WebServer) -> None:
    served = serve(site)
    options = [site.url("/"), "--concurrency", str(CONCURRENCY)]
    result = program.crawl(*options, "--state", "undisturbed.sqlite", "-o", "undisturbed")
    assert result.code == 0, result.err
    expected = result.report
    assert served.requests == PAGES + 1

    served.requests = 0
    options += ["--state", "killed.sqlite", "-o", "killed"]
    moments = random.Random(20240507)
    for _ in range(KILLS):
        crawl_and_kill(program, options, served, moments.randint(1, LATEST_KILL))
    live, wanted = (program.directory / name / "sitemap.xml" for name in ("killed", "undisturbed"))
    assert not live.exists()
    result = program.crawl(*options)
    assert result.code == 0, result.err
    assert served.requests <= ALLOWED * PAGES
    assert live.read_bytes() == wanted.read_bytes()
    for name in ("run", "requests", "listed", "excluded", "changes", "errors"):
        assert result.report[name] == expected[name]
    assert inventory(program, "killed.sqlite") == inventory(program, "undisturbed.sqlite")
