"""Pages that answer 200 and are errors: what crawls note on them, and when a site is asked for what it can't have.

The site of most tests answers every address. Its start page, `/`, links to all others:

    /real-1 ...              pages of their own
    /gone.html               says "Page not found"
    /shop/gone, /shop/sold   the catch-all: the same bytes as any unknown address
"""

from __future__ import annotations

import json
import re
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.crawl.extensions.soft_404_probe import probe_urls
from tests.support.inventories import connect
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.program import Program, Result

NAME = r"[0-9a-f]{32}"


CATCH_ALL = page(title="Oops, nothing here")


SAYS_SO = page(title="Page not found")


class CatchAllServer(WebServer):
    """Answers what it does not know by `catch_all`."""

    catch_all: Answer | Callable[[LoggedRequest], Answer] = Answer(CATCH_ALL)

    def answer(self, request: LoggedRequest) -> Answer:
        known = super().answer(request)
        if request.path in self.pages or request.path == "/robots.txt":
            return known
        return self.catch_all(request) if callable(self.catch_all) else self.catch_all

    def probes(self) -> list[str]:
        return [path for path in self.paths() if re.search(NAME, path)]


@pytest.fixture
def site() -> Iterator[CatchAllServer]:
    with CatchAllServer() as server:
        yield server


def build(site: WebServer, *others: str, pages: int = 60) -> None:
    """A site of so many pages, the start page and `others` included."""
    real = [f"/real-{number}" for number in range(pages - 1 - len(others))]
    site.pages.update({path: page(title=f"About {path}") for path in real})
    site.pages["/"] = page(*real, *others, title="Home")


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    return program.crawl(site.url("/"), "--state", str(program.directory / "state.sqlite"), *options)


def notes(program: Program, site: WebServer) -> dict[str, dict[str, Any]]:
    """The notes on soft errors by path."""
    with closing(connect(program.directory / "state.sqlite")) as connection:
        rows = connection.execute(
            "SELECT url, notes FROM urls JOIN observations ON url_id = id WHERE notes IS NOT NULL"
        )
        found = {url.removeprefix(site.url("")): json.loads(text) for url, text in rows}
    kinds = {"error-page", "soft-404"}
    kept = {path: {kind: note[kind] for kind in kinds & note.keys()} for path, note in found.items()}
    return {path: note for path, note in kept.items() if note}


def known_paths(program: Program, site: WebServer) -> set[str]:
    with closing(connect(program.directory / "state.sqlite")) as connection:
        return {url.removeprefix(site.url("")) for (url,) in connection.execute("SELECT url FROM urls")}


def same_as(site: WebServer, probe: str) -> str:
    return f"the same content as an address that cannot exist: {site.url(probe)}"


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["crawl", "dry run"])
def test_pages_with_the_content_of_any_address_are_noted(
    program: Program, site: CatchAllServer, options: tuple[str, ...]
) -> None:
    build(site, "/gone.html", "/shop/gone", "/shop/sold")
    site.pages["/gone.html"] = SAYS_SO
    result = crawl(program, site, *options)
    assert result.code == 0, result.err
    [probe] = site.probes()
    assert re.fullmatch(rf"/{NAME}\.html", probe)
    assert notes(program, site) == {
        "/gone.html": {"error-page": "Page not found"},
        "/shop/gone": {"soft-404": same_as(site, probe)},
        "/shop/sold": {"soft-404": same_as(site, probe)},
    }
    # No page of the site: neither a row nor a line of the sitemap.
    assert known_paths(program, site) == {*site.pages, "/shop/gone", "/shop/sold"}
    assert result.report["listed"] == 60
    # The pages, robots.txt and the probe.
    assert result.report["requests"] == 62
    assert len(site.paths()) == len(set(site.paths())) == 62


def test_one_probe_for_each_depth_of_directories_at_most_three(program: Program, site: CatchAllServer) -> None:
    # In the order in which the start page names them; the last one is a fourth depth.
    errors = ["/a/b/1.php", "/a/c/2", "/1.html", "/a/", "/2", "/a/3", "/a/b/c/4"]
    build(site, *errors)
    site.pages.update(dict.fromkeys(errors, SAYS_SO))
    assert crawl(program, site).code == 0
    two, none, one = sorted(site.probes(), key=lambda path: [2, 0, 1].index(path.count("/") - 1))
    assert re.fullmatch(rf"/a/b/{NAME}\.php", two)
    assert re.fullmatch(rf"/{NAME}\.html", none)
    assert re.fullmatch(rf"/a/{NAME}", one)


@pytest.mark.parametrize("pages", [40, 49])
def test_a_small_site_is_not_probed(program: Program, site: CatchAllServer, pages: int) -> None:
    build(site, "/gone", pages=pages)
    site.pages["/gone"] = SAYS_SO
    assert crawl(program, site).code == 0
    assert site.probes() == []
    assert notes(program, site) == {"/gone": {"error-page": "Page not found"}}


def test_a_site_of_fifty_pages_is_probed(program: Program, site: CatchAllServer) -> None:
    build(site, "/gone", pages=50)
    site.pages["/gone"] = SAYS_SO
    assert crawl(program, site).code == 0
    assert len(site.probes()) == 1


def test_a_site_without_error_pages_is_not_probed(program: Program, site: CatchAllServer) -> None:
    build(site, "/shop/gone", "/missing")
    site.pages["/missing"] = Answer(SAYS_SO, status=404)
    assert crawl(program, site).code == 0
    assert site.probes() == []
    assert notes(program, site) == {}


