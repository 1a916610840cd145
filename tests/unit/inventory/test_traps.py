"""What is refused for a trap stays refused, what was admitted stays admitted: over kills, runs and other options."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from sitemap_crawler.inventory.link_graph import walk
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.revisits import plan_revisits, reapply_rules
from sitemap_crawler.inventory.runs import begin_run
from sitemap_crawler.inventory.schema import TRAPPED, UrlState, frontier, urls
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.inventory.traps import load_traps
from sitemap_crawler.items import Observation
from sitemap_crawler.traps.detector import Trap, TrapDetector
from tests.support.leased_urls import lease_urls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.config.state_location import StateLocation

SITE = "https://www.example.com/"
NOW = datetime(2024, 6, 1, tzinfo=UTC)
WAITING = -1
"""Stands for the state of an admitted URL in the frontier."""
TOKENS = ("0a1b2c3d4e5f60718293", "1a1b2c3d4e5f60718293", "2a1b2c3d4e5f60718293")


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    yield store
    store.close()


def everywhere(url: str, _depth: int) -> bool:
    return url.startswith(SITE)


def traps_of(store: Store, budget: int = 5_000, run: int = 1) -> TrapDetector:
    traps = TrapDetector(budget, applies=lambda _: budget > 0)
    with store.connection.begin():
        load_traps(store.connection, traps, run=run)
    return traps


def crawl(store: Store, traps: TrapDetector, *links: str, run: int = 1) -> Queue:
    """The start page was fetched, and had these links."""
    queue = Queue(
        store.connection, run, readers="r", conditional=True, admits=everywhere, follows=str.isascii, traps=traps
    )
    queue.add_start_page(SITE)
    lease_urls(store.connection, [1])
    queue.record(Observation(1, NOW, status=200), depth=0, links=tuple(SITE + link for link in links))
    queue.flush()
    return queue


def states(store: Store) -> dict[str, int]:
    with store.connection.begin():
        joined = urls.outerjoin(frontier, frontier.c.url_id == urls.c.id)
        columns = (urls.c.url, urls.c.state, frontier.c.url_id)
        rows = store.connection.execute(select(*columns).select_from(joined).where(urls.c.id > 1).order_by(urls.c.id))
        return {
            row.url.removeprefix(SITE): row.state if row.url_id is None or row.state != UrlState.ADMITTED else WAITING
            for row in rows
        }


def plan(store: Store, traps: TrapDetector) -> None:
    with store.connection.begin():
        plan_revisits(store.connection, 2, admits=everywhere, readers="", settled_since=0, every=7, trap=traps.refusal)


SETS = [f"shop?{'&'.join(f'{name}=1' for name in chosen)}" for chosen in combinations("abcdefghijkl", 2)]
MULTIPLIED = [f"list.php?a={a}&b={b}&c={c}" for a in range(6) for b in range(6) for c in range(6)]


def test_a_process_that_goes_on_counts_what_was_admitted(store: Store) -> None:
    half = len(SETS) // 2
    crawl(store, traps_of(store), *SETS[:half])
    crawl(store, traps_of(store), *SETS)
    found = list(states(store).values())
    assert found == [WAITING] * 64 + [UrlState.FACETS] * 2


def test_the_next_run_refuses_the_same(store: Store) -> None:
    crawl(store, traps_of(store), *SETS)
    before = states(store)
    plan(store, traps_of(store))
    assert states(store) == before
    plan(store, traps_of(store, 0))
    assert set(states(store).values()) == {WAITING}


def test_a_larger_budget_admits_more_and_a_smaller_one_takes_nothing_back(store: Store) -> None:
    def admitted() -> int:
        return sum(state not in TRAPPED for state in states(store).values())

    crawl(store, traps_of(store, 60), *MULTIPLIED)
    few = admitted()
    assert 60 <= few < 150
    plan(store, traps_of(store, 180))
    more = admitted()
    assert 180 <= more < 216
    plan(store, traps_of(store, 1))
    assert admitted() == more
    traps = traps_of(store)
    with store.connection.begin():
        reapply_rules(store.connection, admits=everywhere, trap=traps.refusal)
    assert admitted() == 216


def test_what_is_learnt_leaves_what_was_fetched_and_lasts(store: Store) -> None:
    traps = traps_of(store)
    links = [f"x?offset={number}" for number in range(5)]
    queue = crawl(store, traps, *links, "y?offset=1")
    held = queue.lease(3)
    queue.record(Observation(2, NOW, status=200), depth=1, links=())
    queue.flush()
    traps.learnt.append((Trap.ENDLESS, f"{SITE}x?offset={{number}}"))
    queue.refuse_trapped(held[1:])
    expected = {"x?offset=0": UrlState.ADMITTED, "y?offset=1": WAITING}
    assert states(store) == dict.fromkeys(links, UrlState.ENDLESS) | expected
    assert queue.queued == 1
    plan(store, traps_of(store))
    assert states(store) == dict.fromkeys(links, UrlState.ENDLESS) | dict.fromkeys(expected, WAITING)
    crawl(store, traps_of(store), "x?offset=99")
    assert states(store)["x?offset=99"] == UrlState.ENDLESS


def test_of_each_page_one_session_is_left(store: Store) -> None:
    traps = traps_of(store)
    links = [f"page/{number}?sid={token}" for token in TOKENS for number in range(2)]
    queue = crawl(store, traps, *links, "page/0")
    traps.learnt.append((Trap.SESSION, "?sid={token}"))
    queue.refuse_trapped([])
    kept = [url for url, state in states(store).items() if state == WAITING]
    assert kept == [links[0], links[1], "page/0"]
    assert queue.queued == 3
    later = traps_of(store)
    assert later.refusal(f"{SITE}page/1?sid=3a1b2c3d4e5f60718293") is Trap.SESSION
    assert later.refusal(f"{SITE}page/2?sid=3a1b2c3d4e5f60718293") is None


def test_what_a_sitemap_names_is_taken_out_of_a_trap(store: Store) -> None:
    traps = traps_of(store)
    queue = crawl(store, traps, *SETS)
    queue.add_from_sitemap([SITE + SETS[-1]])
    assert states(store)[SETS[-1]] == WAITING
    assert states(store)[SETS[-2]] == UrlState.FACETS


def test_sessions_that_were_fetched_or_are_under_way_are_left_too_and_the_one_that_stays_is_never_refused(
    store: Store,
) -> None:
    traps = traps_of(store)
    links = [f"page/{number}?sid={token}" for token in TOKENS for number in range(2)]
    queue = crawl(store, traps, *links)
    queue.lease(5)
    for url_id in (3, 4):
        queue.record(Observation(url_id, NOW, status=200), depth=1, links=())
    traps.learnt.append((Trap.SESSION, "?sid={token}"))
    queue.refuse_trapped([])
    lease_urls(store.connection, [1, 6])
    queue.record(Observation(6, NOW, status=200), depth=1, links=(f"{SITE}page/2?sid={TOKENS[0]}",))
    queue.record(Observation(1, NOW, status=200), depth=0, links=(f"{SITE}page/1?sid=3a1b2c3d4e5f60718293",))
    queue.flush()
    traps.learnt.append((Trap.ENDLESS, f"{SITE}x?offset={{number}}"))
    queue.refuse_trapped([])
    left = {url for url, state in states(store).items() if state != UrlState.SESSION}
    assert left == {links[1], links[2], f"page/2?sid={TOKENS[0]}"}
    with store.connection.begin():
        reach = walk(store.connection, 1, starts=[1])
    assert list(reach.reached[1:]) == [1, 0, 1, 0, 0, 0, 0, 0]


def test_what_was_linked_by_another_session_leads_to_the_one_that_stays(store: Store) -> None:
    traps = traps_of(store)
    queue = crawl(store, traps, *(f"page?sid={token}" for token in TOKENS))
    queue.lease(1)
    queue.record(Observation(2, NOW, status=404), depth=1, links=())
    traps.learnt.append((Trap.SESSION, "?sid={token}"))
    queue.refuse_trapped([])
    assert list(states(store).values()) == [UrlState.ADMITTED, WAITING, UrlState.SESSION]
    with store.connection.begin():
        reach = walk(store.connection, 1, starts=[1])
    assert (reach.aliases, list(reach.reached)) == ({4: 3}, [0, 1, 1, 1, 0])


LISTS = [f"{SITE}list?offset={number}" for number in range(200)]
ROUNDS = [f"{SITE}{number}/team/x/team/" for number in range(200)]
SESSIONS = [f"{SITE}page/{number % 20}?sid=0a1b2c3d4e5f{number:08}" for number in range(200)]


@pytest.mark.parametrize(
    ("pages", "needed"), [(LISTS, 100), (ROUNDS, 50), (SESSIONS, 20 + 30)], ids=["list", "rounds", "sessions"]
)
def test_a_trap_is_learnt_by_a_run_that_is_killed_again_and_again(store: Store, pages: list[str], needed: int) -> None:
    def go_on(at: int, run: int = 1) -> bool:
        traps = traps_of(store, run=run)
        queue = crawl(store, traps)
        for url in pages[at : at + 10]:
            suspect = traps.suspect(url)
            assert suspect is not None
            assert suspect.needs_content
            links = [f"{SITE}{number}?sid=0a1b2c3d4e5f99999999" for number in range(2)]
            traps.learn(suspect, url.partition("?")[0].encode() * (pages is SESSIONS), links)
        queue.record(Observation(1, NOW, status=200), depth=0, links=())
        queue.flush()
        return bool(traps.learnt)

    assert [at for at in range(0, needed, 10) if go_on(at)] == [needed - 10]
    assert not go_on(needed, run=2)
