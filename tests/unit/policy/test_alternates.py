"""Sets of language versions. Pages are letters; `a` has the id 1. All pages are listed unless a test says otherwise."""

from __future__ import annotations

from itertools import combinations, permutations
from string import ascii_lowercase
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.policy.alternates import MAX_CHAIN, AlternateClaims, Clustering
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sitemap_crawler.policy.alternates import Cluster

Claims = dict[str, dict[str, str]]
"""Named page by code, by naming page."""


def one_way(page: str, versions: str) -> SiteWarning:
    message = f"names versions that do not name it back by a valid code: {versions}"
    return SiteWarning(WarningKind.ONE_WAY_ALTERNATE, page, message)


def unlisted(page: str, versions: str) -> SiteWarning:
    return SiteWarning(WarningKind.UNLISTED_ALTERNATE, page, f"names versions that are not listed: {versions}")


def ids_of(names: Iterable[str]) -> dict[str, int]:
    return {name: ascii_lowercase.index(name) + 1 for name in names}


def sets_and_warnings(
    claims: Claims, refused: Mapping[str, str] | None = None, *, ids: dict[str, int] | None = None
) -> tuple[list[dict[str, str]], list[SiteWarning]]:
    """Return the sets as codes by page, ordered by their first pages, and the warnings."""
    refused = refused or {}
    names = {name for page, named in claims.items() for name in (page, *named.values())}
    ids = ids or ids_of(names)
    pages = {}
    for name in names:
        codes: dict[int, tuple[str, ...]] = {}
        for code, other in sorted(claims.get(name, {}).items()) if name not in refused else ():
            codes[ids[other]] = (*codes.get(ids[other], ()), code)
        pages[ids[name]] = AlternateClaims(ids[name], name, refused.get(name), codes)

    def fetch(wanted: Collection[int]) -> list[AlternateClaims]:
        return [pages[url_id] for url_id in wanted]

    warnings: list[SiteWarning] = []
    seeds = sorted(ids[name] for name in claims if name not in refused)
    found = list(Clustering(fetch, warn=warnings.append).clusters(seeds))
    named = [{pages[url_id].url: " ".join(codes) for url_id, codes in sorted(each.items())} for each in found]
    return sorted(named, key=lambda cluster: min(cluster)), warnings


def mutual(*sets: str, **codes: str) -> Claims:
    """Return pages that name themselves and all others of their sets, by their letters or by `codes`."""
    claims: Claims = {}
    for pages in sets:
        for page in pages:
            claims.setdefault(page, {}).update({codes.get(other, other): other for other in pages})
    return claims


def same_claims(pages: str, named: dict[str, str]) -> Claims:
    return {page: dict(named) for page in pages}


FULL = {"en": "a", "de": "b", "fr": "c"}


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"a": FULL, "b": FULL, "c": FULL}, [{"a": "en", "b": "de", "c": "fr"}]),
        # two sets
        (
            {
                "a": {"en": "a", "de": "b"},
                "b": {"en": "a", "de": "b"},
                "c": {"en": "c", "de": "d"},
                "d": {"en": "c", "de": "d"},
            },
            [{"a": "en", "b": "de"}, {"c": "en", "d": "de"}],
        ),
        # a page of several codes
        (
            same_claims("ab", {"en": "a", "en-GB": "a", "x-default": "a", "de": "b"}),
            [{"a": "en en-GB x-default", "b": "de"}],
        ),
        # x-default as a page of its own
        (
            same_claims("abc", {"en": "a", "de": "b", "x-default": "c"}),
            [{"a": "en", "b": "de", "c": "x-default"}],
        ),
        # one page is no set
        ({"a": {"en": "a"}}, []),
        ({"a": {"en": "a", "de": "a", "x-default": "a"}}, []),
        ({}, []),
    ],
)
def test_complete_sets(claims: Claims, expected: list[dict[str, str]]) -> None:
    assert sets_and_warnings(claims) == (expected, [])


