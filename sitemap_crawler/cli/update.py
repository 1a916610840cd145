"""The command that publishes single pages now: update. Heavy modules are imported only when it runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.common import (
    given_options,
    inventory_options,
    model_options,
    name_and_value,
    print_error,
)
from sitemap_crawler.cli.engine_options import meant_services, site_file_values
from sitemap_crawler.config.search_engines import with_environment
from sitemap_crawler.exceptions import CredentialsError
from sitemap_crawler.utils.runtime import echo

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.report.updates import UpdateReport

SERVICES = ("google", "bing", "indexnow")
UPDATE_OPTIONS = (
    "concurrency", "delay", "user_agent", "header", "auth", "client_certificate", "client_key", "ca_file",
    "browser", "browser_no_sandbox", "allow_shrink", "quiet", "log_file",
)  # fmt: skip
"""Options of a crawl that an update has, too. All others are those of the last crawl."""


@click.command()
@click.argument("action", type=click.Choice(["add", "update", "remove"]))
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@inventory_options
@lambda command: model_options(command, only=UPDATE_OPTIONS)
@click.option("--no-submit", is_flag=True, help="do not tell the configured search engines what has changed")
@click.option("-v", "--verbose", count=True, help="log more; twice for every request")
@click.option("-s", "settings", metavar="NAME=VALUE", multiple=True, help="any Scrapy setting")
@click.option("--json", "as_json", is_flag=True, help="print the report as JSON")
def update(
    action: str,
    urls: tuple[str, ...],
    state: str | None,
    config: Path | None,
    *,
    no_submit: bool,
    verbose: int,
    settings: tuple[str, ...],
    as_json: bool,
    **values: Any,
) -> int:
    """Request single pages that are new, have changed or are gone, and publish them now, without a crawl."""
    from sitemap_crawler.crawl.update import UpdateCommand, run_update
    from sitemap_crawler.inventory.location import find_inventory, inventory_of, site_file_of
    from sitemap_crawler.report.updates import Action
    from sitemap_crawler.utils.runtime import Phase, set_garbage_collection

    if state is None and config is not None:
        config = site_file_of(config, urls[0], any_page=True)
    named = state is not None or config is not None
    path = find_inventory(state=state, config=config, start_url=None) if named else inventory_of(urls)
    given = given_options(values)
    set_garbage_collection(Phase.WORK)
    submits = not no_submit and _has_search_engine(config)
    command = UpdateCommand(Action(action), urls, given, dict(map(name_and_value, settings)), verbose, submits)
    report = run_update(path, command, config=config)
    return _print(report, quiet=bool(given.get("quiet")), as_json=as_json)


def _has_search_engine(config: Path | None) -> bool:
    """Return whether the site file or the environment configures a search engine."""
    try:
        meant_services(None, with_environment(site_file_values(config)), SERVICES)
    except CredentialsError:
        return False
    return True


def _print(report: UpdateReport, *, quiet: bool, as_json: bool) -> int:
    if as_json:
        echo(json.dumps(report.to_json(), indent=2))
    elif not quiet:
        # The error message has the only URL already.
        alone = len(report.results) == 1 and report.exit_code and report.message.startswith(report.results[0].line)
        for result in () if alone else report.results:
            echo(result.line)
        if report.submission is not None:
            echo(f"search engines: {report.submission['message']}")
    if report.exit_code:
        return print_error(report.exit_code, report.message)
    if not (quiet or as_json):
        echo(report.message)
    return report.exit_code
