"""VideoObjects of JSON-LD and microdata: the page to which they belong, and the value of each property."""

from __future__ import annotations

import json

import pytest

from sitemap_crawler.extract.videos.find import find_videos
from sitemap_crawler.sitemap.video import Video
from tests.support.reading_page import page

SITE = "https://example.com"
URL = f"{SITE}/docs/page.html"
HEAD = '<title>Our talks</title><meta name="description" content="Talks of the year.">'
REQUIRED = {
    "@context": "https://schema.org",
    "@type": "VideoObject",
    "name": "A talk",
    "description": "About it.",
    "thumbnailUrl": "/t.jpg",
    "contentUrl": "/v.mp4",
}
VALUES = (f"{SITE}/t.jpg", "A talk", "About it.")
VIDEO = Video(*VALUES, f"{SITE}/v.mp4")


def read(markup: str, head: str = HEAD) -> tuple[tuple[Video, ...], tuple[str, ...]]:
    return find_videos(page(f"<!DOCTYPE html><html><head>{head}</head><body>{markup}</body></html>"))


def script(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def stated(**more: object) -> dict[str, object]:
    return {name: value for name, value in {**REQUIRED, **more}.items() if value is not None}


def fields(**more: object) -> dict[str, object]:
    """Return the fields of a video that one property adds."""
    (video,), warnings = read(script(stated(**more)))
    assert warnings == ()
    required = VIDEO.fields()
    return {name: value for name, value in video.fields().items() if required.get(name) != value}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(stated(), id="alone"),
        pytest.param([{"@type": "Person"}, [stated()]], id="array"),
        pytest.param({"@graph": [{"@type": "WebPage"}, stated()]}, id="graph"),
        pytest.param({"@type": "Article", "video": [stated()]}, id="nested"),
        pytest.param({"@type": "Article", "url": "/other", "video": stated()}, id="below-another-page-but-in-no-list"),
        pytest.param(stated(**{"@type": ["Thing", "https://schema.org/VideoObject"]}), id="types"),
        pytest.param(stated(url="/other"), id="url-elsewhere-but-in-no-list"),
        pytest.param({"@type": "ItemList", "itemListElement": [{"item": stated()}]}, id="list-without-pages"),
        pytest.param(
            {"@type": "ItemList", "itemListElement": [{"item": stated(url=f"{URL}#talk")}]}, id="list-of-this-page"
        ),
        pytest.param({"hasPart": [stated(url=["/other", URL])]}, id="this-page-too"),
        pytest.param(
            {"@graph": [{"@type": "WebPage", "video": {"@type": "VideoObject", "@id": "#v"}}, stated(**{"@id": "#v"})]},
            id="reference",
        ),
        pytest.param([stated(**{"@id": "#v"}), {"@type": "VideoObject", "@id": "#v", "name": "B"}], id="one-id"),
    ],
)
def test_video_of_the_page(value: object) -> None:
    assert read(script(value)) == ((VIDEO,), ())


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(stated(**{"@type": "ImageObject"}), id="no-video"),
        pytest.param({"@type": "VideoObject", "@id": "#v"}, id="only-a-reference"),
        pytest.param({"itemListElement": [stated(url="/other")]}, id="item"),
        pytest.param({"itemListElement": [{"@type": "ListItem", "url": "/other", "item": stated()}]}, id="list-item"),
        pytest.param({"ItemListElement": {"item": stated(mainEntityOfPage={"@id": "/other"})}}, id="main-entity"),
        pytest.param({"hasPart": stated(url="https://other.example/")}, id="has-part"),
        pytest.param({"blogPost": [{"@type": "BlogPosting", "url": "/other", "video": stated()}]}, id="post"),
        pytest.param([["x", 1, None, {}]], id="nothing"),
    ],
)
def test_no_video_of_the_page(value: object) -> None:
    assert read(script(value)) == ((), ())


def test_the_canonical_is_this_page_too() -> None:
    head = f'{HEAD}<link rel="canonical" href="/canonical">'
    listed = {"itemListElement": [stated(url="/canonical"), stated(url="/other", contentUrl="/w.mp4")]}
    assert read(script(listed), head) == ((VIDEO,), ())


def test_an_unreadable_script_does_not_hide_the_next() -> None:
    assert read('<script type="application/ld+json">{"@type": "VideoObject",</script>' + script(stated())) == (
        (VIDEO,),
        (),
    )


