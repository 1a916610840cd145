"""Whether pages that name themselves as their canonical URL are believed."""

from __future__ import annotations

import pytest

from sitemap_crawler.traps.canonicals import MAX_UNPROVED, MIN_WITHOUT, Canonicals

HOST = "https://www.example.com"


@pytest.mark.parametrize(
    ("own", "others", "believed"),
    [
        (0, 0, True),
        (MAX_UNPROVED, 0, True),
        (MAX_UNPROVED + 1, 0, False),
        (200, 19, False),
        (200, 20, True),
    ],
)
def test_many_pages_that_name_themselves_are_believed_if_others_do_not(own: int, others: int, believed: bool) -> None:
    counts = Canonicals()
    for number in range(own + others):
        url = f"{HOST}/list?id={number}"
        counts.count(url, url if number < own else f"{HOST}/list", is_listable=number < own)
    assert counts.are_believed is believed


def show_variants(
    canonicals: Canonicals, number: int, *, of: str = "/p?b={0}&view=7&a={0}", to: str = "/p?a={0}&b={0}"
) -> None:
    for index in range(number):
        canonicals.count(HOST + of.format(index), HOST + to.format(index), is_listable=False)


def test_the_canonical_url_of_a_url_is_expected_as_its_shape_has_named_it() -> None:
    canonicals = Canonicals()
    show_variants(canonicals, MIN_WITHOUT - 1)
    assert canonicals.expected_of(f"{HOST}/p?a=99&b=1&view=2") is None
    show_variants(canonicals, 1)
    assert canonicals.expected_of(f"{HOST}/p?a=99&view=2&b=1") == f"{HOST}/p?a=99&b=1"
    assert canonicals.expected_of(f"{HOST}/p?a=99&view=2") is None, "another shape"
    show_variants(canonicals, 1, to="/p?a=0&b=0&view=8")
    assert canonicals.expected_of(f"{HOST}/p?a=99&b=1&view=2") is None, "one of six does not"


@pytest.mark.parametrize(
    ("of", "to"),
    [
        ("/p?a={0}&view=7", "/p?a=0"),
        ("/p?a={0}&view=7", "/q?a={0}"),
        ("/p?a={0}&view=7", "/p?a={0}&view=7"),
        ("/p?a={0}&a=7", "/p?a={0}"),
    ],
)
def test_no_canonical_url_is_expected_where_more_than_parameters_differ(of: str, to: str) -> None:
    canonicals = Canonicals()
    show_variants(canonicals, 2 * MIN_WITHOUT, of=of, to=to)
    assert canonicals.expected_of(HOST + of.format(99)) is None


def test_a_canonical_url_may_leave_out_all_parameters() -> None:
    canonicals = Canonicals()
    show_variants(canonicals, MIN_WITHOUT, of="/p/{0}?view=7", to="/p/{0}")
    assert canonicals.expected_of(f"{HOST}/p/99?view=2") == f"{HOST}/p/99"
