"""Streams of facts into the decisions, of decisions into the inventory, and of listed pages to the writer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, case, false, func, or_, select, update

from sitemap_crawler.extract.news import Article
from sitemap_crawler.inventory.dialects import insert, json_text
from sitemap_crawler.inventory.runs import finished_runs_ago
from sitemap_crawler.inventory.schema import TRAPPED, changes, decisions, observations, urls
from sitemap_crawler.inventory.sql import BATCH_ROWS, STREAM_ROWS, RowStatement, chunks, has_prefix, url_key
from sitemap_crawler.policy.decide import Decision, Facts
from sitemap_crawler.policy.lastmod import History
from sitemap_crawler.sitemap.entry import NO_TEXTS
from sitemap_crawler.sitemap.video import Video

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Select, Subquery

    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.items import Note, NoteKind
    from sitemap_crawler.policy.reasons import Reason

MAX_EXTRAS_BYTES = 1 << 22
"""Maximum size of the JSON of a thousand rows that is decoded at once. Larger ones are decoded in FEW_ROWS."""
FEW_ROWS = 50
"""Number of rows decoded at a time if they are large: each may have a thousand of the longest URLs."""
EXAMPLES = 50
"""Maximum number of examples of one reason."""


Extras = dict[str, Any]
"""The JSON of an observation: images, image_texts, videos, article."""


class ListedPage(NamedTuple):
    """A page of the sitemap."""

    id: int
    url: str
    depth: int
    """Clicks from the start page."""
    lastmod: float | None
    """In seconds since 1970."""
    day: bool
    """Whether the lastmod has no time of day."""
    extras: Extras | None
    history: History | None
    """None if the lastmod never changed, or if no history is wanted."""

    @property
    def image_texts(self) -> Mapping[str, tuple[str, str]]:
        return (self.extras or {}).get("image_texts") or NO_TEXTS

    @property
    def videos(self) -> tuple[Video, ...]:
        return tuple(map(Video.from_fields, (self.extras or {}).get("videos", ())))

    @property
    def article(self) -> Article | None:
        return Article(**self.extras["article"]) if self.extras and "article" in self.extras else None


class ListedPages(NamedTuple):
    """Some pages as columns, one for each field of ListedPage."""

    ids: Sequence[int]
    urls: Sequence[str]
    depths: Sequence[int]
    lastmods: Sequence[float | None]
    days: Sequence[bool]
    extras: Sequence[Extras | None]
    histories: Sequence[History | None]

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Any]]) -> ListedPages:
        """Make the columns from rows. Their sixth value is the JSON of the extras; those after it are the history."""
        ids, addresses, depths, lastmods, days, texts, *past = zip(*rows, strict=True)
        extras = json.loads(f"[{','.join(text or 'null' for text in texts)}]") if any(texts) else texts
        histories = [_history(*row) for row in zip(*past, strict=True)] if past else [None] * len(rows)
        return cls(ids, addresses, depths, lastmods, days, extras, histories)

    def page(self, index: int) -> ListedPage:
        return ListedPage._make(column[index] for column in self)


class DecisionStore:
    """The decisions of one run in the inventory. Each read has its own connection, so it may stream during writes."""

    def __init__(self, store: Store, run: int, *, saw_everything: bool, orphan_runs: int, keep_errors: int) -> None:
        """Open the decisions of the run with this number.

        An unlinked URL is an orphan after `orphan_runs` runs that saw the whole site, and a failing page stays listed
        for `keep_errors` of them. `saw_everything` says whether the run is one of them.
        """
        self._store = store
        self._run = run

        def runs_ago(count: int) -> int:
            return finished_runs_ago(store.connection, count, now=run, counts_now=saw_everything)

        with store.connection.begin():
            # A page may begin to fail in a run that does not count: it is dropped when more than `keep_errors` runs
            # have seen it fail.
            dropped_since = runs_ago(keep_errors + 1) if keep_errors else run
            self._query = _facts_query(orphan_since=runs_ago(orphan_runs), dropped_since=dropped_since)
        # Built once: building the statement takes longer than its execution.
        self._find = self._query.where(urls.c.key == bindparam("key"), urls.c.url == bindparam("url"))

    def facts(self) -> Iterator[Facts]:
        """Yield the facts of every URL."""
        with self._store.reader() as connection:
            yield from map(Facts._make, connection.execution_options(yield_per=STREAM_ROWS).execute(self._query))

    def facts_of(self, ids: Sequence[int]) -> list[Facts]:
        """Return the facts of some URLs."""
        with self._store.reader() as connection:
            return [
                Facts._make(row)
                for chunk in chunks(ids)
                for row in connection.execute(self._query.where(urls.c.id.in_(chunk)))
            ]

    def find(self, url: str) -> Facts | None:
        """Return the facts of one URL, or None if it is unknown."""
        with self._store.reader() as connection:
            row = connection.execute(self._find, {"key": url_key(url), "url": url}).first()
            return Facts._make(row) if row is not None else None

    def save(self, made: Iterable[Decision]) -> None:
        """Store the decision of every URL. A decision that has not changed is not written again."""
        connection = self._store.connection
        with connection.begin():
            for rows in _batches(made, self._run):
                _SAVE.execute(connection, rows)

    def counts(self) -> dict[str, int]:
        """Return the number of URLs by reason."""
        query = select(decisions.c.reason, func.count()).group_by(decisions.c.reason)
        with self._store.reader() as connection:
            rows = connection.execute(query.order_by(decisions.c.reason))
            return {row[0]: row[1] for row in rows}

    def examples(self, reason: Reason) -> list[str]:
        """Return some of the URLs that were excluded for `reason`, in the order of their depth."""
        query = select(urls.c.url).join(decisions, decisions.c.url_id == urls.c.id).where(decisions.c.reason == reason)
        with self._store.reader() as connection:
            return list(connection.scalars(query.order_by(urls.c.depth, urls.c.id).limit(EXAMPLES)))

    def notes(self, url: str) -> dict[NoteKind, Note]:
        """Return the notes of the observation of a URL."""
        query = select(observations.c.notes).join(urls, urls.c.id == observations.c.url_id)
        with self._store.reader() as connection:
            notes: dict[NoteKind, Note] | None = connection.scalar(query.where(urls.c.key == url_key(url)))
            return notes or {}

    def title(self, url: str) -> str | None:
        query = select(observations.c.title).join(urls, urls.c.id == observations.c.url_id)
        with self._store.reader() as connection:
            title: str | None = connection.scalar(query.where(urls.c.key == url_key(url)))
            return title

    def exclude(self, pages: Iterable[str], reason: Reason, evidence: str) -> None:
        """Exclude pages that were decided to be listed but that no file can hold."""
        connection = self._store.connection
        with connection.begin():
            for url in pages:
                url_id = select(urls.c.id).where(urls.c.key == url_key(url)).scalar_subquery()
                values = {"decision": "excluded", "reason": str(reason), "evidence": evidence, "since": self._run}
                before = _reason_before(self._run)
                connection.execute(
                    update(decisions).where(decisions.c.url_id == url_id).values(before=before, **values)
                )

    def listed(self, *, history: bool = False, prefix: str | None = None) -> Iterator[ListedPages]:
        """Yield the listed pages, at most a thousand at a time, in the byte order of their URLs.

        `history` adds the changes of their lastmods. With `prefix` only URLs below it are yielded.
        """
        past = _histories()
        changed = (past.c.first, past.c.last, past.c.changes) if history else ()
        query = _listed_query(*changed).where(has_prefix(prefix))
        if history:
            query = query.outerjoin(past, past.c.url_id == decisions.c.url_id)
        yield from self._pages(query)

    def listed_among(self, ids: Iterable[int]) -> Iterator[ListedPages]:
        """Yield those of the URLs that are listed, as `listed` does."""
        for chunk in chunks(sorted(ids)):
            yield from self._pages(_listed_query().where(urls.c.id.in_(chunk)))

    def _pages(self, query: Select[Any]) -> Iterator[ListedPages]:
        with self._store.reader() as connection:
            rows = connection.execution_options(yield_per=STREAM_ROWS).execute(query)
            for batch in rows.partitions():
                size = sum(len(row[5]) for row in batch if row[5] is not None)
                step = FEW_ROWS if size > MAX_EXTRAS_BYTES else STREAM_ROWS
                for start in range(0, len(batch), step):
                    yield ListedPages.from_rows(batch[start : start + step])


def titled_pages(store: Store, *, prefix: str | None = None) -> Iterator[tuple[str, str | None]]:
    """Yield URL and title of the listed pages in the byte order of their URLs. With `prefix` only of those below it."""
    query = (
        select(urls.c.url, observations.c.title)
        .join(decisions, decisions.c.url_id == urls.c.id)
        .join(observations, observations.c.url_id == urls.c.id)
        .where(decisions.c.decision == "listed", has_prefix(prefix))
        .order_by(urls.c.url)
    )
    with store.reader() as connection:
        for row in connection.execution_options(yield_per=STREAM_ROWS).execute(query):
            yield row.url, row.title


def _listed_query(*further: ColumnElement[Any]) -> Select[Any]:
    """Return a query of the listed pages, whose columns are those of ListedPages.from_rows."""
    return (
        select(
            urls.c.id, urls.c.url, urls.c.depth, decisions.c.lastmod, decisions.c.lastmod_day,
            json_text(observations.c.extras), *further,
        )
        .join(urls, urls.c.id == decisions.c.url_id)
        .join(observations, observations.c.url_id == decisions.c.url_id)
        .where(decisions.c.decision == "listed")
        .order_by(urls.c.url)
    )  # fmt: skip


def _history(first: float | None, last: float | None, changed: int | None) -> History | None:
    return History(first, last, changed) if first is not None and last is not None and changed is not None else None


def _histories() -> Subquery:
    """Return the first and last lastmod and the number of changes of each page, from the stored changes."""
    dates = (func.min(changes.c.before).label("first"), func.max(changes.c.after).label("last"))
    redated = (changes.c.kind == "changed") & changes.c.before.is_not(None) & changes.c.after.is_not(None)
    query = select(changes.c.url_id, *dates, func.count().label("changes")).where(redated)
    return query.group_by(changes.c.url_id).subquery()


def _save_statement() -> RowStatement:
    statement = insert(decisions)
    new = statement.excluded
    names = ("decision", "reason", "evidence", "lastmod", "lastmod_source", "lastmod_day")
    is_same = decisions.c.reason == new.reason
    reason_of = {
        "since": case((is_same, decisions.c.since), else_=new.since),
        "before": case((is_same, decisions.c.before), else_=_reason_before(new.since)),
    }
    upsert = statement.on_conflict_do_update(
        index_elements=[decisions.c.url_id],
        set_={**{name: new[name] for name in names}, **reason_of},
        where=or_(*(decisions.c[name].is_distinct_from(new[name]) for name in names)),
    )
    return RowStatement(upsert, ("url_id", *names, "since"), joins=True)


def _reason_before(run: int | ColumnElement[int]) -> ColumnElement[str | None]:
    """Return the reason before `run`, for a row whose reason changes in that run, perhaps for the second time."""
    return case((decisions.c.since == run, decisions.c.before), else_=decisions.c.reason)


_SAVE = _save_statement()


def _facts_query(*, orphan_since: int, dropped_since: int) -> Select[Any]:
    """Return a query whose columns are the fields of Facts, in their order."""
    location, refresh, canonical = (urls.alias(name) for name in ("location_urls", "refresh_urls", "canonical_urls"))
    seen = observations.c
    columns = (
        urls.c.id, urls.c.url, urls.c.depth,
        func.coalesce(urls.c.unlinked_since <= orphan_since, false()),
        seen.fetched, seen.status, seen.error, seen.blocked_by, seen.content_type, seen.body_bytes, seen.body_hash,
        seen.canonical, seen.noindex, seen.unavailable_after, seen.directives,
        seen.lastmod, seen.lastmod_source, seen.lastmod_day,
        seen.failed_status, seen.failed_error, seen.failed_since.is_not(None),
        func.coalesce(and_(seen.failed_since > dropped_since, decisions.c.decision == "listed"), false()),
        location.c.url.label("location_url"), refresh.c.url.label("refresh_url"),
        canonical.c.url.label("canonical_url"),
        case((urls.c.state.in_(TRAPPED), urls.c.state)),
    )  # fmt: skip
    return (
        select(*columns)
        .outerjoin(observations, seen.url_id == urls.c.id)
        .outerjoin(decisions, decisions.c.url_id == urls.c.id)
        .outerjoin(location, location.c.id == seen.location)
        .outerjoin(refresh, refresh.c.id == seen.refresh)
        .outerjoin(canonical, canonical.c.id == seen.canonical)
    )


def _batches(made: Iterable[Decision], run: int) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for decision in made:
        rows.append(
            {
                "url_id": decision.url_id,
                "decision": "listed" if decision.listed else "excluded",
                "reason": str(decision.reason),
                "evidence": decision.evidence,
                "lastmod": decision.lastmod,
                "lastmod_source": decision.lastmod_source,
                "lastmod_day": decision.lastmod_day,
                "since": run,
            }
        )
        if len(rows) == BATCH_ROWS:
            yield rows
            rows = []
    if rows:
        yield rows
