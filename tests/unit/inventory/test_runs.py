"""Runs: resumed, begun, dropped, of one site."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.exceptions import InventoryError
from sitemap_crawler.inventory import frontier
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.revisits import plan_revisits
from sitemap_crawler.inventory.runs import (
    ProcessTotals,
    Run,
    begin_run,
    drop_unfinished_run,
    end_process,
    finish_run,
    has_grown,
    mark_grown,
)
from sitemap_crawler.inventory.schema import meta
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.items import Observation
from sitemap_crawler.policy.rules import UNREACHED

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def lease(queue: Queue, limit: int = 10) -> list[tuple[str, int]]:
    return [(queued.url.removeprefix(SITE), queued.depth) for queued in queue.lease(limit)]


def test_what_was_leased_is_queued_again_when_the_run_goes_on(store: Store) -> None:
    run = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    queue = queue_of(store, run.id)
    queue.add_start_page(SITE)
    assert lease(queue) == [("", 0)]
    again = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    assert (again.id, again.resumed) == (run.id, True)
    assert lease(queue_of(store, again.id)) == [("", 0)]


def test_a_new_run_asks_again_for_all_that_is_known_and_allowed(store: Store) -> None:
    first = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    queue = queue_of(store, first.id)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1, "a", "b", location="https://example.org/")
    queue.flush()
    finish_run(store.connection, first.id, outcome="published", ended_by="finished", now=NOW)
    second = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    assert (second.id, second.resumed) == (2, False)

    def admits(url: str, depth: int) -> bool:
        return url.startswith(SITE) and not url.endswith("b")

    with store.connection.begin():
        plan_revisits(store.connection, second.id, admits=admits, readers="", settled_since=0, every=7)
    assert lease(queue_of(store, second.id)) == [("", 0), ("a", 1)]


def test_a_dropped_run_is_not_continued(store: Store) -> None:
    begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    drop_unfinished_run(store.connection)
    run = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    assert (run.id, run.resumed) == (2, False)


def test_waiting_urls_come_in_slices(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "BATCH_ROWS", 40)
    run = begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    queue = queue_of(store, run.id, max_depth=UNREACHED)
    queue.add_from_sitemap(f"{SITE}{number}" for number in range(1_000))
    queue.lease(10)
    slices = list(frontier.waiting_urls(store.connection))
    assert [len(urls) for urls in slices] == [40] * 25
    assert {url for urls in slices for url in urls} == {f"{SITE}{number}" for number in range(1_000)}
    # A part of them, whatever regular order they were found in.
    chosen = [int(url.removeprefix(SITE)) for urls in frontier.waiting_urls(store.connection, every=5) for url in urls]
    assert 150 < len(chosen) < 250
    assert all(len([number for number in chosen if number % 5 == rest]) > 15 for rest in range(5))


def test_growth_is_remembered_for_one_run(store: Store) -> None:
    assert not has_grown(store.connection, 1)
    mark_grown(store.connection, 1)
    mark_grown(store.connection, 2)
    assert [has_grown(store.connection, run) for run in (1, 2)] == [False, True]


def begin_at(store: Store, seconds: float) -> Run:
    now = datetime.fromtimestamp(NOW.timestamp() + seconds, UTC)
    return begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=now)


def working_seconds(run: Run, seconds: float) -> float:
    return round(run.working_seconds(NOW.timestamp() + seconds), 3)


def test_the_pause_before_a_run_goes_on_is_no_working_time(store: Store) -> None:
    first = begin_at(store, 0)
    end_process(store.connection, first.id, ProcessTotals(working_seconds(first, 10), 4, 3, 2))
    second = begin_at(store, 5_000)
    assert working_seconds(second, 5_003) == 13
    # On a server the processes have rows with their numbers.
    counts = (4, 3, 2) if store.connection.dialect.name == "sqlite" else ()
    assert second.earlier == ProcessTotals(10, *counts)
    end_process(store.connection, second.id, second.earlier._replace(seconds=working_seconds(second, 5_003)))
    finish_run(store.connection, second.id, outcome="published", ended_by="finished", now=NOW)
    third = begin_at(store, 9_000)
    assert (working_seconds(third, 9_002), third.earlier) == (2, ProcessTotals())


def test_a_process_that_was_killed_has_worked_until_its_last_observation(store: Store) -> None:
    run = begin_at(store, -30)
    queue = queue_of(store, run.id)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1)  # at NOW
    queue.flush()
    assert working_seconds(begin_at(store, 5_000), 5_001) == 31
    # The next one is killed before its first observation.
    assert working_seconds(begin_at(store, 8_000), 8_001) == 31


def test_a_run_that_an_earlier_release_began(store: Store) -> None:
    run = begin_at(store, -30)
    queue = queue_of(store, run.id)
    queue.add_start_page(SITE)
    queue.lease(1)
    observe(queue, 1)
    queue.flush()
    with store.connection.begin():
        store.connection.execute(meta.delete().where(meta.c.name == "working_time"))
    assert working_seconds(begin_at(store, 5_000), 5_002) == 32


def test_an_earlier_release_stored_the_time_only(store: Store) -> None:
    run = begin_at(store, 0)
    with store.connection.begin():
        store.connection.execute(meta.delete().where(meta.c.name == "working_time"))
        value = json.dumps({"run": run.id, "seconds": 7.0, "since": None})
        store.connection.execute(meta.insert().values(name="working_time", value=value))
    assert begin_at(store, 5_000).earlier == ProcessTotals(7.0)


def test_an_inventory_belongs_to_one_site(store: Store) -> None:
    begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=NOW)
    with pytest.raises(InventoryError, match=r"https://example\.com/, not https://example\.org/"):
        begin_run(
            store.connection, requested_url="https://example.org/", sitemap_url=f"{SITE}s.xml", options={}, now=NOW
        )
