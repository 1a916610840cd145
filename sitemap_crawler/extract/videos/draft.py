"""A draft of a video: the values that one source on the page states, possibly too few for a sitemap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sitemap_crawler.sitemap.video import Video

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lxml import etree

    from sitemap_crawler.extract.document import Document

MAX_VIDEOS = 100
"""Maximum number of videos of one page: not a limit of the protocol, but of what a hostile page can make the inventory
store."""
_MAX_SHOWN_URL = 200  # characters of a URL in a message

_REQUIRED = {
    "content": "video file or player",
    "thumbnail": "thumbnail",
    "title": "title",
    "description": "description",
}


@dataclass(slots=True)
class VideoDraft:
    """Values of a video from one source, or from several sources after `fill`."""

    label: str
    """Name of the video in a warning while the video has no URL."""
    thumbnail: str | None = None
    title: str = ""
    description: str = ""
    content: str | None = None
    player: str | None = None
    keys: set[str] = field(default_factory=set)
    """Identifiers of the video that are the same in every source, in addition to its URLs."""
    optional: dict[str, Any] = field(default_factory=dict)
    """Optional fields of `Video`."""
    required_names: Mapping[str, str] = field(default_factory=lambda: _REQUIRED)
    """Names of the required values in a warning."""

    def identities(self) -> Iterator[str]:
        """Yield the URLs and keys. Drafts with a common identity describe the same video."""
        yield from (url for url in (self.content, self.player) if url)
        yield from self.keys

    def fill(self, other: VideoDraft) -> None:
        """Take missing values from another draft of the same video."""
        self.thumbnail = self.thumbnail or other.thumbnail
        self.title = self.title or other.title
        self.description = self.description or other.description
        self.content = self.content or other.content
        self.player = self.player or other.player
        self.optional = {**other.optional, **self.optional}

    def video(self) -> Video | None:
        """Return the video, or `None` if a required value is missing."""
        if not (self.thumbnail and self.title and self.description and (self.content or self.player)):
            return None
        locations = self.content, self.player
        return Video(self.thumbnail, self.title, self.description, *locations, **self.optional)

    def problem(self) -> str:
        """Return a message with the missing required values."""
        values = {
            "content": self.content or self.player,
            "thumbnail": self.thumbnail,
            "title": self.title,
            "description": self.description,
        }
        missing = ", no ".join(self.required_names[name] for name, value in values.items() if not value)
        url = self.content or self.player or self.thumbnail
        return f"{f'video {url[:_MAX_SHOWN_URL]}' if url else self.label} is not listed, it has no {missing}"


def is_inert(document: Document, element: etree._Element) -> bool:
    """Return whether the element is in a `<template>`; browsers do not show it there."""
    return bool(document.all("template")) and next(element.iterancestors("template"), None) is not None
