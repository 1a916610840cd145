"""Where a crawl starts: redirects of the start page, and what it does to scope, sitemap and exit code.

Hosts other than loopback are served by the loopback server as a proxy: it sees the whole URL as the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program


@pytest.fixture
def proxied(program: Program, site: WebServer) -> Program:
    program.variables = {"http_proxy": site.url("/"), "no_proxy": ""}
    return program


def redirect(target: str) -> Answer:
    return Answer(status=301, headers={"Location": target})


@pytest.mark.parametrize(
    ("asked", "lives"),
    [
        ("http://example.com/", "http://www.example.com/"),
        ("http://www.example.com/", "http://example.com/"),
        ("http://www.example.com/docs/", "http://example.com/docs/"),
    ],
)
def test_the_www_or_apex_variant_is_adopted(proxied: Program, site: WebServer, asked: str, lives: str) -> None:
    site.pages.update({asked: redirect(lives), lives: page("a", asked), f"{lives}a": page("/")})
    result = proxied.crawl(asked)
    assert result.code == 0, result.err
    assert result.listed() == [lives, f"{lives}a"]
    report = result.report
    assert (report["start_url"], report["sitemap_url"]) == (lives, f"{lives}sitemap.xml")
    assert [(warning["kind"], warning["url"]) for warning in report["warnings"]] == [("start-adopted", lives)]
    assert report["files"][0]["url"] == f"{lives}sitemap.xml"
    # The next run knows the site by the address that was asked for.
    assert proxied.crawl(asked).report["outcome"] == "unchanged"


def test_the_variant_is_refused_when_the_sitemap_url_says_otherwise(proxied: Program, site: WebServer) -> None:
    site.pages.update({"http://example.com/": redirect("http://www.example.com/"), "http://www.example.com/": page()})
    result = proxied.crawl("http://example.com/", "--sitemap-url", "http://example.com/sitemap.xml")
    assert result.code == 3
    assert "http://www.example.com/" in result.last_line


def test_a_chain_of_variants_is_followed(proxied: Program, site: WebServer) -> None:
    site.pages.update(
        {
            "http://example.com/": redirect("http://www.example.com/"),
            "http://www.example.com/": redirect("http://www.example.com/en/"),
            "http://www.example.com/en/": page("more"),
            "http://www.example.com/en/more": page(),
        }
    )
    result = proxied.crawl("http://example.com/")
    assert result.listed() == ["http://www.example.com/en/", "http://www.example.com/en/more"]
    assert result.report["sitemap_url"] == "http://www.example.com/sitemap.xml"


@pytest.mark.parametrize(
    ("asked", "lives"),
    [
        ("http://example.com/", "http://example.org/"),
        ("http://example.com/", "http://blog.example.com/"),
        ("http://foo.github.io/", "http://bar.github.io/"),
        ("http://example.com/", "http://example.com:8080/"),
    ],
)
def test_another_site_is_not_followed(proxied: Program, site: WebServer, asked: str, lives: str) -> None:
    site.pages.update({asked: redirect(lives), lives: page()})
    result = proxied.crawl(asked)
    assert result.code == 3
    assert lives in result.last_line
    assert lives not in site.paths()


def test_a_directory_without_its_slash_becomes_the_scope(program: Program, site: WebServer) -> None:
    site.pages.update(
        {"/docs": redirect("/docs/"), "/docs/": page("a", "/b"), "/docs/a": page(), "/b": page(), "/": page()}
    )
    result = program.crawl(site.url("/docs"))
    assert result.listed() == [site.url("/docs/"), site.url("/docs/a")]
    assert result.report["sitemap_url"] == site.url("/docs/sitemap.xml")
    assert [warning["kind"] for warning in result.report["warnings"]] == ["start-adopted"]


def test_a_directory_without_its_slash_inside_a_given_scope(program: Program, site: WebServer) -> None:
    site.pages.update({"/docs": redirect("/docs/"), "/docs/": page("/b"), "/b": page()})
    result = program.crawl(site.url("/docs"), "--sitemap-url", site.url("/sitemap.xml"))
    assert result.code == 0, result.err
    assert result.listed() == [site.url("/b"), site.url("/docs/")]


def test_a_second_hop_that_leaves_the_scope(program: Program, site: WebServer) -> None:
    site.pages.update({"/": redirect("/en/"), "/en/": page("/en/a"), "/en/a": page()})
    assert program.crawl(site.url("/"), "--max-depth", "5").code == 0
    live = (program.output / "sitemap.xml").read_bytes()
    site.pages["/en/"] = redirect("http://elsewhere.invalid/")
    result = program.crawl(site.url("/"), "--max-depth", "5")
    assert result.code == 3
    assert "http://elsewhere.invalid/: start from that address" in result.last_line
    assert (program.output / "sitemap.xml").read_bytes() == live


def test_a_redirect_takes_no_click(program: Program, site: WebServer) -> None:
    site.pages.update({"/": redirect("/en/"), "/en/": page("/en/a"), "/en/a": page()})
    result = program.crawl(site.url("/"), "--max-depth", "0")
    assert result.code == 0, result.err
    assert result.listed() == [site.url("/en/")]


def test_a_redirect_inside_the_scope_is_just_a_redirect(program: Program, site: WebServer) -> None:
    site.pages.update({"/": redirect("/en/"), "/en/": page("/de/"), "/de/": page()})
    result = program.crawl(site.url("/"))
    assert result.code == 0
    assert result.listed() == [site.url("/de/"), site.url("/en/")]
    assert result.report["excluded"] == {"redirect": 1}


def test_a_meta_refresh_counts_like_a_redirect(program: Program, site: WebServer) -> None:
    site.pages.update({"/": '<meta http-equiv="refresh" content="0; url=/en/">', "/en/": page()})
    result = program.crawl(site.url("/"))
    assert result.listed() == [site.url("/en/")]


@pytest.mark.parametrize("is_header", [True, False])
def test_a_page_that_loads_anew_after_minutes_is_no_redirect(
    program: Program, site: WebServer, is_header: bool
) -> None:
    """The front page of a newspaper; what it loads is a link."""
    later = "300; url=/?refreshed"
    text = page(head="" if is_header else f'<meta http-equiv="refresh" content="{later}">')
    site.pages["/"] = Answer(text, headers={"Refresh": later} if is_header else {})
    site.pages["/?refreshed"] = page("/a", head='<link rel="canonical" href="/">')
    site.pages["/a"] = page()
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert result.listed() == [site.url("/"), site.url("/a")]
    assert result.report["excluded"] == {"canonical-elsewhere": 1}


def test_a_start_page_that_redirects_to_an_error_is_not_usable(program: Program, site: WebServer) -> None:
    site.pages.update({"/": redirect("/en/"), "/en/": page("/a"), "/a": page()})
    site.pages["/en/"] = Answer(page("/a"), status=404)
    result = program.crawl(site.url("/"))
    assert result.code == 3
    assert "status 404" in result.last_line


@pytest.mark.parametrize("start", ["/a.html", "/?page=1", "/docs/?x", "/docs/#part"])
def test_a_start_page_may_be_any_page(program: Program, site: WebServer, start: str) -> None:
    asked = start.partition("#")[0]
    site.pages.update({asked: page("/docs/b"), "/docs/b": page()})
    result = program.crawl(site.url(start))
    assert result.code == 0, result.err
    assert set(result.listed()) == {site.url(asked), site.url("/docs/b")}
