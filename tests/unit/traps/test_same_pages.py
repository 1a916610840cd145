"""Pages of one path that show what simpler URLs of the path show."""

from __future__ import annotations

from array import array

import pytest

from sitemap_crawler.traps.same_pages import SamePages

LIST = "https://www.example.com/list?page=1"
URL = "https://www.example.com/list?page=1&view=2"


def texts_of(*texts: int, weight: int = 10) -> bytes:
    return array("I", [number for text in texts for number in (text, weight)]).tobytes()


def test_several_pages_together_show_what_another_page_shows() -> None:
    pages = SamePages()
    for fingerprint, texts in ((b"1", texts_of(1, 2)), (b"2", texts_of(3, 4))):
        assert not pages.repeats(URL, fingerprint, texts, None)
        pages.add(LIST, fingerprint, texts, None)
    assert pages.repeats(URL, b"3", texts_of(4, 1, 3), None)
    assert not pages.repeats(URL, b"3", texts_of(4, 1, 3, 5), None)


def test_a_page_may_have_a_label_of_its_own() -> None:
    pages = SamePages()
    pages.add(LIST, b"1", texts_of(*range(100)), None)
    assert pages.repeats(URL, b"2", texts_of(*range(98), 1_000, 1_001), None)
    assert not pages.repeats(URL, b"2", texts_of(*range(97), 1_000, 1_001, 1_002), None)


def test_pages_without_known_texts_are_the_same_if_their_fingerprints_are() -> None:
    pages = SamePages()
    pages.add(LIST, b"1", None, None)
    assert pages.repeats(URL, b"1", None, None)
    assert not pages.repeats(URL, b"2", None, None)
    assert not pages.repeats(URL, None, None, None)
    pages.add(LIST, None, b"", None)
    assert not pages.repeats(URL, None, b"", None)


def test_a_title_tells_a_page_apart_that_is_believed_to_be_its_own_canonical_url() -> None:
    pages = SamePages()
    pages.add(LIST, b"1", texts_of(1, 2), "A product")
    assert pages.repeats(URL, b"2", texts_of(1, 2), "A category")
    assert pages.repeats(URL, b"2", texts_of(1, 2), None, is_canonical=True)
    assert pages.repeats(URL, b"2", texts_of(1, 2), "A product", is_canonical=True)
    assert not pages.repeats(URL, b"2", texts_of(1, 2), "A category", is_canonical=True)
    assert pages.repeats(URL, b"1", texts_of(1, 2), "A category", is_canonical=True), (
        "the same content under two titles"
    )


def of_gallery(*, canonical: bool) -> dict[str, bool]:
    """Return whether each page of a gallery repeats the others. All have one path; those of tags have one title."""
    path = "https://www.example.com/index.php?"
    template = (90, 91)
    pages = SamePages()
    pages.add(f"{path}/about", b"0", texts_of(*template), "About")
    for number in range(1, 7):
        pages.add(f"{path}/{number}", bytes([number]), texts_of(*template, number), f"Picture {number}")
    shown = {"/tags/1": (1, 2, 3), "/tags/1/2": (4, 5, 6), "/tags/2": (1, 2), "/tags/1&view=2": (1, 2, 3)}
    repeated = {}
    for number, (name, texts) in enumerate(shown.items(), 10):
        page = (path + name, bytes([number]), texts_of(*template, *texts), "Tag")
        repeated[name] = pages.repeats(*page, is_canonical=canonical)
        if not repeated[name]:
            pages.add(*page)
    return repeated


def test_lists_with_one_title_are_pages_if_they_are_believed_to_be_their_own_canonical_urls() -> None:
    """What each shows, several others show. One with a parameter more shows what the one without it does."""
    assert of_gallery(canonical=True) == {
        "/tags/1": False,
        "/tags/1/2": False,
        "/tags/2": False,
        "/tags/1&view=2": True,
    }


def test_lists_with_one_title_and_without_canonical_urls_repeat_the_pages_that_they_list() -> None:
    assert all(of_gallery(canonical=False).values())


@pytest.mark.parametrize("share", [95, 99])
def test_a_page_that_one_other_shows_repeats_it_whatever_its_canonical_url_is(share: int) -> None:
    pages = SamePages()
    pages.add("https://www.example.com/index.php?/a", b"0", texts_of(200, 201), "About")
    pages.add("https://www.example.com/index.php?/b", b"1", texts_of(200, *range(share)), "Title")
    pages.add("https://www.example.com/index.php?/c", b"2", texts_of(200, *range(share, 100)), "Other")
    page = ("https://www.example.com/index.php?/dd", b"3", texts_of(200, *range(100)), "Title")
    assert pages.repeats(*page, is_canonical=True) is (share == 99)


def test_a_part_of_a_list_with_a_title_of_its_own_is_a_page_of_its_own() -> None:
    pages = SamePages()
    pages.add(LIST, b"1", texts_of(*range(10)), "The list")
    pages.add(LIST, b"2", texts_of(*range(8, 20)), "Page two")
    assert not pages.repeats(URL, b"3", texts_of(1, 2, 11, 12), "A post")
    assert pages.repeats(URL, b"3", texts_of(1, 2, 11, 12), "Page two")
    assert pages.repeats(URL, b"3", texts_of(1, 2, 3, 4, 5), "Half of the list")
    assert not pages.repeats(URL, b"3", texts_of(*range(10, 15)), "Less than half of the second page")
    assert pages.repeats(URL, b"3", texts_of(*range(10, 16)), "Half of the second page")


def test_pages_that_differ_by_their_titles_and_headings_are_pages_of_their_own() -> None:
    pages = SamePages()
    pages.add("https://www.example.com/screw?id=1&in=a", b"1", texts_of(*range(100)), "Screw 1")
    second = "https://www.example.com/screw?in=b&id=2"
    assert not pages.repeats(second, b"2", texts_of(*range(99), 1_000), "Screw 2")
    assert pages.repeats(second, b"2", texts_of(*range(99), 1_000), "Screw 1"), "no title of its own"
    assert pages.repeats(second, b"2", texts_of(*range(99)), "Screw 2"), "no heading of its own"
    view = "https://www.example.com/screw?id=1&in=a&view=2"
    assert pages.repeats(view, b"2", texts_of(*range(99), 1_000), "Screw 1 in another view")
