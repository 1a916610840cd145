"""The URLs that lists and access logs name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.store import Store, open_store
from sitemap_crawler.inventory.supplied import (
    Supplied,
    add_visits,
    forget_unnamed,
    has_supplied_values,
    reset_visits,
    store_supplied,
    supplied_of,
    supplied_sections,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.config.state_location import StateLocation

IMAGES = {"images": ["https://example.com/a.png"]}


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    yield store
    store.close()


def rows(store: Store) -> list[tuple[object, ...]]:
    query = "SELECT url_id, run, listed, visits, section, extras FROM supplied ORDER BY url_id"
    with store.connection.begin():
        found = [list(row) for row in store.connection.exec_driver_sql(query)]
    # The driver of PostgreSQL parses JSON.
    return [(*row, extras if isinstance(extras, str | None) else json.dumps(extras)) for *row, extras in found]


def test_the_first_value_of_each_kind_counts_in_a_run(store: Store) -> None:
    store_supplied(store.connection, 1, {1: Supplied("docs"), 2: Supplied()})
    store_supplied(store.connection, 1, {1: Supplied("blog", IMAGES)})
    assert rows(store) == [
        (1, 1, 1, None, "docs", '{"images": ["https://example.com/a.png"]}'),
        (2, 1, 1, None, None, None),
    ]
    assert supplied_sections(store.connection) == (["docs"], 1)
    with store.reader() as connection:
        assert has_supplied_values(connection)
        assert supplied_of(connection, [1, 2, 3]) == {1: Supplied("docs", IMAGES)}


def test_a_later_run_replaces_the_values_and_forgets_the_rest(store: Store) -> None:
    store_supplied(store.connection, 1, {1: Supplied("docs", IMAGES), 2: Supplied("docs")})
    add_visits(store.connection, 1, {1: 5})
    store_supplied(store.connection, 2, {1: Supplied()})
    forget_unnamed(store.connection, 2)
    assert rows(store) == [(1, 2, 1, None, None, None)]
    with store.reader() as connection:
        assert not has_supplied_values(connection)
    assert supplied_sections(store.connection) == ([], 0)


def test_visits_add_up_and_are_reset_for_the_run_only(store: Store) -> None:
    store_supplied(store.connection, 1, {1: Supplied("docs")})
    add_visits(store.connection, 1, {1: 5, 2: 1})
    add_visits(store.connection, 1, {1: 2, 2: 1, 3: 1})
    assert rows(store) == [(1, 1, 1, 7, "docs", None), (2, 1, 0, 2, None, None), (3, 1, 0, 1, None, None)]
    add_visits(store.connection, 2, {1: 1, 2: 4})
    assert rows(store)[:2] == [(1, 2, 0, 1, None, None), (2, 2, 0, 4, None, None)]
    reset_visits(store.connection, 1)
    assert [row[0] for row in rows(store)] == [1, 2]
