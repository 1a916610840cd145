"""The state of a run that all its processes share: budget, hosts, traps, robots.txt, and the pause of the site.

`Admission` decides which discovered URLs the queue takes.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.inventory.robots import store_robots
from sitemap_crawler.inventory.runs import store_pause
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from sitemap_crawler.policy.robots_txt import RobotsTxt
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.traps.detector import TrapDetector

logger = logging.getLogger(__name__)

MAX_HOSTS = 1_000
"""Maximum number of hosts of one registrable domain that a run crawls."""
MAX_PAUSE = timedelta(days=1)
"""Longest pause that is stored for a Retry-After. A longer one is a mistake of the server."""


class RobotsResult(NamedTuple):
    """The result of the request of a robots.txt."""

    body: bytes | None = None
    """None if the origin has none, or if it is not available."""
    reason: str | None = None
    """Why it is not available."""
    refused: str | None = None
    """Why it was not requested, if its host must not be asked."""
    age_seconds: float = 0.0
    """Time since the request, by this process or another one."""
    error: BaseException | None = None
    """The cause in this process."""


class RunState:
    """State of a run that does not belong to one process. `context` holds its options, rules and inventory.

    In this class one process crawls, and there is nobody to tell. `SharedRun` tells the other processes.
    """

    def __init__(self, context: RunContext, *, traps: TrapDetector, fetched: int) -> None:
        """`fetched` is the number of URLs that earlier processes have fetched in the run."""
        self.context = context
        self.traps = traps
        self.fetched = fetched
        self.robots: dict[str, RobotsTxt] = {}
        """The robots.txt of each origin that has one."""
        self.is_exhausted: Callable[[], bool] | None = None
        """With several processes, returns whether all of them together have requested `max_pages` URLs."""

    @property
    def budget(self) -> int | None:
        """Number of URLs that may still be fetched in the run. None without a limit."""
        limit = self.context.options.max_pages
        if limit is not None and self.is_exhausted is not None:
            return 0 if self.is_exhausted() else limit
        return None if limit is None else max(0, limit - self.fetched)

    @property
    def is_limited(self) -> bool:
        """Whether a limit may have kept pages from being fetched, so that a missing page proves nothing."""
        return self.budget == 0 or self.context.options.max_depth is not None

    def refuse(self, message: str, *, ends_run: bool) -> None:
        """Have all processes end the run, which was refused."""

    def interrupt(self, message: str) -> None:
        """Have all processes end, as the run was interrupted."""

    async def read_robots(self, origin: str, request: Callable[[], Awaitable[RobotsResult]]) -> RobotsResult:
        """Return the robots.txt of an origin, which `request` requests."""
        return await request()

    def store_robots(self, origin: str, *, agent: str, body: bytes | None) -> None:
        """Store the robots.txt of an origin. `body` is None if the origin has none."""
        context = self.context
        try:
            store_robots(context.store.connection, context.run.id, origin, agent=agent, body=body)
        except SQLAlchemyError as error:
            # The next batch that is written meets the same failure, and ends the crawl.
            logger.warning("cannot store the robots.txt of %s: %s", origin, error)

    def store_pause(self, until: datetime) -> None:
        """Store the time before which the site must not be requested, at most MAX_PAUSE ahead."""
        until = min(until, datetime.now(UTC) + MAX_PAUSE)
        try:
            store_pause(self.context.store.connection, until.timestamp())
        except SQLAlchemyError as error:
            logger.warning("cannot store the time until which the site must not be requested: %s", error)


class Admission:
    """Test whether the queue takes a URL: by the rules of the run, and by the maximum number of hosts."""

    def __init__(self, context: RunContext, *, hosts: Iterable[str] = ()) -> None:
        """`hosts` are the hosts that the run has admitted before."""
        self._context = context
        self._hosts = set(hosts)
        self._has_warned = False

    def admits(self, url: str, depth: int) -> bool:
        return self._context.rules.fetch_refusal(url, depth) is None and self._admits_host(url)

    def follows(self, url: str) -> bool:
        """Return whether the URL is within the scope, so that a link to it counts as one of the site."""
        return self._context.rules.scope.admits(url)

    def _admits_host(self, url: str) -> bool:
        """Return whether the number of hosts allows the URL: a wildcard DNS record gives a domain endless hosts."""
        if not self._context.options.subdomains:
            return True
        host = host_of(url)
        if host not in self._hosts and len(self._hosts) == MAX_HOSTS:
            if not self._has_warned:
                self._has_warned = True
                message = f"more than {MAX_HOSTS:,} hosts: this one and those met after it are not crawled"
                self._context.warn(WarningKind.TOO_MANY_HOSTS, url, message)
            return False
        self._hosts.add(host)
        return True
