"""The video that a page names for those who share it, https://ogp.me/#type_video"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.images import real_url
from sitemap_crawler.extract.text import MAX_TITLE
from sitemap_crawler.extract.videos.draft import Draft
from sitemap_crawler.extract.videos.embeds import player_at, player_of_page
from sitemap_crawler.extract.videos.values import count, is_file, is_flash, w3c_date, words
from sitemap_crawler.sitemap.limits import MAX_VIDEO_DESCRIPTION, MAX_VIDEO_DURATION
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.extract.document import Document

_MAX_METAS = 1_000
_FLASH = "application/x-shockwave-flash"
_LOCATIONS = frozenset({"og:video", "og:video:url", "og:video:secure_url"})
_IMAGES = ("og:image:secure_url", "og:image", "og:image:url")

Tags = list[tuple[str, str]]


def open_graph_video(document: Document) -> Draft | None:
    tags = _tags(document)
    if not any(name in _LOCATIONS for name, _ in tags):
        return None
    draft = Draft(
        "the Open Graph video",
        thumbnail=next(filter(None, (real_url(document, url) for name in _IMAGES for url in _all(tags, name))), None),
        title=_first_text(tags, "og:title", MAX_TITLE),
        description=_first_text(tags, "og:description", MAX_VIDEO_DESCRIPTION),
    )
    for url, kind in _locations(document, tags):
        _locate(draft, url, kind)
    draft.optional = _optional(tags)
    return draft


def _tags(document: Document) -> Tags:
    found = []
    for meta in islice(document.all("meta"), _MAX_METAS):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name.startswith(("og:", "video:")):
            found.append((name, meta.get("content") or ""))
    return found


def _all(tags: Tags, name: str) -> list[str]:
    return [value for key, value in tags if key == name]


def _first_text(tags: Tags, name: str, limit: int) -> str:
    return next(filter(None, (one_line(value, limit) for value in _all(tags, name))), "")


def _locations(document: Document, tags: Tags) -> Iterator[tuple[str, str]]:
    """Yield the URL and the type of each form of the video; what belongs to one stands after its `og:video`."""
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


def _locate(draft: Draft, url: str, kind: str) -> None:
    if kind == _FLASH or is_flash(url):
        return
    player = player_at(url) or player_of_page(url)
    if player:
        draft.player = draft.player or player.url
        draft.keys.add(player.key)
    elif kind.startswith("video/") or is_file(url):
        draft.content = draft.content or url
    elif kind == "text/html":
        draft.player = draft.player or url


def _optional(tags: Tags) -> dict[str, object]:
    """https://ogp.me/#type_video.other, also where it is written as part of `og:video`."""
    durations = (count(value) for name in ("video:duration", "og:video:duration") for value in _all(tags, name))
    seconds = next((found for found in durations if found is not None), 0)
    published = (w3c_date(value) for value in _all(tags, "video:release_date"))
    values: dict[str, object] = {
        "duration": seconds if seconds <= MAX_VIDEO_DURATION else 0,
        "publication_date": next(filter(None, published), None),
        "tags": words([*_all(tags, "video:tag"), *_all(tags, "og:video:tag")]),
    }
    return {name: value for name, value in values.items() if value}
