"""Why few pages were found: each cause has its line, and nothing is said when there is nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program


def hints(program: Program, site: WebServer, start: str = "/") -> list[str]:
    result = program.crawl(site.url(start))
    assert result.code == 0, result.err
    assert all(f"Few pages were found: {hint}" in result.out for hint in result.report["hints"])
    found: list[str] = result.report["hints"]
    return found


SHELL = '<html><body><div id="root"></div><script src="/app.js"></script></body></html>'


@pytest.mark.parametrize(
    ("start_page", "words"),
    [
        (SHELL, "JavaScript"),
        (
            '<a rel="nofollow" href="/a">A</a><a rel="nofollow" href="/b">B</a>',
            "rel=nofollow, not followed: 2; to follow them, add --follow-nofollow",
        ),
        (
            page("/a", head='<meta name="robots" content="nofollow">'),
            "says nofollow, so none of its links was followed; to follow them, add --follow-nofollow",
        ),
        (page("http://www.example.invalid/"), "http://www.example.invalid"),
        (page("/noindex"), "marked noindex: 1"),
        (page("/private/"), "disallowed by robots.txt: 1"),
    ],
)
def test_a_cause_is_named(program: Program, site: WebServer, start_page: str, words: str) -> None:
    robots = Answer("User-agent: *\nDisallow: /private/\n", content_type="text/plain")
    noindex = page(head='<meta name="robots" content="noindex">')
    site.pages.update({"/": start_page, "/robots.txt": robots, "/noindex": noindex})
    [hint] = hints(program, site)
    assert words in hint


def test_links_out_of_the_scope(program: Program, site: WebServer) -> None:
    site.pages.update({"/docs/": page("/blog/")})
    [hint] = hints(program, site, "/docs/")
    assert site.url("/blog/") in hint
    assert f"--sitemap-url {site.url('/sitemap.xml')}" in hint


def test_a_small_site_is_no_cause_for_hints(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page("/")})
    assert hints(program, site) == []


def test_many_pages_are_no_cause_for_hints(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(5)]
    site.pages.update({"/": page(*paths, "http://www.example.invalid/"), **{path: page() for path in paths}})
    assert hints(program, site) == []
