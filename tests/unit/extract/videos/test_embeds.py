"""Embedded players: the known sites, the stored URLs, and warnings about the others."""

from __future__ import annotations

import pytest

from sitemap_crawler.extract.videos.embeds import player_at, player_of_page
from sitemap_crawler.extract.videos.find import find_videos
from sitemap_crawler.sitemap.video import Video
from tests.support.reading_page import page

ID = "dQw4w9WgXcQ"
YOUTUBE = f"https://www.youtube.com/embed/{ID}"
HEAD = '<title>Our talks</title><meta name="description" content="Talks of the year.">'
TEXTS = ("Our talks", "Talks of the year.")


def found(body: str, head: str = HEAD) -> tuple[tuple[Video, ...], tuple[str, ...]]:
    return find_videos(page(f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"))


def youtube(title: str = TEXTS[0], url: str = YOUTUBE) -> Video:
    return Video(f"https://i.ytimg.com/vi/{ID}/hqdefault.jpg", title, TEXTS[1], player_loc=url)


@pytest.mark.parametrize(
    ("url", "kept", "key"),
    [
        (f"{YOUTUBE}?autoplay=1&rel=0&start=30", YOUTUBE, f"youtube:{ID}"),
        (f"http://youtube.com/embed/{ID}/", f"http://youtube.com/embed/{ID}/", f"youtube:{ID}"),
        (
            f"https://www.youtube-nocookie.com/embed/{ID}?enablejsapi=1",
            f"https://www.youtube-nocookie.com/embed/{ID}",
            f"youtube:{ID}",
        ),
        ("https://player.vimeo.com/video/123?autoplay=1", "https://player.vimeo.com/video/123", "vimeo:123"),
        ("https://player.vimeo.com/video/1?dnt=1&h=a1b2", "https://player.vimeo.com/video/1?h=a1b2", "vimeo:1"),
        (
            "https://www.dailymotion.com/embed/video/x7tgad0?mute=1",
            "https://www.dailymotion.com/embed/video/x7tgad0",
            "dailymotion:x7tgad0",
        ),
        (
            "https://geo.dailymotion.com/player.html?mute=true&video=x7tgad0",
            "https://geo.dailymotion.com/player.html?video=x7tgad0",
            "dailymotion:x7tgad0",
        ),
        (
            "https://geo.dailymotion.com/player/x5h2k.html?video=x7tgad0",
            "https://geo.dailymotion.com/player/x5h2k.html?video=x7tgad0",
            "dailymotion:x7tgad0",
        ),
        (
            "https://fast.wistia.net/embed/iframe/abc123?videoFoam=true",
            "https://fast.wistia.net/embed/iframe/abc123",
            "wistia:abc123",
        ),
        (
            "https://player.twitch.tv/?video=v40464143&parent=example.com",
            "https://player.twitch.tv/?video=v40464143",
            "twitch:v40464143",
        ),
        (
            "https://www.facebook.com/plugins/video.php?height=3&href=https%3A%2F%2Ffacebook.com%2Fv%2F1%2F&t=0",
            "https://www.facebook.com/plugins/video.php?href=https%3A%2F%2Ffacebook.com%2Fv%2F1%2F",
            "facebook:https%3A%2F%2Ffacebook.com%2Fv%2F1%2F",
        ),
        ("https://www.tiktok.com/embed/v2/67?lang=en", "https://www.tiktok.com/embed/v2/67", "tiktok:67"),
        ("https://www.tiktok.com/player/v1/67?loop=1", "https://www.tiktok.com/player/v1/67", "tiktok:67"),
        (
            "https://cdn.jwplayer.com/players/nPripu9l-ALJ3XQCI.html?sig=1",
            "https://cdn.jwplayer.com/players/nPripu9l-ALJ3XQCI.html",
            "jwplayer:nPripu9l",
        ),
        (
            "https://players.brightcove.net/175/default_default/index.html?autoplay&videoId=42",
            "https://players.brightcove.net/175/default_default/index.html?videoId=42",
            "brightcove:175/42",
        ),
        ("https://www.loom.com/embed/0a1b?sid=2", "https://www.loom.com/embed/0a1b", "loom:0a1b"),
        ("https://streamable.com/e/moo?autoplay=1", "https://streamable.com/e/moo", "streamable:moo"),
    ],
)
def test_known_players(url: str, kept: str, key: str) -> None:
    player = player_at(url)
    assert player is not None
    assert (player.url, player.key) == (kept, key)
    assert (player.thumbnail is not None) == key.startswith("youtube:")


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/embed/videoseries?list=PL1",
        "https://www.youtube.com/embed/live_stream?channel=UC1",
        "https://www.youtube.com/embed/short",
        f"https://www.youtube.com/embed/{ID}x",
        f"https://www.youtube.com/v/{ID}",
        f"https://www.youtube.com/watch?v={ID}",
        f"https://youtube.com.evil.example/embed/{ID}",
        f"https://evil.example/www.youtube.com/embed/{ID}",
        f"https://example.com/?u=https://www.youtube.com/embed/{ID}",
        "https://player.vimeo.com/video/abc",
        "https://vimeo.com/123",
        "https://geo.dailymotion.com/player.html?playlist=x1",
        "https://player.twitch.tv/?channel=someone",
        "https://www.facebook.com/plugins/page.php?href=https%3A%2F%2Ffacebook.com%2Fx",
        "https://players.brightcove.net/175/default_default/index.html?playlistId=1",
        "https://www.google.com/maps/embed?pb=1",
    ],
)
def test_no_players(url: str) -> None:
    assert player_at(url) is None


