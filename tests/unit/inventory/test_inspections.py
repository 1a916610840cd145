"""Which pages are inspected next, and what the answers about them add up to."""

from __future__ import annotations

import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from sitemap_crawler.inventory.damage import find_damage
from sitemap_crawler.inventory.engine_answers import MAX_WORDS, EngineAnswers
from sitemap_crawler.inventory.inspections import (
    MAX_DIFFERENT_CANONICALS,
    MAX_STATES,
    OTHER_STATES,
    Inspection,
    candidates,
    coverage,
    inspection_of,
)
from sitemap_crawler.inventory.sql import url_key
from sitemap_crawler.inventory.unlocked import UnlockedInventory
from sitemap_crawler.urls.public_address import PublicAddress
from tests.support.engine_inventory import PUBLISHED, SITE, publish_pages
from tests.support.inventories import change, connect, open_inventory, place

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("inventories")

HOUR = 3_600.0
LATER = PUBLISHED + HOUR
INDEXED = Inspection(SITE, LATER, "PASS", "Submitted and indexed")
MANY = 60_000


def site_of(path: Path, count: int) -> list[str]:
    pages = [f"{SITE}{number}" for number in range(1, count + 1)]
    publish_pages(path, pages)
    return pages


def keep(path: Path, answers: dict[int, Inspection]) -> None:
    with UnlockedInventory(place(path)) as inventory:
        for url_id, answer in answers.items():
            EngineAnswers(inventory).keep_inspection(url_id, answer)


def order(path: Path, limit: int) -> list[int]:
    with open_inventory(path) as inventory:
        return [candidate.id for candidate in candidates(inventory.connection, limit)]


def test_order_of_the_inspections(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 9)
    refused, excluded = Inspection(SITE, LATER + 2), INDEXED._replace(verdict="NEUTRAL")
    keep(
        path,
        {
            1: INDEXED._replace(at=LATER + 5), 2: INDEXED._replace(at=LATER + 4),
            3: excluded._replace(at=LATER + 3), 4: refused, 5: excluded._replace(at=LATER + 1),
            6: INDEXED._replace(at=LATER), 7: excluded._replace(at=LATER),
        },
    )  # fmt: skip
    # A later publication has changed 6 and 2, and removed 7, which a third one has added again.
    change(
        path,
        "INSERT INTO runs (id, requested_url, start_url, sitemap_url, started, finished) "
        f"VALUES (2, '{SITE}', '{SITE}', '{SITE}sitemap.xml', {LATER + HOUR}, {LATER + HOUR})",
        "INSERT INTO changes (publication, url_id, run, kind) VALUES (1, 3, 1, 'changed'), (2, 6, 2, 'changed'), "
        "(2, 2, 2, 'added'), (2, 7, 2, 'removed'), (3, 2, 2, 'changed')",
    )
    never = sorted((8, 9), key=lambda number: url_key(f"{SITE}{number}"))
    expected = [*never, 6, 2, 7, 5, 4, 3, 1]
    assert order(path, 100) == expected
    assert [order(path, limit) for limit in (0, 1, 3, 6)] == [expected[:limit] for limit in (0, 1, 3, 6)]


def test_a_page_that_update_has_read_since_comes_before_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 3)
    keep(path, {number: INDEXED._replace(at=LATER + number) for number in (1, 2, 3)})
    # `update` has published 3 with the run that had ended before, and read 2 without a change.
    change(
        path,
        "DELETE FROM changes",
        "DELETE FROM observations",
        "INSERT INTO observations (url_id, run, fetched, body_bytes, noindex, nofollow) VALUES "
        f"(1, 1, {PUBLISHED}, 9, false, false), (2, 1, {LATER + HOUR}, 9, false, false), "
        f"(3, 1, {LATER + HOUR}, 9, false, false)",
        "INSERT INTO changes (publication, url_id, run, kind) VALUES (1, 1, 1, 'added'), (2, 3, 1, 'changed')",
    )
    assert order(path, 10) == [3, 1, 2]


def test_pages_that_are_no_longer_listed_are_not_inspected(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 4)
    keep(path, {1: INDEXED, 2: INDEXED})
    change(path, "DELETE FROM listings WHERE url_id IN (1, 3)")
    assert order(path, 10) == [4, 2]
    with open_inventory(path) as inventory:
        found = coverage(inventory.connection)
    assert (found.inspected, found.of, found.indexed) == (1, 2, 1)


def test_pages_of_another_property_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 50)
    with open_inventory(path) as inventory:
        chosen = candidates(inventory.connection, 5, admits=lambda url: url.endswith("7"))
        assert sorted(candidate.id for candidate in chosen) == [7, 17, 27, 37, 47]


