"""One page's `<url>` element, to the byte."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.sitemap.entry import Entry, serialise
from sitemap_crawler.sitemap.escaping import escape
from sitemap_crawler.sitemap.shard import HEAD, TAIL
from sitemap_crawler.sitemap.video import Video
from tests.support.paths import SCHEMAS

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}"
VIDEO_NS = "{http://www.google.com/schemas/sitemap-video/1.1}"

PAGE = "https://example.com/"
VIDEO = Video("https://cdn.example/t.jpg", "Title", "Words", content_loc="https://cdn.example/v.mp4")


def parse(*entries: Entry) -> etree._Element:
    return etree.fromstring(HEAD + b"".join(map(serialise, entries)) + TAIL)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (Entry(PAGE), "<url><loc>https://example.com/</loc></url>\n"),
        (
            Entry(PAGE, "2024-05-06"),
            "<url><loc>https://example.com/</loc><lastmod>2024-05-06</lastmod></url>\n",
        ),
        (
            Entry("https://example.com/?a=1&b='\"<>"),
            "<url><loc>https://example.com/?a=1&amp;b=&apos;%22%3C%3E</loc></url>\n",
        ),
        (
            Entry(PAGE, None, ("https://cdn.example/a.png", "https://cdn.example/b.png?x&y")),
            (
                "<url><loc>https://example.com/</loc>"
                "<image:image><image:loc>https://cdn.example/a.png</image:loc></image:image>"
                "<image:image><image:loc>https://cdn.example/b.png?x&amp;y</image:loc></image:image></url>\n"
            ),
        ),
        (
            Entry(PAGE, "2024-05-06", (), (Video("https://t/", "Tom & Jerry", "Ähm…", "https://c/", "https://p/"),)),
            (
                "<url><loc>https://example.com/</loc><lastmod>2024-05-06</lastmod>"
                "<video:video><video:thumbnail_loc>https://t/</video:thumbnail_loc>"
                "<video:title>Tom &amp; Jerry</video:title><video:description>Ähm…</video:description>"
                "<video:content_loc>https://c/</video:content_loc><video:player_loc>https://p/</video:player_loc>"
                "</video:video></url>\n"
            ),
        ),
    ],
)
def test_serialise(entry, expected):
    assert serialise(entry) == expected.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x08c\x0bd\x1fe", "abcde"),
        ("a\ud800b\udfffc", "abc"),
        ("a\ufffeb\uffffc\ufffd", "abc\ufffd"),
        ("tab\tline\nreturn\r", "tab\tline\nreturn&#13;"),
        ("\x7f\x85\ue000\U0001fffe\U0010ffff", "\x7f\x85\ue000\U0001fffe\U0010ffff"),
        ("&amp;", "&amp;amp;"),
        ("]]>", "]]&gt;"),
    ],
)
def test_escape(text, expected):
    assert escape(text) == expected


@given(st.text(st.characters(exclude_categories=())))
@example("\r\n]]><![CDATA[&#0;\ud83d\ude00\ufffe")
def test_any_text_survives_a_parser_but_for_what_xml_forbids(text):
    entry = Entry(PAGE, text, videos=(replace(VIDEO, tags=(text + "c",)),))
    url = parse(entry)[0]
    expected = re.sub(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "", text)
    assert url.findtext(f"{SITEMAP}lastmod") == expected
    assert url.findtext(f"{VIDEO_NS}video/{VIDEO_NS}tag") == expected + "c"


@pytest.mark.parametrize(
    ("video", "written"),
    [
        (VIDEO, True),
        (Video("t", "T", "D", player_loc="https://example.com/player"), True),
        (Video("t", "T", "D", player_loc=PAGE), False),
        (Video("t", "T", "D"), False),
        (Video("", "T", "D", content_loc="c"), False),
        (Video("t", "", "D", content_loc="c"), False),
        (Video("t", "T", "", content_loc="c"), False),
        (Video("t", "\x00", "D", content_loc="c"), False),
        (Video("t", "T", "D", content_loc=PAGE), False),
    ],
)
def test_video_is_written_only_when_complete(video, written):
    videos = parse(Entry(PAGE, videos=(video, VIDEO)))[0].findall(f"{VIDEO_NS}video")
    assert len(videos) == 1 + written


def test_player_that_is_the_page_is_left_out_next_to_a_file():
    video = Video("t", "T", "D", content_loc="c", player_loc=PAGE)
    assert b"player_loc" not in serialise(Entry(PAGE, videos=(video,)))


def test_long_texts_are_cut_to_what_the_extensions_allow():
    video = Video("t", "&" * 101, "\x00" + "é" * 2_049, content_loc="c")
    element = parse(Entry(PAGE, videos=(video,)))[0].find(f"{VIDEO_NS}video")
    assert element.findtext(f"{VIDEO_NS}title") == "&" * 100
    assert element.findtext(f"{VIDEO_NS}description") == "é" * 2_048


FULL = Video(
    "https://cdn.example/t.jpg",
    "Title",
    "Words",
    "https://cdn.example/v.mp4",
    "https://example.com/player",
    duration=28_800,
    expiration_date="2030-01-02",
    rating=4.5,
    view_count=0,
    publication_date="2024-05-06T07:08:09+00:00",
    tags=("sun & sea", "sand"),
    family_friendly=False,
    restriction="allow DE FR",
    requires_subscription=True,
    uploader="Tom & Jerry",
    platform="deny tv mobile",
    live=False,
)


def test_all_that_is_known_of_a_video_in_the_order_of_the_schema():
    _, _, written = serialise(Entry(PAGE, videos=(FULL,))).decode().partition("</video:player_loc>")
    assert written == (
        "<video:duration>28800</video:duration><video:expiration_date>2030-01-02</video:expiration_date>"
        "<video:rating>4.5</video:rating><video:view_count>0</video:view_count>"
        "<video:publication_date>2024-05-06T07:08:09+00:00</video:publication_date>"
        "<video:tag>sun &amp; sea</video:tag><video:tag>sand</video:tag>"
        "<video:family_friendly>no</video:family_friendly>"
        '<video:restriction relationship="allow">DE FR</video:restriction>'
        "<video:requires_subscription>yes</video:requires_subscription><video:uploader>Tom &amp; Jerry</video:uploader>"
        '<video:platform relationship="deny">tv mobile</video:platform><video:live>no</video:live>'
        "</video:video></url>\n"
    )


@pytest.mark.parametrize(
    "values",
    [
        {"duration": 0},
        {"duration": 28_801},
        {"rating": -0.1},
        {"rating": 5.1},
        {"rating": float("nan")},
        {"view_count": -1},
        *(
            {name: date}
            for name in ("publication_date", "expiration_date")
            for date in ("2024", "2024-05-06T07:08:09", "x")
        ),
        {"uploader": ""},
        {"uploader": "u" * 256},
        {"uploader": "\x00"},
        {"restriction": "allow"},
        {"restriction": "allow Germany"},
        {"restriction": "DE"},
        {"restriction": "only DE"},
        {"platform": "allow fridge"},
        {"platform": ""},
        {"tags": ("", "\x01")},
    ],
)
def test_what_an_optional_value_may_not_be_is_left_out(values):
    assert serialise(Entry(PAGE, videos=(replace(VIDEO, **values),))) == serialise(Entry(PAGE, videos=(VIDEO,)))


def test_at_most_32_tags():
    video = replace(VIDEO, tags=("\x00", *map(str, range(40))))
    tags = [tag.text for tag in parse(Entry(PAGE, videos=(video,))).iter(f"{VIDEO_NS}tag")]
    assert tags == list(map(str, range(32)))


def test_at_most_1000_images():
    images = tuple(f"https://cdn.example/{number}.png" for number in range(1_001))
    locs = [found.text for found in parse(Entry(PAGE, images=images)).iter(f"{IMAGE}loc")]
    assert locs == list(images[:1_000])


@pytest.mark.parametrize(("length", "too_long"), [(2_047, False), (2_048, True)])
def test_too_long_counts_characters_before_escaping(length, too_long):
    assert Entry("&" * length).too_long is too_long


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the published schemas are not next to the checkout")
def test_published_schemas_accept_it():
    core = etree.parse(SCHEMAS / "sitemap.xsd").getroot()
    # The extension is strict there: the schema of its namespace must be known as well. None is published for images.
    location = (SCHEMAS / "sitemap-video.xsd").as_uri()
    xsd_import = "{http://www.w3.org/2001/XMLSchema}import"
    core.insert(0, etree.Element(xsd_import, namespace=VIDEO_NS[1:-1], schemaLocation=location))
    schema = etree.XMLSchema(core)
    long = Video("https://t.example/", "T" * 300, "D" * 3_000, "https://c.example/", "https://p.example/")
    tree = parse(
        Entry(PAGE, "2024-05-06T07:08:09+00:00", videos=(VIDEO, long, FULL)), Entry("https://example.com/b?c&d")
    )
    schema.assertValid(tree)
    tree[0].remove(tree[0].find(f"{SITEMAP}loc"))
    assert not schema.validate(tree)