@pytest.mark.parametrize("limit", [55, 60])
def test_a_run_that_a_limit_ended_does_not_probe(program: Program, site: CatchAllServer, limit: int) -> None:
    build(site)
    site.pages["/real-0"] = SAYS_SO
    assert crawl(program, site, "--max-pages", str(limit)).code == 0
    assert notes(program, site) == {"/real-0": {"error-page": "Page not found"}}
    assert site.probes() == []


def test_a_run_that_is_stopped_does_not_probe(program: Program, site: CatchAllServer) -> None:
    build(site)
    site.pages["/real-0"] = SAYS_SO
    assert crawl(program, site, "-s", "CLOSESPIDER_PAGECOUNT=59", "--concurrency", "1").code == 4
    assert site.probes() == []
    assert crawl(program, site).code == 0
    assert len(site.probes()) == 1


def test_a_limit_that_was_not_reached_is_no_hindrance(program: Program, site: CatchAllServer) -> None:
    build(site)
    site.pages["/real-0"] = SAYS_SO
    assert crawl(program, site, "--max-pages", "61", "--max-depth", "5").code == 0
    assert len(site.probes()) == 1


def test_robots_txt_is_obeyed(program: Program, site: CatchAllServer) -> None:
    build(site, "/shop/gone", "/gone")
    rules = Answer("User-agent: *\nDisallow: /shop/\nAllow: /shop/gone$\n", content_type="text/plain")
    site.pages.update({"/shop/gone": SAYS_SO, "/gone": SAYS_SO, "/robots.txt": rules})
    result = crawl(program, site)
    assert result.code == 0, result.err
    [probe] = site.probes()
    assert re.fullmatch(rf"/{NAME}", probe)
    assert result.report["excluded"] == {}


def test_what_the_options_exclude_is_not_probed(program: Program, site: CatchAllServer) -> None:
    build(site, "/gone")
    site.pages["/gone"] = SAYS_SO
    assert crawl(program, site, "--exclude", "/[0-9a-f]{24,}").code == 0
    assert site.probes() == []


@pytest.mark.parametrize(
    "answer",
    [
        Answer(CATCH_ALL, status=500),
        Answer(CATCH_ALL, status=503),
        Answer(drop=True),
        Answer(CATCH_ALL, status=404),
        Answer(status=302, headers={"Location": "/"}),
        Answer(""),
    ],
    ids=["500", "503", "dropped", "404", "redirect", "empty"],
)
def test_an_answer_that_says_nothing(program: Program, site: CatchAllServer, answer: Answer) -> None:
    build(site, "/gone", "/copy")
    site.pages.update({"/gone": SAYS_SO, "/copy": CATCH_ALL})
    site.catch_all = answer
    result = crawl(program, site)
    assert result.code == 0, result.err
    # The HTTP client itself asks again when a connection that was kept open breaks.
    assert len(site.probes()) == 1 or answer.drop
    assert len(set(site.probes())) == 1
    assert notes(program, site) == {"/gone": {"error-page": "Page not found"}}
    assert result.report["outcome"] == "published"
    assert result.report["listed"] == 60
    assert result.report["errors"] == 0


def test_a_probe_without_an_answer_in_time(program: Program, site: CatchAllServer) -> None:
    build(site, "/gone")
    site.pages["/gone"] = SAYS_SO

    def endless(_: LoggedRequest) -> Answer:
        # The rest never comes.
        return Answer("a", headers={"Content-Length": "100"})

    site.catch_all = endless
    result = crawl(program, site, "-s", "DOWNLOAD_TIMEOUT=3")
    assert result.code == 0, result.err
    assert len(site.probes()) == 1
    assert result.report["outcome"] == "published"


def test_the_start_page_is_no_error_when_others_show_it(program: Program, site: CatchAllServer) -> None:
    build(site, "/gone", "/old")
    site.pages["/gone"] = SAYS_SO
    site.catch_all = Answer(site.pages["/"])
    assert crawl(program, site).code == 0
    [probe] = site.probes()
    assert notes(program, site) == {
        "/gone": {"error-page": "Page not found"},
        "/old": {"soft-404": same_as(site, probe)},
    }


def test_addresses_are_beside_the_suspects() -> None:
    errors = [
        "https://example.com/shop/gone.html?id=1",
        "https://example.com/blog/other.html",
        "https://example.com/index.php?p=1",
        "https://example.com:8443/a/b/no.suffix-at-all",
        "https://example.com/a/b/c/d",
    ]
    patterns = [
        rf"https://example\.com/shop/{NAME}\.html",
        rf"https://example\.com/{NAME}\.php",
        rf"https://example\.com:8443/a/b/{NAME}",
    ]
    found = list(probe_urls(errors))
    assert len(found) == 3
    assert all(re.fullmatch(pattern, url) for pattern, url in zip(patterns, found, strict=True))
    assert set(found).isdisjoint(probe_urls(errors))


def test_a_catch_all_that_prints_the_time_is_recognised_by_its_content(program: Program) -> None:
    ticks = count()

    def oops(_request: LoggedRequest) -> Answer:
        return Answer(page(title="Oops", body=f"<p>Nothing here.</p><script>var t = {next(ticks)};</script>"))

    class CatchAll(WebServer):
        def answer(self, request: LoggedRequest) -> Answer:
            found = super().answer(request)
            return oops(request) if found.status == 404 and request.path != "/robots.txt" else found

    names = [f"/real-{number}" for number in range(55)]
    with CatchAll({name: page(title=name, body=f"<p>All about {name}.</p>") for name in names}) as site:
        site.pages.update({"/": page(*names, "/gone.html", "/sold"), "/gone.html": page(title="Page not found")})
        result = program.crawl(site.url("/"), "--concurrency", "16")
        assert result.code == 0, result.err
        soft = {found["url"] for found in result.report["warnings"] if found["kind"] == "soft-404"}
        assert soft == {site.url("/gone.html"), site.url("/sold")}
