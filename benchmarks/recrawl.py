"""What a second run on an unchanged site costs, beside the first."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlers import OURS, Crawl, ours
from machine import RunFailedError, middle_ratio, run_process, tell
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
            tell(tree.title)
            pairs = [_two_runs(served, plan) for _ in range(plan.runs)]
        seconds = [[pair[at][0] for pair in pairs] for at in (0, 1)]
        for at, name in enumerate(("first run", "second run")):
            report = pairs[-1][at][1]
            remarks = "{requests:,} requests, {not_modified:,} of them answered with 304, {bytes:,} bytes".format(
                **report
            )
            ratio = f"{middle_ratio(seconds[1], seconds[0]):.2f} of the first" if at else ""
            yield Row("recrawl", tree.title, f"{OURS}, {name}", seconds[at], "s", ratio, remarks)


def _two_runs(served: Served, plan: Plan) -> Pair:
    """Seconds and report of each."""
    with tempfile.TemporaryDirectory(prefix="benchmark-recrawl-") as temporary:
        directory = Path(temporary)
        pair: Pair = []
        written = []
        for _ in range(2):
            cost = run_process(ours(Crawl(served.url, plan.concurrency, directory)), directory)
            pair.append((cost.seconds, json.loads((directory / "report.json").read_text(encoding="utf-8"))))
            written.append({file.name: file.read_bytes() for file in (directory / "sitemaps").iterdir()})
        if written[0] != written[1]:
            raise RunFailedError("the second run has written other bytes")
    return pair
