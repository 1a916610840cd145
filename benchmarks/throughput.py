"""Pages per second on real sites, as fast as each crawler can; the server counts the pages."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import quote

from crawlers import CRAWLERS, OURS, Crawl, installed_crawlers
from machine import Cost, in_turn, middle_ratio, run_process, tell
from serving import serving
from sites import document_tree
from table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plan import Plan
    from serving import Served
    from sites import DocumentTree

WARM_UP = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class Run:
    cost: Cost
    pages: frozenset[str]
    """Paths of the pages that it was answered with."""
    requests: int
    span: float
    """Seconds between the first answer and the last page."""

    @property
    def rate(self) -> float:
        return len(self.pages) / self.cost.seconds

    def __str__(self) -> str:
        return f"{self.cost.seconds:.2f} s, {len(self.pages):,} pages, {self.rate:,.0f} pages/s"


def measure(plan: Plan) -> Iterator[Row]:
    names = [name for name in installed_crawlers() if plan.wants(name)]
    for site in plan.sites:
        with document_tree(site, pages=plan.site_pages) as tree, serving(tree.root) as served:
            tell(tree.title)
            urls = [served.url + quote(path.lstrip("/")) for path in tree.ordered]
            crawl = partial(crawl_once, served, plan.concurrency, urls=urls)
            contestants = {name: partial(crawl, name=name, limit=plan.limit) for name in names}
            measured = in_turn(contestants, plan.runs, warm_up=partial(_warm_up, crawl))
            yield from _rows(tree, measured)


def _warm_up(crawl: Callable[..., Run], name: str) -> None:
    crawl(name=name, limit=WARM_UP)


def crawl_once(served: Served, concurrency: int, *, name: str, limit: float, urls: Sequence[str] = ()) -> Run:
    """Crawl with nothing left from earlier runs."""
    crawler = CRAWLERS[name]
    with tempfile.TemporaryDirectory(prefix="benchmark-run-") as temporary:
        directory = Path(temporary)
        served.forget()
        command = crawler.command(Crawl(served.url, concurrency, directory, urls))
        cost = run_process(command, directory, limit=limit, codes=crawler.codes)
    pages, requests, first, last = set(), 0, 0.0, 0.0
    for hit in served.hits():
        requests += 1
        first = first or hit.time
        if hit.is_page:
            pages.add(hit.path)
            last = hit.time
    return Run(cost, frozenset(pages), requests, last - first)


def _rows(tree: DocumentTree, measured: dict[str, list[Run]]) -> Iterator[Row]:
    ours = [run.rate for run in measured.get(OURS, [])]
    for name, runs in measured.items():
        rates = [run.rate for run in runs]
        ratio = f"ours is {middle_ratio(ours, rates):.2f} times it" if ours and name != OURS else ""
        yield Row("throughput", tree.title, name, rates, "pages/s", ratio, _remarks(name, tree, runs))


def _remarks(name: str, tree: DocumentTree, runs: Sequence[Run]) -> str:
    last = runs[-1]
    memory = sorted(runs, key=lambda run: run.cost.peak)[len(runs) // 2].cost.memory
    remarks = [CRAWLERS[name].remarks, f"{median(run.requests for run in runs):,.0f} requests", f"{memory} peak"]
    if last.cost.stopped:
        remarks.append(f"stopped after {last.cost.seconds:.0f} s with {len(last.pages):,} pages")
    else:
        for count, word in ((len(tree.paths - last.pages), "missing"), (len(last.pages - tree.paths), "more")):
            if count:
                remarks.append(f"{count:,} pages {word}")
    return "; ".join(remarks)
