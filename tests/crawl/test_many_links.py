"""Pages with more links than are kept of one page, and pages whose links are stored in slices."""

from __future__ import annotations

import signal
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.support.inventories import connect
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

pytestmark = pytest.mark.slow

LINKS = 300
SLICES = 100

STOPPED_AT = """
import os
import sitemap_crawler.crawl.pipelines.in_process as in_process
from sitemap_crawler.inventory.queue import Queue

in_process.SLICE_LINKS = {slice_links}
add_links, stop_at, added = Queue.add_links, {stop_at}, 0

def add_links_and_stop(self, page, links, *, depth):
    global added
    add_links(self, page, links, depth=depth)
    added += 1
    with open("slices.txt", "w") as file:
        file.write(str(added))
    if added == stop_at:
        os.kill(os.getpid(), {number})

Queue.add_links = add_links_and_stop
"""


def build(site: WebServer, links: int) -> list[str]:
    """Build a start page with so many links, and a link to itself. Return all URLs of the site."""
    paths = [f"/{number:03}" for number in range(links)]
    site.pages.update({"/": page("/", *paths, "/000", "mailto:a@example.com"), **dict.fromkeys(paths, page(title="x"))})
    return [site.url("/"), *map(site.url, paths)]


def test_a_page_with_as_many_links_as_are_kept_is_no_problem(program: Program, site: WebServer) -> None:
    pages = build(site, 50)
    result = program.crawl(site.url("/"), "-s", "SITEMAP_MAX_LINKS=50")
    assert (result.code, result.listed()) == (0, pages)
    assert "many-links" not in {warning["kind"] for warning in result.report["warnings"]}
    assert "links" not in program.run("explain", site.url("/")).out


def test_links_that_are_cut_prove_no_absence(program: Program, site: WebServer) -> None:
    pages = build(site, 60)
    assert program.crawl(site.url("/"), "-s", "SITEMAP_MAX_LINKS=60").listed() == pages
    for _ in range(3):
        result = program.crawl(site.url("/"), "-s", "SITEMAP_MAX_LINKS=50")
        assert (result.code, result.listed()) == (0, pages)
    # Without a cut the rule of orphans holds.
    build(site, 50)
    for _ in range(3):
        result = program.crawl(site.url("/"), "-s", "SITEMAP_MAX_LINKS=60")
    assert result.listed() == pages[:51]
    assert result.report["excluded"] == {"orphan": 10}


def test_the_first_links_of_a_page_are_kept_and_the_report_says_so(program: Program, site: WebServer) -> None:
    pages = build(site, 60)
    result = program.crawl(site.url("/"), "-s", "SITEMAP_MAX_LINKS=50")
    assert (result.code, result.listed()) == (0, pages[:51])
    warning = {
        "kind": "many-links",
        "url": site.url("/"),
        "message": "only its first 50 links were kept (SITEMAP_MAX_LINKS): pages may be missing",
    }
    assert [found for found in result.report["warnings"] if found["kind"] == "many-links"] == [warning]
    assert len(site.paths()) == 52
    shown = program.run("explain", site.url("/")).out
    assert "  links         only the first 50 were kept (SITEMAP_MAX_LINKS)\n" in shown
    shown = program.run("explain", pages[-1]).out
    assert shown.startswith(
        "unknown: no page that was fetched links to it, and no sitemap names it; only the first 50 links of "
        f"{site.url('/')} were kept (SITEMAP_MAX_LINKS)\n"
    )


def test_nofollow_links_count_too(program: Program, site: WebServer) -> None:
    pages = build(site, 10)
    hidden = "".join(f"<a rel=nofollow href=/hidden/{number}>x</a>" for number in range(45))
    site.pages["/"] = page(body=hidden + "".join(f"<a href=/{number:03}>x</a>" for number in range(10)))
    result = program.crawl(site.url("/"), "-s", "SITEMAP_MAX_LINKS=50")
    assert (result.code, result.listed()) == (0, pages[:6])
    assert result.report["warning_counts"]["many-links"] == 1


@pytest.mark.parametrize("workers", ["0", "2"])
def test_links_are_stored_in_slices(program: Program, site: WebServer, workers: str) -> None:
    pages = build(site, LINKS)
    stop_in_slices(program, 0, signal.SIGINT)
    result = program.crawl(site.url("/"), "--workers", workers)
    assert (result.code, result.listed()) == (0, pages)
    assert slices_of(program) == LINKS // (LINKS // SLICES) == SLICES
    assert len(site.paths()) == LINKS + 2


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_is_heard_between_two_slices(program: Program, site: WebServer, stop: signal.Signals) -> None:
    pages = build(site, LINKS)
    stop_in_slices(program, 2, stop)
    result = program.run("crawl", site.url("/"))
    assert (result.code, result.last_line) == (4, "interrupted; run the same command to continue")
    # The event loop takes some turns to close the spider.
    assert 2 <= slices_of(program) < SLICES
    program.hook = None
    result = program.crawl(site.url("/"))
    assert (result.code, result.report["run"], result.listed()) == (0, 1, pages)


@pytest.mark.parametrize("stop_at", [1, SLICES // 2, SLICES])
def test_a_kill_between_two_slices_loses_no_link(program: Program, site: WebServer, stop_at: int) -> None:
    pages = build(site, LINKS)
    stop_in_slices(program, stop_at, signal.SIGKILL)
    assert program.run("crawl", site.url("/"), "--state", "state.sqlite").code == -signal.SIGKILL
    with closing(connect(program.directory / "state.sqlite")) as connection:
        known = connection.execute("SELECT count(*) FROM urls").fetchone()[0]
        recorded = connection.execute("SELECT count(*) FROM observations o JOIN urls u ON u.id = o.url_id "
                                      "WHERE u.url = ?", [site.url("/")]).fetchone()[0]  # fmt: skip
    assert (known, recorded) == (1 + stop_at * (LINKS // SLICES), 0)
    program.hook = None
    result = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert (result.code, result.report["run"], result.listed()) == (0, 1, pages)


def stop_in_slices(program: Program, stop_at: int, number: signal.Signals) -> None:
    """Have the next crawls store links in SLICES slices, and stop after slice `stop_at`."""
    text = STOPPED_AT.format(slice_links=LINKS // SLICES, stop_at=stop_at, number=int(number))
    program.patch(text)


def slices_of(program: Program) -> int:
    return int((program.directory / "slices.txt").read_text())
