"""Crawls of sites that need a browser, each compared with the truth about its URLs and with other programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlers import OURS
from machine import HERE, RunError, environment, in_turn, median_ratio, print_progress, run_process
from process_memory import mean_memory
from rendering_rivals import CRAWLEE, PLAYWRIGHT, Reading, installed
from table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plan import Plan

    from tests.sites.rendered.truth import Site
    from tests.support.rendered_site import RenderedSite
    from tests.support.webserver import Page

OURS_PLAIN = f"{OURS} --render never"
LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
ALL_RENDERED = "shop"
"""The site whose pages are read by a loop over them, too: each of them needs the browser."""
NEAR_PAGES = 10
"""Number of pages before and after a page over which the memory at this page is taken."""


def measure(plan: Plan) -> Iterator[Row]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise RunError(f"none of {', '.join(BROWSERS)} is installed")
    # The sites belong to the tests of the checkout.
    sys.path.append(str(HERE.parent))
    from tests.support.rendered_crawl import serving

    with installed(plan, browser) as rivals:
        for name in plan.rendered_sites:
            site = _sites()[name]()
            print_progress(site.name)
            with serving(site) as server:
                contestants: dict[str, Callable[[], Reading]] = {OURS: partial(_ours, site, server, browser, plan)}
                if site.rendered_at_most < 1:
                    contestants[OURS_PLAIN] = partial(_ours, site, server, browser, plan, render="never")
                if rivals is not None and plan.wants("Crawlee"):
                    contestants[CRAWLEE] = partial(rivals.crawlee, site, server)
                if rivals is not None and plan.wants(PLAYWRIGHT) and name == ALL_RENDERED:
                    contestants[f"{PLAYWRIGHT}, networkidle"] = partial(rivals.playwright, site, server)
                measured = in_turn(contestants, plan.runs)
            yield from _rows(site, measured)
    yield from _memory(browser, plan)


def _sites() -> dict[str, Callable[[], Site]]:
    from tests.sites.rendered.frameworks import hash_mode, panels, script_menu, static_export
    from tests.sites.rendered.mixed import mixed
    from tests.sites.rendered.odd_pages import odd_pages
    from tests.sites.rendered.shop import shop

    return {one.__name__: one for one in (shop, hash_mode, panels, static_export, script_menu, odd_pages, mixed)}


def _rows(site: Site, measured: dict[str, list[Reading]]) -> Iterator[Row]:
    listed = sum(fate.reason == "listed" for fate in site.truth.values())
    subject = f"{site.name}, {listed} pages to list"
    ours = [reading.cost.seconds for reading in measured.get(OURS, [])]
    for name, readings in measured.items():
        seconds = [reading.cost.seconds for reading in readings]
        worst = min(readings, key=lambda reading: (reading.recall, reading.precision))
        ratio = f"ours takes {median_ratio(ours, seconds):.2f} times as long" if name != OURS and ours else ""
        remarks = (
            f"precision {worst.precision:.2f}, recall {worst.recall:.2f}; {worst.remarks}; {worst.cost.memory} peak"
        )
        yield Row("rendering", subject, name, seconds, "s", ratio, remarks)


def _memory(browser: str, plan: Plan) -> Iterator[Row]:
    """Compare the memory of the crawl and its browser at an early page with that at a late one."""
    from tests.sites.rendered.truth import LISTED, Site
    from tests.support.rendered_crawl import serving
    from tests.support.rendered_site import conditional, data, script
    from tests.support.webserver import page

    early, late = plan.rendered_pages
    number = late + NEAR_PAGES + 1
    paths = [f"/p/{place}" for place in range(number)]
    shell = conditional(page(body='<div id="app"></div><script src="/app.js"></script>'))
    pages: dict[str, Page] = {
        "/": page(*paths, title="All pages"),
        "/app.js": script(APP),
        **dict.fromkeys(paths, shell),
    }
    pages |= {f"/data{path}": data({"title": f"Page {path}", "text": f"All about {path}. " * 200}) for path in paths}
    site = Site(f"{number} pages of one template", pages, dict.fromkeys(["/", *paths], LISTED))
    print_progress(site.name)
    at: dict[int, list[float]] = {early: [], late: []}
    with serving(site) as server:
        for _ in range(plan.runs):
            reading = _ours(site, server, browser, plan)
            # The server's clock is another one than that of the samples.
            shift = time.time() - time.monotonic()
            asked = [request.time + shift for request in server.requests if request.path.startswith("/data/")]
            for place, sizes in at.items():
                near = sorted(asked)[max(0, place - NEAR_PAGES) : place + NEAR_PAGES]
                sizes.append(mean_memory(reading.cost.samples, near) / 1e6)
    for place, sizes in at.items():
        ratio = f"{median_ratio(sizes, at[early]):.2f} times page {early}" if place != early else ""
        yield Row("rendering", f"memory at page {place} of {number}", OURS, sizes, "MB", ratio, "with the browser")


APP = """
fetch('/data' + location.pathname).then((answer) => answer.json()).then(({ title, text }) => {
    document.title = title;
    document.getElementById('app').innerHTML = `<main><h1>${title}</h1><p>${text}</p></main>`;
});
"""
"""The script of a page whose text comes as JSON."""


def _ours(site: Site, server: RenderedSite, browser: str, plan: Plan, *, render: str = "auto") -> Reading:
    from lxml import etree

    from tests.support.rendered_crawl import Outcome

    server.clear_log()
    with tempfile.TemporaryDirectory(prefix="benchmark-rendering-") as temporary:
        directory = Path(temporary)
        program = [sys.executable, "-m", "sitemap_crawler"]
        state = ["--state", str(directory / "state.sqlite")]
        files = ["-o", str(directory), "--report", str(directory / "report.json"), "-q"]
        # In a container, where benchmarks may run as root, Chromium refuses its sandbox.
        sandbox = ["--browser-no-sandbox"] if os.geteuid() == 0 else []
        options = ["--render", render, "--browser", browser, *sandbox, *site.options]
        command = [*program, "crawl", server.url(site.start), *state, *files, *options]
        cost = run_process(command, directory, limit=plan.limit_seconds)
        rows = subprocess.run(
            [*program, "pages", *state, "--format", "jsonl"],
            cwd=directory,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        listed = [element.text or "" for element in etree.parse(directory / "sitemap.xml").iter(LOC)]
        report: dict[str, Any] = json.loads((directory / "report.json").read_text(encoding="utf-8"))
    outcome = Outcome.read(site, server, rows=rows, listed=listed, report=report)
    wrong = len(outcome.mistakes())
    truth = f"{wrong} differences from the truth" if wrong else "all reasons and dates as in the truth"
    rendered = outcome.rendered if render != "never" else 0
    counts = f"{rendered} rendered, {outcome.subrequests} subrequests"
    return Reading(cost, outcome.precision, outcome.recall, f"{truth}; {counts}")
