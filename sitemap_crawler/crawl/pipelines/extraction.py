"""Pipelines that read a page: each one adds a kind of fact to the observation and can be switched off alone.

They may be called in another process. They import the code that reads pages when the first page comes: a run in which
no page has changed needs none of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.download.conditional import header_mark, is_sendable
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.extract.dates import last_modified, parse_http_date, states_time_of_cache
from sitemap_crawler.extract.indexability import find_canonical, robots_directives
from sitemap_crawler.items import NoteKind
from sitemap_crawler.traps.shown_texts import is_empty
from sitemap_crawler.urls.normalise import MAX_STORED_URL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy.crawler import Crawler

    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.extract.links import Refresh
    from sitemap_crawler.items import Note, Page
    from sitemap_crawler.urls.normalise import Resolver

READABLE_TYPES = frozenset(("text/html", "application/xhtml+xml"))
"""Content types of pages with links and directives. Other types may be listed, by an option."""
MAX_TITLE = 200
"""Maximum length in characters of a stored title, as feeds and tables show it."""
MAX_APIS = 20
"""Maximum number of WordPress sites of one crawl whose API a process notes. Most crawls have one."""
MAX_NAMED = 4
"""Number of tags that are read for each link that is kept: pages name many URLs several times."""
MAX_KNOWN_RESOURCES = 10_000
"""Maximum number of scripts and style sheets that one process remembers."""


class ReadingPipeline(ABC):
    """Base of the pipelines that need only the page and the settings, and may be called in another process.

    State that such a pipeline keeps is known in that process only.
    """

    @abstractmethod
    def process_item(self, item: Page) -> Page: ...


class _ResolvingPipeline(ReadingPipeline):
    """Base of the reading pipelines that resolve URLs, all of them with the cache of the spider's resolver."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        spider: Any = crawler.spider
        return cls(spider.resolver)


class DocumentPipeline(ReadingPipeline):
    """Pipeline that parses the body, once, and finds the links, at most `max_links` of a page.

    `renders`: a browser may render the page, so that the facts about its scripts are needed.
    """

    def __init__(self, resolver: Resolver, *, max_links: int, renders: bool = False) -> None:
        self._resolver, self._max_links, self._renders = resolver, max_links, renders

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DocumentPipeline:
        spider: Any = crawler.spider
        options = job_of(crawler).options
        return cls(spider.resolver, max_links=options.max_links, renders=options.renders)

    def process_item(self, item: Page) -> Page:
        body, item.body = item.body, None
        if body is None:
            return item
        from sitemap_crawler.extract.links import find_header_refresh

        observation, resolve = item.observation, self._resolver.resolve
        observation.body_hash = blake2b(body, digest_size=16).digest()
        refresh = find_header_refresh(item.headers.get("refresh", ()), url=item.queued.url, resolve=resolve)
        if observation.content_type in READABLE_TYPES:
            refresh = self._parse(item, body, refresh)
        if refresh is not None and refresh.is_redirect:
            observation.refresh = refresh.url
        elif refresh is not None and refresh.url not in item.nofollow_links:
            item.links = tuple(dict.fromkeys((*item.links, refresh.url)))
        return item

    def _parse(self, item: Page, body: bytes, refresh: Refresh | None) -> Refresh | None:
        """Read a page, and return its refresh. That of a header, if there is one, counts."""
        from sitemap_crawler.extract.diagnostics import looks_like_script_shell
        from sitemap_crawler.extract.document import parse_document
        from sitemap_crawler.extract.links import find_links, find_refresh
        from sitemap_crawler.extract.parser import MAX_REFERENCES

        document = parse_document(
            body,
            url=item.queued.url,
            content_type=next(iter(item.headers.get("content-type", ())), ""),
            resolver=self._resolver,
            max_references=max(MAX_REFERENCES, MAX_NAMED * self._max_links),
        )
        if document is None:
            return refresh
        item.document, item.is_document = document, True
        observation = item.observation
        if document.is_cut_off:
            observation.notes[NoteKind.DEEP_PAGE] = 1
        if item.is_start and looks_like_script_shell(document):
            observation.notes[NoteKind.SCRIPT_SHELL] = 1
        links = find_links(document, item.headers.get("link", ()), max_links=self._max_links)
        item.links, item.nofollow_links = links.follow, links.nofollow
        if links.is_cut:
            observation.notes[NoteKind.MANY_LINKS] = len(links.follow) + len(links.nofollow)
        if self._renders:
            from sitemap_crawler.extract.scripts import script_facts

            item.scripts = script_facts(document)
        return refresh or find_refresh(document)


