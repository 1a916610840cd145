"""robots.txt: which answer means what, and that blocked URLs are never asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from conftest import Program

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
        {"/robots.txt": text(b"\xff\xfe\x00\x01" * 50)},
    ],
)
def test_everything_is_allowed(program: Program, site: WebServer, robots: dict[str, Answer]) -> None:
    build(site)
    site.pages.update(robots)
    result = program.crawl(site.url("/"))
    assert result.listed() == [site.url("/"), site.url("/private/a"), site.url("/public")]


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(drop=True)])
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


def test_robots_txt_can_be_left_aside(program: Program, site: WebServer) -> None:
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


def test_what_is_blocked_takes_nothing_of_the_page_budget(program: Program, site: WebServer) -> None:
    blocked, allowed = [f"/private/{n}" for n in range(10)], [f"/{n}" for n in range(10)]
    site.pages.update({"/": page(*blocked, *allowed), **{path: page() for path in allowed}, "/robots.txt": text(RULES)})
    result = program.crawl(site.url("/"), "--max-pages", "5")
    assert result.report["listed"] == 5
    assert len(site.paths()) == 6
