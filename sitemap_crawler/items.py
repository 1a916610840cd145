"""The values that travel through a crawl: a queued URL, its page, and the observation of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.extract.news import Article
    from sitemap_crawler.extract.page_dates import PageDate
    from sitemap_crawler.extract.scripts import ScriptFacts
    from sitemap_crawler.sitemap.video import Video
    from sitemap_crawler.traps.detector import Suspect


class NoteKind(StrEnum):
    """Kind of a note: a fact about a page that is not needed for its listing, but for a hint or a warning.

    The inventory stores these strings.
    """

    ALIKE = "alike"
    """1: an earlier page of the same pattern of dates or numbers shows the same, but for the dates."""
    BLOCKED_FOR_SEARCH = "blocked-for-search"
    """Robot of a search engine, and the robots.txt rule that forbids the page to it."""
    BLOCKED_RESOURCES = "blocked-resources"
    """Scripts and style sheets that robots.txt forbids to a search engine, each with the rule."""
    REPEATS = "repeats"
    """Percentage of its texts that no earlier page of the run had shown, on a page with too little of its own."""
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
    NUMBERS_STEP = "numbers-step"
    """By how much the numbers of a page have grown if nothing else but links has changed, modulo 2**31."""
    ONLY_RENDERED = "only-rendered"
    """Links or content that the page has only after its scripts have run."""
    SCRIPT_SHELL = "script-shell"
    """1: the start page looks like a shell that scripts fill."""
    SOFT_404 = "soft-404"
    """Evidence that the page equals the answer to an address that cannot exist."""
    REFUSED_REQUEST = "refused-request"
    """URL that the scripts of a page that stays empty have asked for, and why it was not fetched."""
    WORDPRESS_API = "wordpress-api"
    """URL of the API of WordPress, on one of the pages that name it."""
    WORDPRESS_LIST = "wordpress-list"
    """1: the page is made by WordPress and is none of its entries, such as the page of the latest posts."""


Note = str | int | list[str]


class RenderState(IntEnum):
    """What became of the rendering of a page. The inventory stores these numbers, and NULL without `--render`."""

    LEFT = 0
    """Not rendered: the plain page counts."""
    NO_GAIN = 1
    """Rendered without a gain: the plain page counts."""
    FAILED = 2
    """The rendering failed: the plain page counts."""
    RENDERED = 3
    """The rendered page counts."""
    MOVED = 4
    """A script leads to another URL."""


class RenderCause(StrEnum):
    """Why a page was rendered or not. The inventory stores these strings."""

    NO_SCRIPTS = "no-scripts"
    NOINDEX = "noindex"
    """Search engines leave the page out, and do not render it either."""
    INCOMPLETE = "incomplete"
    """Only the beginning of the page was read."""
    IDLE_TEMPLATE = "idle-template"
    """Renderings of other pages of its template gained nothing."""
    SAMPLE = "sample"
    """One of the first pages of its template."""
    SHELL = "shell"
    """The plain page has hardly any text or links."""
    TEMPLATE = "template"
    """Renderings of other pages of its template gained something."""
    CHECK = "check"
    """Checks whether a template still gains nothing."""
    GAINED_BEFORE = "gained-before"
    """The last rendering of the page gained something."""
    ALWAYS = "always"
    """By the option `--render always`."""


PLAIN_HEADERS = (("accept", "*/*"),)
"""Headers of most requests of scripts."""


class StoredRequest(NamedTuple):
    """A request of the scripts of a page, as the inventory stores it."""

    url: str
    kind: str
    """One of `crawl/rendering/rendered.py`."""
    etag: str | None
    last_modified: str | None
    """The header as received."""
    body_hash: str
    """Hash of the answer as hexadecimal digits, empty if there was none."""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = PLAIN_HEADERS
    """Those that were sent for the page, in lower case and sorted."""

    @property
    def name(self) -> tuple[Any, ...]:
        """The key of the request among those of its page: the method, the URL and the headers."""
        return self.method, self.url, self.headers

    @classmethod
    def from_json(cls, values: list[Any]) -> StoredRequest:
        request = cls(*values)
        return request._replace(headers=tuple((name, value) for name, value in request.headers))

    def to_json(self) -> tuple[Any, ...]:
        """Return the values without those at the end that most requests have."""
        values: tuple[Any, ...] = tuple(self)
        return values[:-2] if values[-2:] == ("GET", PLAIN_HEADERS) else values


@dataclass(frozen=True, slots=True)
class PageRendering:
    """The rendering of a page, or why there is none."""

    state: RenderState
    cause: RenderCause
    run: int = 0
    """Number of the run that has rendered the page, or left it."""
    template: int | None = None
    """Key of the template of the page."""
    samples: int = 0
    """Number of renderings of its template that gained nothing, for a page that was left for them."""
    gains: tuple[str, ...] = ()
    """What the rendered page has and the plain page has not, see `crawl/rendering/gains.py`."""
    links: int = 0
    """Number of links that scripts have added."""
    problem: str | None = None
    """Why the rendering failed."""
    plain_hash: str | None = None
    """Hash of the plain page and of the headers that decide on it, as hexadecimal digits."""
    requests: tuple[StoredRequest, ...] = ()

    @property
    def is_scripted(self) -> bool:
        """Whether the observation holds what scripts have made."""
        return self.state in (RenderState.RENDERED, RenderState.MOVED)

    @property
    def is_known(self) -> bool:
        """Whether a rendering has succeeded. It has shown what scripts add to the page, or that they add nothing."""
        return self.is_scripted or self.state is RenderState.NO_GAIN

    @property
    def follows_scripts(self) -> bool:
        """Whether the page is rendered again when an answer to a request of its scripts has changed.

        One that was rendered as a check, and has gained nothing by it, is not: each run adds some of them.
        """
        return self.is_scripted or (self.is_known and self.cause is not RenderCause.CHECK)

    @property
    def is_renewed(self) -> bool:
        """Whether the page is rendered again after some runs, though it has not changed."""
        return self.is_scripted or (self.is_known and self.cause in (RenderCause.SHELL, RenderCause.SAMPLE))

    def to_json(self) -> dict[str, Any]:
        """Return the values that the inventory stores next to the state."""
        values = {name: value for name in _STORED if (value := getattr(self, name))}
        if self.requests:
            values["requests"] = [request.to_json() for request in self.requests]
        return values

    @classmethod
    def from_stored(cls, state: int | None, values: dict[str, Any] | None) -> PageRendering | None:
        """Return the stored rendering; None for a page that was read without `--render`."""
        if state is None or values is None:
            return None
        known = {name: values[name] for name in _STORED if name in values}
        known["cause"] = RenderCause(known["cause"])
        known["gains"] = tuple(known.get("gains", ()))
        known["requests"] = tuple(StoredRequest.from_json(values) for values in known.get("requests", ()))
        return cls(RenderState(state), **known)


_STORED = ("cause", "run", "template", "samples", "gains", "links", "problem", "plain_hash", "requests")


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
    rendered: PageRendering | None = None
    """`Observation.rendering` of the last observation by the same readers."""

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
    elapsed_ms: int | None = None
    """Time from the request to the end of its answer; None without an answer."""
    body_hash: bytes | None = None
    location: str | None = None
    """Target of a redirect with a 3xx status, or of a script with the status 200; None without a usable target."""
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
    texts: bytes | None = None
    """Hashes and weights of the texts of the main content; None for a page that is not compared with others."""
    page_date: PageDate | None = None
    """Date of modification that the page states."""
    last_modified: datetime | None = None
    """Date of the `Last-Modified` header, if it is credible by itself."""
    made_by_scripts: bool = False
    """Whether scripts make what the page shows. `Last-Modified` is then no date of it."""
    comparable: bool = True
    """Whether another fingerprint than the last one means that the content has changed.

    It does not if scripts had other answers, or show something by chance.
    """
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
    rendering: PageRendering | None = None
    """None without `--render`, and for all but HTML pages."""

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
    is_blank: bool = False
    """Whether a page with a signature has next to no texts. Scripts may make its content."""
    scripts: ScriptFacts | None = None
    """The facts by which the page is rendered or not; None without `--render`."""

    @property
    def is_listable(self) -> bool:
        """Whether the page itself does not ask to be left out of the sitemap: by noindex, or by a canonical URL."""
        return not self.observation.noindex and self.observation.canonical in (None, self.queued.url)

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