@pytest.mark.parametrize(
    "claims",
    [
        # c does not name itself; the others agree
        {"a": FULL, "b": FULL, "c": {"en": "a", "de": "b"}},
        # none names itself
        {"a": {"de": "b", "fr": "c"}, "b": {"en": "a", "fr": "c"}, "c": {"en": "a", "de": "b"}},
    ],
)
def test_a_page_without_a_self_reference_gets_the_code_of_the_others(claims: Claims) -> None:
    assert sets_and_warnings(claims) == ([{"a": "en", "b": "de", "c": "fr"}], [])


@pytest.mark.parametrize(
    ("claims", "expected", "warnings"),
    [
        # b has no claims at all
        (
            {"a": {"en": "a", "de": "b"}},
            [],
            [one_way("a", "de b")],
        ),
        # c names the others, which do not know it
        (
            {"a": {"en": "a", "de": "b"}, "b": {"en": "a", "de": "b"}, "c": FULL},
            [{"a": "en", "b": "de"}],
            [one_way("c", "de b, en a")],
        ),
        # the others name c, which knows only itself
        (
            {"a": FULL, "b": FULL, "c": {"fr": "c"}},
            [{"a": "en", "b": "de"}],
            [
                one_way("a", "fr c"),
                one_way("b", "fr c"),
            ],
        ),
        # all product pages name the one German page
        (
            {"a": {"en": "a", "de": "d"}, "b": {"en": "b", "de": "d"}, "c": {"en": "c", "de": "d"}, "d": {"en": "b"}},
            [{"b": "en", "d": "de"}],
            [
                one_way("a", "de d"),
                one_way("c", "de d"),
            ],
        ),
        # an x-default page that names nobody
        (
            same_claims("ab", {"en": "a", "de": "b", "x-default": "c"}),
            [{"a": "en", "b": "de"}],
            [
                one_way("a", "x-default c"),
                one_way("b", "x-default c"),
            ],
        ),
        # only some of the many are named in the words
        (
            {"a": dict(zip(("bg", "cs", "da", "de", "el"), "bcdef", strict=True))},
            [],
            [one_way("a", "bg b, cs c, da d and 2 more")],
        ),
    ],
)
def test_one_way_claims(claims: Claims, expected: list[dict[str, str]], warnings: list[SiteWarning]) -> None:
    found, worded = sets_and_warnings(claims)
    assert found == expected
    assert sorted(worded, key=lambda warned: warned.url) == warnings


def test_unlisted_pages_belong_to_no_set() -> None:
    claims = {"a": {**FULL, "it": "d"}, "b": {**FULL, "it": "d"}, "c": FULL}
    found, worded = sets_and_warnings(claims, {"c": "noindex", "d": "out-of-scope"})
    assert found == [{"a": "en", "b": "de"}]
    assert worded == [unlisted(page, "fr c (noindex), it d (out-of-scope)") for page in "ab"]


def test_a_pair_with_an_unlisted_page_is_no_set() -> None:
    claims = same_claims("ab", {"en": "a", "de": "b"})
    assert sets_and_warnings(claims, {"b": "redirect"}) == (
        [],
        [unlisted("a", "de b (redirect)")],
    )


def conflict(page: str, message: str) -> SiteWarning:
    return SiteWarning(WarningKind.CONFLICTING_ALTERNATES, page, message)


