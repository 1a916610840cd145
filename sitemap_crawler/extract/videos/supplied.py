"""Videos that a list of the owner describes, by the names of the elements in the video extension of sitemaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.extract.videos.draft import VideoDraft
from sitemap_crawler.extract.videos.values import (
    boolean,
    duration_seconds,
    plain_text,
    rating,
    tags,
    w3c_date,
    whole_number,
)
from sitemap_crawler.sitemap.limits import (
    MAX_VIDEO_DESCRIPTION,
    MAX_VIDEO_TITLE,
    MAX_VIDEO_UPLOADER,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sitemap_crawler.sitemap.video import Video

_LABEL = "a video"
_LAST_EXPIRY_YEAR = 9_999
_OPTIONAL: dict[str, Callable[[object], Any]] = {
    "duration": lambda value: whole_number(value) or duration_seconds(value),
    "expiration_date": lambda value: w3c_date(value, last_year=_LAST_EXPIRY_YEAR),
    "rating": lambda value: rating({"ratingValue": value}),
    "view_count": whole_number,
    "publication_date": w3c_date,
    "tags": tags,
    "family_friendly": boolean,
    "restriction": lambda value: plain_text(value, 1_000),
    "requires_subscription": boolean,
    "uploader": lambda value: plain_text(value, MAX_VIDEO_UPLOADER),
    "platform": lambda value: plain_text(value, 100),
    "live": boolean,
}


def supplied_video(fields: Mapping[str, Any], normalise: Callable[[str], str | None]) -> Video | None:
    """Return the video with these values; None if a required value is missing. Unusable optional values are dropped.

    `normalise` returns the normal form of an absolute URL.
    """

    def url(name: str) -> str | None:
        value = fields.get(name)
        return normalise(value) if isinstance(value, str) else None

    draft = VideoDraft(
        _LABEL,
        thumbnail=url("thumbnail_loc"),
        title=plain_text(fields.get("title"), MAX_VIDEO_TITLE),
        description=plain_text(fields.get("description"), MAX_VIDEO_DESCRIPTION),
        content=url("content_loc"),
        player=url("player_loc"),
    )
    for name, read in _OPTIONAL.items():
        value = read(fields[name]) if fields.get(name) is not None else None
        if value is not None and value not in ("", ()):
            draft.optional[name] = value
    return draft.video()
