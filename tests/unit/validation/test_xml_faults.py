"""What is wrong with a document that is no XML: said in the words of the fault, at its place."""

from __future__ import annotations

import pytest

from sitemap_crawler.validation.findings import Issue
from sitemap_crawler.validation.reading.reader import read_xml
from tests.support.sitemap_documents import CORE, LOC, at, page

HEAD = '<?xml version="1.0"?>'
IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
NOT = "is not well-formed XML: it "
FAULTS: dict[str, tuple[str, ...]] = {
    "known prefix": (
        f'<urlset xmlns="{CORE}"><url><image:image/></url></urlset>',
        "uses the prefix image:, which it does not declare", f'xmlns:image="{IMAGE}" in the first element',
    ),
    "unknown prefix": (page("<o:a/>"), "uses the prefix o:, which it does not declare"),
    "prefix of an attribute": (
        f'<urlset xmlns="{CORE}" xsi:schemaLocation="a b"/>',
        "uses the prefix xsi:, which it does not declare", f'xmlns:xsi="{XSI}" in the first element',
    ),
    "line before the declaration": (f"\n{HEAD}{at('https://e.com/')}", "has something before <?xml \u2026?>"),
    "declaration in the middle": (page(HEAD), "has a second <?xml \u2026?>"),
    "cut in a text": (f'<urlset xmlns="{CORE}"><url>{LOC}', "ends within <url>"),
    "cut in a tag": (f'<urlset xmlns="{CORE}"><url><loc', "ends within a tag, a comment or a character, within <url>"),
    "ampersand": (at("https://e.com/?a=1&b=2"), "has an & that begins no reference", "&amp;"),
    "ampersand and a blank": (at("https://e.com/ & b"), "has an & that begins no reference", "&amp;"),
    "less than": (at("https://e.com/a<b"), "has a < that begins no tag", "&lt;"),
    "less than and a blank": (at("https://e.com/ < b"), "has a < that begins no tag", "&lt;"),
    "entity of HTML": (at("https://e.com/&nbsp;"), "uses &nbsp;, which XML does not know", "&#160;"),
    "control character": (at("https://e.com/\x01"), "has the control character U+0001"),
    "reference to a control character": (at("https://e.com/&#1;"), "refers to a character that XML does not allow"),
    "other end tag": (page("").replace("</loc>", "</lco>"), NOT + "has </lco> in the place of </loc>"),
    "attribute without quotation marks": (
        f"<urlset xmlns={CORE}></urlset>", NOT + "has an attribute without quotation marks",
    ),
    "two documents": (at("https://e.com/") * 2, NOT + "goes on after the end of its root element"),
    "white space": (" \n", NOT + "has no element"),
    "attribute twice": (f'<urlset xmlns="{CORE}" a="1" a="2"/>', "is not well-formed XML: duplicate attribute"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_fault_is_named_however_the_document_arrives(name: str, size: int) -> None:
    document, message, *replacement = FAULTS[name]
    data = document.encode()
    [*_, found] = read_xml([data[position : position + size] for position in range(0, len(data), size)])
    assert isinstance(found, Issue)
    assert (found.message, found.replacement) == (message, *(replacement or [None]))
