"""Whole crawls of a loopback site, judged by what the user gets: files, report, exit code.

The site of most tests:

    /            -> /a, /b/, /docs/, /gone, /pic.png, /moved, https://elsewhere.example/
    /a           Last-Modified 2 March 2021, an image and a video
    /b/          -> /b/index.html (same bytes)
    /docs/       -> /docs/one.html, /docs-old/
    /docs/one.html, /docs-old/
    /gone        404
    /pic.png     image/png
    /moved       301 to /a
    /hidden      noindex, linked from /a
    /copy        canonical /a, linked from /a
"""

from __future__ import annotations

import gzip
import json
import sys
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from sitemap_crawler.validation.entries import read_entries
from sitemap_crawler.validation.targets import validate
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

B_PAGE = page("/b/index.html", title="B")
VIDEO = '<video src="/v.mp4" poster="/v.jpg" title="A <film> & more"></video>'


def build(site: WebServer) -> None:
    site.pages.update(
        {
            "/": page("/a", "/b/", "/docs/", "/gone", "/pic.png", "/moved", "https://elsewhere.example/"),
            "/a": Answer(
                page("/hidden", "/copy", head='<meta name="description" content="About A">').replace(
                    "</body>", f'<img src="pic.png">{VIDEO}</body>'
                ),
                headers={"Last-Modified": "Tue, 02 Mar 2021 10:20:30 GMT"},
            ),
            "/b/": B_PAGE,
            "/b/index.html": B_PAGE,
            "/docs/": page("/docs/one.html", "/docs-old/"),
            "/docs/one.html": page("/"),
            "/docs-old/": page("/"),
            "/pic.png": Answer(b"\x89PNG\r\n\x1a\n", content_type="image/png"),
            "/moved": Answer(status=301, headers={"Location": "/a"}),
            "/hidden": page(head='<meta name="robots" content="noindex">'),
            "/copy": page(head='<link rel="canonical" href="/a">'),
        }
    )


