"""Which URLs may be refused for what other pages have shown."""

from __future__ import annotations

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.policy.rules import Rules

SITE = "https://example.com/"


@pytest.mark.parametrize(
    ("url", "options", "expected"),
    [
        ("list?sort=a", {}, True),
        ("list?sort=a", {"include": ["sort="]}, False),
        ("list?page=2&sort=a", {"include": ["sort="]}, True),
        ("list?page=2;sort=a", {"include": ["sort="]}, True),
        ("list?page=2;sort=a", {"include": ["page=2;sort="]}, False),
        ("list?page=2&sort=a", {"include": ["page=2&sort="]}, False),
        ("list?page=2", {"include": ["/list"]}, True),
        ("list", {"include": ["/list"]}, True),
        ("list?sort=a", {"no_traps": ["sort="]}, False),
        ("list?sort=a", {"trap_budget": 0}, False),
    ],
)
def test_an_include_pattern_that_needs_the_parameters_of_a_url_exempts_it(
    url: str, options: dict[str, object], expected: bool
) -> None:
    parsed = Options.parse({"start_url": SITE, **options})
    rules = Rules(parsed, sitemap_url=parsed.entry_url, start_url=SITE)
    assert rules.learns_traps(SITE + url) is expected
