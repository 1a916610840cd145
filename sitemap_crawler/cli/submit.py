"""The command submit, which tells search engines what was published. Heavy modules are imported only when it runs."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.common import given_options, inventory_options, model_options, print_error
from sitemap_crawler.cli.engine_options import engine_options, meant_services, site_file_values, warn_of_readable
from sitemap_crawler.config.search_engines import SearchEngineOptions, with_environment
from sitemap_crawler.exceptions import DONE, CredentialsError, OptionError, SubmissionRefusedError
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sitemap_crawler.search_engines.live_check import RobotsRow
    from sitemap_crawler.search_engines.results import Result
    from sitemap_crawler.search_engines.submission_context import SubmissionReport

_SERVICES = ("google", "bing", "indexnow")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_SITE_OPTIONS = frozenset(("user_agent", "header", "auth", "ca_file"))
"""Options of a crawl that the requests to the own site have, too."""


def _option_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of search engines, and those of requests to the own site."""
    return model_options(command, only=SearchEngineOptions.names() | _SITE_OPTIONS)


@click.command()
@click.argument("start_url", required=False)
@inventory_options
@click.option("--to", metavar="google,bing,indexnow", help="only these services; default: those that are configured")
@click.option("--dry-run", is_flag=True, help="ask only your own site, and print what would be sent")
@click.option("--check", is_flag=True, help="check keys, public files, properties and robots.txt; nothing is submitted")
@click.option("--all", "all_pages", is_flag=True, help="send all listed pages to IndexNow, not only changed ones")
@click.option("--force", is_flag=True, help="send although the public files differ, or were accepted within a day")
@click.option("--rebase", is_flag=True, help="send nothing to IndexNow but the changes from now on")
@click.option("--remove", is_flag=True, help="take files that are no longer published off the reports of the engines")
@click.option(
    "--write-key",
    "key_directory",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="only write the key file of IndexNow into this directory",
)
@_option_flags
@click.option("--json", "as_json", is_flag=True, help="print the results as JSON")
@click.option("-q", "--quiet", is_flag=True, help="print errors only")
def submit(
    start_url: str | None,
    state: str | None,
    config: Path | None,
    *,
    to: str | None,
    key_directory: Path | None,
    as_json: bool,
    dry_run: bool,
    check: bool,
    all_pages: bool,
    force: bool,
    rebase: bool,
    remove: bool,
    quiet: bool,
    **values: Any,
) -> int:
    """Tell Google, Bing and IndexNow what was published: entry files, and the URLs of changed pages."""
    from sitemap_crawler.inventory.location import find_inventory, site_file_of

    if sum((all_pages, rebase, remove)) > 1:
        raise OptionError("--all, --rebase and --remove exclude each other: give one of them")
    if key_directory is not None and (dry_run or check):
        raise OptionError("--write-key writes a file, --dry-run and --check write none: give one of them")
    file = None if config is None else site_file_of(config, start_url, any_page=True)
    site_values = site_file_values(file)
    given = with_environment(given_options(values))
    if key_directory is not None:
        return _write_keys(key_directory, {**site_values, **given}, quiet=quiet)
    services = meant_services(to, {**site_values, **given}, _SERVICES, may_be_none=check)
    if remove and services == ("indexnow",):
        raise OptionError("--remove is for Google and Bing: run submit without it, and IndexNow gets the removed pages")
    path = find_inventory(state=state, config=file, start_url=start_url, any_page=True)

    from sitemap_crawler.search_engines.submission import submit as send
    from sitemap_crawler.search_engines.submission_context import Task
    from sitemap_crawler.settings import USER_AGENT

    options = engine_options(path, file, site_values, given)
    warn_of_readable(file, site_values)
    task = Task(services, dry_run, check, all_pages, force, rebase, remove)
    is_silent = as_json or quiet
    report = send(
        path,
        options,
        task,
        user_agent=USER_AGENT,
        on_result=_ignore if is_silent else _print_result,
        on_planned=_ignore if is_silent else _print_planned,
    )
    return _print_report(report, as_json=as_json, quiet=quiet)


def _write_keys(directory: Path, given: Mapping[str, Any], *, quiet: bool) -> int:
    """Write the key file of each key, but never over another file. Raises SubmissionRefusedError, OptionError."""
    names = SearchEngineOptions.names()
    options = SearchEngineOptions.parse({name: value for name, value in given.items() if name in names})
    keys = dict.fromkeys(text.rpartition("=")[2] for text in options.indexnow_key)
    if not keys:
        remedy = "give indexnow_key in the site file (--config), or set INDEXNOW_KEY"
        raise CredentialsError("there is no key to write", advice=remedy)
    for key in keys:
        path = directory / f"{key}.txt"
        try:
            _write_key(path, key)
        except OSError as error:
            remedy = "free disk space" if error.errno in _FULL else "give a directory that exists and is yours"
            raise OptionError(f"cannot write {path}: {error.strerror or error}: {remedy}") from error
        if not quiet:
            echo(f"the key file {printable(str(path))} is there: serve it as /{key}.txt of the site")
    return DONE


def _write_key(path: Path, key: str) -> None:
    """Write a key file, unless it is there. Raises SubmissionRefusedError for another file, OSError."""
    from sitemap_crawler.utils.replace import replacing

    if not path.exists():
        with replacing(path) as file:
            file.write(f"{key}\n".encode())
    elif path.read_bytes().strip() != key.encode():
        raise SubmissionRefusedError(f"{path} exists and is another file: remove it, or give another directory")


def _ignore(*_: object) -> None:
    pass


def _print_planned(kind: str, url: str) -> None:
    echo(printable(f"  {kind} {url}"))


def _print_result(result: Result) -> None:
    echo(printable(_line(result)))


def _line(result: Result) -> str:
    """Return the result of one file or batch as a line."""
    status = f" ({result.http_status})" if result.http_status else ""
    counts = [f"{count:,} {kind}" for kind, count in result.urls.to_json().items() if count]
    details = "; ".join(filter(None, (", ".join(counts), result.message)))
    what = result.target if result.target.startswith("http") else result.host
    return f"{result.service} {what}: {result.outcome}{status}{f': {details}' if details else ''}"


def _print_report(report: SubmissionReport, *, as_json: bool, quiet: bool) -> int:
    if as_json:
        echo(json.dumps(report.to_json(), indent=2))
        sys.stdout.flush()
    elif not quiet:
        for row in report.robots:
            echo(printable(f"robots.txt of {row.host} {_robots_words(row)}"))
    for warning in report.warnings:
        echo(f"Warning: {printable(warning)}", err=True)
    for line in _failures(report.results):
        print_error(report.exit_code, printable(line))
    return report.exit_code


def _robots_words(row: RobotsRow) -> str:
    """Return what robots.txt says of the sitemap."""
    if row.problem is not None:
        return f"is not known to have the line {row.line}: {row.problem}"
    return f"names {row.line.partition(' ')[2]}" if row.names_sitemap else f"lacks the line {row.line}"


def _failures(results: Iterable[Result]) -> list[str]:
    """Return one line for each service that something went wrong with: what happened, and what to do."""
    failed: dict[str, list[Result]] = {}
    for result in results:
        if result.exit_code:
            failed.setdefault(result.service, []).append(result)
    lines = []
    for service, rows in failed.items():
        more = f" (and {len(rows) - 1:,} more)" if len(rows) > 1 else ""
        advice = f": {rows[0].advice}" if rows[0].advice else ""
        lines.append(f"{service} {rows[0].outcome}: {rows[0].message or rows[0].reason}{advice}{more}")
    return lines
