"""The images of a page: the URLs of <img> and <picture>, stated images, and elements that are not images."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.document import Document, parse_document
from sitemap_crawler.extract.images import Candidate, find_images, parse_srcset
from sitemap_crawler.sitemap.limits import MAX_IMAGES
from sitemap_crawler.urls.normalise import Resolver
from tests.support.growth import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.growth import Amount

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
        'width="600" height="0"',
        'width="1" height=""',
        'style="display:none"',
        'style="border: 0; DISPLAY : None"',
        'style="display:none" srcset="/b.jpg 640w"',
        'style="width:1px;height:1px"',
        'style="position:absolute; Height: 0 !important; width: 0"',
        'width="0" style="display:block"',
    ],
)
def test_pixels_and_spacers_are_no_images(attributes: str) -> None:
    assert images(f'<img src="/pixel.gif" {attributes}>') == []


@pytest.mark.parametrize(
    "attributes",
    [
        'width="10" height="11"',
        'width="100%"',
        'width="" height=""',
        'width="600" height="1"',
        'width="1" height="100"',
        'width="1px" height="100%"',
        'width="0" height="0" srcset="/b.jpg 640w"',
        'style=""',
        'style="width:100%;height:auto"',
        'style="width:10px;height:11px"',
        'style="width:1px"',
        'style="width:0;height:0;min-width:100%;min-height:100%"',  # how Next.js fills a box
        'style="width:1px;height:1px" srcset="/b.jpg 640w"',
        'style="max-width:0;border-width:1px;line-height:1px"',
        'style="--display:none-of-these"',
        'style="opacity:0"',
    ],
)
def test_images_that_resemble_pixels(attributes: str) -> None:
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


@pytest.mark.parametrize(
    "url",
    [
        "https://www.facebook.com/tr?id=1&amp;ev=PageView&amp;noscript=1",
        "https://www.facebook.com/tr/?id=1",
        "https://www.google-analytics.com/collect?v=1",
        "https://region1.google-analytics.com/g/collect",
        "https://www.googletagmanager.com/a?id=GTM-1",
        "https://googleads.g.doubleclick.net/pagead/viewthroughconversion/1/?guid=ON",
        "https://pixel.wp.com/g.gif?v=noscript",
        "https://stats.wp.com/g.gif",
        "https://b.scorecardresearch.com/p?c1=2",
        "https://sb.scorecardresearch.com/p?c1=2",
        "https://bat.bing.com/action/0?ti=1",
        "https://px.ads.linkedin.com/collect/?pid=1&amp;fmt=gif",
        "https://analytics.twitter.com/i/adsct?txn_id=1",
        "//t.co/i/adsct?txn_id=1",
        "https://ct.pinterest.com/v3/?tid=1",
        "//pixel.quantserve.com/pixel/p-1.gif",
        "https://mc.yandex.ru/watch/1",
        "/stats/matomo.php?idsite=1&amp;rec=1",
        "https://piwik.example.net/piwik.php?idsite=1",
    ],
)
def test_beacons_are_no_images(url: str) -> None:
    stated = f'<meta property="og:image" content="{url}">'
    assert images(f'<img src="{url}"><img data-src="{url}"><img src="/a.jpg">', head=stated) == ["/a.jpg"]


@pytest.mark.parametrize(
    "url",
    [
        "https://www.facebook.com/trees.jpg",
        "https://notdoubleclick.net/a.jpg",
        "https://bat.bing.com.example.net/a.jpg",
        "https://www.bing.com/th?id=1",
        "https://pbs.twimg.com/media/a.jpg",
        "https://i0.wp.com/example.com/a.jpg",
        "https://example.net/matomo.php.png",
        "https://example.net/t.co/i/adsct.png",
    ],
)
def test_images_that_resemble_beacons(url: str) -> None:
    assert images(f'<img src="{url}">') == [url]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param('<template><img src="/t.jpg"></template>', [], id="template"),
        pytest.param('<template><p><picture><source srcset="/t.jpg"></picture></p></template>', [], id="picture"),
        pytest.param('<template><template><img src="/t.jpg"></template></template>', [], id="nested"),
        pytest.param('<template shadowrootmode="open"><img src="/t.jpg"></template>', ["/t.jpg"], id="shadow-root"),
        pytest.param('<template></template><img src="/t.jpg">', ["/t.jpg"], id="after"),
    ],
)
def test_images_in_a_template_are_not_shown(body: str, expected: list[str]) -> None:
    assert images(f'<img src="/before.jpg">{body}<img src="/after.jpg">') == ["/before.jpg", *expected, "/after.jpg"]


@pytest.mark.parametrize(
    "body",
    [
        '<input type="image" src="/a.jpg">',
        '<link rel="icon" href="/a.ico"><link rel="preload" as="image" href="/a.jpg">',
        '<meta name="twitter:image" content="/a.jpg"><meta property="og:image:alt" content="/a.jpg">',
        '<div style="background-image:url(/a.jpg)"></div>',
        '<embed src="/a.svg"><object data="/a.svg"></object>',
        "<script>document.write('<img src=/a.jpg>')</script><textarea><img src=/a.jpg></textarea><!-- <img src=/a> -->",
    ],
)
def test_elements_that_are_not_images(body: str) -> None:
    assert images(body) == []


def og(*pairs: str) -> str:
    """Return meta tags for pairs of `name=content`; the name is the part after og:image."""
    split = (pair.partition("=") for pair in pairs)
    return "".join(f'<meta property="og:image{name}" content="{content}">' for name, _, content in split)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(og("=/a.jpg"), ["/a.jpg"], id="one"),
        pytest.param(og("=/a.jpg", ":width=1", ":alt=x", "=/b.jpg", ":type=image/png"), ["/a.jpg", "/b.jpg"], id="two"),
        pytest.param(og("=http://example.com/a.jpg", ":secure_url=/a.jpg"), ["/a.jpg"], id="secure"),
        pytest.param(og(":secure_url=/a.jpg", "=http://example.com/a.jpg"), ["/a.jpg"], id="secure-before"),
        pytest.param(og("=/a.jpg", ":secure_url="), ["/a.jpg"], id="empty-secure"),
        pytest.param(og("=/a.jpg", ":url=/same.jpg"), ["/a.jpg"], id="url"),
        pytest.param(og("=", ":url=/a.jpg"), ["/a.jpg"], id="url-of-an-empty-one"),
        pytest.param(og(":url=/a.jpg", ":url=/b.jpg"), ["/a.jpg", "/b.jpg"], id="urls"),
        pytest.param(og(":url=/a.jpg", "=/b.jpg"), ["/a.jpg", "/b.jpg"], id="url-then-another"),
        pytest.param(
            og("=/1.jpg", ":secure_url=/a.jpg", "=/2.jpg", ":secure_url=/b.jpg"), ["/a.jpg", "/b.jpg"], id="pairs"
        ),
        pytest.param('<meta name=" OG:Image " content=" /a.jpg ">', ["/a.jpg"], id="name"),
        pytest.param(og(f"={DATA}", "=#", "=", "={{ image }}"), [], id="no-file"),
        pytest.param('<meta property="og:image">', [], id="no-content"),
        pytest.param(og("=/a.jpg", "=/a.jpg"), ["/a.jpg"], id="twice"),
        pytest.param('<link rel="image_src" href="/a.jpg">', ["/a.jpg"], id="image_src"),
        pytest.param('<link rel="foo IMAGE_SRC" href="/a.jpg"><link rel="image_src">', ["/a.jpg"], id="rel-of-two"),
        pytest.param('<link rel="no-image_src" href="/a.jpg">', [], id="another-rel"),
    ],
)
def test_images_stated_in_the_head(head: str, expected: list[str]) -> None:
    assert images("", head) == expected


def ld(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


LOGO = {"@type": "ImageObject", "url": "/logo.png"}
PERSON = {"@type": "Person", "image": "/jo.jpg"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"@type": "Article", "image": "/a.jpg"}, ["/a.jpg"], id="text"),
        pytest.param({"@type": "Product", "image": ["/a.jpg", "/b.jpg"]}, ["/a.jpg", "/b.jpg"], id="list"),
        pytest.param({"@type": "Recipe", "image": {"@type": "ImageObject", "url": "/a.jpg"}}, ["/a.jpg"], id="url"),
        pytest.param({"image": {"contentUrl": "/a.jpg", "url": "/about-a"}}, ["/a.jpg"], id="file-before-page"),
        pytest.param({"image": {"contentUrl": DATA, "url": "/a.jpg"}}, ["/a.jpg"], id="no-file-then-url"),
        pytest.param({"image": [{"url": "/a.jpg"}, "/b.jpg", 7, None, [], {}]}, ["/a.jpg", "/b.jpg"], id="mixed"),
        pytest.param([{"image": "/a.jpg"}, {"image": "/b.jpg"}], ["/a.jpg", "/b.jpg"], id="objects"),
        pytest.param({"@graph": [{"@type": "WebPage", "image": "/a.jpg"}]}, ["/a.jpg"], id="graph"),
        pytest.param({"mainEntity": {"@type": "Recipe", "image": "/a.jpg"}}, ["/a.jpg"], id="nested"),
        pytest.param({"@type": "LocalBusiness", "image": "/a.jpg"}, ["/a.jpg"], id="a-shop"),
        pytest.param(
            {
                "@graph": [
                    {"@type": "Article", "image": {"@id": "https://example.com/#primaryimage"}},
                    {"@type": "ImageObject", "@id": "https://example.com/#primaryimage", "url": "/a.jpg"},
                ]
            },
            ["/a.jpg"],
            id="reference",
        ),
        pytest.param(
            [{"image": {"@type": "ImageObject", "@id": "#i"}}, {"@type": "ImageObject", "@id": "#i", "url": "/a.jpg"}],
            ["/a.jpg"],
            id="reference-with-type",
        ),
        pytest.param(
            [{"image": {"@id": "#site"}}, {"@type": "WebSite", "@id": "#site", "url": "/"}],
            [],
            id="reference-to-a-site",
        ),
        pytest.param({"image": {"@id": "https://example.com/other#image"}}, [], id="reference-to-nothing"),
        pytest.param({"@type": "ImageObject", "url": "/a.jpg"}, [], id="image-of-nothing"),
        pytest.param({"@type": "Organization", "logo": LOGO, "image": LOGO}, [], id="logo"),
        pytest.param(PERSON, [], id="portrait"),
        pytest.param({"@type": ["Person", "Organization"], "image": "/jo.jpg"}, [], id="one-person-company"),
        pytest.param({"@type": "https://schema.org/WebSite", "image": "/logo.png"}, [], id="site"),
        pytest.param({"author": PERSON, "image": "/a.jpg", "publisher": {"image": LOGO}}, ["/a.jpg"], id="owners"),
        pytest.param({"author": {"name": "Jo", "image": "/jo.jpg"}}, [], id="author-without-type"),
        pytest.param({"isPartOf": {"@type": "Blog", "image": "/blog.jpg"}}, [], id="what-it-is-a-part-of"),
        pytest.param({"comment": [{"@type": "Comment", "image": "/c.jpg"}]}, [], id="comment"),
        pytest.param({"thumbnailUrl": "/t.jpg", "video": {"thumbnailUrl": "/v.jpg"}}, [], id="thumbnails"),
        pytest.param('{"image": "/a.jpg",}', ["/a.jpg"], id="trailing-comma"),
        pytest.param('{"image": "/a.jpg"', [], id="broken"),
        pytest.param({"image": "\ud800"}, ["/shop/%EF%BF%BD"], id="half-a-character"),
        pytest.param({"image": "/a\u0000b.jpg"}, ["/a%00b.jpg"], id="control-character"),
        pytest.param({"image": "/\"]]><&'.jpg"}, ["/%22%5D%5D%3E%3C&'.jpg"], id="quotes-and-markup"),
        pytest.param({"image": {"@id": ["x"], "url": ["/a.jpg"]}}, [], id="lists-for-texts"),
    ],
)
def test_images_stated_in_json(value: object, expected: list[str]) -> None:
    assert images("", ld(value)) == expected


def test_shown_images_come_before_stated_images() -> None:
    head = og("=/og.jpg", "=/shown.jpg") + '<link rel="image_src" href="/src.jpg">' + ld({"image": ["/ld.jpg"]})
    assert images('<img src="/shown.jpg">', head) == ["/shown.jpg", "/og.jpg", "/ld.jpg", "/src.jpg"]


def test_stated_images_count_for_the_limit() -> None:
    body = "".join(f'<img src="/{number}.jpg">' for number in range(999))
    assert images(body, og("=/a.jpg", "=/b.jpg"))[998:] == ["/998.jpg", "/a.jpg"]


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda n: f'<img srcset="{"," * n(1_000_000)}x">', id="commas"),
        pytest.param(lambda n: f'<img srcset="{"a, " * n(500_000)}">', id="candidates"),
        pytest.param(lambda n: f'<img srcset="a {"(" * n(1_000_000)}">', id="parentheses"),
        pytest.param(lambda n: f'<img srcset="a {"1x " * n(300_000)}">', id="descriptors"),
        pytest.param(lambda n: "<picture><source srcset=a>" * n(30_000), id="pictures"),
        pytest.param(lambda n: "<img src=data:,>" * n(100_000), id="data-urls"),
        pytest.param(lambda n: "<template>" * n(1_900) + "<img src=data:,>" * n(50_000), id="templates"),
        pytest.param(lambda n: f'<img src=a style="{"width:1px;" * n(100_000)}">', id="style"),
        pytest.param(lambda n: f'<img src=a style="display{" " * n(1_000_000)}">', id="white-space"),
        pytest.param(lambda n: '<meta property="og:image" content="#">' * n(50_000), id="open-graph"),
        pytest.param(lambda n: '<link rel="image_src" href="#">' * n(50_000), id="links"),
        pytest.param(lambda n: ld([{"image": ["#"] * 100}] * n(3_000)), id="json"),
        pytest.param(lambda n: ld([{"@id": "a", "image": {"@id": "b"}}] * n(15_000)), id="references"),
    ],
)
def test_hostile_pages_take_linear_time(body: Callable[[Amount], str]) -> None:
    assert_linear(lambda n: document(body(n)), find_images)
    assert len(find_images(document(body(int)))) <= MAX_IMAGES


@given(value=st.recursive(st.text() | st.integers() | st.none(), lambda parts: st.lists(parts, max_size=3)))
def test_no_value_raises(value: object) -> None:
    stated = json.dumps({"image": value}).replace("<", "\\u003c")
    found = find_images(document("", ld(stated)))
    assert all(url.startswith(("http://", "https://")) for url in found)