@pytest.mark.parametrize(
    ("more", "warning"),
    [
        ({"name": None}, "video https://example.com/v.mp4 is not listed, it has no title"),
        ({"name": " <b> </b> "}, "video https://example.com/v.mp4 is not listed, it has no title"),
        ({"description": 5}, "video https://example.com/v.mp4 is not listed, it has no description"),
        ({"thumbnailUrl": "data:image/png,x"}, "video https://example.com/v.mp4 is not listed, it has no thumbnail"),
        ({"contentUrl": URL}, "video https://example.com/t.jpg is not listed, it has no video file or player"),
        (
            {"thumbnailUrl": None, "thumbnail": {"@id": "https://example.com/#elsewhere"}},
            "video https://example.com/v.mp4 is not listed, it has no thumbnail",
        ),
        ({"contentUrl": "/v.swf"}, "video https://example.com/t.jpg is not listed, it has no video file or player"),
        (
            {"contentUrl": {}, "thumbnailUrl": []},
            "VideoObject no. 1 of the page is not listed, it has no video file or player, no thumbnail",
        ),
    ],
)
def test_a_video_object_must_state_its_own_values(more: dict[str, object], warning: str) -> None:
    assert read(script(stated(**more))) == ((), (warning,))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"name": "<p>A &amp; B</p>"}, {"title": "A & B"}),
        ({"name": "A <b>fine</b>\n talk<br/>today"}, {"title": "A fine talk today"}),
        ({"name": 'A <film> & "more" ]]> 1 < 2'}, {"title": 'A <film> & "more" ]]> 1 < 2'}),
        ({"name": "A\u0000 \ud800talk\u0007"}, {}),
        ({"name": "t" * 900_000}, {"title": "t" * 1_000}),
        ({"name": ["", {"@value": "Ein Vortrag", "@language": "de"}, "A talk"]}, {"title": "Ein Vortrag"}),
        ({"description": "d" * 20_000}, {"description": "d" * 2_048}),
        ({"thumbnailUrl": ["", "/1.jpg", "/2.jpg"]}, {"thumbnail_loc": f"{SITE}/1.jpg"}),
        ({"thumbnailUrl": {"@type": "ImageObject", "url": "/1.jpg"}}, {"thumbnail_loc": f"{SITE}/1.jpg"}),
        (
            {"thumbnailUrl": None, "thumbnail": {"@type": "ImageObject", "contentUrl": "//cdn.example/1.jpg"}},
            {"thumbnail_loc": "https://cdn.example/1.jpg"},
        ),
        ({"contentUrl": "v.mp4#t=9"}, {"content_loc": f"{SITE}/docs/v.mp4"}),
        ({"contentUrl": ["blob:x", "/w.mp4"]}, {"content_loc": f"{SITE}/w.mp4"}),
        ({"embedUrl": "/player?v=1"}, {"player_loc": f"{SITE}/player?v=1"}),
        ({"embedUrl": URL}, {}),
        ({"contentUrl": "/w", "embedUrl": "/w"}, {"content_loc": f"{SITE}/w"}),
        ({"embedUrl": "/player.swf?v=1"}, {}),
        ({"embedUrl": "/v.mp4"}, {}),
        ({"embedUrl": "<iframe src='/player'></iframe>"}, {}),
        (
            {"embedUrl": "https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0"},
            {"player_loc": "https://www.youtube.com/embed/dQw4w9WgXcQ"},
        ),
    ],
)
def test_required_values(more: dict[str, object], expected: dict[str, object]) -> None:
    assert fields(**more) == expected


@pytest.mark.parametrize(
    ("more", "player"),
    [
        ({"embedUrl": "/player"}, f"{SITE}/player"),
        ({"contentUrl": "https://youtu.be/dQw4w9WgXcQ"}, "https://www.youtube.com/embed/dQw4w9WgXcQ"),
        (
            {"contentUrl": "https://player.vimeo.com/video/1?h=a", "embedUrl": "https://vimeo.com/1"},
            "https://player.vimeo.com/video/1?h=a",
        ),
    ],
)
def test_player_without_a_file(more: dict[str, object], player: str) -> None:
    assert read(script(stated(**{"contentUrl": None, **more}))) == ((Video(*VALUES, player_loc=player),), ())


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("PT1H2M3S", 3_723),
        ("P0DT0H0M5S", 5),
        ("PT90M", 5_400),
        ("PT1.9S", 1),
        (" pt30s ", 30),
        ("PT8H", 28_800),
        ("PT8H1S", None),
        ("P1D", None),
        ("PT0S", None),
        ("PT0.5S", None),
        ("P1M", None),
        ("PT", None),
        ("-PT5S", None),
        ("PT5", None),
        ("5", None),
        ("00:05", None),
        (5, None),
        ("PT" + "9" * 900_000 + "S", None),
        (["PT5S"], 5),
    ],
)
def test_duration(duration: object, seconds: int | None) -> None:
    assert fields(duration=duration) == ({} if seconds is None else {"duration": seconds})


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-05-06", "2024-05-06"),
        ("20240506", "2024-05-06"),
        ("2024-05-06T07:08:09+02:00", "2024-05-06T05:08:09+00:00"),
        ("2024-05-06T07:08:09.123Z", "2024-05-06T07:08:09+00:00"),
        ("2024-05-06 07:08Z", "2024-05-06T07:08:00+00:00"),
        ("2024-05-06T07:08:09", "2024-05-06"),
        ("Mon, 06 May 2024 07:08:09 GMT", "2024-05-06T07:08:09+00:00"),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01", None),
        ("2024-05", None),
        ("2024-02-30", None),
        ("yesterday", None),
        (1_700_000_000, None),
        ("2" * 100_000, None),
    ],
)
def test_dates(text: object, date: str | None) -> None:
    for name, field in (("uploadDate", "publication_date"), ("expires", "expiration_date")):
        assert fields(**{name: text}) == ({} if date is None else {field: date})


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2099-12-31", "2099-12-31"),
        ("2100-01-01", "2100-01-01"),
        ("2999-12-31", "2999-12-31"),
        ("9999-12-31", "9999-12-31"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59+00:00"),
        ("9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59-12:00"),  # in UTC it would be in the year 10000
        ("10000-01-01", None),
        ("1989-12-31", None),
    ],
)
def test_a_video_may_expire_in_any_year(text: str, date: str | None) -> None:
    assert fields(expires=text) == ({} if date is None else {"expiration_date": date})


