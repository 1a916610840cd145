"""One listed page as the bytes of one `<url>` element."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitemap_crawler.sitemap.limits import MAX_IMAGES, MAX_LOC, MAX_VIDEO_DESCRIPTION, MAX_VIDEO_TITLE

if TYPE_CHECKING:
    from sitemap_crawler.items import Video

# What XML 1.0 forbids even as a reference, https://www.w3.org/TR/xml/#charsets
_FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff"
_FORBIDDEN_CHARACTER = re.compile(f"[{_FORBIDDEN}]")
_SPECIAL = re.compile(f"[&<>'\"\r{_FORBIDDEN}]")
_REFERENCES = {
    # The five that the protocol demands, https://www.sitemaps.org/protocol.html#escaping
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    # A parser turns a bare carriage return into a line feed, https://www.w3.org/TR/xml/#sec-line-ends
    "\r": "&#13;",
}
_CHARACTERS = {reference: character for character, reference in _REFERENCES.items()}
_REFERENCE = re.compile("|".join(_CHARACTERS))


@dataclass(frozen=True, slots=True)
class Entry:
    """`lastmod` is a W3C datetime, `changefreq` and `priority` are words of the protocol; URLs are absolute and
    percent-encoded, not yet escaped for XML."""

    loc: str
    lastmod: str | None = None
    images: tuple[str, ...] = ()
    videos: tuple[Video, ...] = ()
    changefreq: str | None = None
    priority: str | None = None

    @property
    def too_long(self) -> bool:
        return len(self.loc) > MAX_LOC


def escape(text: str) -> str:
    """Text for an element's content; characters that XML can't hold are left out."""
    return _SPECIAL.sub(_reference, text)


def unescape(text: str) -> str:
    """The text that `escape` made this of."""
    return _REFERENCE.sub(lambda match: _CHARACTERS[match[0]], text)


def serialise(entry: Entry) -> bytes:
    """One `<url>` element and a line end, UTF-8. Surplus images and videos that lack a required value are left out."""
    parts = [f"<url><loc>{escape(entry.loc)}</loc>"]
    if entry.lastmod is not None:
        parts.append(f"<lastmod>{escape(entry.lastmod)}</lastmod>")
    if entry.changefreq is not None:
        parts.append(f"<changefreq>{entry.changefreq}</changefreq>")
    if entry.priority is not None:
        parts.append(f"<priority>{entry.priority}</priority>")
    if entry.images:
        parts.extend(
            f"<image:image><image:loc>{escape(image)}</image:loc></image:image>" for image in entry.images[:MAX_IMAGES]
        )
    if entry.videos:
        parts.extend(_video(video, entry.loc) for video in entry.videos if _is_complete(video, entry.loc))
    parts.append("</url>\n")
    return "".join(parts).encode()


def _reference(match: re.Match[str]) -> str:
    return _REFERENCES.get(match[0], "")


def _is_complete(video: Video, page: str) -> bool:
    has_source = bool(video.content_loc) or bool(_player(video, page))
    return bool(video.thumbnail_loc and video.title and video.description and has_source)


def _player(video: Video, page: str) -> str | None:
    """The player's URL, which must not be the page itself."""
    return None if video.player_loc == page else video.player_loc


def _video(video: Video, page: str) -> str:
    # The schema fixes the order.
    parts = [
        f"<video:video><video:thumbnail_loc>{escape(video.thumbnail_loc)}</video:thumbnail_loc>",
        f"<video:title>{_text(video.title, MAX_VIDEO_TITLE)}</video:title>",
        f"<video:description>{_text(video.description, MAX_VIDEO_DESCRIPTION)}</video:description>",
    ]
    if video.content_loc:
        parts.append(f"<video:content_loc>{escape(video.content_loc)}</video:content_loc>")
    if player := _player(video, page):
        parts.append(f"<video:player_loc>{escape(player)}</video:player_loc>")
    parts.append("</video:video>")
    return "".join(parts)


def _text(text: str, limit: int) -> str:
    return escape(_FORBIDDEN_CHARACTER.sub("", text)[:limit])
