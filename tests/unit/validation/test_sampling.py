"""Samples of listed URLs, and what they show about all."""

from __future__ import annotations

from collections import Counter

import pytest

from sitemap_crawler.validation.listing import ListedUrl
from sitemap_crawler.validation.sampling import MAX_STRATA, allocation, interval, sample, shape


def listing(*groups: tuple[str, str, int]) -> list[ListedUrl]:
    return [
        ListedUrl(file, number, f"https://example.com/{directory}/{number}.html", None)
        for file, directory, count in groups
        for number in range(count)
    ]


def test_a_sample_has_its_size_and_every_stratum_its_share() -> None:
    urls = listing(("a.xml", "big", 800), ("a.xml", "small", 150), ("b.xml", "big", 45), ("b.xml", "rare", 5))
    chosen = list(sample(lambda: urls, 100))
    assert len(chosen) == len(set(chosen)) == 100
    counts = Counter((url.file, url.loc.split("/")[3]) for url in chosen)
    # Shares of 96 by size after one for each: 800/1000 of it is 76.8, and so on.
    assert counts == {("a.xml", "big"): 78, ("a.xml", "small"): 15, ("b.xml", "big"): 5, ("b.xml", "rare"): 2}


def test_a_sample_is_spread_over_the_file_and_the_same_each_time() -> None:
    urls = listing(("a.xml", "big", 1000))
    chosen = [url.line for url in sample(lambda: urls, 10)]
    assert chosen == [99, 199, 299, 399, 499, 599, 699, 799, 899, 999]
    assert chosen == [url.line for url in sample(lambda: urls, 10)]


@pytest.mark.parametrize("size", [7, 8, 100])
def test_a_sample_as_large_as_the_listing_is_all_of_it(size: int) -> None:
    urls = listing(("a.xml", "x", 5), ("b.xml", "y", 2))
    assert list(sample(lambda: urls, size)) == urls


def test_a_sample_smaller_than_the_number_of_strata_takes_the_largest() -> None:
    sizes = Counter({("a", "x"): 5, ("a", "y"): 9, ("b", "z"): 7})
    assert +allocation(sizes, 2) == {("a", "y"): 1, ("b", "z"): 1}


def test_a_sample_of_pages_with_a_directory_each_is_spread_over_the_file() -> None:
    slugs = [
        ListedUrl("a.xml", n, f"https://example.com/{chr(97 + n % 26)}{chr(97 + n // 26)}/", None) for n in range(600)
    ]
    pages = [url._replace(loc=f"{url.loc}x.html") for url in slugs]
    for urls in (slugs, pages):
        assert [url.line for url in sample(lambda urls=urls: urls, 6)] == [99, 199, 299, 399, 499, 599]


def test_the_number_of_strata_is_bounded() -> None:
    urls = [ListedUrl(f"{number}.xml", 1, "https://example.com/a", None) for number in range(3)]
    urls += [
        ListedUrl(
            "0.xml", 1, f"https://example.com/{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}/x", None
        )
        for n in range(MAX_STRATA + 100)
    ]
    assert len(list(sample(lambda: urls, MAX_STRATA + 50))) == MAX_STRATA + 50


@pytest.mark.parametrize(
    ("wrong", "checked", "total", "low", "high"),
    [
        # Wilson's interval, computed by hand: 50 of 100 gives 0.4038 to 0.5962.
        (50, 100, 10**9, 0.4038, 0.5962),
        (0, 100, 10**9, 0.0, 0.0370),
        (100, 100, 10**9, 0.9630, 1.0),
        # All URLs were checked: no doubt is left.
        (3, 30, 30, 0.1, 0.1),
        (0, 0, 10, 0.0, 1.0),
    ],
)
def test_the_interval_of_a_share(wrong: int, checked: int, total: int, low: float, high: float) -> None:
    assert interval(wrong, checked, total) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://e.org/blog/2024/a.html", "https://e.org/blog/2025/b.html", True),
        ("https://e.org/page12/a", "https://e.org/page7/b", True),
        ("https://e.org/blog/a", "https://e.org/shop/a", False),
        ("https://e.org/blog/a", "https://e.org/blog/a?x=1", False),
        ("https://e.org/blog/a.html", "https://e.org/blog/a.pdf", False),
        ("https://e.org/a", "https://e.org/b/c", False),
        ("https://e.org/a/", "https://e.org/b/", True),
        ("https://e.org/a/", "https://e.org/a/b/", False),
    ],
)
def test_the_shape_of_a_url(one: str, other: str, same: bool) -> None:
    assert (shape(one) == shape(other)) is same
