"""The plain `<video>` elements of a page, as the sitemap's video extension wants them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.items import Video
from sitemap_crawler.reading.images import real_url
from sitemap_crawler.sitemap.limits import MAX_VIDEO_DESCRIPTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.reading.document import Document

# Not limits of the protocol: bounds on what a hostile page can make the inventory store.
MAX_TITLE = 1_000
MAX_VIDEOS = 100
MAX_WARNINGS = 20
_MAX_NAME = 200
_MAX_SOURCES = 64
_MAX_TEXTS = 200
_MAX_TITLES = 50
_MAX_TEXT = 10_000  # characters that are looked at, white space included


def find_videos(document: Document) -> tuple[tuple[Video, ...], tuple[str, ...]]:
    """Return the videos in document order, and a message for each `<video>` that lacks a required value."""
    elements = document.all("video")[:MAX_VIDEOS]
    if not elements:
        return (), ()
    videos: dict[str, Video] = {}
    warnings: dict[str, None] = {}
    page_title, description = _page_title(document), _page_description(document)
    for number, element in enumerate(elements, 1):
        content = _content(document, element)
        thumbnail = real_url(document, element.get("poster"))
        title = _own_title(element) or page_title
        if content and thumbnail and title and description:
            videos.setdefault(content, Video(thumbnail, title, description, content_loc=content))
        else:
            missing = _missing(content=content, poster=thumbnail, title=title, description=description)
            warnings[f"{_name(content or thumbnail, number)} is not listed, it has no {missing}"] = None
    return tuple(videos.values()), tuple(islice(warnings, MAX_WARNINGS))


def _content(document: Document, element: etree._Element) -> str | None:
    """Return the first source that is a file on a web server, and not the page itself."""
    sources = (source.get("src") for source in islice(element.iter("video", "source"), _MAX_SOURCES))
    return next(filter(None, (real_url(document, source) for source in sources)), None)


def _own_title(element: etree._Element) -> str:
    titles = (_collapse(element.get(name, ""), MAX_TITLE) for name in ("title", "aria-label"))
    return next(filter(None, titles), "") or _caption(element)


def _caption(element: etree._Element) -> str:
    figure = next(element.iterancestors("figure"), None)
    caption = None if figure is None else next(figure.iter("figcaption"), None)
    return "" if caption is None else _text(caption)


def _page_title(document: Document) -> str:
    # An SVG's <title> names a drawing.
    titles = (
        title for title in islice(document.all("title"), _MAX_TITLES) if next(title.iterancestors("svg"), None) is None
    )
    title = next(titles, None)
    return "" if title is None else _text(title)


def _page_description(document: Document) -> str:
    values = _meta_values(document, "name", "description"), _meta_values(document, "property", "og:description")
    return next((value for found in values for value in found if value), "")


def _meta_values(document: Document, attribute: str, name: str) -> Iterator[str]:
    for meta in document.all("meta"):
        if meta.get(attribute, "").strip().lower() == name:
            yield _collapse(meta.get("content", ""), MAX_VIDEO_DESCRIPTION)


def _text(element: etree._Element) -> str:
    return _collapse("".join(str(text)[:_MAX_TEXT] for text in islice(element.itertext(), _MAX_TEXTS)), MAX_TITLE)


def _collapse(text: str, limit: int) -> str:
    return " ".join(text[:_MAX_TEXT].split())[:limit].rstrip()


def _missing(**required: str | None) -> str:
    names = {"content": "source with an http(s) URL", "poster": "poster (thumbnail)", "description": "description"}
    return ", no ".join(names.get(key, key) for key, value in required.items() if not value)


def _name(url: str | None, number: int) -> str:
    return f"video {url[:_MAX_NAME]}" if url else f"video no. {number} of the page"
