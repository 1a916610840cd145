"""Dates that pages state: their sources, their priority and their credibility."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.page_dates import PageDate, modified_date
from tests.support.reading_page import URL, page

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
MAY = "2024-05-01T10:15:00+02:00"
JUNE = "2024-06-02T10:15:00Z"
IN_MAY = datetime(2024, 5, 1, 8, 15, tzinfo=UTC)
IN_JUNE = datetime(2024, 6, 2, 10, 15, tzinfo=UTC)
OTHER = "https://example.com/docs/other.html"


def ld(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def article(date: object = MAY, kind: object = "Article", **more: object) -> dict[str, object]:
    return {"@type": kind, "dateModified": date, **more}


def read(markup: str) -> PageDate | None:
    return modified_date(page(markup), now=NOW)


JSON_LD = [
    pytest.param(article(), id="an article"),
    pytest.param(article(kind="NewsArticle"), id="a kind of article"),
    pytest.param(article(kind="WebPage"), id="a page"),
    pytest.param(article(kind=["Thing", "BlogPosting"]), id="several types"),
    pytest.param(article(kind="https://schema.org/TechArticle"), id="a type with its address"),
    pytest.param(article(kind="schema:Article"), id="a type with a prefix"),
    pytest.param(article(url=URL), id="about this page"),
    pytest.param(article(url="/docs/page.html#top"), id="about this page, relative"),
    pytest.param(article(mainEntityOfPage={"@type": "WebPage", "@id": URL}), id="the main entity of this page"),
    pytest.param(article(mainEntityOfPage=URL), id="the main entity of this page, in short"),
    pytest.param(article(mainEntityOfPage=True), id="the main entity of something"),
    pytest.param(article(**{"@id": "https://example.com/#/schema/article/7"}), id="an id that is no page"),
    pytest.param([article()], id="in a list"),
    pytest.param({"@graph": [{"@type": "Organization"}, article()]}, id="in a graph"),
    pytest.param({"@type": "WebPage", "mainEntity": article()}, id="nested"),
    pytest.param([article(JUNE, url=OTHER), article(url=URL)], id="the other one is about another page"),
    pytest.param([article(JUNE), article(**{"@id": URL + "#article"})], id="its id is in this page"),
    pytest.param([article(JUNE), article(kind="WebPage")], id="a page before an article"),
    pytest.param([article(), article(JUNE)], id="the first of two articles"),
    pytest.param([article("2099-01-01"), article()], id="the first that can be believed"),
    pytest.param(article(comment=[article(JUNE, "CreativeWork", url=URL)]), id="not that of a comment"),
    pytest.param([article(JUNE, "Person"), article(JUNE, "Product"), article()], id="not that of a person"),
    pytest.param([article(7), article(None), article([JUNE]), article()], id="dates that are no text"),
]


@pytest.mark.parametrize("value", JSON_LD)
def test_json_ld_states_the_date_of_the_page(value: object) -> None:
    assert read(ld(value)) == PageDate(IN_MAY, has_time=True, source="json-ld")


NOT_THE_PAGE = [
    pytest.param({"@type": "Article", "datePublished": MAY}, id="only published"),
    pytest.param(article(url=OTHER), id="another page"),
    pytest.param(article(mainEntityOfPage={"@id": OTHER}), id="the main entity of another page"),
    pytest.param(article(kind="Comment"), id="a comment"),
    pytest.param({"dateModified": MAY}, id="no type"),
    pytest.param({"@type": "Blog", "blogPost": [article(), article()]}, id="the posts of a blog"),
    pytest.param({"@type": "ItemList", "itemListElement": [{"item": article()}]}, id="a list of articles"),
    pytest.param({"@type": "WebPage", "isPartOf": article(kind="CreativeWork")}, id="what it is a part of"),
    pytest.param("[" * 200_000 + '"dateModified"', id="too deep, open"),
    pytest.param('{"a":' * 50_000 + '"dateModified"' + "}" * 50_000, id="too deep"),
    pytest.param(json.dumps(article(articleBody="x" * 3_000_000)), id="too long"),
    pytest.param('{"@type": "Article", "dateModified": ', id="cut off"),
    pytest.param('"dateModified"' + " " * 900_000 + "-", id="white space"),
    pytest.param('"dateModified"' + ", " * 400_000 + "-", id="commas"),
    pytest.param('"dateModified"', id="a word"),
    pytest.param(article("\ud800"), id="half a character"),
]


@pytest.mark.parametrize("value", NOT_THE_PAGE)
def test_json_ld_without_a_date_of_the_page(value: object) -> None:
    assert read(ld(value)) is None


BROKEN = [
    pytest.param('{"@type": "Article", "dateModified": "%s",}', id="trailing comma"),
    pytest.param('[{"@type": "Article", "dateModified": "%s"}, ]', id="trailing comma of a list"),
    pytest.param('<!-- {"@type": "Article", "dateModified": "%s"} -->', id="comment"),
    pytest.param('//<![CDATA[\n{"@type": "Article", "dateModified": "%s"}\n//]]>', id="CDATA"),
    pytest.param('/*<![CDATA[*/{"@type": "Article", "dateModified": "%s"}/*]]>*/', id="CDATA in comments"),
    pytest.param('// <![CDATA[\n{"@type": "Article", "dateModified": "%s"};\n// ]]>', id="CDATA and semicolon"),
    pytest.param('{"@type": "Article", "dateModified": "%s"};', id="semicolon"),
    pytest.param('{"@type": "Article", "about": "two\nlines", "dateModified": "%s"}', id="line break in a text"),
]


@pytest.mark.parametrize("text", BROKEN)
def test_json_ld_with_a_common_mistake_is_read(text: str) -> None:
    assert read(ld(text % MAY)) == PageDate(IN_MAY, has_time=True, source="json-ld")


def test_an_article_about_the_canonical_is_about_the_page() -> None:
    stated = ld([article(JUNE), article(url=OTHER)])
    assert read(stated) == PageDate(IN_JUNE, has_time=True, source="json-ld")
    assert read(f'<link rel="canonical" href="{OTHER}">{stated}') == PageDate(IN_MAY, has_time=True, source="json-ld")


def test_only_so_many_scripts_are_read() -> None:
    empty = ld({"dateModified": 1})
    assert read(empty * 199 + ld(article())) == PageDate(IN_MAY, has_time=True, source="json-ld")
    assert read(empty * 200 + ld(article())) is None


def test_other_scripts_are_not_read() -> None:
    assert read(f'<script type="application/json">{json.dumps(article())}</script>') is None
    assert read(f"<script>{json.dumps(article())}</script>") is None


META = [
    ('<meta property="article:modified_time" content="%s">', "article:modified_time"),
    ('<meta name="article:modified_time" content="%s">', "article:modified_time"),
    ('<meta property=" Article:Modified_Time " content=" %s ">', "article:modified_time"),
    ('<meta property="og:updated_time" content="%s">', "og:updated_time"),
    ('<meta name="last-modified" content="%s">', "meta"),
    ('<meta http-equiv="Last-Modified" content="%s">', "meta"),
    ('<meta name="revised" content="%s">', "meta"),
    ('<meta name="DCTERMS.modified" content="%s">', "meta"),
    ('<meta name="DC.date.modified" content="%s">', "meta"),
    ('<meta itemprop="dateModified" content="%s">', "microdata"),
    ('<time itemprop="dateModified" datetime="%s">in May</time>', "microdata"),
    ('<time itemprop="dateModified">%s</time>', "microdata"),
    ('<time itemprop="dateCreated dateModified" datetime="%s">in May</time>', "microdata"),
    (
        '<p itemscope itemtype="https://schema.org/Article"><b><time itemprop="dateModified" datetime="%s">May</time>',
        "microdata",
    ),
]


@pytest.mark.parametrize(("markup", "source"), META)
def test_tags_state_the_date_of_the_page(markup: str, source: str) -> None:
    assert read(markup % MAY) == PageDate(IN_MAY, has_time=True, source=source)


NO_DATE_OF_THE_PAGE = [
    "<p>Last modified: 2024-05-01",
    '<meta property="article:published_time" content="2024-05-01">',
    '<meta name="revised" content="Jo Doe, May 2024">',
    '<meta property="article:modified_time">',
    '<time datetime="2024-05-01">May</time>',
    '<time itemprop="datePublished" datetime="2024-05-01">May</time>',
    '<div itemscope itemtype="https://schema.org/Comment"><meta itemprop="dateModified" content="2024-05-01"></div>',
    # A list of two articles: neither date is that of the list.
    2 * '<div itemscope itemtype="http://schema.org/Article"><meta itemprop="dateModified" content="2024-05-01"></div>',
]


@pytest.mark.parametrize("markup", NO_DATE_OF_THE_PAGE)
def test_other_dates_are_not_that_of_the_page(markup: str) -> None:
    assert read(markup) is None


def item(date: str, inside: str = "", kind: str = "Article") -> str:
    return (
        f'<div itemscope itemtype="https://schema.org/{kind}"><time itemprop="dateModified" datetime="{date}">x</time>'
        f"{inside}</div>"
    )


OWN_URL = f'<link itemprop="url" href="{URL}">'
OTHER_URL = f'<a itemprop="url" href="{OTHER}">other</a>'
OWN_ITEM = [
    item(MAY, OWN_URL),
    item(MAY, '<meta itemprop="mainEntityOfPage" content="/docs/page.html">'),
    item(MAY, OWN_URL) + item(JUNE),
    item(JUNE, OTHER_URL) + item(MAY, OWN_URL) + item(JUNE, OTHER_URL),
    item(MAY) + item(JUNE, OTHER_URL),
    item(MAY, item(JUNE, kind="Comment")),
]


@pytest.mark.parametrize("markup", OWN_ITEM)
def test_the_item_of_the_page_dates_it(markup: str) -> None:
    assert read(markup) == PageDate(IN_MAY, has_time=True, source="microdata")


OTHER_ITEM = [
    item(MAY, OTHER_URL),
    item(MAY) + item(JUNE),
    item(MAY, OWN_URL) + item(JUNE, OWN_URL),
    200 * item(JUNE, OTHER_URL),
]


@pytest.mark.parametrize("markup", OTHER_ITEM)
def test_items_of_other_pages_do_not_date_the_page(markup: str) -> None:
    assert read(markup) is None


def test_json_ld_comes_before_meta_before_microdata() -> None:
    microdata = f'<time itemprop="dateModified" datetime="{JUNE}">June</time>'
    updated = f'<meta property="og:updated_time" content="{JUNE}">'
    modified = f'<meta property="article:modified_time" content="{MAY}">'
    assert read(microdata + updated + modified) == PageDate(IN_MAY, has_time=True, source="article:modified_time")
    assert read(modified + ld(article(JUNE))) == PageDate(IN_JUNE, has_time=True, source="json-ld")


def test_a_date_that_is_not_credible_gives_way_to_the_next() -> None:
    microdata = f'<time itemprop="dateModified" datetime="{MAY}">May</time>'
    stated = ld(article("2099-01-01")) + '<meta property="article:modified_time" content="soon">' + microdata
    assert read(stated) == PageDate(IN_MAY, has_time=True, source="microdata")


CREDIBLE = [
    ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC), False),
    ("20240501", datetime(2024, 5, 1, tzinfo=UTC), False),
    ("2024-05-01T08:15Z", IN_MAY, True),
    ("20240501T081500Z", IN_MAY, True),
    ("2024-05-01 08:15:00", IN_MAY, True),
    ("2024-05-01T10:15:00+0200", IN_MAY, True),
    ("Wed, 01 May 2024 08:15:00 GMT", IN_MAY, True),
    ("1990-01-01", datetime(1990, 1, 1, tzinfo=UTC), False),
    ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC), False),
    ("2026-03-01T11:59:57Z", datetime(2026, 3, 1, 11, 59, 57, tzinfo=UTC), True),
    ("2026-03-01T12:05:00Z", datetime(2026, 3, 1, 12, 5, tzinfo=UTC), True),
]


@pytest.mark.parametrize(("text", "moment", "has_time"), CREDIBLE)
def test_a_credible_date(text: str, moment: datetime, has_time: bool) -> None:
    assert read(ld(article(text))) == PageDate(moment, has_time=has_time, source="json-ld")


INCREDIBLE = [
    "",
    "2024",
    "yesterday",
    "1989-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z",
    "0000-00-00 00:00:00",
    "1970-01-01",
    "2026-03-02",
    "2026-03-01T12:05:01Z",
    "2026-03-01T12:00:00Z",
    "2026-03-01T11:59:58Z",
    "2026-03-01T13:00:02+01:00",
    "9999-12-31T23:59:59-12:00",
    "1" * 5_000,
]


@pytest.mark.parametrize("text", INCREDIBLE)
def test_a_date_that_is_not_credible(text: str) -> None:
    assert read(ld(article(text))) is None


NAMES = st.sampled_from(["@graph", "@id", "@type", "dateModified", "mainEntity", "mainEntityOfPage", "url"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from([MAY, URL, "Article", "WebPage"]),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(NAMES | st.text(), parts, max_size=5),
    max_leaves=20,
)


@given(value=values)
def test_no_json_raises(value: object) -> None:
    date = read(ld(json.dumps({"@type": "Article", "dateModified": "x", "mainEntity": value}).replace("<", " ")))
    assert date is None or date.moment <= NOW


@given(text=st.text())
def test_no_text_raises(text: str) -> None:
    found = read(ld(f'{{"dateModified": {text}') + f'<meta property="article:modified_time" content="{text}">')
    assert found is None or found.source == "article:modified_time"
