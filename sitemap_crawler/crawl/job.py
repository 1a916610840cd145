"""A site that is being crawled: a `RunContext` with a queue, and how the crawl goes; every component gets it here."""

from __future__ import annotations

import logging
import math
import random
import time
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.throttle import HostThrottles
from sitemap_crawler.exceptions import InventoryError, OutputError, RetryLaterError
from sitemap_crawler.inventory.location import state_path
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.revisits import SETTLED_RUNS, plan_revisits, reapply_rules, requeue_other_readers
from sitemap_crawler.inventory.robots import store_robots
from sitemap_crawler.inventory.runs import (
    Run,
    begin_run,
    drop_unfinished_run,
    fetched_in_run,
    finished_runs_ago,
    load_pause,
    mark_planned,
    move_run,
    store_pause,
)
from sitemap_crawler.inventory.sql import admitted_hosts
from sitemap_crawler.inventory.store import Store, inventory_failure, open_store
from sitemap_crawler.inventory.traps import load_traps
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.publish.context import RunContext
from sitemap_crawler.traps.detector import TrapDetector
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.crawler import Crawler

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.policy.robots_txt import RobotsTxt
    from sitemap_crawler.report.report import Report

logger = logging.getLogger(__name__)

MAX_HOSTS = 1_000
"""Hosts of a domain that are crawled."""


class Job(RunContext):
    """Raises InventoryError, OutputError or RetryLaterError when the crawl cannot begin."""

    def __init__(self, options: Options, *, readers: str) -> None:
        """`readers` names the code and settings that read pages, as far as they decide what is found on one."""
        if not options.dry_run:
            _check_output(options.output)
        self.report: Report | None = None
        self.failure: str | None = None
        """Why the crawl can't go on, in one line."""
        self.refusal: str | None = None
        """Why nothing of this site may or can be crawled, in one line."""
        self.refusal_ends_run = False
        self.interruption: str | None = None
        """Why the crawl has to go on another time, in one line."""
        self.listable = 0
        """Pages of this process that can be listed as far as they themselves say."""
        self.robots: dict[str, RobotsTxt] = {}
        """By origin, of those that have a robots.txt."""
        self._hosts: set[str] = set()
        self._told_of_hosts = False
        store = open_store(state_path(options))
        try:
            # Who begins anew knows better.
            pause = 0.0 if options.fresh else _pause(options, load_pause(store.connection))
            self.throttles = HostThrottles(options, not_before=_begin_at(pause, options.random_delay))
            super().__init__(options, store, _begin(options, store))
            self.fetched = self.done = fetched_in_run(store.connection, self.run.id)
            if options.subdomains and self.run.planned:
                self._hosts.update(map(host_of, admitted_hosts(store.connection)))
            self.traps = TrapDetector(options.trap_budget, applies=lambda url: self.rules.may_be_trap(url))
            self._plan(readers)
            self.queue = Queue(
                store.connection,
                self.run.id,
                readers=readers,
                conditional=not options.full,
                admits=self._admits,
                follows=self._follows,
                traps=self.traps,
            )
            self.queue.add_start_page(self.run.requested_url)
            self.queue.add_start_page(self.start_url)
        except SQLAlchemyError as error:
            store.close()
            raise InventoryError(inventory_failure(store.path, error)) from error
        except BaseException:
            store.close()
            raise

    @property
    def budget(self) -> int | None:
        """URLs that may still be fetched in this run; None without a limit."""
        limit = self.options.max_pages
        return None if limit is None else max(0, limit - self.fetched)

    @property
    def limited(self) -> bool:
        """Whether a limit may have kept pages from being fetched, so that absence proves nothing."""
        return self.budget == 0 or self.options.max_depth is not None

    def _plan(self, readers: str) -> None:
        """Settle what a new run asks for, and what one that goes on by other options still does."""
        connection, run = self.store.connection, self.run
        every = 1 if self.options.full else self.options.revisit_excluded
        changed = self._changed_options() if run.planned else []
        trap = self.traps.refusal
        with connection.begin():
            load_traps(connection, self.traps, run=run.id)
            if not run.planned:
                since = finished_runs_ago(connection, SETTLED_RUNS + 1, now=run.id)
                plan_revisits(connection, run.id, admits=self._admits, settled_since=since, every=every, trap=trap)
                mark_planned(connection, run.id)
            elif changed:
                reapply_rules(connection, admits=self._admits, trap=trap)
                requeue_other_readers(connection, run.id, readers=readers)
        if changed:
            words = "the run goes on with options other than it began with: " + "; ".join(changed)
            self.warn(WarningKind.OPTIONS_CHANGED, self.start_url, words)

    def _changed_options(self) -> list[str]:
        before, now = self.run.options, self.options.remembered()
        names = sorted({*before, *now})
        return [
            f"{name} was {before.get(name)!r}, is {now.get(name)!r}"
            for name in names
            if before.get(name) != now.get(name)
        ]

    def _admits(self, url: str, depth: int) -> bool:
        return self.rules.fetch_refusal(url, depth) is None and self._is_known_host(url)

    def _is_known_host(self, url: str) -> bool:
        """Whether there is room for the host: where any name is answered, a domain has endlessly many."""
        if not self.options.subdomains:
            return True
        host = host_of(url)
        if host not in self._hosts and len(self._hosts) == MAX_HOSTS:
            if not self._told_of_hosts:
                self._told_of_hosts = True
                words = f"more than {MAX_HOSTS:,} hosts: this one and those met after it are not crawled"
                self.warn(WarningKind.TOO_MANY_HOSTS, url, words)
            return False
        self._hosts.add(host)
        return True

    def _follows(self, url: str) -> bool:
        return self.rules.scope.admits(url)

    def adopt_start(self, url: str, *, notice: str) -> None:
        """Go on from `url`, where the start page has redirected, with its directory as the scope."""
        is_default = self.options.sitemap_url is None
        self.relocate(
            start_url=url, sitemap_url=self.options.default_entry_url(url) if is_default else self.sitemap_url
        )
        move_run(self.store.connection, self.run.id, start_url=url, sitemap_url=self.sitemap_url)
        self.queue.add_start_page(url)
        logger.info(notice)

    def refuse(self, message: str, *, ends_run: bool) -> None:
        """Nothing of this site may be crawled now. A run that is not ended goes on when all is well again."""
        if self.interruption is None:
            self.refusal, self.refusal_ends_run = message, ends_run

    def postpone(self, until: datetime, message: str) -> None:
        """The site asks not to come again before `until`. It is kept for a day at most: nobody means more."""
        self.interrupt(message)
        until = min(until, datetime.now(UTC) + timedelta(days=1))
        try:
            store_pause(self.store.connection, until.timestamp())
        except SQLAlchemyError as error:
            logger.warning("cannot keep until when the site wants to be left alone: %s", error)

    def interrupt(self, message: str) -> None:
        """The crawl can't go on now; the run does with the same command."""
        self.interruption = message

    def store_robots(self, origin: str, *, agent: str, body: bytes | None) -> None:
        try:
            store_robots(self.store.connection, self.run.id, origin, agent=agent, body=body)
        except SQLAlchemyError as error:
            # The next batch that is written meets the same, and ends the crawl.
            logger.warning("cannot keep the robots.txt of %s: %s", origin, error)

    def inventory_failed(self, error: Exception) -> None:
        """The database did not take what it was given: the crawl has to end.

        Whatever the error is: what was rolled back is not known in memory as that, so nothing more can be written.
        """
        if not isinstance(error, SQLAlchemyError):
            logger.error("cannot write to the inventory", exc_info=error)
        self.failure = inventory_failure(self.store.path, error)


