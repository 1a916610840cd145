"""The way in for `scrapy crawl` and Scrapyd: settings and spider arguments become a job, or one line in the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from sitemap_crawler.config.option_errors import check_names
from sitemap_crawler.config.options import SETTING_PREFIX, Options
from sitemap_crawler.config.paths import check_places
from sitemap_crawler.config.sources import apply_options
from sitemap_crawler.crawl.download.tls import check_network
from sitemap_crawler.crawl.extensions.status import leave_failure
from sitemap_crawler.crawl.job import Job
from sitemap_crawler.crawl.log import leave_quietly
from sitemap_crawler.crawl.readers import readers_of
from sitemap_crawler.exceptions import InputError, OptionError, SitemapCrawlerError
from sitemap_crawler.inventory.location import state_path
from sitemap_crawler.report.report import EXIT_CODES
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

SWITCHES = ("ROBOTSTXT_OBEY", "DOWNLOAD_VERIFY_CERTIFICATES", "COOKIES_ENABLED", "RETRY_ENABLED", "HTTPPROXY_ENABLED")


def job_or_exit(crawler: Crawler, arguments: Mapping[str, Any]) -> Job:
    """Raises SystemExit with the exit code of the contract: Scrapy has no other way to end without a traceback."""
    options = None
    try:
        options = _options(crawler.settings, arguments)
        _warn_of_working_directory(options, arguments)
        return Job(options, readers=readers_of(crawler.settings.getwithbase("ITEM_PIPELINES"), options))
    except SitemapCrawlerError as error:
        _exit(error, options)


def _options(settings: BaseSettings, arguments: Mapping[str, Any]) -> Options:
    _check_given(settings)
    apply_options(settings, spider_arguments(arguments), priority="cmdline")
    options = Options.from_settings(settings)
    check_numbers(settings)
    check_places(options, state=state_path(options), config=None)
    check_network(options, proxies=settings.getbool("HTTPPROXY_ENABLED"))
    return options


def spider_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Spider arguments by option name: `url` is the start URL, Scrapyd's own begin with an underscore.

    Raises OptionError for a name that is neither.
    """
    values = {name: value for name, value in arguments.items() if not name.startswith("_")}
    for name in values:
        if name.startswith(SETTING_PREFIX) or hasattr(default_settings, name):
            raise OptionError(f"{name} is no spider argument: give it as setting={name}=…")
    otherwise = "the arguments are url and the options, as max_pages"
    check_names(values, ["url", *Options.model_fields], kind="spider argument", otherwise=otherwise)
    if "url" in values:
        if "start_url" in values:
            raise OptionError("url and start_url are the same argument: give one of them")
        values["start_url"] = values.pop("url")
    return values


def _check_given(settings: BaseSettings) -> None:
    """Settings of the command line, or of a job on Scrapyd, that nobody reads."""
    given = {name for name in settings if (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]}
    known = {name for name in dir(default_settings) if name.isupper()} | (set(settings) - given)
    known |= {Options.setting(name) for name in Options.model_fields}
    check_names(sorted(given), sorted(known), kind="setting", otherwise="neither Scrapy nor sitemap-crawler has it")


def check_numbers(settings: BaseSettings) -> None:
    """Scrapy's settings that are only looked at when the first request is made, or that would stop everything."""
    for name in ("DOWNLOAD_TIMEOUT", "DOWNLOAD_MAXSIZE", "CONCURRENT_REQUESTS_PER_DOMAIN", "CONCURRENT_ITEMS"):
        try:
            usable = settings.getfloat(name) > 0
        except (ValueError, TypeError):
            usable = False
        if not usable:
            raise OptionError(f"bad value {settings[name]!r} for setting {name}: give a number above 0")
    for name in SWITCHES:
        try:
            settings.getbool(name)
        except ValueError:
            raise OptionError(f"bad value {settings[name]!r} for setting {name}: give 0 or 1") from None


def _warn_of_working_directory(options: Options, arguments: Mapping[str, Any]) -> None:
    if "_job" in arguments and not options.output.is_absolute():
        logger.warning(
            "the files go to %s, below Scrapyd's working directory: give each site a directory of its own, as "
            "setting=SITEMAP_OUTPUT=/absolute/path",
            options.output.absolute(),
        )


def _exit(error: SitemapCrawlerError, options: Options | None) -> NoReturn:
    """Log the error like the outcome of a run, replace the report of an earlier run, and raise SystemExit."""
    code, message = error.exit_code, str(error)
    outcome = next((str(outcome) for outcome, exit_code in EXIT_CODES.items() if exit_code == code), "not started")
    logger.error("%s: %s", outcome, printable(message))
    if options is not None and not isinstance(error, InputError):
        leave_failure(options, code=code, message=message)
    leave_quietly()
    raise SystemExit(code)
