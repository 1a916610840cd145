"""Defects of a site that its decided inventory shows, for the warnings of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, case, false, func, not_, or_, select, update

from sitemap_crawler.inventory.schema import TRAPPED, decisions, observations, supplied, urls
from sitemap_crawler.inventory.sql import BATCH_ROWS, STREAM_ROWS, url_key
from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import UNREACHED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Join, Select

    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.items import Note

NO_DEFECT = tuple(reason for reason in Reason if reason.traits.fits_sitemap)
"""Reasons for exclusion with which a foreign sitemap may name a URL."""
ERRORS = tuple(reason for reason in Reason if reason.traits.is_error)
"""Reasons that make a link to a URL a broken one."""
SHARING_PAGES = 50
"""Number of different titles of the pages that name one URL as canonical, from which on it is taken for a mistake.

Fewer pages may be variants of one product.
"""
PAGES_SHARING_START = 5
"""The same for the canonical URL of the start page."""
MAX_NOTED = 100_000
"""Maximum number of pages with the same content that get the note. A warning about more is no more useful."""

_target = urls.alias("target_urls")
_page = urls.alias("page_urls")
_page_seen = observations.alias("page_observations")


class Redirect(NamedTuple):
    """A URL that redirects."""

    url: str
    status: int
    target: str | None
    target_reason: str | None
    """Reason of the decision on the target."""
    next_target: str | None
    """Target of the target, if that redirects in turn."""
    page: str | None
    """A page that links to the URL, or None."""


class BrokenLink(NamedTuple):
    """A link of `page` to a `url` that is an error for this reason."""

    page: str
    url: str
    reason: str
    evidence: str


class SharedCanonical(NamedTuple):
    """A URL that different pages name as their canonical."""

    page: str
    """One of these pages."""
    pages: int
    """Number of these pages."""
    canonical: str


class Diagnostics:
    """Reader of the defects that a decided run shows. It has its own connection, so it may stream during writes."""

    def __init__(self, store: Store, run: int) -> None:
        self._store = store
        self._run = run

    def _stream(self, query: Select[Any]) -> Iterator[Any]:
        with self._store.reader() as connection:
            yield from connection.execution_options(yield_per=STREAM_ROWS).execute(query)

    def notes(self) -> Iterator[tuple[str, bool, dict[NoteKind, Note]]]:
        """Yield each page with notes: its URL, whether it is listed, and the notes."""
        query = (
            select(urls.c.url, decisions.c.decision == "listed", observations.c.notes)
            .join(observations, observations.c.url_id == urls.c.id)
            .join(decisions, decisions.c.url_id == urls.c.id)
            .where(observations.c.notes.is_not(None), urls.c.unlinked_since.is_(None))
        )
        yield from map(tuple, self._stream(query.order_by(urls.c.id)))

    def broken_links(self) -> Iterator[BrokenLink]:
        """Yield one link to each URL with an error. Redirects and canonicals are not links."""
        query = (
            select(_page.c.url, urls.c.url, decisions.c.reason, decisions.c.evidence)
            .join(decisions, decisions.c.url_id == urls.c.id)
            .join(_page, _page.c.id == urls.c.referrer)
            .join(_page_seen, _page_seen.c.url_id == urls.c.referrer)
            .where(decisions.c.reason.in_(ERRORS), _is_linked())
            .order_by(urls.c.depth, urls.c.id)
        )
        yield from map(BrokenLink._make, self._stream(query))

    def redirects(self) -> Iterator[Redirect]:
        """Yield every URL that redirects and that something leads to."""
        source = observations.alias("redirect_observations")
        onward = observations.alias("target_observations")
        next_url = urls.alias("next_urls")
        page = select(_page.c.url).join(_page_seen, _page_seen.c.url_id == _page.c.id)
        page = page.where(_page.c.id == urls.c.referrer, _is_linked())
        target_decision = decisions.alias("target_decisions")
        query = (
            select(
                urls.c.url,
                source.c.status,
                _target.c.url,
                target_decision.c.reason,
                next_url.c.url,
                page.scalar_subquery(),
            )
            .select_from(decisions)
            .join(urls, urls.c.id == decisions.c.url_id)
            .join(source, source.c.url_id == urls.c.id)
            .outerjoin(_target, _target.c.id == func.coalesce(source.c.location, source.c.refresh))
            .outerjoin(target_decision, target_decision.c.url_id == _target.c.id)
            .outerjoin(onward, and_(onward.c.url_id == _target.c.id, target_decision.c.reason == Reason.REDIRECT))
            .outerjoin(next_url, next_url.c.id == func.coalesce(onward.c.location, onward.c.refresh))
            .where(decisions.c.reason == Reason.REDIRECT, urls.c.inlinks.is_not(None))
            .order_by(urls.c.depth, urls.c.id)
        )
        yield from map(Redirect._make, self._stream(query))

    def shared_canonicals(self) -> Iterator[SharedCanonical]:
        """Yield the URLs that different pages of other paths name as their canonical, the most pages first."""
        canonical = observations.alias("canonical_observations")
        titles, pages = func.count(_page_seen.c.title.distinct()), func.count()
        start = func.substr(_page.c.url, 1, func.length(urls.c.url) + 1)
        shared = (
            select(func.min(_page.c.id).label("page"), pages.label("pages"), urls.c.url)
            .select_from(decisions)
            .join(_page, _page.c.id == decisions.c.url_id)
            .join(_page_seen, _page_seen.c.url_id == decisions.c.url_id)
            .join(urls, urls.c.id == _page_seen.c.canonical)
            .join(canonical, canonical.c.url_id == urls.c.id)
            .where(
                decisions.c.reason == Reason.CANONICAL_ELSEWHERE,
                _page_seen.c.title != canonical.c.title,
                start.not_in((urls.c.url + "?", urls.c.url + "&")),
            )
            .group_by(urls.c.id, urls.c.url, urls.c.depth)
            .having(titles >= case((urls.c.depth == 0, PAGES_SHARING_START), else_=SHARING_PAGES))
            .subquery()
        )
        query = select(_target.c.url, shared.c.pages, shared.c.url).join(shared, shared.c.page == _target.c.id)
        yield from map(SharedCanonical._make, self._stream(query.order_by(shared.c.pages.desc(), shared.c.url)))

    def known_from_sitemaps_only(self) -> Iterator[tuple[str, str]]:
        """Yield the listed pages that a foreign sitemap or a list names and no page links to, and what names them."""
        only = (decisions.c.decision == "listed", urls.c.depth == UNREACHED)
        for url, *named in self._stream(self._named(urls.c.url).where(*only).order_by(urls.c.url)):
            yield url, _namer(*named)

    def unlistable_in_sitemaps(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the excluded URLs that a foreign sitemap or a list names, with reason, evidence and what names them."""
        query = self._named(urls.c.url, decisions.c.reason, decisions.c.evidence)
        wrong = (decisions.c.decision != "listed", decisions.c.reason.not_in(NO_DEFECT))
        asked = or_(urls.c.named >= self._run, supplied.c.listed)
        for url, reason, evidence, *named in self._stream(query.where(*wrong, asked).order_by(urls.c.url)):
            yield url, reason, evidence, _namer(*named)

    def _named(self, *columns: Any) -> Select[Any]:
        """Return the query for URLs that a foreign sitemap, a list or an access log names: two columns say which."""
        in_sitemap, in_list = (
            func.coalesce(urls.c.named >= self._run, false()),
            func.coalesce(supplied.c.listed, false()),
        )
        query = select(*columns, in_sitemap, in_list)
        query = query.join(decisions, decisions.c.url_id == urls.c.id)
        query = query.outerjoin(supplied, supplied.c.url_id == urls.c.id)
        return query.where(or_(urls.c.named >= self._run, supplied.c.url_id.is_not(None)))

    def duplicates(self) -> Iterator[str]:
        """Yield the listed pages without a canonical that have the content of another one that was met before."""
        pages = _plain_pages()
        shared = select(observations.c.fingerprint).select_from(pages).where(_PLAIN)
        shared = shared.group_by(observations.c.fingerprint).having(func.count() > 1)
        query = select(observations.c.fingerprint, urls.c.url)
        query = query.select_from(pages.join(urls, urls.c.id == decisions.c.url_id))
        query = query.where(_PLAIN, observations.c.fingerprint.in_(shared))
        last = None
        for row in self._stream(query.order_by(observations.c.fingerprint, urls.c.depth, urls.c.id)):
            if row.fingerprint == last:
                yield row.url
            last = row.fingerprint

    def duplicate_of(self, url: str) -> str | None:
        """Return another listed page with the same content, the first one that was met, or None."""
        hashes = select(observations.c.fingerprint).join(urls, urls.c.id == observations.c.url_id)
        mine = hashes.where(urls.c.key == url_key(url)).scalar_subquery()
        same = select(urls.c.url).select_from(_plain_pages().join(urls, urls.c.id == decisions.c.url_id))
        same = (
            same.where(_PLAIN, observations.c.fingerprint == mine, urls.c.url != url)
            .order_by(urls.c.depth, urls.c.id)
            .limit(1)
        )
        return next((row[0] for row in self._stream(same)), None)


