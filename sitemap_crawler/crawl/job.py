"""The job of one process: its part of the crawl of a run. Components get it with `job_of(crawler)`.

What all processes of the run share is the `RunState` of run_state.py.
"""

from __future__ import annotations

import logging
import math
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.list_files import check_lists, is_url, spool_standard_input
from sitemap_crawler.crawl.run import begin_or_resume, plan_run, remaining_pause_seconds
from sitemap_crawler.crawl.run_state import Admission, RunState
from sitemap_crawler.crawl.throttle import HostThrottles
from sitemap_crawler.exceptions import (
    ForeignFilesError,
    InventoryError,
    OutputError,
    SitemapCrawlerError,
    UntrustedLinkError,
)
from sitemap_crawler.inventory.damage import damage_message
from sitemap_crawler.inventory.location import inventory_exists, state_location
from sitemap_crawler.inventory.processes import RunPhase, Work
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.runs import ProcessTotals, fetched_in_run, move_run
from sitemap_crawler.inventory.sql import admitted_hosts
from sitemap_crawler.inventory.store import PROGRAM_ERROR, inventory_failure, open_store
from sitemap_crawler.policy.second_looks import KeptDates
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
    from collections.abc import Awaitable, Callable, Collection

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from sqlalchemy import Connection

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.crawl.shared_run import SharedRun
    from sitemap_crawler.inventory.processes import Beat, Membership
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.items import Observation, QueuedUrl
    from sitemap_crawler.policy.rules import Rules
    from sitemap_crawler.policy.warning_kinds import WarningKind
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.report.url_groups.exclusion import UrlShape
    from sitemap_crawler.utils.shortage import Shortage

logger = logging.getLogger(__name__)


class FailingPages(NamedTuple):
    """The URLs that are left when all others are fetched: each has failed, and is requested again after a while."""

    urls: int
    in_flight: int
    """Number of those that are requested now."""
    next_request: float
    """Time of the next request, on the clock of time.monotonic()."""

    def seconds_left(self, now: float) -> float:
        """Return the seconds until the next request, at a time on the clock of time.monotonic()."""
        return max(0.0, self.next_request - now)

    def next_request_time(self, now: float) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.seconds_left(now))


class Job:
    """State of the crawl in this process: queue, throttles, counts and ending. `shared` is the state of the run."""

    def __init__(
        self, shared: RunState, *, queue: Queue, throttles: HostThrottles, membership: Membership | None = None
    ) -> None:
        """`membership` is that of this process if several can crawl the run."""
        self.shared = shared
        self.together: SharedRun | None = None
        """The same if several processes may crawl; None where one process crawls."""
        self.context = context = shared.context
        self.options: Options = context.options
        self.store: Store = context.store
        self.run = context.run
        self.queue = queue
        self.throttles = throttles
        self.done = shared.fetched
        """Number of URLs with an observation of this run, in this process and in earlier ones."""
        self.membership = membership
        self.beat_listeners: list[Callable[[Beat], None]] = []
        """Called in the event loop with each answer of the server to a heartbeat."""
        self.started = datetime.now(UTC)
        self.others = Work()
        """What other processes have done in the run since this one began, as of the last heartbeat."""
        self.helped: str | None = None
        """Why a helper has ended its work, if it has."""
        self.count_done: Callable[[], ProcessTotals] = ProcessTotals
        """Function that returns the totals of this process."""
        self.listable = 0
        """Number of pages of this process whose own directives allow their listing."""
        self._is_open = self._is_closed = False
        self.gate = _gate_for(context)
        """The hosts that the crawl may ask."""
        self.ending = Ending()
        """Refusal, interruption or failure that ends the crawl, if one has occurred."""
        self.report: Report | None = None
        self.read_probe: Callable[[Response], Awaitable[Observation | None]] | None = None
        """Function that renders a response that is no page of the crawl; None without `--render`."""
        self.kept_dates = KeptDates()
        """Numbers of changed pages whose dates were kept."""
        self.growing: list[UrlShape] | None = None
        """The shapes of which the most URLs wait, once the queue has grown for long."""
        self.show_line: Callable[[str], None] | None = None
        """Function that prints a line above the progress line of a terminal; None without a progress line."""
        self.doubt: Callable[[Collection[QueuedUrl]], None] = lambda _pages: None
        """Function of the scheduler that has pages requested again whose answers may be those of others."""
        self.quiet_times: list[Callable[[], float]] = []
        """Functions that return the time until which an answer may come that nobody has asked for, on the clock of
        time.monotonic(). The crawl does not end before."""
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
            self.shared.refuse(message, ends_run=ends_run)

    def interrupt(self, message: str) -> None:
        """End the crawl with exit code 4. The same command resumes the run."""
        self.ending = self.ending._replace(interruption=message)
        self.shared.interrupt(message)

    def pause_until(self, until: datetime, message: str) -> None:
        """Interrupt the run and store the time before which the site must not be requested."""
        self.interrupt(message)
        self.shared.store_pause(until)

    def inventory_failed(self, error: Exception) -> None:
        """End the crawl with exit code 1 because the inventory could not be written.

        Any exception counts: the objects in memory do not know what has been rolled back, so nothing more can be
        written.
        """
        message = inventory_failure(self.store.location, error)
        if message.endswith(PROGRAM_ERROR):
            logger.error("cannot write to the inventory", exc_info=error)
        self.ending = self.ending._replace(failure=message)

    def lack(self, shortage: Shortage, place: str) -> None:
        """End the crawl with exit code 1 because this machine lacks something. The same command resumes the run."""
        self.lack_tool(f"{shortage.lack} ({place}): {shortage.remedy}")

    def lack_tool(self, message: str) -> None:
        """End the crawl with exit code 1 because something that it needs does not work on this machine."""
        logger.info("%s", printable(message))
        self.ending = self.ending._replace(shortage=message)

    @property
    def is_helper(self) -> bool:
        """Whether another process concludes the run."""
        return self.membership is not None and not self.membership.is_main

    @property
    def total_done(self) -> int:
        """Number of URLs with an observation of this run, by all processes."""
        return self.done + self.others.fetched

    def settle_start(self, url: str) -> None:
        """Open the run to helpers if `url`, which has an observation now, is its start page."""
        if self.membership is None or self._is_open or self.is_helper or url != self.start_url:
            return
        try:
            self.queue.flush()
            self.membership.set_phase(RunPhase.CRAWLING)
        except Exception as error:
            self.inventory_failed(error)
        self._is_open = True

    def close(self) -> None:
        """Leave the run and close the inventory, once: without its server each attempt takes seconds."""
        if self._is_closed:
            return
        self._is_closed = True
        if self.membership is not None:
            self.membership.leave()
        self.store.close()


