"""The files that are published: what a search engine is told about, with the bytes that it must find at their URLs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import or_, select

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.types import Format
from sitemap_crawler.exceptions import SubmissionRefusedError
from sitemap_crawler.inventory.publications import latest_publication
from sitemap_crawler.inventory.runs import DECIDED, PUBLISHED
from sitemap_crawler.inventory.schema import published, runs
from sitemap_crawler.sitemap.names import FEED_ENDINGS, NEWS_SECTION, TEXT_SECTION, Names
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from sitemap_crawler.urls.public_address import PublicAddress

MAX_SHARDS = 20
"""Maximum number of shards of a host that are checked at their URLs."""
_ALONE = frozenset({NEWS_SECTION, TEXT_SECTION, *(f".{ending}" for ending in FEED_ENDINGS)})
"""Sections whose files are submitted each for itself, next to the entry file."""


class LiveFile(NamedTuple):
    """A published file."""

    url: str
    """Public URL."""
    sha256: str
    bytes: int
    modified: datetime
    """Time when the bytes changed."""


class HostFiles(NamedTuple):
    """The published files of one host."""

    host: str
    """With the port, if it is not the default one."""
    origin: str
    entry: LiveFile
    """The sitemap or sitemap index that robots.txt names; without XML another entry file."""
    entries: list[LiveFile]
    """All entry files, in the order of their URLs."""
    shards: list[LiveFile]
    """The shards that changed last, the newest first."""


class PublishedSite(NamedTuple):
    """The published set of a site."""

    start_url: str
    """As crawled."""
    publication: int
    """Number of the last publication."""
    hosts: list[HostFiles]
    address: PublicAddress | None
    """Crawled and public address of a preview; None if both are the same."""
    crawled_prefix: dict[str, str | None]
    """Beginning of the crawled URLs of the pages of each host; None if the only host has all pages."""

    def to_public(self, url: str) -> str:
        """Return the public form of a crawled URL."""
        return self.address.to_public(url) if self.address else url

    def to_crawled(self, url: str) -> str:
        """Return the crawled form of a public URL."""
        return self.address.to_crawled(url) if self.address else url


def published_site(connection: Connection) -> PublishedSite:
    """Return the last published set. Raises SubmissionRefusedError if nothing has been published."""
    run = _publishing_run(connection)
    if run is None:
        raise SubmissionRefusedError("nothing has been published yet: finish a run with crawl first")
    remembered = {name: value for name, value in (run.options or {}).items() if name in Options.model_fields}
    options = Options.parse({**remembered, "start_url": run.start_url})
    entries, shards = _rows(connection, options, run.sitemap_url)
    hosts = [
        _host_files(host, [row for row in entries if _host(row.url) == host], shards)
        for host in sorted({_host(row.url) for row in entries})
    ]
    if not hosts:
        raise SubmissionRefusedError("no published file is in the inventory: publish with crawl or write first")
    return PublishedSite(
        run.start_url,
        latest_publication(connection),
        hosts,
        options.address_from(run.start_url),
        {files.host: f"{files.origin}/" if options.subdomains else None for files in hosts},
    )


def _publishing_run(connection: Connection) -> Row[Any] | None:
    """Return the last run that has published, or else the last one with decisions, which `write` may have published."""
    decided = select(runs).where(runs.c.ended_by.in_(DECIDED)).order_by(runs.c.id.desc())
    good = connection.execute(decided.where(runs.c.outcome.in_(PUBLISHED)).limit(1)).first()
    return good or connection.execute(decided.limit(1)).first()


def _rows(connection: Connection, options: Options, sitemap_url: str) -> tuple[list[Row[Any]], list[Row[Any]]]:
    """Return the rows of the entry files and of the shards. Copies in other directories are left out."""
    names = Names.for_sitemap(sitemap_url)
    # A list of pages for people is no sitemap.
    forms = set(options.format) - {Format.HTML}
    entry_names = {names.entry if form is Format.XML else names.other_format(str(form)) for form in forms}
    in_output = published.c.directory == str(options.output)
    if options.subdomains:
        in_output = or_(in_output, published.c.directory.startswith(f"{options.output}/", autoescape=True))
    query = select(published).where(in_output, published.c.entry.in_(entry_names))
    entries: list[Row[Any]] = []
    shards: list[Row[Any]] = []
    for row in connection.execute(query.order_by(published.c.url)):
        if options.subdomains and Path(row.directory).parent != options.output:
            continue
        (entries if row.name == row.entry or row.section in _ALONE else shards).append(row)
    return entries, shards


def _host_files(host: str, entries: list[Row[Any]], shards: list[Row[Any]]) -> HostFiles:
    newest = sorted((row for row in shards if _host(row.url) == host), key=lambda row: (-row.modified, row.url))
    main = min(entries, key=lambda row: (row.name != row.entry, row.section != "", row.url))
    return HostFiles(
        host,
        origin_of(main.url),
        _live_file(main),
        [_live_file(row) for row in entries],
        [_live_file(row) for row in newest[:MAX_SHARDS]],
    )


def _live_file(row: Row[Any]) -> LiveFile:
    return LiveFile(row.url, row.sha256, row.bytes, datetime.fromtimestamp(row.modified, UTC))


def _host(url: str) -> str:
    return urlsplit(url).netloc
