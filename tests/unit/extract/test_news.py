"""News articles: their recognition, title, time of publication and language."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.news import Article, find_article
from tests.support.reading_page import URL, page

NOW = datetime(2024, 5, 6, 12, 0, 0, tzinfo=UTC)
# 2024-05-06 is 19,849 days after 1970-01-01.
MIDNIGHT = 19_849 * 86_400.0
NINE = MIDNIGHT + 9 * 3_600
PUBLISHED = "2024-05-06T09:00:00Z"
META = f'<meta property="article:published_time" content="{PUBLISHED}">'


def news(kind: object = "NewsArticle", **properties: object) -> dict[str, object]:
    return {"@type": kind, "headline": "Headline", "datePublished": PUBLISHED, **properties}


def script(*values: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(value)}</script>' for value in values)


def find(head: str = "", body: str = "<p>Words</p>", html: str = "<html>") -> Article | None:
    return find_article(page(f"<!DOCTYPE html>{html}<head>{head}</head><body>{body}</body></html>"), NOW)


@pytest.mark.parametrize(
    "kind",
    [
        "NewsArticle",
        "newsarticle",
        "schema:NewsArticle",
        "https://schema.org/NewsArticle",
        ["Article", "NewsArticle"],
        "AnalysisNewsArticle",
        "AskPublicNewsArticle",
        "BackgroundNewsArticle",
        "OpinionNewsArticle",
        "ReportageNewsArticle",
        "ReviewNewsArticle",
        "LiveBlogPosting",
    ],
)
def test_kinds_of_news(kind):
    assert find(script(news(kind))) == Article("Headline", NINE, has_time=True, language=None)


@pytest.mark.parametrize(
    "kind", ["Article", "BlogPosting", "WebPage", "NewsMediaOrganization", "SatiricalArticle", "", None, 7, [None]]
)
def test_other_kinds_are_no_news(kind):
    assert find(script(news(kind))) is None


@pytest.mark.parametrize(
    "head",
    [
        "",
        "<meta property=og:title content=Title><meta property=og:locale content=en_GB>",
        "<meta property=article:modified_time content=2024-05-06T09:00:00Z>",
        '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Broken",</script>',
        '<script type="application/ld+json">[[[]]]</script>',
        '<script>{"@type": "NewsArticle", "headline": "Headline", "datePublished": "2024-05-06"}</script>',
    ],
)
def test_no_sign_of_news(head):
    assert find(f"<title>Title</title>{head}") is None


@pytest.mark.parametrize(
    "value",
    [
        news(),
        [news()],
        {"@graph": [{"@type": "WebSite", "url": "https://example.com/"}, news()]},
        {"@type": "WebPage", "mainEntity": news()},
        news(url=URL),
        news(url="page.html#top"),
        news(mainEntityOfPage=URL),
        news(mainEntityOfPage={"@type": "WebPage", "@id": URL}),
        {**news(), "@id": f"{URL}#article"},
        [news(url=URL), news(url="/docs/other.html", headline="Teaser")],
        [news(url="/docs/other.html", headline="Teaser"), news(url=URL)],
        [news(headline="Unnamed"), news(url=URL)],
        [news(), news()],
        {**news(), "mentions": news(headline="Mentioned"), "hasPart": [news(headline="Part")]},
    ],
)
def test_the_article_that_is_the_page(value):
    found = find(script(value))
    assert found is not None
    assert found.title == "Headline"


@pytest.mark.parametrize(
    "value",
    [
        news(url="/docs/other.html"),
        news(mainEntityOfPage={"@id": "https://example.com/docs/other.html"}),
        [news(url="/docs/a.html"), news(url="/docs/b.html")],
        [news(headline="First teaser"), news(headline="Second teaser")],
        {"@type": "ItemList", "itemListElement": [news()]},
        {"@type": "CollectionPage", "hasPart": news()},
    ],
)
def test_teasers_are_not_the_page(value):
    assert find(f"<title>Front page</title>{script(value)}") is None


def test_a_canonical_is_a_name_of_the_page():
    canonical = '<link rel=canonical href="/docs/story">'
    assert find(canonical + script(news(url="/docs/story"))) == Article("Headline", NINE, has_time=True, language=None)


@pytest.mark.parametrize(
    ("written", "published", "has_time"),
    [
        ("2024-05-06T09:00:00Z", NINE, True),
        ("2024-05-06T11:00:00+02:00", NINE, True),
        ("2024-05-06T09:00", NINE, True),  # no zone is UTC
        (" 2024-05-06T09:00:00.000Z ", NINE, True),
        ("2024-05-06", MIDNIGHT, False),
        ("Mon, 06 May 2024 09:00:00 GMT", NINE, True),
        ("2024-05-06T12:05:00Z", MIDNIGHT + 43_500, True),  # a clock that is five minutes ahead
        ("1990-01-01", 631_152_000.0, False),
    ],
)
@pytest.mark.parametrize("where", ["json", "meta"])
def test_time_of_publication(where, written, published, has_time):
    if where == "json":
        head = script(news(datePublished=written))
    else:
        head = f'<title>Headline</title><meta property="article:published_time" content="{written}">'
    assert find(head) == Article("Headline", published, has_time, None)


@pytest.mark.parametrize(
    "written",
    [
        "2024-05-06T12:05:01Z",
        "2024-05-07",
        "1989-12-31",
        "yesterday",
        "",
        "2024-13-01",
        "2024-05-06T12:00:01Z",
        "9" * 99,
    ],
)
@pytest.mark.parametrize("where", ["json", "meta"])
def test_times_that_are_not_credible(where, written):
    """The dates are unreadable, in the future, before the web, or the time of the response."""
    if where == "json":
        assert find(script(news(datePublished=written))) is None
    else:
        assert find(f'<title>T</title><meta property="article:published_time" content="{written}">') is None


@pytest.mark.parametrize("value", [None, 1_714_986_000, ["2024-05-06"], {"@value": "2024-05-06"}, True])
def test_a_time_that_is_not_text(value):
    assert find(script(news(datePublished=value))) is None


def test_json_comes_before_meta():
    later = META.replace("09:00", "10:00")
    assert find(later + script(news())) == Article("Headline", NINE, has_time=True, language=None)


def test_meta_elements_replace_missing_json_ld():
    """Values that JSON-LD lacks come from the first meta element with each name."""
    article = {"@type": "NewsArticle", "headline": "Headline"}
    later = META.replace("09:00", "10:00")
    assert find(script(article) + META + later) == Article("Headline", NINE, has_time=True, language=None)


@pytest.mark.parametrize(
    "meta",
    [
        META,
        META.replace("property", "name"),
        META.replace("article:published_time", " Article:Published_Time "),
    ],
)
def test_published_time_alone(meta):
    expected = Article("Title", NINE, has_time=True, language=None)
    assert find(f"<title>Title</title>{meta}") == expected
    assert find("<title>Title</title>", body=meta) == expected


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<meta property=og:title content='OG'><title>T</title>", "<h1>H</h1>", "OG"),
        ("<meta property=og:title content=' '><title>T</title>", "<h1>H</h1>", "H"),
        ("<title>T</title>", "<h1>A <em>big</em>\n  day</h1><h1>Other</h1>", "A big day"),
        ("<title>T</title>", "<h1><img src=logo.png></h1><h1>H</h1>", "H"),
        ("<title>T &amp; &lt;b&gt;</title>", "<h1> </h1>", "T & <b>"),
        ("", "<svg><title>Drawing</title></svg><h1>H</h1>", "H"),
    ],
)
def test_title_of_a_page_without_json(head, body, title):
    found = find(META + head, body)
    assert found is not None
    assert found.title == title


@pytest.mark.parametrize(("head", "body"), [("", ""), ("<title> </title>", "<svg><title>Drawing</title></svg>")])
def test_no_title_no_article(head, body):
    assert find(META + head, body) is None


@pytest.mark.parametrize(
    ("headline", "title"),
    [
        ("Plain", "Plain"),
        ("  Two\n\tlines\u2028here ", "Two lines here"),
        ("Tom &amp; Jerry &#228;s &quot;day&quot; &#x27;", 'Tom & Jerry äs "day" \''),
        ('AT&T, A&B <C> ]]> "q"', 'AT&T, A&B <C> ]]> "q"'),
        ("a &copy b &amp; c", "a &copy b &amp; c"),
        ("a &unknown; &amp; &lt;b&gt; &amp;amp;", "a &unknown; & <b> &amp;"),
        ("5 < 6 &amp; 7", "5 < 6 &amp; 7"),
        ("5 &amp; 7 > 6", "5 &amp; 7 > 6"),
        ("con\x00trol\x07 \x1b[31mred\x7f\x9f", "control [31mred"),
        ("&#0;&#1114112;nul", "\ufffd\ufffdnul"),
        ("bad\ud800 pair\uffff", "bad pair"),
        pytest.param("x" * 1_001, "x" * 1_000, id="long"),
        pytest.param(" " * 5_000 + "late", "late", id="late"),
        pytest.param("x" * 900_000, "x" * 1_000, id="huge"),
        ("", "Name"),
        (None, "Name"),
        (["Headline"], "Name"),
        ({"@value": "Headline"}, "Name"),
    ],
)
def test_headline(headline, title):
    found = find("<title>T</title>" + script(news(headline=headline, name="Name")))
    assert found is not None
    assert found.title == title


def test_the_title_of_the_page_replaces_a_missing_headline():
    article = {"@type": "NewsArticle", "datePublished": PUBLISHED}
    head = "<meta property=og:title content=OG><title>T</title>"
    assert find(head + script(article)) == Article("OG", NINE, has_time=True, language=None)
    assert find(script(article)) is None


@pytest.mark.parametrize(
    ("stated", "html", "locale", "language"),
    [
        (None, "<html>", "", None),
        (None, "<html lang=de>", "", "de"),
        (None, "<html lang=de-CH>", "fr_FR", "de"),
        (None, "<html xml:lang=nl>", "", "nl"),
        (None, "<html lang=''>", "fr_FR", "fr"),
        (None, "<html>", "pt_BR", "pt"),
        ("en", "<html lang=de>", "fr_FR", "en"),
        ("English", "<html lang=de>", "", "de"),
        (["it-IT", "en"], "<html lang=de>", "", "it"),
        ({"@type": "Language", "name": "Spanish", "alternateName": "es"}, "<html lang=de>", "", "es"),
        ({"@type": "Language", "name": "Spanish"}, "<html lang=de>", "", "de"),
        ([], "<html lang=de>", "", "de"),
        (7, "<html lang=de>", "", "de"),
        ("zh-Hant", "<html lang=zh-CN>", "", "zh-tw"),
    ],
)
def test_language(stated, html, locale, language):
    head = f'<meta property="og:locale" content="{locale}">' if locale else ""
    found = find(head + script(news(inLanguage=stated)), html=html)
    assert found is not None
    assert found.language == language


def test_many_articles_and_metas_are_bounded():
    teasers = [news(url="/docs/other.html")] * 1_000
    assert find(script([*teasers[1:], news(url=URL)])) is not None
    assert find(script([*teasers, news(url=URL)])) is None
    metas = "<meta property=og:title content=x>" * 5_000
    assert find(metas + META) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@given(JSON, JSON, JSON, JSON, JSON)
def test_no_json_breaks_the_limits_of_an_article(headline, published, language, url, kind):
    value = {"@type": ["NewsArticle", kind], "headline": headline, "datePublished": published, "url": url}
    found = find(META + "<title>T</title>" + script({**value, "inLanguage": language}))
    assert found is None or (0 < len(found.title) <= 1_000 and found.published <= NOW.timestamp() + 300)
