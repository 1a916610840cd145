"""Reader of entries: entries that expat does not see are the same as those that it sees."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_crawler.validation.findings import Issue
from sitemap_crawler.validation.reading.reader import Node, PlainRun, nodes_of, read_xml
from tests.support.sitemap_documents import CORE, SPACES, urlset

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAIN = "<url><loc>https://example.com/?a=1&amp;b=2</loc><lastmod>2024-01-01</lastmod></url>"
SPREAD = (
    "<url>\n  <loc>https://example.com/a</loc>\r\n\t<lastmod>2024-01-01T10:00:00+01:00</lastmod>\n"
    "  <changefreq>daily</changefreq>\r<priority>0.5</priority>\n</url>"
)
PARTS = [
    PLAIN,
    SPREAD,
    PLAIN * 3,
    "<url><loc>https://example.com/b</loc></url >",
    "<url ><loc>https://example.com/c</loc></url>",
    "<url/>",
    "<url></url>",
    "<url><loc/></url>",
    "<url><loc></loc></url>",
    "<url><loc>https://example.com/d</loc><loc>https://example.com/e</loc></url>",
    "<url><lastmod>2024</lastmod><loc>https://example.com/f</loc></url>",
    "<url><loc>https://example.com/é</loc></url>",
    "<url><loc>https://example.com/&#97;&lt;&quot;&amp;amp;</loc></url>",
    "<url><loc>https://example.com/&amp</loc></url>",
    "<url><loc>https://example.com/?a&b</loc></url>",
    "<url><loc>https://example.com/]]></loc></url>",
    "<url><loc><![CDATA[https://example.com/</url>]]></loc></url>",
    "<url><loc>https://example.com/g<!-- </loc></url> --></loc></url>",
    "<url><loc>https://example.com/h</loc><!-- </url> --><priority>1</priority></url>",
    "<url><loc>https://example.com/i</loc><image:image><image:loc>https://e.com/i</image:loc></image:image></url>",
    "<url xmlns='urn:other'><loc>https://example.com/j</loc></url>",
    "<url><priority>1</priority></url>",
    "<url>text<loc>https://example.com/k</loc></url>",
    "<s:url xmlns:s='" + CORE + "'><s:loc>https://example.com/l</s:loc></s:url>",
    "<s:url xmlns:s='" + CORE + "'>" + PLAIN + "</s:url>",
    "<other:url>" + PLAIN + "</other:url>",
    "<url>" + PLAIN + "</url>",
    "<!-- " + PLAIN + " -->",
    "<![CDATA[" + PLAIN + "]]>",
    "<?note " + PLAIN + "?>",
    "<!---->",
    "<!-- -- -->",
    "text",
    "\n text \r\n\n",
    "<!-- \n\n -->",
    " \n\t\r\n\r",
    "</url>",
    "</urlset>",
    "<urlset>",
    "<url><loc>https://example.com/" + "m" * 12_000 + "</loc></url>",
    "<url><loc>https://example.com/n",
    "&unknown;",
    "\x01",
]
HEADS = [
    f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {SPACES}>',
    f"<urlset xmlns='{CORE}'>",
    f"<urlset xmlns='{CORE}' xmlns:s='{CORE}'>\n",
    f"<s:urlset xmlns:s='{CORE}'>",
    f"<s:urlset xmlns='{CORE}' xmlns:s='{CORE}'>",
    f"<s:urlset xmlns='urn:other' xmlns:s='{CORE}'>",
    "<urlset>",
    f"<sitemapindex xmlns='{CORE}'>",
    f"<!-- <urlset xmlns='{CORE}'> --><rss><channel xmlns='{CORE}'>",
    f"<!DOCTYPE urlset><urlset xmlns='{CORE}'>",
    f"\ufeff<urlset xmlns='{CORE}'>",
    f"<?xml version='1.0' encoding='ascii'?><urlset xmlns='{CORE}'>",
]
TAILS = ["</urlset>", "\n</urlset>\n", "", "</url", "</urlset>" + PLAIN, "</s:urlset>"]


def plain(item: Node | Issue) -> Any:
    """Return the item as a value. The white space between the elements of an entry has no meaning."""
    if isinstance(item, Issue):
        return item
    text = item.text.strip(" \t\r\n") if item.children else item.text
    return (item.namespace, item.name, item.line, item.attributes, text, [plain(child) for child in item.children])


def by_expat(chunks: Sequence[bytes]) -> list[Any]:
    items = list(read_xml(chunks, leaves_out_plain=False))
    assert not any(isinstance(item, PlainRun) for item in items)
    return [plain(item) for item in items if not isinstance(item, PlainRun)]


def by_both(chunks: Sequence[bytes]) -> list[Any]:
    values = []
    for item in read_xml(chunks):
        values += [plain(node) for node in nodes_of(item)] if isinstance(item, PlainRun) else [plain(item)]
    return values


def without_lines_of_text(values: list[Any]) -> list[Any]:
    """Return the values without lines of stray texts: expat passes a text on when something follows, perhaps an error.

    In other documents than broken ones the lines are the same.
    """
    return [
        value._replace(line=None) if isinstance(value, Issue) and value.rule == "stray-text" else value
        for value in values
    ]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % len(data) for place in places}), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges) if start < end]


documents = st.builds(
    lambda head, parts, tail: (head + "".join(parts) + tail).encode(),
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(PARTS) | st.just(PLAIN) | st.just("\n"), max_size=12),
    st.sampled_from(TAILS),
)


@settings(deadline=None, max_examples=300)
@given(documents, st.lists(st.integers(0, 10**6), max_size=12))
def test_made_documents_are_the_same_with_and_without_expat(data: bytes, places: list[int]) -> None:
    chunks = cut(data, places)
    assert by_both(chunks) == by_expat(chunks)


@settings(deadline=None, max_examples=300)
@given(documents, st.integers(0, 10**6), st.binary(max_size=6) | st.sampled_from([b"<", b">", b"&", b"\r", b"]]>"]))
def test_mutated_documents_are_the_same_with_and_without_expat(data: bytes, place: int, noise: bytes) -> None:
    place %= len(data)
    for changed in (data[:place] + noise + data[place:], data[:place] + data[place + len(noise) + 1 :] or b" "):
        assert without_lines_of_text(by_both([changed])) == without_lines_of_text(by_expat([changed]))


@pytest.mark.parametrize("part", [PLAIN + SPREAD, "<!--</url>-->" + PLAIN, "<![CDATA[</url>" + PLAIN + "]]>" + PLAIN])
def test_pieces_end_at_every_byte(part: str) -> None:
    data = (HEADS[0] + PLAIN + part + PLAIN + "<url/></urlset>").encode()
    whole = by_expat([data])
    for place in range(1, len(data)):
        assert by_both([data[:place], data[place:]]) == whole
    assert by_both([bytes([byte]) for byte in data]) == whole


def test_plain_entries_are_read_without_expat() -> None:
    data = urlset((PLAIN + "\n" + SPREAD) * 500).encode()
    items = list(read_xml([data]))
    runs = [item for item in items if isinstance(item, PlainRun)]
    assert len(items) == 3  # the root, the first entry, all others
    assert sum(run.end - run.start for run in runs) > 0.99 * len(data) - 500


ERRORS = [
    ("after one line", PLAIN * 3 + "<url>&", 1),
    ("after lines", f"\n{PLAIN}\n{PLAIN}\n  {PLAIN}{PLAIN}<url></loc>", 4),
    ("carriage returns", f"\r{PLAIN}\r\n{PLAIN}\r{PLAIN}<url></loc>", 4),
]


@pytest.mark.parametrize(("body", "line"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_an_error_has_its_line_and_column(body: str, line: int) -> None:
    text = HEADS[1] + body + "</urlset>"
    [found] = [item for item in read_xml([text.encode()]) if isinstance(item, Issue)]
    assert found.rule in {"not-well-formed", "unescaped-character"}
    assert found.line == line
    assert found.column is not None
    place = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[line - 1][found.column - 1 :]
    assert place.startswith(("<", "loc>")), place


@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_bytes_that_are_not_utf8_have_their_line_and_column(size: int) -> None:
    data = (HEADS[1] + f"\r\n{PLAIN}\r\né<!--ü-->").encode() + b"\xe9</urlset>"
    items = list(read_xml([data[start : start + size] for start in range(0, len(data), size)]))
    found = items[-1]
    assert isinstance(found, Issue)
    assert (found.rule, found.line, found.column) == ("not-utf-8", 3, 10)
    assert len(items) == 4  # the root, the entry, the text, the bytes
