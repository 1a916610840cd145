"""One video of a page, and its `<video:video>` element."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitemap_crawler.sitemap.escaping import escape, rfc3986, without_forbidden
from sitemap_crawler.sitemap.limits import (
    MAX_VIDEO_DESCRIPTION,
    MAX_VIDEO_DURATION,
    MAX_VIDEO_RATING,
    MAX_VIDEO_TAGS,
    MAX_VIDEO_TITLE,
    MAX_VIDEO_UPLOADER,
    VIDEO_PLATFORMS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?", re.ASCII)
"""Stricter than W3C Datetime: the published schema allows neither a year alone nor a time without seconds."""
_COUNTRY = re.compile("[A-Z]{2}")
_RELATIONSHIPS = ("allow", "deny")


@dataclass(frozen=True, slots=True)
class Video:
    """A video on a page. Texts have no markup, URLs are absolute."""

    thumbnail_loc: str
    title: str
    description: str
    content_loc: str | None = None
    player_loc: str | None = None
    duration: int | None = None
    """Seconds."""
    expiration_date: str | None = None
    """A W3C datetime with its zone, or a date."""
    rating: float | None = None
    view_count: int | None = None
    publication_date: str | None = None
    """A W3C datetime with its zone, or a date."""
    tags: tuple[str, ...] = ()
    family_friendly: bool | None = None
    restriction: str | None = None
    """`allow` or `deny`, and the ISO 3166 codes of countries: `allow DE FR`."""
    requires_subscription: bool | None = None
    uploader: str | None = None
    platform: str | None = None
    """`allow` or `deny`, and some of web, mobile and tv: `deny tv`."""
    live: bool | None = None

    def fields(self) -> dict[str, Any]:
        """Return the known values, for JSON. `from_fields` is the inverse."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None and value != ()}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Video:
        """Return the video that `fields()` described."""
        # JSON turns a tuple into a list.
        return cls(**{**fields, "tags": tuple(fields.get("tags", ()))})


def serialise_video(video: Video, page: str) -> str:
    """Return the element; "" for a video without a required value. Invalid optional values are left out.

    `page` is the URL of the page that shows the video.
    """
    thumbnail = rfc3986(video.thumbnail_loc)
    title, description = _text(video.title, MAX_VIDEO_TITLE), _text(video.description, MAX_VIDEO_DESCRIPTION)
    # The protocol forbids the page itself as either of them.
    locs = (rfc3986(loc or "") for loc in (video.content_loc, video.player_loc))
    content, player = (None if loc == rfc3986(page) else loc for loc in locs)
    if not (thumbnail and title and description and (content or player)):
        return ""
    # The schema fixes the order.
    parts = [_element("thumbnail_loc", thumbnail), _element("title", title), _element("description", description)]
    if content:
        parts.append(_element("content_loc", content))
    if player:
        parts.append(_element("player_loc", player))
    parts.extend(_numbers_and_dates(video))
    parts.extend(_tags(video))
    parts.extend(_audience_and_state(video))
    return f"<video:video>{''.join(parts)}</video:video>"


def _numbers_and_dates(video: Video) -> Iterator[str]:
    if video.duration is not None and 1 <= video.duration <= MAX_VIDEO_DURATION:
        yield _element("duration", str(video.duration))
    if video.expiration_date and _DATE.fullmatch(video.expiration_date):
        yield _element("expiration_date", video.expiration_date)
    if video.rating is not None and 0 <= video.rating <= MAX_VIDEO_RATING:
        yield _element("rating", str(round(float(video.rating), 2)))
    if video.view_count is not None and video.view_count >= 0:
        yield _element("view_count", str(video.view_count))
    if video.publication_date and _DATE.fullmatch(video.publication_date):
        yield _element("publication_date", video.publication_date)


def _tags(video: Video) -> Iterator[str]:
    tags = [tag for tag in map(without_forbidden, video.tags) if tag]
    for tag in tags[:MAX_VIDEO_TAGS]:
        yield _element("tag", tag)


def _audience_and_state(video: Video) -> Iterator[str]:
    yield from _yes_no("family_friendly", video.family_friendly)
    yield from _allow_or_deny("restriction", video.restriction)
    yield from _yes_no("requires_subscription", video.requires_subscription)
    uploader = without_forbidden(video.uploader or "")
    if 0 < len(uploader) <= MAX_VIDEO_UPLOADER:
        yield _element("uploader", uploader)
    yield from _allow_or_deny("platform", video.platform)
    yield from _yes_no("live", video.live)


def _yes_no(name: str, value: bool | None) -> Iterator[str]:
    if value is not None:
        yield _element(name, "yes" if value else "no")


def _allow_or_deny(name: str, value: str | None) -> Iterator[str]:
    relationship, *targets = (value or "").split() or [""]
    valid = VIDEO_PLATFORMS.issuperset(targets) if name == "platform" else all(map(_COUNTRY.fullmatch, targets))
    if targets and valid and relationship in _RELATIONSHIPS:
        yield f'<video:{name} relationship="{relationship}">{" ".join(targets)}</video:{name}>'


def _element(name: str, text: str) -> str:
    return f"<video:{name}>{escape(text)}</video:{name}>"


def _text(text: str, limit: int) -> str:
    return without_forbidden(text)[:limit]
