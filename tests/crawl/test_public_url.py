"""A preview that is crawled here and published for the live site."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

LIVE = "https://www.example.com/"
S = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}loc"
LINK = "{http://www.w3.org/1999/xhtml}link"


def locs(program: Program, name: str = "sitemap.xml") -> list[str]:
    return [one.text or "" for one in etree.parse(program.output / name).iter(f"{S}loc")]


def html(*links: str, head: str = "", body: str = "") -> str:
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    return f"<!doctype html><html><head><title>t</title>{head}</head><body>{body}{anchors}</body></html>"


def test_every_url_is_written_as_the_live_site_has_it(program: Program, site: WebServer) -> None:
    site.pages.update(
        {
            "/": html("/relative", f"{LIVE}absolute", f"{LIVE}gone", "https://www.example.com.evil.example/x"),
            "/relative": html(head=f'<link rel="canonical" href="{LIVE}relative">', body='<img src="/a.png">'),
            "/absolute": html(body=f'<img src="{LIVE}b.png"><img src="https://cdn.example.com/c.png">'),
        }
    )
    result = program.crawl(site.url("/"), "--public-url", LIVE, "--format", "xml", "--format", "txt")
    assert (result.code, result.report["sitemap_url"]) == (0, f"{LIVE}sitemap.xml")
    assert locs(program) == [LIVE, f"{LIVE}absolute", f"{LIVE}relative"]
    images = [one.text for one in etree.parse(program.output / "sitemap.xml").iter(IMAGE)]
    assert images == [f"{LIVE}b.png", "https://cdn.example.com/c.png", f"{LIVE}a.png"]
    assert (program.output / "sitemap.txt").read_text().split() == [LIVE, f"{LIVE}absolute", f"{LIVE}relative"]
    assert result.report["files"][0]["url"] == f"{LIVE}sitemap.xml"
    assert result.report["excluded"] == {"client-error": 1, "out-of-scope": 1}
    for file in program.output.iterdir():
        assert b"127.0.0.1" not in file.read_bytes()


def test_shards_are_next_to_the_live_entry_file(program: Program, site: WebServer) -> None:
    site.pages.update({"/": html("/1", "/2"), "/1": page(), "/2": page()})
    result = program.crawl(site.url("/"), "--public-url", LIVE, "--max-urls", "2")
    assert result.code == 0
    assert locs(program) == [f"{LIVE}sitemap-1.xml", f"{LIVE}sitemap-2.xml"]
    assert locs(program, "sitemap-1.xml") == [LIVE, f"{LIVE}1"]


def test_a_canonical_that_names_another_live_page_counts(program: Program, site: WebServer) -> None:
    canonical = f'<link rel="canonical" href="{LIVE}a">'
    site.pages.update({"/": html("/a", "/b"), "/a": html(head=canonical), "/b": html(head=canonical)})
    result = program.crawl(site.url("/"), "--public-url", LIVE)
    assert locs(program) == [LIVE, f"{LIVE}a"]
    assert result.report["excluded"] == {"canonical-elsewhere": 1}
    assert not result.report["warnings"]


def test_language_versions_are_live_pages(program: Program, site: WebServer) -> None:
    head = f'<link rel="alternate" hreflang="en" href="{LIVE}en"><link rel="alternate" hreflang="de" href="/de">'
    site.pages.update({"/": html("/en", "/de"), "/en": html(head=head), "/de": html(head=head)})
    assert program.crawl(site.url("/"), "--public-url", LIVE).code == 0
    found = {(one.get("hreflang"), one.get("href")) for one in etree.parse(program.output / "sitemap.xml").iter(LINK)}
    assert found == {("en", f"{LIVE}en"), ("de", f"{LIVE}de")}


def test_a_redirect_to_the_live_site_is_followed_on_the_preview(program: Program, site: WebServer) -> None:
    site.pages.update(
        {"/": html("/old"), "/old": Answer(status=301, headers={"Location": f"{LIVE}new"}), "/new": page()}
    )
    assert program.crawl(site.url("/"), "--public-url", LIVE).code == 0
    assert locs(program) == [LIVE, f"{LIVE}new"]


def test_the_scope_is_the_live_directory(program: Program, site: WebServer) -> None:
    site.pages.update(
        {"/docs/": html("/docs/a", "/blog", f"{LIVE}docs/b", f"{LIVE}blog"), "/docs/a": page(), "/docs/b": page()}
    )
    site.pages["/docs/a"] = html(body='<img src="/logo.png">')
    result = program.crawl(site.url("/docs/"), "--public-url", f"{LIVE}docs/")
    assert locs(program) == [f"{LIVE}docs/", f"{LIVE}docs/a", f"{LIVE}docs/b"]
    assert result.report["excluded"] == {"out-of-scope": 1}
    # Both directories are called docs, so what is above them is the same site, too.
    assert [one.text for one in etree.parse(program.output / "sitemap.xml").iter(IMAGE)] == [f"{LIVE}logo.png"]


def test_what_has_no_public_address_is_left_out(program: Program, site: WebServer) -> None:
    site.pages.update({"/build/": html(body='<img src="/private.png"><img src="public.png">')})
    assert program.crawl(site.url("/build/"), "--public-url", LIVE).code == 0
    assert [one.text for one in etree.parse(program.output / "sitemap.xml").iter(IMAGE)] == [f"{LIVE}public.png"]


def test_a_sitemap_url_is_public_and_its_directory_the_scope(program: Program, site: WebServer) -> None:
    site.pages.update({"/": html("/a/1", "/b"), "/a/": html("/a/1", "/b"), "/a/1": page(), "/b": page()})
    result = program.crawl(site.url("/a/"), "--public-url", f"{LIVE}a/", "--sitemap-url", f"{LIVE}map.xml")
    assert result.code == 0, result.err
    assert locs(program, "map.xml") == [f"{LIVE}a/", f"{LIVE}a/1", f"{LIVE}b"]
    result = program.crawl(site.url("/a/"), "--public-url", f"{LIVE}other/", "--sitemap-url", f"{LIVE}map.xml")
    assert (result.code, f"give {LIVE}other/map.xml" in result.last_line) == (2, True)
    result = program.crawl(site.url("/a/"), "--public-url", f"{LIVE}a/", "--sitemap-url", f"{LIVE}b/map.xml")
    assert result.code == 2
    assert "outside the sitemap's directory" in result.last_line


def test_robots_txt_of_the_build_counts_by_the_live_paths(program: Program, site: WebServer) -> None:
    """The build's robots.txt will be the live host's; the preview's own says what may be fetched here."""
    text = "text/plain"
    site.pages.update(
        {
            "/robots.txt": Answer("User-agent: *\nDisallow: /build/b\n", content_type=text),
            "/build/robots.txt": Answer(f"User-agent: *\nDisallow: /c\nSitemap: {LIVE}old.xml\n", content_type=text),
            "/build/old.xml": Answer(f"<urlset><url><loc>{LIVE}d</loc></url></urlset>", content_type="text/xml"),
            "/build/": html("a", "b", "c"),
            **{f"/build/{name}": page() for name in "abcd"},
        }
    )
    result = program.crawl(site.url("/build/"), "--public-url", LIVE, "--state", "s.db")
    assert result.code == 0, result.err
    assert locs(program) == [LIVE, f"{LIVE}a", f"{LIVE}d"]
    assert result.report["excluded"] == {"blocked-by-robots": 2}
    assert not {"/build/b", "/build/c"} & set(site.paths())
    explained = program.run("explain", f"{LIVE}c", "--state", "s.db", "--json")
    facts = json.loads(explained.out)
    assert (facts["reason"], facts["url"]) == ("blocked-by-robots", site.url("/build/c"))
    assert "https://www.example.com/robots.txt" in facts["evidence"]


