"""What `decide` reads and writes, and what the writer takes from it: streams over the inventory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select

from sitemap_crawler.decide import Decision, Facts
from sitemap_crawler.inventory.queue import url_key
from sitemap_crawler.inventory.schema import decisions, observations, urls
from sitemap_crawler.items import Note, Video

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Select

    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.rules import Reason

STREAM_ROWS = 1_000
WRITE_ROWS = 2_000
EXAMPLES = 50


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page to write; `lastmod` in seconds since 1970."""

    url: str
    lastmod: float | None
    images: tuple[str, ...]
    videos: tuple[Video, ...]


class Settled:
    """Reads stream over a connection of their own beside the writes."""

    def __init__(self, store: Store, run: int) -> None:
        self._store = store
        self._query = _facts_query(run)

    def facts(self) -> Iterator[Facts]:
        with self._store.reader() as connection:
            yield from map(Facts._make, connection.execution_options(yield_per=STREAM_ROWS).execute(self._query))

    def find(self, url: str) -> Facts | None:
        with self._store.reader() as connection:
            row = connection.execute(self._query.where(urls.c.key == url_key(url), urls.c.url == url)).first()
            return Facts._make(row) if row is not None else None

    def save(self, settled: Iterable[Decision]) -> None:
        """Replace all decisions."""
        connection = self._store.connection
        with connection.begin():
            connection.execute(delete(decisions))
            for rows in _batches(settled):
                connection.execute(insert(decisions), rows)

    def counts(self) -> dict[str, int]:
        """How many URLs each reason has."""
        query = select(decisions.c.reason, func.count()).group_by(decisions.c.reason)
        with self._store.reader() as connection:
            rows = connection.execute(query.order_by(decisions.c.reason))
            return {row[0]: row[1] for row in rows}

    def examples(self, reason: Reason) -> list[str]:
        """Some of the URLs that were excluded for `reason`, those nearest to the start page first."""
        query = select(urls.c.url).join(decisions, decisions.c.url_id == urls.c.id).where(decisions.c.reason == reason)
        with self._store.reader() as connection:
            return list(connection.scalars(query.order_by(urls.c.depth, urls.c.id).limit(EXAMPLES)))

    def notes(self, url: str) -> dict[str, Note]:
        """The notes that the observation of `url` carries."""
        query = select(observations.c.notes).join(urls, urls.c.id == observations.c.url_id)
        with self._store.reader() as connection:
            notes: dict[str, Note] | None = connection.scalar(query.where(urls.c.key == url_key(url)))
            return notes or {}

    def listed(self) -> Iterator[ListedPage]:
        """The pages to write, in the order of their URLs' bytes."""
        query = (
            select(urls.c.url, decisions.c.lastmod, observations.c.extras)
            .join(urls, urls.c.id == decisions.c.url_id)
            .join(observations, observations.c.url_id == decisions.c.url_id)
            .where(decisions.c.decision == "listed")
            .order_by(urls.c.url)
        )
        with self._store.reader() as connection:
            for row in connection.execution_options(yield_per=STREAM_ROWS).execute(query):
                extras = row.extras or {}
                videos = tuple(Video(**fields) for fields in extras.get("videos", ()))
                yield ListedPage(row.url, row.lastmod, tuple(extras.get("images", ())), videos)


def _facts_query(run: int) -> Select[Any]:
    """Rows whose columns are the fields of Facts, in their order."""
    location, refresh, canonical = (urls.alias(name) for name in ("location_urls", "refresh_urls", "canonical_urls"))
    seen = observations.c
    columns = (
        urls.c.id, urls.c.url, urls.c.depth, urls.c.seen >= run,
        seen.fetched, seen.status, seen.error, seen.blocked_by, seen.content_type, seen.body_bytes, seen.body_hash,
        seen.canonical, seen.noindex, seen.unavailable_after, seen.directives, seen.last_modified,
        location.c.url.label("location_url"), refresh.c.url.label("refresh_url"),
        canonical.c.url.label("canonical_url"),
    )  # fmt: skip
    return (
        select(*columns)
        .outerjoin(observations, seen.url_id == urls.c.id)
        .outerjoin(location, location.c.id == seen.location)
        .outerjoin(refresh, refresh.c.id == seen.refresh)
        .outerjoin(canonical, canonical.c.id == seen.canonical)
    )


def _batches(settled: Iterable[Decision]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for decision in settled:
        rows.append(
            {
                "url_id": decision.url_id,
                "decision": "listed" if decision.listed else "excluded",
                "reason": str(decision.reason),
                "evidence": decision.evidence,
                "lastmod": decision.lastmod,
                "lastmod_source": decision.lastmod_source,
            }
        )
        if len(rows) == WRITE_ROWS:
            yield rows
            rows = []
    if rows:
        yield rows