@pytest.mark.parametrize(
    ("claims", "expected", "warnings"),
    [
        # b knows best what it is
        (
            {"a": {"en": "a", "de": "b"}, "b": {"en": "a", "fr": "b"}},
            [{"a": "en", "b": "fr"}],
            [conflict("b", "calls itself fr, but other versions give it another code: de")],
        ),
        # it may be less than the others say, or more
        (
            {"a": {"en": "a", "de": "b", "x-default": "b"}, "b": {"en": "a", "de": "b", "de-AT": "b"}},
            [{"a": "en", "b": "de de-AT"}],
            [conflict("b", "calls itself de de-AT, but other versions give it another code: x-default")],
        ),
        # it says nothing, and the others agree on a part
        (
            {"a": {"en": "a", "de": "b", "x-default": "b", "fr": "c"}, "b": {"en": "a", "fr": "c"}, "c": FULL},
            [{"a": "en", "b": "de", "c": "fr"}],
            [conflict("b", "does not name itself, and its other versions give it different codes: x-default")],
        ),
        # it says nothing, and the others agree on nothing
        (
            {"a": {"en": "a", "de": "b", "fr": "c"}, "b": {"en": "a", "fr": "c"}, "c": {**FULL, "de": "a", "it": "b"}},
            [{"a": "en", "c": "fr"}],
            [
                conflict("a", "calls itself en, but other versions give it another code: de"),
                conflict("b", "does not name itself, and its other versions give it different codes: de, it"),
            ],
        ),
        # each is the default
        (
            {"a": {"en": "a", "de": "b", "x-default": "a"}, "b": {"en": "a", "de": "b", "x-default": "b"}},
            [{"a": "en", "b": "de"}],
            [conflict("a", "several versions have the code x-default, so it counts for none: a, b")],
        ),
        # two of one code and nothing else
        (
            {"a": {"en": "a", "de": "b"}, "b": {"en": "b", "de": "a"}},
            [],
            [
                conflict("a", "calls itself en, but other versions give it another code: de"),
                conflict("a", "several versions have the code en, so it counts for none: a, b"),
                conflict("b", "calls itself en, but other versions give it another code: de"),
            ],
        ),
    ],
)
def test_conflicting_codes(claims: Claims, expected: list[dict[str, str]], warnings: list[SiteWarning]) -> None:
    found, worded = sets_and_warnings(claims)
    assert found == expected
    assert sorted(worded, key=lambda warned: (warned.url, warned.message)) == warnings


LOST = "names versions whose own versions do not all name each other, so they are not a set"


@pytest.mark.parametrize(
    ("claims", "expected", "warnings"),
    [
        # a chain of three: ties go by URL
        (mutual("ab", "bc"), [{"a": "a", "b": "b"}], [conflict("b", f"{LOST}: c c"), conflict("c", f"{LOST}: b b")]),
        # a set, and one page that only b of it knows
        (
            mutual("abcd", "be"),
            [{page: page for page in "abcd"}],
            [conflict("b", f"{LOST}: e e"), conflict("e", f"{LOST}: b b")],
        ),
        # two sets with a bridge: it must not tear them
        (
            mutual("abc", "def", "cd"),
            [{page: page for page in "abc"}, {page: page for page in "def"}],
            [conflict("c", f"{LOST}: d d"), conflict("d", f"{LOST}: c c")],
        ),
        # a ring of four
        (
            mutual("ab", "bc", "cd", "da"),
            [{"a": "a", "b": "b"}, {"c": "c", "d": "d"}],
            [
                conflict("a", f"{LOST}: d d"),
                conflict("b", f"{LOST}: c c"),
                conflict("c", f"{LOST}: b b"),
                conflict("d", f"{LOST}: a a"),
            ],
        ),
        # the larger one of two that share a page
        (
            mutual("ab", "bcd"),
            [{page: page for page in "bcd"}],
            [conflict("a", f"{LOST}: b b"), conflict("b", f"{LOST}: a a")],
        ),
    ],
)
def test_chains(claims: Claims, expected: list[dict[str, str]], warnings: list[SiteWarning]) -> None:
    found, worded = sets_and_warnings(claims)
    assert found == expected
    assert sorted(worded, key=lambda warned: warned.url) == warnings


@pytest.mark.parametrize(
    "claims", [mutual("ab", "bc", "ca", "cd", "da"), mutual("ab", "bc", "cd", "da"), mutual("abc", "bcd")]
)
def test_the_order_of_ids_does_not_matter(claims: Claims) -> None:
    expected = sets_and_warnings(claims)
    for order in permutations(range(1, 5)):
        found, worded = sets_and_warnings(claims, ids=dict(zip("abcd", order, strict=True)))
        assert (found, sorted(map(str, worded))) == (expected[0], sorted(map(str, expected[1])))


def chain(length: int, *, first: int = 1) -> dict[int, AlternateClaims]:
    """Return pages that name themselves, the page before and the page after."""
    numbers = range(first, first + length)
    return {
        number: AlternateClaims(
            number,
            f"{number:06}",
            None,
            {other: (f"c{other}",) for other in (number - 1, number, number + 1) if other in numbers},
        )
        for number in numbers
    }


