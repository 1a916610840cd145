"""The embedded players of the large video sites.

Nothing is fetched from these sites, so values that the page does not state are missing.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.images import real_url
from sitemap_crawler.extract.text import MAX_TITLE, caption, page_description, page_title
from sitemap_crawler.extract.videos.draft import MAX_VIDEOS, VideoDraft, is_inert
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

_MAX_FRAMES = 1_000  # of each tag
# Lazy-loading scripts keep the URL of the player in the data attributes until the frame is in view.
_SOURCES = ("src", "data-src", "data-lazy-src")
_TAGS = ("iframe", "embed")


class Player(NamedTuple):
    """An embedded player of one video."""

    url: str
    """URL without the parameters that only control the playback."""
    key: str
    """Identifier of the video, the same for all its URLs."""
    thumbnail: str | None


class _Service(NamedTuple):
    """The form of the player URLs of a video site."""

    name: str
    path: re.Pattern[str]
    """Pattern of the path; its groups identify the video."""
    parameter: str | None = None
    """Query parameter that also identifies the video."""
    unlisted: str | None = None
    """Query parameter that an unlisted video needs to play."""


# https://developers.google.com/youtube/player_parameters
# Playlists and channels have words of eleven letters in the place of the video.
_YOUTUBE = _Service("youtube", re.compile(r"/embed/(?!videoseries/?$|live_stream/?$)([\w-]{11})/?", re.ASCII))
_BRIGHTCOVE = _Service("brightcove", re.compile(r"/(\d+)/[\w-]+/index\.html", re.ASCII), "videoId")
_WISTIA = _Service("wistia", re.compile(r"/embed/iframe/(\w+)/?", re.ASCII))
_JW = _Service("jwplayer", re.compile(r"/players/(\w+)-\w+\.html", re.ASCII))
_SERVICES: dict[str, tuple[_Service, ...]] = {
    "youtube.com": (_YOUTUBE,),
    "youtube-nocookie.com": (_YOUTUBE,),
    "player.vimeo.com": (_Service("vimeo", re.compile(r"/video/(\d+)/?", re.ASCII), unlisted="h"),),
    "dailymotion.com": (_Service("dailymotion", re.compile(r"/embed/video/(\w+)/?", re.ASCII)),),
    "geo.dailymotion.com": (_Service("dailymotion", re.compile(r"/player(?:/\w+)?\.html", re.ASCII), "video"),),
    "fast.wistia.net": (_WISTIA,),
    "fast.wistia.com": (_WISTIA,),
    "player.twitch.tv": (_Service("twitch", re.compile(r"/", re.ASCII), "video"),),
    "facebook.com": (_Service("facebook", re.compile(r"(?:/v\d+\.\d+)?/plugins/video\.php", re.ASCII), "href"),),
    "tiktok.com": (_Service("tiktok", re.compile(r"(?:/embed(?:/v2)?|/player/v1)/(\d+)/?", re.ASCII)),),
    "cdn.jwplayer.com": (_JW,),
    "content.jwplatform.com": (_JW,),
    "players.brightcove.net": (_BRIGHTCOVE,),
    "loom.com": (_Service("loom", re.compile(r"/embed/(\w+)/?", re.ASCII)),),
    "streamable.com": (_Service("streamable", re.compile(r"/[eo]/(\w+)/?", re.ASCII)),),
}
_URL = re.compile(r"(https?://(?:www\.)?([^/?#:]+))([^?#]*)(?:\?([^#]*))?")

# Patterns of watch pages, which structured data often names instead of the file, and the prefixes of their players.
_WATCH_PAGES = (
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

# Titles in the embedding code of the sites. They do not name a video.
_GENERIC_TITLE = re.compile(
    r"(?:(?:brightcove|dailymotion|facebook|jw|loom|streamable|tiktok|twitch|vimeo|wistia|youtube)(?: |-|$))?"
    r"(?:embed(?:ded)? )?(?:video)?(?: ?(?:player|embed))?",
    re.IGNORECASE,
)


def embedded_players(document: Document) -> list[VideoDraft]:
    """Return a draft of each player. The texts of the page replace missing texts of the frame."""
    players = list(islice(_find_players(document), MAX_VIDEOS))
    if not players:
        return []
    title, description = page_title(document), page_description(document)
    return [
        VideoDraft(
            "embedded video",
            thumbnail=player.thumbnail,
            title=_frame_title(element) or title,
            description=description,
            player=player.url,
            keys={player.key},
        )
        for element, player in players
    ]


def player_at(url: str) -> Player | None:
    """Return the player with this normalised URL, or `None` if the URL is not one of a known player."""
    match = _URL.fullmatch(url)
    if match is None:
        return None
    origin, host, path, query = match.groups("")
    for service in _SERVICES.get(host, ()):
        path_match = service.path.fullmatch(path)
        video = _query_value(query, service.parameter)
        if path_match is None or (service.parameter and not video):
            continue
        token = _query_value(query, service.unlisted)
        kept = [f"{name}={value}" for name, value in ((service.parameter, video), (service.unlisted, token)) if value]
        video_id = "/".join(filter(None, (*path_match.groups(), video)))
        player_url = f"{origin}{path}?{'&'.join(kept)}" if kept else f"{origin}{path}"
        return Player(player_url, f"{service.name}:{video_id}", _thumbnail(service, video_id))
    return None


def player_of_page(url: str) -> Player | None:
    """Return the player of the video on the watch page with this URL, or `None`."""
    for pattern, player in _WATCH_PAGES:
        match = pattern.fullmatch(url)
        if match:
            return player_at(f"{player}{match[1]}")
    return None


def key_of_thumbnail(url: str) -> str | None:
    """Return the key of the video whose thumbnail has this URL, or `None`."""
    match = _YOUTUBE_THUMBNAIL.fullmatch(url)
    return f"youtube:{match[1]}" if match else None


def _find_players(document: Document) -> Iterator[tuple[etree._Element, Player]]:
    for tag in _TAGS:
        for element in islice(document.all(tag), _MAX_FRAMES):
            urls = (real_url(document, element.get(name)) for name in _SOURCES)
            player = next(filter(None, (player_at(url) for url in urls if url)), None)
            if player and not is_inert(document, element):
                yield element, player


def _frame_title(element: etree._Element) -> str:
    title = one_line(element.get("title", ""), MAX_TITLE)
    return caption(element) if _GENERIC_TITLE.fullmatch(title) else title


def _query_value(query: str, name: str | None) -> str:
    parameters = (part.partition("=") for part in query.split("&")) if query and name else ()
    return next((value for key, _, value in parameters if key == name), "")


def _thumbnail(service: _Service, video_id: str) -> str | None:
    return f"https://i.ytimg.com/vi/{video_id}/hqdefault.jpg" if service is _YOUTUBE else None
