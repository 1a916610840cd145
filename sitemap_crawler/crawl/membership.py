"""How a process takes part in a run that several processes crawl: its version, its membership, its queue."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from sitemap_crawler import __version__
from sitemap_crawler.crawl.host_book import HostBook
from sitemap_crawler.crawl.shared_run import SharedRun
from sitemap_crawler.inventory.hosts import HostTable
from sitemap_crawler.inventory.postgresql import server_engine
from sitemap_crawler.inventory.processes import Membership, RunPhase
from sitemap_crawler.inventory.schema import runs
from sitemap_crawler.inventory.shared_frontier import count_leased
from sitemap_crawler.inventory.shared_queue import SharedQueue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import ServerLocation
    from sitemap_crawler.crawl.throttle import HostThrottles
    from sitemap_crawler.inventory.runs import Run
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.traps.detector import TrapDetector

OWN_OPTIONS = {"output", "html_template"}
"""Options that each process may have otherwise: only the main process writes files."""


def run_version(options: Options, readers: str) -> str:
    """Return a text that all processes of a run have in common: program, readers and options."""
    values = {name: value for name, value in options.remembered().items() if name not in OWN_OPTIONS}
    values["max_pages"] = options.max_pages
    # A process with a shorter lease would take the others for dead.
    values["lease"] = options.lease
    return json.dumps({"program": __version__, "readers": readers, "options": values}, sort_keys=True)


def version_difference(theirs: str | None, ours: str) -> str | None:
    """Return in words what differs between the run and this process, or None."""
    if theirs == ours:
        return None
    try:
        run, own = json.loads(theirs or ""), json.loads(ours)
        if run["program"] != own["program"]:
            return f"this is version {own['program']}, the run was begun by {run['program']}: install the same version"
        names = _different(run["options"], own["options"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return "the run was begun by another version: install the same version everywhere"
    if names:
        return f"the run has other values of {', '.join(names)}: give all processes the same options"
    return "the components that read pages differ: give all processes the same settings"


def _different(run: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in {*run, *own} if run.get(name) != own.get(name))


def join_as_main(
    options: Options, location: ServerLocation, store: Store, run: Run, *, readers: str, fetched: int
) -> Membership:
    """Join a run that this process has begun or resumed. Others may join when `open_run` is called."""
    version = run_version(options, readers)
    with store.connection.begin():
        values = {"version": version, "phase": str(RunPhase.PLANNING)}
        store.connection.execute(update(runs).where(runs.c.id == run.id).values(values))
        count_leased(store.connection, run.id, fetched=fetched)
    return Membership(server_engine(location), run.id, is_main=True, version=version, lease_seconds=options.lease)


def shared_state(
    context: RunContext, membership: Membership, *, traps: TrapDetector, fetched: int, throttles: HostThrottles
) -> SharedRun:
    """Return what a process that has joined shares with the others. After a failure it leaves."""
    options = context.options
    throttles.book = book = HostBook(
        HostTable(context.store.connection, context.run.id),
        throttles,
        process=lambda: membership.id,
        concurrency=options.concurrency,
        base_delay=options.delay,
        spreads_hosts=options.subdomains,
    )
    book.is_alive = lambda: not membership.is_silent and not membership.is_dead
    shared = SharedRun(
        context,
        traps=traps,
        fetched=fetched,
        book=book,
        throttles=throttles,
        process=lambda: membership.id,
        is_main=membership.is_main,
    )
    try:
        if membership.is_main:
            shared.table.begin()
    except BaseException:
        membership.leave()
        raise
    return shared


def shared_queue(state: SharedRun, membership: Membership, arguments: Mapping[str, Any]) -> SharedQueue:
    """Return the queue of a process that has joined. `arguments` are those of `Queue`. After a failure it leaves."""
    try:
        run, limit = state.context.run.id, state.context.options.max_pages
        connection = state.context.store.connection
        queue = SharedQueue(connection, run, membership=membership, max_pages=limit, **arguments)
    except BaseException:
        membership.leave()
        raise
    queue.shared_traps = state.shared_traps
    state.is_exhausted = lambda: queue.is_exhausted and not queue.holds_any
    return queue
