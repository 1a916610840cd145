"""Sitemaps as a source of URLs, on a site whose start page links to /linked and to nothing else.

/            links to /linked
/linked
/hidden/1 …  pages that only sitemaps name
"""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.inventory.seed_sitemaps import load_spent, seeds_complete, store_spent
from tests.support.inventories import connect, open_store
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

MIB = 1_048_576


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        server.pages.update({"/": page("/linked"), "/linked": page()})
        server.pages.update({f"/hidden/{number}": page(title=f"Hidden {number}") for number in range(1, 8)})
        yield server


def named_in_robots(*urls: str) -> Answer:
    return Answer("".join(f"Sitemap: {url}\n" for url in urls), content_type="text/plain")


def urlset(urls: Iterable[str]) -> str:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>"


def index(urls: Iterable[str]) -> str:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>"


def moved(target: str) -> Answer:
    return Answer(status=302, headers={"Location": target})


def xml(body: str | bytes) -> Answer:
    return Answer(body, content_type="application/xml")


def seed_warnings(result: Result) -> list[tuple[str, str]]:
    warnings: list[dict[str, Any]] = result.report["warnings"]
    return [(found["url"], found["message"]) for found in warnings if found["kind"] == "seed-sitemap"]


def rows(program: Program, columns: str = "url") -> list[Any]:
    """Return the URLs of the inventory. The crawls here have `--state`."""
    with connect(program.directory / "state.sqlite") as database:
        found = database.execute(f"SELECT {columns} FROM urls ORDER BY url").fetchall()
    database.close()
    return [row[0] if len(row) == 1 else row for row in found]


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    return program.crawl(site.url("/"), "--state", "state.sqlite", *options)


def listed(result: Result, site: WebServer) -> list[str]:
    assert result.code == 0, result.err
    return [url.removeprefix(site.url("")) for url in result.listed()]


