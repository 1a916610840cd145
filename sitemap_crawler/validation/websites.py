"""Targets on the web: the URL of a sitemap or an index, or the address of a site, whose robots.txt names sitemaps."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag, urlsplit

from sitemap_crawler.exceptions import TargetError, UnreadableError
from sitemap_crawler.policy.robots_txt import MAX_BYTES, RobotsTxt
from sitemap_crawler.utils.text import printable
from sitemap_crawler.validation.findings import Site, issue
from sitemap_crawler.validation.reading.remote import MAX_SECONDS, Client
from sitemap_crawler.validation.reading.sources import SUFFIX, begins_as_html, kind_of
from sitemap_crawler.validation.reading.stream import PIECE_BYTES
from sitemap_crawler.validation.results import FileTask
from sitemap_crawler.validation.values import Place, Url, UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sitemap_crawler.validation.findings import Issue
    from sitemap_crawler.validation.session import Outcome, Validation

MAX_DOWNLOADS = 50_000
"""Maximum number of files of one target: those of a full index."""
SEARCH_ENGINE = "Googlebot"
"""Robot whose rules in robots.txt count for sitemaps."""
_TYPES = frozenset(
    ("application/xml", "text/xml", "text/plain", "application/gzip", "application/x-gzip", "application/octet-stream")
)
"""Media types, next to those that end in +xml, with which search engines read sitemaps."""
_USERINFO = re.compile(r"//[^/?#]*@")


class _Downloaded(NamedTuple):
    """A file from the web."""

    path: Path
    address: str
    """URL of the request."""
    final: str
    """URL after redirects."""
    is_decoded: bool
    content_type: str | None


def check_address(validation: Validation, target: str, credentials: Sequence[tuple[str, str]] = ()) -> None:
    """Check a sitemap with the sitemaps that it lists, or all sitemaps of a site. Raises TargetError.

    The headers `credentials` are sent to the origin of the target only.
    """
    address = urldefrag(target)[0]
    url = parse_url(address)
    if isinstance(url, UrlProblem):
        shown = _USERINFO.sub("//…@", target)  # without the password
        raise TargetError(f"{shown} can't be validated: the URL {url.message}")
    _Website(validation, url, credentials).check(address)


class _Website:
    """Check of sitemaps of one site."""

    def __init__(self, validation: Validation, url: Url, credentials: Sequence[tuple[str, str]]) -> None:
        self._validation = validation
        self._site = url.origin
        self._client = Client(url.origin, credentials)
        self._downloads = 0
        self._done: dict[str, Outcome] = {}
        """Results by address: the requested one, and the one after redirects."""

    def check(self, address: str) -> None:
        """Check the sitemap at an address; if that is the root of a site or a page, the site's sitemaps.

        A page at an address that names a sitemap is no page of a site, but an error.
        """
        path = parse_url(address)
        if isinstance(path, Url) and (path.path, path.query) == ("/", ""):
            self._check_site(address)
            return
        downloaded = self._download(address)
        if downloaded is None:
            return
        names_a_sitemap = any(_names_a_sitemap(url) for url in (address, downloaded.final))
        if not names_a_sitemap and begins_as_html(downloaded.path):
            self._check_site(address)
        else:
            self._report_unnamed(downloaded)
            self._check_sitemap(downloaded)

    def _check_site(self, target: str) -> None:
        named = self._sitemaps_of_robots_txt()
        more = "" if named else "; the site's robots.txt names no sitemap"
        addresses = named or [f"{self._site}/sitemap.xml"]
        self._validation.sites.append(Site(target, f"{self._site}/robots.txt" if named else None, addresses))
        for address in addresses:
            if address not in self._done and (downloaded := self._download(address, more=more)):
                self._check_sitemap(downloaded, is_named=bool(named))

    @cached_property
    def _robots(self) -> RobotsTxt | None:
        """The site's robots.txt; None if there is none that can be read."""
        body = b""
        try:
            with self._client.open_url(f"{self._site}/robots.txt") as download:
                while len(body) < MAX_BYTES and (piece := download.read(PIECE_BYTES)):
                    body += piece
        except UnreadableError:
            # What came before the connection broke counts.
            return RobotsTxt.parse(body) if body else None
        return RobotsTxt.parse(body)

    def _sitemaps_of_robots_txt(self) -> list[str]:
        """Return the sitemaps that the site's robots.txt names."""
        named = []
        for stated in dict.fromkeys(self._robots.sitemaps if self._robots else ()):
            url = parse_url(urldefrag(stated)[0])
            if isinstance(url, UrlProblem):
                message = f"robots.txt names the sitemap {stated}, whose URL {url.message}"
                self._report(f"{self._site}/robots.txt", issue("unreachable", message))
            else:
                self._client.name(url.origin)
                named.append(str(url))
        return named

    def _check_sitemap(self, downloaded: _Downloaded, *, is_named: bool = False) -> None:
        """Check a sitemap and its children. A sitemap that robots.txt names may list all URLs of the site."""
        final = parse_url(downloaded.final)
        if isinstance(final, UrlProblem):
            return
        self._report_delivery(downloaded)
        index, own = downloaded.address, {downloaded.address, downloaded.final}
        place = Place.for_sitemap(final)
        if is_named and (final.origin == self._site or kind_of(downloaded.path) != "sitemapindex"):
            place = Place(self._site, "/")
        [outcome] = self._validation.check([self._task(downloaded, place)])
        self._done.update(dict.fromkeys(own, outcome))
        if outcome.children:
            self._check_children(index, own, outcome, final.origin, place if is_named else None)

    def _check_children(self, index: str, own: set[str], outcome: Outcome, origin: str, place: Place | None) -> None:
        downloads: dict[str, _Downloaded] = {}
        for child in outcome.children:
            if child.url.origin != origin or child.loc in self._done or child.loc in downloads:
                continue  # a foreign one is reported in the index
            if self._client.is_late or self._downloads >= MAX_DOWNLOADS:
                limit = f"{MAX_SECONDS / 3600:g} hours" if self._client.is_late else f"{MAX_DOWNLOADS:,} downloads"
                message = f"the sitemaps from {child.loc} on were not checked: the limit is {limit}"
                self._report(index, issue("not-checked", message))
                break
            if downloaded := self._download(child.loc, origin):
                self._report_delivery(downloaded)
                downloads[child.loc] = downloaded
        tasks = [self._task(downloaded, place or _place(downloaded)) for downloaded in downloads.values()]
        self._done.update(zip(downloads, self._validation.check(tasks), strict=True))
        for child in outcome.children:
            if child.loc in self._done:
                self._validation.check_child(index, child, self._done[child.loc], is_same=child.loc in own)

    def _task(self, downloaded: _Downloaded, place: Place | None) -> FileTask:
        site, now = self._site, self._validation.now
        return FileTask(downloaded.path, downloaded.address, site, now, place, downloaded.is_decoded)

    def _download(self, address: str, origin: str | None = None, *, more: str = "") -> _Downloaded | None:
        """Store a file; None if that fails, which is a finding, whose message ends in `more`."""
        self._downloads += 1
        try:
            with self._client.open_url(address, origin) as download:
                path = self._validation.spool.store(download)
        except UnreadableError as exc:
            self._report(address, issue(exc.rule, f"the sitemap {exc.message}{more}"))
            return None
        return _Downloaded(path, address, download.url, download.decoded, download.content_type)

    def _report_delivery(self, downloaded: _Downloaded) -> None:
        """Report how the server sends a sitemap, if that keeps search engines from reading it."""
        address, kind = downloaded.address, downloaded.content_type
        if kind is not None and not (kind in _TYPES or kind.endswith("+xml")):
            self._report(address, issue("content-type", f"the server sends the sitemap as {printable(kind)}"))
        is_own = address.startswith(f"{self._site}/")
        if is_own and self._robots and (rule := self._robots.rule_against(address, SEARCH_ENGINE)) is not None:
            self._report(address, issue("sitemap-disallowed", f"robots.txt disallows the sitemap: {rule}"))
        if downloaded.final != address:
            self._report(address, issue("redirected", f"the sitemap is at {downloaded.final} now"))

    def _report_unnamed(self, downloaded: _Downloaded) -> None:
        """Report a sitemap that the site's robots.txt does not name. An index that it names may list the sitemap."""
        if self._robots is None or begins_as_html(downloaded.path):
            return
        named = {urldefrag(stated)[0] for stated in self._robots.sitemaps}
        may_be_listed = bool(named) and kind_of(downloaded.path) != "sitemapindex"
        if not may_be_listed and not {downloaded.address, downloaded.final} & named:
            more = f"; it names {printable(min(named))}" if named else " or any other"
            self._report(downloaded.address, issue("sitemap-unnamed", f"robots.txt does not name the sitemap{more}"))

    def _report(self, address: str, found: Issue) -> None:
        self._validation.collector.add(address, found)


def _names_a_sitemap(url: str) -> bool:
    """Return whether the name of the file says that it is a sitemap, as those of `/sitemap.php` and `/news.xml` do."""
    name = urlsplit(url).path.rstrip("/").rpartition("/")[2].lower()
    return "sitemap" in name or SUFFIX.search(name) is not None


def _place(downloaded: _Downloaded) -> Place | None:
    """Return the place of a downloaded sitemap, by its URL after redirects."""
    url = parse_url(downloaded.final)
    return None if isinstance(url, UrlProblem) else Place.for_sitemap(url)
