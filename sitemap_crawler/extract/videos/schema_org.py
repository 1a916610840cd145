"""The VideoObjects of a page, in JSON-LD and microdata, https://schema.org/VideoObject

The properties that are read: https://developers.google.com/search/docs/appearance/structured-data/video
"""

from __future__ import annotations

from datetime import MAXYEAR
from typing import TYPE_CHECKING, Any

from sitemap_crawler.extract.images import real_url
from sitemap_crawler.extract.structured_data import (
    OTHER_PAGE_PROPERTIES,
    json_ld_objects,
    json_ld_roots,
    microdata_items,
    own_urls,
    reference_texts,
    stated_urls,
    type_names,
)
from sitemap_crawler.extract.text import MAX_TITLE
from sitemap_crawler.extract.videos import values
from sitemap_crawler.extract.videos.draft import MAX_VIDEOS, VideoDraft
from sitemap_crawler.extract.videos.embeds import key_of_thumbnail, player_at, player_of_page
from sitemap_crawler.sitemap.limits import MAX_VIDEO_DESCRIPTION, MAX_VIDEO_UPLOADER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.extract.document import Document

    Object = dict[str, Any]

_VIDEO_TYPES = frozenset({"videoobject"})
_MAX_VALUES = 20_000  # objects and lists of one script
_REFERENCE_KEYS = frozenset({"@id", "@type", "@context"})


def video_objects(document: Document) -> list[VideoDraft]:
    """Return a draft of each VideoObject of this page, with the values that the object states."""
    in_json = any(_is_video(data) for data in json_ld_objects(document))
    items = list(microdata_items(document, _VIDEO_TYPES))
    if not in_json and not items:
        return []
    own = own_urls(document)
    videos = (
        [video for root in json_ld_roots(document) for video in _json_ld_videos(document, root, own)] if in_json else []
    )
    # Microdata does not mark lists of teasers as lists.
    videos += [item for item in items if not _is_of_other_page(document, item, own)]
    by_id = _objects_by_id(document) if in_json else {}
    return [_draft(document, video, number, by_id) for number, video in enumerate(videos[:MAX_VIDEOS], 1)]


def _is_video(data: Object) -> bool:
    type_value = data.get("@type")
    # Many pages have dozens of objects of other types.
    if type_value is None or (isinstance(type_value, str) and type_value[-11:].lower() not in _VIDEO_TYPES):
        return False
    # An object without properties of its own is a reference to another object.
    return not _VIDEO_TYPES.isdisjoint(type_names(type_value)) and not _REFERENCE_KEYS.issuperset(data)


def _json_ld_videos(document: Document, root: object, own: set[str]) -> Iterator[Object]:
    """Yield the videos in document order, without the videos of other pages in lists."""
    pending: list[tuple[object, bool]] = [(root, False)]
    for _ in range(_MAX_VALUES):
        if not pending:
            return
        value, listed = pending.pop()
        if isinstance(value, list):
            below = [(part, listed) for part in value]
        elif isinstance(value, dict) and not (listed and _is_of_other_page(document, value, own)):
            if _is_video(value):
                yield value
            below = [(part, listed or name.lower() in OTHER_PAGE_PROPERTIES) for name, part in value.items()]
        else:
            continue
        pending += [part for part in below if isinstance(part[0], dict | list)][::-1]


def _is_of_other_page(document: Document, data: Object, own: set[str]) -> bool:
    named = stated_urls(document, data)
    return bool(named) and own.isdisjoint(named)


def _objects_by_id(document: Document) -> dict[str, Object]:
    """Return the objects by their @id, the first of each, without mere references."""
    by_id: dict[str, Object] = {}
    for value in json_ld_objects(document):
        name = value.get("@id")
        if isinstance(name, str) and not _REFERENCE_KEYS.issuperset(value):
            by_id.setdefault(name, value)
    return by_id


