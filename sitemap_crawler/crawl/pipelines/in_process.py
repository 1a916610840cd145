"""Pipelines that run in the crawling process because they need the state of the crawl.

The pipelines of `extraction.py`, which need the page only, may run in worker processes.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import CloseReason, Stat
from sitemap_crawler.inventory.publications import page_list_urls
from sitemap_crawler.items import NoteKind
from sitemap_crawler.urls.normalise import MAX_STORED_URL, origin_of
from sitemap_crawler.urls.scope import redirect_of_start

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy.crawler import Crawler

    from sitemap_crawler.items import Page, QueuedUrl

logger = logging.getLogger(__name__)

SLICE_LINKS = 10_000
"""Number of links of a page that are stored at a time. To store them takes up to a fifth of a second."""
MAX_REDIRECTS = 50
"""Maximum number of redirects in a row that are followed, a meta refresh included; browsers follow 20. A redirect takes
no click, so no limit of the depth ends a server that redirects to a new address each time."""
MAX_CHAINS = 10_000
"""Maximum number of chains of redirects that are counted at a time."""
SEARCH_ENGINE = "Googlebot"
"""Robot of the search engine that renders most pages, and so fetches their scripts and style sheets."""


class StartPipeline:
    """Pipeline that follows a redirect of the start page, or ends the crawl when it leads elsewhere."""

    def __init__(self, crawler: Crawler) -> None:
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StartPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        target = item.observation.location or item.observation.refresh
        if item.is_start and target is not None and not self._follow(target):
            self._engine.close(CloseReason.START_ELSEWHERE)
            # The links lead to pages of another site.
            item.links, item.nofollow_links = (), ()
        return item

    def _follow(self, target: str) -> bool:
        """Continue the crawl at a target that belongs to the site, else refuse the run. Return whether it continues."""
        job = self._job
        kind = redirect_of_start(job.start_url, target, job.rules.scope)
        has_sitemap_url = job.options.sitemap_url is not None
        if kind == "inside" or (has_sitemap_url and job.rules.scope.admits(target)):
            return True
        if kind == "directory" and not has_sitemap_url:
            job.adopt_start(target, notice=f"the start page redirects to {target}: its directory is the scope")
        elif kind == "variant" and not has_sitemap_url:
            job.adopt_start(target, notice=f"the start page redirects to {target}: the crawl goes on from there")
        else:
            message = f"the start page {job.start_url} redirects to {target}: start from that address"
            job.refuse(f"{message}, or change --sitemap-url" if has_sitemap_url else message, ends_run=True)
            return False
        return True


class SearchRobotsPipeline:
    """Pipeline that notes pages and resources which robots.txt forbids to a search engine and allows to this crawler.

    A resource is noted once, at one page that needs it.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._job = job_of(crawler)
        self._noted: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SearchRobotsPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        if item.is_document and self._job.shared.robots and not item.observation.noindex:
            blocked = [problem for url in item.resources if (problem := self._blocked_resource(url))]
            if blocked:
                item.observation.notes[NoteKind.BLOCKED_RESOURCES] = blocked
            if rule := self._blocking_rule(item.queued.url):
                item.observation.notes[NoteKind.BLOCKED_FOR_SEARCH] = f"{SEARCH_ENGINE}: {rule}"
        return item

    def _blocked_resource(self, url: str) -> str | None:
        """Describe a blocked resource that has not been noted yet: several worker processes may report the same one."""
        if url in self._noted or (rule := self._blocking_rule(url)) is None:
            return None
        self._noted.add(url)
        return f"{url}, which robots.txt forbids {SEARCH_ENGINE}: {rule}"

    def _blocking_rule(self, url: str) -> str | None:
        robots = self._job.shared.robots.get(origin_of(url))
        return robots.rule_against(url, SEARCH_ENGINE, bounded=True) if robots is not None else None


class TrapsPipeline:
    """Pipeline that learns from pages with suspicious URLs whether these URLs belong to a crawler trap."""

    def __init__(self, crawler: Crawler) -> None:
        job = job_of(crawler)
        self._traps = job.shared.traps
        self._content_types = job.rules.content_types

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TrapsPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page:
        seen, url = item.observation, item.queued.url
        if item.is_document and item.suspect is not None:
            is_alike = self._traps.learn(item.suspect, item.likeness, item.links)
            if is_alike and not item.is_blank:
                seen.notes[NoteKind.ALIKE] = 1
        if seen.texts is not None:
            if seen.canonical is not None and not seen.noindex:
                self._traps.yields.named.add(seen.canonical, url=url)
            percent = self._traps.compare(
                url,
                seen.texts,
                seen.title,
                item.links,
                is_listable=item.is_listable,
                canonical=seen.canonical,
            )
            if percent is not None:
                seen.notes[NoteKind.REPEATS] = percent
        elif seen.status is not None and not seen.is_transient and not seen.not_modified:
            is_page = seen.status == 200 and seen.content_type in self._content_types
            targets = [target for target in (seen.location, seen.refresh) if target is not None]
            self._traps.count_answer(url, seen.status, targets, is_page=is_page and not targets)
        return item