class IndexabilityPipeline(_ResolvingPipeline):
    """Pipeline for robots directives and the canonical."""

    def process_item(self, item: Page) -> Page:
        observation, document = item.observation, item.document
        tags = item.headers.get("x-robots-tag", ())
        if observation.body_hash is None and not tags:
            return item
        directives = robots_directives(document, tags)
        observation.noindex = directives.noindex
        observation.nofollow = directives.nofollow
        observation.directives = directives.evidence
        observation.unavailable_after = directives.unavailable_after
        if observation.body_hash is not None:
            links = item.headers.get("link", ())
            canonical = find_canonical(document, links, url=item.queued.url, resolve=self._resolver.resolve)
            observation.canonical = canonical.url
            if canonical.conflicting:
                observation.notes[NoteKind.CANONICALS] = [other[:MAX_STORED_URL] for other in canonical.conflicting]
        return item


class LastModifiedPipeline(ReadingPipeline):
    """Pipeline for the validators of the response and a credible date of modification in its headers."""

    def process_item(self, item: Page) -> Page:
        observation = item.observation
        if observation.body_hash is not None or observation.not_modified:
            etag = _first_header(item, "etag")
            observation.etag = etag if is_sendable(etag) else None
        if observation.body_hash is not None:
            modified, date = _first_header(item, "last-modified"), _first_header(item, "date")
            if not states_time_of_cache(_first_header(item, "x-generator"), _first_header(item, "x-drupal-cache")):
                observation.last_modified = last_modified(modified, date, fetched=observation.fetched)
            # A conditional request repeats the header, so a header that is no date is not stored.
            usable = is_sendable(modified) and parse_http_date(modified) is not None
            observation.modified_header = modified if usable else None
        observation.header_mark = header_mark(item.headers)
        return item


def _first_header(item: Page, name: str) -> str | None:
    values = item.headers.get(name)
    return values[0] if values else None


class ContentPipeline(ReadingPipeline):
    """Pipeline for the fingerprint of the main content, the page's own date, and the title.

    The fingerprint tells a change of the content from a new rendering of the same content. Pages of WordPress get
    notes: the URL of its API at the first page that names it, and whether the page is a list.
    """

    def __init__(self) -> None:
        self._apis: set[str] = set()

    def process_item(self, item: Page) -> Page:
        observation = item.observation
        if item.document is not None:
            from sitemap_crawler.extract.content.fingerprint import fingerprint
            from sitemap_crawler.extract.page_dates import modified_date
            from sitemap_crawler.extract.text import page_title

            observation.fingerprint = fingerprint(item.document)
            observation.title = page_title(item.document)[:MAX_TITLE] or None
            observation.page_date = modified_date(item.document, now=observation.fetched)
            self._note_wordpress(item.document, item.headers.get("link", ()), observation.notes)
        else:
            # Content that is not parsed changes whenever its bytes change.
            observation.fingerprint = observation.body_hash
        return item

    def _note_wordpress(self, document: Document, link_headers: Sequence[str], notes: dict[NoteKind, Note]) -> None:
        from sitemap_crawler.extract.wordpress import api_address, api_links, is_entry

        links = api_links(document, link_headers)
        if not links:
            return
        if not is_entry(links):
            notes[NoteKind.WORDPRESS_LIST] = 1
        api = api_address(document, links)
        if api is not None and api not in self._apis and len(self._apis) < MAX_APIS and len(api) <= MAX_STORED_URL:
            self._apis.add(api)
            notes[NoteKind.WORDPRESS_API] = api


