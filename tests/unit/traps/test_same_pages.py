"""Pages of one path that show what simpler URLs of the path show."""

from __future__ import annotations

from array import array

from sitemap_crawler.traps.same_pages import SamePages


def texts_of(*texts: int, weight: int = 10) -> bytes:
    return array("I", [number for text in texts for number in (text, weight)]).tobytes()


def test_several_pages_together_show_what_another_page_shows() -> None:
    pages = SamePages()
    for fingerprint, texts in ((b"1", texts_of(1, 2)), (b"2", texts_of(3, 4))):
        assert not pages.repeats(fingerprint, texts)
        pages.add(fingerprint, texts)
    assert pages.repeats(b"3", texts_of(4, 1, 3))
    assert not pages.repeats(b"3", texts_of(4, 1, 3, 5))


def test_a_page_may_have_a_label_of_its_own() -> None:
    pages = SamePages()
    pages.add(b"1", texts_of(*range(100)))
    assert pages.repeats(b"2", texts_of(*range(98), 1_000, 1_001))
    assert not pages.repeats(b"2", texts_of(*range(97), 1_000, 1_001, 1_002))


def test_pages_without_known_texts_are_the_same_if_their_fingerprints_are() -> None:
    pages = SamePages()
    pages.add(b"1", None)
    assert pages.repeats(b"1", None)
    assert not pages.repeats(b"2", None)
    assert not pages.repeats(None, None)
    pages.add(None, b"")
    assert not pages.repeats(None, b"")


def test_a_title_tells_a_page_apart_that_is_believed_to_be_its_own_canonical_url() -> None:
    pages = SamePages()
    pages.add(b"1", texts_of(1, 2), "A product")
    assert pages.repeats(b"2", texts_of(1, 2))
    assert pages.repeats(b"2", texts_of(1, 2), "A product")
    assert not pages.repeats(b"2", texts_of(1, 2), "A category")
    assert pages.repeats(b"1", texts_of(1, 2), "A category"), "the same content under two titles"
