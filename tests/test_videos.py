"""Plain <video> elements: where each value comes from, and what is reported instead of listed."""

from __future__ import annotations

import pytest

from sitemap_crawler.items import Video
from sitemap_crawler.reading.document import Document, parse_document
from sitemap_crawler.reading.videos import MAX_VIDEOS, MAX_WARNINGS, find_videos
from sitemap_crawler.urls import Resolver

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
def test_what_lacks_a_required_value_is_reported(body: str, head: str, warning: str) -> None:
    assert warnings(body, head) == (warning,)


def test_good_and_bad_side_by_side() -> None:
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
