"""What two processes of one run tell each other of traps, each with its own detector and queue."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count, product
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, select, update

from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.repeats import MIN_GROUP_SAMPLES
from sitemap_crawler.inventory.schema import UrlState, frontier, urls
from sitemap_crawler.inventory.shared_run import SharedRunTable
from sitemap_crawler.inventory.shared_traps import SharedTraps
from sitemap_crawler.inventory.traps import load_traps
from sitemap_crawler.items import Observation
from sitemap_crawler.traps.detector import Trap, TrapDetector
from sitemap_crawler.traps.shapes import shape_of
from tests.support.leased_urls import lease_urls
from tests.support.postgres_server import needs_postgres
from tests.support.shared_inventory import RUN, SharedInventory, shared_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer

pytestmark = needs_postgres
SITE = "https://www.example.com/"
NOW = datetime(2024, 6, 1, tzinfo=UTC)
SESSIONS = ("0a1b2c3d4e5f60718293", "1a1b2c3d4e5f60718293", "2a1b2c3d4e5f60718293")
_pages = count(10**9)


class Process:
    """The part of a process that stores pages."""

    def __init__(self, inventory: SharedInventory, *, budget: int) -> None:
        _, self.connection = inventory.join()
        self.traps = TrapDetector(budget, applies=lambda _: True)
        with self.connection.begin():
            load_traps(self.connection, self.traps, run=RUN)
        self.shared = SharedTraps(self.connection, RUN, self.traps)

    def queue(self) -> Queue:
        queue = Queue(
            self.connection,
            RUN,
            readers="r",
            conditional=True,
            admits=lambda url, _: url.startswith(SITE),
            follows=lambda url: url.startswith(SITE),
            traps=self.traps,
        )
        queue.shared_traps = self.shared
        return queue

    def find(self, *links: str) -> Queue:
        """Store a page with these links."""
        page = next(_pages)
        lease_urls(self.connection, [page])
        queue = self.queue()
        queue.record(Observation(page, NOW, status=200), depth=1, links=tuple(SITE + link for link in links))
        queue.flush()
        return queue

    def learn(self, trap: Trap, name: str) -> None:
        self.traps.learnt = [(trap, name)]
        self.queue().refuse_trapped([])

    def waiting(self) -> list[str]:
        with self.connection.begin():
            query = select(urls.c.url).join(frontier, frontier.c.url_id == urls.c.id).order_by(urls.c.id)
            return [url.removeprefix(SITE) for url in self.connection.scalars(query)]

    def look(self) -> None:
        """Load the traps of other processes if there are new ones."""
        version, _ = SharedRunTable(self.connection, RUN).look()
        if version > self.shared.version:
            self.queue().load_traps([], version=version)


@pytest.fixture
def inventory(postgres: PostgresServer) -> Iterator[SharedInventory]:
    with shared_inventory(postgres) as inventory:
        yield inventory


def calendar(*months: int) -> list[str]:
    return [f"calendar/{2024 + month // 12}/{month % 12 + 1:02}/" for month in months]


def endless_pattern_of(path: str) -> str:
    suspect = TrapDetector(0, applies=lambda _: True).suspect(SITE + path)
    assert suspect is not None
    assert suspect.pattern is not None
    return suspect.pattern


def test_a_trap_that_one_process_learns_is_refused_by_the_others(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=9), Process(inventory, budget=9)
    one.find("a", *calendar(1, 2))
    assert two.waiting() == ["a", *calendar(1, 2)]
    one.learn(Trap.ENDLESS, endless_pattern_of(calendar(1)[0]))
    assert two.waiting() == ["a"]
    two.look()
    two.find("b", *calendar(3, 4))
    assert two.waiting() == ["a", "b"]


def test_a_sample_is_requested_by_any_process(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=9), Process(inventory, budget=9)
    one.find(*(f"diff?from={version}" for version in range(20)))
    one.learn(Trap.REPEATS, shape_of(f"{SITE}diff?from=1").groups[0])
    two.look()
    two.traps.yields.admitted.add_earlier(f"{SITE}diff?from=0")
    refusing = one.queue()
    first = [queued.url.removeprefix(SITE) for queued in refusing.lease(20)]
    assert first == ["diff?from=0"]
    refusing.sample_refused()
    samples = [path for path in one.waiting() if path not in first]
    assert len(samples) == MIN_GROUP_SAMPLES
    assert [queued.url.removeprefix(SITE) for queued in two.queue().lease(20)] == samples


def test_traps_that_two_processes_learn_at_the_same_time_are_all_kept(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=9), Process(inventory, budget=9)
    one.learn(Trap.ENDLESS, endless_pattern_of(calendar(1)[0]))
    two.learn(Trap.ENDLESS, endless_pattern_of("archive/2024-05-01/"))
    one.look()
    expected = sorted([endless_pattern_of(calendar(1)[0]), endless_pattern_of("archive/2024-05-01/")])
    assert one.traps.known["endless"] == two.traps.known["endless"] == expected
    late = Process(inventory, budget=9)
    assert late.traps.known["endless"] == expected


def test_urls_that_were_leased_or_found_meanwhile_are_refused_too(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=9), Process(inventory, budget=9)
    one.find("a", *calendar(1))
    queue = two.queue()
    held = queue.lease(10)
    assert [queued.url.removeprefix(SITE) for queued in held] == ["a", *calendar(1)]
    one.learn(Trap.ENDLESS, endless_pattern_of(calendar(1)[0]))
    # It does not know of the trap yet.
    two.find("b", *calendar(2))
    queue.load_traps(held, version=1)
    leased = queue.lease(10)
    assert [queued.url.removeprefix(SITE) for queued in leased] == ["a", "b"]
    assert [queued.url.removeprefix(SITE) for queued in queue.lease(10)] == []


def test_start_pages_and_urls_of_sitemaps_are_fetched_all_the_same(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=9), Process(inventory, budget=9)
    queue = two.queue()
    queue.add_start_page(SITE + calendar(1)[0])
    queue.add_from_sitemap([SITE + calendar(2)[0]])
    held = queue.lease(10)
    one.learn(Trap.ENDLESS, endless_pattern_of(calendar(1)[0]))
    queue.load_traps(held, version=1)
    assert [queued.url.removeprefix(SITE) for queued in queue.lease(10)] == calendar(1, 2)


def test_the_budget_of_a_place_is_one_for_all_processes(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=50), Process(inventory, budget=50)
    facets = [f"shop?{'&'.join(f'{name}={value}' for name, value in zip('abcd', values, strict=True))}"
              for values in product(range(6), repeat=4)]  # fmt: skip
    alone = TrapDetector(50, applies=lambda _: True)
    admitted = sum(alone.refusal(SITE + url) is None for url in facets)
    assert 50 <= admitted < 200
    for start in range(0, len(facets), 40):
        one.find(*facets[start : start + 20])
        two.find(*facets[start + 20 : start + 40])
    # Each of them knows of the last batch of the other one only after its own.
    assert admitted <= len(one.waiting()) <= admitted + 40


def test_a_place_has_room_again_for_all_processes(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=50), Process(inventory, budget=50)
    facets = [f"shop?{'&'.join(f'{name}={value}' for name, value in zip('abcd', values, strict=True))}"
              for values in product(range(6), repeat=4)]  # fmt: skip
    for start in range(0, 160, 40):
        one.find(*facets[start : start + 20])
        two.find(*facets[start + 20 : start + 40])
    first = one.waiting()
    refused = set(facets[:160]) - set(first)
    with one.connection.begin():
        repeating = update(urls).where(urls.c.url.in_([SITE + url for url in first]))
        one.connection.execute(repeating.values(state=int(UrlState.REPEATS)))
        one.connection.execute(delete(frontier))
    one.queue().sample_refused()
    assert set(one.waiting()) == refused != set()
    for start in range(400, 800, 40):
        two.find(*facets[start : start + 20])
        one.find(*facets[start + 20 : start + 40])
    assert 90 <= len(one.waiting()) <= len(first) + 40


def test_a_page_with_session_ids_is_admitted_once_by_all_processes(inventory: SharedInventory) -> None:
    one, two = Process(inventory, budget=9), Process(inventory, budget=9)
    place = TrapDetector(0, applies=lambda _: True).suspect(f"{SITE}page?sid={SESSIONS[0]}")
    assert place is not None
    one.learn(Trap.SESSION, place.sessions[0].place)
    two.look()
    one.find(f"page?sid={SESSIONS[0]}")
    two.find(f"page?sid={SESSIONS[1]}", f"other?sid={SESSIONS[1]}")
    one.find(f"other?sid={SESSIONS[2]}", f"page?sid={SESSIONS[2]}")
    assert one.waiting() == [f"page?sid={SESSIONS[0]}", f"other?sid={SESSIONS[1]}"]
