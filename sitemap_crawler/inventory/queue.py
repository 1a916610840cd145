"""The queue of a run in the database: deduplicated, breadth-first, written in batches.

A page's observation, its links and its new state go into one transaction. A crash therefore never leaves a recorded
page without its links: the page stays queued and is fetched again. The URLs of a page with many links are added in
slices before that transaction, so that no transaction takes long.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, null, select, union, update

from sitemap_crawler.inventory.link_graph import queue_reachable, walk
from sitemap_crawler.inventory.observations import ObservationWriter
from sitemap_crawler.inventory.schema import TRAPPED, UrlState, nofollowed, observations, urls
from sitemap_crawler.inventory.sql import RowStatement, chunks, update_urls, url_key
from sitemap_crawler.inventory.traps import refuse_learnt_traps, store_learnt_traps, store_trap_counts
from sitemap_crawler.items import Observation, QueuedUrl
from sitemap_crawler.policy.rules import LINKED_FROM_UNREACHED, UNREACHED
from sitemap_crawler.traps.detector import TrapDetector
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from sqlalchemy import Connection

MAX_BATCH_PAGES = 128
"""Maximum number of observations of a batch."""
MAX_BATCH_LINKS = 50_000
"""Number of links of the buffered observations from which on a batch is written. To write that many takes up to 1 s."""
MAX_BATCH_SECONDS = 3.0
"""Maximum age of a batch when the next observation arrives. A killed process loses at most this much work."""
SEEN_GENERATION = 50_000
"""Number of URLs in each of the two generations whose ids are kept in memory. Others are looked up."""
_INSERT_URL = RowStatement(insert(urls), ("id", "key", "url", "state", "depth", "referrer", "first_seen"))
_INSERT_NOFOLLOWED = RowStatement(insert(nofollowed), ("key", "referrer"))
_MOVE_CLOSER = update_urls("depth", "referrer", "state")


class Queue:
    """The queue of one run, and the buffer of its observations."""

    def __init__(
        self,
        connection: Connection,
        run: int,
        *,
        readers: str,
        conditional: bool,
        admits: Callable[[str, int], bool],
        follows: Callable[[str], bool],
        traps: TrapDetector | None = None,
    ) -> None:
        """Create the queue of the run with this number.

        `readers` names the code and options that make observations.
        `conditional` allows conditional requests for pages that the same readers have read.
        `admits(url, depth)` returns whether a discovered URL is to be fetched.
        `follows(url)` returns whether a URL is within the site, so that links to it are stored.
        `traps` refuses some of the admitted URLs.
        """
        self._connection = connection
        self._run = run
        self._observations = ObservationWriter(connection, run, readers=readers)
        seen = observations.c
        sends_conditions = conditional and run > 1
        validators = (
            (seen.etag, seen.modified_header, seen.header_mark) if sends_conditions else (null(), null(), null())
        )
        same_readers = (seen.url_id == urls.c.id) & (seen.readers == readers)
        self._due = (
            select(urls.c.id, urls.c.url, urls.c.depth, *validators)
            .select_from(urls.outerjoin(observations, same_readers) if sends_conditions else urls)
            .where(urls.c.state == int(UrlState.QUEUED))
            .order_by(urls.c.depth, urls.c.id)
        )
        self._admits = admits
        self._follows = follows
        self._traps = traps if traps is not None else TrapDetector(0, applies=lambda _: False)
        self._seen: Recent[tuple[int, int]] = Recent(SEEN_GENERATION)
        self._starts: set[int] = set()
        self._flushed = time.monotonic()
        self._leased = 0
        self._buffer: list[tuple[Observation, int, tuple[str, ...]]] = []
        self._buffered_links = 0
        self._nofollow: dict[int, int] = {}
        self._nofollow_seen: set[int] = set()
        with connection.begin():
            self._next_id: int = (connection.scalar(select(func.max(urls.c.id))) or 0) + 1
            self.queued = self._count_queued()

    @property
    def waiting(self) -> int:
        """Number of URLs without an observation: queued, in flight, or waiting for a retry."""
        return self.queued + self._leased

    @property
    def pending(self) -> int:
        """Number of buffered observations. They may name new URLs, which are not counted in `queued` yet."""
        return len(self._buffer)

    def add_start_page(self, url: str) -> None:
        """Queue a start page, unless this run has queued or fetched it already."""
        with self._connection.begin():
            ids = list(self._identify({url: (0, None)}).values())
            self._starts.update(ids)
            unrequested = urls.c.id.in_(ids) & urls.c.state.in_((int(UrlState.KNOWN), int(UrlState.NOT_DUE), *TRAPPED))
            self._connection.execute(update(urls).where(unrequested).values(state=int(UrlState.QUEUED)))
            self.queued = self._count_queued()

    def add_from_sitemap(self, named: Iterable[str], *, is_list: bool = False) -> dict[str, int]:
        """Queue the URLs that a foreign sitemap names, to be fetched after all linked URLs. Return their ids.

        With `is_list` a list of the owner names them, which the caller stores. Once it no longer names a URL, the URL
        may become an orphan.
        """
        with self._connection.begin():
            ids = self._identify(dict.fromkeys(named, (UNREACHED, None)))
            for chunk in chunks([] if is_list else list(ids.values())):
                self._connection.execute(update(urls).where(urls.c.id.in_(chunk)).values(named=self._run))
            # A URL that was refused for its depth or for a trap is fetched now.
            for chunk in chunks([url_id for url, url_id in ids.items() if self._admits(url, UNREACHED)]):
                refused = urls.c.id.in_(chunk) & urls.c.state.in_((int(UrlState.KNOWN), *TRAPPED))
                self._connection.execute(update(urls).where(refused).values(state=int(UrlState.QUEUED)))
            self.queued = self._count_queued()
        return ids

    def add_targets(self) -> None:
        """Queue the targets of redirects and canonicals that were refused for their depth."""
        with self._connection.begin():
            named = union(
                *(
                    select(column).where(observations.c.run == self._run, column.is_not(None))
                    for column in (observations.c.location, observations.c.refresh, observations.c.canonical)
                )
            )
            query = select(urls.c.url).where(urls.c.state == int(UrlState.KNOWN), urls.c.id.in_(named))
            targets = list(self._connection.scalars(query))
        self.add_from_sitemap(targets)

    def update_depths(self) -> None:
        """Queue URLs that were refused for their depth and have a shorter path. Called when all else is fetched."""
        with self._connection.begin():
            reach = walk(self._connection, self._run, starts=self._starts)
            queue_reachable(self._connection, reach, state_of=self._first_state)
            self.queued = self._count_queued()

    def refuse_trapped(self, held: Collection[QueuedUrl]) -> None:
        """Refuse queued URLs that are in newly learnt traps. `held` are leased URLs, which return to the queue."""
        self.flush()
        with self._connection.begin():
            self._set_state([queued.id for queued in held], UrlState.QUEUED)
            self._leased -= len(held)
            if self._traps.apply_learnt():
                store_learnt_traps(self._connection, self._traps)
                refuse_learnt_traps(self._connection, self._traps)
            self.queued = self._count_queued()

    def add_links(self, page: int, links: Iterable[str], *, depth: int) -> None:
        """Queue URLs that the page with this id and depth links to, before the page itself is recorded.

        `record` needs less time for links that are known. A crash in between leaves the page unrecorded.
        """
        targets = map(self._traps.admitted_session, links) if self._traps.knows_sessions else links
        depth = min(depth + 1, LINKED_FROM_UNREACHED)
        discovered: dict[str, tuple[int, int | None]] = {}
        for url in targets:
            known = self._seen.get(url)
            if known is None or known[1] > depth:
                discovered[url] = (depth, page)
        with self._connection.begin():
            self._identify(discovered)

    def record(
        self, observation: Observation, *, depth: int, links: tuple[str, ...], nofollow_links: tuple[str, ...] = ()
    ) -> None:
        """Buffer an observation of a leased URL. A full or old buffer is written."""
        self._buffer.append((observation, depth, links))
        self._buffered_links += len(links) + len(nofollow_links)
        self._leased -= 1
        for url in nofollow_links:
            if self._follows(url) and self._seen.get(url) is None:
                key = url_key(url)
                if key not in self._nofollow_seen:
                    self._nofollow_seen.add(key)
                    self._nofollow[key] = observation.url_id
        is_full = len(self._buffer) >= MAX_BATCH_PAGES or self._buffered_links >= MAX_BATCH_LINKS
        if is_full or time.monotonic() - self._flushed > MAX_BATCH_SECONDS:
            self.flush()

    def lease(self, limit: int) -> list[QueuedUrl]:
        """Lease up to `limit` URLs. Those with the fewest clicks from the start page come first."""
        if not self.queued:
            return []
        with self._connection.begin():
            rows = self._connection.execute(self._due.limit(limit).with_for_update(skip_locked=True)).all()
            self._set_state([row.id for row in rows], UrlState.LEASED)
        self.queued -= len(rows)
        self._leased += len(rows)
        return [QueuedUrl(*row) for row in rows]

    def flush(self) -> None:
        """Write the buffer. Raises SQLAlchemyError if that fails, as on a full disk, and keeps the buffer then."""
        self._flushed = time.monotonic()
        pages = self._buffer
        if not pages:
            return
        ids: dict[str, int] = {}
        discovered: dict[str, tuple[int, int | None]] = {}
        renamed: dict[str, str] = {}
        sessions = self._traps.knows_sessions
        for observation, depth, links in pages:
            for target, clicks in _targets(observation, links):
                url = self._traps.admitted_session(target) if sessions else target
                if url != target:
                    renamed[target] = url
                known = self._seen.get(url)
                if known is not None:
                    ids[url] = known[0]
                target_depth = min(depth + clicks, LINKED_FROM_UNREACHED)
                if known is None or known[1] > target_depth:
                    earlier = discovered.get(url)
                    if earlier is None or earlier[0] > target_depth:
                        discovered[url] = (target_depth, observation.url_id)
        with self._connection.begin():
            ids |= self._identify(discovered)
            ids |= {target: ids[url] for target, url in renamed.items()}
            observed = [(page, [ids[url] for url in links if self._follows(url)]) for page, _, links in pages]
            self._observations.write(observed, ids)
            # A URL stays refused if its trap was learnt while it was leased.
            fetched = [observation.url_id for observation, _, _ in pages]
            self._set_state(fetched, UrlState.FETCHED, unless=TRAPPED)
            self._write_nofollow()
            if self._traps.has_unsaved_counts:
                store_trap_counts(self._connection, self._traps, run=self._run)
        self._traps.has_unsaved_counts = False
        self._buffer, self._buffered_links = [], 0
        self._nofollow = {}
        if len(self._nofollow_seen) > SEEN_GENERATION:
            self._nofollow_seen = set()

    def _identify(self, discovered: dict[str, tuple[int, int | None]]) -> dict[str, int]:
        """Return the ids of discovered URLs, given with depth and referrer. New URLs are inserted."""
        ids: dict[str, int] = {}
        if not discovered:
            return ids
        by_key = {url_key(url): url for url in discovered}
        known = {row.key: row for row in self._find(by_key)}
        fresh: list[dict[str, Any]] = []
        closer: list[dict[str, Any]] = []
        for key, url in by_key.items():
            depth, referrer = discovered[url]
            row = known.get(key)
            if row is None:
                state = self._first_state(url, depth)
                self.queued += state is UrlState.QUEUED
                ids[url], self._next_id = self._next_id, self._next_id + 1
                values = {"id": ids[url], "key": key, "url": url, "first_seen": self._run, "referrer": referrer}
                fresh.append({**values, "state": int(state), "depth": depth})
                self._seen.put(url, (ids[url], depth))
                continue
            ids[url] = row.id
            self._seen.put(url, (row.id, min(row.depth, depth)))
            # A URL that no run was to fetch may be admitted now, because a new link or a shorter path leads to it.
            state = row.state if row.state != UrlState.KNOWN else self._first_state(url, min(row.depth, depth))
            if state != row.state or depth < row.depth:
                nearer = (
                    {"b_depth": depth, "b_referrer": referrer}
                    if depth < row.depth
                    else {"b_depth": row.depth, "b_referrer": row.referrer}
                )
                closer.append({"b_id": row.id, "b_state": int(state), **nearer})
        self._write(fresh, closer)
        return ids

    def _first_state(self, url: str, depth: int) -> UrlState:
        """Return the state of a URL that was never requested, at `depth` clicks from a start page."""
        if not self._admits(url, depth):
            return UrlState.KNOWN
        if depth == UNREACHED:
            # A sitemap names the URL, so no trap refuses it.
            self._traps.count_admitted(url)
            return UrlState.QUEUED
        trap = self._traps.refusal(url)
        return UrlState.QUEUED if trap is None else UrlState(trap)

    def _write(self, fresh: list[dict[str, Any]], closer: list[dict[str, Any]]) -> None:
        _INSERT_URL.execute(self._connection, fresh)
        if closer:
            _MOVE_CLOSER.execute(self._connection, closer)
            self.queued = self._count_queued()

    def _write_nofollow(self) -> None:
        for chunk in chunks(list(self._nofollow)):
            known = set(self._connection.scalars(select(nofollowed.c.key).where(nofollowed.c.key.in_(chunk))))
            rows = [{"key": key, "referrer": self._nofollow[key]} for key in chunk if key not in known]
            _INSERT_NOFOLLOWED.execute(self._connection, rows)

    def _find(self, keys: Iterable[int]) -> Iterator[Any]:
        query = select(urls.c.id, urls.c.key, urls.c.depth, urls.c.referrer, urls.c.state)
        for chunk in chunks(list(keys)):
            yield from self._connection.execute(query.where(urls.c.key.in_(chunk)))

    def _set_state(self, ids: list[int], state: UrlState, *, unless: Iterable[int] = ()) -> None:
        for chunk in chunks(ids):
            changed = urls.c.id.in_(chunk) & urls.c.state.not_in(unless)
            self._connection.execute(update(urls).where(changed).values(state=int(state)))

    def _count_queued(self) -> int:
        query = select(func.count()).select_from(urls).where(urls.c.state == int(UrlState.QUEUED))
        return self._connection.scalar(query) or 0


def _targets(observation: Observation, links: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield the URLs that a page names, and the clicks to each. A redirect takes none."""
    for url in links:
        yield url, 1
    for target, clicks in ((observation.location, 0), (observation.refresh, 0), (observation.canonical, 1)):
        if target is not None:
            yield target, clicks
    for _, url in observation.alternates:
        yield url, 1
