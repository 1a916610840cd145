"""The target of pages: response headers and a body, read by all pipelines as in a worker process, then published."""

from __future__ import annotations

import io
import json
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.pipelines import extraction
from sitemap_crawler.crawl.pipelines.transfer import UnreadPage, apply_values, extracted_values
from sitemap_crawler.extract.content.signature import signature
from sitemap_crawler.extract.media_type import media_type
from sitemap_crawler.inventory.observations import _extras
from sitemap_crawler.inventory.sql import url_key
from sitemap_crawler.items import Observation, Page
from sitemap_crawler.policy.lastmod import decide_date, w3c_datetime
from sitemap_crawler.sitemap.entry import Entry, PlainEntries, serialise, serialise_plain
from sitemap_crawler.sitemap.news import NEWS_FRAME, NewsEntry, publication_date
from sitemap_crawler.sitemap.news import serialise as serialise_news
from sitemap_crawler.sitemap.shard import HEAD, TAIL
from sitemap_crawler.urls.normalise import Resolver
from sitemap_crawler.validation.entries import read_entries
from sitemap_crawler.validation.files import check_source
from sitemap_crawler.validation.results import FileTask
from tests.fuzz.engine import PropertyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

URL = "https://example.com/docs/page.html"
FETCHED = datetime(2024, 6, 1, 12, 0, 0, tzinfo=UTC)
MAX_LINKS = 1_000
_MAX_HEADERS = 100
_READABLE = sorted(extraction.READABLE_TYPES)


def check_page(data: bytes) -> Any:
    headers, body = _parts(data)
    resolver = Resolver()
    page = _page(headers, body)
    for pipeline in _pipelines(resolver):
        page = pipeline.process_item(page)
    document = page.document
    if document is not None:
        signature(document, dateless=True, name_of=lambda url: url)
    values = extracted_values(page)
    observation = page.observation
    if len(page.links) + len(page.nofollow_links) > MAX_LINKS:
        raise PropertyError(f"{len(page.links):,} and {len(page.nofollow_links):,} links")
    _check_urls(resolver, _urls(page))
    _check_texts(page)
    _check_dates(observation)
    # What the inventory stores.
    json.dumps(_extras(observation)).encode()
    json.dumps(observation.notes).encode()
    for url in _urls(page):
        url_key(url)
    _check_sitemap(observation)
    _check_article(observation)
    copy = Page(page.queued, Observation(0, FETCHED))
    apply_values(copy, values)
    if extracted_values(copy) != values:
        raise PropertyError("the values of a page differ after their way between processes")
    return values


def _parts(data: bytes) -> tuple[dict[str, list[str]], bytes]:
    """Return the headers by lower-case name, as the spider does, and the body. A body may come without headers."""
    head, separator, body = data.partition(b"\n\n")
    if not separator or data.lstrip()[:1] == b"<":
        return {}, data
    headers: dict[str, list[str]] = {}
    for line in head.split(b"\n")[:_MAX_HEADERS]:
        name, _, value = line.partition(b":")
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = value.decode("latin-1")
        headers.setdefault(name.decode("latin-1").lower(), []).append(text.strip(" \t\r"))
    return headers, body


def _page(headers: dict[str, list[str]], body: bytes) -> Page:
    stated = next(iter(headers.get("content-type", ())), None)
    kind = media_type(stated, body)
    # A type that is not read would end most of the checks.
    kind = kind if kind in _READABLE else "text/html"
    return UnreadPage(URL, FETCHED.timestamp(), 200, kind, {}, headers, True, body, None).to_page()


def _pipelines(resolver: Resolver) -> list[extraction.ReadingPipeline]:
    return [
        extraction.DocumentPipeline(resolver, max_links=MAX_LINKS),
        extraction.IndexabilityPipeline(resolver),
        extraction.LastModifiedPipeline(),
        extraction.ContentPipeline(),
        extraction.ImagesPipeline(texts=True),
        extraction.VideosPipeline(),
        extraction.NewsPipeline(),
        extraction.AlternatesPipeline(resolver),
        extraction.SoftErrorsPipeline(),
        extraction.ResourcesPipeline(),
    ]


