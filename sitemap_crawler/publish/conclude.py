"""The end of a run, and `write`, which draws it again: decide, check the guards, publish, report what came of it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_places
from sitemap_crawler.exceptions import (
    IndexOverflowError,
    InventoryError,
    NothingToPublishError,
    PublicationRefusedError,
)
from sitemap_crawler.inventory.alternates import store_clusters
from sitemap_crawler.inventory.decisions import DecisionStore
from sitemap_crawler.inventory.diagnostics import Diagnostics
from sitemap_crawler.inventory.link_graph import store_reach, walk_from
from sitemap_crawler.inventory.robots import StoredRobots
from sitemap_crawler.inventory.runs import (
    PUBLISHED,
    decision_backup,
    finish_run,
    last_finished_run,
    lost_urls,
    run_totals,
    undo_run_marks,
)
from sitemap_crawler.inventory.seed_sitemaps import seed_problems, seeds_complete
from sitemap_crawler.inventory.store import PROGRAM_ERROR, inventory_failure, open_store
from sitemap_crawler.inventory.traps import learn_lasting_sessions
from sitemap_crawler.policy.decide import Settlement
from sitemap_crawler.policy.guards import start_page_problem
from sitemap_crawler.policy.rules import Reason
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.publish.context import RunContext
from sitemap_crawler.publish.publisher import count_decided
from sitemap_crawler.publish.sitemap_sets import publish_sets
from sitemap_crawler.report.report import Outcome, Report
from sitemap_crawler.report.url_groups.counter import UrlGroups
from sitemap_crawler.report.warnings import few_pages_hints, review
from sitemap_crawler.traps.url_checks import TrapTally
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from sitemap_crawler.policy.decide import Decision
    from sitemap_crawler.publish.context import Ending

logger = logging.getLogger(__name__)

LOST = "it was asked for, but nothing became of the answer: look at what was added to the crawl (-s)"
SHAPES = 10
"""Groups of URLs shown of each reason."""


def conclude(site: RunContext, ending: Ending | None) -> Report:
    """What came of the site's run; without an ending it is one that ended before, concluded again by `write`.

    Never raises: what goes wrong is an outcome, too.
    """
    report = Report(
        outcome=Outcome.FAILED,
        message="",
        start_url=site.start_url,
        sitemap_url=site.sitemap_url,
        run=site.run.id,
        started=datetime.fromtimestamp(site.run.started, UTC),
        finished=datetime.now(UTC),
    )
    try:
        _Conclusion(site, report).draw(ending)
        count, size = site.store.size()
        report.inventory = {"urls": count, "bytes": size, "bytes_per_url": round(size / max(count, 1))}
    except OSError as error:
        where = f" {error.filename or site.options.output}"
        reason = error.strerror or error
        _fail(report, f"cannot write{where}: {reason}; free disk space or repair it, then run the same command")
    except PublicationRefusedError as error:
        report.outcome, report.message = Outcome.REFUSED, str(error)
    except (NothingToPublishError, IndexOverflowError) as error:
        report.outcome, report.message = Outcome.REFUSED, f"{error}: the live files are untouched"
    except SQLAlchemyError as error:
        _fail(report, inventory_failure(site.store.path, error))
    except Exception:
        logger.exception("cannot conclude the run")
        _fail(report, PROGRAM_ERROR)
    report.message = printable(report.message)
    report.hints = [printable(hint) for hint in report.hints]
    report.warnings, report.warning_counts = site.sorted_warnings()
    report.finished = datetime.now(UTC)
    return report


def _fail(report: Report, message: str) -> None:
    report.outcome, report.message = Outcome.FAILED, message


class _Conclusion:
    def __init__(self, site: RunContext, report: Report) -> None:
        self._site = site
        self._report = report
        self._connection = site.store.connection
        self._shapes: dict[str, UrlGroups] = {}
        self._traps = TrapTally()

    def draw(self, ending: Ending | None) -> None:
        report = self._report
        if ending is None:
            report.started = datetime.now(UTC)
            self._settle()
            return
        totals = run_totals(self._connection, self._site.run.id)
        report.bytes, report.errors, report.not_modified = totals.bytes, totals.errors, totals.not_modified
        report.requests = totals.requests + ending.further_requests
        if ending.failure is not None:
            _fail(report, ending.failure)
        elif ending.refusal is not None:
            report.outcome, report.message = Outcome.REFUSED, ending.refusal
            if ending.refusal_ends_run:
                self._end_run("refused")
        elif ending.finished:
            saw_everything = ending.saw_everything and not self._lost()
            self._settle_reach(proved=saw_everything and seeds_complete(self._connection, self._site.run.id))
            self._settle()
            self._end_run("finished" if saw_everything else "limit")
        else:
            report.outcome = Outcome.INTERRUPTED
            report.message = ending.interruption or "interrupted; run the same command to continue"

    def _lost(self) -> bool:
        """Whether a component that is not ours let pages go before they were stored; each is told."""
        any_lost = False
        for url in lost_urls(self._connection):
            self._site.warn(WarningKind.LOST, url, LOST)
            any_lost = True
        return any_lost

    def _settle_reach(self, *, proved: bool) -> None:
        """What leads where, and, if all of the site was seen, whether anything leads to a URL any more."""
        site, connection = self._site, self._connection
        with connection.begin():
            reach = walk_from(connection, site.run.id, starts={site.run.requested_url, site.start_url})
            store_reach(connection, reach, run=site.run.id, proved=proved)
            if proved and learn_lasting_sessions(connection, run=site.run.id, applies=site.rules.may_be_trap):
                reach = walk_from(connection, site.run.id, starts={site.run.requested_url, site.start_url})
                store_reach(connection, reach, run=site.run.id, proved=proved)

    def _settle(self) -> None:
        site, report = self._site, self._report
        settled = DecisionStore(
            site.store, site.run.id, orphan_runs=site.options.orphan_runs, keep_errors=site.options.keep_errors
        )
        settlement = Settlement(
            settled.facts,
            site.rules,
            now=datetime.now(UTC).timestamp(),
            find=settled.find,
            blocked=StoredRobots(self._connection, site.run.id, published=site.rules.published).evidence_against,
            warn=lambda warning: site.warn(*warning),
        )
        settled.save(self._shaped(settlement.decisions()))
        if site.options.alternates:
            store_clusters(self._connection, warn=lambda warning: site.warn(*warning))
        count_decided(site, settled, report)
        problem = start_page_problem(site.start_url, find=settled.find, settlement=settlement)
        if problem is None:
            report.hints = few_pages_hints(
                report.listed,
                report.excluded,
                settled.notes(site.start_url),
                scope=site.rules.scope,
                published=site.rules.published,
                examples=settled.examples,
            )
        report.shapes = {reason: shapes.top(SHAPES) for reason, shapes in sorted(self._shapes.items())}
        if site.start_url != site.run.requested_url:
            advice = f"the start page {site.run.requested_url} has moved here: give this address from now on"
            site.warn(WarningKind.START_ADOPTED, site.start_url, advice)
        for url, words in self._traps.warnings():
            site.warn(WarningKind.TRAP, url, words)
        for url, words in seed_problems(self._connection, site.run.id):
            site.warn(WarningKind.SEED_SITEMAP, url, words)
        for warning in review(Diagnostics(site.store, site.run.id), UrlGroups(site.rules.scope.prefix)):
            site.warn(*warning)
        if problem is not None:
            report.outcome, report.message = Outcome.REFUSED, problem
        else:
            publish_sets(site, settled, report)

    def _shaped(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        prefix = self._site.rules.scope.prefix
        for decision in decisions:
            shapes = self._shapes.get(decision.reason)
            if shapes is None:
                shapes = self._shapes[decision.reason] = UrlGroups(prefix)
            shapes.add(decision.url)
            if decision.reason is Reason.LIMIT:
                self._traps.add(decision.url, decision.evidence)
            yield decision

    def _end_run(self, ended_by: str) -> None:
        report, now = self._report, datetime.now(UTC)
        partly = report.outcome is Outcome.REFUSED and report.has_published
        outcome = str(Outcome.PUBLISHED if partly else report.outcome)
        if outcome not in PUBLISHED:
            undo_run_marks(self._connection, self._site.run.id)
        finish_run(self._connection, self._site.run.id, outcome=outcome, ended_by=ended_by, now=now)


def write(path: Path, given: Mapping[str, Any], *, config: Path | None) -> Report:
    """What came of it. `given` wins over what the inventory at `path` remembers; `config` is the site file, if any.

    Only what replaces the published files themselves changes what the inventory says was decided and published.
    Raises InventoryError when nothing can be decided from the inventory or it can't be written, OptionError for a bad
    value.
    """
    store = open_store(path)
    try:
        run = last_finished_run(store.connection)
        if run is None:
            raise InventoryError(f"no run of the inventory {path} has been finished: finish it with crawl first")
        remembered = {name: value for name, value in run.options.items() if name in Options.model_fields}
        # Where the start page has moved, everything is seen from its new address.
        remembered["start_url"] = run.start_url
        options = Options.parse({**remembered, **given, "state": str(path)})
        check_places(options, state=path, config=config)
        site = RunContext(options, store, run, replaces=_replaces(options, remembered))
        if "sitemap_url" in given:
            site.relocate(start_url=site.start_url, sitemap_url=options.entry_url)
        with decision_backup(store.connection) as backup:
            report = conclude(site, None)
            backup.keeps_new = site.replaces and report.has_published
        report.deliver(options)
        return report
    except SQLAlchemyError as error:
        raise InventoryError(inventory_failure(store.path, error)) from error
    finally:
        store.close()


def _replaces(options: Options, remembered: Mapping[str, Any]) -> bool:
    """Whether the files are those that the crawl writes."""
    before = Options.parse({**remembered})
    return (options.output.absolute(), options.entry_url) == (before.output.absolute(), before.entry_url)
