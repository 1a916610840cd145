"""Pages per second when every answer takes 50 ms, compared with the maximum that the concurrency allows."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from crawlers import BARE, OURS, STOCK
from machine import in_turn, print_progress
from serving import serving_endless
from table import Row
from throughput import crawl_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan import Plan

LATENCY_SECONDS = 0.05


def measure(plan: Plan) -> Iterator[Row]:
    names = [name for name in (OURS, STOCK, BARE) if plan.wants(name)]
    for concurrency, pages in plan.latency_pages.items():
        limit = concurrency / LATENCY_SECONDS
        subject = f"{LATENCY_SECONDS * 1e3:.0f} ms an answer, {concurrency} at a time, {pages:,} pages"
        print_progress(subject)
        with serving_endless(pages, delay=LATENCY_SECONDS) as served:
            crawl = partial(crawl_once, served, concurrency, limit=plan.limit_seconds)
            contestants = {name: partial(crawl, name=name) for name in names}
            measured = in_turn(contestants, plan.runs)
        for name, runs in measured.items():
            rates = [run.process_rate for run in runs]
            ratio = f"{median(rates) / limit:.0%} of {limit:,.0f} pages/s"
            crawling = median(run.crawl_rate for run in runs) / limit
            remarks = f"{crawling:.0%} from first to last request"
            if (count := len(runs[-1].pages)) != pages:
                remarks += f"; {count:,} pages"
            yield Row("latency", subject, name, rates, "pages/s", ratio, remarks)
