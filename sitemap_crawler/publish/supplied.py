"""`write --trust-supplied`: a set is written straight from lists of the owner, without a request to the site.

The inventory, the guards and the writer are those of a crawl. A list that cannot be read to its end publishes nothing.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_paths
from sitemap_crawler.exceptions import InventoryError, OptionError, PublicationRefusedError
from sitemap_crawler.extract.lines import PIECE_BYTES, pieces_of
from sitemap_crawler.extract.url_lists import UrlList
from sitemap_crawler.inventory.damage import check_before_publication
from sitemap_crawler.inventory.decisions import DecisionStore
from sitemap_crawler.inventory.location import state_location
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.runs import begin_run, drop_unfinished_run, unfinished_run
from sitemap_crawler.inventory.store import inventory_failure, open_store
from sitemap_crawler.inventory.supplied import SuppliedUrl, forget_unnamed, observe_supplied, supplied_urls
from sitemap_crawler.policy.decide import Decision
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.publish.conclude import TRUST_SUPPLIED, conclude, end_run
from sitemap_crawler.publish.context import RunContext
from sitemap_crawler.publish.list_entries import ListEntries, check_columns
from sitemap_crawler.publish.publisher import count_decided
from sitemap_crawler.publish.sitemap_sets import publish_sets
from sitemap_crawler.report.report import Outcome
from sitemap_crawler.urls.normalise import directory_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.report.report import Report

STORED_AT_ONCE = 20_000
"""Number of entries that are stored in one transaction."""
STANDARD_INPUT = "-"
LISTED = "supplied by a list, not requested (write --trust-supplied)"
"""Evidence for a page that is listed because a list names it."""
UNNAMED = "no list names it any more (write --trust-supplied)"


def write_supplied(given: Mapping[str, Any], *, config: Path | None) -> Report:
    """Decide by the lists in the options `given` alone, publish, and return the report. `config` is the site file.

    Raises OptionError for an unusable option or list, InventoryError if the inventory cannot be written or holds an
    unfinished crawl.
    """
    options = _options_of(given)
    path = state_location(options)
    check_paths(options, state=path, config=config)
    store = open_store(path, private=options.has_secrets)
    try:
        _drop_own_unfinished_run(store, path)
        run = begin_run(
            store.connection,
            requested_url=options.start_url,
            sitemap_url=options.entry_url,
            options={**options.remembered(), TRUST_SUPPLIED: True},
            now=datetime.now(UTC),
        )
        context = RunContext(options, store, run)
        report = conclude(context, None, by=_write_lists)
        if report.outcome is not Outcome.FAILED:
            # The next run drops one that has failed.
            end_run(context, report)
        if options.html_report is not None:
            from sitemap_crawler.report.html.writer import deliver

            deliver(report, options, path)
        report.deliver(options, private=options.has_secrets)
        return report
    except SQLAlchemyError as error:
        raise InventoryError(inventory_failure(store.location, error)) from error
    finally:
        store.close()


def _options_of(given: Mapping[str, Any]) -> Options:
    """Return the options. The start page is in the directory of the sitemap, unless it is given. Raises OptionError."""
    values = dict(given)
    if "start_url" not in values:
        if "sitemap_url" not in values:
            raise OptionError("the address of the sitemap is missing: give --sitemap-url, or the URL of the start page")
        values["start_url"] = directory_of(str(values["sitemap_url"]))
    options = Options.parse(values)
    for source in options.urls:
        if "://" in source:
            raise OptionError(f"--urls {source}: write asks no server, so give a file or -")
        if source != STANDARD_INPUT and not os.access(source, os.R_OK):
            raise OptionError(f"cannot read the list {source}: give a file that exists, or -")
        if source != STANDARD_INPUT:
            check_columns(source, options.columns_of_lists)
    return options


def _drop_own_unfinished_run(store: Store, path: StateLocation) -> None:
    """Drop the run of a `write --trust-supplied` that was interrupted. Raises InventoryError for that of a crawl."""
    unfinished = unfinished_run(store.connection)
    if unfinished is None:
        return
    if TRUST_SUPPLIED not in unfinished.options:
        raise InventoryError(
            f"the inventory {path} has an unfinished crawl: finish it, or give a --state of its own for the lists"
        )
    drop_unfinished_run(store.connection)


def _write_lists(context: RunContext, report: Report) -> None:
    """Store the lists, decide by them, and publish. Raises PublicationRefusedError for a list that is cut off."""
    options, connection, run = context.options, context.store.connection, context.run.id
    queue = Queue(
        connection, run, readers="", conditional=False, admits=lambda *_: False, follows=lambda _: False
    )  # fmt: skip
    for source in dict.fromkeys(options.urls):
        _store_list(context, queue, source)
    forget_unnamed(connection, run)
    observe_supplied(connection, run, now=context.run.started)
    decisions = DecisionStore(
        context.store, run, saw_everything=True, orphan_runs=options.orphan_runs, keep_errors=options.keep_errors
    )
    decisions.save(_decisions(context))
    count_decided(context, decisions, report)
    check_before_publication(context.store.location, loses_pages=report.changes.removed > 0)
    publish_sets(context, decisions, report)


def _store_list(context: RunContext, queue: Queue, source: str) -> None:
    options = context.options
    name = "standard input" if source == STANDARD_INPUT else str(Path(source).absolute())
    pieces = _standard_input() if source == STANDARD_INPUT else pieces_of(Path(source))
    found = UrlList(
        pieces, columns=options.columns_of_lists, max_lines=options.max_list_lines, max_bytes=options.max_seed_bytes
    )
    checked = ListEntries(context.rules)
    entries = (entry for batch in found for entry in batch)
    while some := list(islice(entries, STORED_AT_ONCE)):
        checked.check(some).store(context.store.connection, queue, run=context.run.id, name=name)
    checked.count_unread(found.lines)
    for problem in checked.problems():
        context.warn(WarningKind.URL_LIST, name, problem)
    if found.lines.damage is not None:
        raise PublicationRefusedError(
            f"the list {name} {found.lines.damage}: nothing is published; give the whole list"
        )


def _standard_input() -> Iterator[bytes]:
    while piece := os.read(sys.stdin.fileno(), PIECE_BYTES):
        yield piece


def _decisions(context: RunContext) -> Iterator[Decision]:
    for row in supplied_urls(context.store, context.run.id):
        yield _decision(context, row)


def _decision(context: RunContext, row: SuppliedUrl) -> Decision:
    if not row.named:
        return Decision(row.id, row.url, listed=False, reason=Reason.ORPHAN, evidence=UNNAMED)
    refusal = context.rules.listing_refusal(row.url)
    if refusal is not None:
        return Decision(row.id, row.url, listed=False, reason=refusal.reason, evidence=refusal.evidence)
    dated = row.dated
    return Decision(
        row.id,
        row.url,
        listed=True,
        reason=Reason.LISTED,
        evidence=LISTED,
        lastmod=dated.lastmod,
        lastmod_source=dated.source,
        lastmod_day=dated.day,
    )
