"""Crawls of sites that need a browser: what became of each URL, what was asked for, and where the truth differs."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from tests.sites.rendered.truth import Fate
from tests.support.rendered_site import WASTE, RenderedSite

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from tests.sites.rendered.truth import Site
    from tests.support.program import Program
    from tests.support.rendered_site import Asked

BROWSERS = ("chromium-headless-shell", "chromium")
"""Debian's two builds, the faster one first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one crawl left behind. URLs of the site are paths."""

    site: Site
    fates: dict[str, Fate]
    listed: frozenset[str]
    requests: Counter[Asked]
    report: dict[str, Any]

    @classmethod
    def read(
        cls, site: Site, server: RenderedSite, *, rows: str, listed: Iterable[str], report: dict[str, Any]
    ) -> Self:
        """Return the outcome of a crawl. `rows` is what `pages --format jsonl` prints."""
        base = server.url("")
        found = map(json.loads, rows.splitlines())
        fates = {row["url"].removeprefix(base): Fate(row["reason"], row["lastmod"]) for row in found}
        return cls(site, fates, frozenset(url.removeprefix(base) for url in listed), server.counts(), report)

    @property
    def rendered(self) -> int:
        """Number of renderings."""
        return int(self.report["rendering"]["rendered"])

    @property
    def subrequests(self) -> int:
        """Number of requests for what pages need, neither pages nor robots.txt."""
        pages = {*self.site.truth, "/robots.txt"}
        return sum(times for asked, times in self.requests.items() if asked.method != "GET" or asked.path not in pages)

    def mistakes(self) -> list[str]:
        """Return every difference from the truth, in words."""
        truth = self.site.truth
        found = [f"{url}: no row" for url in truth.keys() - self.fates.keys()]
        found += [
            f"{url}: {self.fates[url].reason}, but nothing leads there" for url in self.fates.keys() - truth.keys()
        ]
        for url in truth.keys() & self.fates.keys():
            had, wanted = self.fates[url], truth[url]
            if had.reason != wanted.reason:
                found.append(f"{url}: {had.reason} instead of {wanted.reason}")
            elif _moment(had.lastmod) != _moment(wanted.lastmod):
                found.append(f"{url}: lastmod {had.lastmod} instead of {wanted.lastmod}")
        should = {url for url, fate in truth.items() if fate.reason == "listed"}
        found += [f"{url}: not in the file" for url in should - self.listed]
        found += [f"{url}: in the file" for url in self.listed - should]
        return sorted(found)

    def rudeness(self) -> list[str]:
        """Return every request that should not have been made, in words."""
        found = []
        for asked, times in self.requests.items():
            name, path = " ".join(asked), asked.bare_path
            if any(path.startswith(one) if one.endswith("/") else path == one for one in self.site.never):
                found.append(f"{name}: forbidden")
            if path.endswith(WASTE):
                found.append(f"{name}: no page needs it")
            if asked.method not in ("GET", "HEAD"):
                found.append(f"{name}: it may change something")
            if times > 1 and path not in self.site.repeated:
                found.append(f"{name}: {times} times")
        return sorted(found)

    @property
    def precision(self) -> float:
        return len(self.listed & self._should()) / len(self.listed) if self.listed else 1.0

    @property
    def recall(self) -> float:
        return len(self.listed & self._should()) / len(self._should())

    def _should(self) -> set[str]:
        return {url for url, fate in self.site.truth.items() if fate.reason == "listed"}


def _moment(text: str | None) -> datetime | None:
    """Return a date as a moment: midnight if it has no time."""
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@contextmanager
def serving(site: Site) -> Iterator[RenderedSite]:
    with RenderedSite(site.pages, fallback=site.fallback) as server:
        yield server


def arguments(site: Site, *options: str, browser: str | None = None, mode: str = "auto") -> list[str]:
    """Return the options of a crawl that renders. The tests may run as root, whom Chromium refuses its sandbox."""
    chosen = ["--browser", f"/usr/bin/{browser}"] if browser else []
    return ["--render", mode, "--browser-no-sandbox", *chosen, "--state", "state.db", *site.options, *options]


def render(
    program: Program, site: Site, server: RenderedSite, *options: str, browser: str | None = None, mode: str = "auto"
) -> Outcome:
    """Crawl a site that is being served."""
    server.clear_log()
    given = arguments(site, *options, browser=browser, mode=mode)
    result = program.crawl(server.url(site.start), *given)
    assert result.code == 0, result.err
    done = program.run("pages", "--state", "state.db", "--format", "jsonl")
    assert done.code == 0, done.err
    return Outcome.read(site, server, rows=done.out, listed=result.listed(), report=result.report)
