"""All facts of the HTML report as plain values, read from an inventory in one snapshot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from sitemap_crawler import __version__
from sitemap_crawler.inventory.location import default_state_path
from sitemap_crawler.inventory.publications import Changes
from sitemap_crawler.inventory.results import OF_CRAWL, stored_warnings, totals_by_run, warned_run
from sitemap_crawler.inventory.schema import SCHEMA_VERSION, observations
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.warning_kinds import KINDS, SiteWarning
from sitemap_crawler.report.explain import rules_of
from sitemap_crawler.report.html.decision_groups import Group
from sitemap_crawler.report.html.drawing import line_chart, pages_per_square
from sitemap_crawler.report.html.engines import read_engines
from sitemap_crawler.report.html.history import (
    pages_leaving,
    pending_changes,
    read_changes,
    read_history,
    trends_of,
    working_seconds,
)
from sitemap_crawler.report.html.learnt import read_learnt
from sitemap_crawler.report.html.scan import scan
from sitemap_crawler.report.html.site_facts import read_dates, read_links, read_server
from sitemap_crawler.report.html.tasks import tasks_of
from sitemap_crawler.report.html.texts import PageTexts, site_name
from sitemap_crawler.report.html.url_rows import group_of, read_table
from sitemap_crawler.report.html.verdict import Ending, alarms_of, alarms_of_new_kinds, verdict_of, verdict_of_unstarted
from sitemap_crawler.report.report import Outcome
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.urls.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.lookup import Inventory
    from sitemap_crawler.report.html.drawing import Line
    from sitemap_crawler.report.html.engines import Engines
    from sitemap_crawler.report.html.history import ChangeList, History, Trends
    from sitemap_crawler.report.html.learnt import LearntTraps
    from sitemap_crawler.report.html.scan import ReasonUrls, Scan
    from sitemap_crawler.report.html.site_facts import Dates, Links, Server
    from sitemap_crawler.report.html.tasks import Tasks
    from sitemap_crawler.report.html.url_rows import UrlTable
    from sitemap_crawler.report.html.verdict import Alarm, Verdict
    from sitemap_crawler.report.report import Report

REASONS = {str(reason): reason for reason in Reason}
DEFAULT_ROWS = 10_000
"""Rows of the table of URLs, unless the user wants another number."""


class ReasonRow(NamedTuple):
    """Number of URLs with one reason."""

    reason: str
    group: Group
    total: int
    new: int
    """Number of URLs that have the reason since the latest run."""
    title: str
    meaning: str
    remedy: str


class RunResults(NamedTuple):
    """What the report of the latest run has."""

    totals: dict[str, Any]
    """The numbers by name; empty while the run is open."""
    by_run: dict[int, dict[str, Any]]
    """The same of each run that has them, by its number."""
    warnings: list[SiteWarning]
    warning_counts: dict[str, int]


class Requests(NamedTuple):
    """The requests of the latest run."""

    total: int
    not_modified: int
    bytes: int
    seconds: float | None
    overloads: int = 0
    """Number of answers and failures that showed an overloaded server."""
    pauses: int = 0
    """Number of pauses for which the server has asked."""


class About(NamedTuple):
    """Where the report comes from."""

    made: float
    """In seconds since 1970."""
    version: str
    schema: int
    inventory: str
    requested_url: str
    start_url: str
    sitemap_url: str
    user_agent: str
    command: str
    """Arguments that name the inventory on the command line."""
    state: str
    """The same for `explain`, which finds an inventory in the default place by the URL."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that the templates show. Texts from the site have no control characters."""

    site: str
    origin: str
    """Origin of the public addresses, without which the report shows them."""
    run: int
    moment: float
    """Time of the latest run's end, or of its start while it is open. In seconds since 1970."""
    ending: Ending
    verdict: Verdict
    alarms: list[Alarm]
    tasks: Tasks
    hints: list[str]
    notices: list[str]
    """What the latest run has not requested, why, and what to do."""
    scan: Scan
    other_hosts: int
    """Number of URLs out of the scope that lie on other hosts, as far as the latest run has counted them."""
    reasons: list[ReasonRow]
    learnt: LearntTraps
    changes: Changes
    change_lists: list[ChangeList]
    history: History
    trends: Trends
    chart: Line | None
    requests: Requests
    rendering: dict[str, Any] | None
    """The numbers of the renderings of the latest run; None without one."""
    dates: Dates
    links: Links
    server: Server
    engines: Engines | None
    """None if no search engine has been asked."""
    table: UrlTable
    unit: int
    """Pages for which a square of the tree stands."""
    flat: bool
    """Whether nearly all pages lie in one directory, so that the tree by clicks says more."""
    about: About


