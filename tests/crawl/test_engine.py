"""The engine: components of users see the same requests, responses and items as in Scrapy's own engine."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.validation.entries import read_entries
from tests.support.webserver import Answer, LoggedRequest, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result
    from tests.support.webserver import WebServer

pytestmark = pytest.mark.slow

SCRAPYS_OWN = ["-s", "DOWNLOADER=scrapy.core.downloader.Downloader"]
"""With another downloader than ours the crawl has Scrapy's own engine, with which these tests compare."""

ADDED = '''
import asyncio
import json
from contextvars import ContextVar
from pathlib import Path
from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse
from sitemap_crawler.crawl.log import QuietLogFormatter

BOUND = ContextVar("bound", default=())
REQUESTS = ("request_scheduled", "request_reached_downloader", "request_left_downloader", "request_dropped")
RESPONSES = ("response_received", "response_downloaded", "item_scraped", "item_dropped", "item_error", "spider_error")


class Panic(BaseException):
    """An exception as libraries in Rust raise it."""


class Loses:
    """Pipeline that is cancelled at one page. Scrapy logs nothing then."""

    async def process_item(self, item):
        if item.queued.url.endswith("/fine"):
            raise asyncio.CancelledError
        return item


class FailsAtOne(QuietLogFormatter):
    def crawled(self, request, response, spider):
        if request.url.endswith("/untold"):
            raise ZeroDivisionError("in a formatter")


class Bound:
    """Middleware that binds the URL in a context variable and never resets it."""

    def process_request(self, request):
        earlier = BOUND.get()
        BOUND.set((*earlier, request.url))
        if earlier:
            raise AssertionError(f"bound by another request: {earlier}")


class Hears:
    """Extension that notes the signals in their order."""

    def __init__(self, crawler):
        self._heard = []
        self._receivers = [self._receiver(name) for name in (*REQUESTS, *RESPONSES)]
        for name, receiver in zip((*REQUESTS, *RESPONSES), self._receivers):
            crawler.signals.connect(receiver, getattr(signals, name))
        crawler.signals.connect(self._closed, signals.spider_closed)

    from_crawler = classmethod(lambda cls, crawler: cls(crawler))

    def _receiver(self, name):
        def of_request(request):
            self._heard.append((name, request.url))

        def of_response(response):
            self._heard.append((name, response.url))

        return of_request if name in REQUESTS else of_response

    def _closed(self, reason):
        Path("heard.json").write_text(json.dumps([*self._heard, ("spider_closed", reason)]))


class Meddles:
    """Downloader middleware that does everything that one may do."""

    def process_request(self, request):
        if request.url.endswith("/made"):
            return HtmlResponse(request.url, body=b"<a href='/from-made'></a>", headers={"Content-Type": "text/html"})
        if request.url.endswith("/ignored"):
            raise IgnoreRequest("not this one")
        if request.url.endswith("/renewed") and "renewed" not in request.meta:
            return request.replace(meta={**request.meta, "renewed": True})

    async def process_response(self, request, response):
        if request.url.endswith("/asked-again") and "again" not in request.meta:
            return request.replace(meta={**request.meta, "again": True})
        if request.url.endswith("/fails"):
            raise ZeroDivisionError("in a middleware")
        if request.url.endswith("/cancelled"):
            raise asyncio.CancelledError
        if request.url.endswith("/panics"):
            raise Panic
        if request.url.endswith("/too-late"):
            # As helpers for timeouts did before Python had one.
            asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                raise TimeoutError("of the middleware") from None
        if request.url.endswith("/unreadable"):
            del request.meta["queued"]
        if request.url.endswith("/other-callback"):
            request.callback = self.another
        return response

    def another(self, response):
        return [None]


class Filters:
    """Spider middleware that keeps one page from the pipelines."""

    async def process_spider_output(self, response, result):
        async for item in result:
            if not response.url.endswith("/kept-back"):
                yield item
'''
NAMES = (
    "made",
    "ignored",
    "renewed",
    "asked-again",
    "fails",
    "cancelled",
    "panics",
    "too-late",
    "untold",
    "unreadable",
    "other-callback",
    "kept-back",
    "fine",
)
MIDDLEWARE = ["-s", 'DOWNLOADER_MIDDLEWARES={"added.Meddles": 500}']
FILTER = ["-s", 'SPIDER_MIDDLEWARES={"added.Filters": 500}']
PIPELINE = ["-s", 'ITEM_PIPELINES={"added.Loses": 850}']
FORMATTER = ["-s", "LOG_FORMATTER=added.FailsAtOne"]
BINDING = ["-s", 'DOWNLOADER_MIDDLEWARES={"added.Bound": 500}', "--concurrency", "1"]


