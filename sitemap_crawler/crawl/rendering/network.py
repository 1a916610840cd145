"""What scripts of a page may fetch, and the fetching, which the crawl itself does.

The browser has no network. What a page asks for comes here and passes the crawl's own engine: robots.txt of each host,
delays, logins, proxies, certificates, and the gate for addresses, which is asked again when a connection is opened. No
resource is fetched twice in a run.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from sitemap_crawler.config.types import SubresourceHosts
from sitemap_crawler.crawl.download.errors import MAX_ERROR_LENGTH, describe_failure
from sitemap_crawler.crawl.download.handler import BOMB, TRUNCATED, RequestRefusedError
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import Meta, Stat
from sitemap_crawler.crawl.middlewares.robots import BlockedByRobotsError
from sitemap_crawler.crawl.rendering.rendered import MISSED, Refusal, ResourceKind, ScriptRequest, unsent
from sitemap_crawler.exceptions import AddressError, SitemapCrawlerError
from sitemap_crawler.items import is_transient
from sitemap_crawler.urls.normalise import MAX_STORED_URL, origin_of
from sitemap_crawler.utils.bounded import Recent
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response

MAX_REQUESTS = 100
"""Maximum number of requests of a page."""
MAX_PAGE_BYTES = 20_000_000
"""Maximum number of bytes that a page gets in answer to them."""
MAX_CACHE_BYTES = 128_000_000
"""Maximum size of the answers that are kept for other pages of the run, the ones that were used last."""
MAX_ATTEMPTS = 3
"""Number of failures in a run after which a resource is not requested any more."""
MAX_REMEMBERED = 10_000
"""Number of resources of which it is remembered that they fail, or that a 304 has confirmed them, twice at most."""
MAX_NOTED = MAX_REQUESTS + 20
"""Maximum number of requests of a page that are kept for the next run."""
MAX_REFUSED = 20
"""Maximum number of refused requests of a page that are told."""
MAX_HEADERS, MAX_HEADER_LENGTH = 20, 4_000
"""Maximum number of headers of a script's request that are sent, and of characters of each."""
NOT_MODIFIED = 304
METHODS = ("GET", "HEAD")
"""Methods that change nothing on a server, https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1"""
_FETCHABLE = re.compile(r"https?://[^/@]+/", re.IGNORECASE)
_UNSENT_HEADERS = re.compile(
    r"accept-(?:charset|encoding)|connection|content-.*|cookie2?|date|dnt|expect|host|if-.*|keep-alive|"
    r"origin|priority|proxy-.*|purpose|referer|sec-.*|te|trailer|transfer-encoding|upgrade.*|user-agent|via|"
    r"x-http-method(?:-override)?|x-method-override",
)
"""Headers of a script's request that are not sent: the crawl has its own, or they would make a GET something else."""
_PREFETCH_HEADERS = frozenset(("next-router-prefetch", "purpose", "sec-purpose", "x-moz", "x-sec-purpose"))
"""Headers by which scripts say that they only load ahead what another page shows: of Next.js, Turbo and others."""
_UNSEEN_HEADERS = re.compile(
    r"accept-ch|alt-svc|clear-site-data|connection|content-(?:disposition|encoding|length)|critical-ch|"
    r"cross-origin-(?:embedder|opener)-policy(?:-report-only)?|keep-alive|link|nel|origin-agent-cluster|refresh|"
    r"report(?:-to|ing-endpoints)|server-timing|speculation-rules|strict-transport-security|supports-loading-mode|"
    r"transfer-encoding|.*[^!#$%&'*+.^_`|~0-9a-z-].*",
)
"""Headers of an answer that the browser does not get: the body is decoded, and the rest makes requests, lasts longer
than the page, or would have another process show it."""


class ResourceRefusedError(SitemapCrawlerError):
    """The resource is not fetched, or cannot be; the message says why."""


class ResourceFailedError(ResourceRefusedError):
    """There is no answer for now."""


