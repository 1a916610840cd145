"""The parameters of URLs, and the URLs with fewer of them."""

from __future__ import annotations

import pytest

from sitemap_crawler.urls.parameters import number_of, simpler_urls, simplicity, urls_without_one


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/list", ["/list"]),
        ("/list?a=1", ["/list"]),
        ("/list?a=1&b", ["/list?a=1", "/list?b"]),
        ("/list?a=1;b=2&c=3", ["/list?a=1;b=2", "/list?a=1&c=3", "/list?b=2&c=3"]),
        ("/list?a=1&&b=2", ["/list?a=1&", "/list?a=1&b=2", "/list?&b=2"]),
    ],
)
def test_a_url_without_each_of_its_parameters(url: str, expected: list[str]) -> None:
    assert list(urls_without_one(url)) == expected


def test_simpler_urls() -> None:
    pairs = ["/?a=1&b=2", "/?a=1&c=3", "/?b=2&c=3"]
    assert list(simpler_urls("/?a=1;b=2&c=3")) == ["/?a=1", "/?b=2", "/?c=3", *pairs]
    assert list(simpler_urls("/?a=1")) == list(simpler_urls("/")) == []


def test_a_number_is_the_same_for_any_order_and_separator() -> None:
    assert len({number_of(url) for url in ("/?a=1&b=2", "/?b=2&a=1", "/?b=2;a=1")}) == 1
    assert len({number_of(url) for url in ("/?a=1&b=2", "/?a=1", "/?a=1&b=3", "/x?a=1&b=2")}) == 4


def test_the_simplest_url_has_the_fewest_parameters() -> None:
    complex_first = ["/?a=1&b=22", "/?a=1;b=2", "/?a=12", "/?a=1", "/a-long-path", "/a"]
    assert sorted(complex_first, key=simplicity) == complex_first[::-1]