@pytest.mark.parametrize("text", ["2100-01-01", "2999-12-31", "9999-12-31T23:59:59-12:00"])
def test_a_video_is_not_published_in_far_years(text: str) -> None:
    assert fields(uploadDate=text) == {}


def test_the_date_of_publication_replaces_an_unusable_upload_date() -> None:
    assert fields(uploadDate="today", datePublished="2024-05-06") == {"publication_date": "2024-05-06"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"ratingValue": 4.5}, 4.5),
        ({"ratingValue": "4,5", "ratingCount": 3}, 4.5),
        ({"ratingValue": "8", "bestRating": "10"}, 4.0),
        ({"ratingValue": 93, "bestRating": 100}, 4.65),
        ({"ratingValue": 1, "bestRating": 3}, 1.67),
        ({"ratingValue": 0}, 0.0),
        ([{"ratingValue": "good"}, {"ratingValue": 3}], 3.0),
        ({"ratingValue": 6}, None),
        ({"ratingValue": 11, "bestRating": 10}, None),
        ({"ratingValue": 0, "bestRating": 0}, None),
        ({"ratingValue": -1}, None),
        ({"ratingValue": True}, None),
        ({"ratingValue": float("nan")}, None),
        ({"ratingValue": float("inf"), "bestRating": float("inf")}, None),
        ({"ratingValue": 10**400}, None),
        ("4.5", None),
    ],
)
def test_rating(value: object, expected: float | None) -> None:
    assert fields(aggregateRating=value) == ({} if expected is None else {"rating": expected})


WATCHED = {"interactionType": "https://schema.org/WatchAction", "userInteractionCount": "12"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"interactionStatistic": WATCHED}, 12),
        ({"interactionStatistic": [{"interactionType": "LikeAction", "userInteractionCount": 5}, WATCHED]}, 12),
        ({"interactionStatistic": {"interactionType": {"@type": "WatchAction"}, "userInteractionCount": 7}}, 7),
        (
            {"interactionStatistic": {"interactionType": "http://schema.org/LikeAction", "userInteractionCount": 5}},
            None,
        ),
        ({"interactionStatistic": {"userInteractionCount": 5}}, None),
        ({"interactionCount": "2347"}, 2_347),
        ({"interactionCount": 0}, 0),
        ({"interactionCount": 3.0}, 3),
        ({"interactionCount": "1,000"}, None),
        ({"interactionCount": 3.5}, None),
        ({"interactionCount": -3}, None),
        ({"interactionCount": True}, None),
        ({"interactionCount": "\u0663"}, None),
        ({"interactionCount": "\u00b2"}, None),
        ({"interactionCount": 10**30}, None),
        ({"interactionStatistic": WATCHED, "interactionCount": 99}, 12),
    ],
)
def test_views(more: dict[str, object], expected: int | None) -> None:
    assert fields(**more) == ({} if expected is None else {"view_count": expected})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (False, False),
        ("True", True),
        (" no ", False),
        ("https://schema.org/False", False),
        ("http://schema.org/True", True),
        ("maybe", None),
        (1, None),
        ("", None),
    ],
)
def test_yes_and_no(value: object, expected: bool | None) -> None:
    for more, field in (
        ({"isFamilyFriendly": value}, "family_friendly"),
        ({"requiresSubscription": value}, "requires_subscription"),
        ({"publication": [{"@type": "BroadcastEvent", "isLiveBroadcast": value}]}, "live"),
    ):
        assert fields(**more) == ({} if expected is None else {field: expected})


