"""The entries of a sitemap, made from the listed pages as the options demand."""

from __future__ import annotations

import heapq
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sitemap_crawler.inventory.alternates import alternates_of, has_alternates
from sitemap_crawler.inventory.link_graph import stored_inlinks
from sitemap_crawler.inventory.supplied import Supplied, has_supplied_values, supplied_of
from sitemap_crawler.policy.lastmod import changefreq, priority, w3c_datetime
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.sitemap.entry import NO_TEXTS, Entry, PlainEntries
from sitemap_crawler.sitemap.names import IMAGES_SECTION, VIDEOS_SECTION
from sitemap_crawler.sitemap.news import MAX_ARTICLES, NewsEntry, is_recent, publication_date

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from sitemap_crawler.extract.news import Article
    from sitemap_crawler.inventory.alternates import Versions
    from sitemap_crawler.inventory.decisions import DecisionStore, Extras, ListedPage, ListedPages
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.sitemap.video import Video
    from sitemap_crawler.urls.public_address import PublicAddress

MAX_NEWS = 10 * MAX_ARTICLES
"""Maximum number of articles. The newest are written. No newspaper publishes more in two days."""

NOTHING_SUPPLIED = Supplied()
_PLAIN_EXTRAS = frozenset({"images", "image_texts"})
"""Extras of a page that need no entry of their own kind: see PlainEntries."""


class Entries:
    """The entries of one set. Iterate over them first and then over `news`, as each page is read only once."""

    def __init__(
        self,
        context: RunContext,
        decisions: DecisionStore,
        *,
        now: datetime,
        section_of: Callable[[str], str] | None,
        template_images: frozenset[str],
        prefix: str | None = None,
        ids: Collection[int] | None = None,
    ) -> None:
        """`section_of` returns the section of each URL, called in the order of the URLs; None without sections.
        `template_images` are left out. With `prefix` only the pages below it are listed, with `ids` only these."""
        self._prefix = prefix
        self._ids = ids
        self._context = context
        self._options = context.options
        self._decisions = decisions
        self._now = now.timestamp()
        self._section_of = section_of
        self._template_images = template_images
        self._rules = context.rules
        self._host = urlsplit(prefix or context.rules.scope.prefix).netloc
        self._inlinks = self._stored_inlinks() if self._options.priority else None
        rich_options = ("changefreq", "priority", "media_files", "image_texts")
        has_rich_options = self._rules.address is not None or any(getattr(self._options, name) for name in rich_options)
        self._all_rich = has_rich_options or section_of is not None
        """Whether no entry is plain. A plain entry has nothing but URL, date and images."""
        self._news: list[tuple[float, str, NewsEntry]] = []

    def __iter__(self) -> Iterator[Entry | PlainEntries]:
        self._news = []
        for batch in self._batches():
            versions, supplied = self._versions(batch), self._supplied(batch)
            begin = 0
            for index in self._rich_pages(batch, versions, supplied):
                if begin < index:
                    yield self._plain_entries(batch, begin, index)
                begin = index + 1
                page = batch.page(index)
                yield from self._rich_entries(page, versions.get(page.id, ()), supplied.get(page.id, NOTHING_SUPPLIED))
            if begin < len(batch.ids):
                yield self._plain_entries(batch, begin, len(batch.ids))

    def _batches(self) -> Iterator[ListedPages]:
        if self._ids is not None:
            return self._decisions.listed_among(self._ids)
        return self._decisions.listed(history=self._options.changefreq, prefix=self._prefix)

    def news(self) -> Iterator[NewsEntry]:
        """Yield the recent articles. Complete only after the iteration over the entries."""
        for _, _, entry in self._news:
            yield entry

    def _rich_pages(
        self, batch: ListedPages, versions: Mapping[int, Versions], supplied: Mapping[int, Supplied]
    ) -> Sequence[int]:
        """Return the indexes of the pages whose entries are not plain."""
        if self._all_rich:
            return range(len(batch.ids))
        if not versions and not supplied and not any(batch.extras):
            return ()
        return [
            index
            for index, (page_id, extras) in enumerate(zip(batch.ids, batch.extras, strict=True))
            if (extras and not extras.keys() <= _PLAIN_EXTRAS) or page_id in versions or page_id in supplied
        ]

    def _plain_entries(self, batch: ListedPages, begin: int, end: int) -> PlainEntries:
        dates = zip(batch.lastmods[begin:end], batch.days[begin:end], strict=True)
        return PlainEntries(
            batch.urls[begin:end],
            [w3c_datetime(seconds, day=day) for seconds, day in dates],
            [self._images(extras) if extras else () for extras in batch.extras[begin:end]],
        )

    def _rich_entries(self, page: ListedPage, versions: Versions, supplied: Supplied) -> Iterator[Entry]:
        """Yield the entry of a page and, with --media-files, the entries of its images and videos."""
        options = self._options
        images = tuple(self._images(page.extras)) if page.extras else ()
        videos = page.videos if options.videos else ()
        if supplied.extras:
            images = tuple(dict.fromkeys((*images, *self._images(supplied.extras, in_template=False))))
            videos = _with_supplied(videos, supplied.videos) if options.videos else ()
        texts = page.image_texts if options.image_texts else NO_TEXTS
        url = page.url
        if address := self._rules.address:
            url = address.to_public(url)
            images, texts = _public_images(images, texts, address)
            videos = _public_videos(videos, address)
            versions = _public_versions(versions, address)
        media: dict[str, Any] = {}
        if not options.media_files:
            media = {"images": images, "videos": videos}
            if options.image_texts:
                media["image_texts"] = texts
        yield Entry(
            url,
            w3c_datetime(page.lastmod, day=page.day),
            changefreq=changefreq(page.lastmod, page.history, now=self._now) if options.changefreq else None,
            priority=priority(page.depth, self._inlinks[page.id]) if self._inlinks is not None else None,
            alternates=versions,
            section=supplied.section or (self._section_of(url) if self._section_of else ""),
            **media,
        )
        if options.media_files and images:
            yield Entry(url, images=images, section=IMAGES_SECTION, image_texts=texts)
        if options.media_files and videos:
            yield Entry(url, videos=videos, section=VIDEOS_SECTION)
        if options.news_name is not None and page.article is not None:
            self._add_news(options.news_name, page, page.article)

    def _images(self, extras: Extras, *, in_template: bool = True) -> Sequence[str]:
        """Return the images to write. With `in_template` images of the page template are left out."""
        images: list[str] = extras.get("images", []) if self._options.images else []
        if self._template_images and in_template:
            images = [image for image in images if image not in self._template_images]
        if not self._options.other_hosts:
            images = [image for image in images if urlsplit(image).netloc == self._host]
        return images

    def _add_news(self, name: str, page: ListedPage, article: Article) -> None:
        if not is_recent(article.published, self._now):
            return
        language = article.language or self._options.news_language
        if language is None:
            message = "the article names no language: set --news-language"
            self._context.warn(WarningKind.INCOMPLETE_NEWS, page.url, message)
            return
        date = publication_date(article.published, has_time=article.has_time)
        entry = NewsEntry(self._rules.to_public(page.url), name, language, date, article.title)
        keep = heapq.heappush if len(self._news) < MAX_NEWS else heapq.heappushpop
        keep(self._news, (article.published, page.url, entry))

    def _versions(self, batch: ListedPages) -> dict[int, Versions]:
        if not self._has_versions:
            return {}
        with self._context.store.reader() as connection:
            return alternates_of(connection, batch.ids)

    def _supplied(self, batch: ListedPages) -> dict[int, Supplied]:
        if not self._has_supplied:
            return {}
        with self._context.store.reader() as connection:
            return supplied_of(connection, batch.ids)

    @cached_property
    def _has_supplied(self) -> bool:
        """Whether a list supplies values for any page."""
        with self._context.store.reader() as connection:
            return has_supplied_values(connection)

    @cached_property
    def _has_versions(self) -> bool:
        """Whether any page has language versions. On most sites none has."""
        if not self._options.alternates:
            return False
        with self._context.store.reader() as connection:
            return has_alternates(connection)

    def _stored_inlinks(self) -> array[int]:
        with self._context.store.reader() as connection:
            return stored_inlinks(connection)


