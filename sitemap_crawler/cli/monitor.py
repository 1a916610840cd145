"""The command monitor, which shows what search engines have read. Heavy modules are imported only when it runs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.common import flushed_output, given_options, inventory_options, model_options, print_error
from sitemap_crawler.config.search_engines import with_environment
from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.search_engines.fail_on import Condition
    from sitemap_crawler.search_engines.monitor_report import MonitorReport
    from sitemap_crawler.search_engines.published_files import PublishedSite

_SERVICES = ("google", "bing")
_OPTIONS = frozenset(
    {
        "google_property", "google_credentials", "google_quota_project", "google_api_url", "google_token_url",
        "bing_site", "bing_api_url", "request_timeout", "ca_file",
    }
)  # fmt: skip


def _service_options(command: Callable[..., Any]) -> Callable[..., Any]:
    return model_options(command, only=_OPTIONS)


@click.command()
@click.argument("start_url", required=False)
@inventory_options
@click.option("--to", metavar="google,bing", help="only these services; default: those that are configured")
@click.option(
    "--inspect", type=click.IntRange(min=0), metavar="N", help="also ask Google about N listed pages, 2,000 a day"
)
@click.option("--offline", is_flag=True, help="ask nobody, show the answers that are kept")
@click.option(
    "--fail-on",
    metavar="errors,warnings,pending:DAYS,stale:DAYS,coverage:PCT",
    help="exit with 1 if a file has errors or warnings, waits for so many days, was not read for so many days, or if "
    "fewer per cent of the inspected pages are indexed",
)
@_service_options
@click.option("--json", "as_json", is_flag=True, help="print the answers as JSON")
@click.option("-q", "--quiet", is_flag=True, help="print errors only")
def monitor(
    start_url: str | None,
    state: str | None,
    config: Path | None,
    *,
    to: str | None,
    inspect: int | None,
    offline: bool,
    fail_on: str | None,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> int:
    """Show what Google and Bing have read of the published sitemaps, and which inspected pages Google has indexed."""
    from sitemap_crawler.cli.engine_options import engine_options, meant_services, site_file_values, warn_of_readable
    from sitemap_crawler.inventory.location import find_inventory, site_file_of
    from sitemap_crawler.search_engines.properties import check_given_names

    if offline and inspect:
        raise OptionError("--offline and --inspect exclude each other: give one of them")
    conditions = _conditions(fail_on)
    file = None if config is None else site_file_of(config, start_url, any_page=True)
    site_values = site_file_values(file)
    given = with_environment(given_options(values))
    if offline and to is None:
        services: tuple[str, ...] = _SERVICES
    else:
        services = meant_services(to, {**site_values, **given}, _SERVICES)
    path = find_inventory(state=state, config=file, start_url=start_url, any_page=True)
    site = _published(path)
    options = None
    if not offline:
        options = engine_options(path, file, site_values, given)
        check_given_names(options, site)
        warn_of_readable(file, site_values)
    report, text = _report(path, site, services, options, inspect or 0, conditions)
    return _print_report(report, text if as_json else None, quiet=quiet)


def _conditions(text: str | None) -> tuple[Condition, ...]:
    from sitemap_crawler.search_engines.fail_on import parse_conditions

    return () if text is None else parse_conditions(text)


def _published(path: StateLocation) -> PublishedSite:
    """Return what is published. Raises SubmissionRefusedError if nothing is."""
    from sitemap_crawler.inventory.lookup import open_inventory
    from sitemap_crawler.search_engines.published_files import published_site

    with open_inventory(path) as inventory:
        return published_site(inventory.connection)


def _report(
    path: StateLocation,
    site: PublishedSite,
    services: tuple[str, ...],
    options: Options | None,
    inspect: int,
    conditions: tuple[Condition, ...],
) -> tuple[MonitorReport, str]:
    """Ask the services, unless there are no options. Return what is kept then, also as JSON."""
    from sitemap_crawler.inventory.lookup import open_inventory
    from sitemap_crawler.search_engines.fail_on import judge
    from sitemap_crawler.search_engines.http_client import Clock
    from sitemap_crawler.search_engines.monitor_report import make_report
    from sitemap_crawler.search_engines.monitoring import Monitor, Questions

    clock = Clock()
    questions = Questions()
    if options is not None:
        questions = Monitor(path, site, options, clock=clock).ask(services, inspect=inspect)
    with open_inventory(path) as inventory:
        report = make_report(
            inventory.connection, site, services, questions, now=clock.now(), is_offline=options is None
        )
        judge(report, conditions, now=clock.now())
        # While the inventory is open: a value that makes this fail is a damaged one.
        return report, json.dumps(report.to_json(), indent=2)


def _print_report(report: MonitorReport, text: str | None, *, quiet: bool) -> int:
    """Print the JSON, or else the table unless `quiet`, and return the exit code."""
    with flushed_output():
        if text is not None:
            sys.stdout.write(f"{text}\n")
        elif not quiet:
            from sitemap_crawler.cli.monitor_output import print_monitor_report

            print_monitor_report(report)
    for warning in report.questions.warnings:
        echo(f"Warning: {printable(warning)}", err=True)
    for note in report.notes:
        echo(f"Warning: --fail-on {printable(note)}", err=True)
    for line in _failures(report):
        print_error(report.exit_code, printable(line))
    return report.exit_code


def _failures(report: MonitorReport) -> Iterator[str]:
    """Yield one line for each service that something went wrong with, and for each condition that is met."""
    questions = report.questions
    by_service: dict[str, list[str]] = {}
    for problem in questions.problems:
        place = f"{problem.url}: " if problem.url else ""
        by_service.setdefault(problem.service, []).append(f"{place}{problem.error}")
    inspection = questions.inspection
    if inspection is not None and inspection.failures:
        first = inspection.ended_by or inspection.failed[0].error
        words = f"{inspection.failures:,} inspections failed, the first of {inspection.failed[0].url}: {first}"
        by_service.setdefault("google", []).append(words)
    if inspection is not None and inspection.is_capped and report.quota is not None:
        words = (
            f"{inspection.answered:,} pages inspected, then the quota of the day was used up: run the same command "
            f"after {report.quota.resets_at:%Y-%m-%d %H:%M} UTC"
        )
        by_service.setdefault("google", []).append(words)
    for service, lines in by_service.items():
        more = f" (and {len(lines) - 1:,} more)" if len(lines) > 1 else ""
        yield f"{service}: {lines[0]}{more}"
    if questions.is_interrupted:
        yield "interrupted, the answers so far are kept; run the same command to continue"
    yield from (f"--fail-on {words}" for words in report.met)
