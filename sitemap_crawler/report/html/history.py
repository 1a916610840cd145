"""Facts of runs: how the latest one ended, what it changed in the sitemap, and how the site grew over past runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, func, select

from sitemap_crawler.inventory.history import past_runs
from sitemap_crawler.inventory.publications import Change, Changes
from sitemap_crawler.inventory.runs import PUBLISHED
from sitemap_crawler.inventory.schema import changes, decisions, listings, observations, urls
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.html.texts import MAX_SOURCE, clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from sitemap_crawler.inventory.history import PastRun
    from sitemap_crawler.report.html.texts import PageTexts

MAX_CHANGED = 20
"""Maximum number of pages that are named for each kind of change."""
MAX_LEAVING = 4
"""Maximum number of pages that an alarm names."""
MAX_RUNS = 15
"""Maximum number of runs in the table."""
MAX_TREND_RUNS = 6
"""Maximum number of runs whose numbers by reason are compared."""
MAX_TRENDS = 6
"""Maximum number of reasons whose numbers are shown."""
MAX_POINTS = 100
"""Maximum number of runs in the picture."""


class ChangedPage(NamedTuple):
    """A page that the latest run added, changed or removed. Times are in seconds since 1970."""

    url: str
    title: str
    reason: str | None
    """Reason of the page now."""
    evidence: str
    reason_before: str | None
    """Reason of the page before this run; None if it is the same, or if the page was unknown."""
    source: str
    """Where the date of the page comes from."""
    before: float | None
    after: float | None


class ChangeList(NamedTuple):
    """The changes of one kind."""

    kind: str
    total: int
    pages: list[ChangedPage]


class Leaving(NamedTuple):
    """Pages that left the sitemap in the latest run, or would leave it, for one reason."""

    reason: str | None
    total: int
    urls: list[str]


class ReasonTrend(NamedTuple):
    """The number of URLs with one reason after each of some runs."""

    reason: str
    title: str
    counts: list[int]

    @property
    def difference(self) -> int:
        """How many more URLs have the reason after the latest run than after the first of these runs."""
        return self.counts[-1] - self.counts[0]


class Trends(NamedTuple):
    """The reasons whose numbers differ between the latest runs, the oldest run first."""

    runs: list[int]
    reasons: list[ReasonTrend]
    """At most MAX_TRENDS, those that differ most."""
    more: int
    """Number of further reasons that differ."""


class RunRow(NamedTuple):
    """A past run."""

    id: int
    started: float
    seconds: float | None
    outcome: str | None
    ended_by: str | None
    listed: int | None
    """Pages of the live sitemap after the run; None if the changes are no longer stored."""
    changes: Changes | None


class History(NamedTuple):
    """Past runs, the newest first."""

    live: int
    """Number of pages of the live sitemap."""
    runs: list[RunRow]
    latest: PastRun
    previous: PastRun | None
    """The run before the latest one."""
    published_before: bool
    """Whether an earlier run has published."""

    @property
    def shown(self) -> list[RunRow]:
        """The runs of the table."""
        return self.runs[:MAX_RUNS]

    @property
    def earlier_change(self) -> RunRow | None:
        """The newest of these before the latest run that changed the sitemap."""
        before = (run for run in self.shown if run.id != self.latest.id)
        return next((run for run in before if run.changes is not None and any(run.changes)), None)

    @property
    def points(self) -> list[RunRow]:
        """The runs of the picture, the oldest first."""
        known = [run for run in self.runs[:MAX_POINTS] if run.listed is not None and run.outcome in PUBLISHED]
        return known[::-1]


def read_history(connection: Connection) -> History:
    """Return the past runs. The number of live pages after each is counted backwards from that of today."""
    live = connection.scalar(select(func.count()).select_from(listings)) or 0
    listed: int | None = live
    rows: list[RunRow] = []
    past = past_runs(connection)
    for run in past:
        seconds = working_seconds(run)
        rows.append(RunRow(run.id, run.started, seconds, run.outcome, run.ended_by, listed, run.changes))
        listed = None if listed is None or run.changes is None else listed - run.changes.added + run.changes.removed
    published_before = any(run.outcome in PUBLISHED for run in past[1:])
    return History(live, rows, past[0], past[1] if len(past) > 1 else None, published_before)


def working_seconds(run: PastRun) -> float | None:
    """Return the time for which the processes of a run have worked; of earlier releases, that until its end."""
    if run.seconds is not None or run.finished is None:
        return run.seconds
    return run.finished - run.started


def trends_of(totals: Mapping[int, Mapping[str, Any]]) -> Trends:
    """Return the trends of the latest runs that have decided on their URLs, by the totals of each run."""
    decided = {run: values for run, values in totals.items() if "listed" in values}
    shown = sorted(decided)[-MAX_TREND_RUNS:]
    counts: list[dict[str, int]] = []
    for run in shown:
        listed, kept = decided[run]["listed"], decided[run]["kept"]
        by_reason = {Reason.LISTED: listed - kept, Reason.KEPT_AFTER_ERROR: kept, **decided[run]["excluded"]}
        counts.append({str(reason): count for reason, count in by_reason.items() if reason != Reason.OUT_OF_SCOPE})
    rows = [
        ReasonTrend(str(reason), reason.traits.title, [known.get(str(reason), 0) for known in counts])
        for reason in Reason
    ]
    rows = [row for row in rows if len(set(row.counts)) > 1]
    most = sorted(rows, key=lambda row: min(row.counts) - max(row.counts))[:MAX_TRENDS]
    return Trends(shown, [row for row in rows if row in most], max(0, len(rows) - MAX_TRENDS))


def read_changes(connection: Connection, run: int, counts: Changes, texts: PageTexts) -> list[ChangeList]:
    """Return the changes of a run that has published, the most serious kind first."""
    return [
        ChangeList(str(kind), getattr(counts, kind), _changed(connection, run, kind, texts))
        for kind in (Change.REMOVED, Change.ADDED, Change.CHANGED)
        if getattr(counts, kind)
    ]


def _changed(connection: Connection, run: int, kind: Change, texts: PageTexts) -> list[ChangedPage]:
    reason_before = case((decisions.c.since == run, decisions.c.before))
    columns = (
        urls.c.url, observations.c.title, decisions.c.reason, decisions.c.evidence, decisions.c.lastmod_source,
        reason_before.label("reason_before"), changes.c.before, changes.c.after,
    )  # fmt: skip
    query = (
        select(*columns)
        .select_from(changes)
        .join(urls, urls.c.id == changes.c.url_id)
        .outerjoin(observations, observations.c.url_id == changes.c.url_id)
        .outerjoin(decisions, decisions.c.url_id == changes.c.url_id)
        .where(changes.c.run == run, changes.c.kind == str(kind))
        .order_by(urls.c.url)
        .limit(MAX_CHANGED)
    )
    return [
        ChangedPage(
            url=texts.url(row.url),
            title=texts.title(row.title),
            reason=row.reason,
            evidence=row.evidence or "",
            reason_before=row.reason_before,
            source=clean(row.lastmod_source or "", MAX_SOURCE),
            before=row.before,
            after=row.after,
        )
        for row in connection.execute(query)
    ]


def changes_of(connection: Connection, run: int, ids: Sequence[int]) -> dict[int, str]:
    """Return what a run did in the sitemap with each of these URLs that it added, changed or removed."""
    query = select(changes.c.url_id, changes.c.kind).where(changes.c.run == run, changes.c.url_id.in_(ids))
    return dict(connection.execute(query.order_by(changes.c.publication)).all())


def pending_changes(connection: Connection) -> Changes:
    """Return the number of differences between the decisions and the live sitemap, without changed dates."""
    listed = decisions.c.decision == "listed"
    added = select(func.count()).select_from(decisions).outerjoin(listings, listings.c.url_id == decisions.c.url_id)
    removed = select(func.count()).select_from(listings).outerjoin(decisions, decisions.c.url_id == listings.c.url_id)
    return Changes(
        added=connection.scalar(added.where(listed, listings.c.url_id.is_(None))) or 0,
        removed=connection.scalar(removed.where(decisions.c.decision.is_distinct_from("listed"))) or 0,
    )


def left_sitemap(run: int, *, published: bool) -> ColumnElement[bool]:
    """Return the condition for a URL that left the live sitemap in this run; without a publication, would leave it."""
    removed = select(changes.c.url_id).where(changes.c.run == run, changes.c.kind == str(Change.REMOVED))
    would = urls.c.id.in_(select(listings.c.url_id)) & decisions.c.url_id.is_not(None)
    return (urls.c.id.in_(removed) if published else would) & decisions.c.decision.is_distinct_from("listed")


def pages_leaving(connection: Connection, run: int, texts: PageTexts, *, published: bool) -> list[Leaving]:
    """Return the pages that left the live sitemap in this run, by reason, the largest group first.

    If the run has not published, the pages that would leave it.
    """
    query = select(decisions.c.reason).select_from(urls).outerjoin(decisions, decisions.c.url_id == urls.c.id)
    query = query.where(left_sitemap(run, published=published))
    counted = query.add_columns(func.count()).group_by(decisions.c.reason).order_by(func.count().desc())
    return [
        Leaving(reason, total, [texts.url(url) for url in _examples(connection, query, reason)])
        for reason, total in connection.execute(counted)
    ]


def _examples(connection: Connection, query: Select[Any], reason: str | None) -> list[str]:
    same = decisions.c.reason.is_not_distinct_from(reason)
    rows: Sequence[Any] = connection.execute(
        query.with_only_columns(urls.c.url).where(same).order_by(urls.c.url).limit(MAX_LEAVING)
    ).all()
    return [row.url for row in rows]
