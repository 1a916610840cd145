from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.reading.canonical import find_canonical
from sitemap_crawler.reading.directives import robots_directives

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class IndexabilityPipeline:
    """Robots directives and canonical."""

    def process_item(self, item: Page) -> Page:
        observation, document = item.observation, item.document
        tags = item.headers.get("x-robots-tag", ())
        if document is None and not tags:
            return item
        directives = robots_directives(document, tags, now=observation.fetched)
        observation.noindex = directives.noindex
        observation.nofollow = directives.nofollow
        observation.directives = directives.evidence
        if directives.nofollow and item.links:
            observation.notes["nofollow-page"] = 1
        if document is not None:
            links = item.headers.get("link", ())
            canonical = find_canonical(document, links, url=item.queued.url, resolve=document.resolver.resolve)
            observation.canonical = canonical.url
            observation.canonical_conflict = canonical.conflicting
        return item
