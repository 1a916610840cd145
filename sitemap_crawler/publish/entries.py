"""The listed pages of a site as the writer takes them, by the options: what each entry holds, and where it stands."""

from __future__ import annotations

import heapq
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sitemap_crawler.inventory.alternates import alternates_of, has_alternates
from sitemap_crawler.inventory.link_graph import count_inlinks
from sitemap_crawler.policy.lastmod import changefreq, priority, w3c_datetime
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.sitemap.entry import NO_TEXTS, Entry, PlainEntries
from sitemap_crawler.sitemap.names import IMAGES_SECTION, VIDEOS_SECTION
from sitemap_crawler.sitemap.news import MAX_ARTICLES, NewsEntry, is_recent, publication_date

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from sitemap_crawler.extract.news import Article
    from sitemap_crawler.inventory.alternates import Versions
    from sitemap_crawler.inventory.decisions import DecisionStore, Extras, ListedPage, ListedPages
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.sitemap.video import Video
    from sitemap_crawler.urls.public_address import PublicAddress

MAX_NEWS = 10 * MAX_ARTICLES
"""Articles that are written, the newest: no newspaper has more in two days."""


_PLAIN_EXTRAS = frozenset({"images", "image_texts"})


class Entries:
    """Iterate over it, and over `news` after that: one look at each page gives both."""

    def __init__(
        self,
        site: RunContext,
        settled: DecisionStore,
        *,
        now: datetime,
        section_of: Callable[[str], str] | None,
        template: frozenset[str],
        prefix: str | None = None,
    ) -> None:
        """`section_of` gives the URLs, in their order, their sections, where there are any; `template`: images that are
        left out; only the pages below `prefix`, if there is one."""
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
        more = ("changefreq", "priority", "media_files", "image_texts")
        decorated = self._rules.address is not None or any(getattr(self._options, name) for name in more)
        self._all_rich = decorated or section_of is not None
        """Whether every entry is more than its page's URL, date and images."""
        self._news: list[tuple[float, str, NewsEntry]] = []

    def __iter__(self) -> Iterator[Entry | PlainEntries]:
        self._news = []
        for batch in self._settled.listed(history=self._options.changefreq, prefix=self._prefix):
            versions = self._versions(batch)
            rest = 0
            for at in self._rich(batch, versions):
                if rest < at:
                    yield self._plain(batch, rest, at)
                rest = at + 1
                page = batch.page(at)
                yield from self._entries(page, versions.get(page.id, ()))
            if rest < len(batch.ids):
                yield self._plain(batch, rest, len(batch.ids))

    def news(self) -> Iterator[NewsEntry]:
        """The articles that are recent now; to be looked at when all entries have been."""
        for _, _, entry in self._news:
            yield entry

    def _rich(self, batch: ListedPages, versions: Mapping[int, Versions]) -> Sequence[int]:
        """Where in the batch pages are whose entries have more than an address, a date and images."""
        if self._all_rich:
            return range(len(batch.ids))
        if not versions and not any(batch.extras):
            return ()
        return [
            at
            for at, (page_id, extras) in enumerate(zip(batch.ids, batch.extras, strict=True))
            if (extras and not extras.keys() <= _PLAIN_EXTRAS) or page_id in versions
        ]

    def _plain(self, batch: ListedPages, begin: int, end: int) -> PlainEntries:
        dates = zip(batch.lastmods[begin:end], batch.days[begin:end], strict=True)
        return PlainEntries(
            batch.urls[begin:end],
            [w3c_datetime(seconds, day=day) for seconds, day in dates],
            [self._images(extras) if extras else () for extras in batch.extras[begin:end]],
        )

    def _entries(self, page: ListedPage, versions: Versions) -> Iterator[Entry]:
        options = self._options
        images = tuple(self._images(page.extras)) if page.extras else ()
        videos = page.videos if options.videos else ()
        texts = page.image_texts if options.image_texts else NO_TEXTS
        url = page.url
        if address := self._rules.address:
            url = address.published(url)
            images, texts = _public_images(images, texts, address)
            videos = _public_videos(videos, address)
            versions = _public_versions(versions, address)
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
            section=self._section_of(url) if self._section_of else "",
            **own,
        )
        if options.media_files and images:
            yield Entry(url, images=images, section=IMAGES_SECTION, image_texts=texts)
        if options.media_files and videos:
            yield Entry(url, videos=videos, section=VIDEOS_SECTION)
        if options.news_name is not None and page.article is not None:
            self._add_news(options.news_name, page, page.article)

    def _images(self, extras: Extras) -> Sequence[str]:
        images: list[str] = extras.get("images", []) if self._options.images else []
        if self._template:
            images = [image for image in images if image not in self._template]
        if not self._options.other_hosts:
            images = [image for image in images if urlsplit(image).netloc == self._host]
        return images

    def _add_news(self, name: str, page: ListedPage, article: Article) -> None:
        if not is_recent(article.published, self._now):
            return
        language = article.language or self._options.news_language
        if language is None:
            self._site.warn(WarningKind.INCOMPLETE_NEWS, page.url, "the article says no language: give --news-language")
            return
        date = publication_date(article.published, has_time=article.has_time)
        entry = NewsEntry(self._rules.published(page.url), name, language, date, article.title)
        keep = heapq.heappush if len(self._news) < MAX_NEWS else heapq.heappushpop
        keep(self._news, (article.published, page.url, entry))

    def _versions(self, batch: ListedPages) -> dict[int, Versions]:
        if not self._has_versions:
            return {}
        with self._site.store.reader() as connection:
            return alternates_of(connection, batch.ids)

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


def _public_images(
    images: Iterable[str], texts: Mapping[str, tuple[str, str]], address: PublicAddress
) -> tuple[tuple[str, ...], dict[str, tuple[str, str]]]:
    """Images, and the title and caption of each that has any."""
    moved = {image: address.published(image) for image in images if not address.is_private(image)}
    return tuple(moved.values()), {moved[image]: words for image, words in texts.items() if image in moved}


def _public_videos(videos: Iterable[Video], address: PublicAddress) -> tuple[Video, ...]:
    """A video needs its thumbnail, and either its file or its player."""
    moved = []
    for video in videos:
        content, player = (
            None if loc is None or address.is_private(loc) else address.published(loc)
            for loc in (video.content_loc, video.player_loc)
        )
        if (content or player) and not address.is_private(video.thumbnail_loc):
            thumbnail = address.published(video.thumbnail_loc)
            moved.append(replace(video, thumbnail_loc=thumbnail, content_loc=content, player_loc=player))
    return tuple(moved)


def _public_versions(versions: Versions, address: PublicAddress) -> Versions:
    return tuple((code, address.published(url)) for code, url in versions if not address.is_private(url))
