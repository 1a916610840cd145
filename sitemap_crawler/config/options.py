"""The one typed model of all options.

The command line, the `SITEMAP_*` settings, the TOML site file and the README's table of options derive from it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sitemap_crawler.config.credentials import Access, of_environment, take_url_credentials
from sitemap_crawler.config.option_errors import check_names
from sitemap_crawler.config.types import (
    Format,
    Formats,
    HeaderLines,
    Login,
    MediaTypes,
    NewsLanguage,
    Patterns,
    PlainText,
    PublicUrl,
    PublicUrls,
    SectionRules,
    StateLocation,
    TextPath,
    Words,
)
from sitemap_crawler.exceptions import AccessError, OptionError, ScopeError
from sitemap_crawler.sitemap.limits import MAX_BYTES, MAX_URLS
from sitemap_crawler.sitemap.names import entry_name
from sitemap_crawler.urls.normalise import TRACKING_PARAMETERS, last_segment, origin_of
from sitemap_crawler.urls.public_address import PublicAddress
from sitemap_crawler.urls.scope import DomainScope, Scope, default_sitemap_url, scope_for

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTING_PREFIX = "SITEMAP_"
MIN_SHARD_BYTES = 10_000
MAX_RUNS = 1_000_000
"""Of settings that count runs: more than a million nights."""
_ADDRESSES = frozenset(("start_url", "sitemap_url", "public_url", "seed_sitemap", "state"))
WRITING_ONLY = frozenset(("allow_shrink", "dry_run", "report"))
"""Options of a writing, beside those that the inventory remembers."""


@dataclass(frozen=True, slots=True)
class Flag:
    """How an option appears outside the model."""

    setting: str | None = None
    """The Scrapy setting that carries it, where Scrapy has one."""
    metavar: str = ""
    short: str | None = None
    cli: bool = True
    """Whether the command line has it; the others are settings and site file keys only."""
    remembered: bool = False
    """Whether it shapes decisions or files, so that the inventory remembers it for `write`."""
    crawling: bool = False
    """Whether it shapes what a crawl finds, so that a run which goes on with another value says so."""
    secret: bool = False
    """Whether no message may repeat it, and nothing remember it."""


class Options(BaseModel):
    """What a run is asked to do; frozen, and checked before the first request."""

    # What --help and other commands need of it is there without its validator.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    start_url: Annotated[
        PublicUrl, Flag(metavar="URL", cli=False, remembered=True), Field(description="the page where the crawl starts")
    ]
    output: Annotated[
        TextPath,
        Flag(metavar="DIR", short="-o", remembered=True),
        Field(description="where the sitemap files are written"),
    ] = Path("sitemaps")
    sitemap_url: Annotated[
        PublicUrl | None,
        Flag(metavar="URL", remembered=True),
        Field(
            description="public URL of the entry file: its directory is the scope, its last segment the file's name; "
            "default: sitemap.xml in START_URL's directory"
        ),
    ] = None
    public_url: Annotated[
        PublicUrl | None,
        Flag(metavar="URL", crawling=True),
        Field(
            description="write URLs as if START_URL's directory were this one, to crawl a preview and publish for the "
            "live site; default: as crawled"
        ),
    ] = None
    state: Annotated[
        StateLocation | None,
        Flag(metavar="PATH"),
        Field(
            description="inventory and crawl state, an SQLite file; default: one file per site in the user state dir"
        ),
    ] = None
    include: Annotated[
        Patterns,
        Flag(metavar="RE", remembered=True),
        Field(
            description="list only URLs in which this regular expression is found (repeatable: any of them); "
            "the others are fetched for their links"
        ),
    ] = ()
    exclude: Annotated[
        Patterns,
        Flag(metavar="RE", remembered=True),
        Field(description="neither fetch nor list URLs in which this regular expression is found (repeatable)"),
    ] = ()
    exclude_listing: Annotated[
        Patterns,
        Flag(metavar="RE", remembered=True),
        Field(description="fetch URLs in which this regular expression is found for their links, but don't list them"),
    ] = ()
    seed_sitemap: Annotated[
        PublicUrls,
        Flag(metavar="URL", crawling=True),
        Field(description="also crawl what this sitemap names, as for those that robots.txt names (repeatable)"),
    ] = ()
    follow_nofollow: Annotated[
        bool, Flag(crawling=True), Field(description="follow links that are rel=nofollow, and those of nofollow pages")
    ] = False
    max_pages: Annotated[
        int | None, Flag(metavar="N"), Field(ge=1, le=2**40, description="end the run after N fetched URLs")
    ] = None
    max_depth: Annotated[
        int | None,
        Flag(metavar="N", remembered=True),
        Field(ge=0, le=2**40, description="fetch only URLs at most N clicks from the start page"),
    ] = None
    subdomains: Annotated[
        bool,
        Flag(remembered=True),
        Field(description="crawl all hosts of START_URL's domain, and write a sitemap set for each, in OUTPUT/HOST"),
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
            description="write a news sitemap of the articles of the last two days, with this name as the publication's"
        ),
    ] = None
    news_language: Annotated[
        NewsLanguage | None,
        Flag(metavar="CODE", remembered=True),
        Field(description="the language of articles that do not say theirs, such as en"),
    ] = None
    format: Annotated[
        Formats,
        Flag(metavar="FORMAT", remembered=True),
        Field(description="write xml, txt, rss or atom (repeatable)"),
    ] = (Format.XML,)
    section: Annotated[
        SectionRules,
        Flag(metavar="NAME=RE", remembered=True),
        Field(
            description="give the pages in whose URL this regular expression is found sitemaps of their own, "
            "sitemap-NAME-1.xml and so on (repeatable: the first that matches)"
        ),
    ] = ()
    by_directory: Annotated[
        bool, Flag(remembered=True), Field(description="give the pages of each first directory sitemaps of their own")
    ] = False
    media_files: Annotated[
        bool, Flag(remembered=True), Field(description="write images and videos to sitemaps of their own")
    ] = False
    changefreq: Annotated[
        bool,
        Flag(remembered=True),
        Field(description="write changefreq, from the changes seen or the age of each page"),
    ] = False
    priority: Annotated[
        bool, Flag(remembered=True), Field(description="write priority, from the clicks and the links to each page")
    ] = False
    max_urls: Annotated[
        int, Flag(metavar="N", remembered=True), Field(ge=1, le=MAX_URLS, description="entries per file at most")
    ] = MAX_URLS
    max_bytes: Annotated[
        int,
        Flag(metavar="N", remembered=True),
        Field(ge=MIN_SHARD_BYTES, le=MAX_BYTES, description="uncompressed bytes per file at most, 10000 at least"),
    ] = MAX_BYTES
    gzip: Annotated[bool, Flag(remembered=True), Field(description="compress the shards of an index (.xml.gz)")] = False
    concurrency: Annotated[
        int,
        Flag(setting="CONCURRENT_REQUESTS", metavar="N"),
        Field(ge=1, le=1000, description="requests in flight at most, in total and per host"),
    ] = 8
    delay: Annotated[
        float,
        Flag(setting="DOWNLOAD_DELAY", metavar="SECONDS"),
        Field(ge=0, le=3600, description="seconds between two requests to a host at least"),
    ] = 0.0
    workers: Annotated[
        int | None,
        Flag(metavar="N"),
        Field(
            ge=0,
            le=64,
            description="processes that read pages beside the one that crawls; default: as many as there are "
            "processors, 4 at most; none where there is but one, with a delay, and elsewhere than on Linux",
        ),
    ] = None
    random_delay: Annotated[
        float,
        Flag(metavar="SECONDS"),
        Field(ge=0, le=86_400, description="wait a random time before the first request, so many seconds at most"),
    ] = 0.0
    adaptive: Annotated[
        bool | None,
        Flag(),
        Field(
            description="begin with two requests in flight, and have more up to the concurrency while the site answers "
            "as fast as ever; default: for all hosts but this machine"
        ),
    ] = None
    user_agent: Annotated[
        PlainText | None,
        Flag(setting="USER_AGENT", metavar="TEXT", crawling=True),
        Field(description="the User-Agent header; its first name, or the one after compatible; counts in robots.txt"),
    ] = None
    header: Annotated[
        HeaderLines,
        Flag(metavar="'NAME: VALUE'", secret=True),
        Field(
            description="send this header, such as Authorization or Cookie, with requests to the start URL's host, and "
            "to no other (repeatable); also from SITEMAP_CRAWLER_HEADERS, one a line"
        ),
    ] = ()
    auth: Annotated[
        Login | None,
        Flag(metavar="USER:PASSWORD", secret=True),
        Field(
            description="log in by HTTP basic authentication at the start URL's host, and at no other; also from "
            "SITEMAP_CRAWLER_AUTH"
        ),
    ] = None
    client_certificate: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="PEM file of the client certificate for the start URL's host, and for no other"),
    ] = None
    client_key: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="PEM file of its private key; default: it is in the certificate's file"),
    ] = None
    ca_file: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="PEM file of certificate authorities that are trusted beside the system's"),
    ] = None
    full: Annotated[bool, Flag(), Field(description="download everything again, ask for nothing conditionally")] = False
    fresh: Annotated[bool, Flag(), Field(description="drop an unfinished run and start anew")] = False
    allow_shrink: Annotated[bool, Flag(), Field(description="publish even when the shrink guard would refuse")] = False
    dry_run: Annotated[bool, Flag(), Field(description="decide and report, publish nothing")] = False
    report: Annotated[TextPath | None, Flag(metavar="FILE"), Field(description="write a JSON report of the run")] = None
    status: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(description="keep a JSON file that says how far the run is, replaced every few seconds"),
    ] = None
    progress: Annotated[bool | None, Flag(), Field(description="show a progress line; default: on a terminal")] = None
    quiet: Annotated[bool, Flag(short="-q"), Field(description="print errors only")] = False
    log_file: Annotated[
        Path | None,
        Flag(setting="LOG_FILE", metavar="FILE"),
        Field(description="append the log to a file instead of standard error"),
    ] = None
    max_crawl_delay: Annotated[
        float,
        Flag(cli=False),
        Field(ge=0, le=3600, description="seconds of a Crawl-delay in robots.txt that are kept at most"),
    ] = 30.0
    max_back_off: Annotated[
        float,
        Flag(cli=False),
        Field(ge=0, le=3600, description="seconds between two requests to a host that is overloaded, at most"),
    ] = 60.0
    max_retry_after: Annotated[
        float,
        Flag(cli=False),
        Field(
            ge=0,
            le=86_400,
            description="seconds that a run waits when a host asks for it; for longer, the run is to be continued",
        ),
    ] = 600.0
    max_outage: Annotated[
        float,
        Flag(cli=False),
        Field(
            ge=0,
            le=86_400,
            description="seconds for which a host may be overloaded or away before the run ends, to be continued",
        ),
    ] = 120.0
    content_types: Annotated[
        MediaTypes,
        Flag(cli=False, remembered=True),
        Field(description="content types that count as pages"),
    ] = ("text/html", "application/xhtml+xml")
    tracking_parameters: Annotated[
        Words,
        Flag(cli=False, remembered=True),
        Field(description="parameters (?name= and ;name=) removed from every URL; a trailing * matches any ending"),
    ] = TRACKING_PARAMETERS
    other_hosts: Annotated[
        bool, Flag(cli=False, remembered=True), Field(description="list images of other hosts than the page's, too")
    ] = True
    template_images: Annotated[
        bool,
        Flag(cli=False, remembered=True),
        Field(description="list the images that nine of ten pages have, too"),
    ] = False
    image_texts: Annotated[
        bool,
        Flag(cli=False, remembered=True),
        Field(description="write title and caption of images, which search engines ignore since 2022"),
    ] = False
    max_shrink: Annotated[
        float,
        Flag(cli=False, remembered=True),
        Field(
            ge=0,
            le=1,
            description="share of the published pages that may go missing before publishing is refused;"
            " a set of fewer than 20 pages may shrink as it likes",
        ),
    ] = 0.3
    keep_errors: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(
            ge=0, le=MAX_RUNS, description="finished runs for which a listed page stays listed while its server fails"
        ),
    ] = 7
    trap_budget: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(
            ge=0,
            le=2**40,
            description="URLs with three or more parameters that a place may have when these multiply; "
            "0: nothing is taken for a trap",
        ),
    ] = 5_000
    no_traps: Annotated[
        Patterns,
        Flag(cli=False, remembered=True),
        Field(description="never take URLs for a trap in which one of these regular expressions is found"),
    ] = ()
    orphan_runs: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(
            ge=1,
            le=MAX_RUNS,
            description="finished runs in which nothing leads to a page before it counts as an orphan",
        ),
    ] = 2
    revisit_excluded: Annotated[
        int,
        Flag(cli=False),
        Field(
            ge=1,
            le=MAX_RUNS,
            description="ask only every so many runs for what was excluded for the same reason three times",
        ),
    ] = 7
    keep_runs: Annotated[
        int,
        Flag(cli=False, remembered=True),
        Field(ge=1, le=MAX_RUNS, description="newest runs of which it is kept what they changed, for diff"),
    ] = 100
    max_body: Annotated[
        int,
        Flag(cli=False, crawling=True),
        Field(ge=1_000, le=2**40, description="bytes read of a body at most, uncompressed"),
    ] = 15_000_000

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, values: dict[str, Any]) -> dict[str, Any]:
        return take_url_credentials(values)

    @model_validator(mode="after")
    def _start_within_scope(self) -> Options:
        if self.public_url and "?" in self.public_url:
            raise ValueError(f"public_url {self.public_url} has a query: give the address of a directory")
        _ = self.access
        if self.client_key is not None and self.client_certificate is None:
            raise ValueError("client_key is given without client_certificate: give the certificate, too")
        entry_name(self.entry_url)
        address = self.address_from(self.start_url)
        scope = scope_for(address.published(self.start_url) if address else self.start_url, self.sitemap_url)
        if address and not scope.prefix.startswith(address.published_at):
            remedy = f"give {address.published_at}{entry_name(self.entry_url)}"
            raise ValueError(f"sitemap_url {self.sitemap_url} is above what START_URL is the preview of: {remedy}")
        if self.subdomains:
            self._check_subdomains(scope)
        return self

    def _check_subdomains(self, scope: Scope) -> None:
        if self.public_url:
            raise ValueError("public_url and subdomains exclude each other: leave one out")
        if self.sitemap_url and scope.prefix != f"{scope.origin}/":
            remedy = f"give {scope.origin}/{entry_name(self.sitemap_url)}"
            raise ValueError(
                f"sitemap_url {self.sitemap_url} is in a directory, subdomains lists whole hosts: {remedy}"
            )
        DomainScope(f"{scope.origin}/")

    def address_from(self, start_url: str) -> PublicAddress | None:
        """The two addresses of the site that is crawled from there, where the public one is another."""
        return PublicAddress.of(start_url, self.public_url) if self.public_url else None

    @property
    def entry_url(self) -> str:
        """The public URL of the entry file."""
        return self.sitemap_url or self.default_entry_url(self.start_url)

    def default_entry_url(self, start_url: str) -> str:
        """Of a site that is crawled from this URL."""
        address = self.address_from(start_url)
        url = default_sitemap_url(address.published(start_url) if address else start_url)
        return f"{origin_of(url)}/{last_segment(url)}" if self.subdomains else url

    @property
    def site_url(self) -> str:
        """What tells the site from others: its sitemap's URL, where the site is crawled."""
        return default_sitemap_url(self.start_url) if self.public_url else self.entry_url

    @property
    def access(self) -> Access | None:
        """The headers that requests to the site carry, if any."""
        return Access.of(*self._secrets())

    def _secrets(self) -> tuple[list[str], str | None]:
        """The header lines, and user and password."""
        auth = None if self.auth is None else self.auth.get_secret_value()
        return [line.get_secret_value() for line in self.header], auth

    @classmethod
    def writing(cls) -> frozenset[str]:
        """The options that `write` takes: those that shape decisions and files, and those about the writing itself."""
        return frozenset(name for name in cls.model_fields if cls.flag(name).remembered or name in WRITING_ONLY)

    def remembered(self) -> dict[str, Any]:
        """What the inventory remembers, as JSON values: enough to decide and to write again."""
        names = {name for name, flag in self.flags().items() if flag.remembered or flag.crawling}
        values = self.model_dump(mode="json", include=names, exclude_none=True)
        # `write` may be given from another directory.
        return {**values, "output": str(self.output.absolute())}

    @classmethod
    def flags(cls) -> dict[str, Flag]:
        return {name: cls.flag(name) for name in cls.model_fields}

    @classmethod
    def flag(cls, name: str) -> Flag:
        return next(item for item in cls.model_fields[name].metadata if isinstance(item, Flag))

    @classmethod
    def setting(cls, name: str) -> str:
        """The setting that carries the option `name`."""
        return cls.flag(name).setting or SETTING_PREFIX + name.upper()

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Options:
        """Check `values` by option name. Raises OptionError with the first thing that is wrong."""
        check_names(values, cls.model_fields, kind="option")
        for name, value in values.items():
            # True counts as 1 in Python, and as a mistake here.
            if isinstance(value, bool) and cls.model_fields[name].annotation not in (bool, bool | None):
                raise OptionError(f"bad value {value} for {name}: it is no switch")
        try:
            return cls.model_validate(dict(values))
        except ScopeError as error:
            raise OptionError(str(error)) from error
        except ValidationError as error:
            raise OptionError(_first_problem(error)) from error

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Options:
        """The options that Scrapy settings carry, and what the environment adds; `settings` maps names to values."""
        known = {cls.setting(name): name for name in cls.model_fields}
        ours = {name for name in settings if name.startswith(SETTING_PREFIX)}
        check_names(ours, known, kind="setting")
        values = {known[name]: settings[name] for name in known if settings.get(name) is not None}
        options = cls.parse(values)
        try:
            added = of_environment(*options._secrets(), os.environ)
        except AccessError as error:
            raise OptionError(str(error)) from error
        return cls.parse({**values, **added}) if added else options


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    message = problem["msg"].removeprefix("Value error, ")
    if not problem["loc"]:
        return message
    name = str(problem["loc"][0])
    if problem["type"] == "missing":
        return f"{name} is missing: give the URL of the page where the crawl starts"
    if isinstance(problem["input"], (list, tuple)) or Options.flag(name).secret:
        return f"{name}: {message}"
    # What may be a user and a password in a URL is not repeated.
    value = str(problem["input"])
    if name in _ADDRESSES:
        value = re.sub(r"^(https?:[/\\]*)?.*@", r"\1…@", value, flags=re.IGNORECASE | re.DOTALL)
    shown = value if len(value) <= 200 else value[:200] + "…"
    return f"bad value {shown!r} for {name}: {message}"
