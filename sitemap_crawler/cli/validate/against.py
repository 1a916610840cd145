"""Comparison of a sitemap with an inventory: URLs that it must not list, and pages that it lacks."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from sitemap_crawler.cli.validate.live import SOFT_404_NOTES, looked_up, soft_404_message
from sitemap_crawler.report.explain import rules_of
from sitemap_crawler.validation.findings import Issue, issue

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.inventory.lookup import Inventory
    from sitemap_crawler.validation.listing import ListedUrl

READ_AT_ONCE = 1_000
"""Number of pages of the inventory that are read by one query."""


def against_issues(listed: Iterable[ListedUrl], inventory: Inventory) -> Iterator[tuple[ListedUrl | None, str, Issue]]:
    """Yield listed URL, URL and issue of each difference. The listed URL is None for a page that the sitemap lacks.

    The comparison takes eight bytes of memory for each listed URL. Raises OptionError if the options of the
    inventory are invalid.
    """
    rules, resolver = rules_of(inventory.run)
    error_pages = inventory.ids_noted(SOFT_404_NOTES)
    hashes: array[int] = array("q")

    def remembered() -> Iterator[ListedUrl]:
        for url in listed:
            normal = resolver.normalise(url.loc)
            if normal is not None:
                hashes.append(hash(normal))
            yield url

    for url, record in looked_up(inventory, resolver.normalise, remembered()):
        if record is None:
            yield url, url.loc, issue("against-extra", "the crawl did not find the URL", url.line)
        elif record.decision != "listed":
            why = record.evidence or "no further evidence"
            reason = record.reason or "not decided yet"
            yield url, url.loc, issue("against-extra", f"the inventory excludes the URL ({reason}: {why})", url.line)
        elif record.id in error_pages and (message := soft_404_message(inventory.notes_of(record.id))):
            yield url, url.loc, issue("against-soft-404", message, url.line)
    known = array("q", sorted(hashes))
    ids = inventory.select(decision="listed").ids
    for start in range(0, len(ids), READ_AT_ONCE):
        for page in inventory.urls_of(ids[start : start + READ_AT_ONCE]).values():
            key = hash(page)
            index = bisect_left(known, key)
            if index == len(known) or known[index] != key:
                yield None, rules.to_public(page), issue("against-missing", "the crawl lists the page, no sitemap does")
