"""The cost of a second run on an unchanged site, compared with the first run."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlers import OURS, Crawl, ours
from machine import RunError, median_ratio, print_progress, run_process
from serving import serving
from sites import document_tree
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan import Plan
    from serving import Served

Pair = list[tuple[float, dict[str, Any]]]


def measure(plan: Plan) -> Iterator[Row]:
    for site in plan.sites:
        with document_tree(site, pages=plan.site_pages) as tree, serving(tree.root) as served:
            print_progress(tree.title)
            pairs = [_two_runs(served, plan) for _ in range(plan.runs)]
        seconds = [[pair[number][0] for pair in pairs] for number in (0, 1)]
        for number, name in enumerate(("first run", "second run")):
            report = pairs[-1][number][1]
            remarks = "{requests:,} requests, {not_modified:,} of them answered with 304, {bytes:,} bytes".format(
                **report
            )
            ratio = f"{median_ratio(seconds[1], seconds[0]):.2f} of the first" if number else ""
            yield Row("recrawl", tree.title, f"{OURS}, {name}", seconds[number], "s", ratio, remarks)


def _two_runs(served: Served, plan: Plan) -> Pair:
    """Crawl twice with one inventory and return the seconds and the report of each run."""
    with tempfile.TemporaryDirectory(prefix="benchmark-recrawl-") as temporary:
        directory = Path(temporary)
        pair: Pair = []
        written = []
        for _ in range(2):
            cost = run_process(ours(Crawl(served.url, plan.concurrency, directory)), directory)
            pair.append((cost.seconds, json.loads((directory / "report.json").read_text(encoding="utf-8"))))
            written.append({file.name: file.read_bytes() for file in (directory / "sitemaps").iterdir()})
        if written[0] != written[1]:
            raise RunError("the second run has written different files")
    return pair