@pytest.fixture
def extended(program: Program, site: WebServer) -> Program:
    (program.directory / "added.py").write_text(ADDED)
    site.pages.update({f"/{name}": page("/fine", title=name) for name in NAMES})
    site.pages["/"] = page(*(f"/{name}" for name in NAMES), "/gone", "/moved")
    site.pages["/moved"] = Answer(status=301, headers={"Location": "/fine"})
    site.pages["/from-made"] = page(title="from what a middleware made")
    return program


def crawled(program: Program, site: WebServer, name: str, *options: str) -> Result:
    """Crawl with an inventory and files of its own. Standard error has only the lines of the command."""
    quiet = ["-s", 'EXTENSIONS={"added.Hears": 500}', "-s", "LOG_LEVEL=CRITICAL", "--state", f"{name}.sqlite"]
    return program.crawl(site.url("/"), "-o", name, *quiet, *options)


def heard(program: Program) -> dict[str, list[str]]:
    """Return the signals of each URL, in their order."""
    of_url: dict[str, list[str]] = defaultdict(list)
    for name, subject in json.loads((program.directory / "heard.json").read_text()):
        of_url[subject].append(name)
    return of_url


@pytest.mark.parametrize("options", [[], MIDDLEWARE, FILTER, [*MIDDLEWARE, *FILTER], FORMATTER, BINDING])
def test_the_crawl_is_the_same_as_with_scrapys_engine(extended: Program, site: WebServer, options: list[str]) -> None:
    outcomes: list[dict[str, Any]] = []
    for name, engine in (("ours", []), ("scrapys", SCRAPYS_OWN)):
        asked = len(site.requests)
        result = crawled(extended, site, name, *options, *engine)
        rows = extended.run("pages", "--state", f"{name}.sqlite", "--format", "jsonl").out
        files = (extended.directory / name).glob("*.xml")
        outcomes.append(
            {
                "code": result.code,
                "files": {path.name: read_entries(path.read_bytes()) for path in files},
                "decisions": {row["url"]: row["reason"] for row in map(json.loads, rows.splitlines())},
                "signals": heard(extended),
                "asked": sorted(request.path for request in site.requests[asked:]),
            }
        )
    assert outcomes[0] == outcomes[1]
    # Two runs that do nothing would be equal, too.
    assert outcomes[0]["signals"][site.url("/fine")][-2:] == ["response_received", "item_scraped"]
    assert outcomes[0]["code"] == 0


def test_a_request_waits_for_a_free_slot(program: Program, site: WebServer) -> None:
    """Two requests to the host are in flight, where four to all hosts are allowed."""
    pairs, lock = threading.Barrier(2), threading.Lock()
    now, most = 0, 0

    def answer(request: LoggedRequest) -> Answer:
        nonlocal now, most
        with lock:
            now += 1
            most = max(now, most)
        # Each request waits for another one.
        pairs.wait(60)
        with lock:
            now -= 1
        return Answer(page(title=request.path))

    site.pages["/"] = page(*(f"/{number}" for number in range(8)))
    site.pages.update({f"/{number}": answer for number in range(8)})
    limits = ["-s", "CONCURRENT_REQUESTS=4", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=2"]
    result = program.crawl(site.url("/"), *limits)
    assert result.code == 0, result.err
    assert len(result.listed()) == 9
    assert most == 2


def test_the_next_request_is_sent_before_a_response_is_read(extended: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(9)]
    site.pages.clear()
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    assert crawled(extended, site, "site", "--concurrency", "1", "--workers", "0").code == 0
    signals = [tuple(one) for one in json.loads((extended.directory / "heard.json").read_text())]
    pages = set(map(site.url, paths))
    asked = [url for name, url in signals if name == "request_reached_downloader" and url in pages]
    assert len(asked) == 9
    for url, following in pairwise(asked):
        assert signals.index(("request_reached_downloader", following)) < signals.index(("item_scraped", url))


def test_scrapys_logger_logs_the_requests(program: Program, site: WebServer) -> None:
    """Filters of users, and the quiet log, name that logger."""
    site.pages["/"] = page()
    loud = program.crawl(site.url("/"), "-vv")
    lines = [line for line in loud.err.splitlines() if "Crawled (200)" in line and line.endswith("None)")]
    assert lines, loud.err
    assert all("[scrapy.core.engine] DEBUG" in line for line in lines)


def test_a_page_lost_by_another_component_is_a_warning(extended: Program, site: WebServer) -> None:
    """The page is not forgotten, and the run does not count as one that saw the whole site."""
    assert crawled(extended, site, "site").report["listed"] == len(NAMES) + 1
    result = crawled(extended, site, "site", "--full", *PIPELINE)
    assert result.code == 0, result.err
    assert [warned for warned in result.report["warnings"] if warned["kind"] == "lost"] == [
        {
            "kind": "lost",
            "url": site.url("/fine"),
            "message": "it was requested, but no item was stored: check the components added with -s",
        }
    ]
    runs = json.loads(extended.run("runs", "--state", "site.sqlite", "--json").out)
    assert [run["ended_by"] for run in runs] == ["limit", "finished"]
