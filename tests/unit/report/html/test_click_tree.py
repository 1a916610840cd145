"""The tree by clicks: below each page the pages to which it led first."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.report.html.click_tree import WITHOUT_PATH, ClickTree
from sitemap_crawler.report.html.decision_groups import Group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.report.html.directory_tree import TreeNode

LISTED = int(Group.LISTED)


def names(ids: Iterable[int]) -> dict[int, str]:
    return {page: f"/{page}" for page in ids}


def tree(referrers: dict[int, int | None], *, start: int | None = 1) -> TreeNode | None:
    builder = ClickTree(max(referrers, default=0), start)
    for page, referrer in referrers.items():
        builder.add(page, referrer, LISTED)
    return builder.finish(names)


def shape(node: TreeNode | None) -> object:
    assert node is not None
    return (node.label, sum(node.own), [shape(child) for child in node.children])


def test_pages_stand_below_the_page_that_led_to_them() -> None:
    referrers = {1: None, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4}
    # 3, 5 and 6 lead no further, so the page above counts them; each page also counts itself.
    assert shape(tree(referrers)) == ("/1", 2, [("/2", 2, [("/4", 2, [])])])


def test_pages_without_clicks_are_counted_apart() -> None:
    assert shape(tree({1: None, 2: 1, 7: None, 8: 7})) == ("/1", 2, [(WITHOUT_PATH, 2, [])])


def test_a_circle_of_referrers_ends() -> None:
    assert shape(tree({1: None, 2: 3, 3: 2})) == ("/1", 1, [(WITHOUT_PATH, 2, [])])


@pytest.mark.parametrize("start", [None, 9])
def test_without_a_start_page_there_is_no_tree(start: int | None) -> None:
    builder = ClickTree(9, start)
    builder.add(2, None, LISTED)
    assert builder.finish(names) is None


def test_no_page_is_lost_on_a_large_site() -> None:
    dice = random.Random(1)
    referrers: dict[int, int | None] = {1: None} | {page: dice.randrange(1, page) for page in range(2, 5_000)}
    found = tree(referrers)
    assert found is not None
    assert found.total == len(referrers)
    assert sum(sum(node.own) + sum(node.folded_counts) for node in found.walk()) == len(referrers)