def collect(
    inventory: Inventory, path: StateLocation, *, rows: int = DEFAULT_ROWS, report: Report | None = None
) -> Facts:
    """Return the facts of an inventory at `path`. `report` is that of the run, if it has just ended.

    The report of a crawl that could not begin has no run: the facts are those of the run before, with another verdict.
    """
    connection, run = inventory.connection, inventory.run
    rules, _ = rules_of(run)
    to_public = rules.to_public
    texts = PageTexts(to_public, site_name(connection))
    has_address = rules.address is not None
    prefix = Scope.for_sitemap(run.sitemap_url).prefix
    origin = origin_of(prefix)
    found = scan(inventory, prefix=prefix, to_public=to_public if has_address else None)
    history = read_history(connection)
    finished = history.latest.finished
    results = run_results(inventory, report)
    ending = _ending(inventory, history, results.totals)
    counts = found.counts
    changes = (history.latest.changes or Changes()) if ending.has_published else pending_changes(connection)
    moment = finished or run.started
    options = run.options
    if report is None or report.run:
        verdict = verdict_of(ending, counts, live=history.live, run=run.id)
    else:
        verdict = verdict_of_unstarted(report.message, report.started, live=history.live, run=run.id)
    return Facts(
        site=texts.url(run.start_url),
        origin=origin,
        run=run.id,
        moment=moment,
        ending=ending,
        verdict=verdict,
        alarms=[
            *alarms_of(
                pages_leaving(connection, run.id, texts, published=ending.has_published) if found.in_scope else [],
                published=ending.has_published,
                live=history.live,
                kept=counts[Group.AT_RISK],
                keep_runs=int(options.get("keep_errors") or 0),
            ),
            *alarms_of_new_kinds(*_warning_counts(results.by_run, run.id)),
        ],
        tasks=tasks_of(results.warnings, results.warning_counts, texts, reasons=found.by_reason),
        hints=results.totals.get("hints", "").splitlines(),
        notices=results.totals.get("notices", "").splitlines(),
        scan=found,
        other_hosts=results.totals.get("other_hosts", 0),
        reasons=_reasons(found),
        learnt=read_learnt(connection, texts, prefix=rules.scope.prefix),
        changes=changes,
        change_lists=read_changes(connection, run.id, changes, texts) if ending.has_published else [],
        history=history,
        trends=trends_of(results.by_run),
        chart=line_chart([run.listed or 0 for run in history.points]) if len(history.points) > 1 else None,
        requests=_requests(inventory, results.totals, working_seconds(history.latest)),
        rendering=_rendering(results.totals),
        dates=read_dates(connection, moment),
        links=read_links(inventory, texts),
        server=read_server(inventory, texts, prefix=prefix),
        engines=read_engines(connection, rules.address),
        table=read_table(inventory, found, limit=rows, texts=texts, published=ending.has_published),
        unit=pages_per_square(found.in_scope),
        flat=_is_flat(found),
        about=_about(inventory, path),
    )


def _ending(inventory: Inventory, history: History, totals: dict[str, Any]) -> Ending:
    """Return how the latest run ended. An interrupted or failed run stays open, but has totals."""
    outcome = totals.get("outcome") or history.latest.outcome
    return Ending(None if outcome is None else Outcome(outcome), inventory.run.ended_by, totals.get("message", ""))


def _reasons(found: Scan) -> list[ReasonRow]:
    rows = [_reason_row(reason, known) for reason, known in found.by_reason.items()]
    ranks = {str(reason): rank for rank, reason in enumerate(Reason)}
    return sorted(rows, key=lambda row: (row.group, -row.total, ranks.get(row.reason, 0)))


