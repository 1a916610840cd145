"""The mapping of recently used keys."""

from __future__ import annotations

from sitemap_crawler.utils.bounded import Recent


def test_two_generations_are_kept() -> None:
    recent = Recent[int](3)
    for number in range(10):
        recent.put(str(number), number)
    assert [number for number in range(10) if recent.get(str(number)) is not None] == [6, 7, 8, 9]


def test_a_value_that_is_false_is_kept() -> None:
    recent = Recent[int](1)
    recent.put("a", 0)
    assert recent.get("a") == 0
    recent.put("b", 0)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (0, 0, None)


def test_the_newest_value_of_a_key_counts() -> None:
    recent = Recent[int](1)
    for value in (1, 2):
        recent.put("a", value)
    assert recent.get("a") == 2


def test_a_created_value_stays_as_long_as_it_is_used() -> None:
    recent = Recent[list[int]](2)
    for number in range(10):
        recent.get_or_create("used", list).append(number)
        recent.get_or_create(str(number), list)
    assert recent.get("used") == list(range(10))
    assert recent.get("0") is None


def test_the_largest_are_those_of_both_generations() -> None:
    recent = Recent[int](2)
    for key, value in (("a", 5), ("b", 1), ("c", 3)):
        recent.put(key, value)
    assert recent.largest(2, lambda value: value) == [("a", 5), ("c", 3)]