class Wanted(NamedTuple):
    """A request of a page."""

    url: str
    kind: ResourceKind
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    """Those that are sent, in lower case and sorted."""

    @property
    def name(self) -> str:
        """A key for mappings: method, URL and headers."""
        return repr((self.method, self.url, self.headers))

    @classmethod
    def from_browser(
        cls, url: str, kind: ResourceKind, *, method: str, headers: Mapping[str, str], page_url: str
    ) -> Wanted:
        """Take the request as the browser tells of it. Servers let other sites read what names their origin."""
        sent = {
            name.lower(): value
            for name, value in headers.items()
            if not _UNSENT_HEADERS.fullmatch(name.lower()) and len(value) <= MAX_HEADER_LENGTH and value.isascii()
        }
        if len(sent) > MAX_HEADERS:
            sent = {name: value for name, value in sent.items() if name == "accept"}
        if kind is not ResourceKind.FRAME and origin_of(url) != origin_of(page_url):
            sent["origin"] = origin_of(page_url)
        return cls(url, kind, method, tuple(sorted(sent.items())))


def is_prefetch(headers: Mapping[str, str]) -> bool:
    """Return whether a request is made for a page that a visitor may go to later."""
    return any(
        name.lower() in _PREFETCH_HEADERS and (name.lower().startswith("next-") or "prefetch" in value.lower())
        for name, value in headers.items()
    )


