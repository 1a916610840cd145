"""The charset of a page, the limits of the parser, and its use of memory."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from w3lib.encoding import html_body_declared_encoding

from sitemap_crawler.extract.parser import (
    MAX_ATTRIBUTES,
    MAX_REFERENCES,
    MAX_TREE_BYTES,
    decide_charset,
    without_tag_flood,
)
from tests.support.growth import assert_linear
from tests.support.reading_page import page

TEXT = "Größe: 10 €"

FAULTS = """
import resource
from sitemap_crawler.extract.document import parse_document
from sitemap_crawler.urls.normalise import Resolver

def parse(times):
    for _ in range(times):
        parse_document(body, url="https://example.com/", content_type="text/html", resolver=resolver)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

body, resolver = b"<p class=x>text <a href=y>z</a></p>" * 2_000, Resolver()
before = parse(5)
print(parse(20) - before)
"""


def hrefs(document):
    return [element.get("href") for element in document.all("a")]


def paragraph(document):
    return document.root.findtext(".//p")


# charset


@pytest.mark.parametrize(
    ("body", "content_type", "charset"),
    [
        # a BOM wins over the header, the header over the markup
        (b"\xef\xbb\xbf<p>" + TEXT.encode(), "text/html; charset=iso-8859-1", "utf-8"),
        (("\ufeff<p>" + TEXT).encode("utf-16-le"), "text/html; charset=utf-8", "utf-16-le"),
        (("\ufeff<p>" + TEXT).encode("utf-16-be"), "text/html", "utf-16-be"),
        (("<p>" + TEXT).encode("utf-16-le"), "text/html; charset=UTF-16", "utf-16-le"),
        (("<p>" + TEXT).encode("utf-16-be"), "text/html; charset=utf-16be", "utf-16-be"),
        (("<meta charset=utf-8><p>" + TEXT).encode("cp1252"), 'text/html; charset="ISO-8859-1"', "cp1252"),
        (("<p>" + TEXT).encode("iso8859-15"), "text/html;CHARSET=ISO-8859-15", "iso8859-15"),
        # markup
        (("<meta charset=windows-1252><p>" + TEXT).encode("cp1252"), "text/html", "cp1252"),
        (("<META CHARSET='Latin1'><p>" + TEXT).encode("cp1252"), "text/html", "cp1252"),
        (
            ('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-15"><p>' + TEXT).encode(
                "iso8859-15"
            ),
            "text/html",
            "iso8859-15",
        ),
        (('<?xml version="1.0" encoding="iso-8859-15"?><p>' + TEXT).encode("iso8859-15"), "text/html", "iso8859-15"),
        (("<meta charset=utf-16><p>" + TEXT).encode(), "text/html", "utf-8"),
        (("<!-- <meta charset=koi8-r> --><p>" + TEXT).encode(), "text/html", "utf-8"),
        # neither
        (("<p>" + TEXT).encode(), "text/html", "utf-8"),
        (("<p>" + TEXT).encode("cp1252"), "text/html", "cp1252"),
        (("<p>" + TEXT).encode(), "", "utf-8"),
        # unusable labels, one of them a Python codec that is no charset of the web
        (("<p>" + TEXT).encode(), "text/html; charset=bogus", "utf-8"),
        (("<p>" + TEXT).encode(), "text/html; charset=unicode_escape", "utf-8"),
        (("<meta charset=zlib><p>" + TEXT).encode(), "text/html; charset=punycode", "utf-8"),
        (("<meta charset=utf-8><p>" + TEXT).encode(), "text/html; charset=", "utf-8"),
    ],
)
def test_decodes_the_page_with_the_charset_it_is_in(body, content_type, charset):
    document = page(body, content_type=content_type)
    assert document.charset == charset
    assert paragraph(document) == TEXT


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("shift_jis", "cp932", "日本語"),
        ("euc-jp", "euc_jp", "日本語"),
        ("iso-2022-jp", "iso2022_jp", "日本語"),
        ("gb2312", "gb18030", "中文"),
        ("big5", "big5hkscs", "中文"),
        ("euc-kr", "cp949", "한국어"),
        ("windows-1251", "cp1251", "Привет"),
        ("koi8-r", "koi8-r", "Привет"),
        ("windows-874", "cp874", "ไทย"),
    ],
)
def test_decodes_other_scripts(label, codec, text):
    document = page(f"<p>{text}".encode(codec), content_type=f"text/html; charset={label}")
    assert (document.charset, paragraph(document)) == (codec, text)


def test_a_body_cut_off_inside_a_character_is_still_utf_8():
    assert page(b"<p>\xc3\xa9</p><p>\xe2\x82", content_type="text/html").charset == "utf-8"


@pytest.mark.parametrize("charset", ["utf-8", "shift_jis", "gb18030", "us-ascii", "windows-1252", "euc-jp"])
def test_invalid_bytes_lose_no_links(charset):
    body = b"<p>\x81\xff\xff</p><a href=one>1</a><p>\xff\xfe\x80</p><a href=two>2</a>"
    assert hrefs(page(body, content_type=f"text/html; charset={charset}")) == ["one", "two"]


def test_nul_bytes_lose_no_links():
    assert hrefs(page(b"\0<p>a\0b</p>\0<a href=one>\0</a><a href=two>")) == ["one", "two"]


_declarations = st.lists(
    st.sampled_from(
        [
            *("<!doctype html>", "<!--", "-->", "<html lang=en>", "< ", "<", ">", "/>", '"', "'", " ", "=", "x", "<p>"),
            *("<title>T</title>", "<body>", "< body", "<meta", "< META ", "<meta name=a content='>'>", " " * 4_060),
            *(
                '<meta charset="koi8-r">',
                "<meta charset=cp866 />",
                '<meta charset="big5" x>',
                '<meta charset="cp874"/>',
            ),
            *('<meta http-equiv="Content-Type" content="text/html; charset=euc-jp">', '<?xml version="1.0"?>'),
            *('<META http-equiv="content-type" CONTENT="text/html;charset=gbk" charset="x">', '<meta charset="bogus">'),
            *('<?xml version="1.0" encoding="iso-8859-2"?>', '<?xml version="1.0" encoding="koi8-u" x<'),
        ]
    ),
    max_size=6,
).map("".join)


@given(_declarations)
@example('<meta charset="utf-8')
@example(" " * 4_075 + '<meta charset="koi8-r">')
def test_the_usual_declarations_are_read_as_all_others_are(markup):
    declared = html_body_declared_encoding(markup.encode())
    expected = {"ascii": "cp1252", None: "utf-8"}.get(declared, declared)
    assert decide_charset(markup.encode(), "") == expected


# limits


@pytest.mark.slow
@pytest.mark.parametrize("template", [" a{}=1", ' a{}=">"', "/a{}", '"a{}="x"', " =a{}", "\n a{} = '<p>'"])
def test_a_flood_of_attributes_ends_the_page_there(template):
    def markup(count):
        return f"<a href=1></a><a x='0'{''.join(map(template.format, range(count)))}></a><a href=2>"

    # The parser compares each attribute with all others: without the limit it takes a minute and more.
    assert_linear(lambda n: markup(n(200_000)), page)
    document = page(markup(200_000))
    assert hrefs(document) == ["1"]
    assert document.is_cut_off


@pytest.mark.parametrize("value", ['=">"', "='>'", " = \n'>'", "='\">'", '="\'>"', "=x'\" y='>\">'"])
def test_a_flood_that_looks_like_several_tags_is_found(value):
    flood = "".join(f" a{n}" if n % 1_000 else f" a{n}{value}" for n in range(150_000))
    document = page(f"<a href=1></a><a x='0'{flood}></a><a href=2>")
    assert hrefs(document) == ["1"]
    assert document.is_cut_off


@pytest.mark.parametrize(
    "before",
    [
        "<!--><!-- -->",
        "<!---><!-- -->",
        "<!-- --!>",
        "<title><script></title>",
        "<TextArea><!-- </TEXTAREA>",
        "<script src='>'>'<b x=\"'</script >",
        "<style></script><p x='</style>",
        "<!doctype html>",
    ],
)
def test_no_markup_hides_a_flood(before):
    flood = " ".join(f"a{n}" for n in range(200_000))
    document = page(f"<a href=1></a>{before}<a {flood}></a><p x='\"'>")
    assert hrefs(document) == ["1"]
    assert document.is_cut_off


@pytest.mark.parametrize(
    "filler",
    [
        "<p>" + "word " * 2 * MAX_ATTRIBUTES + "</p>",
        "<!--<p " + "a " * 2 * MAX_ATTRIBUTES + "-->",
        "<SCRIPT>if (a <b " + "c d " * 2 * MAX_ATTRIBUTES + "</SCRIPT>",
        "<style><b " + "c d " * 2 * MAX_ATTRIBUTES + "</style>",
        '<p title="' + "a " * 2 * MAX_ATTRIBUTES + '">',
        "<p " + " ".join(f"a{n}" for n in range(100)) + ">",
        "a < b " + "c " * 2 * MAX_ATTRIBUTES,
        "<!doctype " + "c " * 2 * MAX_ATTRIBUTES + ">",
    ],
)
def test_markup_that_resembles_a_flood_loses_nothing(filler):
    document = page(f"<a href=1></a>{filler * (200_000 // len(filler) + 1)}<a href=2>")
    assert hrefs(document) == ["1", "2"]
    assert not document.is_cut_off


LONG_TEXT = b"x" * 1_000_001


@pytest.mark.parametrize("tag", [b"<a href=1>", b"<A\thref=1>", b"<area>", b"<IMG src=1>", b"<iframe/>", b"<link >"])
def test_a_page_is_read_up_to_one_reference_too_many(tag):
    assert without_tag_flood(LONG_TEXT + 3 * tag + b"<p>", max_references=3) == LONG_TEXT + 3 * tag + b"<p>"
    assert without_tag_flood(LONG_TEXT + 5 * tag + b"<p>", max_references=3) == LONG_TEXT + 3 * tag
    assert without_tag_flood(5 * tag, max_references=3) == 5 * tag  # too short to take much memory


@pytest.mark.parametrize("tag", [b"<abbr>", b"</a>", b"<imgx>", b"< a >", b"<b>"])
def test_other_tags_are_no_references(tag):
    assert without_tag_flood(LONG_TEXT + 5 * tag, max_references=3) == LONG_TEXT + 5 * tag


@pytest.mark.parametrize("piece", ["<p>", "<a name=x>", "<b c=d e=f>", "<i>x</i>", "<img>x"])
def test_the_tree_of_a_page_is_bounded(piece):
    markup = piece.encode() * (15_000_000 // len(piece))
    kept = without_tag_flood(markup, max_references=MAX_REFERENCES)
    assert markup.startswith(kept)
    assert 100 * kept.count(b"<") < MAX_TREE_BYTES
    document = page("<a href=1></a>" + piece * (8_000_000 // len(piece)) + "<a href=2>")
    assert hrefs(document)[0] == "1"
    assert hrefs(document)[-1] != "2"
    assert document.is_cut_off


@pytest.mark.parametrize(
    "piece",
    [
        b'<li><a class="reference internal" href="/docs/page-0000001.html">Page 1</a></li>\n',
        b'<tr><td class="number">1</td><td>some words that a table has</td></tr>\n',
        b"<p>A paragraph of some sentences with <em>some</em> inline elements, as prose has.</p>",
    ],
)
def test_the_largest_real_pages_are_read_to_their_end(piece):
    markup = piece * (15_000_000 // len(piece))
    assert without_tag_flood(markup, max_references=MAX_REFERENCES) == markup


# memory


PEAK = """
import resource
from sitemap_crawler.extract.document import parse_document
from sitemap_crawler.extract.links import find_links
from sitemap_crawler.urls.normalise import Resolver

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

body = b"".join(b"<a href=%x>" % number for number in range(0x100000, 0x100000 + 1_000_000))
before = peak()
document = parse_document(body, url="https://example.com/", content_type="text/html", resolver=Resolver())
links = find_links(document, (), max_links=50_000)
assert (len(links.follow), links.is_cut) == (50_000, True)
print((peak() - before) // 1_000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units")
def test_a_million_links_take_little_memory() -> None:
    """In MB. It was 600 when all of them were read."""
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 250


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be tuned")
def test_a_tree_reuses_the_memory_of_the_previous_tree() -> None:
    """Each page of memory that the kernel gives again is a fault. Without the settings there are thousands."""
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100
