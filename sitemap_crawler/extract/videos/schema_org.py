"""The VideoObjects of a page, in JSON-LD and microdata, https://schema.org/VideoObject

Which properties are looked at: https://developers.google.com/search/docs/appearance/structured-data/video
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
from sitemap_crawler.extract.videos.draft import MAX_VIDEOS, Draft
from sitemap_crawler.extract.videos.embeds import key_of_thumbnail, player_at, player_of_page
from sitemap_crawler.sitemap.limits import MAX_VIDEO_DESCRIPTION, MAX_VIDEO_UPLOADER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.extract.document import Document

    Object = dict[str, Any]

_KINDS = frozenset({"videoobject"})
_MAX_VALUES = 20_000
_NO_PROPERTIES = frozenset({"@id", "@type", "@context"})


def video_objects(document: Document) -> list[Draft]:
    """Return a draft of each that is on this page; it has only the values that the object states."""
    in_json = any(_is_video(found) for found in json_ld_objects(document))
    items = list(microdata_items(document, _KINDS))
    if not in_json and not items:
        return []
    own = own_urls(document)
    found = [video for root in json_ld_roots(document) for video in _in_json(document, root, own)] if in_json else []
    # Lists of teasers are not marked up as lists in microdata.
    found += [item for item in items if not _is_elsewhere(document, item, own)]
    by_id = _by_id(document) if in_json else {}
    return [_draft(document, video, number, by_id) for number, video in enumerate(found[:MAX_VIDEOS], 1)]


def _is_video(found: Object) -> bool:
    kind = found.get("@type")
    # Many pages have dozens of objects of other types.
    if kind is None or (isinstance(kind, str) and kind[-11:].lower() not in _KINDS):
        return False
    # One that says nothing of itself is a reference to another.
    return not _KINDS.isdisjoint(type_names(kind)) and not _NO_PROPERTIES.issuperset(found)


def _in_json(document: Document, root: object, own: set[str]) -> Iterator[Object]:
    """Yield the videos in document order, without those in lists that belong to another page."""
    pending: list[tuple[object, bool]] = [(root, False)]
    for _ in range(_MAX_VALUES):
        if not pending:
            return
        value, listed = pending.pop()
        if isinstance(value, list):
            below = [(part, listed) for part in value]
        elif isinstance(value, dict) and not (listed and _is_elsewhere(document, value, own)):
            if _is_video(value):
                yield value
            below = [(part, listed or name.lower() in OTHER_PAGE_PROPERTIES) for name, part in value.items()]
        else:
            continue
        pending += [part for part in below if isinstance(part[0], dict | list)][::-1]


def _is_elsewhere(document: Document, found: Object, own: set[str]) -> bool:
    named = stated_urls(document, found)
    return bool(named) and own.isdisjoint(named)


def _by_id(document: Document) -> dict[str, Object]:
    """Return the objects that others refer to by their @id."""
    found: dict[str, Object] = {}
    for value in json_ld_objects(document):
        name = value.get("@id")
        if isinstance(name, str) and not _NO_PROPERTIES.issuperset(value):
            found.setdefault(name, value)
    return found


def _draft(document: Document, found: Object, number: int, by_id: dict[str, Object]) -> Draft:
    thumbnails = [
        _whole(part, by_id) for name in ("thumbnailUrl", "thumbnail") for part in values.parts(found.get(name))
    ]
    draft = Draft(
        f"VideoObject no. {number} of the page",
        thumbnail=next((url for part in thumbnails for url in _urls(document, part)), None),
        title=values.plain(found.get("name"), MAX_TITLE),
        description=values.plain(found.get("description"), MAX_VIDEO_DESCRIPTION),
        optional=_optional(found, by_id),
    )
    for url in _urls(document, found.get("contentUrl")):
        _locate(draft, url, is_content=True)
    for url in _urls(document, found.get("embedUrl")):
        _locate(draft, url, is_content=False)
    draft.keys.update(_keys(found, draft))
    return draft


def _locate(draft: Draft, url: str, *, is_content: bool) -> None:
    """Note a URL as what it is: plugins write players and their pages as contentUrl, and files as embedUrl."""
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


def _keys(found: Object, draft: Draft) -> Iterator[str]:
    name = found.get("@id")
    if isinstance(name, str) and name:
        yield f"@id {name}"
    key = key_of_thumbnail(draft.thumbnail) if draft.thumbnail else None
    if key:
        yield key


def _optional(found: Object, by_id: dict[str, Object]) -> dict[str, Any]:
    dates = (values.w3c_date(found.get(name)) for name in ("uploadDate", "datePublished"))
    optional = {
        "duration": values.seconds(found.get("duration")),
        "expiration_date": values.w3c_date(found.get("expires"), last_year=MAXYEAR),
        "rating": values.rating(found.get("aggregateRating")),
        "view_count": _views(found),
        "publication_date": next(filter(None, dates), None),
        "tags": values.words(found.get("keywords")) or None,
        "family_friendly": values.yes_no(found.get("isFamilyFriendly")),
        "restriction": _restriction(found),
        "requires_subscription": _subscription(found.get("requiresSubscription")),
        "uploader": _uploader(found, by_id),
        "live": _live(found.get("publication")),
    }
    return {name: value for name, value in optional.items() if value is not None}


def _views(found: Object) -> int | None:
    for counter in values.parts(found.get("interactionStatistic")):
        if isinstance(counter, dict):
            action = counter.get("interactionType")
            names = type_names(action.get("@type") if isinstance(action, dict) else action)
            views = values.count(counter.get("userInteractionCount"))
            if "watchaction" in names and views is not None:
                return views
    return values.count(found.get("interactionCount"))


def _restriction(found: Object) -> str | None:
    for name, relationship in (("regionsAllowed", "allow"), ("ineligibleRegion", "deny")):
        codes = values.countries(found.get(name))
        if codes:
            return f"{relationship} {codes}"
    return None


def _subscription(value: object) -> bool | None:
    return (
        True
        if isinstance(value, dict) and "mediasubscription" in type_names(value.get("@type"))
        else values.yes_no(value)
    )


def _uploader(found: Object, by_id: dict[str, Object]) -> str | None:
    for name in ("author", "creator", "publisher"):
        for part in values.parts(found.get(name)):
            text = values.plain(_whole(part, by_id), MAX_VIDEO_UPLOADER + 1)
            if 0 < len(text) <= MAX_VIDEO_UPLOADER:
                return text
    return None


def _live(value: object) -> bool | None:
    events = (part for part in values.parts(value) if isinstance(part, dict))
    return next(
        (live for live in (values.yes_no(event.get("isLiveBroadcast")) for event in events) if live is not None), None
    )


def _whole(value: object, by_id: dict[str, Object]) -> object:
    name = value.get("@id") if isinstance(value, dict) else None
    return by_id.get(name, value) if isinstance(name, str) else value


def _urls(document: Document, value: object) -> Iterator[str]:
    """Yield the usable URLs of a file or a player; the @id of an object that stands elsewhere is none."""
    for text in reference_texts(value, "contentUrl", "url"):
        # Some write a whole <iframe> where its URL belongs.
        url = None if "<" in text else real_url(document, text)
        if url:
            yield url
