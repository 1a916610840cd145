"""Dates in foreign sitemaps: which of them are credible, and which pages they date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from sitemap_crawler.extract.page_dates import PageDate
from sitemap_crawler.inventory.named_dates import (
    settle_named_dates,
    store_named_dates,
    store_wordpress_dates,
    wordpress_apis,
)
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.runs import begin_run, finish_run
from sitemap_crawler.inventory.schema import named_dates, observations
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.items import NoteKind, Observation
from sitemap_crawler.policy.lastmod import Dated
from sitemap_crawler.traps.detector import TrapDetector
from tests.support.leased_urls import lease_urls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.config.state_location import StateLocation

SITE = "https://www.example.com/"
FIRST = datetime(2024, 6, 1, tzinfo=UTC)
FETCHED = FIRST + timedelta(minutes=1)
ENDED = FIRST + timedelta(hours=1)
SECOND = FIRST + timedelta(days=1)
DAY = 86_400.0


def seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()


JAN, FEB, MAR = (seconds(f"2024-0{month}-01T10:00:00") for month in (1, 2, 3))


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    run(store, FIRST)
    yield store
    store.close()


def run(store: Store, now: datetime) -> int:
    return begin_run(store.connection, requested_url=SITE, sitemap_url=f"{SITE}sitemap.xml", options={}, now=now).id


def record(store: Store, run_id: int, *seen: Observation) -> None:
    queue = Queue(
        store.connection,
        run_id,
        readers="r",
        conditional=True,
        admits=lambda _url, _depth: True,
        follows=str.isascii,
        traps=TrapDetector(0, applies=lambda _: False),
    )
    queue.add_start_page(SITE)
    lease_urls(store.connection, [observation.url_id for observation in seen])
    for observation in seen:
        queue.record(observation, depth=0, links=tuple(f"{SITE}{number}" for number in range(2, 8)))
    queue.flush()


def page(url_id: int, fetched: datetime = FETCHED, content: bytes = b"c", **more: object) -> Observation:
    return Observation(url_id, fetched, status=200, fingerprint=content, **more)  # type: ignore[arg-type]


def pages(*numbers: int) -> list[Observation]:
    return [page(number) for number in numbers]


def name(store: Store, run_id: int, sitemap: str, *dates: float | None, first: int = 1) -> None:
    named = {first + index: Dated(date, "sitemap") for index, date in enumerate(dates) if date is not None}
    store_named_dates(store.connection, run_id, sitemap, named)


def settled(store: Store, run_id: int = 1) -> dict[int, tuple[float | None, str | None]]:
    settle_named_dates(store.connection, run_id)
    seen = observations.c
    with store.connection.begin():
        rows = store.connection.execute(select(seen.url_id, seen.lastmod, seen.lastmod_source).order_by(seen.url_id))
        return {row.url_id: (row.lastmod, row.lastmod_source) for row in rows if row.lastmod is not None}


def test_new_pages_are_dated_and_stay_so(store: Store) -> None:
    record(store, 1, *pages(1, 2, 3))
    name(store, 1, "map", JAN, FEB, None)
    expected = {1: (JAN, "sitemap"), 2: (FEB, "sitemap")}
    assert settled(store) == expected
    assert settled(store) == expected
    finish_run(store.connection, 1, outcome="published", ended_by="finished", now=ENDED)
    second = run(store, SECOND)
    record(store, second, *(page(number, SECOND) for number in (1, 2, 3)))
    name(store, second, "map", MAR, MAR + DAY, MAR + 2 * DAY)
    assert settled(store, second) == {**expected, 3: (MAR + 2 * DAY, "sitemap")}
    with store.connection.begin():
        assert set(store.connection.scalars(select(named_dates.c.run))) == {second}


STAMPED = [
    pytest.param([JAN, JAN, JAN], {}, id="the same moment for all"),
    pytest.param([JAN, JAN + 30, JAN + 59], {}, id="the same minute"),
    pytest.param([JAN, JAN + 20_000, JAN + 50_000], {}, id="one day: the run of a generator"),
    pytest.param([JAN], {}, id="a single date cannot be compared"),
    pytest.param([JAN, JAN, FEB], {3: FEB}, id="most share a moment"),
    pytest.param([JAN, JAN, FEB, MAR], {1: JAN, 2: JAN, 3: FEB, 4: MAR}, id="half share a moment"),
    pytest.param([JAN, JAN + DAY], {1: JAN, 2: JAN + DAY}, id="two dates"),
]


@pytest.mark.parametrize(("dates", "expected"), STAMPED)
def test_dates_of_generation_are_not_believed(store: Store, dates: list[float], expected: dict[int, float]) -> None:
    record(store, 1, *pages(*range(1, 6)))
    name(store, 1, "map", *dates)
    assert settled(store) == {url_id: (date, "sitemap") for url_id, date in expected.items()}


def test_files_are_judged_by_themselves_and_together(store: Store) -> None:
    record(store, 1, *pages(*range(1, 8)))
    # A file with one entry cannot be judged alone; a moment that most of all entries have is that of the generation.
    name(store, 1, "one", FEB)
    name(store, 1, "two", JAN, JAN, first=2)
    name(store, 1, "three", FEB, MAR, MAR + DAY, first=4)
    assert settled(store) == {
        1: (FEB, "sitemap"), 4: (FEB, "sitemap"), 5: (MAR, "sitemap"), 6: (MAR + DAY, "sitemap"),
    }  # fmt: skip


def test_a_minute_that_most_entries_of_a_file_share_is_not_believed(store: Store) -> None:
    record(store, 1, *pages(*range(1, 8)))
    name(store, 1, "mixed", JAN, JAN + 1, FEB)
    name(store, 1, "other", MAR, MAR + DAY, MAR + 2 * DAY, JAN, first=4)
    assert settled(store) == {
        3: (FEB, "sitemap"), 4: (MAR, "sitemap"), 5: (MAR + DAY, "sitemap"), 6: (MAR + 2 * DAY, "sitemap"),
        7: (JAN, "sitemap"),
    }  # fmt: skip


def test_one_moment_in_many_files_is_that_of_their_generation(store: Store) -> None:
    record(store, 1, *pages(*range(1, 5)))
    for number in (1, 2, 3):
        name(store, 1, f"map{number}", JAN, first=number)
    name(store, 1, "map4", FEB, first=4)
    assert settled(store) == {4: (FEB, "sitemap")}


def test_the_first_sitemap_of_a_run_dates_a_page(store: Store) -> None:
    record(store, 1, *pages(1, 2))
    name(store, 1, "first", JAN, FEB)
    name(store, 1, "second", FEB, MAR)
    assert settled(store) == {1: (JAN, "sitemap"), 2: (FEB, "sitemap")}


def test_the_page_s_own_date_wins_and_last_modified_does_not(store: Store) -> None:
    march = datetime.fromtimestamp(MAR, UTC)
    record(store, 1, page(1, page_date=PageDate(march, has_time=True, source="json-ld")), page(2, last_modified=march))
    name(store, 1, "map", JAN, FEB)
    assert settled(store) == {1: (MAR, "json-ld"), 2: (FEB, "sitemap")}


def test_wordpress_knows_more_than_sitemaps_and_dates_no_list(store: Store) -> None:
    listing = page(4, notes={NoteKind.WORDPRESS_LIST: 1})
    record(store, 1, *pages(2, 3), listing, page(5, notes={NoteKind.WORDPRESS_API: f"{SITE}wp-json/"}))
    dates = {f"{SITE}{number}": Dated(FEB + number * DAY, "wordpress") for number in (2, 4, 5, 9)}
    store_wordpress_dates(store.connection, 1, dates)
    name(store, 1, "map", JAN, JAN, JAN + DAY, MAR, first=2)
    store_wordpress_dates(store.connection, 1, dates)
    assert settled(store) == {
        2: (FEB + 2 * DAY, "wordpress"), 3: (JAN, "sitemap"), 5: (FEB + 5 * DAY, "wordpress"),
    }  # fmt: skip
    assert wordpress_apis(store.connection) == [f"{SITE}wp-json/"]


def test_what_is_no_page_has_no_date(store: Store) -> None:
    record(store, 1, Observation(1, FETCHED, status=404), page(2))
    name(store, 1, "map", JAN, FEB)
    assert settled(store) == {2: (FEB, "sitemap")}


def test_a_change_has_the_date_after_the_last_run(store: Store) -> None:
    record(store, 1, *pages(1, 2, 3, 4))
    name(store, 1, "map", JAN, FEB, MAR, MAR + DAY)
    settled(store)
    finish_run(store.connection, 1, outcome="published", ended_by="finished", now=ENDED)
    second = run(store, SECOND)
    noon = ENDED.timestamp() + 3_600
    record(store, second, *(page(number, SECOND, b"changed") for number in (1, 2, 3)), page(4, SECOND))
    # 1: changed after the last run. 2: the sitemap knows of no change. 3: in the future. 4: has not changed.
    name(store, second, "map", noon, FEB, SECOND.timestamp() + DAY, noon)
    changed = (SECOND.timestamp(), "observed-change")
    assert settled(store, second) == {1: (noon, "sitemap"), 2: changed, 3: changed, 4: (MAR + DAY, "sitemap")}