def _reason_row(reason: str | None, known: ReasonUrls) -> ReasonRow:
    if reason is None:
        meaning = "Known, but the run has not come to them yet."
        return ReasonRow("", Group.OPEN, known.total, len(known.new), "Undecided", meaning, "")
    traits = REASONS[reason].traits
    meaning = f"{traits.description} {traits.why}"
    return ReasonRow(reason, group_of(reason), known.total, len(known.new), traits.title, meaning, traits.remedy)


def run_results(inventory: Inventory, report: Report | None) -> RunResults:
    """Return totals and warnings: those of the report of a run, or else the stored ones."""
    connection, run = inventory.connection, inventory.run.id
    by_run = totals_by_run(connection)
    if report is not None and report.run:
        found = [SiteWarning(KINDS[row["kind"]], row["url"], row["message"]) for row in report.warnings]
        totals = report.totals()
        # The report of `write` has none of the numbers of the crawl whose decisions it makes anew.
        totals |= {name: value for name, value in by_run.get(run, {}).items() if name in OF_CRAWL}
        return RunResults(totals, {**by_run, run: totals}, found, report.warning_counts)
    known = [
        SiteWarning(KINDS[row.kind], row.url, row.message) for row in stored_warnings(connection) if row.kind in KINDS
    ]
    # Without decisions a run has no warnings, and those of an earlier run stay.
    counts = by_run.get(warned_run(connection) or 0, {}).get("warning_counts", {})
    return RunResults(by_run.get(run, {}), by_run, known, {**Counter(str(row.kind) for row in known), **counts})


def _warning_counts(by_run: Mapping[int, Mapping[str, Any]], run: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the warnings by kind of the run and of the one before, both empty if one of them has not judged."""
    name = "warning_counts"
    before = [number for number, totals in by_run.items() if number < run and name in totals]
    if name not in by_run.get(run, {}) or not before:
        return {}, {}
    return by_run[run][name], by_run[max(before)][name]


def _requests(inventory: Inventory, totals: dict[str, Any], seconds: float | None) -> Requests:
    """Return the requests of the latest run. Those of an open run are counted."""
    if "requests" in totals:
        overloads, pauses = totals.get("overloads", 0), totals.get("pauses", 0)
        return Requests(totals["requests"], totals["not_modified"], totals["bytes"], seconds, overloads, pauses)
    seen = observations.c
    fresh = seen.not_modified.is_(False) & seen.failed_since.is_(None)
    query = select(
        func.count(), func.count().filter(seen.not_modified), func.coalesce(func.sum(seen.body_bytes).filter(fresh), 0)
    ).where(seen.run == inventory.run.id, seen.blocked_by.is_(None))
    total, not_modified, size = inventory.connection.execute(query).one()
    return Requests(total, not_modified, size, seconds)


def _rendering(totals: dict[str, Any]) -> dict[str, Any] | None:
    """Return the numbers of the renderings with the refused requests by host; None without a rendering."""
    counts = totals.get("rendering")
    return None if counts is None else {**counts, "refused": totals.get("refused", {})}


def _is_flat(found: Scan) -> bool:
    """Return whether most URLs lie directly in one directory."""
    largest = max(sum(node.own) for node in found.directories.walk())
    return found.clicks is not None and bool(found.clicks.children) and largest * 3 > found.in_scope * 2


def _about(inventory: Inventory, path: StateLocation) -> About:
    run = inventory.run
    is_default = isinstance(path, Path) and path.resolve() == default_state_path(run.sitemap_url).resolve()
    state = "" if is_default else f" --state {quote(str(path))}"
    return About(
        made=datetime.now(UTC).timestamp(),
        version=__version__,
        schema=SCHEMA_VERSION,
        inventory=str(path),
        requested_url=run.requested_url,
        start_url=run.start_url,
        sitemap_url=run.sitemap_url,
        user_agent=str(run.options.get("user_agent", "")),
        command=state.strip() or run.requested_url,
        state=state,
    )