class ImagesPipeline(ReadingPipeline):
    """Pipeline for the images that a page embeds; by an option also for their titles and captions."""

    def __init__(self, *, texts: bool) -> None:
        self._texts = texts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ImagesPipeline:
        return cls(texts=job_of(crawler).options.image_texts)

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            from sitemap_crawler.extract.images import find_images

            item.observation.images = find_images(item.document)
            if self._texts:
                from sitemap_crawler.extract.images import find_image_texts

                item.observation.image_texts = find_image_texts(item.document)
        return item


class VideosPipeline(ReadingPipeline):
    """Pipeline for the videos that a page embeds. A video without a required value becomes a warning."""

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            from sitemap_crawler.extract.videos.find import find_videos

            item.observation.videos, problems = find_videos(item.document)
            if problems:
                item.observation.notes[NoteKind.INCOMPLETE_VIDEO] = list(problems)
        return item


class NewsPipeline(ReadingPipeline):
    """Pipeline for the metadata of a news article."""

    def process_item(self, item: Page) -> Page:
        if item.document is not None:
            from sitemap_crawler.extract.news import find_article

            item.observation.article = find_article(item.document, item.observation.fetched)
        return item


class AlternatesPipeline(_ResolvingPipeline):
    """Pipeline for the language versions that a page names.

    Unknown language codes, and codes that name several URLs, become warnings.
    """

    def process_item(self, item: Page) -> Page:
        observation = item.observation
        if observation.body_hash is not None:
            from sitemap_crawler.extract.alternates import find_alternates

            alternates = find_alternates(
                item.document, item.headers, url=item.queued.url, resolve=self._resolver.resolve
            )
            observation.alternates = alternates.valid
            if alternates.invalid:
                observation.notes[NoteKind.INVALID_ALTERNATES] = list(alternates.invalid)
            if alternates.conflicting:
                observation.notes[NoteKind.CONFLICTING_ALTERNATES] = list(alternates.conflicting)
        return item


class SoftErrorsPipeline(ReadingPipeline):
    """Pipeline for the wording of an error page that is answered with 200, for a warning and for the soft-404 probe."""

    def process_item(self, item: Page) -> Page:
        # Only an answer of 200 has a document.
        if item.document is not None:
            from sitemap_crawler.extract.diagnostics import error_text

            if wording := error_text(item.document):
                item.observation.notes[NoteKind.ERROR_PAGE] = wording
        return item


class ResourcesPipeline(ReadingPipeline):
    """Pipeline for the scripts and style sheets that a page needs and no earlier page needed."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def process_item(self, item: Page) -> Page:
        # The resources of a noindex page do not matter: search engines leave the page out.
        if item.document is not None and not item.observation.noindex and len(self._seen) < MAX_KNOWN_RESOURCES:
            from sitemap_crawler.extract.links import find_resources

            urls = dict.fromkeys(url for url in find_resources(item.document) if len(url) <= MAX_STORED_URL)
            item.resources = tuple([url for url in urls if url not in self._seen])
            self._seen.update(item.resources)
        return item


class LikenessPipeline(ReadingPipeline):
    """Pipeline for what pages are compared by: signatures of those of a possible trap, and texts of samples."""

    def process_item(self, item: Page) -> Page:
        suspect = item.suspect
        if item.document is None or suspect is None or not (suspect.needs_content or suspect.needs_texts):
            return item
        from sitemap_crawler.extract.content.blocks import text_blocks

        texts = text_blocks(item.document)
        if suspect.needs_content:
            from sitemap_crawler.extract.content.signature import signature

            item.likeness = signature(
                item.document,
                dateless=suspect.pattern is not None,
                name_of=suspect.name_of,
                without=suspect.tokens(item.links),
            )
            item.is_blank = is_empty(texts)
        if suspect.needs_texts:
            item.observation.texts = texts
        return item
