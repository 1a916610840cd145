"""The values that travel through a crawl: a queued URL, its page, and the observation of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.extract.news import Article
    from sitemap_crawler.extract.page_dates import PageDate
    from sitemap_crawler.sitemap.video import Video
    from sitemap_crawler.traps.detector import Suspect


class NoteKind(StrEnum):
    """Kind of a note: a fact about a page that is not needed for its listing, but for a hint or a warning.

    The inventory stores these strings.
    """

    BLOCKED_FOR_SEARCH = "blocked-for-search"
    """Robot of a search engine, and the robots.txt rule that forbids the page to it."""
    BLOCKED_RESOURCES = "blocked-resources"
    """Scripts and style sheets that robots.txt forbids to a search engine, each with the rule."""
    CANONICALS = "canonicals"
    """Several canonical URLs, of which none counts."""
    CONFLICTING_ALTERNATES = "conflicting-alternates"
    """Language codes that name several URLs."""
    DEEP_PAGE = "deep-page"
    """1: the page was not read to its end: it is nested too deeply, or has too many tags or attributes."""
    ERROR_PAGE = "error-page"
    """Wording of an error on a page that is answered with 200."""
    INCOMPLETE_VIDEO = "incomplete-video"
    """Videos without a required value, each with the name of that value."""
    INVALID_ALTERNATES = "invalid-alternates"
    """Language codes that hreflang does not know."""
    LONG_BODY = "long-body"
    """Bytes that were read of a body that is longer than `SITEMAP_MAX_BODY`."""
    MANY_LINKS = "many-links"
    """Number of links that were kept of a page with more than `SITEMAP_MAX_LINKS`."""
    NOFOLLOW_LINKS = "nofollow-links"
    """Number of links of the start page with rel=nofollow."""
    NOFOLLOW_PAGE = "nofollow-page"
    """1: a directive of the start page forbids to follow its links."""
    SCRIPT_SHELL = "script-shell"
    """1: the start page looks like a shell that scripts fill."""
    SOFT_404 = "soft-404"
    """Evidence that the page equals the answer to an address that cannot exist."""
    WORDPRESS_API = "wordpress-api"
    """URL of the API of WordPress, on one of the pages that name it."""
    WORDPRESS_LIST = "wordpress-list"
    """1: the page is made by WordPress and is none of its entries, such as the page of the latest posts."""


Note = str | int | list[str]


@dataclass(frozen=True, slots=True)
class QueuedUrl:
    """A URL leased from the queue to be fetched. `depth` is the crawl depth in clicks from the start page."""

    id: int
    url: str
    depth: int
    etag: str | None = None
    modified_header: str | None = None
    """`Last-Modified` of the last observation, sent back in a conditional request like `etag`."""
    header_mark: bytes | None = None
    """`Observation.header_mark` of the last observation. A 304 with another mark confirms nothing."""

    @property
    def conditional(self) -> bool:
        return self.etag is not None or self.modified_header is not None


def is_transient(status: int) -> bool:
    """Return whether an answer with this status says nothing lasting about the URL."""
    return status >= 500 or status == 429


@dataclass(slots=True)
class Observation:
    """The facts that one fetch of one URL has shown. It holds no decision.

    Exactly one of `status`, `error` and `blocked_by` is set.
    """

    url_id: int
    fetched: datetime
    status: int | None = None
    error: str | None = None
    """Reason why there is no HTTP answer."""
    blocked_by: str | None = None
    """The robots.txt rule that forbids fetching."""
    content_type: str | None = None
    body_bytes: int = 0
    body_hash: bytes | None = None
    location: str | None = None
    """Target of a redirect with a 3xx status; None without a usable target."""
    refresh: str | None = None
    """Target of a redirect with the Refresh header or a meta refresh."""
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    directives: str | None = None
    """The text of noindex, nofollow and unavailable_after directives, as evidence."""
    unavailable_after: datetime | None = None
    """Time from which the page counts as noindex."""
    fingerprint: bytes | None = None
    """Hash of the main content, independent of the rest of the body."""
    page_date: PageDate | None = None
    """Date of modification that the page states."""
    last_modified: datetime | None = None
    """Date of the `Last-Modified` header, if it is credible by itself."""
    modified_header: str | None = None
    """`Last-Modified` as received, for the next conditional request."""
    etag: str | None = None
    header_mark: bytes | None = None
    """Hash of the headers that decide on indexing; None without such headers."""
    not_modified: bool = False
    """Whether a 304 has confirmed the last observation."""
    title: str | None = None
    images: tuple[str, ...] = ()
    image_texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Title and caption by image, if requested by an option; either may be empty."""
    videos: tuple[Video, ...] = ()
    article: Article | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    """Language code and URL of each language version that the page names."""
    notes: dict[NoteKind, Note] = field(default_factory=dict)

    @property
    def is_transient(self) -> bool:
        """Whether the fetch has failed in a way that a retry may fix."""
        if self.status is None:
            return self.blocked_by is None
        return is_transient(self.status)


@dataclass(slots=True)
class Page:
    """The Scrapy item: one answered, forbidden or failed request on its way through the pipelines.

    The pipelines fill `observation`; the last one stores it and drops the document. A worker process may read the body
    (`crawl/pipelines/transfer.py`).
    """

    queued: QueuedUrl
    observation: Observation
    headers: dict[str, list[str]] = field(default_factory=dict)
    """Response headers by lower-case name."""
    is_start: bool = False
    body: bytes | None = None
    """Body that has not been read yet; None without such a body."""
    document: Document | None = None
    """The parsed page, only in the process that reads it and only while it is read."""
    is_document: bool = False
    """Whether the page has been parsed."""
    links: tuple[str, ...] = ()
    nofollow_links: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    """Scripts and style sheets; resources of an earlier page may be left out."""
    suspect: Suspect | None = None
    """Reasons to suspect that the URL belongs to a crawler trap."""
    likeness: bytes | None = None
    """Signature of the content, to compare pages of a suspected trap."""

    def mark_unreadable(self, reason: str) -> None:
        """Store the page as unreadable: it is not listed blindly, and the crawl continues."""
        self.observation.status, self.observation.error = None, f"the page can't be read: {reason}"
        self.body, self.document, self.is_document = None, None, False
        self.links, self.nofollow_links = (), ()

    def exclude(self, reason: str) -> None:
        """Have the page left out of the sitemap, as with a noindex directive."""
        self.observation.noindex, self.observation.directives = True, reason

    def __repr__(self) -> str:
        # Scrapy logs items; the whole page would flood the log.
        return f"<Page {self.observation.status} {self.queued.url}>"