def test_patterns_may_name_either_side(program: Program, site: WebServer) -> None:
    site.pages.update({"/": html("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": page()})
    options = ("--exclude", r"^https://www\.example\.com/a", "--exclude", r"^http://127\.0\.0\.1:\d+/b")
    assert program.crawl(site.url("/"), "--public-url", LIVE, *options).code == 0
    assert locs(program) == [LIVE, f"{LIVE}c"]


def test_a_second_run_changes_nothing_and_write_agrees(program: Program, site: WebServer) -> None:
    site.pages.update({"/": html("/a"), "/a": page()})
    options = (site.url("/"), "--public-url", LIVE, "--state", "s.db")
    assert program.crawl(*options).code == 0
    before = (program.output / "sitemap.xml").read_bytes()
    result = program.crawl(*options)
    assert (result.code, result.report["outcome"]) == (0, "unchanged")
    assert program.run("write", "--state", "s.db", "-o", "copy").code == 0
    assert (program.directory / "copy" / "sitemap.xml").read_bytes() == before


def test_the_preview_and_the_live_site_are_two_sites(program: Program, site: WebServer) -> None:
    """Without --state: the inventory of the preview is not that of a crawl of the live address."""
    site.pages.update({"/": html("/a"), "/a": page()})
    assert program.crawl(site.url("/"), "--public-url", LIVE).code == 0
    with WebServer({"/": page()}) as other:
        assert program.crawl(other.url("/"), "-o", "other").code == 0
    for url in (f"{LIVE}a", site.url("/a")):
        assert json.loads(program.run("explain", url, "--json").out)["decision"] == "listed"


@pytest.mark.parametrize("value", ["www.example.com", "/docs/", "https://www.example.com/?a=b"])
def test_a_public_url_that_is_none_is_refused(program: Program, site: WebServer, value: str) -> None:
    result = program.crawl(site.url("/"), "--public-url", value)
    assert (result.code, site.requests) == (2, [])
    assert "public_url" in result.last_line or "public-url" in result.last_line


def test_what_names_no_scheme_has_that_of_the_live_site(program: Program, site: WebServer) -> None:
    body = '<img src="//www.example.com/a.png"><img src="//cdn.example.com/b.png">'
    own = site.url("/own").removeprefix("http:")
    site.pages.update({"/": html("//www.example.com/a", own, body=body), "/a": page(), "/own": page()})
    assert program.crawl(site.url("/"), "--public-url", LIVE).code == 0
    assert locs(program) == [LIVE, f"{LIVE}a", f"{LIVE}own"]
    images = [one.text for one in etree.parse(program.output / "sitemap.xml").iter(IMAGE)]
    assert images == [f"{LIVE}a.png", "https://cdn.example.com/b.png"]


def test_a_start_page_that_is_a_directory_after_all(program: Program, site: WebServer) -> None:
    site.pages.update(
        {"/build": Answer(status=301, headers={"Location": "/build/"}), "/build/": html("a"), "/build/a": page()}
    )
    result = program.crawl(site.url("/build"), "--public-url", LIVE, "--state", "s.db")
    assert result.code == 0, result.err
    assert locs(program) == [LIVE, f"{LIVE}a"]
    assert program.run("write", "--state", "s.db", "-o", "copy").code == 0
    assert (program.directory / "copy/sitemap.xml").read_bytes() == (program.output / "sitemap.xml").read_bytes()