class InventoryPipeline:
    """The last pipeline, always enabled: stores the observation with the page's links and drops the document."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._turn = asyncio.Lock()
        self._redirects: dict[str, int] = {}
        """Number of redirects that lead to a URL, for the last targets of redirects that were not fetched since."""
        self._engine = EngineControl(crawler)
        self._job = job_of(crawler)
        own_lists = page_list_urls(self._job.store.connection)
        self._page_lists = frozenset(map(self._job.rules.resolver().normalise, own_lists))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> InventoryPipeline:
        return cls(crawler)

    def process_item(self, item: Page) -> Page | Awaitable[Page]:
        """Store the page, at once or, with many links, in slices between which the event loop runs."""
        self._bound_targets(item)
        links, nofollow_links = self._split_links(item)
        if len(links) > SLICE_LINKS:
            return self._store_in_slices(item, links, nofollow_links)
        self._store(item, links, nofollow_links)
        return item

    async def _store_in_slices(self, item: Page, links: tuple[str, ...], nofollow_links: tuple[str, ...]) -> Page:
        # One page at a time: the event loop runs after each slice, whatever the number of such pages.
        async with self._turn:
            for start in range(0, len(links), SLICE_LINKS):
                if self._engine.is_closing:
                    # Only an interrupted run closes while a page is in processing. The next process fetches it again.
                    return item
                self._add_links(item.queued, links[start : start + SLICE_LINKS])
                await asyncio.sleep(0)
            self._store(item, links, nofollow_links)
            await asyncio.sleep(0)
        return item

    def _add_links(self, queued: QueuedUrl, links: tuple[str, ...]) -> None:
        if self._job.ending.failure is None:
            try:
                self._job.queue.add_links(queued.id, links, depth=queued.depth)
            except Exception as error:
                self._fail(error)

    def _store(self, item: Page, links: tuple[str, ...], nofollow_links: tuple[str, ...]) -> None:
        observation, job = item.observation, self._job
        observation.alternates = tuple([pair for pair in observation.alternates if self._storable(pair[1:])])
        if job.ending.failure is None:
            try:
                job.queue.record(observation, depth=item.queued.depth, links=links, nofollow_links=nofollow_links)
            except Exception as error:
                self._fail(error)
        job.listable += _looks_listable(item)
        # A URL that robots.txt forbids was counted when it was leased, but it is no fetched page.
        job.shared.fetched -= observation.blocked_by is not None
        job.done += observation.blocked_by is None
        job.settle_start(item.queued.url)
        item.document = None

    def _bound_targets(self, item: Page) -> None:
        """Drop targets that are too long to be stored, and that of one redirect too many in a row."""
        observation = item.observation
        for name in ("location", "refresh", "canonical"):
            url = getattr(observation, name)
            if url is not None and not self._storable((url,)):
                setattr(observation, name, None)
        redirects = self._redirects.pop(item.queued.url, 0)
        target = observation.location or observation.refresh
        if target is None:
            return
        if redirects >= MAX_REDIRECTS:
            reason = f"it is redirect number {redirects + 1} in a row"
            logger.info("%s is not followed: %s", item.queued.url, reason)
            if observation.status == 200:
                # Without its target it would be a page like any other.
                item.mark_unreadable(reason)
            observation.location = observation.refresh = None
            return
        if len(self._redirects) >= MAX_CHAINS:
            del self._redirects[next(iter(self._redirects))]
        self._redirects[target] = redirects + 1

    def _fail(self, error: Exception) -> None:
        self._job.inventory_failed(error)
        self._engine.close(CloseReason.INVENTORY_FAILED)

    def _split_links(self, item: Page) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the links that the crawl follows, and the links that it does not follow.

        A page list that the program has published has none: it names pages that nothing else may lead to any more.
        """
        if item.queued.url in self._page_lists:
            return (), ()
        follow, nofollow = self._storable(item.links), item.nofollow_links
        if self._job.options.follow_nofollow:
            return follow + self._storable(nofollow), ()
        notes = item.observation.notes if item.queued.url == self._job.start_url else {}
        if item.observation.nofollow and follow:
            notes[NoteKind.NOFOLLOW_PAGE] = 1
            return (), follow + nofollow
        if nofollow:
            notes[NoteKind.NOFOLLOW_LINKS] = len(nofollow)
        return follow, nofollow

    def _storable(self, links: tuple[str, ...]) -> tuple[str, ...]:
        """Return the links that are short enough to be stored, and count the others."""
        short = tuple([url for url in links if len(url) <= MAX_STORED_URL])
        if len(short) < len(links):
            self._crawler.stats.inc_value(Stat.LINKS_TOO_LONG, len(links) - len(short))
        return short

    def close_spider(self) -> None:
        if self._job.ending.failure is None:
            try:
                self._job.queue.flush()
            except Exception as error:
                self._job.inventory_failed(error)


def _looks_listable(item: Page) -> bool:
    """Return whether the page itself allows its listing. Only the progress line uses this estimate."""
    observation = item.observation
    moved = observation.location or observation.refresh or (observation.canonical or item.queued.url) != item.queued.url
    return item.is_document and not observation.noindex and not moved
