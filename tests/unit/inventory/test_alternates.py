"""Language versions in the inventory: made rows in, sets and warnings out."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.alternates import alternates_of, delete_claims, store_claims, store_clusters
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind
from tests.support.inventories import connect, open_store
from tests.support.made_inventory import add_pages, make_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sitemap_crawler.inventory.store import Store

pytestmark = pytest.mark.usefixtures("inventories")

SITE = "https://example.com/"
PATHS = ("", "de/", "fr/", "gone", "other", "plain")
EN, DE, FR, GONE, OTHER, PLAIN = range(1, len(PATHS) + 1)
SET = [["en", EN], ["de", DE], ["x-default", EN], ["zh-Hant", FR]]


def one_way(page: str, versions: str) -> SiteWarning:
    message = f"names versions that do not name it back by a valid code: {versions}"
    return SiteWarning(WarningKind.ONE_WAY_ALTERNATE, page, message)


def unlisted(page: str, versions: str) -> SiteWarning:
    return SiteWarning(WarningKind.UNLISTED_ALTERNATE, page, f"names versions that are not listed: {versions}")


def url(page: int) -> str:
    return SITE + PATHS[page - 1]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    path = make_inventory(tmp_path / "state.sqlite", SITE)
    add_pages(
        path, [(number, url(number), 404 if number == GONE else 200, None) for number in range(1, len(PATHS) + 1)]
    )
    store = open_store(path)
    yield store
    store.close()


def claim(store: Store, claims: dict[int, list[list[str | int]] | None]) -> None:
    with closing(connect(store.location)) as connection:
        for page, named in claims.items():
            value = json.dumps(named) if named is not None else None
            connection.execute("UPDATE observations SET alternates = ? WHERE url_id = ?", (value, page))
        connection.commit()


def settle(store: Store) -> list[SiteWarning]:
    warnings: list[SiteWarning] = []
    store_clusters(store.connection, warn=warnings.append)
    return warnings


def versions(store: Store, *pages: int) -> dict[int, tuple[tuple[str, str], ...]]:
    with store.connection.begin():
        return alternates_of(store.connection, pages)


def test_every_page_of_a_set_has_all_its_versions_in_one_order(store: Store) -> None:
    claim(store, {EN: SET, DE: SET[::-1], FR: SET})
    assert settle(store) == []
    expected = (("de", url(DE)), ("en", url(EN)), ("zh-Hant", url(FR)), ("x-default", url(EN)))
    assert versions(store, EN, DE, FR, PLAIN, 99) == {EN: expected, DE: expected, FR: expected}
    assert versions(store, DE) == {DE: expected}
    assert versions(store, PLAIN) == {}
    assert versions(store) == {}


def test_two_sets(store: Store) -> None:
    claim(store, {page: [["en", EN], ["de", DE]] for page in (EN, DE)})
    claim(store, {page: [["fr", FR], ["de-AT", OTHER]] for page in (FR, OTHER)})
    assert settle(store) == []
    first, second = (("de", url(DE)), ("en", url(EN))), (("de-AT", url(OTHER)), ("fr", url(FR)))
    assert versions(store, OTHER, EN, FR, DE) == {EN: first, DE: first, FR: second, OTHER: second}


def test_what_is_wrong_is_worded_with_urls_and_reasons(store: Store) -> None:
    claim(store, {EN: [*SET, ["it", GONE], ["es", PLAIN]], DE: [["en", EN], ["de", DE]], GONE: SET})
    warnings = settle(store)
    assert versions(store, EN, DE) == {
        page: (("de", url(DE)), ("en", url(EN)), ("x-default", url(EN))) for page in (EN, DE)
    }
    assert sorted(warnings, key=lambda warned: warned.kind) == [
        one_way(url(EN), f"es {url(PLAIN)}, zh-Hant {url(FR)}"),
        unlisted(url(EN), f"it {url(GONE)} (client-error)"),
    ]


def test_a_version_that_was_not_decided_is_not_listed(store: Store) -> None:
    claim(store, {page: [["en", EN], ["de", DE]] for page in (EN, DE)})
    with closing(connect(store.location)) as connection:
        connection.execute("DELETE FROM decisions WHERE url_id = ?", (DE,))
        connection.commit()
    assert settle(store) == [unlisted(url(EN), f"de {url(DE)} (not decided)")]
    assert versions(store, EN, DE) == {}


def test_sets_of_an_earlier_run_are_replaced(store: Store) -> None:
    claim(store, dict.fromkeys((EN, DE, FR), SET))
    settle(store)
    claim(store, {EN: [["en", EN], ["de", DE]], DE: [["en", EN], ["de", DE]], FR: None})
    assert settle(store) == []
    expected = (("de", url(DE)), ("en", url(EN)))
    assert versions(store, EN, DE, FR) == {EN: expected, DE: expected}
    claim(store, {EN: None, DE: None})
    assert settle(store) == []
    assert versions(store, EN, DE) == {}


def test_a_large_site(tmp_path: Path) -> None:
    """2,100 pages in English, and then in German."""
    number = 2_100
    path = make_inventory(tmp_path / "large.sqlite", SITE)
    add_pages(path, [(page, f"{SITE}{page}", 200, None) for page in range(1, 2 * number + 1)])
    store = open_store(path)
    try:
        pairs = [(page, page + number) for page in range(1, number + 1)]
        claim(store, {page: [["en", pair[0]], ["de", pair[1]]] for pair in pairs for page in pair})
        assert settle(store) == []
        for english, german in pairs[:: number // 3]:
            expected = (("de", f"{SITE}{german}"), ("en", f"{SITE}{english}"))
            assert versions(store, english, german) == {english: expected, german: expected}
        assert len(versions(store, *range(number - 500, number + 501))) == 1_001
    finally:
        store.close()


OLD, NEW = f"{SITE}old.xml", f"{SITE}new.xml"
PAIR = [("en", EN), ("de", DE)]
VERSIONS = (("de", url(DE)), ("en", url(EN)))


def said(store: Store) -> dict[int, tuple[int, dict[str, int]]]:
    """Of each page the run in which a sitemap said something of it, and what."""
    with closing(connect(store.location)) as connection:
        rows = connection.execute("SELECT url_id, run, alternates FROM named_alternates").fetchall()
    return {url_id: (run, dict(json.loads(alternates))) for url_id, run, alternates in rows}


def test_what_a_sitemap_says_is_a_claim_of_the_page(store: Store) -> None:
    store_claims(store.connection, 1, OLD, {EN: PAIR, DE: PAIR, FR: [], OTHER: [("it", OTHER), ("en", EN)]})
    assert settle(store) == [one_way(url(OTHER), f"en {url(EN)}")]
    assert versions(store, EN, DE, FR, OTHER) == {EN: VERSIONS, DE: VERSIONS}


def test_a_sitemap_names_what_the_page_does_not(store: Store) -> None:
    claim(store, {EN: [["en", EN], ["fr", FR]], FR: [["en", EN], ["fr", FR]], DE: [["de", DE]]})
    store_claims(store.connection, 1, OLD, {EN: PAIR, DE: PAIR, FR: [("de", DE)]})
    store_claims(store.connection, 1, NEW, {DE: [("fr", FR)]})
    assert settle(store) == []
    expected = (("de", url(DE)), ("en", url(EN)), ("fr", url(FR)))
    assert versions(store, EN, DE, FR) == {EN: expected, DE: expected, FR: expected}


def test_the_page_s_own_word_counts_more(store: Store) -> None:
    """The sitemap still names a page that is gone as the German one."""
    claim(store, {page: [["en", EN], ["de", DE]] for page in (EN, DE)})
    store_claims(store.connection, 1, OLD, {EN: [("de", GONE), ("en", EN)], DE: [("de", GONE), ("en", OTHER)]})
    assert settle(store) == []
    assert versions(store, EN, DE) == {EN: VERSIONS, DE: VERSIONS}


def test_what_a_sitemap_says_of_pages_that_are_not_listed_is_no_claim(store: Store) -> None:
    store_claims(store.connection, 1, OLD, {GONE: [("en", EN)], EN: [("en", EN), ("it", GONE)]})
    assert settle(store) == [unlisted(url(EN), f"it {url(GONE)} (client-error)")]
    assert versions(store, EN, GONE) == {}


def test_sitemaps_of_one_run_complete_each_other(store: Store) -> None:
    store_claims(store.connection, 1, OLD, {EN: [("en", EN)], DE: []})
    store_claims(store.connection, 1, NEW, {EN: [("en", OTHER), ("fr", FR)], DE: PAIR, FR: []})
    assert said(store) == {EN: (1, {"en": EN, "fr": FR}), DE: (1, {"en": EN, "de": DE})}
    # Read once more after the run was stopped.
    store_claims(store.connection, 1, OLD, {EN: [("en", EN)], DE: []})
    assert said(store) == {EN: (1, {"en": EN, "fr": FR}), DE: (1, {"en": EN, "de": DE})}


def test_a_later_run_replaces_what_was_said_of_the_pages_that_are_named_anew(store: Store) -> None:
    store_claims(store.connection, 1, OLD, {EN: PAIR, DE: PAIR, FR: PAIR})
    store_claims(store.connection, 2, NEW, {EN: [("en", EN)], DE: []})
    assert said(store) == {EN: (2, {"en": EN}), FR: (1, dict(PAIR))}


def test_a_sitemap_that_was_read_anew_says_nothing_old(store: Store) -> None:
    store_claims(store.connection, 1, OLD, {EN: PAIR, DE: PAIR})
    store_claims(store.connection, 1, NEW, {FR: PAIR})
    store_claims(store.connection, 2, OLD, {EN: PAIR})
    delete_claims(store.connection, 2, OLD)
    assert said(store) == {EN: (2, dict(PAIR)), FR: (1, dict(PAIR))}


def test_claims_of_many_pages(store: Store) -> None:
    ids = range(1, 2_101)
    store_claims(store.connection, 1, OLD, {number: [("en", number)] for number in ids})
    store_claims(store.connection, 1, NEW, {number: [("de", number)] for number in ids})
    assert said(store) == {number: (1, {"en": number, "de": number}) for number in ids}
