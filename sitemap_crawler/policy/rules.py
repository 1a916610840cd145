"""The rules that options set for a single URL: whether it is fetched, and whether it may be listed.

The crawl asks them about each URL that it discovers. The decisions at the end of the run ask them again.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.sitemap.limits import MAX_LOC
from sitemap_crawler.traps.detector import repeats_others, trap_evidence
from sitemap_crawler.traps.url_checks import MAX_PARAMETERS, month_of, url_trap
from sitemap_crawler.urls.normalise import Resolver
from sitemap_crawler.urls.parameters import count_separators, urls_without_one
from sitemap_crawler.urls.scope import DomainScope, Scope
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.config.options import Options


UNREACHED = 0xFFFF
"""Depth of a URL without a known click path: only a sitemap names it."""
LINKED_FROM_UNREACHED = UNREACHED - 1
"""Depth of a URL that is linked only from pages without a known click path."""


_CLICK_LIMIT = " from the start page, limit "
"""Part of the evidence of `--max-depth`. No URL has spaces, and so no other evidence has it."""


class Refusal(NamedTuple):
    """The reason why a URL is not fetched or not listed, with evidence for people."""

    reason: Reason
    evidence: str


def is_too_many_clicks(evidence: str | None) -> bool:
    """Return whether a URL with the reason `limit` has this evidence because of `--max-depth`."""
    return evidence is not None and _CLICK_LIMIT in evidence


def learnt_trap_refusal(trap: int, url: str, compared: Mapping[str, tuple[int, int]]) -> Refusal:
    """Return the refusal of a URL for a trap that the run has learnt, given as the state of the URL.

    `compared` is that of `trap_evidence`.
    """
    reason = Reason.DUPLICATE_PARAMETERS if repeats_others(trap, url) else Reason.LIMIT
    return Refusal(reason, trap_evidence(trap, url, compared))


class Rules:
    """Rules of one run. The start page is always fetched, even if a rule refuses it."""

    def __init__(self, options: Options, *, sitemap_url: str, start_url: str) -> None:
        """Take the public URL of the sitemap and the URL where the crawl starts, which may have been adopted."""
        self.address = options.address_from(start_url)
        prefix = self.to_crawled(Scope.for_sitemap(sitemap_url).prefix)
        self.scope = DomainScope(prefix) if options.subdomains else Scope(prefix)
        self.start_url = start_url
        self._tracking_parameters = options.tracking_parameters
        self.content_types = frozenset(media_type.lower() for media_type in options.content_types)
        self._max_depth = options.max_depth
        self._include = [UserPattern(pattern) for pattern in options.include]
        self._exclude = [UserPattern(pattern) for pattern in options.exclude]
        self._exclude_listing = [UserPattern(pattern) for pattern in options.exclude_listing]
        self._no_traps = [UserPattern(pattern) for pattern in options.no_traps]
        self._detects_traps = options.trap_budget > 0
        now = datetime.now(UTC)
        self._month = month_of(now.year, now.month)

    def resolver(self, *, tracking: bool = False) -> Resolver:
        """Return the resolver for links of the site. With `tracking` it keeps tracking parameters."""
        parameters = () if tracking else self._tracking_parameters
        if self.address is None:
            return Resolver(parameters)
        return Resolver(parameters, alias=self.to_crawled, scheme=self.address.published_at.partition(":")[0])

    @property
    def why_unfetched(self) -> str:
        """Possible causes, as a message, why a URL was not fetched although no rule here refuses it."""
        causes = "not fetched yet: the run ended before or other rules kept it out"
        return f"{causes}, or its host is one too many" if isinstance(self.scope, DomainScope) else causes

    def to_public(self, url: str) -> str:
        """Return the public form of a crawled URL."""
        return self.address.to_public(url) if self.address else url

    def to_crawled(self, url: str) -> str:
        """Return the crawled form of a public URL."""
        return self.address.to_crawled(url) if self.address else url

    def fetch_refusal(self, url: str, depth: int) -> Refusal | None:
        """Return why `url`, `depth` clicks from the start page, is not fetched; None if it is fetched.

        The limit of the depth and the checks for traps do not apply to URLs that a sitemap names.
        """
        if url == self.start_url:
            return None
        if not self.scope.may_lead_inside(url):
            return Refusal(Reason.OUT_OF_SCOPE, f"not {self.scope.description}")
        if excluded := self._matching(self._exclude, url, "--exclude"):
            return excluded
        if depth == UNREACHED:
            return None
        if self.checks_traps(url) and (trap := url_trap(url, month=self._month)):
            return Refusal(Reason.LIMIT, trap)
        if self._max_depth is None or depth <= self._max_depth:
            return None
        if depth >= LINKED_FROM_UNREACHED:
            return Refusal(Reason.LIMIT, f"no known click path{_CLICK_LIMIT}{self._max_depth} clicks")
        return Refusal(Reason.LIMIT, f"{depth} clicks{_CLICK_LIMIT}{self._max_depth}")

    def is_excluded(self, url: str) -> bool:
        """Return whether `--exclude` forbids to fetch the URL."""
        return self._matching(self._exclude, url, "--exclude") is not None

    def checks_traps(self, url: str) -> bool:
        """Return whether trap detection is on and `no_traps` does not exempt the URL."""
        return self._detects_traps and not (self._no_traps and self._matching(self._no_traps, url, "no_traps"))

    def learns_traps(self, url: str) -> bool:
        """Return whether what other pages have shown may refuse the URL: not if `--include` asks for its parameters."""
        return self.checks_traps(url) and not (self._include and "?" in url and self._include_needs_parameters(url))

    def _include_needs_parameters(self, url: str) -> bool:
        """Return whether an `--include` pattern matches the URL, but no more without any one of its parameters."""
        if count_separators(url) >= MAX_PARAMETERS:
            return False
        simpler = list(urls_without_one(url))
        return any(
            self._matching([pattern], url, "--include")
            and not any(self._matching([pattern], other, "--include") for other in simpler)
            for pattern in self._include
        )

    def listing_refusal(self, url: str) -> Refusal | None:
        """Return why `url`, the URL of a usable page, may not be listed; None if it may be listed."""
        length = len(self.to_public(url))
        if length > MAX_LOC:
            return Refusal(Reason.TOO_LONG, f"{length} characters, at most {MAX_LOC} can be listed")
        if not self.scope.admits(url):
            return Refusal(Reason.OUT_OF_SCOPE, f"not {self.scope.description}")
        excluded = self._matching(self._exclude, url, "--exclude")
        if excluded := excluded or self._matching(self._exclude_listing, url, "--exclude-listing"):
            return excluded
        if self._include and not self._matching(self._include, url, "--include"):
            return Refusal(Reason.EXCLUDED_BY_RULE, "no --include pattern matches")
        return None

    def _matching(self, patterns: list[UserPattern], url: str, option: str) -> Refusal | None:
        for pattern in patterns:
            if pattern.found_in(url) or (self.address and pattern.found_in(self.address.to_public(url))):
                return Refusal(Reason.EXCLUDED_BY_RULE, f"{option} {pattern.text}")
        return None
