"""The Open Graph video of a page, which social networks show in a preview: https://ogp.me/#type_video"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.images import real_url
from sitemap_crawler.extract.text import MAX_TITLE
from sitemap_crawler.extract.videos import values
from sitemap_crawler.extract.videos.draft import VideoDraft
from sitemap_crawler.extract.videos.embeds import player_at, player_of_page
from sitemap_crawler.sitemap.limits import MAX_VIDEO_DESCRIPTION, MAX_VIDEO_DURATION
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.extract.document import Document

_MAX_METAS = 1_000
_FLASH = "application/x-shockwave-flash"
_VIDEO_NAMES = frozenset({"og:video", "og:video:url", "og:video:secure_url"})
_IMAGE_NAMES = ("og:image:secure_url", "og:image", "og:image:url")

Tags = list[tuple[str, str]]
"""Names and contents of the meta elements of Open Graph, in document order."""


def open_graph_video(document: Document) -> VideoDraft | None:
    """Return a draft of the Open Graph video, or `None`."""
    tags = _read_tags(document)
    if not any(name in _VIDEO_NAMES for name, _ in tags):
        return None
    draft = VideoDraft(
        "the Open Graph video",
        thumbnail=next(
            filter(None, (real_url(document, url) for name in _IMAGE_NAMES for url in _contents(tags, name))), None
        ),
        title=_first_text(tags, "og:title", MAX_TITLE),
        description=_first_text(tags, "og:description", MAX_VIDEO_DESCRIPTION),
    )
    for url, media_type in _find_locations(document, tags):
        _set_location(draft, url, media_type)
    draft.optional = _optional_values(tags)
    return draft


def _read_tags(document: Document) -> Tags:
    tags = []
    for meta in islice(document.all("meta"), _MAX_METAS):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name.startswith(("og:", "video:")):
            tags.append((name, meta.get("content") or ""))
    return tags


def _contents(tags: Tags, name: str) -> list[str]:
    return [value for key, value in tags if key == name]


def _first_text(tags: Tags, name: str, limit: int) -> str:
    return next(filter(None, (one_line(value, limit) for value in _contents(tags, name))), "")


def _find_locations(document: Document, tags: Tags) -> Iterator[tuple[str, str]]:
    """Yield the URL and the media type of each form of the video. The tags of one form follow its `og:video`."""
    groups: list[dict[str, str]] = []
    for name, value in tags:
        part = name.removeprefix("og:video").removeprefix(":")
        if not name.startswith("og:video"):
            continue
        if not groups or not part or (part == "url" and "url" in groups[-1]):
            groups.append({})
        groups[-1].setdefault(part, value)
    for group in groups:
        urls = (real_url(document, group.get(part)) for part in ("secure_url", "", "url"))
        url = next(filter(None, urls), None)
        if url:
            yield url, group.get("type", "").partition(";")[0].strip().lower()


def _set_location(draft: VideoDraft, url: str, media_type: str) -> None:
    if media_type == _FLASH or values.is_flash(url):
        return
    player = player_at(url) or player_of_page(url)
    if player:
        draft.player = draft.player or player.url
        draft.keys.add(player.key)
    elif media_type.startswith("video/") or values.is_file(url):
        draft.content = draft.content or url
    elif media_type == "text/html":
        draft.player = draft.player or url


def _optional_values(tags: Tags) -> dict[str, object]:
    """Return the values of https://ogp.me/#type_video.other; some pages write them as parts of `og:video`."""
    durations = (
        values.whole_number(value)
        for name in ("video:duration", "og:video:duration")
        for value in _contents(tags, name)
    )
    seconds = next((duration for duration in durations if duration is not None), 0)
    published = (values.w3c_date(value) for value in _contents(tags, "video:release_date"))
    optional: dict[str, object] = {
        "duration": seconds if seconds <= MAX_VIDEO_DURATION else 0,
        "publication_date": next(filter(None, published), None),
        "tags": values.tags([*_contents(tags, "video:tag"), *_contents(tags, "og:video:tag")]),
    }
    return {name: value for name, value in optional.items() if value}
