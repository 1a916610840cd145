"""Parts that several commands share: options, the line for an error, the output of a report."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.config.options import Options
from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.utils.runtime import echo

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from sitemap_crawler.report.report import Report

PROGRAM = "sitemap-crawler"
STATE_HELP = "the inventory: a file, or the URL of a PostgreSQL database; default: that of the URL"


def one_line(error: click.ClickException) -> str:
    """Return the message of an error of click as one line."""
    return " ".join(error.format_message().split()).rstrip(".")


def model_options(
    command: Callable[..., Any], *, only: Container[str] | None = None, remembered: bool = False
) -> Callable[..., Any]:
    """Add a command-line option for every field of the model that has one, or only for the fields named in `only`.

    Without `only` the options of search engines are left out: they are options of commands of their own.
    With `remembered` the default of an option that the inventory stores is its value in the last crawl.
    """
    for name in reversed(Options.model_fields):
        flag, field = Options.flag(name), Options.model_fields[name]
        if not flag.cli or name not in (Options.crawl_options() if only is None else only):
            continue
        long = "--" + name.replace("_", "-")
        settings: dict[str, Any] = {"help": field.description, "default": None}
        as_before = remembered and (flag.remembered or flag.crawling)
        if as_before:
            settings["help"] = (
                f"{(field.description or '').partition('; default:')[0]}  [default: as in the last crawl]"
            )
        if flag.metavar:
            settings["metavar"] = flag.metavar
            settings["multiple"] = isinstance(field.default, tuple)
            if field.default not in (None, ()) and not as_before:
                shown = ", ".join(field.default) if isinstance(field.default, tuple) else field.default
                settings["help"] += f"  [default: {shown}]"
        elif field.default is False:
            settings["is_flag"] = True
        else:
            long = f"{long}/--no-{name.replace('_', '-')}"
            if field.default is not None and not as_before:
                settings["help"] += "  [default: on]"
        names = [long, flag.short] if flag.short else [long]
        command = click.option(*names, name, **settings)(command)
    return command


def inventory_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name an inventory."""
    command = click.option(
        "--config", type=click.Path(path_type=Path), metavar="FILE", help="TOML site file whose inventory is meant"
    )(command)
    return click.option(
        "--state",
        metavar="PATH|URL",
        help=STATE_HELP,
    )(command)


def given_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are on the command line; click gives None or () for the others."""
    return {name: value for name, value in values.items() if value is not None and value != ()}


def name_and_value(text: str) -> tuple[str, str]:
    """Return the parts of a setting of `-s`. Raises OptionError."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise OptionError(f"-s {text}: write it as NAME=VALUE")
    return name, value


def print_error(code: int, message: str) -> int:
    """Print one line to standard error, and return the exit code."""
    echo(f"{PROGRAM}: {message}", err=True)
    return code


def print_outcome(report: Report, *, quiet: bool, as_json: bool = False) -> int:
    """Print the summary, the message or the JSON of a report, and return its exit code."""
    if as_json:
        # JSON is the only output. If it cannot be written, the command fails: see `run` in main.
        echo(json.dumps(report.to_json(), indent=2))
        sys.stdout.flush()
    # The reader of the output may be gone (rich exits then), or its disk full. The outcome of the run is the same.
    with contextlib.suppress(OSError, SystemExit):
        if report.has_summary and not (quiet or as_json):
            from sitemap_crawler.cli.summary import print_summary

            print_summary(report)
        if report.exit_code:
            print_error(report.exit_code, report.message)
        elif not (quiet or as_json):
            echo(report.message)
    return report.exit_code


@contextlib.contextmanager
def flushed_output() -> Iterator[None]:
    """Flush standard output in the end. A closed pipe is no error: a reader such as `head` needs no more."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        pass
