"""When a queue counts as growing."""

from __future__ import annotations

import pytest

from sitemap_crawler.crawl.extensions.growth import QueueGrowth


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([(0, 10), (50, 90)], [False, False]),
        ([(0, 110), (100, 111)], [False, True]),
        # The queue is shorter than the window: its URLs are soon requested.
        ([(0, 10), (100, 100)], [False, False]),
        ([(0, 10), (100, 10), (150, 10)], [False, False, False]),
        ([(0, 10), (50, 300), (100, 200), (150, 299), (160, 301)], [False, False, True, False, True]),
        # Samples without a request in between replace one another.
        ([(0, 110), (0, 150), (100, 140), (100, 160)], [False, False, False, True]),
        # A resumed run is judged by the requests of its new process.
        ([(5_000, 100), (5_050, 200), (5_100, 200)], [False, False, True]),
    ],
)
def test_growth_over_a_hundred_requests(samples: list[tuple[int, int]], expected: list[bool]) -> None:
    growth = QueueGrowth(100)
    assert [growth.sample(*sample) for sample in samples] == expected


def test_few_samples_are_kept() -> None:
    growth = QueueGrowth(100)
    for done in range(10_000):
        growth.sample(done, done)
    assert len(growth._samples) <= 102
