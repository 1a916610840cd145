"""Sites that need a browser, crawled with one: every URL gets the decision that the source of its site demands."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from tests.sites.rendered.frameworks import hash_mode, panels, script_menu, static_export
from tests.sites.rendered.mixed import far, far_pages, mixed
from tests.sites.rendered.odd_pages import odd_pages
from tests.sites.rendered.shop import product, shop
from tests.sites.rendered.truth import LISTED, Site
from tests.support.names import give_names
from tests.support.postgres_server import needs_postgres
from tests.support.recorded_waits import record_plans, recorded_plans
from tests.support.rendered_crawl import BROWSERS, Outcome, arguments, render, serving
from tests.support.rendered_site import RenderedSite, data
from tests.support.tools import MUST_RUN, find_tool, needs
from tests.support.webserver import WebServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.postgres_server import PostgresServer
    from tests.support.program import Program
    from tests.support.webserver import Answer, LoggedRequest

pytestmark = [
    pytest.mark.skipif(
        not MUST_RUN and not any(map(find_tool, BROWSERS)), reason=f"none of {', '.join(BROWSERS)} is installed"
    ),
    pytest.mark.slow,
]

IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}loc"
ENTRY = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
DELAY_SECONDS = 0.2
PUBLIC_ADDRESS = "93.184.215.14"
BUSY_LOOPS = 2
PATIENCE_SECONDS = 120


def small_shop() -> Site:
    """The shop of the benchmarks with less of everything, and the same kinds of pages."""
    return shop(categories=1, posts=3)


SITES = (small_shop, hash_mode, panels, static_export, script_menu, odd_pages, mixed)


def names(site: Callable[[], Site]) -> str:
    return site.__name__


@pytest.mark.parametrize("make", SITES, ids=names)
def test_every_url_gets_its_decision(program: Program, make: Callable[[], Site]) -> None:
    site = make()
    with serving(site) as server:
        outcome = render(program, site, server)
    assert outcome.mistakes() == []
    assert outcome.rudeness() == []
    assert (outcome.precision, outcome.recall) == (1.0, 1.0)
    assert outcome.report["rendering"]["failed"] <= site.unrenderable
    assert outcome.rendered <= site.rendered_at_most * len(site.truth)
    assert images_by_scripts(program, site, server) == site.images
    # Applications answer an address that cannot exist with the same shell as every page.
    assert warned_of(outcome, "soft-404") == {server.url(path) for path in site.error_pages}


@needs_postgres
def test_two_processes_that_render_give_every_url_its_decision(program: Program, postgres: PostgresServer) -> None:
    site, state = small_shop(), postgres.url()
    with serving(site) as server:
        result = program.crawl(server.url(site.start), *arguments(site, "--state", state, "--processes", "2"))
        assert result.code == 0, result.err
        assert "helped with " in result.out + result.err
        rows = program.run("pages", "--state", state, "--format", "jsonl").out
        together = Outcome.read(site, server, rows=rows, listed=result.listed(), report=result.report)
    assert together.mistakes() == []


def warned_of(outcome: Outcome, kind: str) -> set[str]:
    return {warning["url"] for warning in outcome.report["warnings"] if warning["kind"] == kind}


def images_by_scripts(program: Program, site: Site, server: RenderedSite) -> dict[str, tuple[str, ...]]:
    """Return the images in the sitemap of the pages that have some in the truth."""
    base = server.url("")
    entries = etree.parse(program.output / "sitemap.xml").iter(f"{ENTRY}url")
    found = {
        (entry.findtext(f"{ENTRY}loc") or "").removeprefix(base): tuple(
            (image.text or "").removeprefix(base) for image in entry.iter(IMAGE)
        )
        for entry in entries
    }
    return {path: images for path, images in found.items() if path in site.images}


@needs("chromium")
def test_the_slower_build_of_the_browser_gives_the_same(program: Program) -> None:
    """The program takes the faster one by itself, where both are installed."""
    site = hash_mode()
    with serving(site) as server:
        outcome = render(program, site, server, browser="chromium")
    assert outcome.mistakes() == []


def test_the_second_run_renders_nothing_and_a_change_that_page_alone(program: Program) -> None:
    site = small_shop()
    with serving(site) as server:
        first = render(program, site, server)
        second = render(program, site, server)
        server.pages["/api/p/4.json"] = data({**product(4, 5), "text": "It was painted.", "modified": "2026-02-20"})
        third = render(program, site, server)
    assert first.mistakes() == []
    assert first.rendered > 0
    assert (second.rendered, second.fates) == (0, first.fates)
    assert second.rudeness() == []
    assert second.report["outcome"] == "unchanged"
    assert third.rendered == 1
    changed = {url for url in third.fates if third.fates[url] != second.fates[url]}
    assert changed == {"/p/4"}
    assert third.fates["/p/4"].lastmod == "2026-02-20"


def test_a_change_of_data_dates_a_page_that_states_no_date(program: Program) -> None:
    site = panels()
    with serving(site) as server:
        first = render(program, site, server)
        links = ["panel-1", "panel-2", "panel-3", "gone"]
        server.pages["/app/data/index.json"] = data({"title": "Panels", "text": "Another text.", "links": links})
        second = render(program, site, server)
    assert first.fates["/app/"] == LISTED
    assert second.rendered == 1
    assert {url for url in second.fates if second.fates[url] != first.fates[url]} == {"/app/"}
    assert second.fates["/app/"].lastmod is not None


def test_the_delay_holds_for_what_scripts_ask_for(program: Program) -> None:
    record_plans(program)
    site = panels()
    with serving(site) as server:
        outcome = render(program, site, server, "--delay", str(DELAY_SECONDS))
    assert outcome.mistakes() == []
    # By the program's clock: a busy machine moves the times at which a server reads requests.
    sent = recorded_plans(program).of("sent")
    assert sorted(event.path for event in sent) == sorted(asked.bare_path for asked in outcome.requests)
    gaps = [later.begin - earlier.begin for earlier, later in pairwise(sent)]
    assert min(gaps) >= DELAY_SECONDS


def test_a_crawl_that_is_killed_while_it_renders_loses_nothing(program: Program) -> None:
    site = small_shop()
    with serving(site) as server:
        killed = program.start("crawl", server.url(site.start), *arguments(site), stderr=subprocess.DEVNULL)
        answer = server.pages["/api/p/8.json"]

        def kill(request: LoggedRequest) -> Answer:
            killed.kill()
            return answer(request)

        server.pages["/api/p/8.json"] = kill
        assert killed.wait(PATIENCE_SECONDS) == -signal.SIGKILL
        server.pages["/api/p/8.json"] = answer
        outcome = render(program, site, server)
    assert outcome.report["run"] == 1  # the same run has gone on
    assert outcome.mistakes() == []


@contextmanager
def busy_machine() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_a_busy_machine_gets_the_same(program: Program) -> None:
    """The site is small: the loops take the time of other tests, too."""
    site = panels()
    with serving(site) as server, busy_machine():
        outcome = render(program, site, server)
    assert outcome.mistakes() == []
    assert outcome.rudeness() == []


def far_outcome(program: Program, origin: str, *, answered: bool) -> Outcome:
    site = far(origin, answered=answered)
    with serving(site) as server:
        return render(program, site, server)


def test_data_of_another_public_origin_are_asked_for_by_its_rules(program: Program) -> None:
    with WebServer(far_pages()) as other:
        give_names(program, {"api.example.com": PUBLIC_ADDRESS}, here=[PUBLIC_ADDRESS], ports={80: other.port})
        outcome = far_outcome(program, "http://api.example.com", answered=True)
        assert outcome.mistakes() == []
        assert outcome.rudeness() == []
        assert sorted(other.paths()) == ["/items.json", "/robots.txt"]


def test_another_origin_in_the_private_network_is_not_asked(program: Program) -> None:
    with WebServer(far_pages(), host="127.0.0.2") as other:
        outcome = far_outcome(program, f"http://127.0.0.2:{other.port}", answered=False)
        assert outcome.mistakes() == []
        assert other.paths() == []
