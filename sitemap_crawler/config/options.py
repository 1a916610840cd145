"""The typed model of all options.

The command line, the `SITEMAP_*` settings, the keys of site files and the documented tables of options derive from it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from sitemap_crawler.config.credentials import Access, move_url_credentials, options_from_environment
from sitemap_crawler.config.model import SETTING_PREFIX, Flag
from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.config.types import (
    Format,
    Formats,
    HeaderLines,
    ListColumns,
    ListSources,
    Login,
    LogSources,
    MediaTypes,
    NewsLanguage,
    Patterns,
    PlainText,
    PublicUrl,
    PublicUrls,
    RenderMode,
    SectionRules,
    StateLocation,
    SubresourceHosts,
    TextPath,
    Texts,
    check_names,
    columns_of,
)
from sitemap_crawler.exceptions import AccessError, OptionError
from sitemap_crawler.sitemap.limits import MAX_BYTES, MAX_URLS
from sitemap_crawler.sitemap.names import entry_name
from sitemap_crawler.urls.normalise import TRACKING_PARAMETERS, last_segment, origin_of
from sitemap_crawler.urls.public_address import PublicAddress
from sitemap_crawler.urls.scope import DomainScope, Scope, default_sitemap_url, scope_for

if TYPE_CHECKING:
    from collections.abc import Mapping

MIN_SHARD_BYTES = 10_000
"""Minimum value of `max_bytes`."""
MAX_RUNS = 1_000_000
"""Maximum value of options that count runs. It is enough for a million nightly runs."""
UNSTORED_WRITE_OPTIONS = frozenset(("allow_shrink", "take_over", "dry_run", "report", "html_report"))
"""Options of `write` that the inventory does not store."""
SECRET_OPTIONS = ("header", "auth", "client_certificate")
"""Options that give access to pages which are not for everybody."""


class Options(SearchEngineOptions):
    """Options of a run. They are immutable and validated before the first request."""

    start_url: Annotated[
        PublicUrl, Flag(metavar="URL", cli=False, remembered=True), Field(description="page where the crawl starts")
    ]
    output: Annotated[
        TextPath,
        Flag(metavar="DIR", short="-o", remembered=True),
        Field(description="directory for the sitemap files"),
    ] = Path("sitemaps")
    sitemap_url: Annotated[
        PublicUrl | None,
        Flag(metavar="URL", remembered=True),
        Field(
            description="public URL of the entry file; its directory is the scope, its last segment is the name of "
            "the file; default: sitemap.xml in the directory of START_URL"
        ),
    ] = None
    public_url: Annotated[
        PublicUrl | None,
        Flag(metavar="URL", crawling=True),
        Field(
            description="write URLs as if the directory of START_URL were this one, to crawl a preview and publish "
            "for the live site; default: as crawled"
        ),
    ] = None
    state: Annotated[
        StateLocation | None,
        Flag(metavar="PATH|URL"),
        Field(
            description="SQLite file with the inventory and the state of the crawl, or a schema of a PostgreSQL "
            "database as postgresql://USER@HOST/DB?schema=NAME; default: SITEMAP_STATE in the environment, else one "
            "file per site in the user's state directory"
        ),
    ] = None
    include: Annotated[
        Patterns,
        Flag(metavar="RE", remembered=True),
        Field(
            description="list only URLs that contain a match of this regular expression (repeatable: of any of "
            "them); other URLs are fetched for their links"
        ),
    ] = ()
    exclude: Annotated[
        Patterns,
        Flag(metavar="RE", remembered=True),
        Field(description="neither fetch nor list URLs that contain a match of this regular expression (repeatable)"),
    ] = ()
    exclude_listing: Annotated[
        Patterns,
        Flag(metavar="RE", remembered=True),
        Field(
            description="do not list URLs that contain a match of this regular expression, but fetch them for their "
            "links (repeatable)"
        ),
    ] = ()
    seed_sitemap: Annotated[
        PublicUrls,
        Flag(metavar="URL", crawling=True),
        Field(description="also crawl the URLs in this sitemap, as for sitemaps that robots.txt names (repeatable)"),
    ] = ()
    urls: Annotated[
        ListSources,
        Flag(metavar="FILE|URL|-", crawling=True),
        Field(
            description="also crawl the URLs in this list: text with one URL a line, CSV or JSON lines, also gzip; "
            "- for the standard input (repeatable)"
        ),
    ] = ()
    urls_columns: Annotated[
        ListColumns,
        Flag(metavar="NAME=COLUMN,…", crawling=True),
        Field(
            description="names of the columns or keys in the lists of urls, or numbers of columns without a header, "
            "such as url=loc,lastmod=updated_at; names: url, lastmod, images, videos, section"
        ),
    ] = ()
    access_log: Annotated[
        LogSources,
        Flag(metavar="FILE|-", crawling=True),
        Field(
            description="also crawl the pages that visitors have seen by this access log, in the common or combined "
            "format, also gzip, and warn of those that are not listed; - for the standard input (repeatable)"
        ),
    ] = ()
    follow_nofollow: Annotated[
        bool, Flag(crawling=True), Field(description="follow links with rel=nofollow and links of nofollow pages")
    ] = False
    max_pages: Annotated[
        int | None,
        Flag(metavar="N"),
        Field(
            ge=1,
            le=2**40,
            description="end the run after N fetched URLs; other pages of earlier runs keep their decision",
        ),
    ] = None
    max_depth: Annotated[
        int | None,
        Flag(metavar="N", remembered=True),
        Field(
            ge=0,
            le=2**40,
            description="fetch only URLs at most N clicks from the start page; deeper pages of earlier runs keep their "
            "decision",
        ),
    ] = None
    subdomains: Annotated[
        bool,
        Flag(remembered=True),
        Field(
            description="crawl all hosts of the domain of START_URL, and write a sitemap set for each, in OUTPUT/HOST"
        ),
    ] = False
    images: Annotated[bool, Flag(remembered=True), Field(description="write the images that a page embeds")] = True
    videos: Annotated[bool, Flag(remembered=True), Field(description="write the videos that a page embeds")] = True
    alternates: Annotated[
        bool, Flag(remembered=True), Field(description="write the language versions of a page that all name each other")
    ] = True
    news_name: Annotated[
        PlainText | None,
        Flag(metavar="NAME", remembered=True),
        Field(
            description="write a news sitemap of the articles of the last two days, with this name of the publication"
        ),
    ] = None
    news_language: Annotated[
        NewsLanguage | None,
        Flag(metavar="CODE", remembered=True),
        Field(description="language of articles that do not state one, such as en"),
    ] = None
    format: Annotated[
        Formats,
        Flag(metavar="FORMAT", remembered=True),
        Field(description="write xml, txt, rss, atom or html (repeatable)"),
    ] = (Format.XML,)
    html_template: Annotated[
        TextPath | None,
        Flag(metavar="FILE", remembered=True),
        Field(description="Jinja2 template of the page list for visitors; default: a plain page"),
    ] = None
    section: Annotated[
        SectionRules,
        Flag(metavar="NAME=RE", remembered=True),
        Field(
            description="write pages whose URL contains a match of this regular expression to sitemaps of their "
            "own, sitemap-NAME-1.xml and so on (repeatable: the first match counts)"
        ),
    ] = ()
    by_directory: Annotated[
        bool,
        Flag(remembered=True),
        Field(description="write the pages of each first directory to sitemaps of their own"),
    ] = False
    media_files: Annotated[
        bool, Flag(remembered=True), Field(description="write images and videos to sitemaps of their own")
    ] = False
    changefreq: Annotated[
        bool,
        Flag(remembered=True),
        Field(description="write changefreq, from the observed changes or the age of each page"),
    ] = False
    priority: Annotated[
        bool,
        Flag(remembered=True),
        Field(description="write priority, from the crawl depth of each page and the links to it"),
    ] = False
    max_urls: Annotated[
        int,
        Flag(metavar="N", remembered=True),
        Field(ge=1, le=MAX_URLS, description="maximum number of entries per file"),
    ] = MAX_URLS
    max_bytes: Annotated[
        int,
        Flag(metavar="N", remembered=True),
        Field(
            ge=MIN_SHARD_BYTES,
            le=MAX_BYTES,
            description="maximum number of uncompressed bytes per file, at least 10000",
        ),
    ] = MAX_BYTES
    gzip: Annotated[bool, Flag(remembered=True), Field(description="compress the shards of an index (.xml.gz)")] = False
    concurrency: Annotated[
        int,
        Flag(setting="CONCURRENT_REQUESTS", metavar="N"),
        Field(ge=1, le=1000, description="maximum number of requests in flight, in total and per host"),
    ] = 8
    delay: Annotated[
        float,
        Flag(setting="DOWNLOAD_DELAY", metavar="SECONDS"),
        Field(ge=0, le=3600, description="minimum number of seconds between two requests to a host"),
    ] = 0.0
    workers: Annotated[
        int | None,
        Flag(metavar="N"),
        Field(
            ge=0,
            le=64,
            description="number of processes that read pages, in addition to the one that crawls; default: the "
            "number of processors, at most 4; none with one processor, with a delay, or on other "
            "systems than Linux",
        ),
    ] = None
    processes: Annotated[
        int,
        Flag(metavar="N"),
        Field(
            ge=1,
            le=64,
            description="crawl with N processes of this machine, which share the inventory of a PostgreSQL server",
        ),
    ] = 1
    random_delay: Annotated[
        float,
        Flag(metavar="SECONDS"),
        Field(
            ge=0, le=86_400, description="wait a random time before the first request, at most this number of seconds"
        ),
    ] = 0.0
    adaptive: Annotated[
        bool | None,
        Flag(),
        Field(
            description="start with two requests in flight, and increase them up to the concurrency while the "
            "response times of the site do not rise; default: on, except for this machine"
        ),
    ] = None
    user_agent: Annotated[
        PlainText | None,
        Flag(setting="USER_AGENT", metavar="TEXT", crawling=True),
        Field(
            description='User-Agent header; its first name, or the name after "compatible;", selects the group in '
            "robots.txt"
        ),
    ] = None
    header: Annotated[
        HeaderLines,
        Flag(metavar="'NAME: VALUE'", secret=True),
        Field(
            description="send this header, such as Authorization or Cookie, with requests to the host of the start "
            "URL only (repeatable); also from SITEMAP_CRAWLER_HEADERS, one header a line"
        ),
    ] = ()
    auth: Annotated[
        Login | None,
        Flag(metavar="USER:PASSWORD", secret=True),
        Field(
            description="log in with HTTP basic authentication at the host of the start URL only; also from "
            "SITEMAP_CRAWLER_AUTH"
        ),
    ] = None
    client_certificate: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="PEM file of the client certificate for the host of the start URL only"),
    ] = None
    client_key: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="PEM file of the private key; default: the file of the client certificate"),
    ] = None
    ca_file: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="PEM file of certificate authorities that are trusted in addition to those of the system"),
    ] = None
    render: Annotated[
        RenderMode,
        Flag(metavar="MODE", crawling=True),
        Field(
            description="read pages as Chromium renders them, for sites that need JavaScript: never, auto (where it "
            "shows more) or always"
        ),
    ] = RenderMode.NEVER
    render_pages: Annotated[
        int | None,
        Flag(metavar="N"),
        Field(
            ge=1, le=64, description="number of pages that are rendered at a time; default: one a processor, at most 4"
        ),
    ] = None
    render_timeout: Annotated[
        float,
        Flag(metavar="SECONDS"),
        Field(
            gt=0,
            le=600,
            description="maximum number of seconds of a rendering, without the time for which its requests wait for "
            "their turn",
        ),
    ] = 15.0
    browser: Annotated[
        TextPath | None,
        Flag(metavar="PATH"),
        Field(description="program of the browser; default: Chromium, Chrome or Edge where they are installed"),
    ] = None
    browser_no_sandbox: Annotated[
        bool,
        Flag(),
        Field(description="run the browser without its sandbox, which root and some containers do not allow"),
    ] = False
    subresource_hosts: Annotated[
        SubresourceHosts,
        Flag(metavar="HOSTS", crawling=True),
        Field(
            description="hosts that scripts of a page may ask in addition to the origin of START_URL: site (hosts of "
            "the same domain), public (also any other with public addresses) or none"
        ),
    ] = SubresourceHosts.PUBLIC
    full: Annotated[bool, Flag(), Field(description="download everything again, without conditional requests")] = False
    join: Annotated[
        bool,
        Flag(),
        Field(
            description="help with the crawl of another process that has the same options: request pages and store "
            "them in the same PostgreSQL database; write no sitemap"
        ),
    ] = False
    fresh: Annotated[bool, Flag(), Field(description="discard an unfinished run and start a new one")] = False
    allow_shrink: Annotated[bool, Flag(), Field(description="publish even when the shrink guard would refuse")] = False
    take_over: Annotated[
        bool, Flag(), Field(description="replace the files in the output directory although they list another site")
    ] = False
    dry_run: Annotated[bool, Flag(), Field(description="decide and report, but publish nothing")] = False
    submit: Annotated[
        bool,
        Flag(),
        Field(
            description="tell search engines about the publication when the run has ended, as the command submit does"
        ),
    ] = False
    submit_timeout: Annotated[
        float,
        Flag(metavar="SECONDS"),
        Field(gt=0, le=86_400, description="maximum number of seconds that this may take"),
    ] = 300.0
    report: Annotated[TextPath | None, Flag(metavar="FILE"), Field(description="write a JSON report of the run")] = None
    html_report: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="write an HTML report of the site, also when the run is refused or fails"),
    ] = None
    status: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="write a JSON file with the progress of the run, replaced every few seconds"),
    ] = None
    progress: Annotated[bool | None, Flag(), Field(description="show a progress line; default: on a terminal")] = None
    quiet: Annotated[bool, Flag(short="-q"), Field(description="print errors only")] = False
    log_file: Annotated[
        TextPath | None,
        Flag(setting="LOG_FILE", metavar="FILE"),
        Field(description="append the log to this file instead of writing it to standard error"),
    ] = None
    max_crawl_delay: Annotated[
        float,
        Flag(cli=False),
        Field(ge=0, le=3600, description="maximum number of seconds of a Crawl-delay in robots.txt that are respected"),
    ] = 30.0
    max_back_off: Annotated[
        float,
        Flag(cli=False),
        Field(ge=0, le=3600, description="maximum number of seconds between two requests to an overloaded host"),
    ] = 60.0
    max_seed_files: Annotated[
        int,
        Flag(cli=False),
        Field(
            ge=1,
            le=1_000_000,
            description="maximum number of existing sitemaps, and pages of lists of WordPress, that a run reads",
        ),
    ] = 10_000
    max_seed_bytes: Annotated[
        int,
        Flag(cli=False),
        Field(ge=1, le=2**50, description="maximum number of bytes of existing sitemaps that a run reads"),
    ] = 20_000_000_000
    max_seed_time: Annotated[
        float,
        Flag(cli=False),
        Field(gt=0, le=31_536_000, description="maximum number of seconds for which a run reads existing sitemaps"),
    ] = 21_600.0
    max_list_lines: Annotated[
        int,
        Flag(cli=False),
        Field(ge=1, le=2**40, description="maximum number of lines that a run reads of each list of urls"),
    ] = 20_000_000
    max_log_lines: Annotated[
        int,
        Flag(cli=False),
        Field(ge=1, le=2**40, description="maximum number of lines that a run reads of each access log"),
    ] = 200_000_000
    lease: Annotated[
        float,
        Flag(cli=False),
        Field(
            ge=1,
            le=86_400,
            description="number of seconds after which a silent process of a crawl by several counts as dead, so "
            "that others request its URLs",
        ),
    ] = 60.0
    max_retry_after: Annotated[
        float,
        Flag(cli=False),
        Field(
            ge=0,
            le=86_400,
            description="maximum number of seconds that a run waits for a Retry-After of a host; after a longer one "
            "the run ends, to be resumed",
        ),
    ] = 600.0
    max_outage: Annotated[
        float,
        Flag(cli=False),
        Field(
            ge=0,
            le=86_400,
            description="number of seconds for which a host may be overloaded or unreachable before the run ends, "
            "to be resumed",
        ),
    ] = 120.0
    content_types: Annotated[
        MediaTypes,
        Flag(cli=False, remembered=True),
        Field(description="content types of pages"),
    ] = ("text/html", "application/xhtml+xml")
    tracking_parameters: Annotated[
        Texts,
        Flag(cli=False, remembered=True),
        Field(description="parameters (?name= and ;name=) removed from every URL; a trailing * matches any ending"),
    ] = TRACKING_PARAMETERS
    other_hosts: Annotated[
        bool,
        Flag(cli=False, remembered=True),
        Field(description="list images on other hosts than the host of the page, too"),
    ] = True
    template_images: Annotated[
        bool,
        Flag(cli=False, remembered=True),
        Field(description="list images that nine of ten pages have, too"),
    ] = False
    image_texts: Annotated[
        bool,
        Flag(cli=False, remembered=True),
        Field(description="write title and caption of images, which search engines have ignored since 2022"),
    ] = False
    max_shrink: Annotated[
        float,
        Flag(cli=False, remembered=True),
        Field(
            ge=0,
            le=1,
            description="maximum share of the published pages that may disappear; above it the run is not "
            "published; sets of fewer than 20 pages have no limit",
        ),
    ] = 0.3
    keep_errors: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(
            ge=0,
            le=MAX_RUNS,
            description="number of finished runs in which a listed page stays listed although its server fails",
        ),
    ] = 7
    trap_budget: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(
            ge=0,
            le=2**40,
            description="maximum number of URLs with three or more parameters at one place, if their combinations "
            "multiply; 0: no trap detection",
        ),
    ] = 5_000
    no_traps: Annotated[
        Patterns,
        Flag(cli=False, remembered=True),
        Field(description="never treat URLs as a trap that contain a match of one of these regular expressions"),
    ] = ()
    orphan_runs: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(
            ge=1,
            le=MAX_RUNS,
            description="number of finished runs in which no link and no sitemap leads to a page before it counts "
            "as an orphan",
        ),
    ] = 2
    revisit_excluded: Annotated[
        int,
        Flag(cli=False),
        Field(
            ge=1,
            le=MAX_RUNS,
            description="request URLs that were excluded for the same reason three times only every this many runs",
        ),
    ] = 7
    keep_runs: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(ge=1, le=MAX_RUNS, description="number of latest runs whose changes are stored for diff"),
    ] = 100
    render_recycle: Annotated[
        int,
        Flag(cli=False),
        Field(ge=1, le=1_000_000, description="number of pages after which the browser is replaced by a new one"),
    ] = 500
    render_budget: Annotated[
        float,
        Flag(cli=False),
        Field(
            gt=0,
            le=600,
            description="maximum number of seconds that pass on the clock of a page, which runs ahead of the real one "
            "when scripts wait",
        ),
    ] = 5.0
    max_body: Annotated[
        int,
        Flag(cli=False, crawling=True),
        Field(ge=1_000, le=2**40, description="maximum number of bytes of a body that are read, uncompressed"),
    ] = 15_000_000
    max_links: Annotated[
        int,
        Flag(cli=False, crawling=True),
        Field(ge=1, le=500_000, description="maximum number of links of one page that are kept, the first ones"),
    ] = 50_000

    @model_validator(mode="before")
    @classmethod
    def _move_credentials(cls, values: dict[str, Any]) -> dict[str, Any]:
        return move_url_credentials(values)

    @model_validator(mode="after")
    def _check_combinations(self) -> Options:
        if self.public_url and "?" in self.public_url:
            raise ValueError(f"public_url {self.public_url} has a query: give the address of a directory")
        _ = self.access  # raises AccessError
        if self.client_key is not None and self.client_certificate is None:
            raise ValueError("client_key is given without client_certificate: give both")
        if "-" in self.urls and "-" in self.access_log:
            raise ValueError("urls and access_log are both the standard input: give a file for one of them")
        entry_name(self.entry_url)
        address = self.address_from(self.start_url)
        scope = scope_for(address.to_public(self.start_url) if address else self.start_url, self.sitemap_url)
        if address and not scope.prefix.startswith(address.published_at):
            remedy = f"give {address.published_at}{entry_name(self.entry_url)}"
            raise ValueError(f"sitemap_url {self.sitemap_url} is above the public directory of START_URL: {remedy}")
        if self.subdomains:
            self._check_subdomains(scope)
        return self

    def _check_subdomains(self, scope: Scope) -> None:
        if self.public_url:
            raise ValueError("public_url and subdomains exclude each other: leave one out")
        if self.sitemap_url and scope.prefix != f"{scope.origin}/":
            remedy = f"give {scope.origin}/{entry_name(self.sitemap_url)}"
            raise ValueError(
                f"sitemap_url {self.sitemap_url} is in a directory, but subdomains lists whole hosts: {remedy}"
            )
        DomainScope(f"{scope.origin}/")

    def address_from(self, start_url: str) -> PublicAddress | None:
        """Return crawled and public address of a site that is crawled from `start_url`; None without public_url."""
        return PublicAddress.for_urls(start_url, self.public_url) if self.public_url else None

    @property
    def entry_url(self) -> str:
        """Public URL of the entry file."""
        return self.sitemap_url or self.default_entry_url(self.start_url)

    def default_entry_url(self, start_url: str) -> str:
        """Return the public URL of the entry file of a site that is crawled from `start_url`, without sitemap_url."""
        address = self.address_from(start_url)
        url = default_sitemap_url(address.to_public(start_url) if address else start_url)
        return f"{origin_of(url)}/{last_segment(url)}" if self.subdomains else url

    @property
    def site_url(self) -> str:
        """Identity of the site: the URL of its sitemap, in crawled form."""
        return default_sitemap_url(self.start_url) if self.public_url else self.entry_url

    @property
    def columns_of_lists(self) -> dict[str, str]:
        """Names or numbers of the columns of lists, by the name of the value."""
        return columns_of(self.urls_columns)

    @property
    def renders(self) -> bool:
        """Whether a browser may render pages."""
        return self.render is not RenderMode.NEVER

    @property
    def has_secrets(self) -> bool:
        """Whether requests have credentials. Files about the site are then readable by their owner only."""
        return any(getattr(self, name) for name in SECRET_OPTIONS)

    def without_credentials(self) -> Options:
        """Return the options without credentials: those of the command line, of a site file and of the environment."""
        return self.model_copy(update={"header": (), "auth": None, "client_certificate": None, "client_key": None})

    @property
    def access(self) -> Access | None:
        """Headers that are added to requests to the site, if there are any."""
        return Access.parse(*self._secrets())

    def _secrets(self) -> tuple[list[str], str | None]:
        """Return the header lines and the login."""
        auth = None if self.auth is None else self.auth.get_secret_value()
        return [line.get_secret_value() for line in self.header], auth

    @classmethod
    def crawl_options(cls) -> list[str]:
        """Return the names of the options of a crawl, without those that only search engines need."""
        return [name for name in cls.model_fields if name not in SearchEngineOptions.model_fields]

    @classmethod
    def write_options(cls) -> frozenset[str]:
        """Return the names of the options of `write`."""
        return frozenset(
            name for name in cls.model_fields if cls.flag(name).remembered or name in UNSTORED_WRITE_OPTIONS
        )

    def remembered(self) -> dict[str, Any]:
        """Return the options that the inventory stores, as JSON values. `write` decides and writes by them."""
        names = {name for name, flag in self.flags().items() if flag.remembered or flag.crawling}
        values = self.model_dump(mode="json", include=names, exclude_none=True)
        # Absolute, because `write` may run in another directory.
        paths = {"output": self.output, "html_template": self.html_template}
        return {**values, **{name: str(path.absolute()) for name, path in paths.items() if path is not None}}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Options:
        """Return the options of Scrapy settings, by name, with the credentials of the environment.

        Raises OptionError.
        """
        known = {cls.setting(name): name for name in cls.model_fields}
        given = {name for name in settings if name.startswith(SETTING_PREFIX)}
        check_names(given, known, kind="setting", meant=cls.meant_settings())
        values = {known[name]: settings[name] for name in known if settings.get(name) is not None}
        return cls.parse_with_access(values)

    @classmethod
    def parse_with_access(cls, values: Mapping[str, Any]) -> Options:
        """Validate values by option name, and add the credentials of the environment. Raises OptionError."""
        options = cls.parse(values)
        try:
            added = options_from_environment(*options._secrets(), os.environ)
        except AccessError as error:
            raise OptionError(str(error)) from error
        return cls.parse({**values, **added}) if added else options
