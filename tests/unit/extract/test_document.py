from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.extract.alternates import find_alternates
from sitemap_crawler.extract.content.fingerprint import fingerprint
from sitemap_crawler.extract.document import BLOCK_TAGS, COLLECTED_TAGS, collect_elements, parse_document, slice_within
from sitemap_crawler.extract.indexability import find_canonical, robots_directives
from sitemap_crawler.extract.links import find_links
from tests.support.reading_page import RESOLVER, URL, page


def hrefs(document):
    return [element.get("href") for element in document.all("a")]


# markup


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ('href="x?a=1&sect=2"', "x?a=1&sect=2"),
        ('href="x?a=1&copy=3&para1=4"', "x?a=1&copy=3&para1=4"),
        ('href="x?a=1&amp;sect=2"', "x?a=1&sect=2"),
        ('href="x?a=1&AMP;b=2"', "x?a=1&b=2"),
        ('href="x?a&#38;b"', "x?a&b"),
        ('href="x&sect;"', "x§"),
        ('HREF="Mixed"', "Mixed"),
        ("href=unquoted/path/", "unquoted/path/"),
        ("href='single \"quoted\"'", 'single "quoted"'),
        ('href="a\n b"', "a\n b"),
        ('href="first" href="second"', "first"),
        ('href="&#xD800;"', "\ufffd"),
        ("href", ""),
    ],
)
def test_attribute_values_follow_html5(attribute, value):
    assert hrefs(page(f"<a {attribute}>x</a>")) == [value]


def test_collects_elements_in_document_order_whatever_their_case():
    document = page("<HTML><BODY><A HREF=1></A><p><a href=2></a></p><IMG SRC=i><aReA href=3></BODY></HTML>")
    assert hrefs(document) == ["1", "2"]
    assert [element.get("src") for element in document.all("img")] == ["i"]
    assert [element.get("href") for element in document.all("area")] == ["3"]
    assert document.all("video") == []
    assert set(document.elements) == {"html", "a", "img", "area"} <= set(COLLECTED_TAGS)


def test_comments_scripts_and_text_areas_hold_no_elements():
    document = page(
        "<!-- <a href=1> --><?php <a href=2> ?><script>'<a href=3>'</script><style><a href=4></style>"
        "<textarea><a href=5></textarea><title><a href=6></title><a href=7>"
    )
    assert hrefs(document) == ["7"]


XHTML = "application/xhtml+xml; charset=utf-8"
NAMESPACE = "http://www.w3.org/1999/xhtml"
PREFIXED = """<?xml version="1.0" encoding="utf-8"?>
<h:html xmlns:h="http://www.w3.org/1999/xhtml" xmlns:svg="http://www.w3.org/2000/svg">
  <h:head>
    <h:title>Prefixed</h:title>
    <h:meta name="robots" content="noindex, nofollow"/>
    <h:link rel="canonical" href="/docs/canonical"/>
    <h:link rel="alternate" hreflang="de" href="/de/page"/>
    <h:script src="/s.js"/>
  </h:head>
  <h:body><h:p><h:a href="one">one</h:a> <h:A href="capital">no element of XHTML, read as one</h:A></h:p>
    <svg:a href="drawing">of another vocabulary</svg:a> <x:a href="undeclared">undeclared</x:a>
  </h:body>
</h:html>"""


def test_elements_of_xhtml_with_a_prefix_are_read():
    document = page(PREFIXED, content_type=XHTML)
    assert hrefs(document) == ["one", "capital"]
    assert robots_directives(document, ()).noindex is True
    assert find_canonical(document, (), url=URL, resolve=RESOLVER.resolve).url == "https://example.com/docs/canonical"
    alternates = find_alternates(document, {}, url=URL, resolve=RESOLVER.resolve)
    assert alternates.valid == (("de", "https://example.com/de/page"),)
    assert find_links(document, (), max_links=50_000).follow == (
        "https://example.com/docs/one",
        "https://example.com/docs/capital",
        "https://example.com/de/page",
    )
    plain = page(PREFIXED.replace("<h:", "<").replace("</h:", "</").replace(":h=", "="), content_type=XHTML)
    assert fingerprint(document) == fingerprint(plain)


@pytest.mark.parametrize(
    ("start", "content_type", "expected"),
    [
        ('<html xmlns:p="http://www.w3.org/1999/xhtml"><p:a href="1"/>', XHTML, ["1"]),
        ("<html xmlns:p = 'http://www.w3.org/1999/xhtml'><p:a href='1'/>", XHTML, ["1"]),
        ('<p:html\nxmlns:p="http://www.w3.org/1999/xhtml"><p:a href="1"></p:a>', "Application/XHTML+XML", ["1"]),
        (
            f'<q:html xmlns:q="{NAMESPACE}" xmlns:r="{NAMESPACE}"><r:a href="1"/><q:a href="2"/>',
            XHTML,
            ["1", "2"],
        ),
        # In HTML a prefix is a part of the name: https://html.spec.whatwg.org/multipage/xhtml.html
        ('<html xmlns:p="http://www.w3.org/1999/xhtml"><p:a href="1"/>', "text/html", []),
        ('<html xmlns:p="http://www.w3.org/2000/svg"><p:a href="1"/>', XHTML, []),
        ('<html><p:a href="1"/>', XHTML, []),
    ],
)
def test_a_prefix_counts_when_xhtml_declares_it(start, content_type, expected):
    assert hrefs(page(start, content_type=content_type)) == expected


def test_many_declared_prefixes_are_bounded():
    many = " ".join(f'xmlns:p{n}="http://www.w3.org/1999/xhtml"' for n in range(4_000))
    document = page(f'<html {many}><p0:a href="1"/><p3999:a href="2"/><a href="3"/>', content_type=XHTML)
    assert hrefs(document) == ["1", "3"]


