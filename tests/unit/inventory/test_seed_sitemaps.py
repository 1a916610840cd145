"""The queue of foreign sitemaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.seed_sitemaps import REDIRECT, START, Seed, SeedQueue, seed_problems, seeds_complete
from sitemap_crawler.inventory.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.config.state_location import StateLocation


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    yield store
    store.close()


A, B, C, D = (Seed(f"https://example.com/{name}.xml", "--seed-sitemap", 0) for name in "abcd")


def test_a_queue_of_seeds_goes_on_where_it_was(store: Store) -> None:
    queue = SeedQueue(store.connection, 1, published=[D.url])
    for seed in (B, A, D, B):
        queue.add(seed)
    queue.write()
    assert list(queue.waiting) == [B, A]
    first = queue.waiting.popleft()
    queue.add(Seed(C.url, B.url, 1))
    queue.add(Seed("https://example.com/r", REDIRECT, 0, done=True))
    # A sitemap that is not written together with the file that names it is unknown to the next process.
    assert list(SeedQueue(store.connection, 1, published=()).waiting) == [A, B]
    queue.write(Seed(first.url, first.named_by, 0, done=True, problems=("is odd", "is long")))
    later = SeedQueue(store.connection, 1, published=())
    assert list(queue.waiting) == list(later.waiting) == [A, Seed(C.url, B.url, 1)]
    assert later.knows("https://example.com/r")
    assert not later.knows(D.url)
    assert list(seed_problems(store.connection, 1)) == [(B.url, "is odd"), (B.url, "is long")]


def test_problems_come_in_the_order_of_urls_and_of_one_run(store: Store) -> None:
    for run, seeds in ((1, (A,)), (2, (C, B))):
        queue = SeedQueue(store.connection, run, published=())
        for seed in seeds:
            queue.write(Seed(seed.url, seed.named_by, 0, done=True, problems=(f"of run {run}",)))
    assert list(seed_problems(store.connection, 2)) == [(B.url, "of run 2"), (C.url, "of run 2")]
    assert list(seed_problems(store.connection, 1)) == []


def test_only_what_was_read_is_complete(store: Store) -> None:
    assert seeds_complete(store.connection, 1)
    queue = SeedQueue(store.connection, 1, published=())
    queue.write(Seed("https://example.com/robots.txt", START, 0, done=True))
    assert seeds_complete(store.connection, 1)
    queue.add(A)
    queue.write()
    assert not seeds_complete(store.connection, 1)
    assert seeds_complete(store.connection, 2)
    queue.write(Seed(A.url, A.named_by, 0, done=True, problems=("answers 404",)))
    assert seeds_complete(store.connection, 1)
    queue.write(Seed(A.url, A.named_by, 0, done=True, problems=("answers 500",), transient=True))
    assert not seeds_complete(store.connection, 1)
