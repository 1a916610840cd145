"""The progress line."""

from __future__ import annotations

import re
import time

import pytest

from sitemap_crawler.crawl.extensions.progress import what_is_left
from sitemap_crawler.crawl.job import FailingPages

TIME = r"at \d\d:\d\d:\d\d UTC"


@pytest.mark.parametrize(
    ("urls", "in_flight", "seconds", "line"),
    [
        (1, 0, 45, f"only 1 page that keeps failing is left, next request in 45 s, {TIME}"),
        (1_200, 0, 90, f"only 1,200 pages that keep failing are left, next request in 1 min 30 s, {TIME}"),
        (1, 0, -5, f"only 1 page that keeps failing is left, next request in 0 s, {TIME}"),
        (1, 1, 0, "only 1 page that keeps failing is left, 1 requested now"),
        (3, 2, 0, "only 3 pages that keep failing are left, 2 requested now"),
    ],
)
def test_pages_that_keep_failing(urls: int, in_flight: int, seconds: float, line: str) -> None:
    now = time.monotonic()
    assert re.fullmatch(line, what_is_left(FailingPages(urls, in_flight, now + seconds), now))
