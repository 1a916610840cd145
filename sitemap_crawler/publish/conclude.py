"""The end of a run: decide, check the guards, publish and report. `write` repeats it without a crawl."""

from __future__ import annotations

import logging
import shlex
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_paths
from sitemap_crawler.config.sources import naming_site_file, read_site_file
from sitemap_crawler.exceptions import (
    IndexOverflowError,
    InventoryError,
    NotLocalError,
    NotPublishedError,
    OutputError,
    PatternTimeoutError,
    SitemapCrawlerError,
)
from sitemap_crawler.inventory.alternates import store_clusters
from sitemap_crawler.inventory.damage import check_before_publication, damage_message
from sitemap_crawler.inventory.decisions import DecisionStore
from sitemap_crawler.inventory.diagnostics import Diagnostics
from sitemap_crawler.inventory.frontier import count_frontier, waiting_urls
from sitemap_crawler.inventory.link_graph import has_all_links, has_inlinks, store_reach, walk_from
from sitemap_crawler.inventory.named_dates import settle_named_dates
from sitemap_crawler.inventory.publications import mark_unpublished
from sitemap_crawler.inventory.repeats import count_left_out, left_out_urls
from sitemap_crawler.inventory.results import store_results
from sitemap_crawler.inventory.robots import StoredRobots
from sitemap_crawler.inventory.runs import (
    ENDED_AT_LIMIT,
    ENDED_BY_REPEATS,
    PUBLISHED,
    SAW_EVERYTHING,
    decision_backup,
    end_process,
    fetched_in_run,
    finish_run,
    has_grown,
    last_finished_run,
    lost_urls,
    run_totals,
    undo_run_marks,
    unfinished_run,
)
from sitemap_crawler.inventory.seed_sitemaps import seed_problems, seeds_complete
from sitemap_crawler.inventory.store import PROGRAM_ERROR, inventory_failure, open_store
from sitemap_crawler.inventory.supplied import forget_unnamed, visited_and_unlisted
from sitemap_crawler.inventory.traps import compared_pages, learn_lasting_sessions
from sitemap_crawler.policy.common_changes import common_changes_notice
from sitemap_crawler.policy.decide import Decider
from sitemap_crawler.policy.guards import start_page_problem
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import is_too_many_clicks
from sitemap_crawler.policy.second_looks import kept_dates_notice
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.publish.context import RunContext
from sitemap_crawler.publish.publisher import count_decided
from sitemap_crawler.publish.sitemap_sets import publish_sets
from sitemap_crawler.report.report import Outcome, Report
from sitemap_crawler.report.url_groups.counter import UrlGroups
from sitemap_crawler.report.url_groups.exclusion import shape_of_group
from sitemap_crawler.report.url_groups.listed_urls import with_effects, with_listed
from sitemap_crawler.report.waiting import (
    WaitingCount,
    depth_notice,
    interruption_notice,
    left_out_notice,
    limit_notice,
    limit_remedy,
    shape_lines,
    unfinished_notice,
    unfinished_problem,
)
from sitemap_crawler.report.warnings import few_pages_hints, review
from sitemap_crawler.traps.url_checks import TrapTally
from sitemap_crawler.utils.replace import is_private
from sitemap_crawler.utils.shortage import advice_for, shortage_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.policy.decide import Decision, Facts
    from sitemap_crawler.publish.context import Ending

logger = logging.getLogger(__name__)

TRUST_SUPPLIED = "trust_supplied"
"""Key among the stored options of a run that `write --trust-supplied` has written from lists only."""
LOST = "it was requested, but no item was stored: check the components added with -s"
MAX_URL_GROUPS = 10
"""Maximum number of groups of URLs that a report holds for each reason."""


def conclude(
    context: RunContext, ending: Ending | None, *, by: Callable[[RunContext, Report], None] | None = None
) -> Report:
    """Decide, publish and return the report of the run. `ending` is None for a run that `write` concludes again.

    `by` fills in the report in another way, without the observations of a crawl.
    Raises no exception: every failure is an outcome of the report.
    """
    report = report_of(context)
    with failures_reported(context, report):
        if by is None:
            _Conclusion(context, report).conclude(ending)
        else:
            by(context, report)
        count, size = context.store.size()
        report.inventory = {"urls": count, "bytes": size, "bytes_per_url": round(size / max(count, 1))}
    report.message = printable(report.message)
    report.hints = [printable(hint) for hint in report.hints]
    report.notices = [printable(notice) for notice in report.notices]
    report.warnings, report.warning_counts = context.sorted_warnings()
    report.finished = datetime.now(UTC)
    seconds = (report.finished - report.started).total_seconds()
    report.seconds = round(seconds if ending is None else context.run.working_seconds(report.finished.timestamp()), 1)
    _store_results(context, report, ending)
    return report


