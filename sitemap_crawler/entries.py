"""The listed pages of a site as the writer takes them, by the options: what each entry holds, and where it stands."""

from __future__ import annotations

import heapq
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sitemap_crawler.dating import w3c_datetime
from sitemap_crawler.inventory.alternates import alternates_of, has_alternates
from sitemap_crawler.inventory.inlinks import count_inlinks
from sitemap_crawler.published import published_images, published_versions, published_videos
from sitemap_crawler.ranking import changefreq, priority
from sitemap_crawler.sitemap.entry import NO_TEXTS, Entry
from sitemap_crawler.sitemap.names import IMAGES, VIDEOS
from sitemap_crawler.sitemap.news import MAX_ARTICLES, NewsEntry, is_recent, publication_date

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from sitemap_crawler.inventory.alternates import Versions
    from sitemap_crawler.inventory.settled import ListedPage, Settled
    from sitemap_crawler.items import Article
    from sitemap_crawler.site import Site

MAX_NEWS = 10 * MAX_ARTICLES
"""Articles that are written, the newest: no newspaper has more in two days."""


class Entries:
    """Iterate over it, and over `news` after that: one look at each page gives both."""

    def __init__(
        self,
        site: Site,
        settled: Settled,
        *,
        now: datetime,
        section_of: Callable[[str], str],
        template: frozenset[str],
        prefix: str | None = None,
    ) -> None:
        """`section_of` gives the URLs, in their order, their sections; `template`: images that are left out; only the
        pages below `prefix`, if there is one."""
        self._prefix = prefix
        self._site = site
        self._options = site.options
        self._settled = settled
        self._now = now.timestamp()
        self._section_of = section_of
        self._template = template
        self._rules = site.rules
        self._host = urlsplit(prefix or site.rules.scope.prefix).netloc
        self._inlinks = self._count_inlinks() if self._options.priority else None
        self._decorated = self._rules.address is not None or self._options.changefreq or self._options.priority
        """Whether an entry has more than its page says."""
        self._news: list[tuple[float, str, NewsEntry]] = []

    def __iter__(self) -> Iterator[Entry]:
        options = self._options
        self._news = []
        for batch in self._settled.listed(history=options.changefreq, prefix=self._prefix):
            versions = self._versions(batch)
            for page in batch:
                if self._decorated or page.images or page.videos or page.id in versions:
                    yield from self._entries(page, versions.get(page.id, ()))
                else:
                    # Most pages of most sites: an address and perhaps a date.
                    yield Entry(page.url, w3c_datetime(page.lastmod, day=page.day), section=self._section_of(page.url))
                if options.news_name is not None and page.article is not None:
                    self._add_news(options.news_name, page, page.article)

    def news(self) -> Iterator[NewsEntry]:
        """The articles that are recent now; to be looked at when all entries have been."""
        for _, _, entry in self._news:
            yield entry

    def _entries(self, page: ListedPage, versions: Versions) -> Iterator[Entry]:
        options = self._options
        images = tuple(filter(self._is_listed, page.images)) if options.images else ()
        videos = page.videos if options.videos else ()
        texts = page.image_texts if options.image_texts else NO_TEXTS
        url = page.url
        if address := self._rules.address:
            url = address.published(url)
            images, texts = published_images(images, texts, address)
            videos = published_videos(videos, address)
            versions = published_versions(versions, address)
        own: dict[str, Any] = {}
        if not options.media_files:
            own = {"images": images, "videos": videos}
            if options.image_texts:
                own["image_texts"] = texts
        yield Entry(
            url,
            w3c_datetime(page.lastmod, day=page.day),
            changefreq=changefreq(page.lastmod, page.history, now=self._now) if options.changefreq else None,
            priority=priority(page.depth, self._inlinks[page.id]) if self._inlinks is not None else None,
            alternates=versions,
            section=self._section_of(url),
            **own,
        )
        if options.media_files and images:
            yield Entry(url, images=images, section=IMAGES, image_texts=texts)
        if options.media_files and videos:
            yield Entry(url, videos=videos, section=VIDEOS)

    def _is_listed(self, image: str) -> bool:
        if image in self._template:
            return False
        return self._options.other_hosts or urlsplit(image).netloc == self._host

    def _add_news(self, name: str, page: ListedPage, article: Article) -> None:
        if not is_recent(article.published, self._now):
            return
        language = article.language or self._options.news_language
        if language is None:
            self._site.warn("incomplete-news", page.url, "the article says no language: give --news-language")
            return
        date = publication_date(article.published, has_time=article.has_time)
        entry = NewsEntry(self._rules.published(page.url), name, language, date, article.title)
        keep = heapq.heappush if len(self._news) < MAX_NEWS else heapq.heappushpop
        keep(self._news, (article.published, page.url, entry))

    def _versions(self, batch: list[ListedPage]) -> dict[int, Versions]:
        if not self._has_versions:
            return {}
        with self._site.store.reader() as connection:
            return alternates_of(connection, [page.id for page in batch])

    @cached_property
    def _has_versions(self) -> bool:
        """Whether any page has: on most sites none."""
        if not self._options.alternates:
            return False
        with self._site.store.reader() as connection:
            return has_alternates(connection)

    def _count_inlinks(self) -> array[int]:
        with self._site.store.reader() as connection:
            return count_inlinks(connection)
