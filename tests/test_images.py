"""The images of a page: which URL an <img> or a <picture> stands for, and what is no image."""

from __future__ import annotations

import time

import pytest

from sitemap_crawler.reading.document import Document, parse_document
from sitemap_crawler.reading.images import Candidate, find_images, parse_srcset
from sitemap_crawler.sitemap.limits import MAX_IMAGES
from sitemap_crawler.urls import Resolver

PAGE = "https://example.com/shop/page.html"


def document(body: str, head: str = "") -> Document:
    html = f"<!DOCTYPE html><html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>"
    parsed = parse_document(html.encode(), url=PAGE, content_type="text/html", resolver=Resolver())
    assert parsed is not None
    return parsed


def images(body: str, head: str = "") -> list[str]:
    return [url.removeprefix("https://example.com") for url in find_images(document(body, head))]


DATA = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("<p>No picture</p>", [], id="none"),
        pytest.param('<img src="a.jpg">', ["/shop/a.jpg"], id="src"),
        pytest.param('<img src=" /a.jpg\n">', ["/a.jpg"], id="white-space"),
        pytest.param('<img src="//cdn.example.net/a.jpg">', ["https://cdn.example.net/a.jpg"], id="other-host"),
        pytest.param('<img src="/i.svg#icon">', ["/i.svg"], id="fragment-dropped"),
        pytest.param('<img src="/i?id=1&amp;w=2">', ["/i?id=1&w=2"], id="query"),
        pytest.param('<img src="/b"><img src="/a"><img src="/b">', ["/b", "/a"], id="document-order-once-each"),
        pytest.param("<img><img src><img src=''><img src=' '>", [], id="empty"),
        pytest.param(f'<img src="{DATA}"><img src=" DATA:,x">', [], id="data"),
        pytest.param('<img src="about:blank"><img src="blob:https://example.com/1">', [], id="no-file"),
        pytest.param('<img src="javascript:void(0)"><img src="file:///a.jpg">', [], id="other-schemes"),
        pytest.param('<img src="#"><img src="page.html">', [], id="the-page-itself"),
        pytest.param('<img src="{{ item.image }}"><img src="{{a}}.jpg">', [], id="unexpanded-template"),
        pytest.param(f'<img src="/{"a" * 2_028}">', [], id="loc-of-2048-characters"),
        pytest.param(f'<img src="/{"a" * 2_027}">', ["/" + "a" * 2_027], id="loc-of-2047-characters"),
        pytest.param('<video src="/v.mp4" poster="/p.jpg"></video>', [], id="a-poster-is-only-a-thumbnail"),
        pytest.param('<video><source srcset="/s.jpg" src="/v.mp4"></video>', [], id="source-of-a-video"),
    ],
)
def test_src(body: str, expected: list[str]) -> None:
    assert images(body) == expected


def test_relative_to_base() -> None:
    assert images('<img src="a.jpg">', head='<base href="/assets/">') == ["/assets/a.jpg"]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('src="/src.jpg" data-src="/lazy.jpg" srcset="/set.jpg 900w"', "/src.jpg"),
        ('data-src="/lazy.jpg" srcset="/set.jpg 900w"', "/lazy.jpg"),
        (f'src="{DATA}" data-src="/lazy.jpg"', "/lazy.jpg"),
        ('src="" data-lazy-src="/lazy.jpg"', "/lazy.jpg"),
        ('src="about:blank" data-original="/lazy.jpg"', "/lazy.jpg"),
        ('data-lazy="/lazy.jpg"', "/lazy.jpg"),
        ('data-src="/photo_{width}x.jpg" data-srcset="/s.jpg 180w, /l.jpg 1080w"', "/l.jpg"),
        ('data-lazy-srcset="/s.jpg 180w, /l.jpg 1080w" srcset="/other.jpg"', "/l.jpg"),
        ('srcset="/s.jpg 320w, /l.jpg 1024w, /m.jpg 640w"', "/l.jpg"),
        ('srcset="/1.jpg, /3.jpg 3x, /2.jpg 2x"', "/3.jpg"),
        (f'srcset="{DATA} 9x, /2.jpg 2x"', "/2.jpg"),
        (f'srcset="{DATA}" data-srcset="/2.jpg 2x"', "/2.jpg"),
        ('srcset="/w_100,h_50/a.jpg 100w, /w_800,h_400/a.jpg 800w"', "/w_800,h_400/a.jpg"),
    ],
)
def test_one_url_per_img(attributes: str, expected: str) -> None:
    assert images(f'<img alt="" {attributes}><img src="/next.jpg">') == [expected, "/next.jpg"]


@pytest.mark.parametrize(
    "attributes",
    [
        'width="1" height="1"',
        'height="1" width="1" style="display:none"',
        'width="0" height="0"',
        'width="1px" height=" 1PX "',
        'width="1"',
        'height="0"',
        'width="600" height="1"',
    ],
)
def test_pixels_and_spacers_are_no_images(attributes: str) -> None:
    assert images(f'<img src="/pixel.gif" {attributes}>') == []


