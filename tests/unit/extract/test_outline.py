"""What one walk over a page finds, against a walk for each question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.extract.content.fingerprint import fingerprint
from sitemap_crawler.extract.outline import BLOCKS, COLLECTED, outline, span
from tests.support.reading_page import page

_TAGS = st.sampled_from(["div", "section", "p", "a", "img", "main"])
_TREES = st.recursive(_TAGS.map(lambda tag: (tag, [])), lambda inner: st.tuples(_TAGS, st.lists(inner, max_size=5)))


def grown(tree: tuple[str, list]) -> etree._Element:
    tag, children = tree
    element = etree.Element(tag)
    element.extend(map(grown, children))
    return element


@given(_TREES)
def test_groups_are_in_document_order(tree) -> None:
    root = grown(tree)
    elements, blocks = outline(root)
    assert blocks == list(root.iter(*BLOCKS))
    assert elements == {tag: found for tag in COLLECTED if (found := list(root.iter(tag)))}


@given(_TREES, st.sampled_from(["a", "div", "img"]))
def test_a_span_is_what_is_in_the_element(tree, tag: str) -> None:
    root = grown(tree)
    everywhere = list(root.iter(tag))
    for element in root.iter():
        inside = list(element.iter(tag))
        if inside:
            assert everywhere[span(element, everywhere, inside[0])] == inside


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<nav><a href="@">x</a></nav><div id=main-content><a href=1>y</a></div>', '<a href="@">z</a>'),
        ("<nav><img src=@></nav><div id=main-content><img src=1>y</div>", "<img src=@>"),
        ("<div><img src=@></div><div id=main-content><img src=1><area href=2>y</div>", "<area href=@>"),
        ("<div class=@>x</div><main><a href=1>y</a><div>z</div></main>", "<main><a href=@>y</a></main>"),
        ("<div id=main-content>only words</div>", "<a href=@>x</a><img src=@>"),
    ],
)
def test_what_is_beside_the_main_content_is_not_in_it(before: str, after: str) -> None:
    pages = [page((before + after).replace("@", f"/{number}")) for number in range(2)]
    assert fingerprint(pages[0]) == fingerprint(pages[1])
