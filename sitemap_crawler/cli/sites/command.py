"""`crawl` with several site files: one after another or some at a time, with one summary, report and exit code."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.sites.plan import (
    SitePlan,
    SiteResult,
    check_apart,
    find_site_files,
    names_of,
    report_of_all,
    words_of_all,
    worst,
)
from sitemap_crawler.cli.sites.processes import PROGRAM, SiteProcesses, child_command
from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_writable
from sitemap_crawler.exceptions import FAILED, OptionError
from sitemap_crawler.utils.files import write_json
from sitemap_crawler.utils.runtime import Phase, set_garbage_collection
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.live import Live

OF_ONE_SITE = ("start_url", "output", "sitemap_url", "public_url", "state", "status")
"""Options that no two sites can share."""
ANY_SITE = "http://localhost/"
LOG_FORMAT = "%(asctime)s [%(name)s] %(levelname)s: %(message)s"
"""Scrapy's."""


def crawl_sites(
    given: Sequence[Path],
    values: dict[str, Any],
    scrapy_settings: dict[str, str],
    *,
    parallel: int,
    verbosity: int,
    as_json: bool,
) -> int:
    """Raises OptionError before anything has begun."""
    from sitemap_crawler.crawl.startup import start_of_command

    _check_options(values, scrapy_settings)
    files = find_site_files(given)
    report = Path(values.pop("report")) if "report" in values else None
    if report is not None:
        check_writable("report", report)
    # What is wrong with the command line is so no site's fault.
    common = start_of_command(
        {"start_url": ANY_SITE, **values}, site_file=None, scrapy_settings=scrapy_settings, verbosity=verbosity
    )
    plans = [_plan(file, name, values, scrapy_settings, verbosity=verbosity) for file, name in names_of(files).items()]
    check_apart(plans, report=report)
    quiet = common.options.quiet
    teller = _Teller(len(plans), quiet=quiet or as_json, live=bool(common.options.progress) and not as_json)
    # Once, not for every site again.
    delay = random.uniform(0, common.options.random_delay) if "random_delay" in values else 0.0  # noqa: S311
    shared, verbose = _shared_logs(plans), ["-v"] * verbosity
    processes = SiteProcesses(
        plans,
        parallel=parallel,
        command=lambda plan: child_command(plan, _arguments(plan, values, scrapy_settings, shared) + verbose),
        teller=teller,
        keep_reports=as_json or report is not None,
    )
    set_garbage_collection(Phase.WORK)
    with teller:
        results = asyncio.run(processes.run(delay=delay))
    return _tell(results, report, quiet=quiet, as_json=as_json)


def _check_options(values: Mapping[str, Any], scrapy_settings: Mapping[str, str]) -> None:
    for name in (*OF_ONE_SITE, "report"):
        setting = Options.setting(name)
        if setting in scrapy_settings:
            raise OptionError(f"-s {setting} can't be for several sites: write {name} = … in each site file")
        if name in values and name != "report":
            shown = "START_URL" if name == "start_url" else f"--{name.replace('_', '-')}"
            raise OptionError(f"{shown} can't be for several sites: write {name} = … in each site file")


def _plan(
    file: Path, name: str, values: Mapping[str, Any], scrapy_settings: Mapping[str, str], *, verbosity: int
) -> SitePlan:
    from sitemap_crawler.crawl.startup import start_of_command

    try:
        start = start_of_command(values, site_file=file, scrapy_settings=scrapy_settings, verbosity=verbosity)
    except OptionError as error:
        return SitePlan(file, name, problem=str(error).removeprefix(f"{file}: "))
    return SitePlan(file, name, start.options, log_level=start.settings["LOG_LEVEL"])


def _shared_logs(plans: Iterable[SitePlan]) -> set[Path]:
    """Log files of more than one site: there each line begins with the site's name."""
    seen: set[Path] = set()
    shared: set[Path] = set()
    for plan in plans:
        if plan.options is not None and plan.options.log_file is not None:
            path = plan.options.log_file.resolve()
            (shared if path in seen else seen).add(path)
    return shared


