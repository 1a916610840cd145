"""The command that judges sitemaps of any origin: the files alone, the live site, or an inventory beside them."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.common import given_options, model_options, name_and_value, print_error
from sitemap_crawler.config.options import Options
from sitemap_crawler.exceptions import FAILED
from sitemap_crawler.utils.runtime import echo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.config.credentials import Access
    from sitemap_crawler.validation.findings import Finding, ValidationReport
    from sitemap_crawler.validation.session import Validation

FORMATS = ("text", "json", "github", "junit", "sarif", "csv", "jsonl")
TABLES = ("csv", "jsonl")
"""Formats with a row for each finding."""
REQUEST_OPTIONS = (
    "concurrency", "delay", "workers", "adaptive", "user_agent", "header", "auth", "client_certificate", "client_key",
    "ca_file", "progress",
)  # fmt: skip
"""Options of a crawl that a check of the listed URLs has, too."""
CREDENTIALS = ("header", "auth")
"""Options that the download of a sitemap has, too."""


@click.command()
@click.argument("targets", metavar="[TARGET]...", nargs=-1)
@click.option("--check-urls", is_flag=True, help="request the listed URLs, and report those that can't be indexed")
@click.option("--check-media", is_flag=True, help="with --check-urls: request the listed images and videos, too")
@click.option(
    "--sample", metavar="N", type=click.IntRange(1), help="with --check-urls: request a sample of N listed URLs"
)
@click.option(
    "--against", metavar="STATE|URL", help="compare with the inventory of a crawl: its file, or the start URL"
)
@click.option("--format", "form", type=click.Choice(FORMATS), default=None, help="form of the report  [default: text]")
@click.option("--json", "as_json", is_flag=True, help="the same as --format json")
@click.option(
    "--fail-on", type=click.Choice(("error", "warning")), default="error", help="exit with 1 from this severity on  "
    "[default: error]"
)  # fmt: skip
@click.option("--max-findings", metavar="N", type=click.IntRange(0), help="show at most N findings; all are counted")
@click.option("--rules", is_flag=True, help="print all rules, and exit")
@click.option("-s", "settings", metavar="NAME=VALUE", multiple=True, help="with --check-urls: any Scrapy setting")
@click.option("-v", "--verbose", count=True, help="log more of the requests of --check-urls")
@lambda command: model_options(command, only=REQUEST_OPTIONS)
def validate(
    targets: tuple[str, ...],
    *,
    check_urls: bool,
    check_media: bool,
    sample: int | None,
    against: str | None,
    form: str | None,
    as_json: bool,
    fail_on: str,
    max_findings: int | None,
    rules: bool,
    settings: tuple[str, ...],
    verbose: int,
    **values: Any,
) -> int:
    """Judge sitemaps of any origin: files, directories, URLs, the sitemaps of a site, or - for standard input."""
    if rules:
        _print_rules()
        return 0
    if not targets:
        raise click.UsageError("give at least one TARGET: a file, a directory, a URL, or - for standard input")
    if as_json and form not in {None, "json"}:
        raise click.UsageError(f"--json and --format {form} exclude each other: give one of them")
    if (sample or check_media) and not check_urls:
        raise click.UsageError(f"{'--sample' if sample else '--check-media'} needs --check-urls")
    given = given_options(values)
    unused = [name for name in given if name not in CREDENTIALS]
    if (unused or settings) and not check_urls:
        name = "-s" if settings else f"--{unused[0].replace('_', '-')}"
        raise click.UsageError(f"{name} needs --check-urls")
    from sitemap_crawler.utils.runtime import Phase, set_garbage_collection
    from sitemap_crawler.validation.targets import open_validation

    set_garbage_collection(Phase.WORK)
    addresses = [target for target in targets if "://" in target]
    access = _access(given) if addresses else None
    form = form or ("json" if as_json else "text")
    credentials = access.merge_into([]) if access else ()
    with open_validation(targets, credentials, logs_all=form in TABLES) as validation:
        stopped = None
        if check_urls:
            from sitemap_crawler.cli.validate.live_check import LiveCheck
            from sitemap_crawler.crawl.listed import RequestOptions
            from sitemap_crawler.urls.normalise import origin_of

            request_options = RequestOptions(given, dict(map(name_and_value, settings)), verbose)
            home = origin_of(addresses[0]) if addresses else None
            stopped = LiveCheck(validation, request_options, home=home, size=sample).run(media=check_media)
        if against is not None:
            _compare(validation, against)
        elif not check_urls:
            validation.judge_hosts()
        report = validation.report()
        if validation.log is None:
            lines = _lines(form, report, max_findings=max_findings, warnings_fail=fail_on == "warning")
        else:
            lines = _rows(form, validation.log, max_findings=max_findings)
        for line in lines:
            echo(line)
    if form in TABLES and max_findings is not None and (left := report.counts.total() - max_findings) > 0:
        echo(f"{left:,} more findings are left out: --max-findings is {max_findings}", err=True)
    failed = bool(report.counts) if fail_on == "warning" else not report.valid
    if stopped is not None and report.verdict == "incomplete":
        return print_error(FAILED, f"{stopped}; run the same command again")
    if not failed:
        return 0
    shown = targets[0] if len(targets) == 1 else f"one of the {len(targets)} targets"
    shown = "standard input" if shown == "-" else shown
    if report.valid:
        return print_error(FAILED, f"{shown} has warnings, and --fail-on is warning: see the findings")
    return print_error(FAILED, f"{shown} is not valid: correct what the findings name")


def _access(given: dict[str, Any]) -> Access | None:
    """Return the credentials of the command line and the environment. Raises OptionError."""
    values = {name: given[name] for name in CREDENTIALS if name in given}
    settings = {Options.setting(name): value for name, value in {"start_url": "http://localhost/", **values}.items()}
    return Options.from_settings(settings).access


def _compare(validation: Validation, against: str) -> None:
    """Add the differences from an inventory to the findings."""
    from sitemap_crawler.cli.validate.against import against_issues
    from sitemap_crawler.config.state_location import SERVER_SCHEMES
    from sitemap_crawler.inventory.location import find_inventory
    from sitemap_crawler.inventory.lookup import open_inventory

    is_url = "://" in against and against.partition(":")[0] not in ("sqlite", *SERVER_SCHEMES)
    path = find_inventory(state=None if is_url else against, config=None, start_url=against if is_url else None)
    path = path.absolute() if isinstance(path, Path) else path
    with open_inventory(path) as inventory:
        for listed, url, issue in against_issues(validation.listed_urls(), inventory):
            validation.collector.add(listed.file if listed else str(path), issue, url)


def _lines(form: str, report: ValidationReport, *, max_findings: int | None, warnings_fail: bool) -> Iterable[str]:
    """Return the lines of the report in one of FORMATS."""
    from sitemap_crawler.validation.output.build_systems import github_lines, junit_lines, sarif_lines
    from sitemap_crawler.validation.output.text import text_lines

    if form == "json":
        return [json.dumps(report.to_json(max_findings=max_findings), indent=2)]
    if form == "junit":
        return junit_lines(report, max_findings=max_findings, warnings_fail=warnings_fail)
    lines = {"text": text_lines, "github": github_lines, "sarif": sarif_lines}[form]
    return lines(report, max_findings=max_findings)


def _rows(form: str, findings: Iterable[Finding], *, max_findings: int | None) -> Iterable[str]:
    """Return the lines of the report in one of TABLES."""
    from sitemap_crawler.validation.output.rows import csv_lines, jsonl_lines

    return {"csv": csv_lines, "jsonl": jsonl_lines}[form](islice(findings, max_findings))


def _print_rules() -> None:
    from sitemap_crawler.validation.catalogue import FAMILIES, RULES

    for family, title in FAMILIES.items():
        echo(f"{title}\n")
        for rule in RULES.values():
            if rule.family == family:
                source = f"{rule.source}: {rule.link}" if rule.link else rule.source
                echo(f"  {rule.id} ({rule.severity})\n    {rule.problem}\n    {rule.remedy}\n    {source}\n")
