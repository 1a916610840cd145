"""The command line: the group of commands, validate, and the exit code of every command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from sitemap_crawler import __version__
from sitemap_crawler.cli.common import PROGRAM, one_line, print_error
from sitemap_crawler.cli.crawl import crawl, write
from sitemap_crawler.cli.history import diff, runs
from sitemap_crawler.cli.inventory import check_inventory, explain, pages
from sitemap_crawler.exceptions import FAILED, INTERRUPTED, USAGE, SitemapCrawlerError
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.shortage import shortage_error_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from sitemap_crawler.validation.findings import ValidationReport


def run() -> int:
    """Run the command in `sys.argv` and return its exit code. Every failure prints one line."""
    try:
        code: int = commands.main(prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.Abort:
        code = print_error(INTERRUPTED, "interrupted; run the same command to continue")
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message(), err=True)
        code = USAGE
    except click.ClickException as error:
        code = print_error(USAGE, f"{one_line(error)} ({PROGRAM} --help shows the usage)")
    except Exception as error:
        known = shortage_error_of(error)
        if isinstance(known, SitemapCrawlerError):
            code = print_error(known.exit_code, str(known))
        elif isinstance(error, OSError):
            # Standard output cannot be written.
            code = print_error(FAILED, f"cannot write: {error.strerror or error}")
        else:
            raise
    return code


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name=PROGRAM)
def commands() -> None:
    """Crawls a web site within the scope of its sitemap and keeps its XML sitemaps true."""


for command in (crawl, write, explain, pages, runs, diff, check_inventory):
    commands.add_command(command)


@commands.command()
@click.argument("target", metavar="FILE|DIR|URL")
@click.option("--json", "as_json", is_flag=True, help="print the findings as JSON")
def validate(target: str, *, as_json: bool) -> int:
    """Check sitemaps against the protocol: a file, a directory of them, or a URL."""
    from sitemap_crawler.validation.targets import validate as check

    report = check(target)
    if as_json:
        echo(json.dumps(report.to_json(), indent=2))
    else:
        _print_findings(report)
    if report.valid:
        return 0
    return FAILED if as_json else print_error(FAILED, f"{target} is not valid: fix the errors above")


def _print_findings(report: ValidationReport) -> None:
    for finding in report.findings:
        place = printable(finding.file) + (f":{finding.line}" if finding.line is not None else "")
        url = f" {finding.url}" if finding.url else ""
        echo(f"{place}: {finding.severity}: {finding.message} [{finding.rule}]{url}")
    for rule, count in sorted(report.omitted().items()):
        echo(f"{count:,} more findings of [{rule}] are not shown")
    for file in report.files:
        echo(f"{printable(file.name)}: {file.kind}, {file.urls:,} URLs, {file.bytes:,} bytes")
