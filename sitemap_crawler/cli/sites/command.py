"""`crawl` with several site files: checks, processes, and one summary, report and exit code."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_crawler.cli.sites.output import ProgressOutput, print_outcome
from sitemap_crawler.cli.sites.plan import SitePlan, check_apart, names_of
from sitemap_crawler.cli.sites.processes import SiteProcesses, child_command
from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_writable
from sitemap_crawler.config.sources import find_site_files
from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.report.unstarted import site_file_values, write_unstarted
from sitemap_crawler.utils.runtime import Phase, set_garbage_collection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


SINGLE_SITE_OPTIONS = (
    "start_url", "output", "sitemap_url", "public_url", "state", "html_report", "status", "urls", "access_log",
)  # fmt: skip
"""Options that two sites cannot share."""
ANY_SITE = "http://localhost/"
"""Start URL with which the options that all sites share are checked."""
LOG_FORMAT = "%(asctime)s [%(name)s] %(levelname)s: %(message)s"
"""Default of Scrapy's setting LOG_FORMAT."""


def crawl_sites(
    given: Sequence[Path],
    values: dict[str, Any],
    scrapy_settings: dict[str, str],
    *,
    parallel: int,
    verbosity: int,
    as_json: bool,
) -> int:
    """Crawl several sites and return the exit code of the command. Raises OptionError before the first crawl begins."""
    from sitemap_crawler.crawl.startup import start_of_command

    _check_options(values, scrapy_settings)
    files = find_site_files(given)
    report = Path(values.pop("report")) if "report" in values else None
    if report is not None:
        check_writable("report", report)
    # Checked without a site first, so that an error of the command line is not reported as an error of a site.
    common = start_of_command(
        {"start_url": ANY_SITE, **values}, site_file=None, scrapy_settings=scrapy_settings, verbosity=verbosity
    )
    plans = [_plan(file, name, values, scrapy_settings, verbosity=verbosity) for file, name in names_of(files).items()]
    check_apart(plans, report=report)
    quiet = common.options.quiet
    output = ProgressOutput(len(plans), quiet=quiet or as_json, live=bool(common.options.progress) and not as_json)
    # The random delay applies once to the command, not to every site.
    delay_seconds = random.uniform(0, common.options.random_delay) if "random_delay" in values else 0.0  # noqa: S311
    shared, verbose = _shared_logs(plans), ["-v"] * verbosity
    processes = SiteProcesses(
        plans,
        parallel=parallel,
        command=lambda plan: child_command(plan, _arguments(plan, values, scrapy_settings, shared) + verbose),
        output=output,
        keep_reports=as_json or report is not None,
    )
    set_garbage_collection(Phase.WORK)
    with output:
        results = asyncio.run(processes.run(delay_seconds=delay_seconds))
    return print_outcome(results, report, quiet=quiet, as_json=as_json)


def _check_options(values: Mapping[str, Any], scrapy_settings: Mapping[str, str]) -> None:
    for name in (*SINGLE_SITE_OPTIONS, "report"):
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
        write_unstarted(site_file_values(file), error, code=error.exit_code)
        return SitePlan(file, name, problem=str(error).removeprefix(f"{file}: "))
    if "-" in (*start.options.urls, *start.options.access_log):
        return SitePlan(
            file, name, problem="a list or log is -: the standard input can't be for several sites, give a file"
        )
    return SitePlan(file, name, start.options, log_level=start.settings["LOG_LEVEL"])


def _shared_logs(plans: Iterable[SitePlan]) -> set[Path]:
    """Return the log files that several sites share: in these each line begins with the name of its site."""
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
    """Return the arguments of one site's crawl: the options that were given for all sites."""
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