@pytest.mark.parametrize(
    ("url", "player"),
    [
        (f"https://www.youtube.com/watch?v={ID}&t=9", YOUTUBE),
        (f"https://m.youtube.com/watch?app=m&v={ID}", YOUTUBE),
        (f"https://youtu.be/{ID}?si=x", YOUTUBE),
        (f"https://www.youtube.com/shorts/{ID}", YOUTUBE),
        ("https://vimeo.com/123", "https://player.vimeo.com/video/123"),
        ("https://vimeo.com/channels/123", None),
        (f"https://www.youtube.com/playlist?list={ID}", None),
        (f"https://youtu.be/{ID}x", None),
    ],
)
def test_pages_of_videos(url: str, player: str | None) -> None:
    made = player_of_page(url)
    assert (made and made.url) == player


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            f'<iframe src="//www.youtube.com/embed/{ID}?a&amp;b"></iframe>', youtube(), id="protocol-relative"
        ),
        pytest.param(f'<embed src="{YOUTUBE}">', youtube(), id="embed"),
        pytest.param(f'<iframe data-src="{YOUTUBE}"></iframe>', youtube(), id="lazy"),
        pytest.param(f'<iframe src="about:blank" data-lazy-src="{YOUTUBE}"></iframe>', youtube(), id="lazy-blank"),
        pytest.param(f'<iframe src="/wait.html" data-src="{YOUTUBE}"></iframe>', youtube(), id="lazy-placeholder"),
        pytest.param(f'<iframe src="{YOUTUBE}" title=" A\ntalk "></iframe>', youtube("A talk"), id="title"),
        pytest.param(f'<iframe src="{YOUTUBE}" title="YouTube video player"></iframe>', youtube(), id="no-title"),
        pytest.param(
            f'<iframe src="{YOUTUBE}" title="Video killed it"></iframe>', youtube("Video killed it"), id="a-title"
        ),
        pytest.param(
            f'<figure><iframe src="{YOUTUBE}" title="Embedded video"></iframe><figcaption>A talk</figcaption></figure>',
            youtube("A talk"),
            id="caption",
        ),
        pytest.param(
            f'<iframe data-src="{YOUTUBE}"></iframe><noscript><iframe src="{YOUTUBE}?rel=0"></iframe></noscript>',
            youtube(),
            id="once-with-its-fallback",
        ),
    ],
)
def test_embedded(body: str, expected: Video) -> None:
    assert found(body) == ((expected,), ())


def test_elements_in_a_template_are_not_on_the_page() -> None:
    assert found(f'<template><iframe src="{YOUTUBE}"></iframe></template>') == ((), ())


def test_other_frames_are_no_videos() -> None:
    assert found('<iframe src="/form.html"></iframe><iframe></iframe><embed src="/a.pdf">') == ((), ())


@pytest.mark.parametrize(
    ("body", "head", "warning"),
    [
        (
            '<iframe src="https://player.vimeo.com/video/1?muted=1"></iframe>',
            HEAD,
            "video https://player.vimeo.com/video/1 is not listed, it has no thumbnail",
        ),
        (f'<iframe src="{YOUTUBE}"></iframe>', "", f"video {YOUTUBE} is not listed, it has no title, no description"),
    ],
)
def test_missing_values_of_players_are_reported(body: str, head: str, warning: str) -> None:
    assert found(body, head) == ((), (warning,))


def test_numbers_are_bounded() -> None:
    frames = "".join(f'<iframe src="https://www.youtube.com/embed/{number:011}"></iframe>' for number in range(3_000))
    listed, messages = found(frames)
    assert (len(listed), messages) == (100, ())
