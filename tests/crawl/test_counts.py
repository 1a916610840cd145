"""The work for a page, counted and not timed: a second parse or a query for each link shows here first."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT
from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.program import Program
    from tests.support.webserver import LoggedRequest, WebServer

DRIVER = ROOT / "tests" / "support" / "counted_crawl.py"
FAN_OUT = 10
FEW, MANY = 256, 512
"""Numbers of pages of two crawls. Their difference shows the cost of a further page without the fixed cost of a run."""

TASKS_PER_RESPONSE = 1
"""The task of the engine. No pipeline, middleware or handler needs another one."""

STATEMENTS_PER_PAGE = 1 / 4
"""Maximum number of statements for one page.

The queue leases 256 URLs with two statements and writes 128 pages with all their links with about nine. Decisions and
publication read thousands of rows at a time. That makes a twelfth. A slow machine writes a batch every three seconds,
full or not. One statement for each page would be 1, and one for each link more."""

# Content for every reader: none may parse the page again.
EXTRAS = """
<link rel="canonical" href="{url}"><link rel="alternate" hreflang="en" href="{url}">
<meta property="og:image" content="/{number}-og.png"><meta name="robots" content="max-snippet:5">
<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Article"}}</script>
"""
BODY = """
<main><p>Text {number}</p><img src="/{number}.png"><div itemscope itemtype="https://schema.org/VideoObject">
<meta itemprop="name" content="{number}"></div><iframe src="https://www.youtube.com/embed/aaaaaaaaaaa"></iframe></main>
"""


def lay_out(site: WebServer, pages: int, *, links: int = 5) -> None:
    """Make a tree of `pages` pages, each with `links` links to other pages. Conditional requests get a 304."""
    for number in range(pages):
        below = range(number * FAN_OUT + 1, min((number + 1) * FAN_OUT + 1, pages))
        others = ((number * links + at) % pages for at in range(links))
        path = path_of(number)
        site.pages[path] = answering(
            page(
                *map(path_of, (*below, *others)),
                title=f"Page {number}",
                head=EXTRAS.format(url=path, number=number),
                body=BODY.format(number=number),
            )
        )


def path_of(number: int) -> str:
    return f"/{number}.html" if number else "/"


def answering(body: str) -> Callable[[LoggedRequest], Answer]:
    def answer(request: LoggedRequest) -> Answer:
        known = "if-none-match" in request.headers
        return Answer("", 304) if known else Answer(body, headers={"ETag": '"1"'})

    return answer


def counted(program: Program, site: WebServer, name: str, *, pages: int, workers: int = 0) -> Counter[str]:
    """Crawl, check that all pages are listed, and return the counts. The same `name` means the same inventory."""
    counts, report = program.directory / "counts.json", program.directory / "report.json"
    parses = program.directory / "counts.json.parses"
    parses.write_bytes(b"")
    files = ["--report", str(report), "--state", f"{name}.sqlite", "-o", name]
    command = [sys.executable, str(DRIVER), "crawl", site.url(), "-q", "--workers", str(workers), *files]
    done = program.execute(*command, COUNTS=str(counts))
    assert done.code == 0, done.err
    assert json.loads(report.read_text(encoding="utf-8"))["listed"] == pages
    # Each worker begins with an empty page, to import the readers.
    return Counter(json.loads(counts.read_text(encoding="utf-8")), parses=parses.stat().st_size - workers)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_cost_of_a_further_page(program: Program, site: WebServer, workers: int) -> None:
    lay_out(site, FEW)
    few = counted(program, site, "few", pages=FEW, workers=workers)
    lay_out(site, MANY)
    many = counted(program, site, "many", pages=MANY, workers=workers)
    assert (few["parses"], many["parses"]) == (FEW, MANY)
    further = MANY - FEW
    # Timers add a few more, such as the check of the memory.
    assert 0 < many["tasks"] - few["tasks"] <= TASKS_PER_RESPONSE * further + 10
    # The statements of the run itself are included. With workers the queue may run dry while they read; then a smaller
    # batch is written. Chance decides how often.
    assert 0 < many["statements"] < MANY
    if not workers:
        assert 0 < many["statements"] - few["statements"] <= STATEMENTS_PER_PAGE * further


@pytest.mark.slow
def test_a_link_costs_no_statement(program: Program, site: WebServer) -> None:
    lay_out(site, FEW)
    few = counted(program, site, "few", pages=FEW)
    lay_out(site, FEW, links=45)
    # These are 10,240 more links, nearly all of them to known pages.
    many = counted(program, site, "many", pages=FEW)
    assert few["statements"] > 0
    assert many["statements"] - few["statements"] <= STATEMENTS_PER_PAGE * FEW


@pytest.mark.slow
def test_a_page_that_has_not_changed_is_not_parsed(program: Program, site: WebServer) -> None:
    lay_out(site, FEW)
    assert counted(program, site, "same", pages=FEW)["parses"] == FEW
    assert counted(program, site, "same", pages=FEW)["parses"] == 0
