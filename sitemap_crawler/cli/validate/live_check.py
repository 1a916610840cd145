"""The live check of a validation: the crawl requests the listed URLs, the validation judges the answers."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_crawler.cli.validate.live import LiveComparison
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.validation.findings import issue
from sitemap_crawler.validation.sampling import interval, sample
from sitemap_crawler.validation.values import UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.crawl.listed import RequestOptions
    from sitemap_crawler.validation.listing import ListedUrl
    from sitemap_crawler.validation.session import Validation

MAX_ORIGINS = 50
"""Maximum number of origins whose URLs are requested. A sitemap of more is one of another purpose."""
_STATISTICS = {
    "broken_urls": ("live-broken", "live-unreachable"),
    "redirect_urls": ("live-redirect", "live-broken-redirect"),
    "noindex_urls": ("live-noindex",),
    "blocked_urls": ("live-blocked",),
}
_GOOD = frozenset(("live-lastmod",))
"""Rules whose findings do not keep a URL from being indexed."""


class LiveCheck:
    """One check of the URLs that the files of a validation list."""

    def __init__(
        self, validation: Validation, request_options: RequestOptions, *, home: str | None, size: int | None
    ) -> None:
        """`home` is the origin that gets the credentials; None for that of the first listed URL.

        `size` is the number of URLs of a sample; None for all.
        """
        self._validation = validation
        self._request_options = request_options
        self._home = home or next((origin_of(listed.loc) for listed in _usable(validation)), None)
        self._size = size
        self._checked = 0
        self._rules: Counter[str] = Counter()

    def run(self, *, media: bool) -> str | None:
        """Request the URLs and add findings and statistics. Return why some were not requested; None if all were."""
        sizes: Counter[str] = Counter()
        first: dict[str, str] = {}
        namers: dict[str, str | None] = {}
        for listed in self._chosen():
            origin = origin_of(listed.loc)
            if origin in sizes or len(sizes) < MAX_ORIGINS:
                sizes[origin] += 1
                first.setdefault(origin, listed.loc)
                # A file on this machine is the user's own, and may list the sites of a private network.
                namer = origin_of(listed.file) if "://" in listed.file else None
                if namers.setdefault(origin, namer) != origin and namer in {None, origin}:
                    namers[origin] = namer
        problems = []
        for number, (origin, url) in enumerate(first.items()):
            # Media may be on any host, so the first request session asks for all of them.
            problem = self._check_origin(origin, url, named_by=namers[origin], media=media and number == 0)
            if problem is not None:
                problems.append(f"{origin}: {problem}")
        self._fill_statistics(sizes.total())
        unchecked = sizes.total() - self._checked
        if not unchecked and not problems:
            return None
        why = "; ".join(problems) or "robots.txt or the rules of the crawl left them out"
        message = f"{unchecked:,} of {sizes.total():,} URLs were not checked: {why}"
        self._validation.collector.add(next(iter(first.values()), ""), issue("live-incomplete", message))
        return message

    def _chosen(self) -> Iterator[ListedUrl]:
        all_urls = partial(_usable, self._validation)
        return all_urls() if self._size is None else sample(all_urls, self._size)

    def _check_origin(self, origin: str, first: str, *, named_by: str | None, media: bool) -> str | None:
        # Imported here: no other way of validation needs Scrapy.
        from sitemap_crawler.crawl.listed import ListedRequests, check_listed

        def of_origin() -> Iterator[ListedUrl]:
            return (listed for listed in self._chosen() if origin_of(listed.loc) == origin)

        collector = self._validation.collector
        with tempfile.TemporaryDirectory(prefix="sitemap-crawler-") as directory:
            state = Path(directory) / "check.sqlite"
            media_urls = (listed.loc for listed in self._validation.media_urls()) if media else ()
            requests = ListedRequests((listed.loc for listed in of_origin()), media_urls)
            outcome = check_listed(
                origin,
                requests,
                first=first,
                named_by=named_by,
                state=state,
                request_options=self._request_options._replace(has_credentials=origin == self._home),
            )
            with open_inventory(state) as inventory:
                comparison = LiveComparison(inventory)
                for listed, found in comparison.issues(of_origin()):
                    collector.add(listed.file, found, listed.loc)
        self._checked += comparison.checked
        self._rules.update(comparison.rules)
        for listed in self._validation.media_urls() if outcome.media else ():
            if (problem := outcome.media.get(listed.loc)) is not None:
                found = issue("media-broken", f"the medium is not there: {problem}", listed.line)
                collector.add(listed.file, found, listed.loc)
        return outcome.problem

    def _fill_statistics(self, chosen: int) -> None:
        wrong = sum(count for rule, count in self._rules.items() if rule not in _GOOD)
        statistics = self._validation.statistics
        statistics["checked_urls"] = self._checked
        for name, rules in _STATISTICS.items():
            statistics[name] = sum(self._rules[rule] for rule in rules)
        if self._size is not None:
            total = sum(1 for _ in _usable(self._validation))
            low, high = interval(wrong, self._checked, total)
            shares = {"share_low": round(low, 4), "share_high": round(high, 4)}
            statistics["sample"] = {"checked": self._checked, "of": total, "wrong": wrong, **shares}
        elif self._checked == chosen:
            statistics["valid_urls"] = chosen - wrong


def _usable(validation: Validation) -> Iterator[ListedUrl]:
    """Yield the listed URLs that can be requested."""
    return (listed for listed in validation.listed_urls() if not isinstance(parse_url(listed.loc), UrlProblem))