def _with_supplied(videos: tuple[Video, ...], supplied: tuple[Video, ...]) -> tuple[Video, ...]:
    """Return the videos of a page and of a list. A supplied video replaces one with the same file or player."""
    locs = {loc for video in supplied for loc in (video.content_loc, video.player_loc) if loc}
    own = [video for video in videos if locs.isdisjoint((video.content_loc, video.player_loc))]
    return (*own, *supplied)


def _public_images(
    images: Iterable[str], texts: Mapping[str, tuple[str, str]], address: PublicAddress
) -> tuple[tuple[str, ...], dict[str, tuple[str, str]]]:
    """Return the public URLs of the images, and their titles and captions. Images without a public URL are left out."""
    public = {image: address.to_public(image) for image in images if not address.is_private(image)}
    return tuple(public.values()), {public[image]: pair for image, pair in texts.items() if image in public}


def _public_videos(videos: Iterable[Video], address: PublicAddress) -> tuple[Video, ...]:
    """Return the videos with public URLs.

    A video without a public thumbnail, or with neither a public file nor a public player, is left out.
    """
    public = []
    for video in videos:
        content, player = (
            None if loc is None or address.is_private(loc) else address.to_public(loc)
            for loc in (video.content_loc, video.player_loc)
        )
        if (content or player) and not address.is_private(video.thumbnail_loc):
            thumbnail = address.to_public(video.thumbnail_loc)
            public.append(replace(video, thumbnail_loc=thumbnail, content_loc=content, player_loc=player))
    return tuple(public)


def _public_versions(versions: Versions, address: PublicAddress) -> Versions:
    """Return the language versions with public URLs. Versions without a public URL are left out."""
    return tuple((code, address.to_public(url)) for code, url in versions if not address.is_private(url))
