"""The walk over the stored links."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event, text

from sitemap_crawler.inventory import link_graph as reach
from sitemap_crawler.inventory.link_graph import store_reach, stored_inlinks, walk
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.sql import encode_links
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.items import Observation
from sitemap_crawler.policy.rules import UNREACHED
from tests.support.inventories import change
from tests.support.made_inventory import add_pages, make_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sitemap_crawler.config.state_location import StateLocation


SITE = "https://example.com/"


NOW = datetime(2024, 1, 2, tzinfo=UTC)


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    yield store
    store.close()


def queue_of(store: Store, run: int = 1, *, max_depth: int = 99) -> Queue:
    def admits(url: str, depth: int) -> bool:
        return url.startswith(SITE) and depth <= max_depth

    def follows(url: str) -> bool:
        return url.startswith(SITE)

    return Queue(store.connection, run, readers="r", conditional=True, admits=admits, follows=follows)


def observe(queue: Queue, url_id: int, *links: str, depth: int = 0, location: str | None = None) -> None:
    observation = Observation(url_id, NOW, status=200, location=location)
    queue.record(observation, depth=depth, links=tuple(f"{SITE}{link}" for link in links))


def test_a_redirect_takes_no_click_though_a_link_to_its_target_comes_first(store: Store) -> None:
    """/ -> a, b; a -> t; b redirects to t."""
    queue = queue_of(store)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, "a", "b")
    queue.flush()
    queue.lease(2)
    observe(queue, 2, "t", depth=1)
    observe(queue, 3, depth=1, location=f"{SITE}t")
    queue.flush()
    with store.connection.begin():
        assert list(walk(store.connection, 1, starts=[1]).depths[1:]) == [0, 1, 1, 1]


@pytest.mark.parametrize("many", [0, 10_000])
def test_the_walk_is_the_same_for_few_and_for_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """A tree in which page n leads to 2n and 2n + 1, page 40 redirects to 50, and every page to itself as canonical."""
    monkeypatch.setattr(reach, "MAX_SORTED_IDS", many)
    path = make_inventory(tmp_path / "state.db", "https://www.example.com/")
    children = ((n, [child for child in (2 * n + 1, 2 * n) if child < 60]) for n in range(1, 60))
    add_pages(path, ((n, f"https://www.example.com/{n}", 200, encode_links(links)) for n, links in children))
    change(
        path, "UPDATE observations SET canonical = url_id", "UPDATE observations SET location = 50 WHERE url_id = 40"
    )
    store = open_store(path)
    try:
        with store.connection.begin():
            found = reach.walk(store.connection, 1, starts=[1])
    finally:
        store.close()
    assert found.depths[1:].tolist() == [n.bit_length() - 1 for n in range(1, 60)]
    expected = [0, *(n // 2 for n in range(2, 60))]
    assert found.referrers[1:].tolist() == expected
    assert found.inlinks[1:].tolist() == [0] + [1] * 58


LINKS = {1: (1, 2, 3, 4), 2: (1, 2, 4), 3: (4,), 4: (), 5: (4, 5), 6: (1,)}
"""By page, the pages that it links to. Nothing leads to page 5; page 6 is named by a sitemap only."""


def inlinks_of(links: dict[int, tuple[int, ...]], reached: set[int]) -> list[int]:
    """Return the number of other reached pages that link to each page."""
    return [sum(page != target and target in links[page] for page in reached) for target in sorted(links)]


def test_links_of_pages_are_counted_once_each_and_not_to_themselves(tmp_path: Path) -> None:
    path = make_inventory(tmp_path / "state.db", SITE)
    add_pages(path, ((n, f"{SITE}{n}", 200, encode_links(links)) for n, links in LINKS.items()))
    change(path, f"UPDATE urls SET depth = {UNREACHED}, named = 1, referrer = NULL WHERE id = 6")
    change(path, "UPDATE observations SET location = 3 WHERE url_id = 4")
    counts = inlinks_of(LINKS, {1, 2, 3, 4, 6})
    counts[4] = 0
    with closing(open_store(path)) as store:
        query = text("SELECT inlinks FROM urls ORDER BY id")
        with store.connection.begin():
            store_reach(store.connection, walk(store.connection, 1, starts=[1]), run=1, proved=True)
            assert stored_inlinks(store.connection).tolist() == [0, *counts]
            # Nothing is known of a page that nothing leads to.
            assert store.connection.scalars(query).all() == [*counts[:4], None, counts[5]]

            # A page loses its links, and page 5 is found.
            links = {**LINKS, 2: (5,)}
            change_links = text("UPDATE observations SET links = :links WHERE url_id = 2")
            store.connection.execute(change_links, {"links": encode_links(links[2])})
            store_reach(store.connection, walk(store.connection, 2, starts=[1]), run=2, proved=True)
            assert store.connection.scalars(query).all() == inlinks_of(links, set(links))


def test_the_count_of_links_needs_no_further_statement(tmp_path: Path) -> None:
    """A walk decodes the links of each page once, in one query for each level and 500 pages."""
    path = make_inventory(tmp_path / "state.db", SITE)
    add_pages(path, ((n, f"{SITE}{n}", 200, encode_links(links)) for n, links in LINKS.items()))
    statements: list[str] = []
    with closing(open_store(path)) as store, store.connection.begin():
        event.listen(store.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
        walk(store.connection, 1, starts=[1])
    assert sum("observations.links" in statement for statement in statements) == 2
