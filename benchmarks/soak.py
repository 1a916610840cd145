"""A long crawl of a made site with faults: memory and rate at its start and at its end."""

from __future__ import annotations

import json
import tempfile
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers import CRAWLERS, OURS, Crawl
from endless import page_number
from faulty import is_failing, is_hostile
from machine import RunError, print_progress, run_process
from memory import COMPARED_SHARE, rates
from process_memory import mean_memory
from serving import serving_faulty
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from machine import Cost
    from plan import Plan
    from serving import Served


def measure(plan: Plan) -> Iterator[Row]:
    """Measure each size once. Raises RunError if a sound page is not listed."""
    for pages in plan.soak_pages:
        subject = f"a made site, {pages:,} pages, one in 100 fails, one in 1,000 is hostile"
        print_progress(f"{subject}, {OURS}")
        with serving_faulty(pages) as served, tempfile.TemporaryDirectory(prefix="benchmark-soak-") as temporary:
            directory = Path(temporary)
            command = CRAWLERS[OURS].command(Crawl(served.url, plan.concurrency, directory))
            cost = run_process(command, directory)
            report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
            inventory_bytes = (directory / "state.sqlite").stat().st_size
        listed = report["listed"]
        _check_listed(listed, pages)
        times = _first_answers(served, pages)
        memory = _memory(cost, times)
        rate = rates(times)
        remarks = f"{cost.seconds:,.0f} s, {listed:,} listed, inventory {inventory_bytes / pages:,.0f} bytes a page"
        yield Row(
            "soak", subject, "memory", [memory[1] / 1e6], "MB", *_compared(memory[0] / 1e6, memory[1] / 1e6, "MB")
        )
        yield Row("soak", subject, "rate", [rate[1]], "pages/s", *_compared(*rate, "pages/s"))
        yield Row("soak", subject, "peak", [cost.peak_bytes / 1e6], "MB", "", remarks)


def _check_listed(listed: int, pages: int) -> None:
    """Raise RunError unless all sound pages are listed. A hostile page may be listed."""
    failing, hostile = (sum(test(number, pages) for number in range(pages)) for test in (is_failing, is_hostile))
    if not pages - failing - hostile <= listed <= pages - failing:
        raise RunError(f"{listed:,} pages are listed, {pages - failing - hostile:,} are sound")


def _first_answers(served: Served, pages: int) -> array[float]:
    """Return the time of the first answer of each page: retries come at the end of a run, after a wait."""
    seen = bytearray(pages)
    times = array("d")
    for hit in served.hits():
        number = page_number(hit.path)
        if number is not None and number < pages and not seen[number]:
            seen[number] = 1
            times.append(hit.answered)
    return times


def _memory(cost: Cost, times: array[float]) -> tuple[float, float]:
    """Return the mean memory of all processes in bytes, in the first and in the last tenth of the pages."""
    if not cost.samples:
        raise RunError("no memory was measured: choose more pages, and a system with /proc")
    share = max(1, int(len(times) * COMPARED_SHARE))
    return mean_memory(cost.samples, times[:share]), mean_memory(cost.samples, times[-share:])


def _compared(start: float, end: float, unit: str) -> tuple[str, str]:
    ratio = f"{end / start:.2f} times that of the first tenth"
    return ratio, f"in the last tenth of the pages; {start:,.0f} {unit} in the first"
