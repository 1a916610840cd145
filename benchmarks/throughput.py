"""Pages per second, as fast as each crawler can: from the first to the last request, and of the whole process.

The server's log has the requests, so that both figures are measured in the same way for every crawler.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import quote

from crawlers import CRAWLERS, OURS, Crawl, installed_crawlers
from machine import Cost, in_turn, median_ratio, print_progress, run_process
from serving import serving
from sites import document_tree
from table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plan import Plan
    from serving import Served
    from sites import DocumentTree

WARM_UP_SECONDS = 5.0
MIN_LARGE_SITE = 10_000
"""Number of pages from which on a site counts as large: start and end are a small part of its crawl."""
MIN_CRAWL_SECONDS = 0.001
"""Resolution of the server's log."""


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl by one crawler, with nothing left from earlier runs."""

    cost: Cost
    pages: frozenset[str]
    """Paths of the pages that the server has sent."""
    requests: int
    crawl_seconds: float
    """Time from the arrival of the first request at the server to the arrival of the last one."""

    @property
    def process_rate(self) -> float:
        return len(self.pages) / self.cost.seconds

    @property
    def crawl_rate(self) -> float:
        return len(self.pages) / self.crawl_seconds

    def __str__(self) -> str:
        return (
            f"{self.cost.seconds:.2f} s, {len(self.pages):,} pages, {self.process_rate:,.0f} pages/s; "
            f"{self.crawl_seconds:.2f} s from first to last request, {self.crawl_rate:,.0f} pages/s"
        )


def measure(plan: Plan) -> Iterator[Row]:
    names = [name for name in installed_crawlers() if plan.wants(name)]
    for site in plan.sites:
        with document_tree(site, pages=plan.site_pages) as tree, serving(tree.root) as served:
            print_progress(tree.title)
            urls = [served.url + quote(path.lstrip("/")) for path in tree.ordered]
            crawl = partial(crawl_once, served, plan.concurrency, urls=urls)
            contestants = {name: partial(crawl, name=name, limit=plan.limit_seconds) for name in names}
            measured = in_turn(contestants, plan.runs, warm_up=partial(_warm_up, crawl))
            yield from _rows(tree, measured)


def _warm_up(crawl: Callable[..., Run], name: str) -> None:
    crawl(name=name, limit=WARM_UP_SECONDS)


def crawl_once(served: Served, concurrency: int, *, name: str, limit: float, urls: Sequence[str] = ()) -> Run:
    """Crawl the site once, with nothing left from earlier runs, and count by the log of the server."""
    crawler = CRAWLERS[name]
    with tempfile.TemporaryDirectory(prefix="benchmark-run-") as temporary:
        directory = Path(temporary)
        served.forget()
        command = crawler.command(Crawl(served.url, concurrency, directory, urls))
        cost = run_process(command, directory, limit=limit, codes=crawler.codes)
    pages: set[str] = set()
    arrivals: list[float] = []
    for hit in served.hits():
        arrivals.append(hit.arrived)
        if hit.is_page:
            pages.add(hit.path)
    crawl_seconds = max(arrivals) - min(arrivals) if arrivals else 0.0
    return Run(cost, frozenset(pages), len(arrivals), max(crawl_seconds, MIN_CRAWL_SECONDS))


def _rows(tree: DocumentTree, measured: dict[str, list[Run]]) -> Iterator[Row]:
    group = "throughput" if len(tree.paths) >= MIN_LARGE_SITE else "throughput, small site"
    ours = measured.get(OURS, [])
    for name, runs in measured.items():
        ratio = ""
        if ours and name != OURS:
            crawl = median_ratio([run.crawl_rate for run in ours], [run.crawl_rate for run in runs])
            process = median_ratio([run.process_rate for run in ours], [run.process_rate for run in runs])
            ratio = f"ours is {crawl:.2f} times it; whole process {process:.2f} times"
        yield Row(
            group, tree.title, name, [run.crawl_rate for run in runs], "pages/s", ratio, _remarks(tree, name, runs)
        )


def _remarks(tree: DocumentTree, name: str, runs: Sequence[Run]) -> str:
    last = runs[-1]
    memory = sorted(runs, key=lambda run: run.cost.peak_bytes)[len(runs) // 2].cost.memory
    remarks = [
        f"whole process {median(run.process_rate for run in runs):,.0f} pages/s",
        f"{median(run.crawl_seconds for run in runs):.1f} of {median(run.cost.seconds for run in runs):.1f} s crawling",
        CRAWLERS[name].remarks,
        f"{median(run.requests for run in runs):,.0f} requests",
        f"{memory} peak",
    ]
    if last.cost.stopped:
        remarks.append(f"stopped after {last.cost.seconds:.0f} s with {len(last.pages):,} pages")
    else:
        for count, word in ((len(tree.paths - last.pages), "missing"), (len(last.pages - tree.paths), "more")):
            if count:
                remarks.append(f"{count:,} pages {word}")
    return "; ".join(remarks)
