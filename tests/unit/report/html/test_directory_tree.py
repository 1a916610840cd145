"""The tree by directory: every URL is counted once, and what is folded is counted with the directory above."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.report.html.decision_groups import Group, no_counts
from sitemap_crawler.report.html.directory_tree import MAX_CHILDREN, MAX_LEVELS, MAX_NODES, DirectoryTree, TreeNode

SITE = "https://example.com/docs/"
BROKEN, LISTED = int(Group.BROKEN), int(Group.LISTED)


def tree(*urls: str, group: int = LISTED) -> TreeNode:
    builder = DirectoryTree(SITE)
    for url in sorted(urls):
        builder.add(url, group)
    return builder.finish()


def shape(node: TreeNode) -> object:
    return (node.label, sum(node.own), [shape(child) for child in node.children])


def test_directories_hold_their_pages() -> None:
    found = tree(SITE, f"{SITE}a", f"{SITE}b/", f"{SITE}b/one", f"{SITE}b/c/two", f"{SITE}b-c/three")
    assert shape(found) == (SITE, 2, [("b/", 2, [("c/", 1, [])]), ("b-c/", 1, [])])
    assert found.total == 6


def test_a_slash_in_the_query_makes_no_directory() -> None:
    assert shape(tree(f"{SITE}a?next=/x/y", f"{SITE}b/?c=/d/")) == (SITE, 1, [("b/", 1, [])])


def test_urls_elsewhere_are_below_their_origin() -> None:
    found = tree(f"{SITE}a", "https://blog.example.com/x/y", "https://blog.example.com/")
    assert shape(found) == (SITE, 1, [("https://blog.example.com/", 1, [("x/", 1, [])])])


def test_groups_are_counted_apart() -> None:
    builder = DirectoryTree(SITE)
    builder.add(f"{SITE}a/1", BROKEN)
    builder.add(f"{SITE}a/2", LISTED)
    builder.add(f"{SITE}a/b/3", BROKEN)
    found = builder.finish()
    expected = no_counts()
    expected[BROKEN], expected[LISTED] = 2, 1
    assert found.counts() == expected
    assert found.to_json() == [SITE, [], [["a/", [1, 0, 0, 0, 1], [["b/", [1]]]]]]


def test_the_largest_directories_are_shown_and_the_others_counted() -> None:
    urls = [f"{SITE}{number:03}/{page}" for number in range(100) for page in range(1 + (number >= 90))]
    found = tree(*urls)
    assert [child.label for child in found.children[:10]] == [f"{number:03}/" for number in range(90, 100)]
    assert len(found.children) == MAX_CHILDREN
    assert (found.folded, sum(found.folded_counts)) == (60, 60)
    assert found.total == len(urls)


def test_deep_and_long_names_count_as_pages_of_a_directory_above() -> None:
    deep = tree(SITE + "a/" * 30 + "page")
    levels = [node.label for node in deep.walk()]
    assert len(levels) == 1 + MAX_LEVELS
    assert deep.total == 1
    assert shape(tree(f"{SITE}a/{'x' * 500}/page")) == (SITE, 0, [("a/", 1, [])])


def test_the_tree_of_a_large_site_is_small() -> None:
    found = tree(*(f"{SITE}{a}/{b}/{c}/{d}" for a in range(30) for b in range(20) for c in range(5) for d in range(2)))
    assert found.total == 30 * 20 * 5 * 2
    assert len(list(found.walk())) <= MAX_NODES
    assert found.directories() == 1 + 30 + 30 * 20 + 30 * 20 * 5


names = st.text("ab/?-", max_size=12)


@given(st.sets(names, max_size=60))
def test_no_url_is_lost_or_counted_twice(paths: set[str]) -> None:
    found = tree(*(SITE + path for path in paths))
    assert found.total == len(paths) == sum(found.counts())
    assert sum(sum(node.own) + sum(node.folded_counts) for node in found.walk()) == len(paths)