def report_of(context: RunContext) -> Report:
    """Return a report without a result."""
    return Report(
        outcome=Outcome.FAILED,
        message="",
        start_url=context.start_url,
        sitemap_url=context.sitemap_url,
        run=context.run.id,
        started=datetime.fromtimestamp(context.run.started, UTC),
        finished=datetime.now(UTC),
    )


@contextmanager
def failures_reported(context: RunContext, report: Report) -> Iterator[None]:
    """Make an exception of the block the outcome and the message of the report. Raises NotLocalError."""
    try:
        yield
    except NotLocalError:
        raise
    except OutputError as error:
        _fail(report, f"{error}; then run the same command")
    except OSError as error:
        path, reason = error.filename or context.options.output, error.strerror or error
        advice = advice_for(error, otherwise="free disk space or repair it, then run the same command")
        _fail(report, f"cannot write {path}: {reason}; {advice}")
    except IndexOverflowError as error:
        report.outcome, report.message = Outcome.REFUSED, f"{error}; the live files are untouched"
    except NotPublishedError as error:
        report.outcome, report.message = Outcome.REFUSED, str(error)
    except InventoryError as error:
        _fail(report, str(error))
    except (SQLAlchemyError, PatternTimeoutError) as error:
        _fail(report, inventory_failure(context.store.location, error))
    except Exception as error:
        shortage = shortage_of(error)
        message = damage_message(context.store.location, error) if shortage is None else str(shortage)
        if message is None:
            logger.exception("cannot conclude the run")
        _fail(report, message or PROGRAM_ERROR)


def _store_results(context: RunContext, report: Report, ending: Ending | None) -> None:
    """Store totals and warnings in the inventory. A `write` that publishes nothing new leaves no trace."""
    if ending is None and not (context.replaces and report.has_published):
        return
    found = report.warnings if report.has_decided else None
    try:
        store_results(context.store.connection, context.run.id, report.totals(), found, crawled=ending is not None)
        if ending is not None:
            done = context.run.earlier.plus(ending.done)
            end_process(context.store.connection, context.run.id, done._replace(seconds=report.seconds))
    except SQLAlchemyError as error:
        if report.outcome is not Outcome.FAILED:
            _fail(report, inventory_failure(context.store.location, error))


def _fail(report: Report, message: str) -> None:
    report.outcome, report.message = Outcome.FAILED, message


