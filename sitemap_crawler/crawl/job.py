"""The job of one process: its part of the crawl of a run. Components get it with `job_of(crawler)`.

`Admission` decides which discovered URLs the queue takes.
"""

from __future__ import annotations

import logging
import math
import random
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.list_files import check_lists, is_url, spool_standard_input
from sitemap_crawler.crawl.run import begin_or_resume, plan_run, remaining_pause_seconds
from sitemap_crawler.crawl.throttle import HostThrottles
from sitemap_crawler.exceptions import (
    ForeignFilesError,
    InventoryError,
    OutputError,
    SitemapCrawlerError,
    UntrustedLinkError,
)
from sitemap_crawler.inventory.damage import damage_message
from sitemap_crawler.inventory.location import state_path
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.robots import store_robots
from sitemap_crawler.inventory.runs import fetched_in_run, move_run, store_pause
from sitemap_crawler.inventory.sql import admitted_hosts
from sitemap_crawler.inventory.store import PROGRAM_ERROR, inventory_failure, open_store
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.publish.context import Ending, RunContext
from sitemap_crawler.publish.owner import owner_problem
from sitemap_crawler.sitemap.names import entry_name
from sitemap_crawler.traps.detector import TrapDetector
from sitemap_crawler.urls.normalise import host_of, origin_of
from sitemap_crawler.urls.scope import registrable_domain
from sitemap_crawler.utils.addresses import Gate
from sitemap_crawler.utils.directories import open_directory
from sitemap_crawler.utils.replace import check_replaceable
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from scrapy.crawler import Crawler
    from sqlalchemy import Connection

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.policy.robots_txt import RobotsTxt
    from sitemap_crawler.policy.rules import Rules
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.utils.shortage import Shortage

logger = logging.getLogger(__name__)

MAX_HOSTS = 1_000
"""Maximum number of hosts of one registrable domain that a run crawls."""
MAX_PAUSE = timedelta(days=1)
"""Longest pause that is stored for a Retry-After. A longer one is a mistake of the server."""


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


class FailingPages(NamedTuple):
    """The URLs that are left when all others are fetched: each has failed, and is requested again after a while."""

    urls: int
    next_request: float
    """Time of the next request, on the clock of time.monotonic()."""

    def next_request_time(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=max(0.0, self.next_request - time.monotonic()))


class Job:
    """State of the crawl in this process: queue, throttles, counts and ending. `context` is the state of the run."""

    def __init__(
        self, context: RunContext, *, queue: Queue, traps: TrapDetector, throttles: HostThrottles, fetched: int
    ) -> None:
        """`fetched` is the number of URLs that earlier processes have fetched in the run."""
        self.context = context
        self.options: Options = context.options
        self.store: Store = context.store
        self.run = context.run
        self.queue = queue
        self.traps = traps
        self.throttles = throttles
        self.fetched = fetched
        self.done = fetched
        self.listable = 0
        """Number of pages of this process whose own directives allow their listing."""
        self.robots: dict[str, RobotsTxt] = {}
        """The robots.txt of each origin that has one."""
        self.gate = _gate_for(context)
        """The hosts that the crawl may ask."""
        self.ending = Ending()
        """Refusal, interruption or failure that ends the crawl, if one has occurred."""
        self.report: Report | None = None
        self.find_failing: Callable[[float], FailingPages | None] = lambda _now: None
        """Function of the scheduler that returns the pages for which the run only waits at a time."""

    @property
    def rules(self) -> Rules:
        return self.context.rules

    @property
    def start_url(self) -> str:
        return self.context.start_url

    @property
    def sitemap_url(self) -> str:
        return self.context.sitemap_url

    def warn(self, kind: WarningKind, url: str, message: str) -> None:
        self.context.warn(kind, url, message)

    @property
    def budget(self) -> int | None:
        """Number of URLs that may still be fetched in the run. None without a limit."""
        limit = self.options.max_pages
        return None if limit is None else max(0, limit - self.fetched)

    @property
    def is_limited(self) -> bool:
        """Whether a limit may have kept pages from being fetched, so that a missing page proves nothing."""
        return self.budget == 0 or self.options.max_depth is not None

    def adopt_start(self, url: str, *, notice: str) -> None:
        """Continue from `url`, to which the start page redirects. Its directory becomes the scope."""
        is_default = self.options.sitemap_url is None
        sitemap_url = self.options.default_entry_url(url) if is_default else self.sitemap_url
        self.context.relocate(start_url=url, sitemap_url=sitemap_url)
        self.gate.adopt(origin_of(url))
        try:
            move_run(self.store.connection, self.run.id, start_url=url, sitemap_url=sitemap_url)
            self.queue.add_start_page(url)
        except Exception as error:
            self.inventory_failed(error)
        logger.info(notice)

    def refuse(self, message: str, *, ends_run: bool) -> None:
        """End the crawl with exit code 3. With `ends_run` the run is closed; without it the same command resumes it."""
        if self.ending.interruption is None:
            self.ending = self.ending._replace(refusal=message, refusal_ends_run=ends_run)

    def interrupt(self, message: str) -> None:
        """End the crawl with exit code 4. The same command resumes the run."""
        self.ending = self.ending._replace(interruption=message)

    def pause_until(self, until: datetime, message: str) -> None:
        """Interrupt the run and store the time before which the site must not be requested, at most MAX_PAUSE ahead."""
        self.interrupt(message)
        until = min(until, datetime.now(UTC) + MAX_PAUSE)
        try:
            store_pause(self.store.connection, until.timestamp())
        except SQLAlchemyError as error:
            logger.warning("cannot store the time until which the site must not be requested: %s", error)

    def inventory_failed(self, error: Exception) -> None:
        """End the crawl with exit code 1 because the inventory could not be written.

        Any exception counts: the objects in memory do not know what has been rolled back, so nothing more can be
        written.
        """
        message = inventory_failure(self.store.path, error)
        if message.endswith(PROGRAM_ERROR):
            logger.error("cannot write to the inventory", exc_info=error)
        self.ending = self.ending._replace(failure=message)

    def lack(self, shortage: Shortage, place: str) -> None:
        """End the crawl with exit code 1 because this machine lacks something. The same command resumes the run."""
        message = f"{shortage.lack} ({place}): {shortage.remedy}"
        logger.info("%s", printable(message))
        self.ending = self.ending._replace(shortage=message)

    def store_robots(self, origin: str, *, agent: str, body: bytes | None) -> None:
        """Store the robots.txt of an origin. `body` is None if the origin has none."""
        try:
            store_robots(self.store.connection, self.run.id, origin, agent=agent, body=body)
        except SQLAlchemyError as error:
            # The next batch that is written meets the same failure, and ends the crawl.
            logger.warning("cannot store the robots.txt of %s: %s", origin, error)

    def close(self) -> None:
        self.store.close()


