"""Ledger of what was sent to search engines, and of their answers.

Each transaction is short and on a connection of its own. The lock of a run is not taken: a crawl may use the inventory
meanwhile. A row is written before its request, with the outcome `sending`, and completed after the answer. So a process
that is killed in between repeats at most that request, and not before RESEND_SECONDS have passed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, select, update

from sitemap_crawler.inventory.dialects import Greater
from sitemap_crawler.inventory.dialects import insert as upsert
from sitemap_crawler.inventory.schema import MetaObject, changes, meta, submission_marks, submissions, submitted_urls
from sitemap_crawler.inventory.sql import chunks
from sitemap_crawler.utils.nesting import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection, Select

    from sitemap_crawler.inventory.unlocked import UnlockedInventory

RESEND_SECONDS = 600.0
"""Minimum time between two submissions of one URL, https://www.indexnow.org/faq"""
UNCHANGED_SECONDS = 86_400.0
"""Time for which an accepted file is not sent again, unless its bytes change."""
KEPT_SUBMISSIONS = 1_000
"""Number of submissions of each service that are kept."""
KEPT_URLS_SECONDS = 30 * 86_400.0
"""Time for which submitted URLs are kept."""
MAX_PAUSE_SECONDS = 86_400.0
"""Longest pause of a service that is kept: a service, or a clock that was wrong, may have named any time."""
MAX_EXPLAINED = 5
"""Maximum number of submissions of one URL that are returned."""
_DELETED_AT_ONCE = 100_000
"""Range of URL ids whose old rows one transaction deletes: a crawl that writes meanwhile waits for milliseconds."""
ACCEPTED = ("accepted", "pending")
"""Outcomes of a submission that the service has taken."""
_SENDING = "sending"
_URLS, _SITEMAP, _REMOVE = "urls", "sitemap", "remove"


class Receiver(NamedTuple):
    """One host of the site at one endpoint of a service."""

    service: str
    endpoint: str
    """Host of the endpoint."""
    host: str
    """Host of the site."""


class UrlChange(NamedTuple):
    """A URL to be sent, and what has become of its page."""

    url_id: int
    kind: str


class UrlClaim(NamedTuple):
    """The URLs of a batch that this process may send."""

    submission: int | None
    """Id of the submission; None if nothing is left to send, and in a dry run."""
    urls: list[UrlChange]
    held: int
    """Number of URLs that must wait: another process may have sent them, or they were sent moments ago."""


class FileClaim(NamedTuple):
    """Whether this process may send a file."""

    submission: int | None = None
    """Id of the submission; None if the file must not be sent now, and in a dry run."""
    accepted_at: float | None = None
    """When the service has accepted the same bytes; None if it has not."""
    is_held: bool = False
    """Whether the file must wait: another process may be sending it."""


class Sent(NamedTuple):
    """One submission of a URL."""

    at: float
    service: str
    kind: str
    outcome: str
    http_status: int | None


