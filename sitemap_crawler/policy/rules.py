"""What the options say about a URL by itself: is it fetched, may it be listed; the crawl and `decide` share it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.limits import MAX_LOC
from sitemap_crawler.traps.url_checks import month_of, url_trap
from sitemap_crawler.urls.normalise import Resolver
from sitemap_crawler.urls.scope import DomainScope, Scope

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options


class Reason(StrEnum):
    """The stable words for why a URL is, or is not, in the sitemap."""

    LISTED = "listed"
    KEPT_AFTER_ERROR = "kept-after-error"
    OUT_OF_SCOPE = "out-of-scope"
    EXCLUDED_BY_RULE = "excluded-by-rule"
    BLOCKED_BY_ROBOTS = "blocked-by-robots"
    NOINDEX = "noindex"
    CANONICAL_ELSEWHERE = "canonical-elsewhere"
    REDIRECT = "redirect"
    CLIENT_ERROR = "client-error"
    SERVER_ERROR = "server-error"
    UNREACHABLE = "unreachable"
    NOT_A_PAGE = "not-a-page"
    DUPLICATE_INDEX_FILE = "duplicate-index-file"
    TOO_LONG = "too-long"
    LIMIT = "limit"
    ORPHAN = "orphan"


UNREACHED = 0xFFFF
"""The depth of a URL to which no click path is known, as only a sitemap names it."""
BELOW_UNREACHED = UNREACHED - 1
"""The depth of a URL to which only such a page leads."""


class Refusal(NamedTuple):
    reason: Reason
    evidence: str


class Rules:
    """The rules of one run. The start page is always fetched, whatever they say."""

    def __init__(self, options: Options, *, sitemap_url: str, start_url: str) -> None:
        """`sitemap_url` is public, `start_url` is where the crawl begins now."""
        self.address = options.address_from(start_url)
        prefix = self.crawled(Scope.of_sitemap(sitemap_url).prefix)
        self.scope = DomainScope(prefix) if options.subdomains else Scope(prefix)
        self.start_url = start_url
        self._tracking_parameters = options.tracking_parameters
        self.content_types = frozenset(word.lower() for word in options.content_types)
        self._max_depth = options.max_depth
        self._include = [re.compile(pattern) for pattern in options.include]
        self._exclude = [re.compile(pattern) for pattern in options.exclude]
        self._exclude_listing = [re.compile(pattern) for pattern in options.exclude_listing]
        self._no_traps = [re.compile(pattern) for pattern in options.no_traps]
        self._traps = options.trap_budget > 0
        now = datetime.now(UTC)
        self._month = month_of(now.year, now.month)

    def resolver(self, *, tracking: bool = False) -> Resolver:
        """How the site's links are read; with `tracking` no parameter is taken away."""
        parameters = () if tracking else self._tracking_parameters
        if self.address is None:
            return Resolver(parameters)
        return Resolver(parameters, alias=self.crawled, scheme=self.address.published_at.partition(":")[0])

    @property
    def why_unfetched(self) -> str:
        """What may have kept a URL from being fetched that no rule here refuses."""
        ended = "the run ended before or other rules kept it out"
        return f"{ended}, or its host is one too many" if isinstance(self.scope, DomainScope) else ended

    def published(self, url: str) -> str:
        """The public address of a URL of the site."""
        return self.address.published(url) if self.address else url

    def crawled(self, url: str) -> str:
        """Where the site has what has this public address."""
        return self.address.crawled(url) if self.address else url

    def fetch_refusal(self, url: str, depth: int) -> Refusal | None:
        """Why `url`, found `depth` clicks from the start page, is not fetched; None when it is, as for what a sitemap
        names whatever the depth."""
        if url == self.start_url:
            return None
        if not self.scope.reaches(url):
            return Refusal(Reason.OUT_OF_SCOPE, f"not {self.scope.words}")
        if excluded := self._matching(self._exclude, url, "--exclude"):
            return excluded
        if depth == UNREACHED:
            return None
        if self.may_be_trap(url) and (trap := url_trap(url, month=self._month)):
            return Refusal(Reason.LIMIT, trap)
        if self._max_depth is None or depth <= self._max_depth:
            return None
        far = f"{depth} clicks" if depth < BELOW_UNREACHED else "no known number of clicks"
        return Refusal(Reason.LIMIT, f"{far} from the start page, limit {self._max_depth}")

    def may_be_trap(self, url: str) -> bool:
        """Whether traps are looked for, and the URL is not excepted."""
        return self._traps and not (self._no_traps and self._matching(self._no_traps, url, "no_traps"))

    def listing_refusal(self, url: str) -> Refusal | None:
        """Why `url`, a good page, may not be listed; None when it may."""
        length = len(self.published(url))
        if length > MAX_LOC:
            return Refusal(Reason.TOO_LONG, f"{length} characters, at most {MAX_LOC} can be listed")
        if not self.scope.admits(url):
            return Refusal(Reason.OUT_OF_SCOPE, f"not {self.scope.words}")
        excluded = self._matching(self._exclude, url, "--exclude")
        if excluded := excluded or self._matching(self._exclude_listing, url, "--exclude-listing"):
            return excluded
        if self._include and not self._matching(self._include, url, "--include"):
            return Refusal(Reason.EXCLUDED_BY_RULE, "no --include pattern matches")
        return None

    def _matching(self, patterns: list[re.Pattern[str]], url: str, option: str) -> Refusal | None:
        for pattern in patterns:
            if pattern.search(url) or (self.address and pattern.search(self.address.published(url))):
                return Refusal(Reason.EXCLUDED_BY_RULE, f"{option} {pattern.pattern}")
        return None
