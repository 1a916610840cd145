"""The live check of a validation: the crawl requests the listed URLs, the validation judges the answers."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_crawler.cli.validate.live import LiveComparison
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.validation.findings import INCOMPLETE, LIMITED, issue
from sitemap_crawler.validation.listing import ListedUrl
from sitemap_crawler.validation.sampling import interval, sample
from sitemap_crawler.validation.values import UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from sitemap_crawler.crawl.listed import RequestOptions
    from sitemap_crawler.validation.session import Validation

MAX_ORIGINS = 50
"""Maximum number of origins whose URLs are requested. A sitemap of more is one of another purpose."""
_CLASSES = {
    "broken_urls": ("live-broken", "live-unreachable"),
    "redirect_urls": ("live-redirect", "live-broken-redirect", "live-login"),
    "noindex_urls": ("live-noindex",),
    "canonical_urls": ("live-canonical", "live-broken-canonical"),
    "not_a_page_urls": ("live-not-a-page",),
    "soft_404_urls": ("live-soft-404",),
    "blocked_urls": ("live-blocked",),
    "limited_urls": (LIMITED,),
}
"""Rules by number of the statistics. A URL is in one class: with none of them it is valid, or was not checked."""
_MEDIA_RULES = {
    "broken": ("media-broken", "the medium is not there"),
    "blocked": ("media-blocked", "the medium was not requested"),
}
"""Rules by kind of problem of an image or video. Media that could not be checked make the check incomplete."""
_GOOD = frozenset(("live-lastmod",))
"""Rules whose findings do not keep a URL from being indexed."""


class _OriginUrls:
    """The chosen URLs of one origin, in a temporary file: the files of a sitemap are read once for all origins."""

    def __init__(self, origin: str, first: str, file: TextIO) -> None:
        self.origin = origin
        self.first = first
        """The first URL, as listed."""
        self.size = 0
        self._file = file
        self._namers: set[str | None] = set()
        """Origins of the sitemaps that list the URLs; None for a file on this machine."""

    def add(self, listed: ListedUrl) -> None:
        self._namers.add(origin_of(listed.file) if "://" in listed.file else None)
        self._file.write(f"{json.dumps(listed)}\n")
        self.size += 1

    def __iter__(self) -> Iterator[ListedUrl]:
        self._file.seek(0)
        for line in self._file:
            yield ListedUrl(*json.loads(line))

    @property
    def named_by(self) -> str | None:
        """Origin of the other site that lists the URLs; None if the site itself or a file on this machine does, too.

        A file on this machine is the user's own, and may list the sites of a private network.
        """
        return None if {None, self.origin} & self._namers else min(filter(None, self._namers))


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
        with ExitStack() as stack:
            origins: dict[str, _OriginUrls] = {}
            chosen, first = 0, ""
            for listed in self._chosen():
                chosen, first = chosen + 1, first or listed.loc
                origin = origin_of(listed.loc)
                if origin not in origins and len(origins) < MAX_ORIGINS:
                    file = stack.enter_context(tempfile.TemporaryFile("w+", encoding="ascii"))
                    origins[origin] = _OriginUrls(origin, listed.loc, file)
                if origin in origins:
                    origins[origin].add(listed)
            problems = []
            for number, urls in enumerate(origins.values()):
                # Media may be on any host, so the first request session asks for all of them.
                problem = self._check_origin(urls, media=media and number == 0)
                if problem is not None:
                    problems.append(f"{urls.origin}: {problem}")
            if sum(urls.size for urls in origins.values()) < chosen:
                problems.append(f"the URLs have more than {MAX_ORIGINS} origins")
        self._fill_statistics(chosen)
        if limited := self._rules[LIMITED]:
            what = "1 URL answers" if limited == 1 else f"{limited:,} URLs answer"
            problems.append(f"{what} with status 429 only: too many requests")
        unchecked = chosen - self._checked
        if not unchecked and not problems:
            return None
        why = "; ".join(problems) or "robots.txt or the rules of the crawl left them out"
        message = f"{unchecked:,} of {chosen:,} URLs were not checked: {why}" if unchecked else why
        self._validation.collector.add(first, issue(INCOMPLETE, message))
        return message

    def _chosen(self) -> Iterator[ListedUrl]:
        all_urls = partial(_usable, self._validation)
        return all_urls() if self._size is None else sample(all_urls, self._size)

    def _check_origin(self, urls: _OriginUrls, *, media: bool) -> str | None:
        # Imported here: no other way of validation needs Scrapy.
        from sitemap_crawler.crawl.listed import ListedRequests, check_listed

        collector = self._validation.collector
        with tempfile.TemporaryDirectory(prefix="sitemap-crawler-") as directory:
            state = Path(directory) / "check.sqlite"
            media_urls = (listed.loc for listed in self._validation.media_urls()) if media else ()
            outcome = check_listed(
                urls.origin,
                ListedRequests((listed.loc for listed in urls), media_urls),
                first=urls.first,
                named_by=urls.named_by,
                state=state,
                request_options=self._request_options._replace(has_credentials=urls.origin == self._home),
            )
            with open_inventory(state) as inventory:
                comparison = LiveComparison(inventory)
                for listed, found in comparison.issues(urls):
                    collector.add(listed.file, found, listed.loc)
        self._checked += comparison.checked
        self._rules.update(comparison.rules)
        for listed in self._validation.media_urls() if outcome.media else ():
            problem = outcome.media.get(listed.loc)
            if problem is not None and (named := _MEDIA_RULES.get(problem.kind)) is not None:
                rule, defect = named
                collector.add(listed.file, issue(rule, f"{defect}: {problem.reason}", listed.line), listed.loc)
        return outcome.problem

    def _fill_statistics(self, chosen: int) -> None:
        """Add the number of URLs of each class. Those of a sample stand apart from those of all."""
        wrong = sum(count for rule, count in self._rules.items() if rule not in _GOOD)
        statistics = self._validation.statistics
        statistics["checked_urls"] = self._checked
        classes = {name: sum(self._rules[rule] for rule in rules) for name, rules in _CLASSES.items()}
        classes = {"valid_urls": self._checked - wrong, **classes}
        if self._size is None:
            # URLs that cannot be requested are among them.
            statistics |= {**classes, "unchecked_urls": statistics["total_urls"] - self._checked}
            return
        total = sum(1 for _ in _usable(self._validation))
        limited = self._rules[LIMITED]
        low, high = interval(wrong - limited, self._checked - limited, total)
        statistics["sample"] = {
            "checked": self._checked,
            "of": total,
            "wrong": wrong - limited,
            "share_low": round(low, 4),
            "share_high": round(high, 4),
            **classes,
            "unchecked_urls": chosen - self._checked,
        }


def _usable(validation: Validation) -> Iterator[ListedUrl]:
    """Yield the listed URLs that can be requested."""
    return (listed for listed in validation.listed_urls() if not isinstance(parse_url(listed.loc), UrlProblem))
