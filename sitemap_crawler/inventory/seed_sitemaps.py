"""The sitemaps that a run reads for the URLs they name: a queue of those to read, and the problems of the others.

They are stored in the database. So a resumed run reads none twice, and its report has the problems of all of them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, exists, insert, or_, select

from sitemap_crawler.inventory.schema import meta, runs, seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

START = "start"
"""Value of `named_by` for the robots.txt whose Sitemap lines were read."""
REDIRECT = "redirect"
"""Value of `named_by` for the target of a redirect."""
WORDPRESS = "wordpress"
"""Value of `named_by` for the lists of WordPress. A site may close them, so nothing is missing without them."""

_SPENT = ("seeds_run", "seeds_bytes", "seeds_seconds")
"""Names in `meta` of the run, and of the bytes and seconds that it has spent."""

URLS = "--urls"
ACCESS_LOG = "--access-log"
"""Values of `named_by` for the lists and the logs of the owner, which are stored when they have been read."""
_NO_SITEMAPS = (START, WORDPRESS, URLS, ACCESS_LOG)


class Seed(NamedTuple):
    """A sitemap of the queue."""

    url: str
    named_by: str
    """URL of the index or the robots.txt that names the sitemap, the option, START or REDIRECT."""
    level: int
    """0, or one more than the level of the index that names the sitemap."""
    done: bool = False
    """Whether nothing is left to read."""
    problems: tuple[str, ...] = ()
    """One line for each problem."""
    transient: bool = False
    """Whether a transient error or a limit left the sitemap unread, so that its URLs are unknown."""


class Spent(NamedTuple):
    """Bytes and seconds that a run has spent on reading sitemaps, in all its processes."""

    bytes: int = 0
    seconds: float = 0.0

    def plus(self, *, size: int = 0, seconds: float = 0.0) -> Spent:
        return Spent(self.bytes + size, self.seconds + seconds)


class SeedQueue:
    """The sitemaps of one run, each once. Added ones are written together with the sitemap that names them."""

    def __init__(self, connection: Connection, run: int, published: Iterable[str], *, max_files: int = 10_000) -> None:
        """Load the queue of the run with this number. The URLs `published` are those of our files, never read.

        `max_files`: maximum number of sitemaps that the run reads.
        """
        self._connection = connection
        self._max_files = max_files
        self._run = run
        query = select(seeds).where(seeds.c.run == run).order_by(seeds.c.level, seeds.c.url)
        with connection.begin():
            rows = connection.execute(query).all()
        self.waiting = deque(Seed(row.url, row.named_by, row.level) for row in rows if not row.done)
        self.named = [row.url for row in rows if row.level == 0 and row.named_by not in _NO_SITEMAPS]
        """Sitemaps that robots.txt and the options name, and targets of their redirects, of an interrupted run."""
        self._known = {row.url for row in rows} | set(published)
        self._files = sum(row.named_by not in (START, REDIRECT, URLS, ACCESS_LOG) for row in rows)
        self._added: list[Seed] = []
        self.spent = load_spent(connection, run)
        """Written with the sitemaps."""

    def knows(self, url: str) -> bool:
        return url in self._known

    def add(self, seed: Seed) -> None:
        """Add a sitemap to read, or one that is done. A known sitemap is ignored."""
        if seed.url in self._known:
            return
        if not seed.done:
            if self._files > self._max_files:
                return
            self._files += 1
            if self._files > self._max_files:
                problem = f"is not read, and neither are further ones: a run reads at most {self._max_files:,} sitemaps"
                seed = seed._replace(done=True, problems=(problem,), transient=seed.named_by != WORDPRESS)
        self._known.add(seed.url)
        self._added.append(seed)

    def write(self, *settled: Seed) -> None:
        """Write these sitemaps and the added ones in one transaction, and delete those of earlier runs."""
        # A robots.txt can name itself; then the settled one counts.
        written = {seed.url: seed for seed in (*self._added, *settled)}
        if not written:
            return
        with self._connection.begin():
            self._connection.execute(delete(seeds).where(seeds.c.run < self._run))
            for seed in settled:
                self._connection.execute(delete(seeds).where(seeds.c.run == self._run, seeds.c.url == seed.url))
            self._connection.execute(insert(seeds), [self._row(seed) for seed in written.values()])
            store_spent(self._connection, self._run, self.spent)
        self._known.update(seed.url for seed in settled)
        self.waiting.extend(seed for seed in written.values() if not seed.done)
        self._added = []

    def give_up(self) -> None:
        """Mark all that wait as done and unread."""
        self.write(*(seed._replace(done=True, transient=seed.named_by != WORDPRESS) for seed in self.waiting))
        self.waiting.clear()

    def _row(self, seed: Seed) -> dict[str, Any]:
        row = {"run": self._run, "url": seed.url, "named_by": seed.named_by, "level": seed.level}
        return {**row, "done": seed.done, "problem": "\n".join(seed.problems) or None, "passing": seed.transient}


def load_spent(connection: Connection, run: int) -> Spent:
    """Return the bytes and seconds that the run has spent."""
    query = select(meta.c.name, meta.c.value).where(meta.c.name.in_(_SPENT))
    with connection.begin():
        values = {row.name: float(row.value) for row in connection.execute(query)}
    stored_run, size, seconds = (values.get(name, 0.0) for name in _SPENT)
    return Spent(int(size), seconds) if stored_run == run else Spent()


def store_spent(connection: Connection, run: int, spent: Spent) -> None:
    """Store the bytes and seconds that the run has spent, within the caller's transaction."""
    connection.execute(delete(meta).where(meta.c.name.in_(_SPENT)))
    values = zip(_SPENT, (run, spent.bytes, spent.seconds), strict=True)
    connection.execute(insert(meta), [{"name": name, "value": repr(value)} for name, value in values])


def seed_problems(connection: Connection, run: int, *, of_lists: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the problems of the run's sitemaps, by URL. One sitemap can have several.

    With `of_lists` yield those of the lists and access logs of the owner, by their names.
    """
    query = select(seeds.c.url, seeds.c.problem).where(seeds.c.run == run, seeds.c.problem.is_not(None))
    is_list = seeds.c.named_by.in_((URLS, ACCESS_LOG))
    query = query.where(is_list if of_lists else ~is_list)
    with connection.begin():
        rows = connection.execute(query.order_by(seeds.c.url)).all()
    for url, problem in rows:
        for line in problem.split("\n"):
            yield url, line


def lists_read(connection: Connection) -> set[str]:
    """Return the names of the lists and logs that the unfinished run, if there is one, has read."""
    unfinished = select(runs.c.id).where(runs.c.finished.is_(None))
    query = select(seeds.c.url).where(seeds.c.run.in_(unfinished), seeds.c.named_by.in_((URLS, ACCESS_LOG)))
    with connection.begin():
        return set(connection.scalars(query))


def seeds_complete(connection: Connection, run: int) -> bool:
    """Return whether the run knows all URLs that sitemaps name: none is left unread or has a transient error."""
    missing = exists().where(seeds.c.run == run, or_(seeds.c.passing, ~seeds.c.done))
    with connection.begin():
        return not connection.scalar(select(missing))
