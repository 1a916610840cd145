"""The links, the refresh and the resources of a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.links import Links, find_links, find_refresh, parse_link_header
from tests.support.growth import assert_linear
from tests.support.reading_page import page

# links


HERE = "https://example.com/docs/"


def links_of(document, link_headers, *, max_links=50_000):
    return find_links(document, link_headers, max_links=max_links)


@pytest.mark.parametrize(
    ("markup", "follow"),
    [
        ('<a href="a">', ["a"]),
        ('<a href="  a\n">', ["a"]),
        ("<map><area href=a><area></map>", ["a"]),
        ("<link rel=next href=a>", ["a"]),
        ("<link rel='Section PREV' href=a>", ["a"]),
        ("<link rel=alternate hreflang=de href=a>", ["a"]),
        ("<iframe src=a></iframe>", ["a"]),
        ("<frameset><frame src=a><frame src=b></frameset>", ["a", "b"]),
        ("<a href=b><a href=a><a href=b#f><a href=./b>", ["b", "a"]),
        ("<a href='b#one'><a href='b#two'>", ["b"]),
        ("<a href='b #f'>", ["b%20"]),
        # no links
        ("<link rel=canonical href=a>", []),
        ("<link rel=stylesheet href=a>", []),
        ("<link rel=alternate href=a type=application/rss+xml>", []),
        ("<link rel=alternate hreflang='' href=a>", []),
        ("<link rel=nextstep href=a>", []),
        ("<link rel=next>", []),
        ("<meta http-equiv=refresh content='0;url=a'>", []),
        ("<img src=a><script src=b></script><form action=c>", []),
        ("<a>x</a><a name=a>", []),
        ("<iframe src=''></iframe><iframe></iframe>", []),
        ("<a href='mailto:a@example.com'><a href='javascript:void(0)'><a href='tel:1'><a href='data:,x'>", []),
        ("<a href='http://['><a href='https://'>", []),
        # the page itself
        ("<a href=''><a href='#top'><a href='page.html'><a href='page.html#x'><a href=' #y'>", []),
    ],
)
def test_finds_links(markup, follow):
    assert links_of(page(markup), ()) == Links(tuple(HERE + link for link in follow), ())


@pytest.mark.parametrize(
    ("markup", "links"),
    [
        ("<a rel=nofollow href=a>", Links((), (HERE + "a",))),
        ("<a rel='external NoFollow' href=a>", Links((), (HERE + "a",))),
        ("<a rel='nofollow,ugc' href=a>", Links((), (HERE + "a",))),
        ("<area rel=nofollow href=a>", Links((), (HERE + "a",))),
        ("<a rel='ugc sponsored noopener' href=a>", Links((HERE + "a",), ())),
        ("<a rel=nofollowed href=a>", Links((HERE + "a",), ())),
        ("<a rel=nofollow href=a><a href=a>", Links((HERE + "a",), ())),
        ("<a href=a><a rel=nofollow href=a>", Links((HERE + "a",), ())),
        ("<a href=a#x><a rel=nofollow href=./a>", Links((HERE + "a",), ())),
        ("<a rel=nofollow href=page.html>", Links((), ())),
        ("<a rel=nofollow href=b><a rel=nofollow href=c><a href=a>", Links((HERE + "a",), (HERE + "b", HERE + "c"))),
        ("<a rel=nofollow href=a><iframe src=a></iframe>", Links((HERE + "a",), ())),
    ],
)
def test_nofollow_holds_unless_another_link_follows(markup, links):
    assert links_of(page(markup), ()) == links


def test_a_base_makes_fragments_and_empty_references_links_to_it():
    document = page("<base href=/other/><a href='#x'><a href='/docs/page.html'><a href=y>")
    assert links_of(document, ()).follow == ("https://example.com/other/", "https://example.com/other/y")


@pytest.mark.parametrize(
    ("header", "follow"),
    [
        ('<a>; rel="next"', ["a"]),
        ("<a>; rel=prev, <b>; rel=next", ["a", "b"]),
        ('<a>; rel="alternate"; hreflang="de"', ["a"]),
        ('<a>; rel="alternate"', []),
        ('<a>; rel="canonical"', []),
        ("<a>; rel=preload; as=style", []),
        ('<a>; rel="next"; anchor="/elsewhere"', []),
        ("<page.html>; rel=next", []),
        ("<mailto:x>; rel=next", []),
        ("<a>", []),
    ],
)
def test_link_headers(header, follow):
    document = page("<base href=/other/><p>")
    assert links_of(document, (header,)).follow == tuple(HERE + link for link in follow)


@pytest.mark.parametrize(
    ("values", "links"),
    [
        ([], []),
        ([""], []),
        (["<a>"], [("a", {})]),
        (['<a>; rel="next"'], [("a", {"rel": "next"})]),
        (["<a>;rel=next;title=x"], [("a", {"rel": "next", "title": "x"})]),
        ([' < a > ;  REL = "Next" '], [("a", {"rel": "Next"})]),
        (['<a>; rel="x y", <b>; rel=z'], [("a", {"rel": "x y"}), ("b", {"rel": "z"})]),
        (['<a,b;c>; title="one, <two>; three"; rel=next'], [("a,b;c", {"title": "one, <two>; three", "rel": "next"})]),
        ([r'<a>; title="say \"x\""'], [("a", {"title": 'say "x"'})]),
        (["<a>; rel=one; rel=two"], [("a", {"rel": "one"})]),
        (["<a>; crossorigin; rel=next"], [("a", {"crossorigin": "", "rel": "next"})]),
        (["<a>; rel=next", "<b>; rel=prev"], [("a", {"rel": "next"}), ("b", {"rel": "prev"})]),
        (["<a>;; rel=next;"], [("a", {"": "", "rel": "next"})]),
        # malformed
        (["a; rel=next"], []),
        (["<a; rel=next"], []),
        (["junk, <a>; rel=next"], [("a", {"rel": "next"})]),
        (['<a>; rel="next'], [("a", {"rel": "next"})]),
        (["<a> rel=next, <b>; rel=prev"], [("a", {}), ("b", {"rel": "prev"})]),
        (["<>; rel=next"], [("", {"rel": "next"})]),
    ],
)
def test_parse_link_header(values, links):
    assert parse_link_header(values) == links


def test_link_headers_are_bounded():
    assert len(parse_link_header(["<a>," * 5_000])) == 1_000
    assert parse_link_header([" " * 70_000 + "<a>"]) == []
    assert parse_link_header(["<a>" + " " * 70_000, "<b>"]) == [("a", {})]


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["<", "<a", "<a>;", '<a>;b="', "<a>;b='", ";", " ", '<a>;"', '\\"', "<a>; " + " " * 99]
)
def test_hostile_link_headers_take_linear_time(piece):
    assert_linear(lambda n: [piece * n(1_000_000 // len(piece))], parse_link_header)


def test_a_hundred_thousand_links():
    document = page("".join(f"<a href=p{n % 70_000}#{n}>" for n in range(100_000)))
    assert links_of(document, (), max_links=70_000) == Links(tuple(f"{HERE}p{n}" for n in range(70_000)), ())
    assert links_of(document, ()) == Links(tuple(f"{HERE}p{n}" for n in range(50_000)), (), is_cut=True)


@pytest.mark.parametrize(
    ("markup", "header", "links"),
    [
        ("<a href=a><a href=b><a href=c>", "", Links(("a", "b", "c"), ())),
        ("<a href=a><a href=b><a href=c><a href=d>", "", Links(("a", "b", "c"), (), is_cut=True)),
        # Neither another spelling nor the page itself is one more.
        ("<a href=a><a href=page.html><a href=./a#x><a href=b><a href=c><a href=''><a href=mailto:x>", "",
         Links(("a", "b", "c"), ())),
        # Links of all kinds count together, in the order of the kinds.
        ("<a rel=nofollow href=a><a href=b><a href=c><a rel=nofollow href=d>", "",
         Links(("b", "c"), ("a",), is_cut=True)),
        ("<a rel=nofollow href=a><a href=b><a href=c><a href=./a>", "", Links(("a", "b", "c"), ())),
        ("<link rel=next href=x><a href=a><a href=b>", "<y>; rel=prev", Links(("a", "b", "x"), (), is_cut=True)),
        ("<a href=a><a href=b>", "<x>; rel=next, <b>; rel=prev", Links(("a", "b", "x"), ())),
        ("", "<a>; rel=next, <b>; rel=next, <c>; rel=next, <d>; rel=next", Links(("a", "b", "c"), (), is_cut=True)),
    ],
)  # fmt: skip
def test_the_first_links_are_kept(markup, header, links):
    expected = Links(*(tuple(HERE + link for link in kind) for kind in links[:2]), links.is_cut)
    assert links_of(page(markup + "<p>"), (header,), max_links=3) == expected


def test_long_links_are_kept_up_to_a_length_in_total():
    base = "/" + "d" * 8_000 + "/"
    markup = f"<base href={base}>" + "".join(f"<a href=p{n:05}>" for n in range(3_000))
    # Each URL has 8,027 characters: 19 before the base and 6 behind it. The one that reaches the limit is kept.
    links = links_of(page(markup), ())
    assert (len(links.follow), {len(url) for url in links.follow}, links.is_cut) == (1_994, {8_027}, True)
    assert len(links_of(page(markup), (), max_links=1).follow) == 1
    assert len(links_of(page(markup), (), max_links=500_000).follow) == 3_000
    # A small number of links may have any length.
    assert len(links_of(page(markup), (), max_links=100).follow) == 100


def test_a_huge_base_makes_no_huge_links():
    document = page("<base href='/" + "d/" * 500_000 + "'>" + "".join(f"<a href=p{n}>" for n in range(10_000)))
    links = links_of(document, ())
    assert sum(map(len, links.follow)) < 16_100_000
    assert all(len(link) > 8_192 for link in links.follow)


@given(st.binary(max_size=200), st.lists(st.text(max_size=60), max_size=3))
def test_never_raises(body, headers):
    links_of(page(b"<a href=x>" + body), headers)


@given(st.text(max_size=60))
def test_any_reference_is_a_url_or_nothing(reference):
    quoted = reference.replace("&", "&amp;").replace('"', "&quot;")
    links = links_of(page(f'<a href="{quoted}">'.encode("utf-8", "surrogatepass")), ())
    assert all(link.startswith(("http://", "https://")) for link in links.follow)


# refresh


T = "https://example.com/docs/t"


def refresh(content):
    quoted = content.replace("&", "&amp;").replace('"', "&quot;")
    found = find_refresh(page(f'<meta http-equiv="refresh" content="{quoted}">'.encode("utf-8", "surrogatepass")))
    return None if found is None else found.url


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=t", T),
        ("0; URL=t", T),
        ("  5 ;\n url = t ", T),
        ("0;url='t'", T),
        ('0;url="t"', T),
        ("0;url='t' and more", T),
        ("0;url='t", T),
        ("0,url=t", T),
        ("0 url=t", T),
        ("0;t", T),
        ("0 t", T),
        ("0;'t'", T),
        ("0.5;url=t", T),
        (".5;url=t", T),
        ("0...;url=t", T),
        ("300; url=https://other.example/x#f", "https://other.example/x"),
        ("0;url", "https://example.com/docs/url"),
        ("0;urls=t", "https://example.com/docs/urls=t"),
        ("0;u", "https://example.com/docs/u"),
        ("0;;t", "https://example.com/docs/;t"),
        ("0;url=t;x", "https://example.com/docs/t;x"),
        # the page itself
        ("5", None),
        ("5;", None),
        ("5; ", None),
        ("0;url=", None),
        ("0;url=''", None),
        ("0;url=page.html", None),
        ("0;url=#x", None),
        # not valid
        ("", None),
        ("url=t", None),
        ("t", None),
        ("-1;url=t", None),
        ("0url=t", None),
        ("5t", None),
        # no page
        ("0;url=javascript:alert(1)", None),
        ("0;url=data:text/html,x", None),
        ("0;url=http://[", None),
    ],
)
def test_content_of_a_refresh(content, target):
    assert refresh(content) == target


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        ("<META HTTP-EQUIV=' ReFresh ' CONTENT='0;url=t'>", T),
        ("<body><p><meta http-equiv=refresh content='0;url=t'>", T),
        ("<base href=/other/><meta http-equiv=refresh content='0;url=t'>", "https://example.com/other/t"),
        ("<meta http-equiv=refresh content='0;url=t'><meta http-equiv=refresh content='0;url=u'>", T),
        ("<meta http-equiv=refresh content=bad><meta http-equiv=refresh content='0;url=t'>", T),
        ("<meta http-equiv=refresh content='0;url=mailto:x'><meta http-equiv=refresh content='0;url=t'>", T),
        ("<noscript><meta http-equiv=refresh content='0;u'></noscript><meta http-equiv=refresh content='0;t'>", T),
        ("<meta http-equiv=refresh content=5><meta http-equiv=refresh content='0;url=t'>", None),
        ("<head><noscript><meta http-equiv=refresh content='0;url=t'></noscript></head>", None),
        ("<body><noscript><div><meta http-equiv=refresh content='0;url=t'></div></noscript>", None),
        ("<template><meta http-equiv=refresh content='0;url=t'></template>", None),
        ("<!-- <meta http-equiv=refresh content='0;url=t'> --><p>", None),
        ("<meta name=refresh content='0;url=t'>", None),
        ("<meta http-equiv=refresh>", None),
        ("<meta http-equiv=content-type content='text/html; charset=utf-8'>", None),
        ("<p>", None),
    ],
)
def test_refresh_tags(markup, target):
    found = find_refresh(page(markup))
    assert (None if found is None else found.url) == target


@pytest.mark.parametrize(
    ("seconds", "is_redirect"),
    [
        *((seconds, True) for seconds in ("0", "5", "59.9", ".5", "0059", "0" * 5_000)),
        *((seconds, False) for seconds in ("60", "60.", "300", "9" * 5_000)),
    ],
)
def test_a_page_that_is_shown_for_long_is_no_redirect(seconds, is_redirect):
    assert find_refresh(page(f'<meta http-equiv=refresh content="{seconds};url=t">')) == (T, is_redirect)


@pytest.mark.slow
def test_hostile_amounts_of_refreshes():
    refreshes = "<meta http-equiv=refresh content='0;url=t'>"
    assert_linear(lambda n: page("<noscript>" + "<div>" * n(1_500) + refreshes * n(40_000)), find_refresh)
    assert find_refresh(page("<noscript>" + "<div>" * 1_500 + refreshes * 40_000)) is None


def test_a_refresh_of_a_megabyte():
    assert refresh("0" * 1_000_000 + ";url=t") == T
    assert refresh(" " * 1_000_000) is None
    assert refresh("0;" + " " * 1_000_000 + "url='t'") == T


@given(st.text(max_size=60))
def test_no_refresh_raises(text):
    refresh(text)
    refresh("0;url=" + text)
