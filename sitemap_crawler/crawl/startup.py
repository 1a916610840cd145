"""The start of a crawl: settings are collected and checked once, and become the options and the job.

Both ways in end here: the command line, and spider arguments (`scrapy crawl`, Scrapyd).
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from scrapy.settings import SETTINGS_PRIORITIES, Settings, default_settings

from sitemap_crawler.config.model import SETTING_PREFIX
from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_paths
from sitemap_crawler.config.sources import apply_options, naming_site_file, read_site_file, settings_module
from sitemap_crawler.config.types import RenderMode, check_names
from sitemap_crawler.crawl.download.tls import check_network
from sitemap_crawler.crawl.extensions.status import write_failure_report
from sitemap_crawler.crawl.job import Job, open_job
from sitemap_crawler.crawl.log import quieten_asyncio
from sitemap_crawler.crawl.run import readers_of
from sitemap_crawler.exceptions import USAGE, InputError, OptionError, SitemapCrawlerError
from sitemap_crawler.inventory.location import state_location
from sitemap_crawler.report.report import Report
from sitemap_crawler.report.unstarted import write_unstarted
from sitemap_crawler.utils.shortage import (
    MIN_START_DESCRIPTORS,
    ShortageError,
    lacking_descriptors,
    shortage_error_of,
)
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler

    from sitemap_crawler.config.state_location import StateLocation

logger = logging.getLogger(__name__)

POSITIVE_NUMBERS = ("DOWNLOAD_TIMEOUT", "DOWNLOAD_MAXSIZE", "CONCURRENT_REQUESTS_PER_DOMAIN", "CONCURRENT_ITEMS")
"""Settings of Scrapy that Scrapy reads only with the first request, or that stop a crawl when they are 0."""
UNSTARTED_OPTIONS = ("start_url", "sitemap_url", "report")
"""Options that the report of a crawl that cannot begin needs."""
SWITCHES = ("ROBOTSTXT_OBEY", "DOWNLOAD_VERIFY_CERTIFICATES", "COOKIES_ENABLED", "RETRY_ENABLED", "HTTPPROXY_ENABLED")
"""Settings of Scrapy that are true or false."""


class Start(NamedTuple):
    """Checked settings of one crawl, and the options read from them."""

    settings: Settings
    options: Options


def start_of_command(
    values: Mapping[str, Any], *, site_file: Path | None, scrapy_settings: Mapping[str, str], verbosity: int
) -> Start:
    """Collect and check the settings of a command: the profile, the site file, `-s`, and the options in `values`.

    A later source wins over an earlier one. `verbosity` is the number of times that -v was given. Raises OptionError.
    """
    settings = Settings()
    settings.setmodule(settings_module(), priority="project")
    known = [name for name in settings if name.isupper()]
    file_values: dict[str, Any] = {}
    if site_file is not None:
        file_values, file_settings = read_site_file(site_file)
        _set_known(settings, file_settings, known, priority="project")
        apply_options(settings, file_values, priority="project")
    _set_known(settings, scrapy_settings, known, priority="cmdline")
    apply_options(settings, values, priority="cmdline")
    given = {name for name in Options.model_fields if name in values or Options.setting(name) in scrapy_settings}
    with naming_site_file(site_file, file_values, given=given):
        options = Options.from_settings(settings)
    wanted = options.progress if options.progress is not None else verbosity == 0 and not options.quiet
    options = options.model_copy(update={"progress": wanted and sys.stderr.isatty()})
    # -q and -v win over the LOG_LEVEL of a profile or site file, but not over -s LOG_LEVEL.
    is_chosen = (settings.getpriority("LOG_LEVEL") or 0) > SETTINGS_PRIORITIES["default"]
    if "LOG_LEVEL" not in scrapy_settings and (not is_chosen or verbosity or "quiet" in values):
        settings.set("LOG_LEVEL", _log_level(options, verbosity), priority="cmdline")
    _check(settings, options, site_file=site_file)
    return Start(settings, options)


def start_of_spider(settings: Settings, arguments: Mapping[str, Any]) -> Start:
    """Add spider arguments to the settings of a crawler, and check both. Raises OptionError."""
    _check_given(settings)
    apply_options(settings, spider_arguments(arguments), priority="cmdline")
    options = Options.from_settings(settings)
    if options.processes > 1:
        remedy = f"run {options.processes} jobs, all but one of them with join=1"
        raise OptionError(f"processes {options.processes}: a job is one process: {remedy}", option="processes")
    _check(settings, options, site_file=None)
    return Start(settings, options)


def begin(start: Start) -> Job | Report:
    """Open the job of a crawl.

    If the crawl cannot begin, return the report of the failure. It has replaced the report file of an earlier run.
    Raises InputError.
    """
    settings, options = start
    try:
        if (shortage := lacking_descriptors(MIN_START_DESCRIPTORS)) is not None:
            raise ShortageError(shortage)
        readers = readers_of(settings.getwithbase("ITEM_PIPELINES"), options)
        if options.join:
            from sitemap_crawler.crawl.join import open_helper_job

            return open_helper_job(options, readers=readers)
        return open_job(options, readers=readers)
    except Exception as error:
        known = shortage_error_of(error)
        if isinstance(known, InputError) or not isinstance(known, SitemapCrawlerError):
            raise
        return write_failure_report(options, code=known.exit_code, message=str(known))


def job_or_exit(crawler: Crawler, arguments: Mapping[str, Any]) -> Job:
    """Return the job for a crawler and its spider arguments.

    If the crawl cannot begin, log one line and raise SystemExit with the exit code: Scrapy has no other way to end
    without a traceback.
    """
    try:
        start = start_of_spider(crawler.settings, arguments)
        _warn_of_working_directory(start.options, arguments)
        begun = begin(start)
    except InputError as error:
        known = {**{name: crawler.settings.get(Options.setting(name)) for name in UNSTARTED_OPTIONS}, **arguments}
        known["start_url"] = arguments.get("url") or known["start_url"]
        write_unstarted(known, error, code=error.exit_code)
        _exit(USAGE, "not started", str(error))
    if isinstance(begun, Report):
        _exit(begun.exit_code, str(begun.outcome), begun.message)
    return begun


def spider_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return spider arguments by option name. The argument `url` is the start URL; Scrapyd's own begin with `_`.

    Raises OptionError for any other name.
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


def _set_known(settings: Settings, values: Mapping[str, Any], known: Iterable[str], *, priority: str) -> None:
    """Set Scrapy settings. Raises OptionError for a name that is neither `known` nor the setting of an option."""
    options = [Options.setting(name) for name in Options.model_fields]
    check_names(values, [*known, *options], kind="setting", meant=Options.meant_settings())
    settings.update(dict(values), priority=priority)


def _log_level(options: Options, verbosity: int) -> str:
    if verbosity:
        return "DEBUG" if verbosity > 1 else "INFO"
    if options.log_file is not None:
        # A file disturbs nobody on the terminal, so it may be complete.
        return "INFO"
    if options.quiet:
        return "ERROR"
    return "WARNING" if options.progress else "INFO"


def _check(settings: Settings, options: Options, *, site_file: Path | None) -> None:
    """Check everything that would fail only after the first request. Raises OptionError."""
    _check_values(settings)
    state = state_location(options)
    _check_processes(options, state)
    check_paths(options, state=state, config=site_file)
    check_network(options, proxies=settings.getbool("HTTPPROXY_ENABLED"))
    if options.render is not RenderMode.NEVER:
        from sitemap_crawler.crawl.rendering.browser import check_browser

        check_browser(options)


def _check_processes(options: Options, state: StateLocation) -> None:
    if options.processes > 1 and isinstance(state, Path):
        raise OptionError(
            f"processes {options.processes}: processes cannot share the inventory {state}, which is a file: give "
            "--state postgresql://USER@HOST/DB, or leave processes out",
            option="processes",
        )


def _check_given(settings: Settings) -> None:
    """Raise OptionError for a setting of the command line, or of a job on Scrapyd, that does not exist."""
    given = {name for name in settings if (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]}
    known = {name for name in dir(default_settings) if name.isupper()} | (set(settings) - given)
    known |= {Options.setting(name) for name in Options.model_fields}
    otherwise = "neither Scrapy nor sitemap-crawler has it"
    check_names(sorted(given), sorted(known), kind="setting", otherwise=otherwise, meant=Options.meant_settings())


def _check_values(settings: Settings) -> None:
    for name in POSITIVE_NUMBERS:
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


def _exit(code: int, outcome: str, message: str) -> NoReturn:
    logger.error("%s: %s", outcome, printable(message))
    quieten_asyncio()
    raise SystemExit(code)