class Ledger:
    """The ledger of an open inventory. All times are in seconds since 1970.

    In a dry run the claims are the same, and nothing is recorded.
    """

    def __init__(self, inventory: UnlockedInventory, *, dry_run: bool = False) -> None:
        self._inventory = inventory
        self._dry_run = dry_run

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that only reads."""
        return self._inventory.snapshot()

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._inventory.transaction()

    def _claiming(self) -> AbstractContextManager[Connection]:
        return self.reading() if self._dry_run else self._writing()

    def mark(self, receiver: Receiver) -> int | None:
        """Return the last publication whose changes the receiver has got; None before first use."""
        with self.reading() as connection:
            publication: int | None = connection.scalar(
                select(submission_marks.c.publication).where(*_equal(submission_marks, receiver))
            )
        return publication

    def set_mark(self, receiver: Receiver, publication: int) -> None:
        """Note that the receiver has got all changes up to a publication. A later mark stays."""
        if self._dry_run:
            return
        statement = upsert(submission_marks).values(**receiver._asdict(), publication=publication)
        with self._writing() as connection:
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=list(submission_marks.primary_key.columns),
                    set_={"publication": Greater(submission_marks.c.publication, statement.excluded.publication)},
                )
            )

    def claim_urls(
        self, receiver: Receiver, wanted: Sequence[UrlChange], *, publication: int, now: float, again: bool = False
    ) -> UrlClaim:
        """Record a batch that is about to be sent, without the URLs that must not be sent now.

        `publication` is the last one of the changes. URLs that were accepted since then are left out; with `again` only
        those of the last RESEND_SECONDS.
        """
        with self._claiming() as connection:
            done, held = self._sent_before(connection, receiver, wanted, publication=publication, now=now, again=again)
            urls = [change for change in wanted if change.url_id not in done and change.url_id not in held]
            if not urls or self._dry_run:
                return UrlClaim(None, urls, len(held))
            row = {"target": "batch", "kind": _URLS, "publication": publication, "urls": len(urls), "sha256": None}
            submission = _begin(connection, receiver, row, now)
            rows = [{"url_id": change.url_id, "submission": submission, "kind": change.kind} for change in urls]
            connection.execute(insert(submitted_urls), rows)
        return UrlClaim(submission, urls, len(held))

    def _sent_before(
        self,
        connection: Connection,
        receiver: Receiver,
        wanted: Sequence[UrlChange],
        *,
        publication: int,
        now: float,
        again: bool,
    ) -> tuple[set[int], set[int]]:
        """Return the URLs that the receiver has got, and those that must wait."""
        done: set[int] = set()
        held: set[int] = set()
        recent = func.abs(submissions.c.at - now) < RESEND_SECONDS
        columns = submitted_urls.c.url_id, submissions.c.outcome, submissions.c.publication, recent.label("recent")
        query = select(*columns).join(submissions, submissions.c.id == submitted_urls.c.submission)
        query = query.where(*_equal(submissions, receiver), submissions.c.outcome.in_((*ACCEPTED, _SENDING)))
        for ids in chunks([change.url_id for change in wanted]):
            for row in connection.execute(query.where(submitted_urls.c.url_id.in_(ids))):
                is_current = row.outcome != _SENDING and row.publication >= publication
                if is_current and (row.recent or not again):
                    done.add(row.url_id)
                elif row.recent:
                    held.add(row.url_id)
        return done, held - done

    def claim_file(
        self, receiver: Receiver, target: str, *, publication: int, sha256: str, now: float, again: bool = False
    ) -> FileClaim:
        """Record that a file is about to be sent, unless the service has accepted the same bytes within a day.

        With `again` these are sent, too. A file that another process may be sending must wait.
        """
        with self._claiming() as connection:
            if _is_being_sent(connection, receiver, target, now):
                return FileClaim(is_held=True)
            accepted = submissions.c.outcome.in_(ACCEPTED)
            last = connection.execute(_rows_of(receiver, target).where(accepted).limit(1)).first()
            is_same = last is not None and last.kind == _SITEMAP and last.sha256 == sha256
            if last is not None and is_same and not again and abs(last.at - now) < UNCHANGED_SECONDS:
                return FileClaim(accepted_at=last.at)
            if self._dry_run:
                return FileClaim()
            row = {"target": target, "kind": _SITEMAP, "publication": publication, "urls": 0, "sha256": sha256}
            return FileClaim(_begin(connection, receiver, row, now))

    def claim_removal(self, receiver: Receiver, target: str, *, publication: int, now: float) -> FileClaim:
        """Record that a file is about to be taken back, unless another process may be sending it or doing so."""
        with self._claiming() as connection:
            if _is_being_sent(connection, receiver, target, now):
                return FileClaim(is_held=True)
            if self._dry_run:
                return FileClaim()
            row = {"target": target, "kind": _REMOVE, "publication": publication, "urls": 0, "sha256": None}
            return FileClaim(_begin(connection, receiver, row, now))

    def complete(self, submission: int, **answer: Any) -> None:
        """Record the answer: outcome, http_status, reason, message, request_id."""
        with self._writing() as connection:
            connection.execute(update(submissions).where(submissions.c.id == submission).values(**answer))

    def pause(self, receiver: Receiver, until: float, *, now: float, of_host: bool) -> None:
        """Note that a service must not be sent anything before a time: about this host, or about any."""
        if self._dry_run:
            return
        name = _pause_names(receiver)[int(of_host)]
        with self._writing() as connection:
            pauses = {**_pauses(connection, now), name: min(until, now + MAX_PAUSE_SECONDS)}
            connection.execute(delete(meta).where(meta.c.name == MetaObject.SERVICE_PAUSES))
            connection.execute(insert(meta).values(name=MetaObject.SERVICE_PAUSES, value=json.dumps(pauses)))

    def pause_until(self, receiver: Receiver, now: float) -> float | None:
        """Return the time before which the receiver must not be sent anything; None if it may be at once."""
        with self.reading() as connection:
            pauses = _pauses(connection, now)
        return max((pauses[name] for name in _pause_names(receiver) if name in pauses), default=None)

    def standing_files(self, service: str, endpoint: str) -> list[tuple[str, str]]:
        """Return host and URL of each file that the service has accepted, and that was not taken back since."""
        query = (
            select(submissions.c.host, submissions.c.target, submissions.c.kind)
            .where(submissions.c.service == service, submissions.c.endpoint == endpoint)
            .where(submissions.c.outcome.in_(ACCEPTED), submissions.c.kind != _URLS)
            .order_by(submissions.c.id)
        )
        with self.reading() as connection:
            last = {(row.host, row.target): row.kind for row in connection.execute(query)}
        return sorted(file for file, kind in last.items() if kind == _SITEMAP)

    def prune(self, now: float) -> None:
        """Delete submitted URLs after KEPT_URLS_SECONDS, and submissions beyond the newest KEPT_SUBMISSIONS."""
        is_old = and_(submissions.c.kind == _URLS, submissions.c.at < now - KEPT_URLS_SECONDS)
        with self.reading() as connection:
            old = list(connection.scalars(select(submissions.c.id).where(is_old)))
            highest = connection.scalar(select(func.max(submitted_urls.c.url_id))) if old else None
            services = list(connection.scalars(select(submissions.c.service).distinct()))
        for start in range(0, (highest or -1) + 1, _DELETED_AT_ONCE):
            span = submitted_urls.c.url_id.between(start, start + _DELETED_AT_ONCE - 1)
            with self._writing() as connection:
                for ids in chunks(old):
                    connection.execute(delete(submitted_urls).where(span, submitted_urls.c.submission.in_(ids)))
        for service in services:
            self._prune_service(service)

    def _prune_service(self, service: str) -> None:
        """Delete the oldest submissions of a service. Those whose URLs are kept stay."""
        of_service = submissions.c.service == service
        newest = select(submissions.c.id).where(of_service).order_by(submissions.c.id.desc())
        with self._writing() as connection:
            first_kept = connection.scalar(newest.offset(KEPT_SUBMISSIONS - 1).limit(1))
            if first_kept is None:
                return
            used = exists().where(submitted_urls.c.submission == submissions.c.id)
            connection.execute(delete(submissions).where(of_service, submissions.c.id < first_kept, ~used))


def changed_since(receiver: Receiver, mark: int) -> ColumnElement[bool]:
    """Return the condition that a row of `changes` is not known to the receiver, which knows everything up to `mark`.

    The receiver also knows the changes of a URL up to the last publication at which it has accepted the URL.
    """
    known = (
        select(submitted_urls.c.url_id, func.max(submissions.c.publication).label("publication"))
        .join(submissions, submissions.c.id == submitted_urls.c.submission)
        .where(*_equal(submissions, receiver), submissions.c.outcome.in_(ACCEPTED), submissions.c.publication > mark)
        .group_by(submitted_urls.c.url_id)
        .subquery()
    )
    last_known = select(known.c.publication).where(known.c.url_id == changes.c.url_id).scalar_subquery()
    return and_(changes.c.publication > mark, changes.c.publication > func.coalesce(last_known, mark))


def submissions_of(connection: Connection, url_id: int) -> list[Sent]:
    """Return the last submissions of a URL, the newest first."""
    columns = submissions.c.at, submissions.c.service, submitted_urls.c.kind, submissions.c.outcome
    query = (
        select(*columns, submissions.c.http_status)
        .join(submitted_urls, submitted_urls.c.submission == submissions.c.id)
        .where(submitted_urls.c.url_id == url_id)
        .order_by(submissions.c.id.desc())
        .limit(MAX_EXPLAINED)
    )
    return list(map(Sent._make, connection.execute(query)))


def _pause_names(receiver: Receiver) -> tuple[str, str]:
    """Return the names of the pauses of a service for all hosts, and for one."""
    of_service = f"{receiver.service} {receiver.endpoint}"
    return of_service, f"{of_service} {receiver.host}"


def _pauses(connection: Connection, now: float) -> dict[str, float]:
    """Return the pauses that have not ended. One that is longer than possible is of a clock that was ahead."""
    value = connection.scalar(select(meta.c.value).where(meta.c.name == MetaObject.SERVICE_PAUSES))
    stored: dict[str, float] = {} if value is None else read_json(value)
    return {name: until for name, until in stored.items() if now < until <= now + MAX_PAUSE_SECONDS}


def _begin(connection: Connection, receiver: Receiver, row: dict[str, Any], now: float) -> int:
    statement = insert(submissions).values(**receiver._asdict(), **row, at=now, outcome=_SENDING)
    key = connection.execute(statement).inserted_primary_key
    assert key is not None  # noqa: S101 - SQLAlchemy returns the key of every single row
    return int(key[0])


def _is_being_sent(connection: Connection, receiver: Receiver, target: str, now: float) -> bool:
    last = connection.execute(_rows_of(receiver, target).limit(1)).first()
    return last is not None and last.outcome == _SENDING and abs(last.at - now) < RESEND_SECONDS


def _rows_of(receiver: Receiver, target: str) -> Select[Any]:
    """Return a query of the submissions of a file, the newest first."""
    query = select(submissions).where(*_equal(submissions, receiver), submissions.c.target == target)
    return query.order_by(submissions.c.id.desc())


def _equal(table: Any, receiver: Receiver) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in receiver._asdict().items()]