def _pause(options: Options, until: float) -> float:
    """Seconds that are left of a pause that the site has asked for. Raises RetryLaterError when they are too many."""
    left = until - time.time()
    if left <= options.max_retry_after:
        return left
    host, moment = host_of(options.start_url), datetime.fromtimestamp(until, UTC)
    words = f"{host} asks not to come again before {moment:%Y-%m-%d %H:%M:%S} UTC (Retry-After)"
    raise RetryLaterError(f"{words}: run the same command then to continue")


def _begin_at(pause: float, random_delay: float) -> float:
    """When the first request may leave, by time.monotonic(): at random, so that many sites that are due at once don't
    begin at once."""
    if pause <= 0 and not random_delay:
        return -math.inf
    chosen = random.uniform(0, random_delay)  # noqa: S311 - nothing is kept secret by it
    return time.monotonic() + max(pause, 0.0) + chosen


def _begin(options: Options, store: Store) -> Run:
    if options.fresh:
        drop_unfinished_run(store.connection)
    run = begin_run(
        store.connection,
        requested_url=options.start_url,
        sitemap_url=options.entry_url,
        options=options.remembered(),
        now=datetime.now(UTC),
    )
    if run.resumed:
        logger.info("continuing run %d", run.id)
    return run


def _check_output(directory: Path) -> None:
    """Make the directory, and see now that files can be written there, not after hours of crawling."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"cannot write to the output directory {directory}: {reason}; choose another -o") from error


def job_of(crawler: Crawler) -> Job:
    """The job of the crawler's spider."""
    spider: Any = crawler.spider
    job: Job = spider.job
    return job
