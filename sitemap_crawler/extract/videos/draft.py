"""What one place of a page tells of a video, before it is known whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sitemap_crawler.sitemap.video import Video

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lxml import etree

    from sitemap_crawler.extract.document import Document

# Not limits of the protocol: bounds on what a hostile page can make the inventory store.
MAX_VIDEOS = 100
_MAX_NAME = 200

_WORDS = {"content": "video file or player", "thumbnail": "thumbnail", "title": "title", "description": "description"}


@dataclass(slots=True)
class Draft:
    label: str  # names it in a warning while it has no URL
    thumbnail: str | None = None
    title: str = ""
    description: str = ""
    content: str | None = None
    player: str | None = None
    keys: set[str] = field(default_factory=set)  # of the same video wherever it stands, besides its URLs
    optional: dict[str, Any] = field(default_factory=dict)  # fields of items.Video
    words: Mapping[str, str] = field(default_factory=lambda: _WORDS)  # for what is missing

    def identities(self) -> Iterator[str]:
        yield from (url for url in (self.content, self.player) if url)
        yield from self.keys

    def fill(self, other: Draft) -> None:
        """Take what is missing here from another draft of the same video."""
        self.thumbnail = self.thumbnail or other.thumbnail
        self.title = self.title or other.title
        self.description = self.description or other.description
        self.content = self.content or other.content
        self.player = self.player or other.player
        self.optional = {**other.optional, **self.optional}

    def video(self) -> Video | None:
        """The video, or `None` while a required value is missing."""
        if not (self.thumbnail and self.title and self.description and (self.content or self.player)):
            return None
        locations = self.content, self.player
        return Video(self.thumbnail, self.title, self.description, *locations, **self.optional)

    def problem(self) -> str:
        """What is missing."""
        values = {
            "content": self.content or self.player,
            "thumbnail": self.thumbnail,
            "title": self.title,
            "description": self.description,
        }
        missing = ", no ".join(self.words[name] for name, value in values.items() if not value)
        url = self.content or self.player or self.thumbnail
        return f"{f'video {url[:_MAX_NAME]}' if url else self.label} is not listed, it has no {missing}"


def is_inert(document: Document, element: etree._Element) -> bool:
    """Tell whether it is in a `<template>`, where no browser shows it."""
    return bool(document.all("template")) and next(element.iterancestors("template"), None) is not None
