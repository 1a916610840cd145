"""Whether pages that name themselves as their canonical URL are believed."""

from __future__ import annotations

import pytest

from sitemap_crawler.traps.canonicals import MAX_UNPROVED, Canonicals

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
