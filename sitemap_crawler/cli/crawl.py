"""The commands that write sitemaps: crawl and write. Heavy modules are imported only when a command runs."""

from __future__ import annotations

import contextlib
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.common import (
    given_options,
    inventory_options,
    model_options,
    name_and_value,
    one_line,
    print_outcome,
)
from sitemap_crawler.config.options import Options
from sitemap_crawler.exceptions import FAILED, USAGE, OptionError, SitemapCrawlerError
from sitemap_crawler.utils.shortage import shortage_error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

logger = logging.getLogger(__name__)


class RunCommand(click.Command):
    """A command with a report. If it ends before a run begins, also at a wrong option, its report says so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            lenient = {"resilient_parsing": True, "ignore_unknown_options": True, "allow_extra_args": True}
            readable = click.Context(self, ctx.parent, ctx.info_name, **lenient)  # type: ignore[arg-type]
            with contextlib.suppress(click.ClickException):
                super().parse_args(readable, given)
                _write_unstarted(readable.params, click.ClickException(one_line(error)), code=USAGE)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            _write_unstarted(ctx.params, click.ClickException(one_line(error)), code=USAGE)
            raise
        except Exception as error:
            known = shortage_error_of(error)
            if isinstance(known, SitemapCrawlerError):
                _write_unstarted(ctx.params, known, code=known.exit_code)
            raise


def _write_unstarted(params: Mapping[str, Any], error: Exception, *, code: int) -> None:
    """Write the report of a command that ended with an error before a run began; for several sites, of each site."""
    from sitemap_crawler.report.unstarted import REPORT_SETTING, site_file_values, write_unstarted

    configs = params.get("configs") or ([params["config"]] if params.get("config") else [])
    given = given_options({name: params.get(name) for name in ("start_url", "sitemap_url", "report")})
    settings = dict(text.partition("=")[::2] for text in params.get("settings") or ())
    if REPORT_SETTING in settings:
        given.setdefault("report", settings[REPORT_SETTING])
    if len(configs) < 2 and not any(path.is_dir() for path in configs):
        write_unstarted({**site_file_values(next(iter(configs), None)), **given}, error, code=code)
        return
    from sitemap_crawler.config.sources import find_site_files

    write_unstarted(given, error, code=code, sites=True)
    with contextlib.suppress(SitemapCrawlerError):
        for file in find_site_files(configs):
            write_unstarted(site_file_values(file), error, code=code)


@click.command(cls=RunCommand)
@click.argument("start_url", required=False)
@click.option(
    "--config",
    "configs",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    multiple=True,
    help="TOML site file; these options win over it; several, or a directory of them: all these sites",
)
@click.option(
    "--parallel", metavar="N", type=click.IntRange(1, 100), default=1, help="crawl N sites at a time  [default: 1]"
)
@model_options
@click.option("-v", "--verbose", count=True, help="log more; twice for every request")
@click.option("-s", "settings", metavar="NAME=VALUE", multiple=True, help="any Scrapy setting")
@click.option("--json", "as_json", is_flag=True, help="print the report as JSON instead of the summary")
def crawl(
    configs: tuple[Path, ...], *, parallel: int, verbose: int, settings: tuple[str, ...], as_json: bool, **values: Any
) -> int:
    """Crawl the site, decide, write its sitemap; continues an unfinished run by itself."""
    given = given_options(values)
    scrapy_settings = dict(name_and_value(text) for text in settings)
    if len(configs) > 1 or any(path.is_dir() for path in configs):
        from sitemap_crawler.cli.sites.command import crawl_sites

        return crawl_sites(configs, given, scrapy_settings, parallel=parallel, verbosity=verbose, as_json=as_json)
    config = configs[0] if configs else None
    return _crawl_site(config, given, scrapy_settings, verbosity=verbose, as_json=as_json)


def _crawl_site(
    config: Path | None, given: dict[str, Any], scrapy_settings: dict[str, str], *, verbosity: int, as_json: bool
) -> int:
    from sitemap_crawler.crawl.runner import run_crawl
    from sitemap_crawler.crawl.startup import start_of_command

    start = start_of_command(given, site_file=config, scrapy_settings=scrapy_settings, verbosity=verbosity)
    report = run_crawl(start, verbosity=verbosity)
    return print_outcome(report, quiet=start.options.quiet, as_json=as_json)


@click.command(hidden=True)
def helper() -> int:
    """Help the crawl that started this process with --processes, and that gives the settings as standard input."""
    from sitemap_crawler.crawl.helpers import read_start
    from sitemap_crawler.crawl.runner import run_crawl

    start, verbosity = read_start(sys.stdin.buffer)
    report = run_crawl(start, verbosity=verbosity)
    if report.exit_code == FAILED:
        # The main process, whose crawl goes on, does not know why.
        logger.error("a helper process has failed: %s", report.message)
    return report.exit_code


def _writing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    return model_options(command, only=Options.write_options(), remembered=True)


@click.command(cls=RunCommand)
@click.argument("start_url", required=False)
@inventory_options
@_writing_options
@click.option(
    "--trust-supplied",
    is_flag=True,
    help="write a set of the pages that --urls lists, without asking the site: the list is the truth",
)
@click.option("--urls", metavar="FILE|-", multiple=True, help="list for --trust-supplied (repeatable)")
@click.option("--urls-columns", metavar="NAME=COLUMN,…", multiple=True, help="names of the columns of --urls")
@click.option("-q", "--quiet", is_flag=True, help="print errors only")
def write(
    start_url: str | None, state: str | None, config: Path | None, *, trust_supplied: bool, quiet: bool, **values: Any
) -> int:
    """Decide and write again from the inventory, by the options that it remembers and those given; no crawl."""
    from sitemap_crawler.inventory.location import find_inventory_to_write, site_file_of
    from sitemap_crawler.publish.conclude import write as write_again
    from sitemap_crawler.utils.runtime import Phase, set_garbage_collection

    # Without it the reference cycles of a million rows, and of the reports of many hosts, take more than 100 MB.
    set_garbage_collection(Phase.WORK)
    given = given_options(values)
    if trust_supplied:
        return _write_supplied(given_options({"start_url": start_url, "state": state, **given}), config, quiet=quiet)
    if "urls" in given or "urls_columns" in given:
        raise OptionError("write asks no server: give --trust-supplied with --urls, or crawl with --urls")
    if state is None and config is not None:
        config = site_file_of(config, start_url)
    path = find_inventory_to_write(state=state, config=config, start_url=start_url)
    report = write_again(path, given, config=config)
    return print_outcome(report, quiet=quiet)


def _write_supplied(given: dict[str, Any], config: Path | None, *, quiet: bool) -> int:
    from sitemap_crawler.config.sources import read_site_file
    from sitemap_crawler.publish.supplied import write_supplied

    values = {**(read_site_file(config)[0] if config is not None else {}), **given}
    if not values.get("urls"):
        raise OptionError("--trust-supplied writes what a list names: give --urls FILE, or --urls -")
    return print_outcome(write_supplied(values, config=config), quiet=quiet)
