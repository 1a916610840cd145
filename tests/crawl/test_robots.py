"""robots.txt: the meaning of each response to it; blocked URLs are never requested, and recorded with their rule."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import closing
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.http import Response

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.middlewares.robots import BlockedByRobotsError, RobotsMiddleware, RobotsUnavailableError
from sitemap_crawler.crawl.throttle import HostThrottles
from sitemap_crawler.publish.context import Ending
from sitemap_crawler.validation.entries import read_entries
from tests.support.inventories import connect
from tests.support.names import give_names
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tests.support.program import Program

RULES = "User-agent: *\nDisallow: /private\n"


def text(body: str | bytes, **more: object) -> Answer:
    return Answer(body, content_type="text/plain", **more)  # type: ignore[arg-type]


def moved(target: str) -> Answer:
    return Answer(status=301, headers={"Location": target})


def build(site: WebServer) -> None:
    site.pages.update({"/": page("/private/a", "/public"), "/private/a": page(), "/public": page()})


@pytest.mark.parametrize(
    "robots",
    [
        {"/robots.txt": text(RULES)},
        {"/robots.txt": text(b"\xef\xbb\xbf" + RULES.encode())},
        {"/robots.txt": text(RULES.replace("\n", "\r\n"))},
        {"/robots.txt": Answer(RULES, content_type="text/html")},
        {"/robots.txt": text("User-agent: other\nDisallow: /\n\n" + RULES)},
        {"/robots.txt": text(RULES + "#" * 600_000)},
        {"/robots.txt": moved("/r1"), "/r1": moved("/r2"), "/r2": text(RULES)},
        {**{f"/r{n}": moved(f"/r{n + 1}") for n in range(1, 5)}, "/robots.txt": moved("/r1"), "/r5": text(RULES)},
        {"/robots.txt": text(gzip.compress(RULES.encode()), headers={"Content-Encoding": "gzip"})},
        {"/robots.txt": text(gzip.compress(RULES.encode()), headers={"Content-Encoding": "x-gzip"})},
        {"/robots.txt": Answer(f"<!DOCTYPE html>\n<title>Robots</title><pre>\n{RULES}</pre>\n")},
        {"/robots.txt": text(RULES.encode("utf-16"))},
        {"/robots.txt": text(RULES.replace("\n", "\r"))},
        {"/robots.txt": text(RULES, status=203)},
    ],
)
def test_rules_are_obeyed(program: Program, site: WebServer, robots: dict[str, Answer]) -> None:
    build(site)
    site.pages.update(robots)
    result = program.crawl(site.url("/"))
    assert result.listed() == [site.url("/"), site.url("/public")]
    assert result.report["excluded"] == {"blocked-by-robots": 1}
    assert "/private/a" not in site.paths()


@pytest.mark.parametrize(
    "robots",
    [
        {"/robots.txt": Answer(status=404)},
        {"/robots.txt": Answer(status=403)},
        {"/robots.txt": text("")},
        {"/robots.txt": text("User-agent: *\nDisallow:\n")},
        {"/robots.txt": text("User-agent: other\nDisallow: /\n")},
        {"/robots.txt": Answer("<html><body>Not here</body></html>")},
        {"/robots.txt": text("#" * 600_000 + "\n" + RULES)},
        {"/robots.txt": moved("/robots.txt")},
        {**{f"/r{n}": moved(f"/r{n + 1}") for n in range(1, 6)}, "/robots.txt": moved("/r1"), "/r6": text(RULES)},
        {"/robots.txt": moved("/gone")},
        {"/robots.txt": moved("mailto:nobody")},
        {"/robots.txt": moved("http://[")},
        {"/robots.txt": text(RULES, status=301)},
        {"/robots.txt": text(RULES, status=300)},
        {"/robots.txt": text(RULES, status=404)},
        {"/robots.txt": text(b"\xff\xfe\x00\x01" * 50)},
    ],
)
def test_everything_is_allowed(program: Program, site: WebServer, robots: dict[str, Answer]) -> None:
    build(site)
    site.pages.update(robots)
    result = program.crawl(site.url("/"))
    assert result.listed() == [site.url("/"), site.url("/private/a"), site.url("/public")]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=500),
        Answer(status=429),
        Answer(drop=True),
        # The part that is lost or unreadable may forbid anything.
        text(gzip.compress(RULES.encode())[:-9], headers={"Content-Encoding": "gzip"}),
        text(gzip.compress(gzip.compress(RULES.encode())), headers={"Content-Encoding": "gzip"}),
    ],
)
def test_nothing_is_allowed(program: Program, site: WebServer, answer: Answer) -> None:
    build(site)
    site.pages["/robots.txt"] = answer
    result = program.crawl(site.url("/"))
    assert result.code == 3
    assert set(site.paths()) == {"/robots.txt"}


def test_robots_txt_is_fetched_once(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(50)]
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    program.crawl(site.url("/"))
    assert site.paths().count("/robots.txt") == 1


def test_robots_txt_can_be_ignored(program: Program, site: WebServer) -> None:
    build(site)
    site.pages["/robots.txt"] = text(RULES)
    result = program.crawl(site.url("/"), "-s", "ROBOTSTXT_OBEY=0")
    assert result.report["listed"] == 3
    assert "/robots.txt" not in site.paths()


def test_the_name_in_robots_txt_is_that_of_the_user_agent(program: Program, site: WebServer) -> None:
    build(site)
    site.pages["/robots.txt"] = text("User-agent: example-bot\nDisallow: /private\n")
    assert program.crawl(site.url("/")).report["listed"] == 3
    assert program.crawl(site.url("/"), "--user-agent", "example-bot/1.0").report["listed"] == 2


def test_a_failing_robots_txt_loses_nothing(program: Program, site: WebServer) -> None:
    build(site)
    site.pages["/robots.txt"] = Answer(status=503)
    assert program.crawl(site.url("/")).code == 3
    site.pages["/robots.txt"] = Answer(status=404)
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert result.report["listed"] == 3
    assert result.report["excluded"] == {}


def test_blocked_urls_do_not_count_for_the_page_limit(program: Program, site: WebServer) -> None:
    blocked, allowed = [f"/private/{n}" for n in range(10)], [f"/{n}" for n in range(10)]
    site.pages.update({"/": page(*blocked, *allowed), **{path: page() for path in allowed}, "/robots.txt": text(RULES)})
    result = program.crawl(site.url("/"), "--max-pages", "5")
    assert result.report["listed"] == 5
    assert len(site.paths()) == 6


def blocked_by(program: Program, site: WebServer) -> dict[str, str]:
    """Return the rule that the inventory has for each path that robots.txt forbids."""
    query = "SELECT url, blocked_by FROM observations JOIN urls ON urls.id = url_id WHERE blocked_by IS NOT NULL"
    with closing(connect(program.directory / "state.sqlite")) as inventory:
        return {url.removeprefix(site.url("")): words for url, words in inventory.execute(query)}


def test_the_rule_is_recorded(program: Program, site: WebServer) -> None:
    rules = """\
