"""The command line. Its options derive from the model in options.py; nothing heavy is imported before it is needed."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler import __version__
from sitemap_crawler.cli.history import diff, runs
from sitemap_crawler.cli.inventory import explain, inventory_options, pages
from sitemap_crawler.config.options import Options
from sitemap_crawler.exceptions import (
    FAILED,
    INTERRUPTED,
    USAGE,
    OptionError,
    SitemapCrawlerError,
)
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from sitemap_crawler.report.report import Report
    from sitemap_crawler.validation.findings import ValidationReport

PROGRAM = "sitemap-crawler"


def run() -> int:
    """Run the command of `sys.argv`; returns the exit code of the contract, each failure told in one line."""
    try:
        code: int = commands.main(prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.Abort:
        code = _print_error(INTERRUPTED, "interrupted; run the same command to continue")
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = USAGE
    except click.ClickException as error:
        code = _print_error(USAGE, f"{_one_line(error)} ({PROGRAM} --help shows the usage)")
    except SitemapCrawlerError as error:
        code = _print_error(error.exit_code, str(error))
    except OSError as error:
        # Standard output can't take what it was given.
        code = _print_error(FAILED, f"cannot write: {error.strerror or error}")
    return code


def _one_line(error: click.ClickException) -> str:
    return " ".join(error.format_message().split()).rstrip(".")


def _print_error(code: int, message: str) -> int:
    click.echo(f"{PROGRAM}: {message}", err=True)
    return code


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name=PROGRAM)
def commands() -> None:
    """Crawls a web site within the scope of its sitemap and keeps its XML sitemaps true."""


def _model_options(command: Callable[..., Any], *, only: Container[str] | None = None) -> Callable[..., Any]:
    """A command-line option for every field of the model that has one, or for those `only`."""
    for name in reversed(Options.model_fields):
        flag, field = Options.flag(name), Options.model_fields[name]
        if not flag.cli or (only is not None and name not in only):
            continue
        long = "--" + name.replace("_", "-")
        settings: dict[str, Any] = {"help": field.description, "default": None}
        if flag.metavar:
            settings["metavar"] = flag.metavar
            settings["multiple"] = isinstance(field.default, tuple)
            if field.default not in (None, ()):
                shown = ", ".join(field.default) if isinstance(field.default, tuple) else field.default
                settings["help"] += f"  [default: {shown}]"
        elif field.default is False:
            settings["is_flag"] = True
        else:
            long = f"{long}/--no-{name.replace('_', '-')}"
            if field.default is not None:
                settings["help"] += "  [default: on]"
        names = [long, flag.short] if flag.short else [long]
        command = click.option(*names, name, **settings)(command)
    return command


@commands.command()
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
@_model_options
@click.option("-v", "--verbose", count=True, help="log more; twice for every request")
@click.option("-s", "settings", metavar="NAME=VALUE", multiple=True, help="any Scrapy setting")
@click.option("--json", "as_json", is_flag=True, help="print the report as JSON instead of the summary")
def crawl(
    configs: tuple[Path, ...], *, parallel: int, verbose: int, settings: tuple[str, ...], as_json: bool, **values: Any
) -> int:
    """Crawl the site, decide, write its sitemap; continues an unfinished run by itself."""
    given = {name: value for name, value in values.items() if value is not None and value != ()}
    scrapy_settings = dict(_name_and_value(text) for text in settings)
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
    return _print_outcome(report, quiet=start.options.quiet, as_json=as_json)


def _writing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    return _model_options(command, only=Options.write_options())


@commands.command()
@click.argument("start_url", required=False)
@inventory_options
@_writing_options
@click.option("-q", "--quiet", is_flag=True, help="print errors only")
def write(start_url: str | None, state: str | None, config: Path | None, *, quiet: bool, **values: Any) -> int:
    """Decide and write again from the inventory, by the options that it remembers and those given; no crawl."""
    from sitemap_crawler.inventory.location import find_inventory
    from sitemap_crawler.publish.conclude import write as write_again

    given = {name: value for name, value in values.items() if value is not None and value != ()}
    path = find_inventory(state=state, config=config, start_url=start_url)
    report = write_again(path, given, config=config)
    return _print_outcome(report, quiet=quiet)


def _print_outcome(report: Report, *, quiet: bool, as_json: bool = False) -> int:
    # Whoever reads our output may have gone (rich exits then), or its disk be full: what came of the run stays.
    if as_json:
        # Nothing else says what came of it: what can't be written is a failure, as `run` tells.
        click.echo(json.dumps(report.to_json(), indent=2))
        sys.stdout.flush()
    with contextlib.suppress(OSError, SystemExit):
        # A crawl that could not begin has no run, and nothing to summarise.
        if report.run and not (quiet or as_json):
            from sitemap_crawler.cli.summary import print_summary

            print_summary(report)
        if report.exit_code:
            _print_error(report.exit_code, report.message)
        elif not (quiet or as_json):
            click.echo(report.message)
    return report.exit_code


def _name_and_value(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise OptionError(f"-s {text}: write it as NAME=VALUE")
    return name, value


commands.add_command(explain)
commands.add_command(pages)
commands.add_command(runs)
commands.add_command(diff)


@commands.command()
@click.argument("target", metavar="FILE|DIR|URL")
@click.option("--json", "as_json", is_flag=True, help="print the findings as JSON")
def validate(target: str, *, as_json: bool) -> int:
    """Check sitemaps against the protocol: a file, a directory of them, or a URL."""
    from sitemap_crawler.validation.targets import validate as check

    report = check(target)
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        _print_findings(report)
    if report.valid:
        return 0
    return FAILED if as_json else _print_error(FAILED, f"{target} is not valid: mend the errors above")


def _print_findings(report: ValidationReport) -> None:
    for finding in report.findings:
        place = printable(finding.file) + (f":{finding.line}" if finding.line is not None else "")
        url = f" {finding.url}" if finding.url else ""
        click.echo(f"{place}: {finding.severity}: {finding.message} [{finding.rule}]{url}")
    for file in report.files:
        click.echo(f"{printable(file.name)}: {file.kind}, {file.urls:,} URLs, {file.bytes:,} bytes")
