"""The sitemaps that a run reads for the URLs that they name: those still to be read, and what was wrong with others.

They are kept here and not in memory, so that a run that was stopped reads none twice and reports all that it met.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, exists, insert, or_, select

from sitemap_crawler.inventory.schema import seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

MAX_FILES = 10_000
"""Sitemaps of one run: with 50,000 URLs each far more than a crawl can hold."""

# What `named_by` says where it is no sitemap: of the robots.txt whose Sitemap lines have been taken over, and of the
# addresses that redirects led to.
START = "start"
REDIRECT = "redirect"


class Seed(NamedTuple):
    url: str
    named_by: str
    level: int
    """0, or that of the index that names it plus 1."""
    done: bool = False
    problems: tuple[str, ...] = ()
    """What is wrong with it, each in one line."""
    passing: bool = False
    """Whether it could not be had for a reason that may pass, so that what it names is not known."""


class SeedQueue:
    """Every sitemap of a run, once. What is added is written with what has named it, or not at all."""

    def __init__(self, connection: Connection, run: int, ours: Iterable[str]) -> None:
        """`ours`: sitemaps that are never read, as we published them."""
        self._connection = connection
        self._run = run
        query = select(seeds).where(seeds.c.run == run).order_by(seeds.c.level, seeds.c.url)
        with connection.begin():
            rows = connection.execute(query).all()
        self.waiting = deque(Seed(row.url, row.named_by, row.level) for row in rows if not row.done)
        self._known = {row.url for row in rows} | set(ours)
        self._files = sum(row.named_by not in (START, REDIRECT) for row in rows)
        self._added: list[Seed] = []

    def knows(self, url: str) -> bool:
        return url in self._known

    def add(self, seed: Seed) -> None:
        """Note a sitemap to be read, or, when it is done, one that has been; nothing when it is known."""
        if seed.url in self._known:
            return
        if not seed.done:
            if self._files > MAX_FILES:
                return
            self._files += 1
            if self._files > MAX_FILES:
                problem = f"is not read, nor are others: a run reads {MAX_FILES:,} sitemaps"
                seed = seed._replace(done=True, problems=(problem,))
        self._known.add(seed.url)
        self._added.append(seed)

    def write(self, *settled: Seed) -> None:
        """In one transaction what is settled and what was added; the seeds of earlier runs go."""
        # A robots.txt can name itself: what is settled counts.
        written = {seed.url: seed for seed in (*self._added, *settled)}
        if not written:
            return
        with self._connection.begin():
            self._connection.execute(delete(seeds).where(seeds.c.run < self._run))
            for seed in settled:
                self._connection.execute(delete(seeds).where(seeds.c.run == self._run, seeds.c.url == seed.url))
            self._connection.execute(insert(seeds), [self._row(seed) for seed in written.values()])
        self._known.update(seed.url for seed in settled)
        self.waiting.extend(seed for seed in written.values() if not seed.done)
        self._added = []

    def _row(self, seed: Seed) -> dict[str, Any]:
        row = {"run": self._run, "url": seed.url, "named_by": seed.named_by, "level": seed.level}
        return {**row, "done": seed.done, "problem": "\n".join(seed.problems) or None, "passing": seed.passing}


def seed_problems(connection: Connection, run: int) -> Iterator[tuple[str, str]]:
    """URL and problem of the run's seeds, by URL; one seed can have several."""
    query = select(seeds.c.url, seeds.c.problem).where(seeds.c.run == run, seeds.c.problem.is_not(None))
    with connection.begin():
        rows = connection.execute(query.order_by(seeds.c.url)).all()
    for url, problem in rows:
        for line in problem.split("\n"):
            yield url, line


def seeds_complete(connection: Connection, run: int) -> bool:
    """Whether the run knows all that sitemaps name: none was left unread, none failed for a reason that may pass."""
    missing = exists().where(seeds.c.run == run, or_(seeds.c.passing, ~seeds.c.done))
    with connection.begin():
        return not connection.scalar(select(missing))
