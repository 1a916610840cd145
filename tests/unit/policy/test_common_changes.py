"""Changes that the pages of one section have in common."""

from __future__ import annotations

from itertools import pairwise
from zlib import crc32

import pytest

from sitemap_crawler.extract.content.fingerprint import fingerprint
from sitemap_crawler.policy.common_changes import MIN_PAGES, CommonChanges, common_changes_notice, step_between
from tests.support.reading_page import page

TEXT = "text " * 500


def step(before: str, now: str) -> int:
    return (crc32(now.encode()) - crc32(before.encode())) % 2**31


def of(title: str, body: str) -> bytes:
    return fingerprint(page(f"<title>{title}</title><body>{body}"))


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (("Manual 1.9", "<p>text</p>"), ("Manual 1.10", "<p>text</p>"), step("9", "10")),
        (("Manual", "<h1>Revision 60</h1>"), ("Manual", "<h1>Revision 59</h1>"), step("60", "59")),
        (("Manual", "<a href=/60>Older</a>"), ("Manual", "<a href=/61>Older</a>"), 0),
        (("Manual", "<p>text</p>"), ("Manual", "<p>texts</p>"), None),
        (("Manual", "<p>text</p><img src=/1.png>"), ("Manual", "<p>text</p><img src=/2.png>"), None),
        (("Manual", f"<p>{TEXT}</p>Fish (9)"), ("Manual", f"<p>{TEXT}</p>Fish (10)"), step("9", "10")),
        (("Manual", f"<p>9 {TEXT}</p>"), ("Manual", f"<p>10 {TEXT}</p>"), step("9", "10")),
        (("Manual", f"<p>{TEXT} 60 {TEXT}</p>"), ("Manual", f"<p>{TEXT} 61 {TEXT}</p>"), None),
        (("Manual", f"<p>{TEXT} $5.00</p>"), ("Manual", f"<p>{TEXT} $7.00</p>"), None),
        (("Manual", f"<p>{TEXT} 5,00 €</p>"), ("Manual", f"<p>{TEXT} 7,00 €</p>"), None),
        (("Manual", f"<p>{TEXT} EUR 5</p>"), ("Manual", f"<p>{TEXT} EUR 7</p>"), None),
        (("Manual", "<meta itemprop=price content=10>a"), ("Manual", "<meta itemprop=price content=11>a"), None),
    ],
)
def test_only_first_numbers_and_links_make_a_step(
    before: tuple[str, str], now: tuple[str, str], expected: int | None
) -> None:
    assert of(*before) != of(*now)
    assert step_between(of(*before), of(*now)) == expected


def test_numbers_of_their_own_that_grow_by_the_same_amount_make_different_steps() -> None:
    pages = [of("Shop", f"<p>{stock} in stock</p>") for stock in (3, 5, 7, 9)]
    assert len({step_between(*pair) for pair in pairwise(pages)}) == 3


def test_what_is_no_document_has_no_step() -> None:
    assert step_between(b"1" * 16, b"2" * 16) is None
    assert step_between(b"", of("Manual", "text")) is None


def test_a_change_is_common_from_ten_pages_of_one_section_on() -> None:
    changes = CommonChanges()
    for section, step, pages in (
        ("/a/*", 1, MIN_PAGES),
        ("/b/*", 1, MIN_PAGES - 1),
        ("/a/*", 2, 1),
        ("/a/*", None, 50),
    ):
        for _ in range(pages):
            changes.add(section, step)
    assert changes.found
    assert changes.has("/a/*", 1)
    assert not any(changes.has(*change) for change in (("/b/*", 1), ("/a/*", 2), ("/a/*", None), ("/c/*", 0)))
    assert not CommonChanges().found


def test_the_line_counts_the_pages() -> None:
    assert common_changes_notice(1).startswith("1 page has changed only")
    assert common_changes_notice(1_234).startswith("1,234 pages have changed only")