# All of them
User-agent: *
Disallow: /private
Allow: /private/open

User-agent: other
Disallow: /
"""
    paths = ["/private", "/private/a", "/private/open/a", "/public", "/x?s=1"]
    site.pages.update({"/": page(*paths), "/robots.txt": text(rules + "\nUser-Agent: *\ndisallow: /*?s=  # search\n")})
    site.pages.update({path: page() for path in ("/private/open/a", "/public")})
    result = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert result.listed() == [site.url(path) for path in ("/", "/private/open/a", "/public")]
    robots = site.url("/robots.txt")
    assert blocked_by(program, site) == {
        "/private": f"{robots}: Disallow: /private (line 3, User-agent: *)",
        "/private/a": f"{robots}: Disallow: /private (line 3, User-agent: *)",
        "/x?s=1": f"{robots}: disallow: /*?s= (line 10, User-agent: *)",
    }


def test_the_group_for_this_crawler_wins(program: Program, site: WebServer) -> None:
    build(site)
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: Sitemap-Crawler\nDisallow: /private\n"
    site.pages["/robots.txt"] = text(rules)
    program.crawl(site.url("/"), "--state", "state.sqlite")
    words = f"{site.url('/robots.txt')}: Disallow: /private (line 5, User-agent: Sitemap-Crawler)"
    assert blocked_by(program, site) == {"/private/a": words}


def test_each_port_has_its_own(program: Program, site: WebServer) -> None:
    with WebServer() as other:
        build(site)
        build(other)
        site.pages["/robots.txt"] = text("User-agent: *\nDisallow: /public\n")
        other.pages["/robots.txt"] = text(RULES)
        assert program.crawl(site.url("/")).listed() == [site.url("/"), site.url("/private/a")]
        assert other.paths() == []
        # It is another site, so its files have a directory of their own.
        assert program.crawl(other.url("/"), "-o", "other").code == 0
        entries = read_entries((program.directory / "other/sitemap.xml").read_bytes())
        assert [entry.loc for entry in entries] == [other.url("/"), other.url("/public")]


def test_a_redirect_to_another_host_counts_for_the_first(program: Program, site: WebServer) -> None:
    give_names(program, {"www.example.com": "127.0.0.1", "shared.example.com": "127.0.0.1"})
    build(site)
    site.pages["/robots.txt"] = moved(f"http://shared.example.com:{site.port}/shared.txt")
    site.pages["/shared.txt"] = text(RULES)
    start = f"http://www.example.com:{site.port}/"
    assert program.crawl(start).listed() == [start, f"{start}public"]
    [request] = [request for request in site.requests if request.path == "/shared.txt"]
    assert request.headers["host"].startswith("shared.")


def test_a_redirect_that_leads_to_a_failure_forbids_everything(program: Program, site: WebServer) -> None:
    build(site)
    site.pages.update({"/robots.txt": moved("/broken"), "/broken": Answer(status=500)})
    result = program.crawl(site.url("/"))
    assert result.code == 3
    assert f"{site.url('/robots.txt')}: status 500" in result.last_line
    assert set(site.paths()) == {"/robots.txt", "/broken"}


# The middleware by itself, for cases that take a day or several sites.


class Bench:
    """The middleware by itself, with a clock that stands still and responses for its requests."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[str] = []
        self.status = 200
        self.body = RULES.encode()
        rules = SimpleNamespace(address=None)
        shared = SimpleNamespace(robots={}, store_robots=lambda origin, *, agent, body: None)
        shared.read_robots = lambda origin, request: request()
        start_url = "https://site.example/docs/"
        self.job = SimpleNamespace(shared=shared, ending=Ending(), start_url=start_url, rules=rules)
        self.job.throttles = HostThrottles(Options.parse({"start_url": self.job.start_url}))
        self.job.refuse = self.refuse
        self.closed: list[str] = []
        self.refused: list[str] = []
        engine = SimpleNamespace(running=True, download_async=self.download, close_spider_async=self.close)
        stats = SimpleNamespace(inc_value=lambda name: None)
        crawler: Any = SimpleNamespace(spider=SimpleNamespace(job=self.job), engine=engine, stats=stats)
        self.robots = RobotsMiddleware(crawler, user_agent="anybot/1.0", timeout=1, clock=lambda: self.now)

    async def download(self, request: Request) -> Response:
        self.asked.append(request.url)
        await asyncio.sleep(0)
        return Response(request.url, status=self.status, body=self.body)

    async def close(self, reason: str) -> None:
        self.closed.append(reason)

    def refuse(self, message: str, *, ends_run: bool) -> None:
        self.job.ending = self.job.ending._replace(refusal=message)
        assert not ends_run
        self.refused.append(message)


