"""What Google says of single pages: the newest answer about each, what they add up to, and which page comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, func, literal, select

from sitemap_crawler.inventory.publications import Change
from sitemap_crawler.inventory.schema import changes, inspections, listings, observations, runs, urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from sitemap_crawler.urls.public_address import PublicAddress

MAX_STATES = 30
"""Maximum number of states of pages that are told apart. Google has about twenty."""
MAX_DIFFERENT_CANONICALS = 100
"""Maximum number of pages that are named because an engine has chosen another canonical URL."""
MIN_INSPECTED = 100
"""Minimum number of inspected pages from which on a percentage says something of the whole site."""
MIN_SHARE = 0.05
"""Minimum share of the listed pages, likewise."""
NO_STATE, OTHER_STATES = "(none)", "(other states)"
PASS = "PASS"  # noqa: S105 - a verdict
"""Verdict of Google on a page that is in its index."""


class Inspection(NamedTuple):
    """What Google says of one page. An engine that refuses to inspect a page gives no verdict."""

    property: str
    at: float
    """In seconds since 1970, as `last_crawl`."""
    verdict: str | None = None
    coverage_state: str | None = None
    robots: str | None = None
    indexing: str | None = None
    fetch: str | None = None
    last_crawl: float | None = None
    google_canonical: str | None = None
    user_canonical: str | None = None


class Coverage(NamedTuple):
    """What the inspections of listed pages add up to. Times are in seconds since 1970."""

    inspected: int = 0
    of: int = 0
    """Number of listed pages."""
    oldest: float | None = None
    newest: float | None = None
    indexed: int = 0
    by_state: Mapping[str, int] = {}
    by_verdict: Mapping[str, int] = {}
    canonical_differs: tuple[tuple[str, str], ...] = ()
    """The first pages for which Google has chosen another canonical URL, each with that URL."""
    canonicals_differing: int = 0
    properties: tuple[str, ...] = ()

    @property
    def indexed_percent(self) -> float | None:
        """Share of the inspected pages that are indexed; None if too few are inspected to speak for the site."""
        is_enough = self.inspected >= MIN_INSPECTED and self.inspected >= MIN_SHARE * self.of
        if not self.inspected or not (is_enough or self.inspected == self.of):
            return None
        percent = round(100 * self.indexed / self.inspected, 1)
        # Only all are 100 %, and only none is 0 %.
        return min(max(percent, 0.1 * bool(self.indexed)), 100.0 if self.indexed == self.inspected else 99.9)


class Candidate(NamedTuple):
    """A listed page that may be inspected."""

    id: int
    url: str
    """As crawled."""


def candidates(
    connection: Connection, limit: int, *, admits: Callable[[str], bool] = lambda _: True
) -> Iterator[Candidate]:
    """Yield at most `limit` listed pages in the order in which they should be inspected.

    Pages without an answer come first, in the order of the hashes of their URLs, so that those that have been inspected
    are a fair sample of the site. Then come pages that have changed since, then those that were not in the index, then
    the others; of each the oldest answer first. Pages that `admits` refuses are left out.
    """
    chosen: set[int] = set()
    for query in (_never_inspected(), _changed_since(), _inspected(passed=False), _inspected(passed=True)):
        for candidate in _pages_of(connection, query, limit):
            if len(chosen) >= limit:
                return
            if candidate.id not in chosen and admits(candidate.url):
                chosen.add(candidate.id)
                yield candidate


def _pages_of(connection: Connection, query: Select[Any], size: int) -> Iterator[Candidate]:
    """Yield all rows of a query, `size` at a time. Most callers need no second batch."""
    start = 0
    while rows := connection.execute(query.limit(size).offset(start)).all():
        yield from (Candidate(row.id, row.url) for row in rows)
        start += size


def _never_inspected() -> Select[Any]:
    is_listed = select(listings.c.url_id).where(listings.c.url_id == urls.c.id).exists()
    has_answer = select(inspections.c.url_id).where(inspections.c.url_id == urls.c.id).exists()
    return select(urls.c.id, urls.c.url).where(is_listed, ~has_answer).order_by(urls.c.key)


def _changed_since() -> Select[Any]:
    """Return a query of the pages that a later publication has added or changed.

    `update` reads single pages after the end of the run to which it adds them.
    """
    query = _listed().join(changes, changes.c.url_id == inspections.c.url_id).join(runs, runs.c.id == changes.c.run)
    query = query.outerjoin(observations, observations.c.url_id == changes.c.url_id)
    is_later_run = func.coalesce(runs.c.finished, runs.c.started) > inspections.c.at
    is_later_update = (observations.c.run == changes.c.run) & (observations.c.fetched > inspections.c.at)
    return query.where(changes.c.kind != str(Change.REMOVED), is_later_run | is_later_update).distinct()


def _inspected(*, passed: bool) -> Select[Any]:
    is_indexed = inspections.c.verdict.is_not_distinct_from(PASS)
    return _listed().where(is_indexed if passed else ~is_indexed)


def _listed() -> Select[Any]:
    query = select(urls.c.id, urls.c.url, inspections.c.at).select_from(inspections)
    query = query.join(listings, listings.c.url_id == inspections.c.url_id).join(urls, urls.c.id == listings.c.url_id)
    return query.order_by(inspections.c.at, urls.c.id)


def inspection_of(connection: Connection, url_id: int) -> Inspection | None:
    """Return the newest answer about a page."""
    row = connection.execute(select(inspections).where(inspections.c.url_id == url_id)).first()
    return None if row is None else Inspection(*row[1:])


def live_states(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return what Google says of each of these URLs that is live and inspected, in the words of `Coverage.by_state`."""
    query = select(inspections.c.url_id, func.coalesce(inspections.c.coverage_state, NO_STATE))
    query = query.join(listings, listings.c.url_id == inspections.c.url_id)
    query = query.where(inspections.c.url_id.in_(ids), inspections.c.verdict.is_not(None))
    return dict(connection.execute(query).all())