def _urls(page: Page) -> Iterator[str]:
    seen = page.observation
    yield from (*page.links, *page.nofollow_links, *page.resources, *seen.images)
    yield from (url for url in (seen.refresh, seen.canonical) if url is not None)
    yield from (url for _, url in seen.alternates)
    for video in seen.videos:
        yield from (url for url in (video.thumbnail_loc, video.content_loc, video.player_loc) if url is not None)


def _check_urls(resolver: Resolver, urls: Iterable[str]) -> None:
    fresh = Resolver()
    for url in set(urls):
        if resolver.normalise(url) != url or fresh.normalise(url) != url:
            raise PropertyError(f"{url!r} is not normal: {fresh.normalise(url)!r}")
        if fresh.resolve(url, URL) != url:
            raise PropertyError(f"{url!r} resolves to {fresh.resolve(url, URL)!r}")


def _check_texts(page: Page) -> None:
    seen = page.observation
    # The evidence of directives is stored as written, and printed by `printable`.
    texts = [seen.title]
    texts += [text for pair in seen.image_texts.values() for text in pair]
    texts += [text for video in seen.videos for text in (video.title, video.description, video.uploader, *video.tags)]
    if seen.article is not None:
        texts.append(seen.article.title)
    for text in filter(None, texts):
        controls = [character for character in text if unicodedata.category(character) in ("Cc", "Cs")]
        if controls:
            raise PropertyError(f"{text!r} has control characters: {controls}")


def _check_dates(seen: Observation) -> None:
    latest = FETCHED + timedelta(hours=1)
    dates = [seen.last_modified, seen.page_date.moment if seen.page_date is not None else None]
    for date in filter(None, dates):
        if not datetime(1990, 1, 1, tzinfo=UTC) <= date <= latest:
            raise PropertyError(f"{date} is not credible")
    if seen.unavailable_after is not None:
        seen.unavailable_after.timestamp()


def _check_sitemap(seen: Observation) -> None:
    """Write a sitemap with the page. It is valid, and the reader finds in it what was written."""
    dated = decide_date(None, seen)
    entry = Entry(
        URL,
        w3c_datetime(dated.lastmod, day=dated.day),
        images=seen.images,
        videos=seen.videos,
        alternates=seen.alternates,
        image_texts=seen.image_texts,
    )
    written = HEAD + serialise(entry) + TAIL
    _check_valid(written)
    (read,) = read_entries(written)
    if (read.loc, read.lastmod, len(read.images)) != (URL, entry.lastmod, len(entry.images)):
        raise PropertyError(f"{entry} is read as {read}")
    if [code for code, _ in read.alternates] != [code for code, _ in entry.alternates]:
        raise PropertyError(f"{entry.alternates} are read as {read.alternates}")
    plain = PlainEntries([URL], [entry.lastmod], [seen.images])
    if serialise_plain(plain) != [serialise(each) for each in plain.entries()]:
        raise PropertyError("the plain entry differs")


def _check_article(seen: Observation) -> None:
    article = seen.article
    if article is not None:
        date = publication_date(article.published, has_time=article.has_time)
        entry = NewsEntry(URL, "The Daily", article.language or "en", date, article.title)
        _check_valid(NEWS_FRAME.head + serialise_news(entry) + NEWS_FRAME.tail)


def _check_valid(written: bytes) -> None:
    task = FileTask(Path("sitemap.xml"), "sitemap.xml", "", FETCHED + timedelta(days=1))
    found = check_source(task, io.BytesIO(written)).findings.result()
    findings = [finding for finding in found if finding.severity == "error"]
    if findings:
        raise PropertyError(f"the sitemap is not valid: {findings[0]}")
