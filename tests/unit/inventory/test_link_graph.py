"""The walk over the stored links."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory import link_graph as reach
from sitemap_crawler.inventory.link_graph import walk
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.sql import encode_links
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.items import Observation
from tests.support.made_inventory import add_pages, change, make_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


SITE = "https://example.com/"


NOW = datetime(2024, 1, 2, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "state.sqlite")
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