def _draft(document: Document, data: Object, number: int, by_id: dict[str, Object]) -> VideoDraft:
    thumbnails = [
        _dereferenced(part, by_id) for name in ("thumbnailUrl", "thumbnail") for part in values.members(data.get(name))
    ]
    draft = VideoDraft(
        f"VideoObject no. {number} of the page",
        thumbnail=next((url for part in thumbnails for url in _file_urls(document, part)), None),
        title=values.plain_text(data.get("name"), MAX_TITLE),
        description=values.plain_text(data.get("description"), MAX_VIDEO_DESCRIPTION),
        optional=_optional_values(data, by_id),
    )
    for url in _file_urls(document, data.get("contentUrl")):
        _set_location(draft, url, is_content=True)
    for url in _file_urls(document, data.get("embedUrl")):
        _set_location(draft, url, is_content=False)
    draft.keys.update(_keys(data, draft))
    return draft


def _set_location(draft: VideoDraft, url: str, *, is_content: bool) -> None:
    """Set the player or the content of the draft, as the URL shows.

    Plugins write players and their pages as contentUrl, and files as embedUrl.
    """
    if values.is_flash(url):
        return
    player = player_at(url) or player_of_page(url)
    if player:
        draft.player = draft.player or player.url
        draft.keys.add(player.key)
    elif is_content or values.is_file(url):
        draft.content = draft.content or url
    elif url != draft.content:
        draft.player = draft.player or url


def _keys(data: Object, draft: VideoDraft) -> Iterator[str]:
    name = data.get("@id")
    if isinstance(name, str) and name:
        yield f"@id {name}"
    key = key_of_thumbnail(draft.thumbnail) if draft.thumbnail else None
    if key:
        yield key


def _optional_values(data: Object, by_id: dict[str, Object]) -> dict[str, Any]:
    dates = (values.w3c_date(data.get(name)) for name in ("uploadDate", "datePublished"))
    optional = {
        "duration": values.duration_seconds(data.get("duration")),
        "expiration_date": values.w3c_date(data.get("expires"), last_year=MAXYEAR),
        "rating": values.rating(data.get("aggregateRating")),
        "view_count": _view_count(data),
        "publication_date": next(filter(None, dates), None),
        "tags": values.tags(data.get("keywords")) or None,
        "family_friendly": values.boolean(data.get("isFamilyFriendly")),
        "restriction": _restriction(data),
        "requires_subscription": _requires_subscription(data.get("requiresSubscription")),
        "uploader": _uploader(data, by_id),
        "live": _is_live(data.get("publication")),
    }
    return {name: value for name, value in optional.items() if value is not None}


def _view_count(data: Object) -> int | None:
    for counter in values.members(data.get("interactionStatistic")):
        if isinstance(counter, dict):
            action = counter.get("interactionType")
            names = type_names(action.get("@type") if isinstance(action, dict) else action)
            views = values.whole_number(counter.get("userInteractionCount"))
            if "watchaction" in names and views is not None:
                return views
    return values.whole_number(data.get("interactionCount"))


def _restriction(data: Object) -> str | None:
    for name, relationship in (("regionsAllowed", "allow"), ("ineligibleRegion", "deny")):
        codes = values.country_codes(data.get(name))
        if codes:
            return f"{relationship} {codes}"
    return None


def _requires_subscription(value: object) -> bool | None:
    if isinstance(value, dict) and "mediasubscription" in type_names(value.get("@type")):
        return True
    return values.boolean(value)


def _uploader(data: Object, by_id: dict[str, Object]) -> str | None:
    for name in ("author", "creator", "publisher"):
        for part in values.members(data.get(name)):
            text = values.plain_text(_dereferenced(part, by_id), MAX_VIDEO_UPLOADER + 1)
            if 0 < len(text) <= MAX_VIDEO_UPLOADER:
                return text
    return None


def _is_live(value: object) -> bool | None:
    events = (part for part in values.members(value) if isinstance(part, dict))
    return next(
        (live for live in (values.boolean(event.get("isLiveBroadcast")) for event in events) if live is not None), None
    )


def _dereferenced(value: object, by_id: dict[str, Object]) -> object:
    name = value.get("@id") if isinstance(value, dict) else None
    return by_id.get(name, value) if isinstance(name, str) else value


def _file_urls(document: Document, value: object) -> Iterator[str]:
    """Yield the usable URLs of a file or a player. The @id of a referenced object is not such a URL."""
    for text in reference_texts(value, "contentUrl", "url"):
        # Some pages write a whole <iframe> instead of its URL.
        url = None if "<" in text else real_url(document, text)
        if url:
            yield url