def test_a_page_that_only_robots_txt_s_sitemap_names_is_listed(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = named_in_robots(site.url("/map.xml"), "/relative.xml")
    site.pages["/map.xml"] = xml(urlset([site.url("/linked"), site.url("/hidden/1")]))
    site.pages["/relative.xml"] = xml(urlset([site.url("/hidden/2")]))
    result = crawl(program, site)
    assert listed(result, site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    only = [found["url"] for found in result.report["warnings"] if found["kind"] == "sitemap-only"]
    assert only == [site.url("/hidden/1"), site.url("/hidden/2")]
    assert seed_warnings(result) == []
    assert site.paths().count("/map.xml") == 1
    # Each request is counted.
    assert result.report["requests"] == len(site.paths())


def test_options_name_an_index_of_gzip_text_and_feeds(program: Program, site: WebServer) -> None:
    parts = {
        "/one.xml.gz": Answer(gzip.compress(urlset([site.url("/hidden/1")]).encode()), content_type="application/gzip"),
        "/two.xml": Answer(gzip.compress(urlset([site.url("/hidden/2")]).encode()), content_type="text/html"),
        "/three.xml": Answer(
            gzip.compress(urlset([site.url("/hidden/3")]).encode()), headers={"Content-Encoding": "gzip"}
        ),
        "/four.txt": Answer(site.url("/hidden/4"), content_type="text/plain"),
        "/five": Answer(f"<rss><channel><item><link>{site.url('/hidden/5')}</link></item></channel></rss>"),
    }
    site.pages.update(parts)
    site.pages["/index.xml"] = xml(index(map(site.url, parts)))
    site.pages["/six.xml"] = xml(urlset([site.url("/hidden/6")]))
    result = crawl(program, site, "--seed-sitemap", site.url("/index.xml"), "--seed-sitemap", site.url("/six.xml"))
    assert listed(result, site) == ["/", *(f"/hidden/{number}" for number in range(1, 7)), "/linked"]
    assert seed_warnings(result) == []


def test_what_is_out_of_scope_is_a_row_and_not_fetched(program: Program, site: WebServer) -> None:
    site.pages.update({"/docs/": page(), "/docs/hidden": page()})
    urls = ["https://example.com/", site.url("/docs/hidden"), site.url("/linked"), "/docs/relative", "mailto:a@b.c", ""]
    site.pages["/map.xml"] = xml(urlset(urls))
    result = program.crawl(site.url("/docs/"), "--state", "state.sqlite", "--seed-sitemap", site.url("/map.xml"))
    assert listed(result, site) == ["/docs/", "/docs/hidden"]
    assert result.report["excluded"] == {"out-of-scope": 2}
    known = [site.url("/docs/"), site.url("/docs/hidden"), site.url("/linked"), "https://example.com/"]
    assert rows(program) == known
    assert "3 URLs in 1 sitemaps, 2 of them out of scope" in result.err
    assert "/linked" not in site.paths()


def test_the_scope_is_that_to_which_the_start_page_moves(program: Program, site: WebServer) -> None:
    site.pages.update({"/docs": moved("/docs/"), "/docs/": page(), "/docs/hidden": page()})
    site.pages["/robots.txt"] = named_in_robots("/map.xml")
    site.pages["/map.xml"] = xml(urlset([site.url("/docs/hidden"), site.url("/hidden/1")]))
    result = program.crawl(site.url("/docs"), "--state", "state.sqlite")
    assert listed(result, site) == ["/docs/", "/docs/hidden"]
    assert "/hidden/1" not in site.paths()


def test_a_sitemap_on_another_host_counts_for_this_one(program: Program, site: WebServer) -> None:
    with WebServer({"/map.xml": xml(urlset([site.url("/hidden/1")]))}) as other:
        site.pages["/robots.txt"] = named_in_robots(other.url("/map.xml"))
        result = crawl(program, site, "--seed-sitemap", other.url("/map.xml"))
        assert listed(result, site) == ["/", "/hidden/1", "/linked"]
        assert other.paths() == ["/robots.txt", "/map.xml"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=404), "cannot be read as a sitemap: it answers 404; correct or remove it in --seed-sitemap"),
        (Answer(status=500), "cannot be read as a sitemap: it answers 500; try again later"),
        (Answer(status=503), "cannot be read as a sitemap: it answers 503; try again later"),
        (Answer(status=429), "cannot be read as a sitemap: it answers 429; try again later"),
        (Answer(page()), "is no sitemap, feed or list of URLs; correct or remove it in --seed-sitemap"),
        (Answer(""), "is no sitemap, feed or list of URLs; correct or remove it in --seed-sitemap"),
        (Answer(status=204), "cannot be read as a sitemap: it answers 204; correct or remove it in --seed-sitemap"),
        (
            moved("/map.xml?again"),
            "cannot be read as a sitemap: it redirects more than 5 times; correct or remove it in --seed-sitemap",
        ),
        (moved("mailto:a@b.c"), "cannot be read as a sitemap: it answers 302; correct or remove it in --seed-sitemap"),
    ],
)
def test_what_can_t_be_read_is_a_warning(program: Program, site: WebServer, answer: Answer, words: str) -> None:
    site.pages["/map.xml"] = answer
    for number in range(6):
        site.pages[f"/map.xml?{'again' * number}"] = moved(f"/map.xml?{'again' * (number + 1)}")
    if answer.status != 302:
        site.pages.pop("/map.xml?")
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"))
    assert listed(result, site) == ["/", "/linked"]
    assert seed_warnings(result) == [(site.url("/map.xml"), words)]


@pytest.mark.slow
def test_what_gives_no_answer_is_a_warning(program: Program, site: WebServer) -> None:
    site.pages["/map.xml"] = Answer(drop=True)
    with WebServer() as closed:
        gone = closed.url("/map.xml")
    site.pages["/robots.txt"] = named_in_robots("/map.xml")
    result = crawl(program, site, "--seed-sitemap", gone)
    assert listed(result, site) == ["/", "/linked"]
    found = dict(seed_warnings(result))
    broken, refused = found.pop(site.url("/map.xml")), found.pop(gone)
    assert not found
    assert broken.startswith("cannot be read as a sitemap: ")
    assert refused.startswith(f"cannot be read as a sitemap: robots.txt of its host is not available ({closed.url('')}")
    for message in (broken, refused):
        assert message.endswith("; try again later")