def test_a_media_subscription_is_required() -> None:
    assert fields(requiresSubscription={"@type": "MediaSubscription"}) == {"requires_subscription": True}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"regionsAllowed": ["DE", "fr", "DE"]}, "allow DE FR"),
        ({"regionsAllowed": "US, CA,"}, "allow CA US"),
        ({"regionsAllowed": [{"@type": "Country", "name": "AT"}]}, "allow AT"),
        ({"ineligibleRegion": "US"}, "deny US"),
        ({"regionsAllowed": "DE", "ineligibleRegion": "US"}, "allow DE"),
        ({"regionsAllowed": ["DE", "Austria"]}, None),
        ({"regionsAllowed": "GB-ENG"}, None),
        ({"regionsAllowed": []}, None),
        ({"regionsAllowed": " , "}, None),
    ],
)
def test_restriction(more: dict[str, object], expected: str | None) -> None:
    assert fields(**more) == ({} if expected is None else {"restriction": expected})


@pytest.mark.parametrize(
    ("keywords", "tags"),
    [
        ("sun, sea ,, Sun", ("sun", "sea")),
        (["a,b", "c", {"@type": "DefinedTerm", "name": "d"}, 5], ("a", "b", "c", "d")),
        ("a," * 499 + "b,c", ("a", "b")),
        ([f"tag {number}" for number in range(40)], tuple(f"tag {number}" for number in range(32))),
        (["<b>x</b> &amp; y", "\u0001", "z" * 101], ("x & y",)),
    ],
)
def test_tags(keywords: object, tags: tuple[str, ...]) -> None:
    assert fields(keywords=keywords) == {"tags": tags}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"author": "Ann"}, "Ann"),
        ({"author": {"@type": "Person", "name": " Ann  B. "}, "publisher": {"name": "Channel"}}, "Ann B."),
        ({"author": [{}, {"name": "Ann"}]}, "Ann"),
        ({"creator": {"name": "u" * 256}, "publisher": {"name": "u" * 255}}, "u" * 255),
        ({"author": {"url": "/ann"}}, None),
    ],
)
def test_uploader(more: dict[str, object], expected: str | None) -> None:
    assert fields(**more) == ({} if expected is None else {"uploader": expected})


def test_references_in_a_graph_are_followed() -> None:
    graph = [
        stated(thumbnailUrl=None, thumbnail={"@id": "#thumbnail"}, author={"@id": "#ann"}, creator={"@id": "#nobody"}),
        {"@type": "ImageObject", "@id": "#thumbnail", "url": "/t.jpg"},
        {"@type": "Person", "@id": "#ann", "name": "Ann"},
    ]
    (video,), warnings = read(script({"@graph": graph}))
    assert warnings == ()
    assert (video.thumbnail_loc, video.uploader) == (f"{SITE}/t.jpg", "Ann")


MICRODATA = """
    <div itemprop="video" itemscope itemtype="https://schema.org/VideoObject">
      <h2 itemprop="name">A <b>talk</b></h2>
      <meta itemprop="duration" content="PT1M">
      <meta itemprop="isFamilyFriendly" content="True">
      <link itemprop="thumbnailUrl" href="/t.jpg">
      <link itemprop="embedUrl" href="/player">
      <span itemprop="author" itemscope itemtype="https://schema.org/Person"><i itemprop="name">Ann</i></span>
      <div itemprop="interactionStatistic" itemscope itemtype="https://schema.org/InteractionCounter">
        <link itemprop="interactionType" href="https://schema.org/WatchAction">
        <meta itemprop="userInteractionCount" content="12">
      </div>
      {}<p itemprop="description">About it.</p>
    </div>
"""


@pytest.mark.parametrize("url", ["", '<meta itemprop="url" content="page.html">'])
def test_microdata(url: str) -> None:
    video = Video(
        *VALUES, player_loc=f"{SITE}/player", duration=60, view_count=12, family_friendly=True, uploader="Ann"
    )
    assert read(MICRODATA.format(url)) == ((video,), ())


def test_a_teaser_in_microdata_is_the_video_of_another_page() -> None:
    assert read(MICRODATA.format('<a itemprop="url" href="/other">More</a>')) == ((), ())


def test_numbers_are_bounded() -> None:
    videos, warnings = read(script([stated(contentUrl=f"/{number}.mp4") for number in range(150)]))
    assert (len(videos), warnings) == (100, ())
    videos, warnings = read(script([stated(contentUrl=f"/{number}.mp4", name="") for number in range(150)]))
    assert (videos, len(warnings)) == ((), 20)
