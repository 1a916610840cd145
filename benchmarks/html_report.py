"""Cost of the HTML report of a large site: processor time, memory, size of the file, and what a browser makes of it."""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import made_inventory
from crawlers import OURS
from machine import RunError, print_progress, run_process
from table import Row

from sitemap_crawler.inventory.sql import encode_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan import Plan

LINKS = 29
"""Links of each page."""
REASONS = ("noindex", "redirect", "client-error", "canonical-elsewhere", "blocked-by-robots", "kept-after-error")
"""Reasons of every eighth page, in turn."""
BATCH = 5_000
FILTER = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    const started = performance.now();
    const field = document.getElementById("q");
    field.value = "7";
    field.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    return performance.now() - started;
}"""


def measure(plan: Plan) -> Iterator[Row]:
    """Measure each size once: the inventory takes longer to make than the report."""
    for pages in plan.report_pages:
        subject = f"a made inventory, {pages:,} URLs, {LINKS * pages:,} links"
        print_progress(subject)
        with tempfile.TemporaryDirectory(prefix="benchmark-report-") as temporary:
            directory = Path(temporary)
            make(directory / "a.sqlite", pages)
            yield from _rows(directory, subject)


def _rows(directory: Path, subject: str) -> Iterator[Row]:
    page = directory / "report.html"
    command = [sys.executable, "-m", "sitemap_crawler", "report", "--state", str(directory / "a.sqlite")]
    cost = run_process([*command, "-o", str(page)], directory)
    yield Row("report", subject, OURS, [cost.cpu_seconds], "s", "", "processor time")
    yield Row("report", subject, OURS, [cost.peak_bytes / 1e6], "MB", "", "peak memory")
    yield Row("report", subject, OURS, [page.stat().st_size / 1e6], "MB", "", "size of the file")
    try:
        load, filtering, elements = _in_browser(page)
    except RunError as error:
        print_progress(str(error))
        return
    yield Row(
        "report", subject, "Chromium", [load], "ms", "", f"from the start to the usable page, {elements} elements"
    )
    yield Row("report", subject, "Chromium", [filtering], "ms", "", "from a letter in the search field to its rows")


def _in_browser(page: Path) -> tuple[float, float, int]:
    """Return the milliseconds to load the page and to filter the table, and its number of elements."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise RunError("Playwright is not installed: nothing is measured in a browser") from error
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(page.as_uri(), wait_until="load")
        load = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        filtering = tab.evaluate(FILTER)
        elements = tab.evaluate("document.querySelectorAll('*').length")
        browser.close()
    return load, filtering, elements


def make(path: Path, pages: int) -> None:
    """Make an inventory that is decided and published."""
    made_inventory.make(path, pages, images=0)
    dice = random.Random(1)
    with closing(sqlite3.connect(path)) as connection:
        for first in range(1, pages + 1, BATCH):
            batch = range(first, min(first + BATCH, pages + 1))
            connection.executemany("UPDATE observations SET links = ?, elapsed = ? WHERE url_id = ?", (
                (encode_links(dice.randrange(1, pages + 1) for _ in range(LINKS)), 1 + number % 900, number)
                for number in batch
            ))  # fmt: skip
            connection.executemany("UPDATE urls SET inlinks = ? WHERE id = ?", (
                (number % 60, number) for number in batch
            ))  # fmt: skip
            connection.executemany(
                "INSERT INTO decisions (url_id, decision, reason, evidence, lastmod, lastmod_source, since) "
                "VALUES (?, ?, ?, ?, ?, ?, 1)",
                map(_decision, batch),
            )
        connection.execute("INSERT INTO listings (url_id) SELECT url_id FROM decisions WHERE decision = 'listed'")
        connection.execute(
            "INSERT INTO changes (publication, url_id, run, kind) SELECT 1, url_id, 1, 'added' FROM listings"
        )
        connection.commit()


def _decision(number: int) -> tuple[int, str, str, str | None, float | None, str | None]:
    if number % 8 or number == 1:
        return number, "listed", "listed", None, made_inventory.STARTED - 60.0 * number, "last-modified"
    reason = REASONS[number // 8 % len(REASONS)]
    decision = "listed" if reason == "kept-after-error" else "excluded"
    return number, decision, reason, f"evidence number {number % 50}", None, None


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]))
