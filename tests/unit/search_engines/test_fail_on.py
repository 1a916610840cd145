"""The values of --fail-on, and the share of indexed pages that a sample tells."""

from __future__ import annotations

import pytest

from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.inventory.inspections import Coverage
from sitemap_crawler.search_engines.fail_on import Condition, parse_conditions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("errors", [("errors", None)]),
        ("errors,warnings", [("errors", None), ("warnings", None)]),
        (" pending:7 , stale:30,coverage:80.5", [("pending", 7), ("stale", 30), ("coverage", 80.5)]),
        ("pending:0", [("pending", 0)]),
        ("errors,errors", [("errors", None)]),
        ("coverage:100", [("coverage", 100)]),
    ],
)
def test_conditions(text: str, expected: list[tuple[str, float | None]]) -> None:
    assert parse_conditions(text) == tuple(Condition(*pair) for pair in expected)


@pytest.mark.parametrize(
    "text",
    [
        "", ",", "error", "errors,", "errors:1", "pending", "pending:", "pending:x", "pending:-1", "pending:1e3",
        "pending:99999", "stale:3651", "coverage:101", "coverage:nan", "coverage:٣", "errors warnings", "PENDING:1",
    ],
)  # fmt: skip
def test_bad_conditions(text: str) -> None:
    with pytest.raises(OptionError, match=r"^bad value '.*' for --fail-on: give ") as raised:
        parse_conditions(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("inspected", "of", "indexed", "percent"),
    [
        (0, 0, 0, None),
        (0, 500, 0, None),
        (30, 30, 12, 40.0),
        (29, 30, 12, None),
        (99, 1_000, 99, None),
        (100, 1_000, 50, 50.0),
        (100, 2_000, 100, 100.0),
        (100, 2_001, 100, None),
        (49_999, 1_000_000, 1, None),
        (50_000, 1_000_000, 0, 0.0),
        (50_000, 1_000_000, 1, 0.1),
        (50_000, 1_000_000, 49_999, 99.9),
        (50_000, 1_000_000, 50_000, 100.0),
        (300, 301, 100, 33.3),
    ],
)
def test_a_percentage_needs_a_hundred_pages_and_a_twentieth_of_the_site(
    inspected: int, of: int, indexed: int, percent: float | None
) -> None:
    assert Coverage(inspected, of, indexed=indexed).indexed_percent == percent
