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
    ("answers", "is_unstable"),
    [
        (["other 1", "other 2", "other 3"], True),
        (["other 1", "same", "other 2"], True),
        (["other 1", "other 2"], True),
        (["other 1", "same", "same"], False),
        (["maintenance", "maintenance", "maintenance"], False),
        (["maintenance", "other 1", "maintenance"], False),
    ],
)
def test_most_of_the_pages_have_to_differ_once_more_each_in_its_own_way(answers: list[str], is_unstable: bool) -> None:
    looks = looks_at(shop=MIN_CHANGED, news=MIN_CHANGED)
    first = page("shop", 0)
    for answer in answers:
        differs = looks.compare("shop", first, first.fingerprint if answer == "same" else answer.encode())
        assert differs == (answer != "same")
    assert looks.unstable == ({"shop"} if is_unstable else set())


def test_one_page_is_no_plural() -> None:
    assert kept_dates_notice(1).startswith("1 page shows something else")
    assert kept_dates_notice(1_234).startswith("1,234 pages show something else")