def test_robots_txt_forbids_it(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = Answer("User-agent: *\nDisallow: /maps/\nSitemap: /maps/a.xml\n")
    site.pages["/maps/a.xml"] = xml(urlset([site.url("/hidden/1")]))
    result = crawl(program, site)
    assert listed(result, site) == ["/", "/linked"]
    [(url, message)] = seed_warnings(result)
    assert url == site.url("/maps/a.xml")
    assert message.startswith("cannot be read as a sitemap: robots.txt forbids it (")
    assert "Disallow: /maps/ (line 2, User-agent: *)" in message
    assert "/maps/a.xml" not in site.paths()


def test_without_robots_txt_its_sitemaps_are_not_read(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = named_in_robots("/map.xml")
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    result = crawl(program, site, "-s", "ROBOTSTXT_OBEY=0")
    assert listed(result, site) == ["/", "/linked"]
    assert sorted(site.paths()) == ["/", "/linked"]


def test_a_broken_sitemap_gives_what_it_has(program: Program, site: WebServer) -> None:
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]).replace("</urlset>", "<url><loc>http"))
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"))
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    words = "is XML that ends too early: URLs may be missing; fix it where it is written"
    assert seed_warnings(result) == [(site.url("/map.xml"), words)]


def test_redirects_are_followed(program: Program, site: WebServer) -> None:
    site.pages.update({f"/r{number}": moved(f"/r{number + 1}") for number in range(5)})
    site.pages["/r5"] = xml(urlset([site.url("/hidden/1")]))
    # The target of a redirect is not read again.
    site.pages["/robots.txt"] = named_in_robots("/r0", "/r3", "/r5")
    result = crawl(program, site)
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    assert seed_warnings(result) == []
    assert site.paths().count("/r5") == 1


