"""Stored decisions: since which run a reason holds, and which one came before."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from sitemap_crawler.inventory.decisions import DecisionStore
from sitemap_crawler.inventory.sql import BATCH_ROWS
from sitemap_crawler.inventory.store import open_store
from sitemap_crawler.policy.decide import Decision
from sitemap_crawler.policy.reasons import Reason
from tests.support.made_inventory import add_pages, make_inventory

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.state_location import StateLocation

SITE = "http://site.example/"
LISTED, NOINDEX, REDIRECT = Reason.LISTED, Reason.NOINDEX, Reason.REDIRECT
ROW = text("SELECT reason, since, before FROM decisions WHERE url_id = 1")


@pytest.mark.parametrize(
    ("decided", "stored"),
    [
        ([(1, LISTED)], ("listed", 1, None)),
        ([(1, LISTED), (2, LISTED)], ("listed", 1, None)),
        ([(1, LISTED), (2, NOINDEX)], ("noindex", 2, "listed")),
        ([(1, LISTED), (2, NOINDEX), (3, NOINDEX)], ("noindex", 2, "listed")),
        ([(1, LISTED), (2, NOINDEX), (5, REDIRECT)], ("redirect", 5, "noindex")),
        ([(1, LISTED), (2, NOINDEX), (3, LISTED)], ("listed", 3, "noindex")),
        # `write` decides a second time in the same run: what came before the run stays.
        ([(1, LISTED), (2, NOINDEX), (2, REDIRECT)], ("redirect", 2, "listed")),
        ([(1, LISTED), (1, NOINDEX)], ("noindex", 1, None)),
    ],
)
def test_a_decision_tells_the_reason_before_its_run(
    state: StateLocation, decided: list[tuple[int, Reason]], stored: tuple[str, int, str | None]
) -> None:
    with closing(open_store(state)) as store:
        for run, reason in decided:
            decisions = DecisionStore(store, run, saw_everything=True, orphan_runs=2, keep_errors=7)
            decisions.save([Decision(1, SITE, listed=reason is LISTED, reason=reason, evidence=None)])
        with store.connection.begin():
            assert store.connection.execute(ROW).one() == stored


def test_a_page_that_fits_no_file_was_listed_before(tmp_path: Path) -> None:
    path = make_inventory(tmp_path / "a.sqlite", SITE)
    add_pages(path, [(1, SITE, 200, None)])
    with closing(open_store(path)) as store:
        decisions = DecisionStore(store, 2, saw_everything=True, orphan_runs=2, keep_errors=7)
        decisions.exclude([SITE], Reason.TOO_LONG, "its entry is too large")
        with store.connection.begin():
            assert store.connection.execute(ROW).one() == ("too-long", 2, "listed")


# Words and signs that mean something in an array, a format or a string of SQL.
HOSTILE = (
    "e'%",
    "%(url_id)s",
    "{}",
    '{"a",b}',
    "NULL",
    "null",
    "",
    " ",
    "\\",
    '\\"',
    "a,b",
    "line\nbreak",
    "é\u2028",
    "$1",
    "?",
)


def test_decisions_of_many_urls_are_stored_and_changed(state: StateLocation) -> None:
    """More than one batch, and evidence with every kind of sign."""
    numbers = range(1, 2 * BATCH_ROWS + 8)
    with closing(open_store(state)) as store:
        for run, reason in ((1, LISTED), (2, NOINDEX)):
            made = (
                Decision(n, SITE, n % 3 == 0, LISTED if n % 3 == 0 else reason, HOSTILE[n % len(HOSTILE)])
                for n in numbers
            )
            DecisionStore(store, run, saw_everything=True, orphan_runs=1, keep_errors=1).save(made)
        with store.connection.begin():
            query = text("SELECT url_id, reason, evidence, since FROM decisions ORDER BY url_id")
            found = [tuple(row) for row in store.connection.execute(query)]
    assert found == [
        (n, "noindex" if n % 3 else "listed", HOSTILE[n % len(HOSTILE)], 2 if n % 3 else 1) for n in numbers
    ]
