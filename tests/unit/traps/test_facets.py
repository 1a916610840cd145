"""The budget of URLs whose parameters multiply."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from sitemap_crawler.traps.facets import FacetBudget, distinct

HOST = "https://www.example.com"


def admitted(urls: list[str], budget: int) -> int:
    facets = FacetBudget(budget)
    return sum(facets.admits(url) for url in urls)


def shuffled(urls: list[str]) -> list[str]:
    random.Random(7).shuffle(urls)
    return urls


@pytest.mark.parametrize("separator", ["&", ";"])
def test_sets_of_parameters_are_limited(separator: str) -> None:
    names = [f"facet{number}" for number in range(12)]
    sets = [chosen for size in range(1, 13) for chosen in combinations(names, size)]
    urls = [f"{HOST}/shop/shoes?{separator.join(f'{name}=1' for name in chosen)}" for chosen in sets]
    assert len(urls) == 4_095
    # 12 with one parameter, and 64 of the sets of two and more.
    assert admitted(urls, 5_000) == 12 + 64


def test_values_that_multiply_are_limited() -> None:
    choices = {"color": 20, "size": 10, "brand": 100, "sort": 4}
    urls = shuffled(
        [
            f"{HOST}/shop/{category}?" + "&".join(f"{name}={n}" for name, n in zip(choices, values, strict=True))
            for category in ("shoes", "hats")
            for values in product(*(range(count) for count in choices.values()))
        ]
    )
    assert len(urls) == 160_000
    assert 5_000 <= admitted(urls, 5_000) < 7_000


@pytest.mark.parametrize(
    "urls",
    [
        pytest.param([f"{HOST}/w/index.php?title=Page_{n}" for n in range(100_000)], id="mediawiki"),
        pytest.param(
            [
                f"{HOST}/w/index.php?title=Page_{n}&action={action}&section={n % 9}"
                for n in range(25_000)
                for action in ("edit", "history", "info", "raw")
            ],
            id="mediawiki-actions",
        ),
        pytest.param(
            shuffled(
                [
                    f"{HOST}/forum/viewtopic.php?f={topic % 30}&t={topic}&start={15 * part}"
                    for topic in range(1_000)
                    for part in range(100)
                ]
            ),
            id="phpbb-long-topics",
        ),
        pytest.param(
            [f"{HOST}/viewtopic.php?f={topic % 30}&t={topic}&start=15" for topic in range(100_000)], id="phpbb"
        ),
        pytest.param(
            [f"{HOST}/index.php?route=product/product&path={n % 20}_{n % 300}&product_id={n}" for n in range(60_000)],
            id="opencart",
        ),
        pytest.param([f"{HOST}/page/{n}" for n in range(60_000)], id="docs"),
        pytest.param([f"{HOST}/list?sort=name&page={n}" for n in range(60_000)], id="two-parameters"),
    ],
)
def test_what_identifies_pages_is_not_limited(urls: list[str]) -> None:
    assert admitted(urls, 100) == len(urls)


def test_many_sets_of_many_parameters_are_an_application() -> None:
    """Fifty modules with two parameters of their own: a hundred sets, a hundred names."""
    urls = [f"{HOST}/index.php?module=m{n % 50}&{kind}{n % 50}={n}" for n in range(5_000) for kind in ("id", "list")]
    assert admitted(urls, 5_000) == len(urls)


def test_counts_are_bounded() -> None:
    facets = FacetBudget(10)
    assert all(facets.admits(f"{HOST}/{number}/x?a=1&b=2&c=3") for number in range(30_000))
    assert len(facets._places._young) + len(facets._places._old) <= 20_000


def test_the_count_of_values_is_an_estimate() -> None:
    assert distinct(0) == 0
    assert distinct(0b1) == pytest.approx(1, abs=0.1)
    assert distinct(2**512 - 1) == float("inf")
