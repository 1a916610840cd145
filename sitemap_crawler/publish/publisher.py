"""What was decided becomes files, of every format that is asked for, and is remembered as published."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.config.types import Format
from sitemap_crawler.exceptions import PublicationRefusedError
from sitemap_crawler.inventory.publications import (
    Publications,
    changes_since_published,
    differences_since_published,
    recent_pages,
)
from sitemap_crawler.inventory.template_images import template_images
from sitemap_crawler.policy.guards import publish_problem
from sitemap_crawler.policy.rules import Reason
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.publish.entries import Entries
from sitemap_crawler.report.report import change_row
from sitemap_crawler.sitemap.feed import MAX_ITEMS, ChangedPage, Channel, atom, rss
from sitemap_crawler.sitemap.formats import publish_feed, publish_text
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.sitemap.publish import publish
from sitemap_crawler.sitemap.records import Target
from sitemap_crawler.sitemap.sections import Sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sitemap_crawler.inventory.decisions import DecisionStore
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.sitemap.records import OutputFile, Publication

DIFFERENCES = 1_000
"""Pages of each kind of change that the report names."""
TOO_LARGE = "its entry does not fit a file of --max-bytes, it is left out"


def count_decided(site: RunContext, settled: DecisionStore, report: Report) -> None:
    """What is listed and what is not, and how that differs from what was published."""
    report.excluded = settled.counts()
    report.kept = report.excluded.pop(Reason.KEPT_AFTER_ERROR, 0)
    report.listed = report.excluded.pop(Reason.LISTED, 0) + report.kept
    report.changes = changes_since_published(site.store.connection)
    found = differences_since_published(site.store.connection, limit=DIFFERENCES)
    report.diff = {kind: [change_row(kind, *row) for row in rows] for kind, rows in found.items()}


def pages_in_words(count: int) -> str:
    return f"{count} page" + ("" if count == 1 else "s")


class SitemapSet(NamedTuple):
    """An entry file, and the pages that it lists."""

    sitemap_url: str
    output: Path
    start_url: str
    prefix: str
    """Where its pages are, as they were crawled."""
    listed: int
    published: int
    """Pages that the last publication had."""
    host: str | None = None
    """None for the only set, which has all pages."""

    @property
    def span(self) -> str | None:
        """What its pages begin with, where others are listed elsewhere."""
        return None if self.host is None else self.prefix


class Publisher:
    """Publishes a set of what is settled."""

    def __init__(self, site: RunContext, settled: DecisionStore, report: Report, chosen: SitemapSet) -> None:
        """`report` is told of its counts when pages are left out."""
        options = site.options
        self._site = site
        self._settled = settled
        self._report = report
        self._options = options
        self._set = chosen
        self._connection = site.store.connection
        self._now = datetime.now(UTC)
        self._target = Target(chosen.output, chosen.sitemap_url, options.max_urls, options.max_bytes, gzip=options.gzip)
        self._names = Names.for_sitemap(chosen.sitemap_url)
        self.files: list[OutputFile] = []
        self.changed = False
        self.listed = chosen.listed
        self.template = frozenset[str]()
        """Images that were left out."""

    def publish(self) -> None:
        """Write the XML. Raises what the writers raise: see sitemap/publish.py."""
        if Format.XML in self._options.format:
            self._publish_xml()

    def publish_beside(self) -> None:
        """Write the other formats, which tell of what is remembered as published."""
        formats = self._options.format
        if Format.TXT in formats:
            self._publish_beside(Format.TXT, lambda record: publish_text(self._locs(), **record))
        for feed in (Format.RSS, Format.ATOM):
            if feed in formats:
                self._publish_feed(feed)

    def _publish_xml(self) -> None:
        site, options = self._site, self._options
        chosen = self._set
        if options.images and not options.template_images:
            self.template = template_images(self._connection, listed=chosen.listed, prefix=chosen.span)
        publications = Publications(self._connection, chosen.output, self._names.entry)
        previous = publications.files()
        prefix = site.rules.published(chosen.prefix)
        sections = Sections.parse(options.section, by_directory=options.by_directory, prefix=prefix)
        published = {file.section for file in previous if file.rules == sections.signature}
        entries = Entries(
            site,
            self._settled,
            now=self._now,
            section_of=sections.assigner(published) if sections.signature else None,
            template=self.template,
            prefix=chosen.span,
        )
        publication = publish(
            entries,
            self._target,
            previous,
            self._now,
            announce=publications.announce,
            news=entries.news(),
            rules=sections.signature,
            approve=self._approve,
        )
        publications.replace(publication.files)
        self._take(publication)
        if publication.omitted:
            omitted = map(site.rules.crawled, publication.omitted)
            self._settled.exclude(omitted, Reason.TOO_LONG, TOO_LARGE)
            self.listed = publication.listed
            count_decided(site, self._settled, self._report)
        for loc in publication.omitted:
            site.warn(WarningKind.ENTRY_TOO_LARGE, loc, TOO_LARGE)
        for loc in publication.omitted_extras:
            site.warn(
                WarningKind.ENTRY_TOO_LARGE,
                loc,
                "its images, videos or news do not fit a file of --max-bytes, they are left out",
            )

    def _approve(self, listed: int) -> None:
        """What is too large for a file shrinks the set, too. Raises PublicationRefusedError."""
        chosen = self._set
        if listed < chosen.listed:
            problem = publish_problem(self._options, listed=listed, published=chosen.published)
            if problem is not None:
                raise PublicationRefusedError(f"{problem}; {chosen.listed - listed:,} pages fit no file of --max-bytes")

    def _publish_feed(self, feed: Format) -> None:
        published = self._site.rules.published
        with self._site.store.reader() as connection:
            recent = recent_pages(connection, limit=MAX_ITEMS, prefix=self._set.span)
            pages = [
                ChangedPage(
                    published(page.url),
                    page.title,
                    datetime.fromtimestamp(page.changed, UTC),
                    page.kind,
                )
                for page in recent
            ]
        name = self._names.other_format(feed)
        start = published(self._set.start_url)
        title = self._settled.title(self._set.start_url) or urlsplit(start).netloc
        channel = Channel(title, start, self._names.url(name))
        data = (rss if feed is Format.RSS else atom)(channel, pages)
        if data is None:
            self._site.warn(
                WarningKind.NO_FEED, self._names.url(name), "no page has a date yet, so there is nothing to tell of"
            )
            return
        ending: Literal["rss", "atom"] = "rss" if feed is Format.RSS else "atom"
        self._publish_beside(feed, lambda record: publish_feed(data, ending, urls=len(pages), **record))

    def _publish_beside(self, ending: Format, write: Callable[[dict[str, Any]], Publication]) -> None:
        publications = Publications(self._connection, self._set.output, self._names.other_format(ending))
        publication = write(
            {
                "target": self._target,
                "previous": publications.files(),
                "now": self._now,
                "announce": publications.announce,
            }
        )
        publications.replace(publication.files)
        self._take(publication)

    def _take(self, publication: Publication) -> None:
        self.files += publication.files
        self.changed |= bool(publication.removed) or any(file.written for file in publication.files)

    def _locs(self) -> Iterator[str]:
        for batch in self._settled.listed(prefix=self._set.span):
            yield from map(self._site.rules.published, batch.urls)