def coverage(connection: Connection, address: PublicAddress | None = None) -> Coverage:
    """Return what the inspections of the listed pages add up to. `address` gives the public form of their URLs."""
    pages = inspections.join(listings, listings.c.url_id == inspections.c.url_id)
    has_verdict = inspections.c.verdict.is_not(None)

    def counts(column: ColumnElement[Any]) -> dict[str, int]:
        count = func.count()
        query = select(func.coalesce(column, NO_STATE), count).select_from(pages).where(has_verdict)
        rows = connection.execute(query.group_by(column).order_by(count.desc(), column).limit(MAX_STATES))
        return {row[0]: row[1] for row in rows}

    totals = select(func.count(), func.min(inspections.c.at), func.max(inspections.c.at))
    inspected, oldest, newest = connection.execute(totals.select_from(pages).where(has_verdict)).one()
    by_state = counts(inspections.c.coverage_state)
    if others := inspected - sum(by_state.values()):
        by_state[OTHER_STATES] = others
    by_verdict = counts(inspections.c.verdict)
    differing, examples = _different_canonicals(connection, address)
    properties = select(inspections.c.property).select_from(pages).where(has_verdict).distinct().limit(MAX_STATES)
    return Coverage(
        inspected,
        connection.scalar(select(func.count()).select_from(listings)) or 0,
        oldest,
        newest,
        by_verdict.get(PASS, 0),
        by_state,
        by_verdict,
        examples,
        differing,
        tuple(sorted(connection.scalars(properties))),
    )


def _different_canonicals(
    connection: Connection, address: PublicAddress | None
) -> tuple[int, tuple[tuple[str, str], ...]]:
    """Return the number of listed pages with another canonical URL at Google, and the first of them by URL."""
    public: ColumnElement[str] = urls.c.url
    if address is not None:
        length = len(address.crawled_at)
        below = func.substr(urls.c.url, 1, length) == address.crawled_at
        public = case((below, literal(address.published_at) + func.substr(urls.c.url, length + 1)), else_=urls.c.url)
    query = (
        select(public.label("public"), inspections.c.google_canonical)
        .select_from(inspections)
        .join(listings, listings.c.url_id == inspections.c.url_id)
        .join(urls, urls.c.id == inspections.c.url_id)
        .where(inspections.c.google_canonical.is_not(None), inspections.c.google_canonical != public)
    )
    count = connection.scalar(select(func.count()).select_from(query.subquery())) or 0
    rows = connection.execute(query.order_by("public").limit(MAX_DIFFERENT_CANONICALS)) if count else ()
    return count, tuple((row[0], row[1]) for row in rows)