def _namer(in_sitemap: bool, in_list: bool) -> str:
    return "a sitemap or list" if in_sitemap else "a list of --urls" if in_list else "an access log"


_IS_NOTED_ERROR = [
    observations.c.notes[kind].as_string().is_not(None) for kind in (NoteKind.ERROR_PAGE, NoteKind.SOFT_404)
]
_PLAIN = and_(decisions.c.decision == "listed", observations.c.canonical.is_(None), not_(or_(*_IS_NOTED_ERROR)))


def _plain_pages() -> Join:
    return decisions.join(observations, observations.c.url_id == decisions.c.url_id)


def _is_linked() -> Any:
    """Return the condition that the referrer has a link to the URL, and not only a redirect or a canonical.

    A URL to which nothing leads any more keeps its referrer, even if the run does not prove that. The links of a page
    that is refused for what others have shown may be old: it is not requested.
    """
    others = (_page_seen.c.location, _page_seen.c.refresh, _page_seen.c.canonical)
    of_other_pages = [or_(column.is_(None), column != urls.c.id) for column in others]
    return and_(urls.c.inlinks.is_not(None), _page.c.state.not_in(TRAPPED), *of_other_pages)


def error_pages(connection: Connection, run: int, limit: int) -> list[str]:
    """Return up to `limit` pages of this run that say that they are errors, in the order of their depth."""
    seen = observations.c
    query = select(urls.c.url).join(observations, seen.url_id == urls.c.id).order_by(urls.c.depth, urls.c.id)
    says_error = seen.notes[NoteKind.ERROR_PAGE].as_string().is_not(None)
    with connection.begin():
        return list(connection.scalars(query.where(seen.run == run, seen.notes.is_not(None), says_error).limit(limit)))


def note_same_content(
    connection: Connection, run: int, note: str, *, body_hash: bytes, fingerprint: bytes | None, start_url: str
) -> int:
    """Add `note` to the pages of this run with this body or content. Return their number.

    The start page gets none: a site may answer with it to every URL that does not exist, and then only the others are
    wrong.
    """
    seen = observations.c
    same = seen.body_hash == body_hash
    if fingerprint is not None:
        same = or_(same, seen.fingerprint == fingerprint)
    query = select(seen.url_id, seen.notes).join(urls, urls.c.id == seen.url_id)
    query = query.where(seen.run == run, same, urls.c.url != start_url)
    query = query.order_by(seen.url_id).limit(BATCH_ROWS)
    statement = update(observations).where(seen.url_id == bindparam("b_id")).values(notes=bindparam("b_notes"))
    noted, last = 0, 0
    with connection.begin():
        while noted < MAX_NOTED:
            rows = connection.execute(query.where(seen.url_id > last)).all()
            if not rows:
                break
            values = [{"b_id": row.url_id, "b_notes": {**(row.notes or {}), NoteKind.SOFT_404: note}} for row in rows]
            connection.execute(statement, values)
            noted, last = noted + len(rows), rows[-1].url_id
    return noted
