"""The questions of `monitor`: services are asked about the published sitemaps and the listed pages, and every answer is
kept at once.

The inventory is open for writing only to keep an answer. What is published is read before.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.exceptions import ServiceError, ServiceLaterError, ServiceRefusedError
from sitemap_crawler.inventory.engine_answers import MAX_WORDS, EngineAnswers
from sitemap_crawler.inventory.inspections import candidates
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.sitemap_answers import Content, SitemapAnswer
from sitemap_crawler.inventory.unlocked import UnlockedInventory
from sitemap_crawler.search_engines.bing import SERVICE as BING
from sitemap_crawler.search_engines.bing import SITE_REASONS, BingWebmaster
from sitemap_crawler.search_engines.google import SERVICE as GOOGLE
from sitemap_crawler.search_engines.google import SearchConsole
from sitemap_crawler.search_engines.inspection import InspectionResult, Inspector, Page
from sitemap_crawler.search_engines.properties import NOT_COVERED, bing_site, google_property
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.search_engines.bing import BingSite, FeedStatus
    from sitemap_crawler.search_engines.google import Inspection, Property, SitemapStatus
    from sitemap_crawler.search_engines.http_client import Clock
    from sitemap_crawler.search_engines.published_files import PublishedSite

SERVICES = (GOOGLE, BING)
MAX_CHILDREN = 1_000
"""Maximum number of sitemaps of one index about which answers are kept."""
MAX_CONTENTS = 20
"""Maximum number of kinds of contents of one sitemap. Google has nine."""
_PAGES = "web"
"""Kind of the contents that are pages."""


class Problem(NamedTuple):
    """A question that a service has not answered."""

    service: str
    url: str | None
    """URL of the sitemap or page; None for a problem of the whole service."""
    error: ServiceError


@dataclass(slots=True)
class Questions:
    """What became of the questions to the services."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    inspection: InspectionResult | None = None
    is_interrupted: bool = False

    @property
    def exit_codes(self) -> set[int]:
        codes = {problem.error.exit_code for problem in self.problems}
        if self.inspection is not None:
            codes |= self.inspection.exit_codes
        return codes | ({ServiceLaterError.exit_code} if self.is_interrupted else set())


class Monitor:
    """The questions about one site. The services are independent of each other."""

    def __init__(self, path: StateLocation, site: PublishedSite, options: Options, *, clock: Clock) -> None:
        """`path` is that of the inventory, and `site` what is published."""
        self._path = path
        self._site = site
        self._options = options
        self._clock = clock
        self._questions = Questions()

    def ask(self, services: Iterable[str], *, inspect: int = 0) -> Questions:
        """Ask about each entry file, and Google about at most `inspect` pages. Raises InventoryError.

        An interruption keeps the answers that have arrived.
        """
        try:
            for service in services:
                with self._noting(service):
                    if service == GOOGLE:
                        self._ask_google(inspect)
                    else:
                        self._ask_bing()
        except KeyboardInterrupt:
            self._questions.is_interrupted = True
        return self._questions

    @contextmanager
    def _noting(self, service: str, url: str | None = None) -> Iterator[None]:
        try:
            yield
        except ServiceError as error:
            self._questions.problems.append(Problem(service, url, error))

    def _ask_google(self, inspect: int) -> None:
        with SearchConsole(self._options, self._options.ca_file, clock=self._clock) as console:
            if console.warning:
                self._questions.warnings.append(console.warning)
            account = GoogleAccount(console, self._options.google_property)
            if self._ask_about_files(account) and inspect:
                self._inspect(account, inspect)

    def _ask_bing(self) -> None:
        with BingWebmaster(self._options, self._options.ca_file, clock=self._clock) as client:
            self._ask_about_files(BingAccount(client, self._options.bing_site))

    def _ask_about_files(self, account: GoogleAccount | BingAccount) -> bool:
        """Return whether there was an answer. No other file is asked about after an error that concerns all."""
        answered = False
        for file in (file for host in self._site.hosts for file in host.entries):
            before = len(self._questions.problems)
            with self._noting(account.service, file.url):
                name = account.property_of(file.url)
                answer = account.sitemap(name, file.url)
                answered = True
                children: Mapping[str, SitemapAnswer] = {}
                with self._noting(account.service, file.url):
                    children = account.children(name, file.url) if answer.known else {}
                with UnlockedInventory(self._path) as inventory:
                    EngineAnswers(inventory).keep_sitemap(
                        account.service, name, file.url, answer, children, self._clock.now()
                    )
            if any(_concerns_all(problem.error) for problem in self._questions.problems[before:]):
                break
        return answered

    def _inspect(self, account: GoogleAccount, limit: int) -> None:
        property_of = lru_cache(maxsize=2 * limit)(account.property_covering)
        to_public = self._site.to_public
        with open_inventory(self._path) as inventory:
            chosen = candidates(inventory.connection, limit, admits=lambda url: property_of(to_public(url)) is not None)
            pages = [Page(each.id, to_public(each.url), property_of(to_public(each.url)) or "") for each in chosen]
        with UnlockedInventory(self._path) as writable:
            inspector = Inspector(account.inspect, EngineAnswers(writable), clock=self._clock)
            self._questions.inspection = inspector.run(pages)
        if self._questions.inspection.is_interrupted:
            raise KeyboardInterrupt