class Resource(NamedTuple):
    """An answer, as the browser gets it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    etag: str | None
    last_modified: str | None

    @property
    def size_bytes(self) -> int:
        """Size in the cache, with an estimate of the rest: an empty answer takes memory, too."""
        return len(self.body) + 2_000

    @property
    def content_hash(self) -> bytes:
        return blake2b(self.body, digest_size=16, salt=str(self.status).encode()).digest()


class _Fetch(NamedTuple):
    """A request that has no answer yet. Several pages may wait for it."""

    task: asyncio.Task[Resource]
    request: Request

    @property
    def is_waiting(self) -> bool:
        """Whether the request has to wait for its turn, or for robots.txt."""
        return Meta.SENT_AT not in self.request.meta


class Network:
    """The resources of all pages of a crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._job = job_of(crawler)
        self._hosts = self._job.options.subresource_hosts
        self._cache: OrderedDict[Wanted, Resource] = OrderedDict()
        self._cached_bytes = 0
        self._fetches: dict[Wanted, _Fetch] = {}
        self._conditional: dict[Wanted, _Fetch] = {}
        """Requests with conditions. A 304 is no answer for a page."""
        self._failures: Recent[tuple[int, ResourceRefusedError]] = Recent(MAX_REMEMBERED)
        """Number of failures and the last one, by URL."""
        self._confirmed: Recent[bytes] = Recent(MAX_REMEMBERED)
        """Hash of the content of resources that a 304 has confirmed in this run, by the name of the request."""

    def refusal_of(self, wanted: Wanted) -> str | None:
        """Return why a resource may not be fetched; None if it may be. robots.txt is asked later."""
        if wanted.method not in METHODS:
            return unsent(wanted.method)
        if not _FETCHABLE.match(wanted.url):
            return "it is no http or https URL"
        if len(wanted.url) > MAX_STORED_URL:
            return f"its URL is longer than {MAX_STORED_URL} characters"
        if self._job.rules.is_excluded(wanted.url):
            return "--exclude forbids it"
        return self._refusal_of_host(origin_of(wanted.url), wanted.kind)

    def _refusal_of_host(self, origin: str, kind: ResourceKind) -> str | None:
        job = self._job
        if origin in (origin_of(job.start_url), origin_of(job.options.start_url)):
            return None
        if self._hosts is SubresourceHosts.NONE:
            return "it is on another host than the start page (--subresource-hosts none)"
        try:
            is_site = not job.gate.is_resource_host(origin) and bool(job.gate.passage(origin))
        except AddressError:
            is_site = False
        if is_site:
            return None
        if kind is ResourceKind.FRAME:
            return "it is a frame of another site"
        if self._hosts is SubresourceHosts.SITE:
            return "it is on another site (--subresource-hosts site)"
        try:
            job.gate.name_resource_host(origin)
        except AddressError as error:
            return str(error)
        return None

    async def fetch(self, wanted: Wanted) -> Resource:
        """Return the answer to a request that may be made. Raises ResourceRefusedError."""
        if (resource := self._cache.get(wanted)) is not None:
            self._cache.move_to_end(wanted)
            return resource
        if (conditional := self._conditional.get(wanted)) is not None:
            with suppress(ResourceRefusedError):
                resource = await asyncio.shield(conditional.task)
                if resource.status != NOT_MODIFIED:
                    return resource
        # The fetch goes on when this page ends: others may wait for it.
        return await asyncio.shield(self._fetch_of(wanted).task)

    def is_waiting(self, wanted: Wanted) -> bool:
        """Return whether a resource that a page waits for has to wait for its own turn."""
        fetch = self._fetches.get(wanted) or self._conditional.get(wanted)
        return fetch is not None and fetch.is_waiting

    async def unchanged(self, earlier: ScriptRequest) -> bool:
        """Return whether a resource is the same as in an earlier run. It is requested conditionally, once a run."""
        wanted = Wanted(earlier.url, earlier.kind, earlier.method, earlier.headers)
        if (resource := self._cache.get(wanted)) is not None:
            return resource.content_hash == earlier.body_hash
        if (confirmed := self._confirmed.get(wanted.name)) is not None:
            return confirmed == earlier.body_hash
        if self.refusal_of(wanted) is not None:
            return earlier.body_hash == MISSED
        try:
            resource = await asyncio.shield(self._fetch_of(wanted, earlier).task)
        except ResourceRefusedError:
            return earlier.body_hash == MISSED
        if resource.status == NOT_MODIFIED:
            # The conditions may have been those of another page, which got another answer in the earlier run.
            return self._confirmed.get(wanted.name) == earlier.body_hash
        if is_transient(resource.status):
            return earlier.body_hash == MISSED
        return resource.content_hash == earlier.body_hash

    def _fetch_of(self, wanted: Wanted, earlier: ScriptRequest | None = None) -> _Fetch:
        kept = self._fetches if earlier is None or wanted in self._fetches else self._conditional
        fetch = kept.get(wanted)
        if fetch is None:
            conditions = {"If-None-Match": earlier.etag, "If-Modified-Since": earlier.last_modified} if earlier else {}
            request = Request(
                wanted.url,
                method=wanted.method,
                headers=[*wanted.headers, *((name, value) for name, value in conditions.items() if value is not None)],
                callback=NO_CALLBACK,
                meta={Meta.VERBATIM_URL: True, Meta.MAX_BODY_BYTES: MAX_PAGE_BYTES},
            )
            task = asyncio.ensure_future(self._download(wanted, request, kept, earlier))
            # A page that no longer waits leaves an exception behind.
            task.add_done_callback(_take_exception)
            fetch = kept[wanted] = _Fetch(task, request)
        return fetch

    async def _download(
        self, wanted: Wanted, request: Request, kept: dict[Wanted, _Fetch], earlier: ScriptRequest | None
    ) -> Resource:
        count, last = self._failures.get(wanted.url) or (0, ResourceRefusedError())
        try:
            if count >= MAX_ATTEMPTS:
                raise type(last)(str(last))
            response = await self._crawler.engine.download_async(request)
            self._crawler.stats.inc_value(Stat.RENDER_REQUESTS)
            if BOMB in response.flags or TRUNCATED in response.flags:
                raise ResourceRefusedError(f"it is longer than {MAX_PAGE_BYTES:,} bytes")
            resource = _resource_of(response)
            if is_transient(resource.status):
                self._failures.put(wanted.url, (count + 1, ResourceFailedError(_status(resource))))
            elif resource.status != NOT_MODIFIED:
                self._keep(wanted, resource)
            elif earlier is not None:
                # Noted before the fetch ends: a page that asks between its end and the next turn makes no request.
                self._confirmed.put(wanted.name, earlier.body_hash)
            return resource
        except ResourceRefusedError:
            raise
        except Exception as error:
            is_lasting = isinstance(error, (BlockedByRobotsError, RequestRefusedError))
            reason = printable(describe_failure(error))[:MAX_ERROR_LENGTH]
            failure = ResourceRefusedError(reason) if is_lasting else ResourceFailedError(reason)
            self._failures.put(wanted.url, (count + 1, failure))
            raise failure from error
        finally:
            kept.pop(wanted, None)

    def _keep(self, wanted: Wanted, resource: Resource) -> None:
        self._cache[wanted] = resource
        self._cached_bytes += resource.size_bytes
        while self._cached_bytes > MAX_CACHE_BYTES:
            _, dropped = self._cache.popitem(last=False)
            self._cached_bytes -= dropped.size_bytes

    async def close(self) -> None:
        """End the requests that are left."""
        tasks = [fetch.task for fetch in (*self._fetches.values(), *self._conditional.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class PageRequests:
    """The requests of one page: what it has asked for, what it got, and what was refused."""

    def __init__(self, network: Network, url: str) -> None:
        self._network = network
        self.url = url
        self._count = 0
        self._bytes = 0
        self._open: list[Wanted] = []
        self._noted: dict[str, ScriptRequest] = {}
        """By the name of the request."""
        self._refused: dict[str, Refusal] = {}

    @property
    def noted(self) -> tuple[ScriptRequest, ...]:
        """The requests that were answered, and those without whose answer the page may lack content."""
        return tuple(self._noted.values())

    @property
    def refused(self) -> tuple[Refusal, ...]:
        return tuple(self._refused.values())

    @property
    def are_pending(self) -> bool:
        return bool(self._open)

    @property
    def are_waiting(self) -> bool:
        """Whether a request of the page has to wait for its turn."""
        return any(map(self._network.is_waiting, self._open))

    def refuse(self, url: str, reason: str, kind: ResourceKind | None = None) -> None:
        """Note a request that is not made. `kind` is None for what is no content."""
        url = url[:MAX_STORED_URL]
        if len(self._refused) < MAX_REFUSED:
            self._refused.setdefault(url, Refusal(url, reason, kind))

    async def fetch(self, wanted: Wanted) -> Resource:
        """Return the answer for the page. Raises ResourceRefusedError, and notes it."""
        try:
            return await self._fetch(wanted)
        except ResourceRefusedError as error:
            self.refuse(wanted.url, str(error), wanted.kind)
            raise

    async def _fetch(self, wanted: Wanted) -> Resource:
        if (refusal := self._network.refusal_of(wanted)) is not None:
            self._note_missed(wanted)
            raise ResourceRefusedError(refusal)
        self._count += 1
        if self._count > MAX_REQUESTS:
            raise ResourceRefusedError(f"it is request number {MAX_REQUESTS + 1} or later of the page")
        self._open.append(wanted)
        try:
            resource = await self._network.fetch(wanted)
        except ResourceRefusedError as error:
            self._note_missed(wanted, problem=str(error) if isinstance(error, ResourceFailedError) else None)
            raise
        finally:
            self._open.remove(wanted)
        self._bytes += len(resource.body)
        if self._bytes > MAX_PAGE_BYTES:
            raise ResourceRefusedError(f"the page has got more than {MAX_PAGE_BYTES:,} bytes")
        if is_transient(resource.status):
            self._note_missed(wanted, problem=_status(resource))
        else:
            self._note(wanted, resource)
        return resource

    def _note(self, wanted: Wanted, resource: Resource) -> None:
        """Note a request with its first answer, for a later run."""
        noted = self._noted.get(wanted.name)
        if noted is None or noted.body_hash == MISSED:
            validators = resource.etag, resource.last_modified, resource.content_hash
            request = ScriptRequest(wanted.url, wanted.kind, *validators, wanted.method, wanted.headers)
            self._noted[wanted.name] = request

    def _note_missed(self, wanted: Wanted, *, problem: str | None = None) -> None:
        """Note a request without whose answer the page may lack content. `problem` says why it has failed for now."""
        if len(self._noted) < MAX_NOTED and self._may_be_content(wanted):
            missed = ScriptRequest(
                wanted.url, wanted.kind, None, None, MISSED, wanted.method, wanted.headers, problem=problem
            )
            self._noted.setdefault(wanted.name, missed)

    def _may_be_content(self, wanted: Wanted) -> bool:
        """Return whether a page without the resource may lack content. Scripts of other sites mostly count visitors."""
        is_own = origin_of(wanted.url) == origin_of(self.url)
        return wanted.method in METHODS and (is_own or wanted.kind is not ResourceKind.SCRIPT)


def _status(resource: Resource) -> str:
    return f"status {resource.status}"


def _take_exception(task: asyncio.Task[Resource]) -> None:
    """Keep asyncio from reporting an exception that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


def _resource_of(response: Response) -> Resource:
    pairs = [
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, values in dict.items(response.headers)
        for value in values
    ]
    validators = dict(reversed(pairs))
    return Resource(
        response.status,
        seen_headers(pairs, cookies=False),
        response.body,
        validators.get("etag"),
        validators.get("last-modified"),
    )


def seen_headers(headers: Iterable[tuple[str, str]], *, cookies: bool) -> tuple[tuple[str, str], ...]:
    """Return the headers that the browser gets, of those with lower-case names; with `cookies` also Set-Cookie."""
    return tuple(
        [
            (name, value)
            for name, value in headers
            if not _UNSEEN_HEADERS.fullmatch(name) and (cookies or name != "set-cookie") and "\0" not in value
        ]
    )


def header_pairs(headers: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, values in headers.items() for value in values]
