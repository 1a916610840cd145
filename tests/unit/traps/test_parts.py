"""Which pages are above others, and when a page is a part of another."""

from __future__ import annotations

from array import array

import pytest

from sitemap_crawler.traps.parts import MIN_PAGES, PartShapes, is_part, may_be_part, pages_above

SITE = "https://www.example.com"
IMAGE = f"{SITE}/1.jpg"


def texts(*numbers: int) -> bytes:
    """The texts of a page: each has a number and 100 letters."""
    return array("I", [value for number in numbers for value in (number, 100)]).tobytes()


def test_the_pages_above_are_those_of_three_directories() -> None:
    assert pages_above(f"{SITE}/a/b/c/d/e/") == [
        f"{SITE}/a/b/c/d/", f"{SITE}/a/b/c/d", f"{SITE}/a/b/c/", f"{SITE}/a/b/c", f"{SITE}/a/b/", f"{SITE}/a/b",
    ]  # fmt: skip
    assert pages_above(f"{SITE}/shoes/12") == [f"{SITE}/shoes/", f"{SITE}/shoes"]
    assert pages_above(f"{SITE}/shoes/") == pages_above(f"{SITE}/") == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/shoes/12/add/", True), ("/shoes/12/", False), ("/shoes/add/", False), ("/shoes/12/add/?a=1", False)],
)
def test_a_part_is_below_a_page_with_a_number(path: str, expected: bool) -> None:
    assert may_be_part(SITE + path) is expected


def test_a_part_shows_nothing_of_its_own() -> None:
    whole = texts(*range(100))
    assert is_part(texts(1, 2), [IMAGE], of_texts=whole, of_images=[IMAGE])
    assert is_part(texts(*range(98), 200), [], of_texts=whole, of_images=[])
    assert not is_part(texts(*range(90), 200, 201), [], of_texts=whole, of_images=[])
    assert not is_part(texts(1, 2), [IMAGE], of_texts=whole, of_images=[])
    assert not is_part(b"", [], of_texts=whole, of_images=[])
    assert is_part(texts(1, 200), [], of_texts=whole, of_images=[], template={200})
    assert not is_part(texts(200), [], of_texts=whole, of_images=[], template={200})
    assert is_part(texts(1), [IMAGE], of_texts=whole, of_images=[], template={IMAGE})


def test_a_template_has_the_texts_and_images_of_half_of_the_pages_of_a_shape() -> None:
    shapes = PartShapes()
    for number in range(MIN_PAGES):
        assert shapes.template_of(f"{SITE}/shoes/1/add/") == set()
        own = texts(7, 1000 + number, *((8,) if number % 2 else ()))
        shapes.add(f"{SITE}/shoes/{number}/add/", own, [IMAGE, f"{SITE}/{number}.png"])
        shapes.add(f"{SITE}/shoes/{number}/print/", texts(9), [])
    assert shapes.template_of(f"{SITE}/shoes/1/add/") == {7, 8, IMAGE}


def proven(parts: int, others: int, *, titles: int) -> bool:
    shapes = PartShapes()
    for number in range(parts + others):
        shapes.count(f"{SITE}/shoes/{number}/add/", f"Shoe {number % titles}", is_part=number < parts)
    return shapes.are_proven


def test_a_shape_is_proven_by_many_parts_with_titles_of_their_own() -> None:
    assert proven(MIN_PAGES, 0, titles=MIN_PAGES)
    assert proven(70, 30, titles=70)
    assert not proven(MIN_PAGES - 1, 0, titles=MIN_PAGES)
    assert not proven(69, 31, titles=69)
    assert not proven(MIN_PAGES, 0, titles=MIN_PAGES // 3)