def test_a_site_becomes_one_sitemap(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    expected = ["/", "/a", "/b/", "/docs-old/", "/docs/", "/docs/one.html"]
    assert result.listed() == [site.url(path) for path in expected]
    report = result.report
    assert report["outcome"] == "published"
    assert report["exit_code"] == 0
    assert report["start_url"] == site.url("/")
    assert report["sitemap_url"] == site.url("/sitemap.xml")
    assert report["listed"] == 6
    assert report["excluded"] == {
        "canonical-elsewhere": 1,
        "client-error": 1,
        "duplicate-index-file": 1,
        "noindex": 1,
        "not-a-page": 1,
        "out-of-scope": 1,
        "redirect": 1,
    }
    assert report["changes"] == {"added": 6, "changed": 0, "removed": 0}
    # 12 URLs in scope and robots.txt, each once.
    assert sorted(site.paths()) == sorted({*site.pages, "/gone", "/robots.txt"})
    assert report["requests"] == 13
    assert report["errors"] == 0
    inventory = report["inventory"]
    assert inventory["urls"] == 13
    assert 0 < inventory["bytes_per_url"] == round(inventory["bytes"] / 13)
    assert [(warning["kind"], warning["url"].removeprefix(site.url(""))) for warning in report["warnings"]] == [
        ("broken-link", "/"),
        ("duplicate-pages", "/docs-old/"),
        ("link-to-redirect", "/"),
        ("one-way-canonical", "/copy"),
    ]
    size = (program.output / "sitemap.xml").stat().st_size
    entry = {"name": "sitemap.xml", "url": site.url("/sitemap.xml"), "urls": 6, "bytes": size, "written": True}
    assert report["files"] == [entry]
    assert [path.name for path in program.output.iterdir()] == ["sitemap.xml"]
    assert validate(str(program.output)).valid


def test_dates_images_and_videos(program: Program, site: WebServer) -> None:
    build(site)
    program.crawl(site.url("/"))
    entries = {entry.loc: entry for entry in read_entries((program.output / "sitemap.xml").read_bytes())}
    entry = entries[site.url("/a")]
    assert entry.lastmod == "2021-03-02T10:20:30+00:00"
    assert entry.images == (site.url("/pic.png"),)
    [video] = etree.parse(program.output / "sitemap.xml").iterfind(".//{*}video")
    fields = {etree.QName(element).localname: element.text for element in video}
    assert fields == {
        "thumbnail_loc": site.url("/v.jpg"),
        "title": "A <film> & more",
        "description": "About A",
        "content_loc": site.url("/v.mp4"),
    }
    assert {entry.lastmod for loc, entry in entries.items() if loc != site.url("/a")} == {None}


def test_images_and_videos_can_be_left_out(program: Program, site: WebServer) -> None:
    build(site)
    assert program.crawl(site.url("/"), "--no-images", "--no-videos").code == 0
    text = (program.output / "sitemap.xml").read_text()
    assert "<image:" not in text
    assert "<video:" not in text


def test_a_directory_is_a_scope_of_its_own(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(site.url("/docs/"))
    assert result.listed() == [site.url("/docs/"), site.url("/docs/one.html")]
    assert result.report["sitemap_url"] == site.url("/docs/sitemap.xml")
    assert result.report["excluded"] == {"out-of-scope": 2}
    assert sorted(site.paths()) == ["/docs/", "/docs/one.html", "/robots.txt"]


@pytest.mark.parametrize("path", ["/docs/one.html", "/docs/"])
def test_the_sitemap_url_sets_scope_and_name(program: Program, site: WebServer, path: str) -> None:
    build(site)
    result = program.crawl(site.url(path), "--sitemap-url", site.url("/map.xml"))
    assert result.code == 0
    assert len(result.listed("map.xml")) == 6
    assert result.report["sitemap_url"] == site.url("/map.xml")


def test_many_pages_become_an_index_with_shards(program: Program, site: WebServer) -> None:
    paths = [f"/{number:03}" for number in range(25)]
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    result = program.crawl(site.url("/"), "--max-urls", "10", "--gzip")
    assert result.code == 0
    names = [file["name"] for file in result.report["files"]]
    assert names == ["sitemap.xml", "sitemap-1.xml.gz", "sitemap-2.xml.gz", "sitemap-3.xml.gz"]
    assert sorted(path.name for path in program.output.iterdir()) == sorted(names)
    shards = [read_entries(gzip.decompress((program.output / name).read_bytes())) for name in names[1:]]
    locs = [[entry.loc for entry in shard] for shard in shards]
    assert [len(shard) for shard in locs] == [10, 10, 6]
    assert list(chain.from_iterable(locs)) == [site.url(path) for path in ["/", *paths]]
    index = etree.parse(program.output / "sitemap.xml").getroot()
    assert [loc.text for loc in index.iterfind(".//{*}loc")] == [site.url(f"/{name}") for name in names[1:]]
    assert validate(str(program.output)).valid


def test_nothing_is_written_again_when_nothing_has_changed(program: Program, site: WebServer) -> None:
    build(site)
    program.crawl(site.url("/"))
    before = (program.output / "sitemap.xml").stat()
    result = program.crawl(site.url("/"))
    assert result.code == 0
    assert result.report["outcome"] == "unchanged"
    assert result.report["run"] == 2
    assert result.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
    after = (program.output / "sitemap.xml").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_second_run_sees_what_has_changed(program: Program, site: WebServer) -> None:
    build(site)
    program.crawl(site.url("/"))
    site.pages["/"] = page("/a", "/b/", "/new")
    site.pages["/new"] = page()
    site.pages["/a"] = Answer(page(), headers={"Last-Modified": "Wed, 03 Mar 2021 00:00:00 GMT"})
    result = program.crawl(site.url("/"))
    kept = ("/", "/a", "/b/", "/docs-old/", "/docs/", "/docs/one.html", "/new")
    assert result.listed() == [site.url(path) for path in kept]
    changes = result.report["changes"]
    assert (changes["added"], changes["removed"]) == (1, 0)
    entries = {entry.loc: entry for entry in read_entries((program.output / "sitemap.xml").read_bytes())}
    assert entries[site.url("/a")].lastmod == "2021-03-03T00:00:00+00:00"
    # What nothing leads to any more goes after two runs that saw the whole site.
    result = program.crawl(site.url("/"))
    assert result.listed() == [site.url(path) for path in ("/", "/a", "/b/", "/new")]
    assert result.report["changes"] == {"added": 0, "changed": 0, "removed": 3}
    assert result.report["excluded"]["orphan"] == 3


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_every_spelling_of_loopback_works(program: Program, host: str) -> None:
    address = "::1" if host == "[::1]" else "127.0.0.1"
    with WebServer({"/": page("/a"), "/a": page("/")}, host=address) as site:
        start = f"http://{host}:{site.port}"
        result = program.crawl(start)
        assert result.code == 0, result.err
        assert result.listed() == [f"{start}/", f"{start}/a"]


def test_a_site_of_one_page(program: Program, site: WebServer) -> None:
    site.pages["/"] = "<p>Hello"
    result = program.crawl(site.url("/"))
    assert result.code == 0
    assert result.listed() == [site.url("/")]


def test_an_option_of_the_site_file_is_overruled_by_the_command_line(program: Program, site: WebServer) -> None:
    build(site)
    config = program.directory / "conf" / "site.toml"
    config.parent.mkdir()
    config.write_text(f'start_url = "{site.url("/")}"\nexclude = ["/docs", "/a$"]\noutput = "out"\nmax_pages = 1\n')
    result = program.run("crawl", "--config", str(config), "--max-pages", "50", "--report", "report.json")
    assert result.code == 0, result.err
    assert result.report["listed"] == 2
    listed = [entry.loc for entry in read_entries((config.parent / "out" / "sitemap.xml").read_bytes())]
    assert listed == [site.url("/"), site.url("/b/")]


def test_settings_carry_options_and_options_win(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(
        site.url("/"), "-s", "SITEMAP_MAX_PAGES=1", "-s", "SITEMAP_EXCLUDE=/docs", "--exclude", "/b/"
    )
    assert result.report["listed"] == 1
    assert result.report["excluded"] == {"excluded-by-rule": 1, "limit": 5, "out-of-scope": 1}


def test_include_fetches_for_links_but_lists_only_what_matches(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(site.url("/"), "--include", "/docs/")
    assert result.listed() == [site.url("/docs/"), site.url("/docs/one.html")]
    assert len(site.paths()) == 13


def test_max_depth_counts_clicks_from_the_start_page(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(site.url("/"), "--max-depth", "1")
    assert result.listed() == [site.url(path) for path in ("/", "/a", "/b/", "/docs/")]
    assert result.report["excluded"]["limit"] == 5


def test_a_dry_run_publishes_nothing(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(site.url("/"), "--dry-run")
    assert result.code == 0
    assert result.report["outcome"] == "dry-run"
    assert result.report["listed"] == 6
    assert result.report["files"] == []
    assert not program.output.exists()


def test_quiet_prints_nothing_on_success(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(site.url("/"), "-q")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_a_log_file_takes_the_log(program: Program, site: WebServer) -> None:
    build(site)
    result = program.crawl(site.url("/"), "--log-file", "run.log", "-v")
    assert result.err == ""
    assert "published: 6 pages listed" in (program.directory / "run.log").read_text()


def test_the_summary_names_what_was_listed_and_what_was_not(program: Program, site: WebServer) -> None:
    build(site)
    lines = program.crawl(site.url("/")).out.splitlines()
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert ["listed", "6"] in cells
    assert any(cell[0].endswith("marked noindex (noindex)") and cell[1] == "1" for cell in cells if len(cell) == 2)
    assert lines[-1] == "6 pages listed in sitemaps/sitemap.xml"


def test_headers_of_a_request(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    program.crawl(site.url("/"), "--user-agent", "example-bot/2.0 (+https://example.org/bot)")
    for request in site.requests:
        assert request.headers["user-agent"] == "example-bot/2.0 (+https://example.org/bot)"
        assert "cookie" not in request.headers
        assert "gzip" in request.headers["accept-encoding"]


def test_urls_go_out_as_they_are_normalised(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a'b?q='x'&r=%27", "/%7euser", "/caf\u00e9?x=1&utm_source=y", "/x/../y//z")
    program.crawl(site.url("/"))
    assert sorted(site.paths()) == ["/", "/a'b?q='x'&r=%27", "/caf%C3%A9?x=1", "/robots.txt", "/y//z", "/~user"]


def test_two_spellings_of_brackets_are_one_page(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/?a[]=1", "/?a%5B%5D=1", "/p[1]", "/p%5B1%5D"), "/p%5B1%5D": page(title="P")})
    site.pages["/?a%5B%5D=1"] = page(title="A", body="Its own words.")
    result = program.crawl(site.url())
    assert result.listed() == [site.url(path) for path in ("/", "/?a%5B%5D=1", "/p%5B1%5D")]
    assert len(site.requests) == 4
    for spelling in ("/?a[]=1", "/?a%5B%5D=1"):
        assert json.loads(program.run("explain", site.url(spelling), "--json").out)["decision"] == "listed"
    assert program.run("validate", "sitemaps/sitemap.xml").code == 0


def test_compressed_pages_are_read(program: Program, site: WebServer) -> None:
    body = gzip.compress(page("/a").encode())
    site.pages.update({"/": Answer(body, headers={"Content-Encoding": "gzip"}), "/a": page()})
    assert program.crawl(site.url("/")).listed() == [site.url("/"), site.url("/a")]


def test_a_long_body_is_read_as_far_as_it_may_be(program: Program, site: WebServer) -> None:
    site.pages.update({"/": f'<a href="/a">A</a>{"x" * 50_000}<a href="/b">B</a>', "/a": page()})
    result = program.crawl(site.url("/"), "-s", "SITEMAP_MAX_BODY=20000")
    assert result.listed() == [site.url("/"), site.url("/a")]
    assert [(warning["kind"], warning["url"]) for warning in result.report["warnings"]] == [
        ("long-body", site.url("/"))
    ]


def test_robots_txt_is_obeyed_and_its_urls_are_not_fetched(program: Program, site: WebServer) -> None:
    build(site)
    robots = "User-agent: *\nDisallow: /\n\nUser-agent: sitemap-crawler\nDisallow: /docs\nAllow: /docs/one\n"
    site.pages["/robots.txt"] = Answer(robots, content_type="text/plain")
    result = program.crawl(site.url("/"))
    assert result.code == 0
    assert result.report["excluded"]["blocked-by-robots"] == 1
    assert "/docs/" not in site.paths()


def test_the_same_crawl_through_scrapy_itself(program: Program, site: WebServer) -> None:
    build(site)
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url('/')}"]
    settings = ["-s", "SITEMAP_REPORT=report.json", "-s", "SITEMAP_OUTPUT=sitemaps"]
    done = program.execute(*command, *settings, SCRAPY_SETTINGS_MODULE="sitemap_crawler.settings")
    assert done.code == 0, done.err
    report = json.loads((program.directory / "report.json").read_text())
    assert (report["outcome"], report["listed"]) == ("published", 6)
    assert (program.output / "sitemap.xml").exists()


def test_a_date_that_is_the_time_of_the_answer_is_no_date(program: Program, site: WebServer) -> None:

    site.pages["/"] = lambda _request: Answer(
        page(), headers={"Last-Modified": format_datetime(datetime.now(UTC), True)}
    )
    program.crawl(site.url("/"))
    [entry] = read_entries((program.output / "sitemap.xml").read_bytes())
    assert entry.lastmod is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, "2021-03-02T10:20:30+00:00"),
        ({"X-Generator": "Drupal 10 (https://www.drupal.org)"}, None),
        ({"X-Drupal-Cache": "HIT"}, None),
        ({"X-Generator": "Hugo"}, "2021-03-02T10:20:30+00:00"),
    ],
)
def test_drupal_states_when_its_cache_took_a_page_in(
    program: Program, site: WebServer, headers: dict[str, str], expected: str | None
) -> None:
    site.pages["/"] = Answer(page(), headers={"Last-Modified": "Tue, 02 Mar 2021 10:20:30 GMT", **headers})
    program.crawl(site.url("/"))
    [entry] = read_entries((program.output / "sitemap.xml").read_bytes())
    assert entry.lastmod == expected


def test_cookies_can_be_switched_on(program: Program, site: WebServer) -> None:
    site.pages.update({"/": Answer(page("/a"), headers={"Set-Cookie": "a=b"}), "/a": page()})
    program.crawl(site.url("/"), "-s", "COOKIES_ENABLED=1")
    [request] = [request for request in site.requests if request.path == "/a"]
    assert request.headers["cookie"] == "a=b"


def test_a_long_header_is_no_obstacle(program: Program, site: WebServer) -> None:
    site.pages["/"] = Answer(page(), headers={"Content-Security-Policy": "x" * 20_000})
    assert program.crawl(site.url("/")).report["listed"] == 1


def test_a_decompression_bomb_is_no_page(program: Program, site: WebServer) -> None:
    bomb = gzip.compress(b"<a href=/x>" + b"x" * 60_000_000)
    packed = Answer(bomb, headers={"Content-Encoding": "gzip"})
    site.pages.update({"/": page("/bomb", "/a"), "/a": page(), "/bomb": packed})
    result = program.crawl(site.url("/"))
    assert result.listed() == [site.url("/"), site.url("/a")]
    assert result.report["excluded"] == {"not-a-page": 1}
    assert result.report["warnings"] == []


@pytest.mark.parametrize(("types", "listed"), [([], ["/"]), (["text/html", "application/pdf"], ["/", "/a.pdf"])])
def test_other_content_types_by_setting(program: Program, site: WebServer, types: list[str], listed: list[str]) -> None:
    def pdf(**headers: str) -> Answer:
        return Answer(b"%PDF-1.7 <a href=/x>", content_type="application/pdf", headers=headers)

    site.pages.update(
        {
            "/": page("/a.pdf", "/hidden.pdf", "/copy.pdf"),
            "/a.pdf": pdf(**{"Last-Modified": "Tue, 02 Mar 2021 10:20:30 GMT"}),
            "/hidden.pdf": pdf(**{"X-Robots-Tag": "noindex"}),
            "/copy.pdf": pdf(Link='</a.pdf>; rel="canonical"'),
        }
    )
    setting = ["-s", f"SITEMAP_CONTENT_TYPES={json.dumps(types)}"] if types else []
    result = program.crawl(site.url("/"), *setting)
    assert result.listed() == [site.url(path) for path in listed]
    expected = {"noindex": 1, "canonical-elsewhere": 1} if types else {"not-a-page": 3}
    assert result.report["excluded"] == expected
    assert set(site.paths()) == {"/robots.txt", "/", "/a.pdf", "/hidden.pdf", "/copy.pdf"}


def test_nofollow_can_be_followed(program: Program, site: WebServer) -> None:
    site.pages.update(
        {
            "/": page("/a", body='<a rel="nofollow" href="/b">b</a>'),
            "/a": page("/c", head='<meta name="robots" content="nofollow">'),
            "/b": page(),
            "/c": page(),
        }
    )
    assert program.crawl(site.url("/")).listed() == [site.url("/"), site.url("/a")]
    result = program.crawl(site.url("/"), "--follow-nofollow")
    assert result.listed() == [site.url(path) for path in ("/", "/a", "/b", "/c")]