class _Conclusion:
    """The steps that fill the report of one run."""

    def __init__(self, context: RunContext, report: Report) -> None:
        self._context = context
        self._report = report
        self._connection = context.store.connection
        self._url_groups: dict[str, UrlGroups] = {}
        self._lines_before_shapes = 0
        """Number of notices before the lines of the shapes that wait or were left out."""
        self._trap_tally = TrapTally()
        self._too_many_clicks = 0
        """Number of URLs that --max-depth leaves out."""

    def conclude(self, ending: Ending | None) -> None:
        report = self._report
        if ending is None:
            report.started = datetime.now(UTC)
            context = self._context
            if context.options.priority and not has_inlinks(self._connection):
                self._store_reach(proved=False)
            if (open_run := unfinished_run(self._connection)) is not None:
                report.waiting = count_frontier(self._connection, leased=True)
                report.notices.append(unfinished_notice(context.run.id, open_run.id, report.waiting))
            elif context.run.ended_by != SAW_EVERYTHING:
                self._note_end()
            self._decide_and_publish(
                proved=proves_absence(context, saw_everything=context.run.ended_by == SAW_EVERYTHING)
            )
            return
        totals = run_totals(self._connection, self._context.run.id)
        report.bytes, report.errors, report.not_modified = totals.bytes, totals.errors, totals.not_modified
        done = self._context.run.earlier.plus(ending.done)
        report.requests = totals.requests + done.further_requests
        report.overloads, report.pauses = done.overloads, done.pauses
        if self._context.options.renders:
            from sitemap_crawler.inventory.renderings import rendering_totals

            renderings = rendering_totals(self._connection, self._context.run.id)
            report.rendering = None if renderings is None else renderings.to_json()
        if ending.shortage is not None:
            _fail(report, ending.shortage)
        elif ending.failure is not None:
            _fail(report, ending.failure)
        elif ending.refusal is not None:
            report.outcome, report.message = Outcome.REFUSED, ending.refusal
            if ending.refusal_ends_run:
                self._end_run("refused")
        elif ending.finished:
            if ending.kept_dates.unstable:
                report.notices.append(kept_dates_notice(ending.kept_dates.unstable, ending.kept_dates.example))
            if ending.kept_dates.common:
                report.notices.append(common_changes_notice(ending.kept_dates.common))
            had_no_limit = ending.saw_everything and not self._warn_of_lost_urls()
            saw_everything = had_no_limit and not ending.left_repeats_out
            proved = proves_absence(self._context, saw_everything=saw_everything)
            if seeds_complete(self._connection, self._context.run.id):
                forget_unnamed(self._connection, self._context.run.id)
            if not saw_everything:
                self._note_end()
            self._store_reach(proved=proved)
            settle_named_dates(self._connection, self._context.run.id)
            self._decide_and_publish(proved=proved)
            rest = ENDED_BY_REPEATS if had_no_limit else ENDED_AT_LIMIT
            self._end_run(SAW_EVERYTHING if saw_everything else rest)
        else:
            report.outcome = Outcome.INTERRUPTED
            self._note_interruption()
            report.message = ending.interruption or "interrupted; run the same command to continue"

    def _note_end(self) -> None:
        """Say what has ended a run that has not seen everything, if it left URLs waiting or left them out."""
        report = self._report
        report.left_out, requested = count_left_out(self._connection)
        if report.left_out:
            report.notices.append(left_out_notice(report.left_out, requested))
            logger.info("%s", report.notices[-1])
            self._note_shapes(report.left_out, left_out_urls)
        report.waiting = count_frontier(self._connection, leased=False)
        if report.waiting:
            report.notices.append(limit_notice(report.waiting, max_pages=self._context.options.max_pages))
            logger.info("%s", report.notices[-1])
            run = self._context.run.id
            if report.waiting > fetched_in_run(self._connection, run) or has_grown(self._connection, run):
                self._note_shapes(report.waiting, waiting_urls)
                if any(shape.exclude for shape in report.waiting_shapes):
                    report.notices.insert(self._lines_before_shapes, limit_remedy())
                    self._lines_before_shapes += 1

    def _note_interruption(self) -> None:
        """Say which URLs wait, if the queue of an interrupted run has grown."""
        report = self._report
        report.waiting = count_frontier(self._connection, leased=True)
        if report.waiting and has_grown(self._connection, self._context.run.id):
            report.notices.append(interruption_notice(report.waiting))
            self._note_shapes(report.waiting, waiting_urls)
            self._name_shapes()

    def _note_shapes(self, number: int, urls_of: Callable[..., Iterable[list[str]]]) -> None:
        """Find the largest shapes of some URLs. `urls_of` yields them, of `every` so many one."""
        count = WaitingCount(self._context.rules.scope.prefix, waiting=number)
        for urls in urls_of(self._connection, every=count.every):
            count.add(urls)
        self._report.waiting_shapes = count.shapes()
        self._lines_before_shapes = len(self._report.notices)

    def _name_shapes(self) -> None:
        """Add the lines of the shapes below those that announce them, once it is known which pages are listed."""
        report, place = self._report, self._lines_before_shapes
        with self._connection.begin():
            report.waiting_shapes = with_listed(self._connection, report.waiting_shapes)
        report.notices[place:place] = shape_lines(report.waiting_shapes)

    def _warn_of_lost_urls(self) -> bool:
        """Warn of each page that a component added by the user dropped. Return whether there is any."""
        any_lost = False
        for url in lost_urls(self._connection):
            self._context.warn(WarningKind.LOST, url, LOST)
            any_lost = True
        return any_lost

    def _store_reach(self, *, proved: bool) -> None:
        """Store depth, referrer and inlinks of each URL; with `proved` also the URLs that no link reaches any more."""
        context, connection = self._context, self._connection
        with connection.begin():
            reach = walk_from(connection, context.run.id, starts={context.run.requested_url, context.start_url})
            store_reach(connection, reach, run=context.run.id, proved=proved)
            if proved and learn_lasting_sessions(connection, run=context.run.id, applies=context.rules.learns_traps):
                reach = walk_from(connection, context.run.id, starts={context.run.requested_url, context.start_url})
                store_reach(connection, reach, run=context.run.id, proved=proved)

    def _decide_and_publish(self, *, proved: bool) -> None:
        """Decide and publish. `proved` says that the run counts when absence and lasting errors are judged."""
        context, report = self._context, self._report
        options = context.options
        decisions, decider = decider_of(context, proved=proved)
        mark_unpublished(self._connection)
        decisions.save(self._counted(decider.decisions()))
        if self._too_many_clicks:
            report.notices.append(depth_notice(self._too_many_clicks, max_depth=options.max_depth))
        if options.alternates:
            store_clusters(self._connection, warn=lambda warning: context.warn(*warning))
        count_decided(context, decisions, report)
        self._name_shapes()
        problem = start_page_problem(context.start_url, find=decisions.find, decider=decider)
        if problem is None:
            report.hints = few_pages_hints(
                report.listed,
                report.excluded,
                decisions.notes(context.start_url),
                scope=context.rules.scope,
                to_public=context.rules.to_public,
                examples=decisions.examples,
                renders=context.options.renders,
            )
        prefix = context.rules.scope.prefix
        shapes = {
            reason: [shape_of_group(group, prefix) for group in groups.top(MAX_URL_GROUPS)]
            for reason, groups in sorted(self._url_groups.items())
        }
        with self._connection.begin():
            report.shapes = with_effects(self._connection, shapes)
        self._warn()
        if problem is not None:
            report.outcome, report.message = Outcome.REFUSED, problem
        else:
            check_before_publication(context.store.location, loses_pages=report.changes.removed > 0)
            publish_sets(context, decisions, report)

    def _counted(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """Yield the decisions, and count their URLs by group and by trap, and those of other hosts."""
        scope = self._context.rules.scope
        prefix = scope.prefix
        for decision in decisions:
            groups = self._url_groups.get(decision.reason)
            if groups is None:
                groups = self._url_groups[decision.reason] = UrlGroups(prefix)
            groups.add(decision.url)
            if decision.reason is Reason.LIMIT:
                self._too_many_clicks += is_too_many_clicks(decision.evidence)
                self._trap_tally.add(decision.url, decision.evidence)
            elif decision.reason is Reason.OUT_OF_SCOPE and not scope.is_own_host(decision.url):
                self._report.other_hosts += 1
            yield decision

    def _warn(self) -> None:
        """Warn of everything that the run and its decisions show."""
        context = self._context
        if context.start_url != context.run.requested_url:
            advice = f"the start page {context.run.requested_url} has moved here: use this address from now on"
            context.warn(WarningKind.START_ADOPTED, context.start_url, advice)
        for url, message in self._trap_tally.warnings():
            context.warn(WarningKind.TRAP, url, message)
        for url, message in seed_problems(self._connection, context.run.id):
            context.warn(WarningKind.SEED_SITEMAP, url, message)
        for name, message in seed_problems(self._connection, context.run.id, of_lists=True):
            context.warn(WarningKind.URL_LIST, name, message)
        for visited in visited_and_unlisted(context.store):
            context.warn(WarningKind.VISITED_NOT_LISTED, visited.url, visited.message)
        for warning in review(Diagnostics(context.store, context.run.id), UrlGroups(context.rules.scope.prefix)):
            context.warn(*warning)

    def _end_run(self, ended_by: str) -> None:
        end_run(self._context, self._report, ended_by)


def end_run(context: RunContext, report: Report, ended_by: str = SAW_EVERYTHING) -> None:
    """Close the run in the inventory. A run that published the sets of some hosts counts as published."""
    connection = context.store.connection
    published_partly = report.outcome is Outcome.REFUSED and report.has_published
    outcome = str(Outcome.PUBLISHED if published_partly else report.outcome)
    if outcome not in PUBLISHED:
        undo_run_marks(connection, context.run.id)
    finish_run(connection, context.run.id, outcome=outcome, ended_by=ended_by, now=datetime.now(UTC))


def proves_absence(context: RunContext, *, saw_everything: bool) -> bool:
    """Return whether a URL that the run did not meet is gone.

    The run must have seen all pages with all their links, and all sitemaps that name pages.
    """
    connection = context.store.connection
    return saw_everything and seeds_complete(connection, context.run.id) and has_all_links(connection)


def decider_of(
    context: RunContext, *, proved: bool, rows: Callable[[DecisionStore], Iterable[Facts]] = DecisionStore.facts
) -> tuple[DecisionStore, Decider]:
    """Return the store of the decisions of a run, and their maker. `proved` is that of `_decide_and_publish`.

    `rows` returns the facts to decide by; by default those of all URLs.
    """
    options = context.options
    with context.store.connection.begin():
        compared = compared_pages(context.store.connection)
    decisions = DecisionStore(
        context.store,
        context.run.id,
        saw_everything=proved,
        orphan_runs=options.orphan_runs,
        keep_errors=options.keep_errors,
    )
    decider = Decider(
        lambda: rows(decisions),
        context.rules,
        now=datetime.now(UTC).timestamp(),
        find=decisions.find,
        blocked=StoredRobots(
            context.store.connection, context.run.id, published=context.rules.to_public
        ).evidence_against,
        warn=lambda warning: context.warn(*warning),
        compared=compared,
    )
    return decisions, decider


def write(path: StateLocation, given: Mapping[str, Any], *, config: Path | None) -> Report:
    """Decide and publish again from the inventory at `path`, and return the report.

    The options in `given` override those that the inventory remembers. `config` is the site file, if any. The inventory
    records the new decisions and the publication only if they replace the published files, not a copy elsewhere.

    Raises InventoryError if the inventory has no finished run or cannot be written, OptionError for an unusable option.
    """
    store = open_store(path)
    try:
        run = last_finished_run(store.connection)
        if run is None:
            raise InventoryError(f"the inventory {path} has no finished run: {_unwritable(store, config)}")
        if run.options.get(TRUST_SUPPLIED):
            remedy = "give --urls and --trust-supplied again, or crawl"
            raise InventoryError(f"the inventory {path} was written from lists, without a crawl: {remedy}")
        remembered = {name: value for name, value in run.options.items() if name in Options.model_fields}
        # The start page may have moved. The scope follows from its new address.
        remembered["start_url"] = run.start_url
        options = Options.parse({**remembered, **given, **({"state": str(path)} if isinstance(path, Path) else {})})
        check_paths(options, state=path, config=config)
        context = RunContext(options, store, run, replaces=_has_same_target(options, remembered))
        if "sitemap_url" in given:
            context.relocate(start_url=context.start_url, sitemap_url=options.entry_url)
        if config is not None:
            _warn_of_edits(context, config, given)
        with decision_backup(store.connection) as backup:
            report = conclude(context, None)
            if options.html_report is not None:
                # Before the decisions of a run that was refused or tried out are taken back.
                from sitemap_crawler.report.html.writer import deliver

                deliver(report, options, path)
            backup.keeps_new = context.replaces and report.has_published
        # The inventory remembers no secrets, but its mode says that there were some.
        private = options.has_secrets or (isinstance(path, Path) and is_private(path))
        report.deliver(options, private=private)
        return report
    except SitemapCrawlerError:
        raise
    except Exception as error:
        if isinstance(error, SQLAlchemyError) or damage_message(path, error):
            raise InventoryError(inventory_failure(store.location, error)) from error
        raise
    finally:
        store.close()


def _unwritable(store: Store, config: Path | None) -> str:
    """Return what to do about an inventory without a finished run."""
    run = unfinished_run(store.connection)
    if run is None or not run.planned:
        return "run sitemap-crawler crawl first"
    given = [run.requested_url, "--state", str(store.location)] if config is None else ["--config", str(config)]
    output, default = run.options.get("output"), Options.model_fields["output"].default
    if config is None and output is not None and Path(output).absolute() != default.absolute():
        given += ["-o", output]
    fetched, waiting = fetched_in_run(store.connection, run.id), count_frontier(store.connection, leased=True)
    return unfinished_problem(fetched, waiting, command=shlex.join(["sitemap-crawler", "crawl", *given]))


def _warn_of_edits(context: RunContext, config: Path, given: Mapping[str, Any]) -> None:
    """Warn of each option of decisions and files that the last crawl had otherwise than the site file has now.

    Options in `given` win over both.
    """
    values, _ = read_site_file(config)
    values.setdefault("start_url", context.run.requested_url)
    with naming_site_file(config, values, given=()):
        now = Options.parse(values).remembered()
    # The file names its output by a path, and the start page may have moved.
    now["output"] = str(Path(now["output"]).resolve())
    before = {**context.run.options, "output": str(Path(context.run.options.get("output", "")).resolve())}
    decisive = {name for name, flag in Options.flags().items() if flag.remembered} | {"public_url"}
    names = sorted(({*before, *now} & decisive) - {*given, "start_url"})
    edits = [
        f"{name} was {before.get(name)!r}, the file has {now.get(name)!r}"
        for name in names
        if before.get(name) != now.get(name)
    ]
    if edits:
        message = (
            f"write takes the options of the last crawl, which differ from {config}: {'; '.join(edits)}; crawl again, "
            "or give these options to write"
        )
        context.warn(WarningKind.OPTIONS_CHANGED, context.start_url, message)


def _has_same_target(options: Options, remembered: Mapping[str, Any]) -> bool:
    """Return whether the options name the files that the crawl writes."""
    before = Options.parse({**remembered})
    return (options.output.absolute(), options.entry_url) == (before.output.absolute(), before.entry_url)