@pytest.mark.parametrize(
    "attributes",
    ['width="10" height="11"', 'width="100%"', 'width="" height=""', 'width="0" height="0" srcset="/b.jpg 640w"'],
)
def test_these_are_images(attributes: str) -> None:
    assert images(f'<img src="/a.jpg" {attributes}>') == ["/a.jpg"]


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        pytest.param('<source srcset="/s.webp"><img src="/i.jpg">', ["/i.jpg"], id="img-wins"),
        pytest.param('<source srcset="/s.webp"><img data-src="/i.jpg">', ["/i.jpg"], id="lazy-img-wins"),
        pytest.param('<source srcset="/s.webp"><img srcset="/i.jpg 2x">', ["/i.jpg"], id="srcset-img-wins"),
        pytest.param(
            f'<source srcset="/s.webp 1x, /l.webp 2x"><source srcset="/s.jpg"><img src="{DATA}">',
            ["/l.webp"],
            id="first-source",
        ),
        pytest.param(f'<source srcset="{DATA}"><source data-srcset="/s.jpg"><img>', ["/s.jpg"], id="real-source"),
        pytest.param('<source srcset="/s.webp">', ["/s.webp"], id="without-img"),
        pytest.param('<source srcset="/s.webp" /><a href="/"><img src="/i.jpg"></a>', ["/i.jpg"], id="nested-img"),
        pytest.param('<source src="/s.webp"><img>', [], id="src-of-a-source-is-not-used"),
    ],
)
def test_picture(picture: str, expected: list[str]) -> None:
    body = f'<img src="/before.jpg"><picture>{picture}</picture><img src="/after.jpg">'
    assert images(body) == ["/before.jpg", *expected, "/after.jpg"]


def test_noscript_fallback_of_a_lazy_image_is_the_same_image() -> None:
    lazy = f'<img src="{DATA}" data-src="/a.jpg"><noscript><img src="/a.jpg"></noscript>'
    assert images(lazy) == ["/a.jpg"]


def test_at_most_1000_images() -> None:
    body = "".join(f'<img src="/{number}.jpg">' for number in range(1_005))
    assert MAX_IMAGES == 1_000
    assert images(body) == [f"/{number}.jpg" for number in range(1_000)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        (" , ,", []),
        ("a.jpg", [("a.jpg", 0, 1.0)]),
        ("a.jpg 100w", [("a.jpg", 100, 1.0)]),
        ("a.jpg 1.5x", [("a.jpg", 0, 1.5)]),
        ("a.jpg .5x", [("a.jpg", 0, 0.5)]),
        ("a.jpg 100w 50h", [("a.jpg", 100, 1.0)]),
        ("a.jpg 50h 100w", [("a.jpg", 100, 1.0)]),
        ("a.jpg 100w 2x, b.jpg 50h, c.jpg 1w", [("c.jpg", 1, 1.0)]),
        ("a.jpg\t1x\n,\f b.jpg\r\n2x", [("a.jpg", 0, 1.0), ("b.jpg", 0, 2.0)]),
        ("a.jpg 1x,b.jpg 2x", [("a.jpg", 0, 1.0), ("b.jpg", 0, 2.0)]),
        ("a.jpg, b.jpg 2x", [("a.jpg", 0, 1.0), ("b.jpg", 0, 2.0)]),
        ("a.jpg,, , b.jpg 2x,", [("a.jpg", 0, 1.0), ("b.jpg", 0, 2.0)]),
        ("a.jpg,b.jpg 2x", [("a.jpg,b.jpg", 0, 2.0)]),  # no white space: the comma is the URL's
        ("/c_1,w_2/a.jpg 2x", [("/c_1,w_2/a.jpg", 0, 2.0)]),
        ("data:image/png;base64,AA== 1x, b 2x", [("data:image/png;base64,AA==", 0, 1.0), ("b", 0, 2.0)]),
        ("a.jpg (1x, 2x) , b.jpg 2x", [("b.jpg", 0, 2.0)]),  # parentheses hold the comma; the descriptor is unknown
        ("a.jpg (1x, b.jpg 2x", []),
        ("a.jpg 100, b.jpg big, c.jpg -1x, d.jpg 1x", [("d.jpg", 0, 1.0)]),  # invalid descriptors
    ],
)
def test_parse_srcset(value: str, expected: list[tuple[str, int, float]]) -> None:
    assert parse_srcset(value) == [Candidate(*candidate) for candidate in expected]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f'<img srcset="{"," * 1_000_000}x">', id="commas"),
        pytest.param(f'<img srcset="{"a, " * 500_000}">', id="candidates"),
        pytest.param(f'<img srcset="a {"(" * 1_000_000}">', id="parentheses"),
        pytest.param(f'<img srcset="a {"1x " * 300_000}">', id="descriptors"),
        pytest.param("<picture><source srcset=a>" * 30_000, id="pictures"),
        pytest.param("<img src=data:,>" * 100_000, id="data-urls"),
    ],
)
def test_hostile_pages_take_linear_time(body: str) -> None:
    page = document(body)
    started = time.process_time()
    assert len(find_images(page)) <= MAX_IMAGES
    assert time.process_time() - started < 5  # a quadratic search takes minutes
