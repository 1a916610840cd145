"""The values that travel through a crawl: a queued URL, its page, what was observed on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.extract.news import Article
    from sitemap_crawler.extract.page_dates import PageDate
    from sitemap_crawler.sitemap.video import Video
    from sitemap_crawler.traps.detector import Suspect


Note = str | int | list[str]


@dataclass(frozen=True, slots=True)
class QueuedUrl:
    """A URL that the frontier hands out to be fetched; `depth` is in clicks from the start page."""

    id: int
    url: str
    depth: int
    etag: str | None = None
    modified_header: str | None = None
    """Validators of the last observation, for a conditional request."""
    header_mark: bytes | None = None
    """Of the last observation; a 304 with another one confirms nothing."""

    @property
    def conditional(self) -> bool:
        return self.etag is not None or self.modified_header is not None


def is_transient(status: int) -> bool:
    """Whether an answer of this status may be another one soon, so that it says nothing about the URL."""
    return status >= 500 or status == 429


@dataclass(slots=True)
class Observation:
    """What one fetch of one URL showed; every field is a fact, none is a decision.

    Neither `status` nor `blocked_by` nor `error` set can't happen: a URL was answered, forbidden or unreachable.
    """

    url_id: int
    fetched: datetime
    status: int | None = None
    error: str | None = None
    """Why there is no HTTP answer."""
    blocked_by: str | None = None
    """The robots.txt rule that forbids fetching."""
    content_type: str | None = None
    body_bytes: int = 0
    body_hash: bytes | None = None
    location: str | None = None
    """Target of a 3xx; None when it has none that can be used."""
    refresh: str | None = None
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    directives: str | None = None
    """The words that said noindex, nofollow or unavailable_after."""
    unavailable_after: datetime | None = None
    """From when on the page is noindex."""
    fingerprint: bytes | None = None
    """Of the content, whatever else the bytes hold."""
    stated: PageDate | None = None
    """When the page says that it was modified."""
    last_modified: datetime | None = None
    """What the header says, if that can be believed by itself."""
    modified_header: str | None = None
    etag: str | None = None
    header_mark: bytes | None = None
    """Stands for the headers that decide on indexing; None without any."""
    not_modified: bool = False
    """The server confirms the last observation: 304 to a conditional request."""
    title: str | None = None
    images: tuple[str, ...] = ()
    image_texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Title and caption by image, where they were asked for; either may be empty."""
    videos: tuple[Video, ...] = ()
    article: Article | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    """Language code and URL of the versions that the page names."""
    notes: dict[str, Note] = field(default_factory=dict)
    """Facts for hints and warnings, by kind."""

    @property
    def is_transient(self) -> bool:
        """Whether it is an error that may pass: no answer at all, or one that asks to come again."""
        if self.status is None:
            return self.blocked_by is None
        return is_transient(self.status)


@dataclass(slots=True)
class Page:
    """The item: one answered, forbidden or failed request, on its way through the pipelines.

    The pipelines fill `observation`; the last one stores it and lets the document go. A page whose body is to be read
    may be read in another process (`crawl/pipelines/transfer.py`).
    """

    queued: QueuedUrl
    observation: Observation
    headers: dict[str, list[str]] = field(default_factory=dict)
    """Response headers by lower-case name."""
    is_start: bool = False
    body: bytes | None = None
    """What is to be read; None when there is nothing, or when it has been read."""
    document: Document | None = None
    """Only in the process, and only as long as the page is being read."""
    is_document: bool = False
    """Whether there is or was a document."""
    links: tuple[str, ...] = ()
    nofollow_links: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    """Scripts and style sheets; those that were met on another page may be left out."""
    suspect: Suspect | None = None
    """What the page may tell of a trap."""
    likeness: bytes | None = None
    """What it has in common with others of a trap, if that is wanted."""

    def mark_unreadable(self, why: str) -> None:
        """The page can't be read by us: it must neither be listed blindly nor stop the crawl."""
        self.observation.status, self.observation.error = None, f"the page can't be read: {why}"
        self.body, self.document, self.is_document = None, None, False
        self.links, self.nofollow_links = (), ()

    def exclude(self, why: str) -> None:
        """Somebody wants it not to be listed."""
        self.observation.noindex, self.observation.directives = True, why

    def __repr__(self) -> str:
        # Scrapy logs items; a page is not something to print whole.
        return f"<Page {self.observation.status} {self.queued.url}>"
