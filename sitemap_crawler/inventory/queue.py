"""The queue of a run in the database: deduplicated, breadth-first, written in batches.

A page's observation and its links go into one transaction, which removes the page from the frontier. A crash therefore
never leaves a recorded page without its links: the page stays queued and is fetched again. The URLs of a page with many
links are added in slices before that transaction, so that no transaction takes long.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import null, select, union, update

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.frontier import Frontier, add_waiting, move_waiting
from sitemap_crawler.inventory.link_graph import queue_reachable, walk
from sitemap_crawler.inventory.new_urls import new_urls
from sitemap_crawler.inventory.observations import ObservationWriter, forget_answers
from sitemap_crawler.inventory.other_paths import refuse_other_paths
from sitemap_crawler.inventory.parts import refuse_parts
from sitemap_crawler.inventory.repeated_pages import refuse_alike, refuse_repeating, refuse_same
from sitemap_crawler.inventory.repeats import (
    bring_back,
    bring_forward,
    exhaust,
    is_exhausted,
    readmit_over_budget,
    readmit_repeating,
    sample_repeating,
)
from sitemap_crawler.inventory.schema import TRAPPED, UrlState, nofollowed, observations, urls
from sitemap_crawler.inventory.schema import frontier as due
from sitemap_crawler.inventory.sql import RowStatement, chunks, update_urls, url_key
from sitemap_crawler.inventory.traps import (
    load_admitted_sessions,
    load_learnt_traps,
    refuse_learnt_traps,
    refuse_leased,
    store_learnt_traps,
    store_left_out,
    store_trap_counts,
)
from sitemap_crawler.items import Observation, PageRendering, QueuedUrl
from sitemap_crawler.policy.rules import LINKED_FROM_UNREACHED, UNREACHED
from sitemap_crawler.traps.detector import Trap, TrapDetector
from sitemap_crawler.traps.turns import SAMPLE_TURN
from sitemap_crawler.utils.bounded import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.inventory.shared_traps import SharedTraps

MAX_BATCH_PAGES = 128
"""Maximum number of observations of a batch."""
MAX_BATCH_LINKS = 50_000
"""Number of links of the buffered observations from which on a batch is written. To write that many takes up to 1 s."""
MAX_BATCH_SECONDS = 3.0
"""Maximum age of a batch when the next observation arrives. A killed process loses at most this much work."""
SEEN_GENERATION = 50_000
"""Number of URLs in each of the two generations whose ids are kept in memory. Others are looked up."""
_INSERT_NOFOLLOWED = RowStatement(
    insert(nofollowed).on_conflict_do_nothing(index_elements=[nofollowed.c.key]), ("key", "referrer"), joins=True
)
_MOVE_CLOSER = update_urls("depth", "referrer", "state")


class Queue:
    """The queue of one run, and the buffer of its observations."""

    generation = 0
    """How often this process has lost what it had leased."""

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
        knows_pages: bool | None = None,
        renders: bool = False,
        frontier: Frontier | None = None,
    ) -> None:
        """Create the queue of the run with this number.

        `readers` names the code and options that make observations.
        `conditional` allows conditional requests for pages that the same readers have read.
        `admits(url, depth)` returns whether a discovered URL is to be fetched.
        `follows(url)` returns whether a URL is within the site, so that links to it are stored.
        `traps` refuses some of the admitted URLs.
        `knows_pages`: whether earlier observations are stored; by default from the second run on.
        `renders`: a browser renders some pages, so that leased URLs come with their last rendering.
        `frontier` is by default that of the only process.
        """
        self._connection = connection
        self._run = run
        self._observations = ObservationWriter(connection, run, readers=readers, renders=renders)
        seen = observations.c
        knows = run > 1 if knows_pages is None else knows_pages
        sends_conditions = conditional and knows
        joins = knows and (conditional or renders)
        validators = (
            (seen.etag, seen.modified_header, seen.header_mark) if sends_conditions else (null(), null(), null())
        )
        rendering = (seen.rendered, seen.rendering) if knows and renders else ()
        same_readers = (seen.url_id == urls.c.id) & (seen.readers == readers)
        self._requestable = (
            select(urls.c.id, urls.c.url, urls.c.depth, *validators, *rendering)
            .select_from(urls.outerjoin(observations, same_readers) if joins else urls)
            .order_by(urls.c.depth, urls.c.id)
        )
        waiting = due.join(urls, urls.c.id == due.c.url_id)
        self._due = select(urls.c.id, urls.c.url, due.c.depth, due.c.turn, *validators, *rendering).select_from(
            waiting.outerjoin(observations, same_readers) if joins else waiting
        )
        self._frontier = Frontier(connection) if frontier is None else frontier
        self._new_urls = new_urls(connection)
        self._admits = admits
        self._follows = follows
        self._traps = traps if traps is not None else TrapDetector(0, applies=lambda _: False)
        self.shared_traps: SharedTraps | None = None
        """What other processes learn of traps. None where one process crawls."""
        self.on_added: Callable[[], None] = lambda: None
        """Called after URLs were added that no crawled page has named: no response wakes the engine then."""
        self.stores_trap_counts = True
        """Whether the counts of pages that may be traps are stored for the next process."""
        self._seen: Recent[tuple[int, int]] = Recent(SEEN_GENERATION)
        self._starts: set[int] = set()
        self._flushed = time.monotonic()
        self._leased = 0
        self._buffer: list[tuple[Observation, int, tuple[str, ...]]] = []
        self._buffered_links = 0
        self._has_unsaved_traps = False
        self._nofollow: dict[int, int] = {}
        self._nofollow_seen: set[int] = set()
        self._doubted: dict[int, QueuedUrl] = {}
        """Leased URLs whose answers may be those of others."""
        with connection.begin():
            self.queued = self._count_queued()

    @property
    def waiting(self) -> int:
        """Number of URLs without an observation: queued, in flight, or waiting for a retry."""
        return self.queued + self._leased

    @property
    def may_lease(self) -> bool:
        """Whether a lease may find a URL."""
        return self.queued > 0

    @property
    def pending(self) -> int:
        """Number of buffered observations. They may name new URLs, which are not counted in `queued` yet."""
        return len(self._buffer)

    def is_waiting(self, url: str) -> bool:
        """Return whether a URL waits or is leased."""
        query = select(due.c.url_id).join(urls, urls.c.id == due.c.url_id).where(urls.c.key == url_key(url))
        with self._connection.begin():
            return self._connection.scalar(query) is not None

    def add_start_page(self, url: str) -> None:
        """Queue a start page, unless this run has queued or fetched it already."""
        with self._connection.begin():
            ids = list(self._identify({url: (0, None)}).values())
            self._starts.update(ids)
            self._admit(ids, (int(UrlState.KNOWN), int(UrlState.NOT_DUE), *TRAPPED))
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
            admitted = [url_id for url, url_id in ids.items() if self._admits(url, UNREACHED)]
            self._admit(admitted, (int(UrlState.KNOWN), *TRAPPED))
            self.queued = self._count_queued()
        self.on_added()
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
        # Those whose pages only repeat others are refused when they are leased.
        has_patterns = any(trap is not Trap.REPEATS for trap, _ in self._traps.learnt)
        with self._connection.begin():
            self._give_back(held)
            if self.shared_traps is not None:
                self.shared_traps.lock()
                load_learnt_traps(self._connection, self._traps)
            if self._traps.apply_learnt():
                self._has_unsaved_traps = True
            if self._has_unsaved_traps:
                store_learnt_traps(self._connection, self._traps)
                if has_patterns:
                    refuse_learnt_traps(self._connection, self._traps)
                if self.shared_traps is not None:
                    self.shared_traps.announce()
            self.queued = self._count_queued()
        self._has_unsaved_traps = False

    def sample_refused(self) -> None:
        """Queue some of the URLs whose pages seem to repeat others. Called when all else is fetched.

        A group whose samples show anything new is no longer refused. Then its URLs are queued, too, and so are those
        for which there is room again.
        """
        self.flush()
        reopened = set(self._traps.yields.reopened)
        with self._connection.begin():
            if reopened:
                readmit_repeating(self._connection, self._traps)
                store_learnt_traps(self._connection, self._traps)
            is_counted_anew = readmit_over_budget(self._connection, self._traps, admits=self._admits)
            if is_counted_anew and self.shared_traps is not None:
                self.shared_traps.forget_places()
            may_yield_again = self._traps.yields.progress.begin_round()
            left_out = self._traps.yields.left_out
            known = left_out.sampled - reopened if may_yield_again else left_out.sampled
            ids, groups = sample_repeating(self._connection, self._traps, known=known, run=self._run)
            self._admit(ids, (int(UrlState.REPEATS), int(UrlState.EXHAUSTED)), turn=SAMPLE_TURN)
            sampled = known | groups
            store_left_out(self._connection, self._traps, run=self._run, sampled=sampled)
            store_trap_counts(self._connection, self._traps, run=self._run)
            self._bring_forward()
            self.queued = self._count_queued()
        left_out.sampled = sampled
        self._traps.yields.reopened -= reopened

    def settle_repeats(self) -> bool:
        """Refuse the fetched pages that only repeat others. Called when the run ends.

        Return whether the run has left URLs out because its last pages had shown nothing new.
        """
        with self._connection.begin():
            refuse_alike(self._connection, self._traps)
            refuse_repeating(self._connection, self._traps, run=self._run)
            refuse_same(self._connection, self._traps)
            refuse_other_paths(self._connection, self._traps)
            refuse_parts(self._connection, self._traps)
            if self._traps.yields.refused:
                store_learnt_traps(self._connection, self._traps)
            return is_exhausted(self._connection)

    def load_traps(self, held: Collection[QueuedUrl], *, version: int) -> None:
        """Load the traps that other processes have learnt. `held` are leased URLs, which return to the queue."""
        self.flush()
        with self._connection.begin():
            load_learnt_traps(self._connection, self._traps)
            load_admitted_sessions(self._connection, self._traps)
            refused = refuse_leased(self._connection, self._traps, held)
            self._frontier.drop(refused)
            self._leased -= len(refused)
            self._give_back([queued for queued in held if queued.id not in refused])
            self.queued = self._count_queued()
        if self.shared_traps is not None:
            self.shared_traps.version = version

    def holds(self, queued: QueuedUrl) -> bool:
        """Return whether this process still has leased a URL."""
        return True

    def give_back(self, held: Collection[QueuedUrl]) -> None:
        """Let leased URLs wait again: another process may request them."""
        with self._connection.begin():
            self._give_back(held)

    def doubt(self, pages: Collection[QueuedUrl]) -> int:
        """Let pages wait again whose answers may be those of others. Return their number.

        What is stored of such an answer neither dates the page nor makes a request conditional.
        """
        self.flush()
        by_id = {queued.id: queued for queued in pages}
        with self._connection.begin():
            held = self._frontier.held(by_id)
            waiting = self._frontier.find(by_id) - held
            stored = by_id.keys() - held - waiting
            forget_answers(self._connection, stored)
            rows = [by_id[url_id] for url_id in sorted(stored)]
            turns = [0 if row.depth == UNREACHED else self._traps.turn_of(row.url) for row in rows]
            add_waiting(
                self._connection,
                [{"url_id": row.id, "depth": row.depth, "turn": turn} for row, turn in zip(rows, turns, strict=True)],
            )
            self._frontier.uncount(len(stored) + len(held))
            self.queued = self._count_queued()
        self._doubted.update({url_id: by_id[url_id] for url_id in held})
        return len(stored) + len(held)

    def _give_back(self, held: Collection[QueuedUrl]) -> None:
        self._frontier.give_back(queued.id for queued in held)
        for queued in held:
            self._traps.uncount_request(queued.url)
        self._leased -= len(held)

    def add_links(self, page: int, links: Iterable[str], *, depth: int) -> None:
        """Queue URLs that the page with this id and depth links to, before the page itself is recorded.

        `record` needs less time for links that are known. A crash in between leaves the page unrecorded.
        """
        links = list(links)
        self._admit_sessions(links)
        targets = map(self._traps.admitted_session, links) if self._traps.knows_sessions else links
        depth = min(depth + 1, LINKED_FROM_UNREACHED)
        discovered: dict[str, tuple[int, int | None]] = {}
        for url in targets:
            known = self._seen.get(url)
            if known is None or known[1] > depth:
                discovered[url] = (depth, page)
        with self._connection.begin():
            self._identify(discovered)

    def _admit_sessions(self, targets: Iterable[str]) -> None:
        """Learn which URL other processes have admitted of each page with session ids, and tell them of new ones."""
        if self.shared_traps is not None and self._traps.knows_sessions:
            with self._connection.begin():
                self.shared_traps.admit_sessions(url for url in targets if self._seen.get(url) is None)

    def record(
        self, observation: Observation, *, depth: int, links: tuple[str, ...], nofollow_links: tuple[str, ...] = ()
    ) -> None:
        """Buffer an observation of a leased URL. A full or old buffer is written.

        A URL whose answer is doubted waits again instead.
        """
        if (queued := self._doubted.pop(observation.url_id, None)) is not None:
            self.give_back([queued])
            self.queued += 1
            return
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

    def lease(self, limit: int, *, elsewhere: Collection[str] = ()) -> list[QueuedUrl]:
        """Lease up to `limit` URLs. Those with the fewest clicks from the start page come first.

        URLs of the hosts `elsewhere` are left to other processes.
        """
        return self._lease_rows(limit, elsewhere) if self.queued else []

    def _lease_rows(self, limit: int, elsewhere: Collection[str]) -> list[QueuedUrl]:
        while True:
            with self._connection.begin():
                if self._traps.yields.turns.has_returned:
                    self._traps.yields.turns.has_returned = False
                    bring_back(self._connection, self._traps)
                self.queued += self._bring_forward()
                rows = self._frontier.lease(self._due, limit, elsewhere=elsewhere)
                if rows and rows[0].turn > 0 and self._leaves_out(rows):
                    self._frontier.give_back([row.id for row in rows])
                    exhaust(self._connection, self._traps)
                    if self.stores_trap_counts:
                        store_left_out(self._connection, self._traps, run=self._run)
                    # Known pages are left, and those that a sitemap names.
                    rows = self._frontier.lease(self._due, limit, elsewhere=elsewhere)
                postponed = {row.id: turn for row in rows if (turn := self._turn_now(row)) > row.turn}
                for turn in set(postponed.values()):
                    self._frontier.postpone([url_id for url_id, later in postponed.items() if later == turn], turn)
                leased = [leased_url(row) for row in rows if row.id not in postponed]
                if self._traps.yields.refused or (self.shared_traps is not None and self.shared_traps.version):
                    # They were discovered before the trap was learnt, perhaps by another process.
                    samples = {row.id for row in rows if row.turn == SAMPLE_TURN}
                    refused = refuse_leased(self._connection, self._traps, leased, exempt=samples)
                    self._frontier.drop(refused)
                    leased = [queued for queued in leased if queued.id not in refused]
            self.queued = (self.queued - len(rows) if len(rows) == limit else 0) + len(postponed)
            self._leased += len(leased)
            if leased or not rows:
                return leased

    def _leaves_out(self, rows: Sequence[Any]) -> bool:
        """Return whether the run leaves these leased URLs out, and all others that wait."""
        return self._traps.yields.progress.ends(lambda: self._count_queued() + len(rows))

    def _bring_forward(self) -> int:
        """Let URLs wait in the first turn that pages have named as canonical. Return the number of further ones."""
        named = self._traps.yields.named
        new, named.new = named.new, []
        return bring_forward(self._connection, new)

    def _turn_now(self, row: Any) -> int:
        """Return the turn of a leased URL by what the run has learnt since it began to wait. Samples keep theirs."""
        if row.turn == SAMPLE_TURN:
            # Another process may have chosen it.
            self._traps.yields.left_out.samples.add(row.url)
            self._traps.count_request(row.url, 0)
            return SAMPLE_TURN
        return self._traps.count_request(row.url, row.turn) if 0 < row.depth < UNREACHED else 0

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
        self._admit_sessions(target for page, _, links in pages for target, _ in _targets(page, links))
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
            leased = self._complete([observation.url_id for observation, _, _ in pages])
            ids |= self._identify(discovered)
            ids |= {target: ids[url] for target, url in renamed.items()}
            # A process that was taken for dead may have leased a URL twice. Its first observation counts.
            first = {page.url_id: (page, links) for page, _, links in reversed(pages) if page.url_id in leased}
            observed = [
                (page, [ids[url] for url in links if self._follows(url)]) for page, links in reversed(first.values())
            ]
            self._observations.write(observed, ids)
            self._frontier.uncount(sum(page.blocked_by is not None for page, _ in observed))
            self._write_nofollow()
            if self._traps.has_unsaved_counts and self.stores_trap_counts:
                store_trap_counts(self._connection, self._traps, run=self._run)
            places = self.shared_traps.exchange_places() if self.shared_traps is not None else []
        self._traps.facets.forget_changes(places)
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
        admitted: list[dict[str, Any]] = []
        for key, url in by_key.items():
            depth, referrer = discovered[url]
            row = known.get(key)
            if row is None:
                state = int(self._first_state(url, depth))
                values = {"key": key, "url": url, "state": state, "depth": depth, "referrer": referrer}
                fresh.append({**values, "first_seen": self._run})
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
                if state != row.state and state is UrlState.ADMITTED:
                    admitted.append({"url_id": row.id, "depth": nearer["b_depth"], "turn": self._turn_of(url, depth)})
        if not self._write(fresh, closer, admitted, ids):
            # Another process was quicker with some of them: now they are known.
            left = {row["url"]: discovered[row["url"]] for row in fresh if row["url"] not in ids}
            ids |= self._identify(left)
        return ids

    def _first_state(self, url: str, depth: int) -> UrlState:
        """Return the state of a URL that was never requested, at `depth` clicks from a start page."""
        if not self._admits(url, depth):
            return UrlState.KNOWN
        if depth == UNREACHED:
            # A sitemap names the URL, so no trap refuses it.
            self._traps.count_admitted(url)
            return UrlState.ADMITTED
        trap = self._traps.new_refusal(url)
        return UrlState.ADMITTED if trap is None else UrlState(trap)

    def _turn_of(self, url: str, depth: int) -> int:
        """Return the turn of a URL that begins to wait. Those that sitemaps name are the last of the first turn."""
        return 0 if depth == UNREACHED else self._traps.turn_of(url)

    def _write(
        self,
        fresh: list[dict[str, Any]],
        closer: list[dict[str, Any]],
        admitted: list[dict[str, Any]],
        ids: dict[str, int],
    ) -> bool:
        """Store new URLs, changed depths and states, and the URLs that wait from now on.

        The ids of the new URLs are added to `ids`. Returns whether all of them were new.
        """
        inserted = self._new_urls.insert(fresh)
        for row in fresh:
            url_id = inserted.get(row["key"])
            if url_id is not None:
                ids[row["url"]] = url_id
                self._seen.put(row["url"], (url_id, row["depth"]))
                if row["state"] == UrlState.ADMITTED:
                    turn = self._turn_of(row["url"], row["depth"])
                    admitted.append({"url_id": url_id, "depth": row["depth"], "turn": turn})
        if closer:
            _MOVE_CLOSER.execute(self._connection, closer)
            move_waiting(self._connection, [{name: row[name] for name in ("b_id", "b_depth")} for row in closer])
        add_waiting(self._connection, admitted)
        self.queued += len(admitted)
        return len(inserted) == len(fresh)

    def _admit(self, ids: Sequence[int], states: Iterable[int], *, turn: int = 0) -> None:
        """Queue those of the URLs that have one of the states."""
        for chunk in chunks(ids):
            refused = urls.c.id.in_(chunk) & urls.c.state.in_(states)
            rows = self._connection.execute(select(urls.c.id, urls.c.depth).where(refused)).all()
            if rows:
                self._connection.execute(update(urls).where(refused).values(state=int(UrlState.ADMITTED)))
                add_waiting(self._connection, [{"url_id": row.id, "depth": row.depth, "turn": turn} for row in rows])

    def _complete(self, ids: Sequence[int]) -> set[int]:
        """Remove URLs from the frontier. Return those whose observations this process may store."""
        return self._frontier.complete(ids)

    def _write_nofollow(self) -> None:
        for chunk in chunks(list(self._nofollow)):
            known = set(self._connection.scalars(select(nofollowed.c.key).where(nofollowed.c.key.in_(chunk))))
            rows = [{"key": key, "referrer": self._nofollow[key]} for key in chunk if key not in known]
            _INSERT_NOFOLLOWED.execute(self._connection, rows)

    def _find(self, keys: Iterable[int]) -> Iterator[Any]:
        query = select(urls.c.id, urls.c.key, urls.c.depth, urls.c.referrer, urls.c.state)
        for chunk in chunks(list(keys)):
            yield from self._connection.execute(query.where(urls.c.key.in_(chunk)))

    def _count_queued(self) -> int:
        return self._frontier.count_waiting()


def leased_url(row: Sequence[Any]) -> QueuedUrl:
    """Return the URL of a row of the frontier, whose fourth column is the turn."""
    return queued_url(*row[:3], *row[4:])


def queued_url(
    url_id: int, url: str, depth: int, etag: str | None, modified_header: str | None, header_mark: bytes | None,
    rendered: int | None = None, rendering: dict[str, Any] | None = None,
) -> QueuedUrl:  # fmt: skip
    """Return the leased URL of a row."""
    before = None if rendered is None else PageRendering.from_stored(rendered, rendering)
    return QueuedUrl(url_id, url, depth, etag, modified_header, header_mark, before)


def _targets(observation: Observation, links: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield the URLs that a page names, and the clicks to each. A redirect takes none."""
    for url in links:
        yield url, 1
    for target, clicks in ((observation.location, 0), (observation.refresh, 0), (observation.canonical, 1)):
        if target is not None:
            yield target, clicks
    for _, url in observation.alternates:
        yield url, 1
