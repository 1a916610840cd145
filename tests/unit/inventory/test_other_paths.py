"""Pages with parameters of an address that is no page, and the pages of other paths that show the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, select

from sitemap_crawler.inventory.other_paths import refuse_other_paths
from sitemap_crawler.inventory.schema import UrlState, observations, page_texts, urls
from sitemap_crawler.inventory.sql import url_key
from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.traps.detector import TrapDetector
from tests.support.shown_pages import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.config.state_location import StateLocation

SITE = "https://www.example.com"
TEXTS = texts_of(*range(10))
TOPIC = ("/topic/1-name", b"1")
PAGE_2 = ("/topic/1-name?page=2", b"2")


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    yield store
    store.close()


def refused(store: Store, *pages: tuple[str, bytes], texts: bytes = TEXTS, named: int | None = None) -> set[str]:
    """Return the refused paths of fetched pages, given with path and fingerprint."""
    url = {"state": int(UrlState.ADMITTED), "depth": 1, "first_seen": 1}
    seen = {"run": 1, "fetched": 1.0, "status": 200, "noindex": False, "nofollow": False, "not_modified": False}
    with store.connection.begin():
        for number, (path, fingerprint) in enumerate(pages, 1):
            key, where = url_key(SITE + path), {"url_id": number, "fingerprint": fingerprint}
            given = {"id": number, "key": key, "url": SITE + path, "named": None if "name" in path else named}
            store.connection.execute(insert(urls).values(**url, **given))
            store.connection.execute(
                insert(observations).values(**seen, **where, body_bytes=1, readers="r", title="Topic")
            )
            store.connection.execute(insert(page_texts).values(**where, run=1, texts=texts))
        refuse_other_paths(store.connection, TrapDetector(5_000, applies=lambda found: "exempt" not in found))
        same = select(urls.c.url).where(urls.c.state == int(UrlState.SAME))
        return {found.removeprefix(SITE) for found in store.connection.scalars(same)}


def test_the_url_stays_whose_path_is_a_page(store: Store) -> None:
    pages = [("/topic/1?page=1", b"1"), ("/topic/1?page=2", b"2"), TOPIC, PAGE_2, ("/topic/1?page=3", b"3")]
    assert refused(store, *pages) == {"/topic/1?page=1", "/topic/1?page=2"}


def test_the_page_without_parameters_stays_that_has_the_same_name_elsewhere(store: Store) -> None:
    copies = [("/birds/tides-38/?post=2", b"1"), ("/birds/tides-38/?post=3", b"2"), ("/birds/boats-38/?post=2", b"1")]
    pages = [("/gulls/tides-38/", b"1"), ("/gulls/tides-38/?page=2", b"3"), ("/birds/tides-38/?page=2", b"3")]
    assert refused(store, *copies, *pages) == {"/birds/tides-38/?post=2"}


@pytest.mark.parametrize(
    "other",
    [
        [("/topic/1", b"4"), ("/topic/1?page=2", b"2")],
        [("/topic/1?page=7", b"2")],
        [("/topic/1?page=2", b"7")],
        [("/old/topic/1?page=2", b"2")],
        [("/old/topic/1?page=1", b"1")],
    ],
)
def test_other_pages_stay(store: Store, other: list[tuple[str, bytes]]) -> None:
    """The path is a page, the parameters differ, the content differs, and another path is not longer."""
    assert refused(store, TOPIC, PAGE_2, *other) == set()


def test_a_page_that_a_sitemap_names_stays(store: Store) -> None:
    assert refused(store, TOPIC, PAGE_2, ("/topic/1?page=2", b"2"), named=1) == set()


def test_a_page_to_which_no_trap_applies_stays(store: Store) -> None:
    assert refused(store, ("/exempt-name", b"1"), ("/exempt?page=1", b"1")) == set()


def test_the_shells_of_scripts_stay(store: Store) -> None:
    assert refused(store, TOPIC, PAGE_2, ("/topic/1?page=2", b"2"), texts=b"") == set()
