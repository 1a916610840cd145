"""The queue of `update`: chosen URLs are requested without a run, and their answers kept as those of the last one.

No URL is queued in the database, so that a killed process leaves nothing for the next run but what it has stored.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import TYPE_CHECKING

from sqlalchemy import select, union, update

from sitemap_crawler.inventory.observations import ObservationWriter
from sitemap_crawler.inventory.publications import mark_unpublished
from sitemap_crawler.inventory.queue import Queue, queued_url
from sitemap_crawler.inventory.schema import TRAPPED, UrlState, observations, urls
from sitemap_crawler.inventory.sql import chunks
from sitemap_crawler.policy.rules import UNREACHED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    from sqlalchemy import Connection

    from sitemap_crawler.items import Observation, QueuedUrl


class ChosenQueue(Queue):
    """Queue of chosen URLs. New URLs on their pages are stored for the next run, and not requested."""

    def __init__(
        self,
        connection: Connection,
        run: int,
        *,
        readers: str,
        admits: Callable[[str, int], bool],
        follows: Callable[[str], bool],
        failing_since: int,
        before_request: Callable[[Sequence[int]], None],
        renders: bool = False,
    ) -> None:
        """`run` is the last finished run. A page that fails now counts as failing since the run `failing_since`.

        `before_request` is called with the ids of URLs whose stored answers are about to be replaced.
        """
        self._waiting: deque[int] = deque()
        self._chosen: dict[int, None] = {}
        self.discovered = array("q")
        """The ids of the URLs that the inventory did not know."""
        super().__init__(
            connection,
            run,
            readers=readers,
            conditional=True,
            admits=admits,
            follows=follows,
            knows_pages=True,
            renders=renders,
        )
        self._observations = ObservationWriter(
            connection, run, readers=readers, compares=True, failing_since=failing_since, renders=renders
        )
        self._before_request = before_request
        self._is_marked = False
        self.answered: set[int] = set()
        """The ids of the URLs whose request has ended."""

    @property
    def requested(self) -> list[int]:
        """The ids of all chosen URLs."""
        return list(self._chosen)

    def choose(self, wanted: Iterable[str], *, despite_traps: bool = False) -> dict[str, int]:
        """Queue the URLs, each once, and return their ids. `despite_traps`: the refusal of a run for a trap ends."""
        with self._connection.begin():
            ids = self._identify(dict.fromkeys(wanted, (UNREACHED, None)))
            for chunk in chunks(list(ids.values()) if despite_traps else []):
                trapped = urls.c.id.in_(chunk) & urls.c.state.in_(TRAPPED)
                self._connection.execute(update(urls).where(trapped).values(state=int(UrlState.KNOWN)))
        new = [url_id for url_id in ids.values() if url_id not in self._chosen]
        self._chosen.update(dict.fromkeys(new))
        self._waiting.extend(new)
        self.queued = self._count_queued()
        return ids

    def add_targets(self) -> None:
        """Queue the targets of redirects and canonicals of the pages that were requested."""
        self.flush()
        targets: list[str] = []
        seen = observations.c
        with self._connection.begin():
            for chunk in chunks(self.requested):
                columns = (seen.location, seen.refresh, seen.canonical)
                named = union(
                    *(select(column).where(seen.url_id.in_(chunk), column.is_not(None)) for column in columns)
                )
                targets += self._connection.scalars(select(urls.c.url).where(urls.c.id.in_(named)))
        self.choose([url for url in targets if self._admits(url, UNREACHED)])

    def lease(self, limit: int, *, elsewhere: Collection[str] = ()) -> list[QueuedUrl]:
        ids = [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]
        self.queued = self._count_queued()
        self._leased += len(ids)
        self._before_request(ids)
        query = self._requestable
        with self._connection.begin():
            return [
                queued_url(*row)
                for chunk in chunks(ids)
                for row in self._connection.execute(query.where(urls.c.id.in_(chunk)))
            ]

    def record(
        self, observation: Observation, *, depth: int, links: tuple[str, ...], nofollow_links: tuple[str, ...] = ()
    ) -> None:
        self.answered.add(observation.url_id)
        super().record(observation, depth=depth, links=links, nofollow_links=nofollow_links)

    def flush(self) -> None:
        if self.pending and not self._is_marked:
            # From now on the stored answers may decide otherwise than the published set has it.
            mark_unpublished(self._connection)
            self._is_marked = True
        super().flush()

    def _complete(self, ids: Sequence[int]) -> set[int]:
        return set(ids)

    def _first_state(self, url: str, depth: int) -> UrlState:
        return UrlState.KNOWN

    def _write(
        self,
        fresh: list[dict[str, Any]],
        closer: list[dict[str, Any]],
        admitted: list[dict[str, Any]],
        ids: dict[str, int],
    ) -> bool:
        # The next crawl counts the clicks to known URLs anew, from all links.
        done = super()._write(fresh, [], [], ids)
        self.discovered.extend(ids[row["url"]] for row in fresh)
        return done

    def _count_queued(self) -> int:
        return len(self._waiting)
