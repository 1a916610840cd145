"""The URLs that IndexNow is told: net changes since the last accepted publication, or all listed pages."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import and_, literal, or_, select, true

from sitemap_crawler.exceptions import SubmissionRefusedError
from sitemap_crawler.inventory.history import forgotten_run, net_changes, touched_urls
from sitemap_crawler.inventory.publications import Change, forgotten_publication
from sitemap_crawler.inventory.schema import listings, observations, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS, chunks, has_prefix
from sitemap_crawler.inventory.submissions import UrlChange, changed_since
from sitemap_crawler.search_engines.indexnow import MAX_URLS
from sitemap_crawler.search_engines.results import UrlCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from sitemap_crawler.inventory.submissions import Receiver

_KINDS = tuple(Change)
_GONE = (404, 410)


@dataclass(slots=True)
class UrlPlan:
    """The URLs to be sent to one host, in the order of their URLs: nine bytes of memory each."""

    _ids: array[int] = field(default_factory=lambda: array("q"))
    _kinds: bytearray = field(default_factory=bytearray)

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, url_id: int, kind: Change) -> None:
        self._ids.append(url_id)
        self._kinds.append(_KINDS.index(kind))

    def extend(self, other: UrlPlan, kind: Change) -> None:
        """Add the URLs of another plan that have this kind."""
        number = _KINDS.index(kind)
        for url_id, found in zip(other._ids, other._kinds, strict=True):
            if found == number:
                self.add(url_id, kind)

    def batches(self) -> Iterator[list[UrlChange]]:
        """Yield the URLs in batches of at most MAX_URLS."""
        for start in range(0, len(self._ids), MAX_URLS):
            span = slice(start, start + MAX_URLS)
            numbers = zip(self._ids[span], self._kinds[span], strict=True)
            yield [UrlChange(url_id, str(_KINDS[kind])) for url_id, kind in numbers]

    def counts(self) -> UrlCounts:
        """Return the number of URLs of each kind."""
        return UrlCounts(**{str(kind): self._kinds.count(number) for number, kind in enumerate(_KINDS)})


def listed_urls(connection: Connection, *, prefixes: Sequence[str | None]) -> UrlPlan:
    """Return all listed pages whose crawled URLs have all these prefixes."""
    return _plan(connection, select(listings.c.url_id, literal(str(Change.ADDED)).label("kind")), prefixes)


def changed_urls(connection: Connection, receiver: Receiver, mark: int, *, prefixes: Sequence[str | None]) -> UrlPlan:
    """Return the pages that have changed since the publication `mark`, without changes that the receiver has accepted.

    Added and changed pages are listed now. A removed page is included only if its last observation proves that an
    engine cannot index it. Raises SubmissionRefusedError if some changes are no longer stored.
    """
    if mark < forgotten_publication(connection):
        raise SubmissionRefusedError(
            f"the changes up to run {forgotten_run(connection)} are no longer stored (keep_runs), and IndexNow does "
            "not have all of them: give --all to send all pages, or --rebase to send changes from now on"
        )
    net = net_changes(touched_urls().where(changed_since(receiver, mark))).subquery()
    is_removed = net.c.kind == str(Change.REMOVED)
    query = (
        select(net.c.url_id, net.c.kind)
        .outerjoin(listings, listings.c.url_id == net.c.url_id)
        .outerjoin(observations, observations.c.url_id == net.c.url_id)
        .where(
            or_(
                and_(~is_removed, listings.c.url_id.is_not(None)),
                and_(is_removed, listings.c.url_id.is_(None), _is_proved_gone()),
            )
        )
    )
    return _plan(connection, query, prefixes)


def crawled_urls(connection: Connection, batch: Sequence[UrlChange]) -> dict[int, str]:
    """Return the URLs of a batch as crawled, by id."""
    query = select(urls.c.id, urls.c.url)
    found: dict[int, str] = {}
    for ids in chunks([change.url_id for change in batch]):
        found.update((row.id, row.url) for row in connection.execute(query.where(urls.c.id.in_(ids))))
    return found


def _plan(connection: Connection, query: Select[tuple[int, str]], prefixes: Sequence[str | None]) -> UrlPlan:
    rows = query.subquery()
    admitted: list[ColumnElement[bool]] = [true(), *map(has_prefix, prefixes)]
    ordered = select(rows).join(urls, urls.c.id == rows.c.url_id).where(*admitted).order_by(urls.c.url)
    plan = UrlPlan()
    with connection.execute(ordered, execution_options={"yield_per": STREAM_ROWS}) as found:
        for url_id, kind in found:
            plan.add(url_id, Change(kind))
    return plan


def _is_proved_gone() -> ColumnElement[bool]:
    """Return the condition that the last answer of a page was 404, 410, a redirect or noindex."""
    answered = observations.c.failed_since.is_(None) & observations.c.blocked_by.is_(None)
    redirects = observations.c.status.between(300, 399) & observations.c.location.is_not(None)
    return answered & or_(observations.c.status.in_(_GONE), redirects, observations.c.noindex)
