"""The run that a crawl works on: begin or resume it, and plan what it fetches.

A run is stored in the inventory. It outlives the process, which is a `Job`.
"""

from __future__ import annotations

import json
import logging
import re
import time
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.run_state import MAX_PAUSE
from sitemap_crawler.exceptions import RetryLaterError
from sitemap_crawler.inventory.known_pages import load_known_pages
from sitemap_crawler.inventory.revisits import SETTLED_RUNS, plan_revisits, reapply_rules, requeue_other_readers
from sitemap_crawler.inventory.runs import (
    Run,
    begin_run,
    drop_unfinished_run,
    exchange_address,
    finished_runs_ago,
    latest_time,
    load_pause,
    mark_planned,
)
from sitemap_crawler.inventory.traps import begin_with_traps, load_traps
from sitemap_crawler.policy.lastmod import MAX_SKEW_SECONDS
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.traps.detector import TrapDetector

logger = logging.getLogger(__name__)

_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")

READERS_VERSION = 16
"""Version of the code that reads pages. It goes up whenever a reader finds something else on the same page."""
READING_OPTIONS = ("content_types", "follow_nofollow", "image_texts", "max_body", "public_url", "tracking_parameters")
"""Options that change the findings of the readers on a page."""
LATER_READING_OPTIONS = ("max_links", "render", "subresource_hosts")
"""Reading options that inventories of earlier versions do not know. Only another value than the default counts, so
that the hashes in those inventories stay valid."""


def remaining_pause_seconds(options: Options, connection: Connection) -> float:
    """Return the seconds that are left of a Retry-After of an earlier run; not above 0 if it has passed.

    A run that begins with --fresh ignores the pause, and so does every run if it is longer than any that is stored: the
    clock has gone back since. Raises RetryLaterError if it is longer than `max_retry_after`.
    """
    if options.fresh:
        return 0.0
    until = load_pause(connection)
    seconds = until - time.time()
    if seconds > MAX_PAUSE.total_seconds():
        return 0.0
    if seconds <= options.max_retry_after:
        return seconds
    host, moment = host_of(options.start_url), datetime.fromtimestamp(until, UTC)
    reason = f"{host} asks for no requests before {moment:%Y-%m-%d %H:%M:%S} UTC (Retry-After)"
    raise RetryLaterError(f"{reason}: run the same command after that")


def begin_or_resume(options: Options, store: Store) -> Run:
    """Resume the unfinished run of the inventory, or begin the next run. Raises InventoryError."""
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


def _warn_of_clock(context: RunContext) -> None:
    """Warn if an earlier run is of a time that has not come yet: its dates and pauses may be wrong."""
    latest, now = latest_time(context.store.connection, before=context.run.id), time.time()
    if latest > now + MAX_SKEW_SECONDS:
        earlier, present = (f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC" for moment in (latest, now))
        message = f"the clock of this machine has gone back: an earlier run ended at {earlier}, and now it is {present}"
        context.warn(WarningKind.CLOCK, context.start_url, message)


def warn_of_address(context: RunContext, *, is_public: bool | None) -> None:
    """Warn if the site had a public address in the run before, and has none now. None: a proxy knows the address."""
    if is_public is None:
        return
    was_public = exchange_address(context.store.connection, is_public=is_public)
    if was_public and not is_public:
        message = (
            f"{host_of(context.start_url)} had a public address in the run before, and has none now: "
            "this may be another site"
        )
        context.warn(WarningKind.ADDRESS, context.start_url, message)


def plan_run(context: RunContext, *, admits: Callable[[str, int], bool], traps: TrapDetector, readers: str) -> None:
    """Give every known URL its state for the run, and load the traps that the inventory has stored.

    A run that is resumed has its plan. If its options have changed, they are applied to the URLs that are left.
    """
    connection, run, options = context.store.connection, context.run, context.options
    _warn_of_clock(context)
    changes = _changed_options(run.options, options.remembered()) if run.planned else []
    with connection.begin():
        load_traps(connection, traps, run=run.id)
        if not run.planned:
            begin_with_traps(connection, traps, run=run.id)
        load_known_pages(connection, traps, run=run.id, resumed=run.planned)
        if not run.planned:
            plan_revisits(
                connection,
                run.id,
                admits=admits,
                readers=readers,
                settled_since=finished_runs_ago(connection, SETTLED_RUNS, now=run.id, counts_now=False),
                every=1 if options.full else options.revisit_excluded,
                trap=traps.refusal,
                turn=traps.turn_of,
            )
            mark_planned(connection, run.id)
        elif changes:
            reapply_rules(connection, admits=admits, trap=traps.refusal)
            requeue_other_readers(connection, run.id, readers=readers)
    if changes:
        message = "the run goes on with options other than it began with: " + "; ".join(changes)
        context.warn(WarningKind.OPTIONS_CHANGED, context.start_url, message)


def _changed_options(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = sorted({*before, *now})
    return [
        f"{name} was {before.get(name)!r}, is {now.get(name)!r}" for name in names if before.get(name) != now.get(name)
    ]


def readers_of(pipelines: Mapping[Any, int | None], options: Options) -> str:
    """Return a short hash that identifies the readers of pages: version, enabled pipelines and reading options.

    An observation stores the hash of its readers. A page that other readers have read is downloaded again, and not
    confirmed by a 304.
    """
    names = sorted(_pipeline_name(pipeline) for pipeline, order in pipelines.items() if order is not None)
    values = options.model_dump(mode="json", include=set(READING_OPTIONS))
    values |= options.model_dump(mode="json", include=set(LATER_READING_OPTIONS), exclude_defaults=True)
    described = json.dumps([READERS_VERSION, names, values], sort_keys=True)
    return blake2b(described.encode(), digest_size=6).hexdigest()


def _pipeline_name(pipeline: Any) -> str:
    """Return the name of a pipeline in the hash. For a pipeline of this package only the name of its class counts.

    The names have the form of the paths that the classes had in the first release, because inventories hold hashes of
    them.
    """
    path = str(pipeline)
    if not path.startswith("sitemap_crawler."):
        return path
    name = path.rpartition(".")[2]
    module = _WORD_START.sub("_", name.removesuffix("Pipeline")).lower()
    return f"sitemap_crawler.pipelines.{module}.{name}"
