"""Sites that link their pages under ever new parameters end by themselves, with all their content."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.support.endless_sites import EndlessSite, forum, shop, tracker
from tests.support.paths import ROOT
from tests.support.program import Program, Result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.webserver import WebServer

ONE = ("--concurrency", "1", "--workers", "0", "--no-adaptive")
KILLED = -signal.SIGKILL
MAX_SAMPLES = 700
"""Number of requests beyond those of the content that a made site of a few kinds of parameters may take."""


def serve(site: WebServer, made: EndlessSite) -> None:
    site.pages = made  # type: ignore[assignment]


def listed_paths(result: Result, site: WebServer) -> set[str]:
    return {url.removeprefix(site.url("/")[:-1]) for url in result.listed()}


def crawl(program: Program, site: WebServer, made: EndlessSite, *options: str) -> set[str]:
    """Crawl a made site with default options. Return the listed paths."""
    serve(site, made)
    before = len(site.requests)
    result = program.crawl(site.url("/"), *options)
    assert result.code == 0, result.err
    assert len(site.requests) - before <= len(made.content) + MAX_SAMPLES
    return listed_paths(result, site)


def test_a_shop_with_facets_ends_and_lists_its_products_once(program: Program, site: WebServer) -> None:
    made = shop()
    listed = crawl(program, site, made)
    assert made.content <= listed
    assert len(made.content) >= 0.9 * len(listed)
    report = program.run("pages", "--reason", "duplicate-parameters", "--format", "csv")
    assert "facet=red" in report.out


def test_a_tracker_with_tabs_and_sorted_lists_ends(program: Program, site: WebServer) -> None:
    made = tracker()
    listed = crawl(program, site, made)
    assert made.content <= listed
    lists = {path for path in listed if path.startswith("/issues?page=")}
    assert len(made.content | lists) >= 0.9 * len(listed)


def test_a_forum_whose_parameters_tell_its_pages_apart_loses_none(program: Program, site: WebServer) -> None:
    made = forum()
    assert crawl(program, site, made) == made.content


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("make", [shop, tracker])
def test_the_order_of_links_loses_no_content(program: Program, site: WebServer, make: object, seed: int) -> None:
    made: EndlessSite = make()  # type: ignore[operator]
    made.seed = seed
    assert made.content <= crawl(program, site, made)


def test_each_page_of_a_shop_is_requested_once(program: Program, site: WebServer) -> None:
    serve(site, shop())
    assert program.crawl(site.url("/")).code == 0
    repeated = {path: count for path, count in Counter(request.path for request in site.requests).items() if count > 1}
    assert not repeated


def test_a_second_run_samples_what_was_refused_and_changes_nothing(program: Program, site: WebServer) -> None:
    made = shop()
    first = crawl(program, site, made)
    before = len(site.requests)
    second = program.crawl(site.url("/"))
    assert listed_paths(second, site) == first
    assert second.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
    assert len(site.requests) - before <= len(made.content) + MAX_SAMPLES


def test_no_traps_lists_the_sorted_lists_too(program: Program, site: WebServer) -> None:
    serve(site, shop())
    result = program.crawl(site.url("/"), "-s", r"SITEMAP_NO_TRAPS=[?]sort=\w+$")
    assert result.code == 0, result.err
    assert {"/catalogue/?sort=title", "/catalogue/?sort=price"} <= listed_paths(result, site)


@pytest.mark.slow
@pytest.mark.parametrize("commits", [5, 8, 12])
def test_a_killed_crawl_goes_on_as_if_nothing_had_happened(site: WebServer, tmp_path: Path, commits: int) -> None:
    """With one request at a time, so that the order of the answers is the same."""
    serve(site, shop())
    programs = {}
    for name in ("calm", "killed"):
        (tmp_path / name).mkdir()
        programs[name] = Program(tmp_path / name)
    calm, killed = programs["calm"], programs["killed"]
    assert calm.crawl(site.url("/"), *ONE).code == 0
    killer = (sys.executable, str(ROOT / "tests" / "support" / "killed_at.py"), str(commits))
    assert killed.execute(*killer, "crawl", site.url("/"), *ONE).code == KILLED
    result = killed.crawl(site.url("/"), *ONE)
    assert result.code == 0, result.err
    assert (killed.output / "sitemap.xml").read_bytes() == (calm.output / "sitemap.xml").read_bytes()
