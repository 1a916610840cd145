"""Runs: each is one crawl from its start to its publication, by one process or by several in a row."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, delete, func, insert, or_, select, text, update

from sitemap_crawler.exceptions import InventoryError, OtherSiteError
from sitemap_crawler.inventory.dialects import scratch_table
from sitemap_crawler.inventory.frontier import give_back_all
from sitemap_crawler.inventory.publications import is_unpublished, mark_published
from sitemap_crawler.inventory.schema import MetaObject, decisions, frontier, meta, observations, runs, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, has_prefix
from sitemap_crawler.utils.nesting import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import Connection

PUBLISHED = ("published", "unchanged")
"""Outcomes after which the published sitemap shows what the run decided."""
SAW_EVERYTHING = "finished"
"""Value of `ended_by` for a run that saw the whole site. Absence is judged by such runs only."""
ENDED_AT_LIMIT = "limit"
"""Value of `ended_by` for a run that a limit ended. A page that it did not meet may still be there."""
ENDED_BY_REPEATS = "repeats"
"""Value of `ended_by` for a run that left URLs out because its last pages had only repeated others."""
DECIDED = (SAW_EVERYTHING, ENDED_AT_LIMIT, ENDED_BY_REPEATS)
"""Values of `ended_by` for a run that has decisions."""
_GROWN = "grown_run"
"""Row of `meta` with the latest run whose queue has grown for long."""
_PAUSE = "pause_until"
"""Row of `meta` with the time before which the site must not be requested."""
_ADDRESS = "is_public"
"""Row of `meta` with 1 if the name of the site led to a public address in the latest run, and 0 if not."""


class ProcessTotals(NamedTuple):
    """Numbers of one or more processes of a run that its observations do not tell."""

    seconds: float = 0.0
    """Time for which they have worked, without the pauses between them."""
    further_requests: int = 0
    """Number of requests without an observation: retries, and requests for robots.txt, sitemaps and probes."""
    overloads: int = 0
    """Number of answers and failures that showed an overloaded server."""
    pauses: int = 0
    """Number of pauses for which the server has asked by Retry-After."""

    def plus(self, other: ProcessTotals) -> ProcessTotals:
        """Return the sums of both."""
        return ProcessTotals(
            self.seconds + other.seconds,
            self.further_requests + other.further_requests,
            self.overloads + other.overloads,
            self.pauses + other.pauses,
        )


_NOTHING = ProcessTotals()


@dataclass(frozen=True, slots=True)
class Run:
    """A row of `runs`, as the crawl needs it."""

    id: int
    requested_url: str
    start_url: str
    """Start page of the crawl. It differs from the requested one if that has moved."""
    sitemap_url: str
    started: float
    """In seconds since 1970."""
    resumed: bool
    """Whether an earlier process began the run."""
    ended_by: str | None = None
    """`finished` if the run saw the whole site, `limit`, or the failure that ended it. None while it is open."""
    options: dict[str, Any] = field(default_factory=dict)
    """The stored options. A resumed run has those of the process before."""
    planned: bool = False
    """Whether every known URL has its state for this run."""
    earlier: ProcessTotals = _NOTHING
    """Numbers of the processes of the run that have ended."""
    process_started: float = 0.0
    """Start of this process, in seconds since 1970."""

    def working_seconds(self, now: float) -> float:
        """Return the time for which the processes of the run have worked, at a time in seconds since 1970."""
        return self.earlier.seconds + max(0.0, now - self.process_started)


def begin_run(
    connection: Connection, *, requested_url: str, sitemap_url: str, options: dict[str, Any], now: datetime
) -> Run:
    """Resume the unfinished run, or begin the next one.

    A resumed run keeps the start page that it adopted. Raises InventoryError if the inventory belongs to another site.
    """
    with connection.begin():
        last = connection.execute(select(runs).order_by(runs.c.id.desc()).limit(1)).first()
        if last is not None and last.requested_url != requested_url:
            raise OtherSiteError(
                f"the inventory holds the site of {last.requested_url}, not {requested_url}: crawl from that URL, "
                "or give this one a --state and an --output of its own"
            )
        if last is not None and last.finished is None:
            if last.start_url == requested_url and last.sitemap_url != sitemap_url:
                raise InventoryError(
                    f"an unfinished run is for the sitemap {last.sitemap_url}, not {sitemap_url}: "
                    "finish it with that address, or drop it with --fresh"
                )
            connection.execute(update(runs).where(runs.c.id == last.id).values(options=options, totals=None))
            _end_earlier_processes(connection, last.id, resumed=True)
            earlier = _begin_process(connection, last.id, now=now.timestamp(), begun=last.started)
            return Run(
                last.id,
                requested_url,
                last.start_url,
                last.sitemap_url,
                last.started,
                resumed=True,
                options=last.options or {},
                planned=last.planned,
                earlier=earlier,
                process_started=now.timestamp(),
            )
        run_id = last.id + 1 if last is not None else 1
        started = now.timestamp()
        run = Run(run_id, requested_url, requested_url, sitemap_url, started, resumed=False, process_started=started)
        row = {"requested_url": requested_url, "start_url": run.start_url, "sitemap_url": run.sitemap_url}
        connection.execute(insert(runs).values(id=run.id, started=run.started, options=options, **row))
        _end_earlier_processes(connection, run.id, resumed=False)
        _begin_process(connection, run.id, now=started)
        return run


def _begin_process(connection: Connection, run: int, *, now: float, begun: float | None = None) -> ProcessTotals:
    """Record that a process works on the run from `now` on. Return what earlier ones have done.

    `begun` is the start of a run that is resumed. A process that was killed has worked until its last observation, and
    its other numbers are lost.
    """
    earlier = _NOTHING
    if begun is not None:
        stored = connection.scalar(select(meta.c.value).where(meta.c.name == MetaObject.WORKING_TIME))
        before = {} if stored is None else read_json(stored)
        if before.get("run") != run:
            # An earlier release began the run.
            before = {"seconds": 0.0, "since": begun}
        # Earlier releases store the time only.
        earlier = ProcessTotals(**{name: before[name] for name in ProcessTotals._fields if name in before})
        if before["since"] is not None:
            last = connection.scalar(select(func.max(observations.c.fetched)).where(observations.c.run == run))
            seconds = max(0.0, min(last or 0.0, now) - before["since"])
            earlier = earlier._replace(seconds=earlier.seconds + seconds)
        if connection.dialect.name == "postgresql":
            # The rows of the processes have their numbers, and those of helpers.
            earlier = ProcessTotals(seconds=earlier.seconds)
    _store_process_totals(connection, run, earlier, since=now)
    return earlier


def end_process(connection: Connection, run: int, totals: ProcessTotals) -> None:
    """Record what the processes of the run have done, now that this one ends."""
    with connection.begin():
        _store_process_totals(connection, run, totals, since=None)


def _store_process_totals(connection: Connection, run: int, totals: ProcessTotals, *, since: float | None) -> None:
    """Store what the processes that have ended have done, and the start of the process that works now."""
    connection.execute(delete(meta).where(meta.c.name == MetaObject.WORKING_TIME))
    value = json.dumps({"run": run, **totals._asdict(), "since": since})
    connection.execute(insert(meta).values(name=MetaObject.WORKING_TIME, value=value))


def _end_earlier_processes(connection: Connection, run: int, *, resumed: bool) -> None:
    """Let the URLs wait again that earlier processes had leased. The helpers of a resumed run may go on."""
    if connection.dialect.name == "postgresql":
        from sitemap_crawler.inventory.processes import give_back_of_earlier

        give_back_of_earlier(connection, run, resumed=resumed)
    elif resumed:
        give_back_all(connection)


def last_finished_run(connection: Connection) -> Run | None:
    """Return the latest run with decisions, or None. An open run and a dropped one have none."""
    decided = runs.c.ended_by.in_(DECIDED)
    with connection.begin():
        row = connection.execute(select(runs).where(decided).order_by(runs.c.id.desc()).limit(1)).first()
        published = decided & runs.c.outcome.in_(PUBLISHED)
        good = connection.execute(select(runs).where(published).order_by(runs.c.id.desc()).limit(1)).first()
    if row is None:
        return None
    return Run(
        row.id,
        row.requested_url,
        row.start_url,
        # The sitemap URL and the options of a run that was refused or tried out do not last.
        (good or row).sitemap_url,
        row.started,
        resumed=False,
        ended_by=row.ended_by,
        options=(good or row).options or {},
    )


def is_unfinished(connection: Connection) -> bool:
    """Return whether the latest run is open."""
    with connection.begin():
        return connection.scalar(select(func.count()).select_from(runs).where(runs.c.finished.is_(None))) != 0


def is_latest_published(connection: Connection, run: int) -> bool:
    """Return whether this run is the latest one, and has published what it decided."""
    query = select(runs.c.id, runs.c.outcome).order_by(runs.c.id.desc()).limit(1)
    with connection.begin():
        row = connection.execute(query).first()
    return row is not None and row.id == run and row.outcome in PUBLISHED


def finished_runs_ago(connection: Connection, count: int, *, now: int, counts_now: bool) -> int:
    """Return the run since which `count` runs saw the whole site, itself included; 0 if fewer did.

    The run `now` is the last one that counts, if it saw the whole site (`counts_now`). Runs that a limit ended do not
    count. Neither do runs that were refused or tried out: they may have seen an outage.
    """
    if counts_now:
        count -= 1
    if count <= 0:
        return now
    good = (runs.c.ended_by == SAW_EVERYTHING) & runs.c.outcome.in_(PUBLISHED)
    earlier = select(runs.c.id).where(good, runs.c.id < now).order_by(runs.c.id.desc())
    return connection.scalar(earlier.offset(count - 1).limit(1)) or 0


def lost_urls(connection: Connection) -> Iterator[str]:
    """Yield the URLs that are still leased when a run has nothing left to fetch: no observation of them was stored."""
    lost = select(urls.c.url).join(frontier, frontier.c.url_id == urls.c.id).where(frontier.c.owner.is_not(None))
    lost = lost.order_by(urls.c.id)
    with connection.begin():
        yield from connection.scalars(lost.execution_options(yield_per=STREAM_ROWS))


def mark_planned(connection: Connection, run: int) -> None:
    """Record that every known URL has its state for this run. The caller has begun the transaction that sets them."""
    connection.execute(update(runs).where(runs.c.id == run).values(planned=True))


def drop_unfinished_run(connection: Connection) -> None:
    """End the unfinished run, if there is one. Its observations stay until their URLs are fetched again."""
    with connection.begin():
        unfinished = runs.c.finished.is_(None)
        connection.execute(update(runs).where(unfinished).values(finished=runs.c.started, outcome="dropped"))


def unfinished_run(connection: Connection) -> Run | None:
    """Return the run that is open, or None if there is none."""
    with connection.begin():
        row = connection.execute(select(runs).where(runs.c.finished.is_(None)).limit(1)).first()
    if row is None:
        return None
    return Run(
        row.id,
        row.requested_url,
        row.start_url,
        row.sitemap_url,
        row.started,
        resumed=False,
        options=row.options or {},
        planned=row.planned,
    )


def store_pause(connection: Connection, until: float) -> None:
    """Store the time before which the site must not be requested, in seconds since 1970."""
    with connection.begin():
        connection.execute(delete(meta).where(meta.c.name == _PAUSE))
        connection.execute(insert(meta).values(name=_PAUSE, value=repr(until)))


def load_pause(connection: Connection) -> float:
    """Return the stored time before which the site must not be requested, in seconds since 1970; 0 without one."""
    with connection.begin():
        value = connection.scalar(select(meta.c.value).where(meta.c.name == _PAUSE))
    return float(value) if value is not None else 0.0


def exchange_address(connection: Connection, *, is_public: bool) -> bool | None:
    """Store whether the site has a public address, and return what was stored; None at the first time."""
    with connection.begin():
        value = connection.scalar(select(meta.c.value).where(meta.c.name == _ADDRESS))
        connection.execute(delete(meta).where(meta.c.name == _ADDRESS))
        connection.execute(insert(meta).values(name=_ADDRESS, value=str(int(is_public))))
    return None if value is None else value == "1"


def latest_time(connection: Connection, *, before: int) -> float:
    """Return the latest time at which a run before this one began or ended, in seconds since 1970; 0 without one."""
    ends = select(func.max(runs.c.started), func.max(runs.c.finished)).where(runs.c.id < before)
    with connection.begin():
        return max((moment for moment in connection.execute(ends).one() if moment is not None), default=0.0)


def mark_grown(connection: Connection, run: int) -> None:
    """Record that the queue of a run has grown for long, and that its user was told."""
    with connection.begin():
        connection.execute(delete(meta).where(meta.c.name == _GROWN))
        connection.execute(insert(meta).values(name=_GROWN, value=str(run)))


def has_grown(connection: Connection, run: int) -> bool:
    """Return whether the queue of this run has grown for long, in this process or an earlier one."""
    with connection.begin():
        return connection.scalar(select(meta.c.value).where(meta.c.name == _GROWN)) == str(run)


def move_run(connection: Connection, run: int, *, start_url: str, sitemap_url: str) -> None:
    """Record another start page of the run, and the URL of its sitemap."""
    with connection.begin():
        values = {"start_url": start_url, "sitemap_url": sitemap_url}
        connection.execute(update(runs).where(runs.c.id == run).values(values))


def finish_run(connection: Connection, run: int, *, outcome: str, ended_by: str, now: datetime) -> None:
    with connection.begin():
        values = {"finished": now.timestamp(), "outcome": outcome, "ended_by": ended_by}
        connection.execute(update(runs).where(runs.c.id == run).values(values))


class Totals(NamedTuple):
    """Counts of one run, over all its processes."""

    requests: int
    bytes: int
    """Uncompressed bytes of all bodies."""
    not_modified: int
    """Number of requests with the answer 304."""
    errors: int
    """Number of URLs that are unreachable or have the status 429 or 5xx."""


def run_totals(connection: Connection, run: int) -> Totals:
    seen = observations.c
    answered = seen.blocked_by.is_(None)
    fresh = and_(seen.not_modified.is_(False), seen.failed_since.is_(None))
    failed = or_(seen.status >= 500, seen.status == 429, seen.error.is_not(None), seen.failed_since.is_not(None))
    count = [
        func.count().filter(answered),
        func.coalesce(func.sum(seen.body_bytes).filter(fresh), 0),
        func.count().filter(seen.not_modified),
        func.count().filter(failed),
    ]
    with connection.begin():
        # The sums of PostgreSQL are decimal numbers.
        return Totals(*map(int, connection.execute(select(*count).where(seen.run == run)).one()))


def fetched_in_run(connection: Connection, run: int) -> int:
    """Return the number of URLs that the run has fetched. URLs that robots.txt forbids do not count."""
    query = select(func.count()).select_from(observations)
    query = query.where(observations.c.run == run, observations.c.blocked_by.is_(None))
    with connection.begin():
        return connection.scalar(query) or 0


@dataclass(slots=True)
class DecisionBackup:
    """The outcome that the user of `decision_backup` sets."""

    keeps_new: bool = False
    """Whether the new decisions stay."""


@contextmanager
def decision_backup(connection: Connection) -> Iterator[DecisionBackup]:
    """Restore the decisions on exit, unless `keeps_new` is set. After a kill the next `write` decides again."""
    backup = DecisionBackup()
    were_unpublished = is_unpublished(connection)
    with connection.begin():
        # A killed process may have left the table.
        connection.execute(text("DROP TABLE IF EXISTS kept_decisions"))
        create = f"CREATE {scratch_table(connection)} kept_decisions AS SELECT * FROM {decisions.name}"  # noqa: S608
        connection.execute(text(create))
    yield backup
    with connection.begin():
        if not backup.keeps_new:
            connection.execute(decisions.delete())
            connection.execute(text(f"INSERT INTO {decisions.name} SELECT * FROM kept_decisions"))  # noqa: S608
        connection.execute(text("DROP TABLE kept_decisions"))
    if not backup.keeps_new and not were_unpublished:
        mark_published(connection)


def undo_run_marks(connection: Connection, run: int, *, prefix: str | None = None) -> None:
    """Undo the orphan and failure marks of a refused run, which may have seen an outage. The next run may set them.

    With `prefix` only the marks of URLs below it are undone.
    """
    with connection.begin():
        unlinked = (urls.c.unlinked_since == run) & has_prefix(prefix)
        connection.execute(update(urls).where(unlinked).values(unlinked_since=None))
        failing = observations.c.failed_since == run
        if prefix is not None:
            failing &= observations.c.url_id.in_(select(urls.c.id).where(has_prefix(prefix)))
        connection.execute(update(observations).where(failing).values(failed_since=run + 1))
