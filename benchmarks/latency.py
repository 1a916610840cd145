"""Pages per second when every answer takes 50 ms, beside what the concurrency allows for."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from crawlers import BARE, OURS, STOCK
from machine import in_turn, tell
from serving import serving_endless
from table import Row
from throughput import crawl_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan import Plan

LATENCY = 0.05  # seconds


def measure(plan: Plan) -> Iterator[Row]:
    names = [name for name in (OURS, STOCK, BARE) if plan.wants(name)]
    for concurrency, pages in plan.latency_pages.items():
        limit = concurrency / LATENCY
        subject = f"{LATENCY * 1e3:.0f} ms an answer, {concurrency} at a time, {pages:,} pages"
        tell(subject)
        with serving_endless(pages, delay=LATENCY) as served:
            crawl = partial(crawl_once, served, concurrency, limit=plan.limit)
            contestants = {name: partial(crawl, name=name) for name in names}
            measured = in_turn(contestants, plan.runs)
        for name, runs in measured.items():
            rates = [run.rate for run in runs]
            ratio = f"{median(rates) / limit:.0%} of {limit:,.0f} pages/s"
            steady = median(len(run.pages) / run.span for run in runs) / limit
            remarks = f"{steady:.0%} without start and end"
            if (found := len(runs[-1].pages)) != pages:
                remarks += f"; {found:,} pages"
            yield Row("latency", subject, name, rates, "pages/s", ratio, remarks)