def open_job(options: Options, *, readers: str) -> Job:
    """Open the inventory, begin or resume and plan its run, and return the job of this process.

    `readers` identifies the readers of pages, see `readers_of`. Raises InventoryError, OutputError, ForeignFilesError
    and RetryLaterError.
    """
    if not options.dry_run:
        _check_output(options.output, entry_name(options.entry_url))
    path = state_location(options)
    if not inventory_exists(path):
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
        if isinstance(error, SQLAlchemyError) or (not is_ours and damage_message(store.location, error)):
            raise InventoryError(inventory_failure(store.location, error)) from error
        raise
    except BaseException:
        store.close()
        raise


def _open_job(options: Options, store: Store, *, readers: str) -> Job:
    connection = store.connection
    pause_seconds = remaining_pause_seconds(options, connection)
    throttles = HostThrottles(options, not_before=first_request_time(pause_seconds, options.random_delay))
    run = begin_or_resume(options, store)
    spool_standard_input(options, store, resumed=run.resumed)
    fetched = fetched_in_run(connection, run.id)
    context = RunContext(options, store, run)
    hosts = map(host_of, admitted_hosts(connection)) if options.subdomains and run.planned else ()
    admission = Admission(context, hosts=hosts)
    traps = TrapDetector(options.trap_budget, applies=lambda url: context.rules.learns_traps(url))
    plan_run(context, admits=admission.admits, traps=traps, readers=readers)
    parts = queue_parts(options, admission, traps, readers)
    if isinstance(store.location, Path):
        queue = Queue(connection, run.id, **parts)
        return _with_start_pages(Job(RunState(context, traps=traps, fetched=fetched), queue=queue, throttles=throttles))
    from sitemap_crawler.crawl.membership import join_as_main

    membership = join_as_main(options, store.location, store, run, readers=readers, fetched=fetched)
    return _with_start_pages(shared_job(context, membership, parts, fetched=fetched, throttles=throttles))


def queue_parts(options: Options, admission: Admission, traps: TrapDetector, readers: str) -> dict[str, Any]:
    """Return the arguments of the queue that do not depend on the database."""
    return {
        "readers": readers,
        "conditional": not options.full,
        "admits": admission.admits,
        "follows": admission.follows,
        "traps": traps,
        "renders": options.renders,
    }


def shared_job(
    context: RunContext, membership: Membership, parts: dict[str, Any], *, fetched: int, throttles: HostThrottles
) -> Job:
    """Return the job of a process that has joined a crawl. `parts` are those of `queue_parts`."""
    from sitemap_crawler.crawl.membership import shared_queue, shared_state

    state = shared_state(context, membership, traps=parts["traps"], fetched=fetched, throttles=throttles)
    queue = shared_queue(state, membership, parts)
    job = Job(state, queue=queue, throttles=throttles, membership=membership)
    job.together = state
    return job


def _with_start_pages(job: Job) -> Job:
    """Queue the start pages. A run that has requested them in an earlier process is open to helpers at once."""
    try:
        job.queue.add_start_page(job.run.requested_url)
        job.queue.add_start_page(job.run.start_url)
        if job.membership is not None and not job.queue.is_waiting(job.start_url):
            job.settle_start(job.start_url)
    except BaseException:
        if job.membership is not None:
            job.membership.leave()
        raise
    return job


def first_request_time(pause_seconds: float, random_delay: float) -> float:
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
    if options.dry_run:
        return
    directory = options.output / host_of(options.start_url) if options.subdomains else options.output
    problem = owner_problem(connection, options, directory=directory, sitemap_url=options.entry_url)
    if problem is not None:
        raise ForeignFilesError(problem)


def job_of(crawler: Crawler) -> Job:
    """Return the job of the crawler's spider."""
    spider: Any = crawler.spider
    job: Job = spider.job
    return job
