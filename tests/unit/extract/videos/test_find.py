"""Plain <video> elements, Open Graph videos, and the merging of all sources of one video."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.document import Document, parse_document
from sitemap_crawler.extract.videos.draft import MAX_VIDEOS
from sitemap_crawler.extract.videos.find import MAX_WARNINGS, find_videos
from sitemap_crawler.sitemap.video import Video
from sitemap_crawler.urls.normalise import Resolver

SITE = "https://example.com"
PAGE = f"{SITE}/talks/page.html"
HEAD = '<title>Our talks</title><meta name="description" content="Talks of the year.">'


def document(body: str, head: str = HEAD) -> Document:
    html = f"<!DOCTYPE html><html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>"
    parsed = parse_document(html.encode(), url=PAGE, content_type="text/html", resolver=Resolver())
    assert parsed is not None
    return parsed


def videos(body: str, head: str = HEAD) -> tuple[Video, ...]:
    found, warnings = find_videos(document(body, head))
    assert warnings == ()
    return found


def warnings(body: str, head: str = HEAD) -> tuple[str, ...]:
    found, messages = find_videos(document(body, head))
    assert found == ()
    return messages


def video(content: str = "/v.mp4", *, title: str = "Our talks", description: str = "Talks of the year.") -> Video:
    return Video(f"{SITE}/p.jpg", title, description, content_loc=f"{SITE}{content}")


def test_page_without_a_video() -> None:
    assert find_videos(document("<p>Nothing to see</p>")) == ((), ())


@pytest.mark.parametrize(
    ("body", "content"),
    [
        pytest.param('<video src="/v.mp4" poster="/p.jpg"></video>', "/v.mp4", id="src"),
        pytest.param('<video poster="../p.jpg" src="v.mp4#t=9"></video>', "/talks/v.mp4", id="relative"),
        pytest.param(
            '<video poster="/p.jpg"><source src="/v.webm"><source src="/v.mp4">No player</video>',
            "/v.webm",
            id="first-source",
        ),
        pytest.param(
            '<video poster="/p.jpg" src="blob:https://example.com/1"><source src="data:video/mp4,x">'
            '<source><source src=""><source src="/v.mp4"></video>',
            "/v.mp4",
            id="first-real-source",
        ),
        pytest.param(
            '<video poster="/p.jpg"><source src="page.html"><source src="/v.mp4"></video>', "/v.mp4", id="not-the-page"
        ),
    ],
)
def test_content(body: str, content: str) -> None:
    assert videos(body) == (video(content),)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<video {} title='A talk' aria-label='Label'></video>", "A talk"),
        ("<video {} title=' ' aria-label=' A \n label '></video>", "A label"),
        ("<figure><video {}></video><figcaption>A <b>fine</b>\n talk</figcaption></figure>", "A fine talk"),
        ("<figure><figcaption>First</figcaption><div><video {} aria-label=''></video></div></figure>", "First"),
        ("<figure><video {} title='Own'></video><figcaption>Caption</figcaption></figure>", "Own"),
        ("<figure><video {}></video><figcaption> </figcaption></figure>", "Our talks"),
        ("<figure><figcaption>Other</figcaption></figure><video {}></video>", "Our talks"),
    ],
)
def test_title(body: str, title: str) -> None:
    assert videos(body.format("src=/v.mp4 poster=/p.jpg")) == (video(title=title),)


def test_title_of_a_drawing_is_not_the_title_of_the_page() -> None:
    head = '<meta name="description" content="Talks of the year.">'
    drawing = "<svg><title>Play button</title></svg>"
    body = f'{drawing}<video src="/v.mp4" poster="/p.jpg"></video>'
    assert warnings(body, head) == ("video https://example.com/v.mp4 is not listed, it has no title",)


@pytest.mark.parametrize(
    ("metas", "description"),
    [
        ('<meta name="Description" content=" One\n two ">', "One two"),
        ('<meta property="og:description" content="Graph"><meta name="description" content="Plain">', "Plain"),
        ('<meta property="og:description" content="Graph"><meta name="description" content=" ">', "Graph"),
        ('<meta name="description"><meta name="description" content="Second">', "Second"),
    ],
)
def test_description(metas: str, description: str) -> None:
    head = f"<title>Our talks</title>{metas}"
    assert videos('<video src="/v.mp4" poster="/p.jpg"></video>', head) == (video(description=description),)


def test_texts_are_bounded() -> None:
    head = f'<title>{"t" * 20_000}</title><meta name="description" content="{"d" * 20_000}">'
    (found,) = videos('<video src="/v.mp4" poster="/p.jpg"></video>', head)
    assert (found.title, found.description) == ("t" * 1_000, "d" * 2_048)


NAME = "video https://example.com/v.mp4 is not listed, it has no"


@pytest.mark.parametrize(
    ("body", "head", "warning"),
    [
        ("<video src=/v.mp4></video>", HEAD, f"{NAME} poster (thumbnail)"),
        ("<video src=/v.mp4 poster='data:image/gif,x'></video>", HEAD, f"{NAME} poster (thumbnail)"),
        ("<video src=/v.mp4 poster=/p.jpg></video>", "<title>Our talks</title>", f"{NAME} description"),
        ("<video src=/v.mp4></video>", "", f"{NAME} poster (thumbnail), no title, no description"),
        (
            "<video src=blob:x poster=/p.jpg></video>",
            HEAD,
            "video https://example.com/p.jpg is not listed, it has no source with an http(s) URL",
        ),
        (
            "<video></video>",
            HEAD,
            "video no. 1 of the page is not listed, it has no source with an http(s) URL, no poster (thumbnail)",
        ),
    ],
)
def test_a_missing_required_value_is_reported(body: str, head: str, warning: str) -> None:
    assert warnings(body, head) == (warning,)


def test_an_incomplete_video_between_complete_videos() -> None:
    body = "<video src=/1.mp4 poster=/p.jpg></video><video src=/2.mp4></video><video src=/3.mp4 poster=/p.jpg></video>"
    found, messages = find_videos(document(body))
    assert found == (video("/1.mp4"), video("/3.mp4"))
    assert messages == ("video https://example.com/2.mp4 is not listed, it has no poster (thumbnail)",)


def test_the_same_video_twice_is_one() -> None:
    assert videos("<video src=/v.mp4 poster=/p.jpg></video>" * 2) == (video(),)


def test_numbers_are_bounded() -> None:
    many = range(150)
    good = "".join(f"<video src=/{number}.mp4 poster=/p.jpg></video>" for number in many)
    assert MAX_VIDEOS == 100
    assert videos(good) == tuple(video(f"/{number}.mp4") for number in range(100))
    long = "x" * 1_000
    messages = warnings("".join(f"<video src=/{number}{long}.mp4></video>" for number in many))
    assert len(messages) == MAX_WARNINGS
    assert max(map(len, messages)) < 300


def test_elements_in_a_template_are_not_on_the_page() -> None:
    assert videos("<template><video src=/v.mp4 poster=/p.jpg></video></template>") == ()


def test_control_characters_are_no_text() -> None:
    body = '<video src=/v.mp4 poster=/p.jpg title="&#1;" aria-label="A&#2; talk"></video>'
    assert videos(body) == (video(title="A talk"),)


GRAPH = (
    '<meta property="og:title" content=" A &quot;shared&quot; talk "><meta property="og:description" content="Shared.">'
    '<meta property="og:image" content="/p.jpg">'
)


def graph(*tags: tuple[str, str]) -> str:
    return GRAPH + "".join(f'<meta property="{name}" content="{content}">' for name, content in tags)


def shared(**locations: str) -> Video:
    return Video(f"{SITE}/p.jpg", 'A "shared" talk', "Shared.", **locations)


@pytest.mark.parametrize(
    ("tags", "locations"),
    [
        pytest.param([("og:video", "/v.mp4")], {"content_loc": f"{SITE}/v.mp4"}, id="file"),
        pytest.param(
            [("og:video", "//cdn.example/V.MP4?x=1")], {"content_loc": "https://cdn.example/V.MP4?x=1"}, id="case"
        ),
        pytest.param(
            [("OG:Video:URL", "/v"), ("og:video:type", "Video/MP4; a=b")], {"content_loc": f"{SITE}/v"}, id="type"
        ),
        pytest.param([("og:video", "/v"), ("og:video:type", "text/html")], {"player_loc": f"{SITE}/v"}, id="player"),
        pytest.param(
            [("og:video", "http://example.com/v.mp4"), ("og:video:secure_url", "https://example.com/v.mp4")],
            {"content_loc": f"{SITE}/v.mp4"},
            id="secure",
        ),
        pytest.param(
            [
                ("og:video:url", "https://www.youtube.com/embed/abcdefghijk?autoplay=1"),
                ("og:video:type", "text/html"),
                ("og:video:url", "https://www.youtube.com/v/abcdefghijk"),
                ("og:video:type", "application/x-shockwave-flash"),
            ],
            {"player_loc": "https://www.youtube.com/embed/abcdefghijk"},
            id="flash-beside-a-player",
        ),
        pytest.param(
            [
                ("og:video:url", "https://player.vimeo.com/video/1"),
                ("og:video:type", "application/x-shockwave-flash"),
                ("og:video:url", "https://player.vimeo.com/video/2"),
                ("og:video:type", "text/html"),
            ],
            {"player_loc": "https://player.vimeo.com/video/2"},
            id="player-beside-flash",
        ),
        pytest.param(
            [("og:video", "https://youtu.be/abcdefghijk"), ("og:video:type", "text/html")],
            {"player_loc": "https://www.youtube.com/embed/abcdefghijk"},
            id="page-of-a-player",
        ),
        pytest.param(
            [("og:video", "/old.swf"), ("og:video", "/play"), ("og:video:type", "text/html"), ("og:video", "/v.webm")],
            {"content_loc": f"{SITE}/v.webm", "player_loc": f"{SITE}/play"},
            id="file-and-player",
        ),
    ],
)
def test_open_graph(tags: list[tuple[str, str]], locations: dict[str, str]) -> None:
    assert videos("", graph(*tags)) == (shared(**locations),)


def test_optional_values_of_open_graph() -> None:
    tags = [("og:video", "/v.mp4"), ("video:duration", "90"), ("video:tag", "Sun"), ("og:video:tag", "Sea")]
    (found,) = videos("", graph(*tags, ("video:release_date", "2024-05-06"), ("video:tag", "sun")))
    assert found.fields() == {
        **shared(content_loc=f"{SITE}/v.mp4").fields(),
        "duration": 90,
        "publication_date": "2024-05-06",
        "tags": ("Sun", "Sea"),
    }
    (found,) = videos("", graph(("og:video", "/v.mp4"), ("video:duration", "28801")))
    assert found.duration is None


@pytest.mark.parametrize(
    ("head", "warning"),
    [
        (
            f'{HEAD}<meta property="og:video" content="/v.mp4">',
            "video https://example.com/v.mp4 is not listed, it has no thumbnail, no title, no description",
        ),
        (
            graph(("og:video", "/v.swf")),
            "video https://example.com/p.jpg is not listed, it has no video file or player",
        ),
        (graph(("og:video", "/v")), "video https://example.com/p.jpg is not listed, it has no video file or player"),
        (
            '<meta property="og:title" content="T"><meta property="og:video" content="data:video/mp4,x">',
            "the Open Graph video is not listed, it has no video file or player, no thumbnail, no description",
        ),
    ],
)
def test_incomplete_open_graph_is_reported(head: str, warning: str) -> None:
    assert warnings("", head) == (warning,)


def test_open_graph_without_a_video_is_nothing() -> None:
    assert find_videos(document("", graph(("og:video:width", "640"), ("og:type", "video.other")))) == ((), ())


def stated(**more: object) -> str:
    values = {"@type": "VideoObject", "name": "Stated", "description": "As stated.", "thumbnailUrl": "/t.jpg", **more}
    return f'<script type="application/ld+json">{json.dumps(values)}</script>'


THUMBNAIL = f"{SITE}/t.jpg"
VALUES = (THUMBNAIL, "Stated", "As stated.")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            stated(contentUrl="/v.mp4") + "<video src=/v.mp4 poster=/p.jpg title=Other></video>",
            [Video(*VALUES, f"{SITE}/v.mp4")],
            id="same-file",
        ),
        pytest.param(
            "<video src=/v.webm poster=/t.jpg></video>" + stated(contentUrl="/v.mp4"),
            [Video(*VALUES, f"{SITE}/v.mp4")],
            id="same-poster",
        ),
        pytest.param(
            stated(duration="PT5S") + "<video src=/v.webm poster=/t.jpg></video>",
            [Video(*VALUES, f"{SITE}/v.webm", duration=5)],
            id="the-element-has-the-file",
        ),
        pytest.param(
            stated(contentUrl="/v.mp4", description="") + "<video src=/v.mp4></video>",
            [Video(THUMBNAIL, "Stated", "Talks of the year.", f"{SITE}/v.mp4")],
            id="together-complete",
        ),
        pytest.param(
            stated(contentUrl="/1.mp4")
            + "<video src=/2.mp4 poster=/t.jpg></video><video src=/1.mp4 poster=/t.jpg></video>",
            [Video(*VALUES, f"{SITE}/1.mp4"), Video(THUMBNAIL, "Our talks", "Talks of the year.", f"{SITE}/2.mp4")],
            id="one-poster-for-all-and-a-file-that-tells",
        ),
        pytest.param(
            stated(contentUrl="/0.mp4")
            + "<video src=/1.mp4 poster=/t.jpg></video><video src=/2.mp4 poster=/t.jpg></video>",
            [Video(*VALUES, f"{SITE}/0.mp4"), Video(THUMBNAIL, "Our talks", "Talks of the year.", f"{SITE}/2.mp4")],
            id="a-poster-tells-once",
        ),
        pytest.param(
            stated(embedUrl="https://www.youtube-nocookie.com/embed/abcdefghijk?rel=0", duration="PT5S")
            + '<iframe src="https://www.youtube.com/embed/abcdefghijk"></iframe>',
            [Video(*VALUES, player_loc="https://www.youtube-nocookie.com/embed/abcdefghijk", duration=5)],
            id="same-player",
        ),
        pytest.param(
            stated(contentUrl="/v.mp4", thumbnailUrl="https://i.ytimg.com/vi/abcdefghijk/0.jpg")
            + '<iframe src="https://www.youtube.com/embed/abcdefghijk"></iframe>',
            [
                Video(
                    "https://i.ytimg.com/vi/abcdefghijk/0.jpg",
                    "Stated",
                    "As stated.",
                    f"{SITE}/v.mp4",
                    "https://www.youtube.com/embed/abcdefghijk",
                )
            ],
            id="thumbnail-of-the-player",
        ),
        pytest.param(
            stated(contentUrl="/v.mp4") + stated(contentUrl="/v.mp4", name="Again", keywords="a,b"),
            [Video(*VALUES, f"{SITE}/v.mp4", tags=("a", "b"))],
            id="stated-twice",
        ),
        pytest.param(
            stated(contentUrl="/v.mp4") + stated(contentUrl="/w.mp4", name="Other"),
            [Video(*VALUES, f"{SITE}/v.mp4"), Video(THUMBNAIL, "Other", "As stated.", f"{SITE}/w.mp4")],
            id="one-thumbnail-for-two-objects",
        ),
    ],
)
def test_one_video_is_written_once(body: str, expected: list[Video]) -> None:
    assert videos(body) == tuple(expected)


def test_open_graph_is_the_video_of_the_page() -> None:
    head = HEAD + graph(("og:video", "/v.mp4"), ("video:duration", "7"))
    (found,) = videos("<video src=/v.mp4></video>", head)
    assert found.fields() == {**video(title="Our talks").fields(), "duration": 7}
    (found,) = videos("<video src=/w.mp4 poster=/p.jpg></video>", head)
    assert (found.content_loc, found.duration) == (f"{SITE}/w.mp4", 7)
    (found,) = videos(stated(contentUrl="/v.mp4", duration="PT5S"), head)
    assert (found.title, found.duration) == ("Stated", 5)
    assert len(videos("<video src=/w.mp4 poster=/q.jpg></video>", head)) == 2


def test_all_kinds_together_are_bounded() -> None:
    objects = "".join(stated(contentUrl=f"/object-{number}.mp4") for number in range(40))
    elements = "".join(f"<video src=/element-{number}.mp4 poster=/p.jpg></video>" for number in range(90))
    found = videos(objects + elements)
    assert len(found) == 100
    assert found[40] == video("/element-0.mp4")


FULL = Video(
    "https://example.com/t.jpg",
    "T",
    "D",
    "https://example.com/v.mp4",
    "https://example.com/player",
    duration=60,
    expiration_date="2030-01-02",
    rating=4.5,
    view_count=0,
    publication_date="2024-05-06T07:08:09+00:00",
    tags=("a", "b"),
    family_friendly=False,
    restriction="allow DE FR",
    requires_subscription=False,
    uploader="U",
    platform="deny tv",
    live=True,
)


@pytest.mark.parametrize("whole", [FULL, video()])
def test_a_video_survives_json(whole: Video) -> None:
    fields = json.loads(json.dumps(whole.fields()))
    assert None not in fields.values()
    assert [] not in fields.values()
    assert Video.from_fields(fields) == whole


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["P1D", "/v.mp4", "\ud800", "#"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["@type", "@id", "@value", "name", "url", "ratingValue"]), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = [
    *(
        "@id",
        "name",
        "description",
        "thumbnailUrl",
        "thumbnail",
        "contentUrl",
        "embedUrl",
        "url",
        "duration",
        "expires",
    ),
    *("uploadDate", "aggregateRating", "interactionStatistic", "interactionCount", "keywords", "isFamilyFriendly"),
    *("regionsAllowed", "requiresSubscription", "author", "publication"),
]


@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_no_values_raise(values: dict[str, object]) -> None:
    script = json.dumps({"@type": "VideoObject", "hasPart": [values], **values})
    find_videos(document(f'<script type="application/ld+json">{script.replace("</", "")}</script>'))