def test_reads_xhtml():
    document = page(
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
        '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html xmlns="http://www.w3.org/1999/xhtml" lang="en">'
        '<head><title>T</title><link rel="next" href="n" /></head><body><p><a href="a" /></p></body></html>',
        content_type="application/xhtml+xml",
    )
    assert hrefs(document) == ["a"]
    assert [element.get("href") for element in document.all("link")] == ["n"]


@pytest.mark.parametrize("body", [b"", b" \n\t", b"<!-- only this -->", b"<!doctype html>"])
def test_nothing_to_parse_is_none(body):
    assert parse_document(body, url=URL, content_type="text/html", resolver=RESOLVER) is None


# base


@pytest.mark.parametrize(
    ("markup", "base"),
    [
        ("<p>none", URL),
        ('<base href="/other/">', "https://example.com/other/"),
        ('<base href="https://cdn.example.net/x/">', "https://cdn.example.net/x/"),
        ('<base target="_blank"><base href="sub/">', "https://example.com/docs/sub/"),
        ('<base href="javascript:0"><base href="data:,"><base href="/usable/">', "https://example.com/usable/"),
        ('<base href=""><base href="/a/"><base href="/b/">', "https://example.com/a/"),
        ('<base href="http://[">', URL),
    ],
)
def test_base_is_the_first_usable_one(markup, base):
    assert page(markup).base == base


@pytest.mark.parametrize("path", ["d" * 9_000 + "/", "d/" * 5_000, "d" * 9_000, "d/?" + "q" * 9_000, "%41/" * 9_000])
def test_a_base_that_is_too_long_is_shortened(path):
    document = page(f'<base href="/{path}"><p>')
    assert 8_192 < len(document.base) < 8_200
    assert document.resolve("/b") == "https://example.com/b"
    assert document.resolve("http://example.net/") == "http://example.net/"
    if path.endswith("/"):
        assert len(document.resolve("b")) > 8_192


def test_the_longest_base_is_kept():
    base = "https://example.com/" + "d" * 8_171 + "/"
    assert page(f"<base href={base}>").base == base
    assert len(page(f"<base href={base[:-1]}d/>").base) == 8_193


def test_resolves_against_the_base_in_the_charset_of_the_page():
    document = page('<base href="/b/"><p>', content_type="text/html; charset=windows-1252")
    assert document.resolve("x?q=é") == "https://example.com/b/x?q=%E9"
    assert document.resolve("mailto:a@example.com") is None


# hostile pages


def test_links_below_the_limit_of_depth_are_found():
    document = page("<div>" * 1_900 + "<a href=1>" + "</div>" * 1_900 + "<a href=2>")
    assert hrefs(document) == ["1", "2"]
    assert not document.is_cut_off


@pytest.mark.parametrize("depth", [2_100, 5_000, 50_000])
def test_deeper_nesting_is_reported(depth):
    document = page("<a href=0></a>" + "<div>" * depth + "<a href=1>")
    assert hrefs(document) == ["0"]
    assert document.is_cut_off


def test_a_megabyte_in_an_attribute():
    long = "x" * 1_000_000
    assert hrefs(page(f'<a href="{long}">1</a><a href="2">')) == [long, "2"]


def test_a_hundred_thousand_links():
    document = page("".join(f"<a href={n}>" for n in range(100_000)))
    assert hrefs(document)[::50_000] == ["0", "50000"]
    assert len(document.all("a")) == 100_000


@given(st.binary(max_size=300), st.text(max_size=40))
def test_no_body_raises(body, content_type):
    parse_document(body, url=URL, content_type=content_type, resolver=RESOLVER)


SOUP = ['<a href="', "'>", '">', "<", "\0", "<!--", "-->", "<base href=", "&#", "\ud800", "é"]


@given(st.lists(st.sampled_from(SOUP)))
def test_no_soup_raises(pieces):
    body = "".join(pieces).encode("utf-8", "surrogatepass")
    parse_document(body, url=URL, content_type="text/html", resolver=RESOLVER)


@pytest.mark.parametrize("end", ["</html>", "</HTML >", "</Html>", "</body></html><!-- cached -->", "</html></html>"])
def test_markup_after_the_end_tag_belongs_to_the_page(end):
    document = page(f"<html><body><a href=1>{end}<a href=2><html><meta name=robots content=noindex>")
    assert hrefs(document) == ["1", "2"]
    assert [element.get("content") for element in document.all("meta")] == ["noindex"]


@pytest.mark.parametrize("end", ["</html ", "</html", "</html <a href=3"])
def test_unfinished_end_tag_is_dropped(end):
    assert hrefs(page(f"<html><body><a href=1></html><a href=2>{end}")) == ["1", "2"]


# elements


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
    elements, blocks = collect_elements(root)
    assert blocks == list(root.iter(*BLOCK_TAGS))
    assert elements == {tag: found for tag in COLLECTED_TAGS if (found := list(root.iter(tag)))}


@given(_TREES, st.sampled_from(["a", "div", "img"]))
def test_a_slice_holds_the_elements_inside_the_root(tree, tag: str) -> None:
    root = grown(tree)
    everywhere = list(root.iter(tag))
    for element in root.iter():
        inside = list(element.iter(tag))
        if inside:
            assert everywhere[slice_within(element, everywhere, inside[0])] == inside


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
def test_elements_next_to_the_main_content_are_not_in_it(before: str, after: str) -> None:
    pages = [page((before + after).replace("@", f"/{number}")) for number in range(2)]
    assert fingerprint(pages[0]) == fingerprint(pages[1])
