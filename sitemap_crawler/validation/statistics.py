"""Statistics of a validation: numbers of one file, which are added up for all files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_EXTENSIONS = 200
"""Maximum number of file name extensions that are counted by themselves."""
MAX_EXTENSION = 8
"""Maximum number of characters of an extension."""
OTHER_EXTENSIONS = "other"
LIVE_NUMBERS = (
    "broken_urls", "redirect_urls", "noindex_urls", "canonical_urls", "not_a_page_urls", "soft_404_urls",
    "blocked_urls", "limited_urls", "unchecked_urls",
)  # fmt: skip
"""Numbers that only the live site shows. With the valid ones, they add up to all listed URLs."""

_NUMBERS = (
    "total_urls", "invalid_urls", "duplicate_urls", "files", "bytes", "images", "videos", "news", "alternates",
)  # fmt: skip


class Dated(NamedTuple):
    """A lastmod."""

    time: float
    """Seconds since 1970."""
    text: str


@dataclass(slots=True)
class Statistics:
    """Numbers of the entries of files."""

    total_urls: int = 0
    invalid_urls: int = 0
    """Number of entries that have an error of their own."""
    duplicate_urls: int = 0
    """Number of entries whose URL is listed before."""
    files: int = 0
    bytes: int = 0
    images: int = 0
    videos: int = 0
    news: int = 0
    alternates: int = 0
    newest: Dated | None = None
    oldest: Dated | None = None
    by_extension: Counter[str] = field(default_factory=Counter)

    def add_date(self, dated: Dated) -> None:
        if self.newest is None or dated > self.newest:
            self.newest = dated
        if self.oldest is None or dated < self.oldest:
            self.oldest = dated

    def add_extension(self, extension: str, count: int = 1) -> None:
        known = self.by_extension
        if extension not in known and len(known) >= MAX_EXTENSIONS:
            extension = OTHER_EXTENSIONS
        known[extension] += count

    def add(self, other: Statistics) -> None:
        """Add the numbers of other files."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for dated in (other.newest, other.oldest):
            if dated is not None:
                self.add_date(dated)
        for extension, count in other.by_extension.items():
            self.add_extension(extension, count)

    def to_json(self) -> dict[str, Any]:
        """Return the statistics of a report. Numbers that only the live site shows are None."""
        return {
            "total_urls": self.total_urls,
            "valid_urls": self.total_urls - self.invalid_urls - self.duplicate_urls,
            **dict.fromkeys(LIVE_NUMBERS),
            "duplicate_urls": self.duplicate_urls,
            "files": self.files,
            "bytes": self.bytes,
            "images": self.images,
            "videos": self.videos,
            "news": self.news,
            "alternates": self.alternates,
            "newest": self.newest and self.newest.text,
            "oldest": self.oldest and self.oldest.text,
            "by_extension": dict(sorted(self.by_extension.items(), key=lambda item: (-item[1], item[0]))),
        }


def extension_of(path: str) -> str:
    """Return the file name extension of a URL's path in lower case; an empty text if there is none."""
    _, dot, ending = path[-MAX_EXTENSION - 1 :].rpartition(".")
    return ending.lower() if dot and ending.isascii() and ending.isalnum() else ""
