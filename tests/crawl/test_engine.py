"""The engine: whatever users add to Scrapy meets the same requests, answers and items as in Scrapy's own engine."""

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

SCRAPYS_OWN = ["-s", "DOWNLOADER=scrapy.core.downloader.Downloader"]
"""With another downloader than ours the crawl has Scrapy's own engine: the yardstick of these tests."""

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
    """As libraries in Rust raise it."""


class Loses:
    """Is cancelled at one page, of which Scrapy says nothing."""

    async def process_item(self, item):
        if item.queued.url.endswith("/fine"):
            raise asyncio.CancelledError
        return item


class FailsAtOne(QuietLogFormatter):
    def crawled(self, request, response, spider):
        if request.url.endswith("/untold"):
            raise ZeroDivisionError("in a formatter")


class Bound:
    """Binds the address for whatever comes below, and never takes it back."""

    def process_request(self, request):
        earlier = BOUND.get()
        BOUND.set((*earlier, request.url))
        if earlier:
            raise AssertionError(f"bound by another request: {earlier}")


class Hears:
    """Notes the signals in the order in which they come."""

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
    """A downloader middleware that does all that one may do."""

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
            # As helpers for time-outs did it before Python had one.
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
    """A spider middleware that keeps one page from the pipelines."""

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
    program.variables = {"PYTHONPATH": str(program.directory)}
    site.pages.update({f"/{name}": page("/fine", title=name) for name in NAMES})
    site.pages["/"] = page(*(f"/{name}" for name in NAMES), "/gone", "/moved")
    site.pages["/moved"] = Answer(status=301, headers={"Location": "/fine"})
    site.pages["/from-made"] = page(title="from what a middleware made")
    return program


def crawled(program: Program, site: WebServer, name: str, *options: str) -> Result:
    """With its own inventory and files, and nothing on standard error but what the command itself says."""
    quiet = ["-s", 'EXTENSIONS={"added.Hears": 500}', "-s", "LOG_LEVEL=CRITICAL", "--state", f"{name}.sqlite"]
    return program.crawl(site.url("/"), "-o", name, *quiet, *options)


def heard(program: Program) -> dict[str, list[str]]:
    """The signals of each URL, in their order."""
    of_url: dict[str, list[str]] = defaultdict(list)
    for name, subject in json.loads((program.directory / "heard.json").read_text()):
        of_url[subject].append(name)
    return of_url


@pytest.mark.parametrize("options", [[], MIDDLEWARE, FILTER, [*MIDDLEWARE, *FILTER], FORMATTER, BINDING])
def test_all_goes_as_in_scrapys_own_engine(extended: Program, site: WebServer, options: list[str]) -> None:
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
    # That they agree could also mean that neither did anything.
    assert outcomes[0]["signals"][site.url("/fine")][-2:] == ["response_received", "item_scraped"]
    assert outcomes[0]["code"] == 0


def test_a_place_is_waited_for(program: Program, site: WebServer) -> None:
    """Two at a time of the host, where four of all hosts were allowed."""
    pairs, lock = threading.Barrier(2), threading.Lock()
    now, most = 0, 0

    def answer(request: LoggedRequest) -> Answer:
        nonlocal now, most
        with lock:
            now += 1
            most = max(now, most)
        # Each waits for another one beside it.
        pairs.wait(30)
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


def test_the_next_request_leaves_before_an_answer_is_read(extended: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(9)]
    site.pages.clear()
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    assert crawled(extended, site, "site", "--concurrency", "1", "--workers", "0").code == 0
    told = [tuple(one) for one in json.loads((extended.directory / "heard.json").read_text())]
    pages = set(map(site.url, paths))
    asked = [url for name, url in told if name == "request_reached_downloader" and url in pages]
    assert len(asked) == 9
    for url, following in pairwise(asked):
        assert told.index(("request_reached_downloader", following)) < told.index(("item_scraped", url))


def test_what_was_asked_is_told_by_scrapys_logger(program: Program, site: WebServer) -> None:
    """Which filters and the quiet of the log are about."""
    site.pages["/"] = page()
    loud = program.crawl(site.url("/"), "-vv")
    lines = [line for line in loud.err.splitlines() if "Crawled (200)" in line and line.endswith("None)")]
    assert lines, loud.err
    assert all("[scrapy.core.engine] DEBUG" in line for line in lines)


def test_a_page_that_something_else_loses_proves_nothing(extended: Program, site: WebServer) -> None:
    """Neither is it forgotten, nor the run one that saw the whole site."""
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