def run(scenario: Callable[[Bench], Coroutine[Any, Any, None]]) -> None:
    async def play() -> None:
        await scenario(Bench())

    asyncio.run(play())


def test_concurrent_calls_wait_for_one_response() -> None:
    async def scenario(bench: Bench) -> None:
        rules = await asyncio.gather(*[bench.robots.rules_for("https://site.example") for _ in range(5)])
        assert bench.asked == ["https://site.example/robots.txt"]
        assert all(one is rules[0] for one in rules)
        assert bench.job.shared.robots == {"https://site.example": rules[0]}
        with pytest.raises(BlockedByRobotsError) as blocked:
            await bench.robots.process_request(Request("https://site.example/private"))
        assert str(blocked.value) == "https://site.example/robots.txt: Disallow: /private (line 2, User-agent: *)"
        await bench.robots.process_request(Request("https://site.example/public"))
        assert len(bench.asked) == 1

    run(scenario)


def test_robots_txt_is_fetched_again_after_a_day() -> None:
    async def scenario(bench: Bench) -> None:
        origin = "https://site.example"
        first = await bench.robots.rules_for(origin)
        bench.now, bench.body = 24 * 3600 - 1, b"User-agent: *\nDisallow: /other\n"
        assert await bench.robots.rules_for(origin) is first
        bench.now += 1
        second, same = await asyncio.gather(bench.robots.rules_for(origin), bench.robots.rules_for(origin))
        assert second is same
        assert second is not None
        assert second is not first
        assert second.rule_against(f"{origin}/other", "anybot") is not None
        assert bench.job.shared.robots == {origin: second}
        bench.now, bench.status = bench.now + 24 * 3600, 404
        assert await bench.robots.rules_for(origin) is None
        assert bench.job.shared.robots == {}
        assert len(bench.asked) == 3

    run(scenario)