def test_an_index_of_indexes(program: Program, site: WebServer) -> None:
    maps = {
        "/0.xml": index(map(site.url, ["/0.xml", "/1.xml", "/pages-1.xml"])),
        "/1.xml": index(map(site.url, ["/2.xml", "/0.xml", "/pages-2.xml"])),
        "/2.xml": index(map(site.url, ["/0.xml", "/pages-3.xml"])),
        **{f"/pages-{number}.xml": urlset([site.url(f"/hidden/{number}")]) for number in range(1, 4)},
    }
    site.pages.update({path: xml(body) for path, body in maps.items()})
    result = crawl(program, site, "--seed-sitemap", site.url("/0.xml"))
    assert listed(result, site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    words = f"is not read: it is an index of indexes; name its sitemaps in {site.url('/1.xml')}"
    assert seed_warnings(result) == [(site.url("/2.xml"), words)]
    assert all(site.paths().count(path) == 1 for path in ("/0.xml", "/1.xml", "/2.xml"))


def test_no_more_files_than_a_run_reads(program: Program, site: WebServer) -> None:
    site.pages.update({f"/{number}.xml": xml(urlset([site.url(f"/hidden/{number}")])) for number in range(1, 8)})
    site.pages["/index.xml"] = xml(index(site.url(f"/{number}.xml") for number in range(1, 8)))
    named = ["--seed-sitemap", site.url("/index.xml")]
    result = crawl(program, site, *named, "-s", "SITEMAP_MAX_SEED_FILES=3")
    assert listed(result, site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    assert seed_warnings(result) == [
        (site.url("/3.xml"), "is not read, and neither are further ones: a run reads at most 3 sitemaps")
    ]
    # The URLs in the others are unknown, so their absence proves nothing.
    store = open_store(program.directory / "state.sqlite")
    assert not seeds_complete(store.connection, 1)
    store.close()


def test_a_limit_of_pages_is_one_of_sitemaps(program: Program, site: WebServer) -> None:
    site.pages["/index.xml"] = xml(index(site.url(f"/{number}.xml") for number in range(120)))
    crawl(program, site, "--seed-sitemap", site.url("/index.xml"), "--max-pages", "5")
    assert len([path for path in site.paths() if path.endswith(".xml")]) == 5


@pytest.mark.parametrize(
    ("setting", "read", "reason"),
    [
        ("SITEMAP_MAX_SEED_BYTES=100", 2, "SITEMAP_MAX_SEED_BYTES is 100"),
        ("SITEMAP_MAX_SEED_TIME=0.000001", 1, "SITEMAP_MAX_SEED_TIME is 1e-06 s"),
    ],
)
def test_a_run_ends_reading_sitemaps(program: Program, site: WebServer, setting: str, read: int, reason: str) -> None:
    names = [f"/{number}.xml" for number in range(1, 8)]
    # Each has more than 50 bytes and fewer than 100.
    site.pages.update({name: xml(urlset([site.url(f"/hidden{name[:2]}")])) for name in names})
    options = [text for name in names for text in ("--seed-sitemap", site.url(name))]
    result = crawl(program, site, *options, "-s", setting)
    assert listed(result, site) == ["/", *(f"/hidden/{number}" for number in range(1, read + 1)), "/linked"]
    words = f"is not read, and neither are {6 - read} further ones: {reason}"
    assert seed_warnings(result) == [(site.url(names[read]), words)]
    store = open_store(program.directory / "state.sqlite")
    assert not seeds_complete(store.connection, 1)
    store.close()


@pytest.mark.parametrize(
    ("setting", "limit"),
    [("SITEMAP_MAX_SEED_BYTES", 100), ("SITEMAP_MAX_SEED_TIME", 60), ("SITEMAP_MAX_SEED_FILES", 2)],
)
def test_limits_hold_for_a_run_and_not_for_a_process(
    program: Program, site: WebServer, setting: str, limit: int
) -> None:
    names = [f"/{number}.xml" for number in range(1, 8)]
    site.pages.update({name: xml(urlset([site.url(f"/hidden{name[:2]}")])) for name in names})
    options = [text for name in names for text in ("--seed-sitemap", site.url(name))]
    options += ["-s", f"{setting}={limit}"]
    stop_at("/2.xml", signal.SIGINT, program, site, *options)
    if setting == "SITEMAP_MAX_SEED_TIME":
        # The first process had 61 seconds for its sitemaps.
        store = open_store(program.directory / "state.sqlite")
        spent = load_spent(store.connection, 1)
        assert spent.seconds > 0
        with store.connection.begin():
            store_spent(store.connection, 1, spent._replace(seconds=61.0))
        store.close()
    result = crawl(program, site, *options)
    assert result.report["run"] == 1
    read = [path for path in site.paths() if path.endswith(".xml")]
    # The first one was read, the second one is requested again after the stop.
    assert read == (["/1.xml", "/2.xml"] if setting == "SITEMAP_MAX_SEED_TIME" else ["/1.xml", "/2.xml", "/2.xml"])
    assert len(seed_warnings(result)) == 1


@pytest.mark.slow
def test_the_time_for_sitemaps_begins_with_the_first_one(program: Program, site: WebServer) -> None:
    """Pages that are fetched before take hours on a large site."""
    site.pages["/linked"] = slow(page())
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"), "-s", "SITEMAP_MAX_SEED_TIME=5.9")
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    assert seed_warnings(result) == []


def slow(answer: Any) -> Callable[[LoggedRequest], Answer]:
    """Return a page whose response takes longer than the sitemaps of the test may."""

    def wait(_: LoggedRequest) -> Answer:
        threading.Event().wait(6.0)
        return Answer(answer)

    return wait


def test_our_own_sitemap_is_no_source_but_its_predecessor_is(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = named_in_robots("/sitemap.xml")
    site.pages["/sitemap.xml"] = xml(urlset([site.url("/hidden/1")]))
    first = crawl(program, site, "--seed-sitemap", site.url("/sitemap.xml"))
    assert listed(first, site) == ["/", "/hidden/1", "/linked"]
    # The file is ours now, whatever URLs it has.
    site.pages["/sitemap.xml"] = xml(urlset([site.url("/hidden/7")]))
    site.pages["/old.xml"] = moved("/sitemap.xml")
    site.pages["/index.xml"] = xml(index(map(site.url, ["/sitemap.xml", "/old.xml", "/more.xml"])))
    site.pages["/more.xml"] = xml(urlset([site.url("/hidden/2")]))
    site.clear_log()
    second = crawl(program, site, "--seed-sitemap", site.url("/index.xml"))
    assert second.code == 0, second.err
    assert seed_warnings(second) == []
    assert not {"/sitemap.xml", "/hidden/7"} & set(site.paths())
    assert {"/old.xml", "/more.xml", "/hidden/2"} < set(site.paths())


def test_our_own_shards_are_no_source(program: Program, site: WebServer) -> None:
    assert crawl(program, site, "--max-urls", "1").code == 0
    site.clear_log()
    for name in ("sitemap.xml", "sitemap-1.xml", "sitemap-2.xml"):
        site.pages[f"/{name}"] = xml((program.output / name).read_bytes())
    site.pages["/robots.txt"] = named_in_robots("/sitemap.xml", "/sitemap-1.xml", "/sitemap-2.xml")
    assert crawl(program, site, "--max-urls", "1").code == 0
    assert sorted(site.paths()) == ["/", "/linked", "/robots.txt"]


def test_bombs(program: Program, site: WebServer) -> None:
    zeros = gzip.compress(bytes(MIB)) * 1_000
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctype = f"<!DOCTYPE urlset [<!ENTITY l0 'lol'>{laughs}]>"
    site.pages["/zeros.xml.gz"] = Answer(zeros, content_type="application/gzip")
    site.pages["/encoded.xml"] = Answer(zeros, headers={"Content-Encoding": "gzip"}, content_type="application/xml")
    site.pages["/laughs.xml"] = xml(doctype + urlset([site.url("/hidden/1?&l9;"), site.url("/hidden/2")]))
    site.pages["/robots.txt"] = named_in_robots("/zeros.xml.gz", "/encoded.xml", "/laughs.xml")
    # A sitemap with a valid beginning.
    filled = gzip.compress(urlset([site.url("/hidden/3")]).encode()) + gzip.compress(b" " * MIB) * 60
    site.pages["/filled.xml"] = Answer(filled, headers={"Content-Encoding": "gzip"}, content_type="application/xml")
    result = crawl(program, site, "--seed-sitemap", site.url("/filled.xml"))
    assert listed(result, site) == ["/", "/hidden/1?&l9;", "/hidden/2", "/hidden/3", "/linked"]
    none = f"is no sitemap, feed or list of URLs; correct or remove it in {site.url('/robots.txt')}"
    assert seed_warnings(result) == [
        (site.url("/encoded.xml"), none),
        (
            site.url("/filled.xml"),
            "has more than 52,428,800 bytes: URLs may be missing; fix it where it is written",
        ),
        (site.url("/zeros.xml.gz"), none),
    ]


def test_a_sitemap_may_be_longer_than_a_page(program: Program, site: WebServer) -> None:
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1"), *["http://x/"] * 1_000, site.url("/hidden/2")]))
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"), "-s", "SITEMAP_MAX_BODY=10000")
    assert listed(result, site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    assert seed_warnings(result) == []


def test_more_than_a_sitemap_may_be_is_not_read(program: Program, site: WebServer) -> None:
    body = urlset([site.url("/hidden/1")]).removesuffix("</urlset>") + f"<!--{' ' * 1_000}-->" * 53_000
    site.pages["/map.xml"] = xml(body + urlset([site.url("/hidden/2")]))
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"))
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    words = "has more than 52,428,800 bytes: URLs may be missing; fix it where it is written"
    assert seed_warnings(result) == [(site.url("/map.xml"), words)]


def test_a_limit_of_pages_leaves_what_sitemaps_name_for_another_run(program: Program, site: WebServer) -> None:
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"), "--max-pages", "1")
    assert listed(result, site) == ["/"]
    assert site.url("/hidden/1") in rows(program)
    assert "/hidden/1" not in site.paths()


def test_a_limit_of_depth_is_none_for_what_sitemaps_name(program: Program, site: WebServer) -> None:
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    site.pages["/hidden/1"] = page("/hidden/2")
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"), "--max-depth", "1")
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]


def test_an_unusable_robots_txt_ends_the_run_as_ever(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = Answer(status=503)
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"))
    assert result.code == 3
    assert set(site.paths()) == {"/robots.txt"}
    assert seed_warnings(result) == []


def test_a_database_that_fails_ends_the_crawl(program: Program, site: WebServer) -> None:
    program.patch(
        """
from sqlalchemy.exc import OperationalError
from sitemap_crawler.inventory.queue import Queue
def fail(*_, **__): raise OperationalError("insert", {}, Exception("disk full"))
Queue.add_from_sitemap = fail
"""
    )
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"))
    assert result.code == 1
    assert "disk full" in result.last_line
    assert "ERROR" not in result.err


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("where", ["/map.xml", "/more.xml", "/hidden/2"])
def test_a_run_that_was_stopped_goes_on(program: Program, site: WebServer, stop: signal.Signals, where: str) -> None:
    site.pages["/robots.txt"] = named_in_robots("/map.xml", "/more.xml")
    site.pages["/map.xml"] = xml(urlset(site.url(f"/hidden/{number}") for number in range(1, 6)))
    site.pages["/more.xml"] = xml(urlset([site.url("/hidden/6")]))
    stop_at(where, stop, program, site)
    result = crawl(program, site)
    assert listed(result, site) == ["/", *(f"/hidden/{number}" for number in range(1, 7)), "/linked"]
    assert result.report["run"] == 1


def stop_at(where: str, stop: signal.Signals, program: Program, site: WebServer, *options: str) -> None:
    """Stop a crawl while it waits for the response of `where`. Later crawls get the response at once."""
    reached, go_on = threading.Event(), threading.Event()
    site.pages[where] = held(site.pages[where], reached, go_on)
    process = program.start(
        "crawl",
        site.url("/"),
        "--state",
        "state.sqlite",
        "--report",
        "report.json",
        *options,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert reached.wait(60)
        process.send_signal(stop)
        if stop is signal.SIGKILL:
            process.wait(60)
        go_on.set()
        _, err = process.communicate(timeout=60)
    finally:
        go_on.set()
        process.kill()
        process.communicate()
    assert process.returncode == (4 if stop is signal.SIGINT else -stop)
    assert "ERROR" not in err
    assert "Traceback" not in err
    assert "seed-sitemap" not in err


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_what_was_wrong_before_a_stop_is_told(program: Program, site: WebServer, stop: signal.Signals) -> None:
    site.pages["/robots.txt"] = named_in_robots("/gone.xml", "/index.xml", "ftp://example.com/map.xml")
    site.pages["/index.xml"] = xml(index([site.url("/more.xml"), "more.xml"]))
    site.pages["/more.xml"] = xml(urlset([site.url("/hidden/1")]))
    stop_at("/more.xml", stop, program, site)
    result = crawl(program, site)
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    gone = f"cannot be read as a sitemap: it answers 404; correct or remove it in {site.url('/robots.txt')}"
    one = "1 of its 2 entries is no absolute http or https URL, for example 'more.xml': fix it"
    line = "1 of its 3 Sitemap lines is no http or https URL, for example 'ftp://example.com/map.xml': fix it"
    problems = [(site.url("/gone.xml"), gone), (site.url("/index.xml"), one), (site.url("/robots.txt"), line)]
    assert seed_warnings(result) == problems
    # Sitemaps that were read are not requested again.
    assert [site.paths().count(path) for path in ("/gone.xml", "/index.xml", "/more.xml")] == [1, 1, 2]


def test_an_option_that_is_added_after_a_stop_counts(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = named_in_robots("/map.xml")
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    site.pages["/added.xml"] = xml(urlset([site.url("/hidden/2")]))
    stop_at("/hidden/1", signal.SIGKILL, program, site)
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"), "--seed-sitemap", site.url("/added.xml"))
    assert listed(result, site) == ["/", "/hidden/1", "/hidden/2", "/linked"]
    assert result.report["run"] == 1
    assert [site.paths().count(path) for path in ("/map.xml", "/added.xml")] == [1, 1]


def test_the_next_run_reads_them_anew(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = named_in_robots("/map.xml")
    site.pages["/map.xml"] = Answer(status=404)
    assert len(seed_warnings(crawl(program, site))) == 1
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    result = crawl(program, site)
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    assert seed_warnings(result) == []
    with connect(program.directory / "state.sqlite") as database:
        known = database.execute("SELECT run, url FROM seeds ORDER BY url").fetchall()
    database.close()
    assert known == [(2, site.url("/map.xml")), (2, site.url("/robots.txt"))]


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (["/hidden/2"], "1 of its 2 entries is no absolute http or https URL, for example '/hidden/2': fix it"),
        (
            ["/a", "example.com/b", "ftp://example.com/", "javascript:alert()"],
            "4 of its 5 entries are no absolute http or https URLs, for example '/a': fix them",
        ),
        (
            ["\x9b31m\u202e"],
            r"1 of its 2 entries is no absolute http or https URL, for example '\x9b31m\u202e': fix it",
        ),
        (
            ["a" * 81, "b"],
            f"2 of its 3 entries are no absolute http or https URLs, for example '{'a' * 80}…': fix them",
        ),
    ],
)
@pytest.mark.parametrize("form", ["xml", "text"])
def test_what_is_no_url_is_counted(
    program: Program, site: WebServer, entries: list[str], problem: str, form: str
) -> None:
    written = [site.url("/hidden/1"), *entries]
    site.pages["/map"] = Answer(urlset(written) if form == "xml" else "\n".join(written))
    result = crawl(program, site, "--seed-sitemap", site.url("/map"))
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    assert seed_warnings(result) == [(site.url("/map"), problem)]


def test_versions_without_a_language_code_are_counted(program: Program, site: WebServer) -> None:
    def entry(path: str, *codes: str) -> str:
        links = "".join(
            f'<xhtml:link rel="alternate" hreflang="{code}" href="{site.url("/linked")}"/>' for code in codes
        )
        return f"<url><loc>{site.url(path)}</loc>{links}</url>"

    entries = [entry("/hidden/1", "en", "en_GB", "e\x9b"), entry("/hidden/2", "en", "de"), entry("/hidden/3", "xx")]
    site.pages["/map.xml"] = xml(f"<urlset>{''.join(entries)}</urlset>")
    site.pages["/more.xml"] = xml(f"<urlset>{entry('/hidden/4', 'x' * 50)}</urlset>")
    maps = [site.url("/map.xml"), site.url("/more.xml")]
    result = crawl(program, site, "--seed-sitemap", maps[0], "--seed-sitemap", maps[1])
    assert listed(result, site) == ["/", *(f"/hidden/{number}" for number in range(1, 5)), "/linked"]
    words = "a version with an invalid language code, for example"
    assert seed_warnings(result) == [
        (maps[0], f"2 of its 3 entries name {words} 'en_GB': fix them"),
        (maps[1], f"1 of its 1 entries names {words} '{'x' * 40}': fix it"),
    ]


def test_urls_that_are_too_long_are_counted_not_stored(program: Program, site: WebServer) -> None:
    # The first is too long as written, the second when it is encoded; the third just fits.
    lengths = 8_192 - len(site.url("/"))
    urls = [site.url("/" + "a" * (lengths + 1)), site.url("/" + "é" * 2_000), site.url("/" + "b" * lengths), "c"]
    site.pages["/map.xml"] = xml(urlset(urls))
    result = crawl(program, site, "--seed-sitemap", site.url("/map.xml"), "-v", "-s", "STATS_DUMP=1")
    assert listed(result, site) == ["/", "/linked"]
    assert seed_warnings(result) == [
        (site.url("/map.xml"), "1 of its 4 entries is no absolute http or https URL, for example 'c': fix it"),
        (site.url("/map.xml"), "2 of its 4 entries are too long to be read, more than 8,192 characters: shorten them"),
    ]
    assert rows(program) == [site.url("/"), site.url("/" + "b" * lengths), site.url("/linked")]
    assert "'links/too-long': 2" in result.err


def test_a_robots_txt_may_name_itself(program: Program, site: WebServer) -> None:
    site.pages["/robots.txt"] = named_in_robots("/robots.txt", "/map.xml")
    site.pages["/map.xml"] = xml(urlset([site.url("/hidden/1")]))
    result = crawl(program, site)
    assert listed(result, site) == ["/", "/hidden/1", "/linked"]
    assert seed_warnings(result) == []


@pytest.mark.parametrize(
    ("answer", "complete"),
    [
        (xml("<urlset/>"), True),
        (Answer(status=404), True),
        (Answer(status=410), True),
        (Answer(page()), True),
        (Answer(status=302, headers={"Location": "/gone.xml"}), True),
        (Answer(status=429), False),
        (Answer(status=500), False),
        (Answer(status=503), False),
        (Answer(drop=True), False),
        (Answer(status=302, headers={"Location": "/down.xml"}), False),
        # Another site, which is not requested.
        (Answer(status=302, headers={"Location": "http://127.0.0.1:1/map.xml"}), True),
    ],
)
def test_what_may_pass_leaves_the_run_without_all_names(
    program: Program, site: WebServer, answer: Answer, complete: bool
) -> None:
    site.pages["/map.xml"] = answer
    site.pages["/down.xml"] = Answer(status=500)
    # A readable sitemap does not make up for an unreadable one.
    site.pages["/robots.txt"] = named_in_robots("/map.xml", "/well.xml")
    site.pages["/well.xml"] = xml("<urlset/>")
    crawl(program, site)
    store = open_store(program.directory / "state.sqlite")
    assert seeds_complete(store.connection, 1) is complete
    store.close()


def held(answer: Any, reached: threading.Event, go_on: threading.Event) -> Callable[[LoggedRequest], Answer]:
    """Return a page whose response comes when `go_on` is set."""

    def wait(_: LoggedRequest) -> Answer:
        reached.set()
        go_on.wait(60)
        return answer if isinstance(answer, Answer) else Answer(answer)

    return wait


# Dates


def dated_urlset(dates: dict[str, str]) -> str:
    entries = (f"<url><loc>{url}</loc><lastmod>{date}</lastmod></url>" for url, date in dates.items())
    return f"<urlset>{''.join(entries)}</urlset>"


def lastmods(program: Program, site: WebServer) -> dict[str, tuple[str, str]]:
    result = program.run("pages", "--state", "state.sqlite", "--decision", "listed", "--format", "jsonl")
    found = map(json.loads, result.out.splitlines())
    return {
        row["url"].removeprefix(site.url("")): (row["lastmod"], row["lastmod_source"])
        for row in found
        if row["lastmod"]
    }


def test_a_foreign_sitemap_dates_pages_on_the_first_run(program: Program, site: WebServer) -> None:
    header = {"Last-Modified": "Tue, 02 Jan 2024 10:00:00 GMT"}
    site.pages["/linked"] = Answer(page(), headers=header)
    site.pages["/hidden/1"] = page(head='<meta property="article:modified_time" content="2020-01-01T00:00:00Z">')
    site.pages["/robots.txt"] = named_in_robots(site.url("/map.xml"), site.url("/stamped.xml"), site.url("/feed"))
    dates = {
        "/": "2023-01-01", "/linked": "2022-02-03T04:05:06+01:00", "/hidden/1": "2024-01-02T00:00:00Z",
        "/hidden/2": "2024-01-01T00:00:00Z", "/hidden/3": "0001-01-01T00:00:00Z",
        "/hidden/4": "2999-01-01", "/elsewhere/": "2024-01-01",
    }  # fmt: skip
    # The header of the file is the moment of its generation, and so is an entry of that moment.
    site.pages["/map.xml"] = Answer(
        dated_urlset({site.url(path): date for path, date in dates.items()}),
        content_type="application/xml",
        headers={"Last-Modified": "Mon, 01 Jan 2024 00:00:01 GMT"},
    )
    stamped = dict.fromkeys((site.url("/hidden/4"), site.url("/hidden/5")), "2025-05-05T05:05:05Z")
    site.pages["/stamped.xml"] = xml(dated_urlset(stamped))
    entries = (
        f"<entry><link href='{site.url(path)}'/><published>2021-01-01T00:00:00Z</published>"
        f"<updated>{date}</updated></entry>"
        for path, date in (("/hidden/6", "2022-06-06T06:06:06Z"), ("/hidden/7", "2023-07-07T07:07:07Z"))
    )
    # The header of a feed is the date of its latest entry.
    site.pages["/feed"] = Answer(
        f"<feed><updated>2023-07-07T07:07:07Z</updated>{''.join(entries)}</feed>",
        content_type="application/atom+xml",
        headers={"Last-Modified": "Fri, 07 Jul 2023 07:07:07 GMT"},
    )
    expected = {
        "/": ("2023-01-01", "sitemap"),
        "/linked": ("2022-02-03T03:05:06+00:00", "sitemap"),
        "/hidden/1": ("2020-01-01T00:00:00+00:00", "article:modified_time"),
        "/hidden/6": ("2022-06-06T06:06:06+00:00", "feed"),
        "/hidden/7": ("2023-07-07T07:07:07+00:00", "feed"),
    }
    assert crawl(program, site).code == 0
    assert lastmods(program, site) == expected
    explained = program.run("explain", site.url("/linked"), "--state", "state.sqlite").out
    assert "2022-02-03T03:05:06+00:00 (sitemap)" in explained
    files = {path.name: path.read_bytes() for path in program.output.iterdir()}
    # Other dates for the same content change nothing.
    site.pages["/map.xml"] = xml(dated_urlset({site.url("/"): "2024-01-02", site.url("/linked"): "2024-02-03"}))
    assert crawl(program, site).code == 0
    assert lastmods(program, site) == expected
    assert {path.name: path.read_bytes() for path in program.output.iterdir()} == files