def _concerns_all(error: ServiceError) -> bool:
    return error.http_status not in (403, 404) and error.reason not in (NOT_COVERED, *SITE_REASONS)


class GoogleAccount:
    """What one account of Search Console says of sitemaps and pages. Every method raises ServiceError."""

    service = GOOGLE

    def __init__(self, console: SearchConsole, given: str | None) -> None:
        self._console = console
        self._given = given

    @cached_property
    def _properties(self) -> list[Property]:
        return self._console.sites()

    def property_of(self, url: str) -> str:
        """Return the property for a URL: the given one if it covers the URL, else the most specific one."""
        account = self._console.account
        return google_property(self._given, lambda: self._properties, url, account=account, submitting=False)

    def property_covering(self, url: str) -> str | None:
        """Return the property for a page, or None."""
        try:
            return self.property_of(url)
        except ServiceRefusedError as error:
            if error.reason != NOT_COVERED:
                raise
            return None

    def sitemap(self, name: str, url: str) -> SitemapAnswer:
        status = self._console.sitemap(name, url)
        return SitemapAnswer(known=False) if status is None else _of_google(status)

    def children(self, name: str, url: str) -> dict[str, SitemapAnswer]:
        found = self._console.children(name, url)
        return {each.url: _of_google(each) for each in found[:MAX_CHILDREN] if each.url != url}

    def inspect(self, name: str, url: str) -> Inspection:
        """Ask for a page, once."""
        return self._console.inspect(name, url, repeatable=False)


def _of_google(status: SitemapStatus) -> SitemapAnswer:
    contents = tuple(Content(each.type, each.submitted) for each in status.contents[:MAX_CONTENTS])
    pages = [each.submitted for each in contents if each.type == _PAGES and each.submitted is not None]
    return SitemapAnswer(
        submitted=sum(pages) if pages else None,
        last_submitted=status.last_submitted,
        last_downloaded=status.last_downloaded,
        pending=status.pending,
        is_index=status.is_index,
        type=status.type,
        errors=status.errors,
        warnings=status.warnings,
        contents=contents,
    )


class BingAccount:
    """What one account of Bing Webmaster Tools says of sitemaps. Every method raises ServiceError."""

    service = BING

    def __init__(self, client: BingWebmaster, given: str | None) -> None:
        self._client = client
        self._given = given
        self._feeds: dict[str, dict[str, FeedStatus]] = {}

    @cached_property
    def _sites(self) -> list[BingSite]:
        return self._client.sites()

    def property_of(self, url: str) -> str:
        """Return the site for a URL: the given one if it covers the URL, else the longest one."""
        return bing_site(self._given, lambda: self._sites, url)

    def sitemap(self, name: str, url: str) -> SitemapAnswer:
        if name not in self._feeds:
            self._feeds[name] = {each.url: each for each in self._client.feeds(name)}
        status = self._feeds[name].get(url)
        return SitemapAnswer(known=False) if status is None else _of_bing(status)

    def children(self, name: str, url: str) -> dict[str, SitemapAnswer]:
        found = self._client.feed_details(name, url)
        return {each.url: _of_bing(each) for each in found[:MAX_CHILDREN] if each.url != url}


def _of_bing(status: FeedStatus) -> SitemapAnswer:
    word = (status.status or "").casefold()
    return SitemapAnswer(
        submitted=status.submitted,
        last_submitted=status.last_submitted,
        last_downloaded=status.last_downloaded,
        # Other words of Bing, which documents none, say nothing about it.
        pending={"pending": True, "success": False}.get(word),
        type=one_line(status.type or "", MAX_WORDS) or None,
        status=one_line(status.status or "", MAX_WORDS) or None,
    )