def _arguments(
    plan: SitePlan, values: Mapping[str, Any], scrapy_settings: Mapping[str, str], shared_logs: set[Path]
) -> list[str]:
    """The command line that gives one site's crawl what was given for all."""
    settings = {"LOG_LEVEL": plan.log_level, **scrapy_settings}
    log_file = plan.options.log_file if plan.options is not None else None
    if log_file is not None and log_file.resolve() in shared_logs:
        name = plan.name.replace("%", "%%")
        settings["LOG_FORMAT"] = f"{name}: {scrapy_settings.get('LOG_FORMAT', LOG_FORMAT)}"
    arguments = [f"-s{name}={value}" for name, value in settings.items()]
    for name, value in {**values, **({"random_delay": 0} if "random_delay" in values else {})}.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "progress":
            continue
        if isinstance(value, bool):
            arguments.append(flag if value else f"--no-{flag[2:]}")
        else:
            arguments += [f"{flag}={item}" for item in (value if isinstance(value, tuple) else (value,))]
    return arguments


class _Teller:
    """Failures as they come, and unless it is quiet the sites' logs, too; on a terminal a line shows how far it is."""

    def __init__(self, total: int, *, quiet: bool, live: bool) -> None:
        self._total = total
        self._quiet = quiet
        self._at_work: list[str] = []
        self._done = 0
        self._live: Live | None = None
        if live:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True, highlight=False), auto_refresh=False, transient=True)

    def __enter__(self) -> None:
        if self._live is not None:
            self._live.start()

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def log(self, plan: SitePlan, line: str) -> None:
        self._print(f"{printable(plan.name)}: {line}")

    def begun(self, plan: SitePlan) -> None:
        self._at_work.append(plan.name)
        self._refresh()

    def ended(self, result: SiteResult) -> None:
        if result.plan.name in self._at_work:
            self._at_work.remove(result.plan.name)
        self._done += 1
        if result.exit_code:
            self._print(f"{PROGRAM}{printable(str(result.plan.config))}: {result.message}")
        elif not self._quiet:
            self._print(f"{printable(result.plan.name)}: {result.message}")
        self._refresh()

    def _print(self, line: str) -> None:
        # Whoever reads it may have gone: the crawls go on.
        with suppress(OSError):
            if self._live is not None:
                from rich.text import Text

                self._live.console.print(Text(line), soft_wrap=True)
            else:
                click.echo(line, err=True)

    def _refresh(self) -> None:
        if self._live is not None:
            from rich.text import Text

            names = ", ".join(printable(name) for name in self._at_work)
            self._live.update(Text(f"{self._done:,} of {self._total:,} sites done; {names}"), refresh=True)


def _tell(results: Sequence[SiteResult], report: Path | None, *, quiet: bool, as_json: bool) -> int:
    code = worst(result.exit_code for result in results)
    whole = report_of_all(results)
    if report is not None:
        try:
            write_json(report, whole)
        except OSError as error:
            click.echo(f"{PROGRAM}cannot write the report {report}: {error.strerror or error}", err=True)
            code = FAILED
    with suppress(OSError, SystemExit):
        if as_json:
            click.echo(json.dumps(whole, indent=2))
        elif not quiet:
            _print_table(results)
            click.echo(words_of_all(results))
    return code


def _print_table(results: Iterable[SiteResult]) -> None:
    from rich.box import HEAVY_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(box=HEAVY_HEAD if terminal else None)
    table.add_column("site", no_wrap=not terminal)
    table.add_column("outcome", no_wrap=True)
    for name in ("listed", "added", "changed", "removed", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in results:
        table.add_row(Text(printable(result.plan.name)), result.outcome, *_numbers(result), f"{result.seconds:,.1f}")
    console = Console(highlight=False, soft_wrap=True) if terminal else Console(highlight=False, width=WIDE)
    console.print(table)


WIDE = 200
"""Columns where there is no terminal, for long names."""


def _numbers(result: SiteResult) -> list[str]:
    if result.report is None:
        return ["-"] * 4
    changes = result.report["changes"]
    return [f"{result.report['listed']:,}", *(f"{changes[kind]:,}" for kind in ("added", "changed", "removed"))]
