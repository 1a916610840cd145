"""Publication of one sitemap set: its files in every requested format, and their record in the inventory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, assert_never
from urllib.parse import urlsplit

from sitemap_crawler.config.types import Format
from sitemap_crawler.exceptions import ForeignFilesError, PublicationRefusedError
from sitemap_crawler.inventory.decisions import titled_pages
from sitemap_crawler.inventory.publications import (
    Publications,
    changes_since_published,
    differences_since_published,
    first_and_last_listed,
    forget_links_of,
    page_list_urls,
    recent_pages,
)
from sitemap_crawler.inventory.supplied import supplied_sections
from sitemap_crawler.inventory.template_images import template_images
from sitemap_crawler.policy.guards import publish_problem
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.publish.entries import Entries
from sitemap_crawler.publish.owner import owner_problem
from sitemap_crawler.report.report import change_row
from sitemap_crawler.sitemap.feed import FEEDS, MAX_ITEMS, ChangedPage, Channel
from sitemap_crawler.sitemap.formats import publish_feed, publish_page_list, publish_text
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.sitemap.records import Target
from sitemap_crawler.sitemap.sections import Sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from sitemap_crawler.inventory.decisions import DecisionStore
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.sitemap.names import FeedEnding
    from sitemap_crawler.sitemap.records import OutputFile, Publication, PublishedFile

MAX_DIFFERENCES = 1_000
"""Maximum number of pages that the report names for each kind of change."""
TOO_LARGE = "its entry does not fit a file of --max-bytes: it is left out"
EXTRAS_TOO_LARGE = "its images, videos or news do not fit a file of --max-bytes: they are left out"


def count_decided(context: RunContext, decisions: DecisionStore, report: Report) -> None:
    """Fill in the numbers of listed and excluded pages, and their differences from the last publication."""
    report.excluded = decisions.counts()
    report.kept = report.excluded.pop(Reason.KEPT_AFTER_ERROR, 0)
    report.listed = report.excluded.pop(Reason.LISTED, 0) + report.kept
    report.changes = changes_since_published(context.store.connection)
    differences = differences_since_published(context.store.connection, limit=MAX_DIFFERENCES)
    report.diff = {kind: [change_row(kind, *row) for row in rows] for kind, rows in differences.items()}


def count_of_pages(count: int) -> str:
    return f"{count} page" + ("" if count == 1 else "s")


class SitemapSet(NamedTuple):
    """An entry file and the pages that it lists."""

    sitemap_url: str
    """Public URL of the entry file."""
    output: Path
    """Directory of the files."""
    start_url: str
    prefix: str
    """Prefix of the URLs of its pages, as crawled."""
    listed: int
    """Number of pages to publish."""
    published: int
    """Number of pages of the last publication."""
    host: str | None = None
    """None for the only set of a site, which has all pages."""

    @property
    def page_prefix(self) -> str | None:
        """Prefix that selects the pages of this set; None for the only set."""
        return None if self.host is None else self.prefix


def set_owner_problem(context: RunContext, sitemap_set: SitemapSet) -> str | None:
    """Return why the set may not replace the files in its directory: they list pages of another site."""
    connection = context.store.connection
    return owner_problem(
        connection,
        context.options,
        directory=sitemap_set.output,
        sitemap_url=sitemap_set.sitemap_url,
        listed=lambda: map(context.rules.to_public, first_and_last_listed(connection, prefix=sitemap_set.page_prefix)),
    )


def sections_of(
    context: RunContext, sitemap_set: SitemapSet, previous: Iterable[PublishedFile]
) -> tuple[Sections, set[str]]:
    """Return the sections of a set, and those that the same rules gave its published files `previous`."""
    options = context.options
    supplied, moved = supplied_sections(context.store.connection)
    prefix = context.rules.to_public(sitemap_set.prefix)
    sections = Sections.parse(options.section, by_directory=options.by_directory, prefix=prefix)
    sections = sections._replace(supplied=moved)
    return sections, {file.section for file in previous if file.rules == sections.signature} - {*supplied}


class Publisher:
    """Publisher of one set. `publish_sets` has one for each set of a run."""

    def __init__(self, context: RunContext, decisions: DecisionStore, report: Report, sitemap_set: SitemapSet) -> None:
        """The numbers of `report` are updated when pages are left out."""
        options = context.options
        self._context = context
        self._decisions = decisions
        self._report = report
        self._options = options
        self._sitemap_set = sitemap_set
        self._connection = context.store.connection
        self._now = datetime.now(UTC)
        self._target = Target(
            sitemap_set.output, sitemap_set.sitemap_url, options.max_urls, options.max_bytes, gzip=options.gzip
        )
        self._names = Names.for_sitemap(sitemap_set.sitemap_url)
        self.files: list[OutputFile] = []
        self.changed = False
        self.listed = sitemap_set.listed
        self.template_images = frozenset[str]()
        """Images of the page template, which are left out."""

    def publish(self) -> None:
        """Write the XML, if requested. Raises NotPublishedError and OSError: see sitemap/live_set.py."""
        if Format.XML in self._options.format:
            self._publish_xml()

    def publish_other_formats(self) -> None:
        """Write the other requested formats, after the pages of the set are stored as published."""
        for requested in sorted(self._options.format, key=list(Format).index):
            match requested:
                case Format.XML:
                    pass
                case Format.TXT:
                    self._publish_format("txt", lambda record: publish_text(self._locs(), **record))
                case Format.RSS:
                    self._publish_feed("rss")
                case Format.ATOM:
                    self._publish_feed("atom")
                case Format.HTML:
                    self._publish_page_list()
                case _:
                    assert_never(requested)

    def _publish_xml(self) -> None:
        context, options = self._context, self._options
        sitemap_set = self._sitemap_set
        if options.images and not options.template_images:
            self.template_images = template_images(
                self._connection, listed=sitemap_set.listed, prefix=sitemap_set.page_prefix
            )
        publications = Publications(self._connection, sitemap_set.output, self._names.entry)
        previous = publications.files()
        sections, published = sections_of(context, sitemap_set, previous)
        entries = Entries(
            context,
            self._decisions,
            now=self._now,
            section_of=sections.assigner(published) if sections.signature else None,
            template_images=self.template_images,
            prefix=sitemap_set.page_prefix,
        )
        publication = publish(
            entries,
            self._target,
            previous,
            self._now,
            announce=publications.announce,
            news=entries.news(),
            section_signature=sections.signature,
            approve=self._approve,
        )
        publications.replace(publication.files)
        self._add_files(publication)
        if publication.omitted:
            omitted = map(context.rules.to_crawled, publication.omitted)
            self._decisions.exclude(omitted, Reason.TOO_LONG, TOO_LARGE)
            self.listed = publication.listed
            count_decided(context, self._decisions, self._report)
        for loc in publication.omitted:
            context.warn(WarningKind.ENTRY_TOO_LARGE, loc, TOO_LARGE)
        for loc in publication.omitted_extras:
            context.warn(WarningKind.ENTRY_TOO_LARGE, loc, EXTRAS_TOO_LARGE)

    def _approve(self, listed: int) -> None:
        """Check the guards again: entries that are too large were left out, and the directory is locked only now.

        Raises PublicationRefusedError, ForeignFilesError.
        """
        problem = set_owner_problem(self._context, self._sitemap_set)
        if problem is not None:
            raise ForeignFilesError(problem)
        omitted = self._sitemap_set.listed - listed
        if omitted > 0:
            problem = publish_problem(self._options, listed=listed, published=self._sitemap_set.published)
            if problem is not None:
                raise PublicationRefusedError(f"{problem}; {omitted:,} pages fit no file of --max-bytes")

    def _publish_feed(self, ending: FeedEnding) -> None:
        to_public = self._context.rules.to_public
        with self._context.store.reader() as connection:
            recent = recent_pages(connection, limit=MAX_ITEMS, prefix=self._sitemap_set.page_prefix)
            pages = [
                ChangedPage(to_public(page.url), page.title, datetime.fromtimestamp(page.changed, UTC), page.kind)
                for page in recent
            ]
        name = self._names.other_format(ending)
        start = to_public(self._sitemap_set.start_url)
        title = self._decisions.title(self._sitemap_set.start_url) or urlsplit(start).netloc
        channel = Channel(title, start, self._names.url(name))
        data = FEEDS[ending](channel, pages)
        if data is None:
            self._context.warn(WarningKind.NO_FEED, self._names.url(name), "no page has a date yet: no feed is written")
            return
        self._publish_format(ending, lambda record: publish_feed(data, ending, urls=len(pages), **record))

    def _publish_page_list(self) -> None:
        # Imported here, with Jinja2: few sites have a page list.
        from sitemap_crawler.sitemap.page_list import ListedTitle, PageList, PageListSite
        from sitemap_crawler.sitemap.page_template import load_template

        sitemap_set, rules = self._sitemap_set, self._context.rules
        title = self._decisions.title(sitemap_set.start_url)
        site = PageListSite(title, rules.to_public(sitemap_set.start_url), rules.to_public(sitemap_set.prefix))
        template = load_template(self._options.html_template)
        page_list = PageList(template.render, site, self._names, pages=self.listed)
        titled = titled_pages(self._context.store, prefix=sitemap_set.page_prefix)
        pages = (ListedTitle(rules.to_public(url), title) for url, title in titled)
        self._publish_format("html", lambda record: publish_page_list(page_list.files(pages), **record))
        # The page list leads to every listed page. Its links would keep pages that the site itself does not link to.
        own_lists = map(rules.resolver().normalise, page_list_urls(self._connection))
        forget_links_of(self._connection, filter(None, own_lists))

    def _publish_format(self, ending: str, write: Callable[[dict[str, Any]], Publication]) -> None:
        publications = Publications(self._connection, self._sitemap_set.output, self._names.other_format(ending))
        publication = write(
            {
                "target": self._target,
                "previous": publications.files(),
                "now": self._now,
                "announce": publications.announce,
            }
        )
        publications.replace(publication.files)
        self._add_files(publication)

    def _add_files(self, publication: Publication) -> None:
        self.files += publication.files
        self.changed |= bool(publication.removed) or any(file.written for file in publication.files)

    def _locs(self) -> Iterator[str]:
        for batch in self._decisions.listed(prefix=self._sitemap_set.page_prefix):
            yield from map(self._context.rules.to_public, batch.urls)