def test_the_longest_chain_is_split_into_pairs() -> None:
    pages = chain(MAX_CHAIN)
    found = list(Clustering(lambda ids: [pages[url_id] for url_id in ids], warn=lambda _: None).clusters(pages))
    assert sorted(map(sorted, found)) == [[number, number + 1] for number in range(1, MAX_CHAIN, 2)]


def test_too_long_a_chain_gives_no_set_and_the_next_set_is_found() -> None:
    pages = {**chain(MAX_CHAIN + 4_000), **chain(2, first=10_000)}
    warnings: list[SiteWarning] = []
    found = list(Clustering(lambda ids: [pages[url_id] for url_id in ids], warn=warnings.append).clusters(pages))
    assert [sorted(cluster) for cluster in found] == [[10_000, 10_001]]
    assert warnings[0] == conflict("000001", "5,000 pages name each other in a chain: too many to find the sets in it")


VERSIONS = 10


class Inventory:
    """Ten versions of each page, with distant ids for the versions of one page."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls: list[int] = []

    def fetch(self, ids: Collection[int]) -> Iterable[AlternateClaims]:
        self.calls.append(len(ids))
        for url_id in ids:
            every = {other * self.number + url_id % self.number: (f"c{other}",) for other in range(VERSIONS)}
            yield AlternateClaims(url_id, str(url_id), None, every)

    def sets(self) -> list[list[int]]:
        found = Clustering(self.fetch, warn=pytest.fail).clusters(range(self.number * VERSIONS))
        return sorted(map(sorted, found))


def test_each_page_is_looked_up_about_once_in_large_batches() -> None:
    inventory = Inventory(1_000)
    assert len(inventory.sets()) == 1_000
    assert sum(inventory.calls) < 15_000
    assert len(inventory.calls) < 100


@pytest.mark.parametrize("held", range(0, 130, 10))
def test_the_size_of_the_cache_does_not_change_the_sets(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.policy.alternates.MAX_CACHED_CLAIMS", held)
    assert Inventory(40).sets() == [list(range(first, 400, 40)) for first in range(40)]


CODES = ["en", "de", "fr", "it", "x-default"]
PAGES = "abcdefgh"


@given(
    claims=st.dictionaries(
        st.sampled_from(PAGES), st.dictionaries(st.sampled_from(CODES), st.sampled_from(PAGES), min_size=1)
    ),
    refused=st.sets(st.sampled_from(PAGES), max_size=2),
    order=st.permutations(range(1, len(PAGES) + 1)),
)
def test_properties_of_the_sets_of_any_claims(claims: Claims, refused: set[str], order: list[int]) -> None:
    found, worded = sets_and_warnings(claims, dict.fromkeys(refused, "noindex"))
    seen = [page for cluster in found for page in cluster]
    assert len(seen) == len(set(seen))
    assert refused.isdisjoint(seen)
    for cluster in found:
        assert len(cluster) > 1
        for page, other in combinations(cluster, 2):
            assert other in claims[page].values()
            assert page in claims[other].values()
        codes = [code for own in cluster.values() for code in own.split()]
        assert len(codes) == len(set(codes))
        for page, own in cluster.items():
            assert own
            for code in own.split():
                assert any(claims[other].get(code) == page for other in cluster)
    again, worded_again = sets_and_warnings(
        claims, dict.fromkeys(refused, "noindex"), ids=dict(zip(PAGES, order, strict=True))
    )
    assert [dict(sorted(cluster.items())) for cluster in again] == found
    assert sorted(map(str, worded_again)) == sorted(map(str, worded))


@given(sizes=st.lists(st.integers(2, 5), max_size=4))
def test_all_complete_sets_are_found(sizes: list[int]) -> None:
    letters = iter(ascii_lowercase)
    sets = ["".join(next(letters) for _ in range(size)) for size in sizes]
    expected: list[Cluster] = [{page: page for page in pages} for pages in sets]
    assert sets_and_warnings(mutual(*sets)) == (expected, [])
