"""Whether the pages of a shape have texts of their own."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from sitemap_crawler.traps import own_texts
from sitemap_crawler.traps.own_texts import MIN_COMMON, MIN_PAGES, OwnTexts

if TYPE_CHECKING:
    import pytest

SHAPE = "https://www.example.com/entry?id"


def texts_of(*texts: int) -> bytes:
    return array("I", [number for text in texts for number in (text, 10)]).tobytes()


def test_pages_that_differ_are_objects_from_the_fifth_one_on() -> None:
    texts = OwnTexts()
    shown = [texts.show(SHAPE, texts_of(number, 1_000, 1_001, 1_002)) for number in range(MIN_COMMON + MIN_PAGES)]
    # The template has the most weight at first.
    assert shown == [False] * (MIN_COMMON + MIN_PAGES - 2) + [True, True]
    assert not texts.show(SHAPE, texts_of(3, 1_000)), "the same page again"
    assert not texts.show("https://www.example.com/entry?day&id", texts_of(100)), "the first of its shape"


def test_the_first_page_of_a_shape_is_an_object_if_those_of_a_shape_like_it_are() -> None:
    texts = OwnTexts()
    for number in range(MIN_COMMON + MIN_PAGES):
        texts.show(SHAPE, texts_of(1, number + 2))
    assert not texts.show(f"{SHAPE}&a", texts_of(1, 100))
    assert texts.show(f"{SHAPE}&b", texts_of(1, 100), like=SHAPE)
    assert not texts.show(f"{SHAPE}&c", texts_of(1, 100), like=f"{SHAPE}&a")


def test_pages_of_a_shape_are_no_objects_if_most_repeat_each_other() -> None:
    texts = OwnTexts()
    for number in range(20):
        texts.show(SHAPE, texts_of(number // 4))
    assert not texts.show(SHAPE, texts_of(100))


def test_many_texts_push_out_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_texts, "MAX_TEXTS", 10)
    texts = OwnTexts()
    for number in range(40):
        texts.show(SHAPE, texts_of(number))
    assert not texts.show(SHAPE, texts_of(39))
    assert texts.show(SHAPE, texts_of(1)), "it is forgotten"
