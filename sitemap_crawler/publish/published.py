"""What a page embeds, by its public addresses; what has none is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sitemap_crawler.inventory.alternates import Versions
    from sitemap_crawler.sitemap.video import Video
    from sitemap_crawler.urls.public_address import PublicAddress

ImageTexts = dict[str, tuple[str, str]]


def published_images(
    images: Iterable[str], texts: Mapping[str, tuple[str, str]], address: PublicAddress
) -> tuple[tuple[str, ...], ImageTexts]:
    """Images, and the title and caption of each that has any."""
    moved = {image: address.published(image) for image in images if not address.is_private(image)}
    return tuple(moved.values()), {moved[image]: words for image, words in texts.items() if image in moved}


def published_videos(videos: Iterable[Video], address: PublicAddress) -> tuple[Video, ...]:
    """A video needs its thumbnail, and either its file or its player."""
    moved = []
    for video in videos:
        content, player = (
            None if loc is None or address.is_private(loc) else address.published(loc)
            for loc in (video.content_loc, video.player_loc)
        )
        if (content or player) and not address.is_private(video.thumbnail_loc):
            thumbnail = address.published(video.thumbnail_loc)
            moved.append(replace(video, thumbnail_loc=thumbnail, content_loc=content, player_loc=player))
    return tuple(moved)


def published_versions(versions: Versions, address: PublicAddress) -> Versions:
    return tuple((code, address.published(url)) for code, url in versions if not address.is_private(url))