def test_all_pages_are_reached_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 20)
    seen: list[int] = []
    for day in range(4):
        chosen = order(path, 7)
        keep(path, {url_id: INDEXED._replace(at=LATER + day) for url_id in chosen})
        seen += chosen
    assert sorted(seen[:20]) == list(range(1, 21))
    # Then the oldest ones come again.
    assert set(seen[20:27]) == set(seen[:7])
    assert seen[27] in seen[7:14]


@pytest.mark.slow
@pytest.mark.parametrize("inspected", [0, MANY - 100])
def test_a_large_site_is_never_loaded(tmp_path: Path, inspected: int) -> None:
    path = tmp_path / "a.sqlite"
    publish_pages(path, (f"{SITE}{number}" for number in range(1, MANY + 1)))
    with closing(connect(path)) as connection:
        connection.executemany(
            "INSERT INTO inspections (url_id, property, at, verdict) VALUES (?, 'p', ?, ?)",
            ((number, LATER + number, ("PASS", "NEUTRAL")[number % 2]) for number in range(1, inspected + 1)),
        )
        connection.commit()
    statements: list[str] = []
    with open_inventory(path) as inventory:
        event.listen(inventory.connection, "before_cursor_execute", lambda *args: statements.append(args[2]))
        tracemalloc.start()
        chosen = [candidate.id for candidate in candidates(inventory.connection, 500)]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(set(chosen)) == 500
    # 100 are new, then the oldest of those that were not in the index.
    if inspected:
        assert set(chosen[:100]) == set(range(inspected + 1, MANY + 1))
        assert chosen[100:] == list(range(1, 800, 2))
    assert len(statements) <= 4
    # 60,000 rows would take 6 MB and more.
    assert peak < 2_000_000


def test_counts_of_the_coverage(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 6)
    unknown = Inspection("sc-domain:example.com", LATER + 2, "NEUTRAL", "URL is unknown to Google")
    keep(path, {1: INDEXED, 2: INDEXED._replace(at=LATER + 9), 3: unknown, 4: Inspection(SITE, LATER - 5)})
    keep(path, {5: unknown._replace(coverage_state=None)})
    with open_inventory(path) as inventory:
        found = coverage(inventory.connection)
    # The fourth has no verdict: it was asked for, and not inspected.
    assert (found.inspected, found.of, found.oldest, found.newest, found.indexed) == (4, 6, LATER, LATER + 9, 2)
    assert found.by_state == {"Submitted and indexed": 2, "URL is unknown to Google": 1, "(none)": 1}
    assert found.by_verdict == {"PASS": 2, "NEUTRAL": 2}
    assert found.properties == (SITE, "sc-domain:example.com")
    assert list(find_damage(place(path))) == []


def test_states_are_bounded_in_number_length_and_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    count = MAX_STATES + 10
    site_of(path, count)
    keep(path, {n: INDEXED._replace(coverage_state=f"{n} \x1b[2J\u202e{'state ' * 900}") for n in range(1, count + 1)})
    with open_inventory(path) as inventory:
        states = coverage(inventory.connection).by_state
    assert len(states) == MAX_STATES + 1
    assert states[OTHER_STATES] == 10
    assert all(len(state) <= MAX_WORDS and "\x1b" not in state for state in states)


def test_canonicals_that_differ(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    pages = site_of(path, MAX_DIFFERENT_CANONICALS + 20)
    other = f"{SITE}other"
    answers = {n: INDEXED._replace(google_canonical=other) for n in range(3, len(pages) + 1)}
    keep(path, {1: INDEXED._replace(google_canonical=pages[0]), 2: INDEXED, **answers})
    with open_inventory(path) as inventory:
        found = coverage(inventory.connection)
    assert found.canonicals_differing == len(pages) - 2
    assert found.canonical_differs == tuple((url, other) for url in sorted(pages[2:])[:MAX_DIFFERENT_CANONICALS])


def test_canonicals_of_a_site_that_is_crawled_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 2)
    address = PublicAddress(SITE, "https://live.example/")
    live = [f"https://live.example/{number}" for number in (1, 2)]
    keep(path, {1: INDEXED._replace(google_canonical=live[0]), 2: INDEXED._replace(google_canonical=f"{SITE}2")})
    with open_inventory(path) as inventory:
        assert coverage(inventory.connection, address).canonical_differs == ((live[1], f"{SITE}2"),)


def test_the_newest_answer_replaces_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    site_of(path, 2)
    keep(path, {1: INDEXED})
    newer = Inspection(
        SITE, LATER + 9, "FAIL", "Soft 404", "ALLOWED", "INDEXING_ALLOWED", "SOFT_404", LATER, SITE, SITE
    )
    keep(path, {1: newer})
    with open_inventory(path) as inventory:
        assert inspection_of(inventory.connection, 1) == newer
        assert inspection_of(inventory.connection, 2) is None