def open_job(options: Options, *, readers: str) -> Job:
    """Open the inventory, begin or resume and plan its run, and return the job of this process.

    `readers` identifies the readers of pages, see `readers_of`. Raises InventoryError, OutputError, ForeignFilesError
    and RetryLaterError.
    """
    if not options.dry_run:
        _check_output(options.output, entry_name(options.entry_url))
    path = state_path(options)
    if not path.exists():
        # A site that is refused leaves no inventory behind.
        _check_owner(None, options)
    store = open_store(path, private=options.has_secrets)
    try:
        _check_owner(store.connection, options)
        check_lists(options, store.connection)
        return _open_job(options, store, readers=readers)
    except Exception as error:
        store.close()
        is_ours = isinstance(error, SitemapCrawlerError | OSError)
        if isinstance(error, SQLAlchemyError) or (not is_ours and damage_message(store.path, error)):
            raise InventoryError(inventory_failure(store.path, error)) from error
        raise
    except BaseException:
        store.close()
        raise


def _open_job(options: Options, store: Store, *, readers: str) -> Job:
    connection = store.connection
    pause_seconds = remaining_pause_seconds(options, connection)
    throttles = HostThrottles(options, not_before=_first_request_time(pause_seconds, options.random_delay))
    run = begin_or_resume(options, store)
    spool_standard_input(options, store, resumed=run.resumed)
    fetched = fetched_in_run(connection, run.id)
    context = RunContext(options, store, run)
    hosts = map(host_of, admitted_hosts(connection)) if options.subdomains and run.planned else ()
    admission = Admission(context, hosts=hosts)
    traps = TrapDetector(options.trap_budget, applies=lambda url: context.rules.checks_traps(url))
    plan_run(context, admits=admission.admits, traps=traps, readers=readers)
    queue = Queue(
        connection,
        run.id,
        readers=readers,
        conditional=not options.full,
        admits=admission.admits,
        follows=admission.follows,
        traps=traps,
    )
    queue.add_start_page(run.requested_url)
    queue.add_start_page(run.start_url)
    return Job(context, queue=queue, traps=traps, throttles=throttles, fetched=fetched)


def _first_request_time(pause_seconds: float, random_delay: float) -> float:
    """Return the earliest time of the first request, on the clock of time.monotonic().

    A random part of at most `random_delay` seconds keeps sites with the same schedule from starting together.
    """
    if pause_seconds <= 0 and not random_delay:
        return -math.inf
    random_seconds = random.uniform(0, random_delay)  # noqa: S311 - no secret depends on it
    return time.monotonic() + max(pause_seconds, 0.0) + random_seconds


def _gate_for(context: RunContext) -> Gate:
    """Return the gate for start URL, the address to which the start page moved, and the given sitemaps and lists."""
    sources = (*context.options.seed_sitemap, *filter(is_url, context.options.urls))
    given = filter(None, map(context.rules.resolver(tracking=True).normalise, sources))
    gate = Gate(origin_of(context.run.requested_url), given=map(origin_of, given), domain_of=registrable_domain)
    gate.adopt(origin_of(context.start_url))
    return gate


def _check_output(directory: Path, name: str) -> None:
    """Create the output directory, and a temporary file for the entry file in it to test both before the crawl.

    Raises OutputError.
    """
    try:
        with open_directory(directory, create=True):
            check_replaceable(directory / name)
    except UntrustedLinkError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"cannot write to the output directory {directory}: {reason}; choose another -o") from error


def _check_owner(connection: Connection | None, options: Options) -> None:
    """Raise ForeignFilesError if the live files are those of another site. The address may still move a little: the
    start page may redirect to https, www or its directory. The end of the run checks again."""
    directory = options.output / host_of(options.start_url) if options.subdomains else options.output
    problem = owner_problem(connection, options, directory=directory, sitemap_url=options.entry_url)
    if problem is not None:
        raise ForeignFilesError(problem)


def job_of(crawler: Crawler) -> Job:
    """Return the job of the crawler's spider."""
    spider: Any = crawler.spider
    job: Job = spider.job
    return job
