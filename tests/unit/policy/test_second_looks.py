"""Which changed pages are asked for again, and what the answers prove."""

from __future__ import annotations

import pytest

from sitemap_crawler.policy.second_looks import (
    MAX_LOOKS,
    MAX_SHAPES,
    MIN_CHANGED,
    ChangedPage,
    SecondLooks,
    kept_dates_notice,
)


def page(name: str, number: int) -> ChangedPage:
    return ChangedPage(f"https://www.example.com/{name}/{number}", b"12345678")


def looks_at(**changed: int) -> SecondLooks:
    """Return the looks at shapes, given with their numbers of changed pages."""
    looks = SecondLooks()
    for name, pages in changed.items():
        for number in range(pages):
            looks.add(name, page(name, number))
    return looks


def test_some_pages_of_the_shapes_with_many_changes_are_asked_for_again() -> None:
    looks = looks_at(few=MIN_CHANGED - 1, many=MIN_CHANGED, most=1_000)
    chosen = looks.choose()
    assert [shape for shape, _ in chosen] == ["most"] * MAX_LOOKS + ["many"] * MAX_LOOKS
    assert len({page.url for _, page in chosen}) == 2 * MAX_LOOKS
    assert looks.unstable == set()


def test_there_is_a_limit_for_the_number_of_shapes() -> None:
    looks = looks_at(**{f"shape{number}": MIN_CHANGED for number in range(MAX_SHAPES + 5)})
    assert len(looks.choose()) == MAX_LOOKS * MAX_SHAPES


@pytest.mark.parametrize(
    ("differences", "is_unstable"),
    [([True, True, True], True), ([True, False, True], True), ([True, True], True), ([True, False, False], False)],
)
def test_most_of_the_pages_have_to_differ_once_more(differences: list[bool], is_unstable: bool) -> None:
    looks = looks_at(shop=MIN_CHANGED, news=MIN_CHANGED)
    for differs in differences:
        looks.count("shop", differs=differs)
    assert looks.unstable == ({"shop"} if is_unstable else set())


def test_one_page_is_no_plural() -> None:
    assert kept_dates_notice(1).startswith("1 page shows something else")
    assert kept_dates_notice(1_234).startswith("1,234 pages show something else")
