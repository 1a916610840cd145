"""The embedded players of the large video sites. Nothing is fetched from them: what a page doesn't say is missing."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.images import real_url
from sitemap_crawler.extract.text import MAX_TITLE, caption, page_description, page_title
from sitemap_crawler.extract.videos.draft import MAX_VIDEOS, Draft, is_inert
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

_MAX_FRAMES = 1_000
# Lazy-loading scripts keep the player's URL in the others until the frame is in view.
_SOURCES = ("src", "data-src", "data-lazy-src")
_TAGS = ("iframe", "embed")


class Player(NamedTuple):
    url: str  # without the parameters that only say how it plays
    key: str  # the same for every URL of this video
    thumbnail: str | None


class _Service(NamedTuple):
    name: str
    path: re.Pattern[str]  # its groups identify the video
    parameter: str | None = None  # of the query; identifies the video too
    unlisted: str | None = None  # a parameter without which an unlisted video doesn't play


def _service(name: str, path: str, parameter: str | None = None, unlisted: str | None = None) -> _Service:
    return _Service(name, re.compile(path, re.ASCII), parameter, unlisted)


# https://developers.google.com/youtube/player_parameters; playlists and channels have words of eleven letters there.
_YOUTUBE = _service("youtube", r"/embed/(?!videoseries/?$|live_stream/?$)([\w-]{11})/?")
_BRIGHTCOVE = _service("brightcove", r"/(\d+)/[\w-]+/index\.html", "videoId")
_WISTIA = _service("wistia", r"/embed/iframe/(\w+)/?")
_JW = _service("jwplayer", r"/players/(\w+)-\w+\.html")
_SERVICES: dict[str, tuple[_Service, ...]] = {
    "youtube.com": (_YOUTUBE,),
    "youtube-nocookie.com": (_YOUTUBE,),
    "player.vimeo.com": (_service("vimeo", r"/video/(\d+)/?", unlisted="h"),),
    "dailymotion.com": (_service("dailymotion", r"/embed/video/(\w+)/?"),),
    "geo.dailymotion.com": (_service("dailymotion", r"/player(?:/\w+)?\.html", "video"),),
    "fast.wistia.net": (_WISTIA,),
    "fast.wistia.com": (_WISTIA,),
    "player.twitch.tv": (_service("twitch", r"/", "video"),),
    "facebook.com": (_service("facebook", r"(?:/v\d+\.\d+)?/plugins/video\.php", "href"),),
    "tiktok.com": (_service("tiktok", r"(?:/embed(?:/v2)?|/player/v1)/(\d+)/?"),),
    "cdn.jwplayer.com": (_JW,),
    "content.jwplatform.com": (_JW,),
    "players.brightcove.net": (_BRIGHTCOVE,),
    "loom.com": (_service("loom", r"/embed/(\w+)/?"),),
    "streamable.com": (_service("streamable", r"/[eo]/(\w+)/?"),),
}
_URL = re.compile(r"(https?://(?:www\.)?([^/?#:]+))([^?#]*)(?:\?([^#]*))?")

# Pages of a video, which structured data often names instead of the file, and their players.
_WATCHED = (
    (
        re.compile(
            r"https?://(?:(?:www\.|m\.)?youtube\.com/(?:watch\?(?:[^#]*&)?v=|shorts/|live/)|youtu\.be/)"
            r"([\w-]{11})(?:[?&#/].*)?",
            re.ASCII,
        ),
        "https://www.youtube.com/embed/",
    ),
    (re.compile(r"https?://(?:www\.)?vimeo\.com/(\d+)/?(?:[?#].*)?", re.ASCII), "https://player.vimeo.com/video/"),
)
_YOUTUBE_THUMBNAIL = re.compile(r"https?://(?:i\d?\.ytimg|img\.youtube)\.com/vi(?:_webp)?/([\w-]{11})/.*", re.ASCII)

# What the sites write into the code that they offer for embedding: it names no video.
_NO_TITLE = re.compile(
    r"(?:(?:brightcove|dailymotion|facebook|jw|loom|streamable|tiktok|twitch|vimeo|wistia|youtube)(?: |-|$))?"
    r"(?:embed(?:ded)? )?(?:video)?(?: ?(?:player|embed))?",
    re.IGNORECASE,
)


def embedded_players(document: Document) -> list[Draft]:
    """Return a draft of each, with what the page says of itself where the frame has no text of its own."""
    found = list(islice(_found(document), MAX_VIDEOS))
    if not found:
        return []
    title, description = page_title(document), page_description(document)
    return [
        Draft(
            "embedded video",
            thumbnail=player.thumbnail,
            title=_own_title(element) or title,
            description=description,
            player=player.url,
            keys={player.key},
        )
        for element, player in found
    ]


def player_at(url: str) -> Player | None:
    """Return the player of a large video site that this (normalised) URL is."""
    match = _URL.fullmatch(url)
    if match is None:
        return None
    origin, host, path, query = match.groups("")
    for service in _SERVICES.get(host, ()):
        identity = service.path.fullmatch(path)
        video = _parameter(query, service.parameter)
        if identity is None or (service.parameter and not video):
            continue
        token = _parameter(query, service.unlisted)
        kept = [f"{name}={value}" for name, value in ((service.parameter, video), (service.unlisted, token)) if value]
        number = "/".join(filter(None, (*identity.groups(), video)))
        where = f"{origin}{path}?{'&'.join(kept)}" if kept else f"{origin}{path}"
        return Player(where, f"{service.name}:{number}", _thumbnail(service, number))
    return None


def player_of_page(url: str) -> Player | None:
    """Return the player of the video that this page of a large video site shows."""
    for pattern, player in _WATCHED:
        match = pattern.fullmatch(url)
        if match:
            return player_at(f"{player}{match[1]}")
    return None


def key_of_thumbnail(url: str) -> str | None:
    match = _YOUTUBE_THUMBNAIL.fullmatch(url)
    return f"youtube:{match[1]}" if match else None


def _found(document: Document) -> Iterator[tuple[etree._Element, Player]]:
    for tag in _TAGS:
        for element in islice(document.all(tag), _MAX_FRAMES):
            urls = (real_url(document, element.get(name)) for name in _SOURCES)
            player = next(filter(None, (player_at(url) for url in urls if url)), None)
            if player and not is_inert(document, element):
                yield element, player


def _own_title(element: etree._Element) -> str:
    title = one_line(element.get("title", ""), MAX_TITLE)
    return caption(element) if _NO_TITLE.fullmatch(title) else title


def _parameter(query: str, name: str | None) -> str:
    parameters = (part.partition("=") for part in query.split("&")) if query and name else ()
    return next((value for key, _, value in parameters if key == name), "")


def _thumbnail(service: _Service, number: str) -> str | None:
    return f"https://i.ytimg.com/vi/{number}/hqdefault.jpg" if service is _YOUTUBE else None
