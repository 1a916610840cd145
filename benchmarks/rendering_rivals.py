"""Other programs that read a site with a browser: Crawlee's adaptive crawler, and a loop over pages by Playwright."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from machine import HERE, Cost, RunError, print_progress, run_process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plan import Plan

    from tests.sites.rendered.truth import Site
    from tests.support.rendered_site import RenderedSite

CRAWLEE = "Crawlee's adaptive crawler"
PLAYWRIGHT = "Playwright"
PACKAGES = ("crawlee@3.18.1", "playwright@1.65.1")
MAX_PAGES = 4
"""Number of pages that are rendered at a time where there are as many processors."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a program has read of a site."""

    cost: Cost
    precision: float
    recall: float
    remarks: str


class Rivals:
    """The programs, installed from npm."""

    def __init__(self, modules: Path, browser: str, plan: Plan) -> None:
        self._modules = modules
        self._browser = browser
        self._plan = plan

    def crawlee(self, site: Site, server: RenderedSite) -> Reading:
        """Take each page that was read as listed: Crawlee decides about none."""
        cost, found = self._run("crawlee_rendering.cjs", [server.url(site.start)], server)
        return _judged(site, server, cost, found["urls"], f"{found['rendered']} of them rendered")

    def playwright(self, site: Site, server: RenderedSite) -> Reading:
        """Read the pages that are to be listed, and wait for a quiet network on each. Nothing finds or decides."""
        urls = [server.url(path) for path in _to_list(site)]
        cost, found = self._run("playwright_rendering.cjs", urls, server)
        return _judged(site, server, cost, found["urls"], "all of them given")

    def _run(self, script: str, urls: Iterable[str], server: RenderedSite) -> tuple[Cost, dict[str, list[str]]]:
        server.clear_log()
        with tempfile.TemporaryDirectory(prefix="benchmark-rendering-") as temporary:
            directory = Path(temporary)
            result = directory / "result.json"
            arguments = [self._browser, str(min(MAX_PAGES, os.cpu_count() or 1)), str(result), *urls]
            command = ["env", f"NODE_PATH={self._modules}", "node", str(HERE / script), *arguments]
            cost = run_process(command, directory, limit=self._plan.limit_seconds)
            if cost.stopped:
                raise RunError(f"stopped after {self._plan.limit_seconds:.0f} s")
            return cost, json.loads(result.read_text(encoding="utf-8"))


@contextmanager
def installed(plan: Plan, browser: str) -> Iterator[Rivals | None]:
    """Install the programs into a temporary directory; yield None where that cannot be done."""
    if shutil.which("npm") is None or not (plan.wants("Crawlee") or plan.wants(PLAYWRIGHT)):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="benchmark-npm-") as temporary:
        command = ["npm", "install", "--prefix", temporary, "--no-audit", "--no-fund", *PACKAGES]
        variables = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
        done = subprocess.run(command, cwd=temporary, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            print_progress(f"Crawlee and Playwright cannot be installed:\n{done.stderr[-1_000:]}")
        yield None if done.returncode else Rivals(Path(temporary, "node_modules"), browser, plan)


def _judged(site: Site, server: RenderedSite, cost: Cost, urls: Iterable[str], how: str) -> Reading:
    base = server.url("")
    read, should = {url.removeprefix(base) for url in urls}, _to_list(site)
    right = len(read & should)
    return Reading(cost, right / len(read) if read else 1.0, right / len(should), f"{len(read)} pages read, {how}")


def _to_list(site: Site) -> set[str]:
    return {url for url, fate in site.truth.items() if fate.reason == "listed"}
