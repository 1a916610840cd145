"""What scripts of a page may fetch: rules, limits, the cache, and what is sent and told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DownloadTimeoutError

from sitemap_crawler.crawl.download.handler import RequestRefusedError
from sitemap_crawler.crawl.keys import Stat
from sitemap_crawler.crawl.middlewares.robots import BlockedByRobotsError
from sitemap_crawler.crawl.rendering.network import (
    MAX_ATTEMPTS,
    MAX_PAGE_BYTES,
    MAX_REFUSED,
    MAX_REQUESTS,
    Network,
    PageRequests,
    Resource,
    ResourceRefusedError,
    Wanted,
    is_prefetch,
    seen_headers,
)
from sitemap_crawler.crawl.rendering.rendered import MISSED, ResourceKind, ScriptRequest
from sitemap_crawler.items import PLAIN_HEADERS
from tests.support.rendering_crawl import SITE, Reply, rendering_crawler

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

PAGE = f"{SITE}/page"


def wanted(url: str, kind: ResourceKind = ResourceKind.DATA, method: str = "GET") -> Wanted:
    return Wanted(url, kind, method)


def refusal(url: str, kind: ResourceKind = ResourceKind.DATA, *, method: str = "GET", **options: Any) -> str | None:
    return Network(rendering_crawler(**options)).refusal_of(wanted(url, kind, method))


def run_page(
    crawler: Any, visit: Callable[[PageRequests], Coroutine[Any, Any, Any]], network: Network | None = None
) -> PageRequests:
    page = PageRequests(network or Network(crawler), PAGE)
    asyncio.run(visit(page))
    return page


async def try_to_fetch(page: PageRequests, url: str, **values: Any) -> Resource | str:
    try:
        return await page.fetch(wanted(url, **values))
    except ResourceRefusedError as error:
        return str(error)


@pytest.mark.parametrize(
    "url", [f"{SITE}/app.js", f"{SITE}/api?x=1", "https://www.example.com/x", "http://api.example.com/"]
)
@pytest.mark.parametrize("kind", list(ResourceKind))
def test_a_page_gets_what_belongs_to_its_site(url: str, kind: ResourceKind) -> None:
    assert refusal(url, kind) is None
    assert refusal(url, kind, subresource_hosts="site") is None


@pytest.mark.parametrize(
    ("url", "public", "site", "none"),
    [
        (f"{SITE}/x", True, True, True),
        ("http://api.example.com/x", True, True, False),
        ("https://www.example.com/x", True, True, False),
        ("https://cdn.other.example/x.js", True, False, False),
        ("http://8.8.8.8/x", True, False, False),
    ],
)
def test_the_option_chooses_the_hosts(url: str, public: bool, site: bool, none: bool) -> None:
    allowed = {hosts: refusal(url, subresource_hosts=hosts) is None for hosts in ("public", "site", "none")}
    assert allowed == {"public": public, "site": site, "none": none}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x",
        "http://127.1/x",
        "http://0x7f000001/x",
        "http://[::1]/x",
        "http://localhost/x",
        "http://x.localhost/x",
        "http://10.1.2.3/x",
        "http://192.168.0.1/x",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00::1]/x",
        "http://[::ffff:10.0.0.1]/x",
        "http://100.64.0.1/x",
        "http://0.0.0.0/x",
        # Ports that are not those of the web
        "https://other.example:6379/x",
        "http://8.8.8.8:22/x",
        "http://www.example.com:9200/x",
        # No http
        "ftp://www.example.com/x",
        "file:///etc/passwd",
        "ws://www.example.com/x",
        "chrome://version/",
        "http://user:secret@www.example.com/x",
        f"http://www.example.com/{'x' * 9_000}",
    ],
)
def test_what_no_page_gets(url: str) -> None:
    assert refusal(url) is not None


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "PROPFIND", "get"])
def test_only_safe_methods_are_sent(method: str) -> None:
    assert refusal(f"{SITE}/x", method=method) == f"{method} requests are not sent"
    assert refusal(f"{SITE}/x", method="HEAD") is None


def test_frames_of_other_sites_stay_empty() -> None:
    assert refusal("https://ads.example/frame", ResourceKind.FRAME) == "it is a frame of another site"


def test_a_script_from_a_loopback_site_cannot_reach_its_neighbour() -> None:
    start = "http://127.0.0.1:8000/"
    assert refusal("http://127.0.0.1:8000/x", start_url=start) is None
    for port in (80, 443, 8001):
        assert refusal(f"http://127.0.0.1:{port}/x", start_url=start) is not None


def test_excluded_urls_are_not_fetched_for_pages_either() -> None:
    assert refusal(f"{SITE}/private/x.json", exclude=["/private/"]) == "--exclude forbids it"


def test_a_resource_is_fetched_once_also_for_pages_at_the_same_time() -> None:
    crawler = rendering_crawler({f"{SITE}/a.js": Reply("1", delay=0.01)})

    async def visit(page: PageRequests) -> None:
        network = page._network
        others = [PageRequests(network, f"{SITE}/{number}") for number in range(5)]
        await asyncio.gather(*(other.fetch(wanted(f"{SITE}/a.js")) for other in others))
        await page.fetch(wanted(f"{SITE}/a.js"))

    run_page(crawler, visit)
    assert crawler.engine.urls() == [f"{SITE}/a.js"]
    assert crawler.counts[Stat.RENDER_REQUESTS] == 1


def test_a_page_that_ends_leaves_the_answer_to_the_others() -> None:
    crawler = rendering_crawler({f"{SITE}/a.js": Reply("1", delay=0.01)})

    async def visit(page: PageRequests) -> None:
        impatient = asyncio.ensure_future(PageRequests(page._network, PAGE).fetch(wanted(f"{SITE}/a.js")))
        await asyncio.sleep(0)
        patient = asyncio.ensure_future(page.fetch(wanted(f"{SITE}/a.js")))
        await asyncio.sleep(0)
        impatient.cancel()
        assert (await patient).body == b"1"

    run_page(crawler, visit)
    assert crawler.engine.urls() == [f"{SITE}/a.js"]


def test_the_cache_is_bounded_and_drops_what_was_not_used_for_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.crawl.rendering.network.MAX_CACHE_BYTES", 25_000)
    urls = [f"{SITE}/{name}" for name in "abc"]
    crawler = rendering_crawler({url: Reply(b"x" * 8_000) for url in urls})

    async def visit(page: PageRequests) -> None:
        first, second, third = urls
        for url in (first, second, first, third, first, second):
            await page.fetch(wanted(url))

    run_page(crawler, visit)
    assert crawler.engine.urls() == [*urls, urls[1]]


def test_a_failing_resource_is_tried_a_few_times_in_a_run() -> None:
    for reply in (Reply(status=503), Reply(error=OSError("no route"))):
        crawler = rendering_crawler({f"{SITE}/x": reply})

        async def visit(page: PageRequests) -> None:
            for _ in range(MAX_ATTEMPTS + 3):
                await try_to_fetch(page, f"{SITE}/x")

        run_page(crawler, visit)
        assert len(crawler.engine.requests) == MAX_ATTEMPTS


def test_a_missing_resource_is_an_answer_like_any_other() -> None:
    crawler = rendering_crawler()

    async def visit(page: PageRequests) -> None:
        answers = [await try_to_fetch(page, f"{SITE}/x") for _ in range(3)]
        assert [isinstance(answer, Resource) and answer.status for answer in answers] == [404] * 3

    page = run_page(crawler, visit)
    assert len(crawler.engine.requests) == 1
    assert [request.url for request in page.noted] == [f"{SITE}/x"]


def test_a_page_gets_so_many_answers_and_no_more() -> None:
    crawler = rendering_crawler()

    async def visit(page: PageRequests) -> None:
        for number in range(MAX_REQUESTS + 50):
            await try_to_fetch(page, f"{SITE}/{number}")

    page = run_page(crawler, visit)
    assert len(crawler.engine.requests) == len(page.noted) == MAX_REQUESTS
    assert len(page.refused) == MAX_REFUSED
    assert page.refused[0] == (
        f"{SITE}/{MAX_REQUESTS}",
        f"it is request number {MAX_REQUESTS + 1} or later of the page",
        ResourceKind.DATA,
    )


def test_a_page_gets_so_many_bytes_and_no_more() -> None:
    big = Reply(b"x" * (MAX_PAGE_BYTES // 2), "application/json")
    crawler = rendering_crawler({f"{SITE}/{number}": big for number in range(5)})

    async def visit(page: PageRequests) -> None:
        for number in range(5):
            await try_to_fetch(page, f"{SITE}/{number}")

    page = run_page(crawler, visit)
    assert [request.url for request in page.noted] == [f"{SITE}/0", f"{SITE}/1"]
    assert {reason for _, reason, _ in page.refused} == {f"the page has got more than {MAX_PAGE_BYTES:,} bytes"}


def test_a_request_takes_along_what_a_server_needs_and_nothing_else() -> None:
    given = {
        "Accept": "application/json",
        "Accept-Language": "de",
        "Accept-Encoding": "zstd",
        "X-Api-Key": "public",
        "Authorization": "Bearer public",
        "Cookie": "session=1",
        "User-Agent": "Mozilla/5.0",
        "Referer": PAGE,
        "Origin": "http://forged.example",
        "Sec-Fetch-Mode": "cors",
        "sec-ch-ua": "x",
        "Proxy-Authorization": "x",
        "Host": "inner.example",
        "If-None-Match": '"x"',
        "X-HTTP-Method-Override": "DELETE",
        "Content-Type": "text/plain",
        "X-Long": "x" * 5_000,
        "X-Umlaut": "\u00e4",
    }
    own = Wanted.from_browser(f"{SITE}/api", ResourceKind.DATA, method="GET", headers=given, page_url=PAGE)
    assert dict(own.headers) == {
        "accept": "application/json",
        "accept-language": "de",
        "x-api-key": "public",
        "authorization": "Bearer public",
    }
    other = Wanted.from_browser("https://api.example/", ResourceKind.DATA, method="GET", headers=given, page_url=PAGE)
    assert dict(other.headers) == {**dict(own.headers), "origin": SITE}
    many = {f"x-{number}": "1" for number in range(100)}
    crowd = Wanted.from_browser(
        f"{SITE}/", ResourceKind.DATA, method="GET", headers={**many, "Accept": "*/*"}, page_url=PAGE
    )
    assert dict(crowd.headers) == {"accept": "*/*"}


def test_the_browser_gets_no_header_that_lasts_or_makes_requests() -> None:
    headers = [
        ("content-type", "text/html"), ("content-security-policy", "script-src 'none'"), ("x-total", "3"),
        ("access-control-allow-origin", "*"), ("set-cookie", "a=b"), ("content-encoding", "gzip"),
        ("content-length", "5"), ("link", "</x.js>; rel=preload"), ("refresh", "0; url=/x"),
        ("strict-transport-security", "max-age=1"), ("content-disposition", "attachment"), ("report-to", "{}"),
        ("bad name", "x"), ("x-nul", "a\0b"),
    ]  # fmt: skip
    kept = dict(headers[:4])
    assert dict(seen_headers(headers, cookies=False)) == kept
    assert dict(seen_headers(headers, cookies=True)) == {**kept, "set-cookie": "a=b"}


def test_what_was_asked_tells_whether_it_has_changed() -> None:
    validators = {"ETag": '"1"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
    crawler = rendering_crawler(
        {
            f"{SITE}/a": Reply("one", headers=validators),
            f"{SITE}/b": Reply("one"),
            f"{SITE}/c": Reply("one", status=404),
        }
    )

    async def visit(page: PageRequests) -> None:
        for name in "abca":
            await page.fetch(wanted(f"{SITE}/{name}"))

    first, second, third = run_page(crawler, visit).noted
    assert (first.etag, first.last_modified) == ('"1"', validators["Last-Modified"])
    assert (second.etag, second.last_modified) == (None, None)
    assert first.body_hash == second.body_hash != third.body_hash
    assert [len(request.body_hash) for request in (first, second, third)] == [16] * 3


def test_waiting_for_a_turn_is_told_from_waiting_for_an_answer() -> None:
    crawler = rendering_crawler({f"{SITE}/x": Reply("1", wait=0.02, delay=0.02)})

    async def visit(page: PageRequests) -> None:
        assert not page.are_pending
        fetch = asyncio.ensure_future(page.fetch(wanted(f"{SITE}/x")))
        seen: list[tuple[bool, bool]] = []
        while not fetch.done():
            # At each turn of the loop, so that no state is missed on a busy machine.
            await asyncio.sleep(0)
            state = page.are_pending, page.are_waiting
            if not seen or seen[-1] != state:
                seen.append(state)
        assert seen == [(True, True), (True, False), (False, False)]

    run_page(crawler, visit)


def earlier(url: str, body: str, *, etag: str | None = '"1"') -> ScriptRequest:
    content_hash = Resource(200, (), body.encode(), None, None).content_hash
    return ScriptRequest(url, ResourceKind.DATA, etag, None, content_hash, headers=PLAIN_HEADERS)


def test_unchanged_resources_are_asked_for_once_a_run() -> None:
    crawler = rendering_crawler(
        {
            f"{SITE}/same": Reply(status=304),
            f"{SITE}/hash": Reply("old"),
            f"{SITE}/new": Reply("new"),
            f"{SITE}/down": Reply(status=500),
        }
    )

    async def visit(page: PageRequests) -> None:
        network = page._network
        for _ in range(3):
            assert await network.unchanged(earlier(f"{SITE}/same", "old"))
            assert await network.unchanged(earlier(f"{SITE}/hash", "old", etag=None))
            assert not await network.unchanged(earlier(f"{SITE}/new", "old"))
        assert not await network.unchanged(earlier(f"{SITE}/down", "old"))
        assert not await network.unchanged(earlier("http://10.0.0.1/x", "old"))
        # What has changed is there for the rendering that follows.
        assert (await page.fetch(Wanted(f"{SITE}/new", ResourceKind.DATA, "GET", (("accept", "*/*"),)))).body == b"new"

    run_page(crawler, visit)
    assert crawler.engine.urls() == [f"{SITE}/{name}" for name in ("same", "hash", "new", "down")]
    assert crawler.engine.requests[0].headers["If-None-Match"] == b'"1"'
    assert "If-None-Match" not in crawler.engine.requests[1].headers


def test_what_a_page_gets_at_its_second_attempt_is_not_missed() -> None:
    crawler = rendering_crawler({f"{SITE}/data": Reply(error=OSError("no route"))})

    async def visit(page: PageRequests) -> None:
        await try_to_fetch(page, f"{SITE}/data")
        crawler.engine.replies[f"{SITE}/data"] = Reply("back")
        await try_to_fetch(page, f"{SITE}/data")
        assert [request.body_hash for request in page.noted] == [earlier(f"{SITE}/data", "back").body_hash]

    run_page(crawler, visit)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply("Sorry", status=503), "status 503"),
        (Reply("Slow down", status=429), "status 429"),
        (Reply(error=DownloadTimeoutError()), "no answer in time"),
        (Reply(error=BlockedByRobotsError("robots.txt forbids it")), None),
        (Reply(error=RequestRefusedError("no way")), None),
    ],
)
def test_what_fails_for_now_is_told_from_what_is_refused(reply: Reply, problem: str | None) -> None:
    crawler = rendering_crawler({f"{SITE}/data": reply})

    async def visit(page: PageRequests) -> None:
        for _ in range(MAX_ATTEMPTS + 1):
            other = PageRequests(page._network, PAGE)
            await try_to_fetch(other, f"{SITE}/data")
            assert [(request.body_hash, request.problem) for request in other.noted] == [(MISSED, problem)]
        assert await page._network.unchanged(other.noted[0])
        assert not await page._network.unchanged(earlier(f"{SITE}/data", "Sorry"))

    run_page(crawler, visit)


@pytest.mark.parametrize("comes_back", [False, True])
def test_what_a_page_has_missed_is_asked_for_again(comes_back: bool) -> None:
    """Failures and rules of a run say nothing about the next one. Scripts of other sites are no content."""
    lost = Reply(error=OSError("no route"))
    urls = [f"{SITE}/data", f"{SITE}/app.js", "http://api.example.net/data", "http://stats.example.net/count.js"]
    kinds = [ResourceKind.SCRIPT if url.endswith(".js") else ResourceKind.DATA for url in urls]
    noted: list[ScriptRequest] = []

    async def fetch(page: PageRequests) -> None:
        for url, kind in zip(urls, kinds, strict=True):
            await try_to_fetch(page, url, kind=kind)
        await try_to_fetch(page, f"{SITE}/post", method="POST")
        await try_to_fetch(page, "http://10.0.0.1/private")
        noted.extend(page.noted)

    async def ask_again(page: PageRequests) -> None:
        for request in noted:
            is_back = comes_back and request.url in urls
            assert await page._network.unchanged(request) is not is_back

    run_page(rendering_crawler(dict.fromkeys(urls, lost)), fetch)
    assert [request.url for request in noted] == [*urls[:3], "http://10.0.0.1/private"]
    crawler = rendering_crawler(dict.fromkeys(urls, Reply("back") if comes_back else lost))
    run_page(crawler, ask_again)
    assert crawler.engine.urls() == urls[:3]


@pytest.mark.parametrize(
    "other", [{"method": "HEAD"}, {"headers": (("accept", "text/x-part"),)}], ids=["method", "header"]
)
@pytest.mark.parametrize("is_first", [True, False])
def test_another_request_for_the_same_url_changes_nothing_for_the_others(other: dict[str, Any], is_first: bool) -> None:
    def answer(request: Any) -> Reply:
        is_part = request.method == "HEAD" or request.headers["Accept"] == b"text/x-part"
        return Reply(status=304) if "If-None-Match" in request.headers else Reply("" if is_part else "whole")

    whole = Wanted(f"{SITE}/x", ResourceKind.DATA, headers=PLAIN_HEADERS)
    requests = [whole._replace(**other), whole] if is_first else [whole, whole._replace(**other)]
    answered: list[ScriptRequest] = []

    async def fetch(page: PageRequests) -> None:
        crawler.engine.answer = answer
        for request in requests:
            await page.fetch(request)
        answered.extend(page.noted)

    async def ask_again(page: PageRequests) -> None:
        crawler.engine.answer = answer
        for request in answered * 2:
            assert await page._network.unchanged(replace(request, etag='"1"'))

    for visit in (fetch, ask_again):
        crawler = rendering_crawler()
        run_page(crawler, visit)
        sent = [(request.method, request.headers["Accept"].decode()) for request in crawler.engine.requests]
        assert sent == [(request.method, request.headers[0][1]) for request in requests]


def test_pages_that_ask_while_an_answer_comes_in_make_no_further_request() -> None:
    """One page more asks at each turn of the event loop, also between the end of the request and its news."""
    crawler = rendering_crawler({f"{SITE}/x": Reply(status=304)})

    async def visit(page: PageRequests) -> None:
        asking: list[asyncio.Future[bool]] = []
        while not asking or not asking[0].done():
            given = earlier(f"{SITE}/x", "old" if len(asking) % 2 == 0 else "of another page")
            asking.append(asyncio.ensure_future(page._network.unchanged(given)))
            await asyncio.sleep(0)
        found = await asyncio.gather(*asking)
        # The answer is to the conditions of the first page: it confirms nothing else.
        assert found == [number % 2 == 0 for number in range(len(found))]
        assert len(found) > 3

    run_page(crawler, visit)
    assert crawler.engine.urls() == [f"{SITE}/x"]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Next-Router-Prefetch": "1", "RSC": "1"}, True),
        ({"Purpose": "prefetch"}, True),
        ({"X-Sec-Purpose": "prefetch;prerender"}, True),
        ({"X-Moz": "Prefetch"}, True),
        ({"Purpose": "preview"}, False),
        ({"RSC": "1"}, False),
        ({}, False),
    ],
)
def test_what_is_loaded_ahead_for_other_pages_is_recognised(headers: dict[str, str], expected: bool) -> None:
    assert is_prefetch(headers) is expected


def test_a_page_gets_no_304_that_another_page_has_asked_for() -> None:
    def answer(request: Any) -> Reply:
        return Reply(status=304, delay=0.02) if "If-None-Match" in request.headers else Reply("whole")

    crawler = rendering_crawler()
    url = f"{SITE}/x"
    asked = Wanted(url, ResourceKind.DATA, "GET", (("accept", "*/*"),))

    async def visit(page: PageRequests) -> None:
        crawler.engine.answer = answer
        asking = asyncio.ensure_future(page._network.unchanged(earlier(url, "whole")))
        await asyncio.sleep(0)
        assert (await page.fetch(asked)).body == b"whole"
        assert await asking

    run_page(crawler, visit)
    assert [("If-None-Match" in request.headers) for request in crawler.engine.requests] == [True, False]