def test_old_rules_apply_while_robots_txt_is_not_available() -> None:
    async def scenario(bench: Bench) -> None:
        origin = "https://site.example"
        first = await bench.robots.rules_for(origin)
        bench.now, bench.status = 24 * 3600, 503
        assert await bench.robots.rules_for(origin) is first
        assert bench.job.shared.robots == {origin: first}
        assert len(bench.asked) == 2
        assert bench.refused == []

    run(scenario)


def test_the_robots_txt_of_the_start_page_ends_the_crawl() -> None:
    async def scenario(bench: Bench) -> None:
        bench.status = 500
        requests = [bench.robots.rules_for("https://site.example") for _ in range(3)]
        errors = await asyncio.gather(*requests, return_exceptions=True)
        assert [str(error) for error in errors] == ["https://site.example/robots.txt: status 500"] * 3
        assert all(isinstance(error, RobotsUnavailableError) for error in errors)
        assert len(bench.refused) == 1
        assert "https://site.example/robots.txt: status 500" in bench.refused[0]
        await asyncio.sleep(0)
        assert bench.closed == ["robots-unavailable"]
        assert bench.job.shared.robots == {}

    run(scenario)


@pytest.mark.parametrize("other", ["http://site.example", "https://site.example:8443", "https://www.site.example"])
def test_another_origin_is_closed_by_itself(other: str) -> None:
    async def scenario(bench: Bench) -> None:
        bench.status = 500
        with pytest.raises(RobotsUnavailableError):
            await bench.robots.process_request(Request(f"{other}/public"))
        bench.status = 200
        with pytest.raises(RobotsUnavailableError):
            await bench.robots.rules_for(other)
        await bench.robots.process_request(Request("https://site.example/public"))
        assert bench.asked == [f"{other}/robots.txt", "https://site.example/robots.txt"]
        assert bench.refused == bench.closed == []

    run(scenario)


def test_one_of_thousands_of_rules_of_single_letters_is_obeyed_and_named(program: Program, site: WebServer) -> None:
    build(site)
    patterns = [f"/*p*{'*'.join(letters)}*Z" for letters in product("abcdefghi", repeat=4)]
    rules = "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    site.pages["/robots.txt"] = text(f"User-agent: *\n{rules}")
    forbidden, allowed = "/pihgfedcbaZ", "/p/abcdefghi"
    site.pages.update({"/": page(forbidden, allowed), forbidden: page(), allowed: page()})
    result = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert result.code == 0, result.err
    assert result.listed() == [site.url("/"), site.url(allowed)]
    assert sorted(site.paths()) == ["/", allowed, "/robots.txt"]
    answer = program.run("explain", site.url(forbidden), "--state", "state.sqlite")
    line = patterns.index("/*p*d*c*b*a*Z") + 2
    assert f"Disallow: /*p*d*c*b*a*Z (line {line}, User-agent: *)" in answer.out
