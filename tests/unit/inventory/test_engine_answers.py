"""Answers of search engines about sitemaps, and the use of a quota."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from sitemap_crawler.inventory.damage import find_damage
from sitemap_crawler.inventory.engine_answers import MAX_ANSWERS, EngineAnswers, quota_properties, used_quota
from sitemap_crawler.inventory.schema import engine_quota, engine_sitemaps
from sitemap_crawler.inventory.sitemap_answers import Content, SitemapAnswer, latest_answers
from sitemap_crawler.inventory.unlocked import UnlockedInventory
from tests.support.engine_inventory import SITE, publish_pages
from tests.support.inventories import change, open_inventory, place

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("inventories")

ENTRY = f"{SITE}sitemap.xml"
MONDAY = datetime(2026, 11, 23, 6, 30, tzinfo=UTC)
READ = SitemapAnswer(
    submitted=12,
    last_submitted=MONDAY,
    last_downloaded=MONDAY + timedelta(hours=1),
    pending=False,
    is_index=True,
    type="sitemap",
    errors=0,
    warnings=3,
    contents=(Content("web", 12), Content("image", None)),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return publish_pages(tmp_path / "a.sqlite", [SITE])


def keep(path: Path, answer: SitemapAnswer, now: datetime, children: dict[str, SitemapAnswer] | None = None) -> None:
    with UnlockedInventory(place(path)) as inventory:
        EngineAnswers(inventory).keep_sitemap("google", SITE, ENTRY, answer, children or {}, now)


def test_an_answer_comes_back_as_it_was_given(path: Path) -> None:
    keep(path, READ, MONDAY)
    with open_inventory(path) as inventory:
        [kept] = latest_answers(inventory.connection)
    assert kept == ("google", SITE, ENTRY, None, MONDAY, MONDAY, READ)
    assert list(find_damage(place(path))) == []


def test_there_is_one_row_for_each_change_of_the_answer(path: Path) -> None:
    pending = READ._replace(pending=True)
    for day, answer in enumerate((READ, READ, pending, pending, READ)):
        keep(path, answer, MONDAY + timedelta(day))
    with open_inventory(path) as inventory:
        rows = inventory.connection.execute(select(engine_sitemaps).order_by(engine_sitemaps.c.id)).all()
        [kept] = latest_answers(inventory.connection)
    days = [(row.since - MONDAY.timestamp()) / 86_400 for row in rows], [row.answer["pending"] for row in rows]
    assert days == ([0, 2, 4], [False, True, False])
    assert (kept.since, kept.asked) == (MONDAY + timedelta(4), MONDAY + timedelta(4))


def test_the_same_answer_keeps_the_time_since_when_it_is_given(path: Path) -> None:
    keep(path, READ, MONDAY)
    keep(path, READ, MONDAY + timedelta(2))
    with open_inventory(path) as inventory:
        [kept] = latest_answers(inventory.connection)
    assert (kept.since, kept.asked) == (MONDAY, MONDAY + timedelta(2))


def test_sitemaps_that_the_index_no_longer_names_are_left_out(path: Path) -> None:
    first, second = f"{SITE}sitemap-1.xml", f"{SITE}sitemap-2.xml"
    keep(path, READ, MONDAY, {first: READ, second: READ})
    keep(path, READ, MONDAY + timedelta(1), {first: READ})
    with open_inventory(path) as inventory:
        assert [(kept.url, kept.parent) for kept in latest_answers(inventory.connection)] == [
            (first, ENTRY),
            (ENTRY, None),
        ]


def test_old_answers_are_dropped(path: Path) -> None:
    for number in range(MAX_ANSWERS + 5):
        keep(path, READ._replace(errors=number), MONDAY + timedelta(number))
    with open_inventory(path) as inventory:
        assert inventory.connection.scalar(select(func.count()).select_from(engine_sitemaps)) == MAX_ANSWERS
        [kept] = latest_answers(inventory.connection)
    assert kept.answer.errors == MAX_ANSWERS + 4


@pytest.mark.parametrize("answer", ["[]", '{"parent": null}', "null", '{"parent": 7}'])
def test_a_damaged_answer_is_found(path: Path, answer: str) -> None:
    keep(path, READ, MONDAY)
    change(path, f"UPDATE engine_sitemaps SET answer = '{answer}'")
    assert list(find_damage(place(path))) == ["table engine_sitemaps, row 1, column answer"]


def test_requests_are_counted_before_they_are_sent_and_up_to_the_limit(path: Path) -> None:
    with UnlockedInventory(place(path)) as inventory, UnlockedInventory(place(path)) as other:
        answers = EngineAnswers(inventory), EngineAnswers(other)
        counted = [answers[number % 2].reserve("google", SITE, "2026-11-22", limit=3) for number in range(5)]
        assert counted == [True, True, True, False, False]
        assert answers[0].reserve("google", SITE, "2026-11-23", limit=3)
        assert answers[0].reserve("google", "sc-domain:example.com", "2026-11-23", limit=3)
    with open_inventory(path) as opened:
        connection = opened.connection
        assert used_quota(connection, "google", SITE, "2026-11-22") == 3
        assert used_quota(connection, "google", SITE, "2026-11-23") == 1
        assert quota_properties(connection, "google", "2026-11-23") == [SITE, "sc-domain:example.com"]


def test_the_use_of_past_months_is_dropped(path: Path) -> None:
    with UnlockedInventory(place(path)) as inventory:
        for day in ("2026-01-01", "2026-10-20", "2026-10-25", "2026-11-23"):
            EngineAnswers(inventory).reserve("google", SITE, day, limit=9)
    with open_inventory(path) as opened:
        assert list(opened.connection.scalars(select(engine_quota.c.day))) == ["2026-10-25", "2026-11-23"]
