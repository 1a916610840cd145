"""`--join`: the job of a process that helps the main process of a run on a server."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.crawl.job import Job, first_request_time, queue_parts, shared_job
from sitemap_crawler.crawl.membership import run_version, version_difference
from sitemap_crawler.crawl.run import remaining_pause_seconds
from sitemap_crawler.crawl.run_state import Admission
from sitemap_crawler.crawl.throttle import HostThrottles
from sitemap_crawler.exceptions import InventoryError, JoinError, NothingToJoinError
from sitemap_crawler.inventory.location import state_location
from sitemap_crawler.inventory.migrations import stored_version
from sitemap_crawler.inventory.postgresql import server_engine
from sitemap_crawler.inventory.processes import Membership, RunPhase
from sitemap_crawler.inventory.runs import Run
from sitemap_crawler.inventory.schema import SCHEMA_VERSION, runs
from sitemap_crawler.inventory.sql import admitted_hosts
from sitemap_crawler.inventory.store import inventory_failure, open_store
from sitemap_crawler.inventory.traps import load_traps
from sitemap_crawler.publish.context import RunContext
from sitemap_crawler.traps.detector import TrapDetector
from sitemap_crawler.urls.normalise import host_of
from sitemap_crawler.utils.runtime import echo

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import ServerLocation
    from sitemap_crawler.inventory.store import Store

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.5
"""Time between two looks whether the run is open."""
WAIT_LEASES = 5
"""Times of a lease for which a helper waits for a main process."""
_HAS_MAIN = text(
    "SELECT EXISTS (SELECT FROM processes WHERE is_main AND NOT ended "
    "AND seen > clock_timestamp() - make_interval(secs => :lease))"
)


def open_helper_job(options: Options, *, readers: str) -> Job:
    """Wait for a run that is open to helpers, join it and return the job of this process.

    Raises JoinError if this process cannot take part, NothingToJoinError if no crawl begins, InventoryError.
    """
    location = state_location(options)
    if isinstance(location, Path):
        raise JoinError(
            "join: several processes share an inventory in PostgreSQL: give --state postgresql://USER@HOST/DB"
        )
    version = run_version(options, readers)
    try:
        run = _wait_for_run(location, options, version)
        store = open_store(location, joins=True)
    except SQLAlchemyError as error:
        raise InventoryError(inventory_failure(location, error)) from error
    try:
        return _open_job(options, location, store, run, readers=readers, version=version)
    except SQLAlchemyError as error:
        store.close()
        raise InventoryError(inventory_failure(location, error)) from error
    except BaseException:
        store.close()
        raise


def _open_job(options: Options, location: ServerLocation, store: Store, run: Run, *, readers: str, version: str) -> Job:
    connection = store.connection
    pause_seconds = remaining_pause_seconds(options, connection)
    throttles = HostThrottles(options, not_before=first_request_time(pause_seconds, options.random_delay))
    context = RunContext(options, store, run)
    admission = Admission(context, hosts=map(host_of, admitted_hosts(connection)) if options.subdomains else ())
    traps = TrapDetector(options.trap_budget, applies=lambda url: context.rules.learns_traps(url))
    with connection.begin():
        load_traps(connection, traps, run=run.id)
    membership = Membership(
        server_engine(location), run.id, is_main=False, version=version, lease_seconds=options.lease
    )
    parts = queue_parts(options, admission, traps, readers)
    logger.info("helping with run %d", run.id)
    return shared_job(context, membership, parts, fetched=0, throttles=throttles)


def _wait_for_run(location: ServerLocation, options: Options, version: str) -> Run:
    """Return the open run, as soon as other processes may join it."""
    engine = server_engine(location)
    deadline = time.monotonic() + WAIT_LEASES * options.lease
    has_told = False
    try:
        while True:
            with engine.begin() as connection:
                run, has_main = _open_run(connection, location, options, version)
            if run is not None:
                return run
            if not has_main and time.monotonic() > deadline:
                raise NothingToJoinError(
                    f"no crawl of {options.start_url} works on the inventory {location}: start it without --join"
                )
            if not has_main and not has_told and not options.quiet:
                has_told = True
                echo(f"waiting up to {WAIT_LEASES * options.lease:g} s for the main process of the crawl", err=True)
            time.sleep(POLL_SECONDS)
    finally:
        engine.dispose()


def _open_run(
    connection: Connection, location: ServerLocation, options: Options, version: str
) -> tuple[Run | None, bool]:
    """Return the run if it is open, and whether its main process lives. Raises JoinError for another version."""
    if not inspect(connection).has_table("processes", schema=location.schema):
        return None, False
    has_main = bool(connection.scalar(_HAS_MAIN, {"lease": options.lease}))
    if stored_version(connection) != str(SCHEMA_VERSION):
        if has_main:
            raise JoinError(f"the inventory {location} has another schema: install the same version everywhere")
        return None, False
    row = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).first()
    if row is None or row.finished is not None or row.phase != RunPhase.CRAWLING:
        return None, has_main
    if row.requested_url != options.start_url:
        raise JoinError(f"the inventory {location} holds the site of {row.requested_url}, not {options.start_url}")
    if (difference := version_difference(row.version, version)) is not None:
        raise JoinError(f"cannot help with the crawl of {options.start_url}: {difference}")
    return Run(
        row.id,
        row.requested_url,
        row.start_url,
        row.sitemap_url,
        row.started,
        resumed=True,
        options=row.options or {},
        planned=row.planned,
    ), has_main
