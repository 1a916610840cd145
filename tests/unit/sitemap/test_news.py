"""One article's `<url>` element in a news sitemap, to the byte, and when it is too old for one."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.sitemap.news import (
    MAX_ARTICLES,
    NEWS_FRAME,
    NewsEntry,
    is_recent,
    news_language,
    publication_date,
    serialise,
)
from sitemap_crawler.sitemap.shard import Shard
from tests.support.paths import SCHEMAS

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
NEWS_NAMESPACE = "{http://www.google.com/schemas/sitemap-news/0.9}"
ENTRY = NewsEntry("https://example.com/a?b=1&c", "The Daily", "en", "2024-05-06T07:08:09Z", "Tom & Jerry's <b>")
NOW = 1_714_978_800.0  # 2024-05-06T07:00:00Z
DAY = 86_400


def parse(*entries: NewsEntry) -> etree._Element:
    return etree.fromstring(NEWS_FRAME.head + b"".join(map(serialise, entries)) + NEWS_FRAME.tail)


def test_bytes_of_a_file():
    assert NEWS_FRAME.head + serialise(ENTRY) + NEWS_FRAME.tail == (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        b' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">\n'
        b"<url><loc>https://example.com/a?b=1&amp;c</loc><news:news>"
        b"<news:publication><news:name>The Daily</news:name><news:language>en</news:language></news:publication>"
        b"<news:publication_date>2024-05-06T07:08:09Z</news:publication_date>"
        b"<news:title>Tom &amp; Jerry&apos;s &lt;b&gt;</news:title></news:news></url>\n"
        b"</urlset>\n"
    )


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the published schemas are not next to the checkout")
def test_published_schemas_accept_it():
    core = etree.parse(SCHEMAS / "sitemap.xsd").getroot()
    # The extension is strict there: the schema of its namespace must be known as well.
    location = (SCHEMAS / "sitemap-news.xsd").as_uri()
    xsd_import = "{http://www.w3.org/2001/XMLSchema}import"
    core.insert(0, etree.Element(xsd_import, namespace=NEWS_NAMESPACE[1:-1], schemaLocation=location))
    schema = etree.XMLSchema(core)
    dated = NewsEntry("https://example.com/b", "日刊", "zh-tw", "2024-05-06", "]]>\x00\ud800" + "ä" * 2_000)
    tree = parse(ENTRY, dated)
    schema.assertValid(tree)
    tree[0].find(f".//{NEWS_NAMESPACE}language").text = "english"
    assert not schema.validate(tree)


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("]]> \"x\" 'y'", "]]> \"x\" 'y'"),
        ("two\r\nlines\t here\u2028now", "two lines here now"),
        ("con\x00trol\x07\x7f\x9f\ufffe\ud800", "control"),
        ("\x00", None),
        pytest.param("x" * 1_001, "x" * 1_000, id="long"),
        pytest.param("x" * 999 + " y", "x" * 999, id="cut-at-a-space"),
        ("日本 🎉", "日本 🎉"),
    ],
)
def test_texts_are_one_bounded_line(title, written):
    tree = parse(NewsEntry("https://example.com/", title, "en", "2024-05-06", title))
    assert [tree.findtext(f".//{NEWS_NAMESPACE}{name}") or None for name in ("name", "title")] == [written, written]


@given(st.text())
def test_any_title_is_well_formed(title):
    assert parse(NewsEntry("https://example.com/", "N", "en", "2024-05-06", title)).tag == f"{SITEMAP}urlset"


@pytest.mark.parametrize(
    ("age", "recent"),
    [(0, True), (3_600, True), (2 * DAY, True), (2 * DAY + 1, False), (3 * DAY, False), (-300, True), (-301, False)],
)
def test_the_last_two_days(age, recent):
    assert is_recent(NOW - age, NOW) is recent


@pytest.mark.parametrize(
    ("published", "has_time", "written"),
    [
        (NOW, True, "2024-05-06T07:00:00Z"),
        (NOW + 0.9, True, "2024-05-06T07:00:00Z"),
        (NOW - 7 * 3_600, False, "2024-05-06"),
        (631_152_000.0, False, "1990-01-01"),
    ],
)
def test_publication_date(published, has_time, written):
    assert publication_date(published, has_time=has_time) == written


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("en", "en"),
        (" EN-us ", "en"),
        ("pt_BR", "pt"),
        ("gsw", "gsw"),
        ("sr-Latn-RS", "sr"),
        ("de-DE-x-goethe", "de"),
        ("zh", "zh-cn"),
        ("zh-CN", "zh-cn"),
        ("zh_SG", "zh-cn"),
        ("zh-Hans-TW", "zh-cn"),
        ("zh-TW", "zh-tw"),
        ("zh-HK", "zh-tw"),
        ("zh_MO", "zh-tw"),
        ("zh-Hant", "zh-tw"),
        ("zh-Hant-CN", "zh-tw"),
        ("", None),
        ("e", None),
        ("x-default", None),
        ("english", None),
        ("en US", None),
        ("en,de", None),
        ("-en", None),
        ("ёж", None),
        ("und", None),
        ("mul", None),
        ("zxx", None),
        ("mis", None),
        pytest.param("en-" + "a" * 1_000_000, None, id="huge"),
    ],
)
def test_language(tag, language):
    assert news_language(tag) == language


def test_a_file_takes_1000_articles():
    shard = Shard(BytesIO(), max_urls=MAX_ARTICLES, max_bytes=52_428_800, gzip=False, frame=NEWS_FRAME)
    data = serialise(ENTRY)
    added = 0
    while shard.fits(len(data)):
        shard.add(data)
        added += 1
    assert added == 1_000
