"""Which changed pages are asked for again, and what the answers prove."""

from __future__ import annotations

import pytest

from sitemap_crawler.policy.second_looks import (
    MAX_LOOKS,
    MAX_SHAPES,
    MAX_SINGLE_LOOKS,
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
    assert [shape for shape, _ in chosen] == ["most"] * MAX_LOOKS + ["many"] * MAX_LOOKS + ["few"] * (MIN_CHANGED - 1)
    assert len({page.url for _, page in chosen}) == 2 * MAX_LOOKS + MIN_CHANGED - 1
    assert looks.unstable == set()


def test_no_page_is_asked_for_again_if_few_have_changed() -> None:
    assert looks_at(one=MIN_CHANGED // 2, other=MIN_CHANGED // 2 - 1).choose() == []
    assert len(looks_at(one=MIN_CHANGED // 2, other=MIN_CHANGED // 2).choose()) == MIN_CHANGED


def test_pages_of_shapes_with_few_changes_speak_for_themselves() -> None:
    looks = looks_at(one=9, other=9)
    answers = {("one", 0): b"other 1", ("one", 1): b"12345678", ("other", 0): b"sorry", ("other", 1): b"sorry"}
    for (name, number), answer in answers.items():
        looks.compare(name, page(name, number), answer)
    assert looks.unstable == set()
    assert looks.unstable_pages == {page("one", 0).url}


def test_there_is_a_limit_for_the_number_of_single_pages() -> None:
    looks = looks_at(**{f"shape{number}": 1 for number in range(MAX_SINGLE_LOOKS + 5)})
    assert len(looks.choose()) == MAX_SINGLE_LOOKS


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
    url = "https://www.example.com/news"
    assert kept_dates_notice(1, url).startswith(
        f"{url} shows something else at each request, such as products at random:"
    )
    assert f"such as products at random ({url}):" in kept_dates_notice(1_234, url)
    assert kept_dates_notice(1_234, url).startswith("1,234 pages show something else")
