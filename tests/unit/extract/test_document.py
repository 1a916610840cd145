from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from w3lib.encoding import html_body_declared_encoding

from sitemap_crawler.extract.charset import decide_charset
from sitemap_crawler.extract.document import parse_document
from sitemap_crawler.extract.outline import COLLECTED
from sitemap_crawler.extract.parser import MAX_ATTRIBUTES
from tests.support.reading_page import RESOLVER, URL, page

TEXT = "Größe: 10 €"


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
    assert set(document.elements) == {"html", "a", "img", "area"} <= set(COLLECTED)


def test_comments_scripts_and_text_areas_hold_no_elements():
    document = page(
        "<!-- <a href=1> --><?php <a href=2> ?><script>'<a href=3>'</script><style><a href=4></style>"
        "<textarea><a href=5></textarea><title><a href=6></title><a href=7>"
    )
    assert hrefs(document) == ["7"]


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


def test_resolves_against_the_base_in_the_charset_of_the_page():
    document = page('<base href="/b/"><p>', content_type="text/html; charset=windows-1252")
    assert document.resolve("x?q=é") == "https://example.com/b/x?q=%E9"
    assert document.resolve("mailto:a@example.com") is None


# hostile pages


def test_links_below_the_limit_of_depth_are_found():
    document = page("<div>" * 1_900 + "<a href=1>" + "</div>" * 1_900 + "<a href=2>")
    assert hrefs(document) == ["1", "2"]
    assert not document.deep


@pytest.mark.parametrize("depth", [2_100, 5_000, 50_000])
def test_deeper_nesting_is_reported(depth):
    document = page("<a href=0></a>" + "<div>" * depth + "<a href=1>")
    assert hrefs(document) == ["0"]
    assert document.deep


def test_a_megabyte_in_an_attribute():
    long = "x" * 1_000_000
    assert hrefs(page(f'<a href="{long}">1</a><a href="2">')) == [long, "2"]


def test_a_hundred_thousand_links():
    document = page("".join(f"<a href={n}>" for n in range(100_000)))
    assert hrefs(document)[::50_000] == ["0", "50000"]
    assert len(document.all("a")) == 100_000


@pytest.mark.parametrize("template", [" a{}=1", ' a{}=">"', "/a{}", '"a{}="x"', " =a{}", "\n a{} = '<p>'"])
def test_a_flood_of_attributes_ends_the_page_there(template):
    flood = "".join(map(template.format, range(200_000)))
    started = time.monotonic()
    document = page(f"<a href=1></a><a x='0'{flood}></a><a href=2>")
    assert hrefs(document) == ["1"]
    assert document.deep
    assert time.monotonic() - started < 20  # a minute and more without the limit


@pytest.mark.parametrize("value", ['=">"', "='>'", " = \n'>'", "='\">'", '="\'>"', "=x'\" y='>\">'"])
def test_a_flood_is_found_that_looks_like_several_tags(value):
    flood = "".join(f" a{n}" if n % 1_000 else f" a{n}{value}" for n in range(150_000))
    document = page(f"<a href=1></a><a x='0'{flood}></a><a href=2>")
    assert hrefs(document) == ["1"]
    assert document.deep


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
def test_a_flood_does_not_hide(before):
    flood = " ".join(f"a{n}" for n in range(200_000))
    document = page(f"<a href=1></a>{before}<a {flood}></a><p x='\"'>")
    assert hrefs(document) == ["1"]
    assert document.deep


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
def test_what_only_resembles_a_flood_loses_nothing(filler):
    document = page(f"<a href=1></a>{filler * (200_000 // len(filler) + 1)}<a href=2>")
    assert hrefs(document) == ["1", "2"]
    assert not document.deep


@given(st.binary(max_size=300), st.text(max_size=40))
def test_no_body_raises(body, content_type):
    parse_document(body, url=URL, content_type=content_type, resolver=RESOLVER)


SOUP = ['<a href="', "'>", '">', "<", "\0", "<!--", "-->", "<base href=", "&#", "\ud800", "é"]


@given(st.lists(st.sampled_from(SOUP)))
def test_no_soup_raises(pieces):
    body = "".join(pieces).encode("utf-8", "surrogatepass")
    parse_document(body, url=URL, content_type="text/html", resolver=RESOLVER)


@pytest.mark.parametrize("end", ["</html>", "</HTML >", "</Html>", "</body></html><!-- cached -->", "</html></html>"])
def test_what_follows_the_end_tag_of_the_page_belongs_to_it(end):
    document = page(f"<html><body><a href=1>{end}<a href=2><html><meta name=robots content=noindex>")
    assert hrefs(document) == ["1", "2"]
    assert [element.get("content") for element in document.all("meta")] == ["noindex"]
