"""Peak memory and speed by the size of the site, and the size of the inventory."""

from __future__ import annotations

import json
import tempfile
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers import CRAWLERS, OURS, STOCK, Crawl
from machine import RunError, print_progress, run_process
from serving import serving_endless
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from machine import Cost
    from plan import Plan
    from serving import Served

COMPARED_SHARE = 0.1
"""Share of the pages at the start and at the end whose rates are compared."""
IGNORED_SHARE = 0.02
"""Share of the pages that is left out before and after: start-up, and the last answers."""


@dataclass(frozen=True, slots=True)
class Run:
    cost: Cost
    times: array[float]
    inventory_bytes: int
    """Size of the file; 0 without an inventory."""
    listed: int


def measure(plan: Plan) -> Iterator[Row]:
    """Measure each size once: the peak differs little from run to run."""
    for name in (OURS, STOCK):
        smallest = 0.0
        for pages in plan.memory_pages if plan.wants(name) else ():
            subject = f"a made site, {pages:,} pages"
            print_progress(f"{subject}, {name}")
            try:
                with serving_endless(pages) as served:
                    run = _crawl(name, served, plan)
            except RunError as error:
                print_progress(str(error))
                continue
            ratio = f"{run.cost.peak_bytes / smallest:.2f} times the first size" if smallest else ""
            smallest = smallest or run.cost.peak_bytes
            yield Row("memory", subject, name, [run.cost.peak_bytes / 1e6], "MB", ratio, _remarks(run, pages))


def _crawl(name: str, served: Served, plan: Plan) -> Run:
    with tempfile.TemporaryDirectory(prefix="benchmark-memory-") as temporary:
        directory = Path(temporary)
        command = CRAWLERS[name].command(Crawl(served.url, plan.concurrency, directory))
        cost = run_process(command, directory)
        times = array("d", (hit.answered for hit in served.hits() if hit.is_page))
        if name != OURS:
            return Run(cost, times, 0, 0)
        report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
        return Run(cost, times, (directory / "state.sqlite").stat().st_size, report["listed"])


def _remarks(run: Run, pages: int) -> str:
    start, end = rates(run.times)
    outside = run.cost.seconds - (run.times[-1] - run.times[0])
    remarks = [f"{run.cost.seconds:,.0f} s, {outside:,.0f} of them before the first and after the last answer"]
    remarks.append(f"{start:,.0f} pages/s at the start, {end:,.0f} at the end")
    if len(run.times) != pages:
        remarks.append(f"{len(run.times):,} answers")
    if run.inventory_bytes:
        remarks.append(f"{run.listed:,} listed, inventory {run.inventory_bytes / pages:,.0f} bytes a page")
    return "; ".join(remarks)


def rates(times: array[float]) -> tuple[float, float]:
    """Return the answers per second at the start and at the end, without start-up and the last answers."""
    edge, share = int(len(times) * IGNORED_SHARE), max(1, int(len(times) * COMPARED_SHARE))
    start, end = times[edge : edge + share + 1], times[-edge - share - 1 : len(times) - edge]
    return (len(start) - 1) / (start[-1] - start[0]), (len(end) - 1) / (end[-1] - end[0])
