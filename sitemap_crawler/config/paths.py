"""Check of the files of a run before the first request: they must be writable and different from each other."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_crawler.config.types import Format
from sitemap_crawler.exceptions import FileConflictError, OptionError, PageTemplateError, UntrustedLinkError
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.utils.replace import check_replaceable, open_appended

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation

REPORT_INDEX = "index.html"
"""Name of the page that leads to the HTML reports of several sites, or of the hosts of one."""
FILES = ("report", "html_report", "status", "log_file")
"""Options with a file that a run writes next to its sitemaps."""


def check_paths(options: Options, *, state: StateLocation, config: Path | None) -> None:
    """Check the files that `options` name, the inventory `state` and the site file `config`.

    Raises OptionError or FileConflictError, whose message has the file and the remedy.
    """
    if Format.HTML in options.format and options.html_template is not None:
        _check_template(options.html_template)
    for name in FILES:
        path: Path | None = getattr(options, name)
        if path is not None:
            check_writable(name, path, private=options.has_secrets)
    paths = {name: getattr(options, name) for name in FILES}
    file = state if isinstance(state, Path) else None
    paths |= {"state": file, "config": config, "html_template": options.html_template}
    resolved = {name: path.resolve() for name, path in paths.items() if path is not None}
    for (one, path), (other, other_path) in combinations(resolved.items(), 2):
        if path == other_path:
            raise FileConflictError(f"{one} and {other} are the same file {path}: give another one for {one}")
    names = Names.for_sitemap(options.entry_url, gzip=options.gzip)
    output = options.output.resolve()
    if options.html_report is not None and options.subdomains:
        check_hosts_directory("html_report", options.html_report, output=output)
        hosts = hosts_directory(options.html_report).resolve()
        for name, path in resolved.items():
            if path.parent == hosts:
                raise FileConflictError(f"{name} {path} lies in the directory of the hosts' reports: give another one")
    for name, path in resolved.items():
        if path.parent == output and (path.name == names.entry or names.derives(path.name)):
            raise FileConflictError(f"{name} {path} has the name of a sitemap file of this run: give another one")
    if "html_report" in resolved and output in resolved["html_report"].parents:
        raise FileConflictError(
            f"html_report {options.html_report} would lie in the directory of the sitemaps {options.output}, which is "
            "public, and it names what robots.txt hides: give a file elsewhere"
        )


def hosts_directory(report: Path) -> Path:
    """Return the directory of the HTML reports of hosts, next to the report of all hosts of a domain."""
    return report.with_name(f"{report.stem}-hosts")


def check_hosts_directory(name: str, report: Path, *, output: Path | None) -> None:
    """Check the directory of the reports of hosts. `output` is that of the sitemaps. Raises an OptionError."""
    directory = hosts_directory(report)
    if output is not None and directory.resolve() == output.resolve():
        raise FileConflictError(
            f"{name} {report}: the reports of hosts would lie in the directory of the sitemaps {output}, which is "
            "public, and they name what robots.txt hides: give another name"
        )
    if os.path.lexists(directory):
        check_writable(name, directory / REPORT_INDEX)


def _check_template(path: Path) -> None:
    """Raise OptionError if the page list cannot be made with this template."""
    # Imported here, with Jinja2: few sites have a page list.
    from sitemap_crawler.sitemap.page_template import load_template

    try:
        load_template(path)
    except PageTemplateError as error:
        raise OptionError(str(error), option="html_template") from error


def check_writable(name: str, path: Path, *, private: bool = False) -> None:
    """Check that the file of an option can be written. Raises OptionError.

    A log file is created. With `private` only this user can read it.
    """
    if str(path) == "-":
        raise OptionError(f"{name} -: the standard output has the summary; give the name of a file")
    try:
        if name != "log_file":
            # A stream is no file to replace, although the link /dev/stdout may lead to one.
            check_replaceable(path)
        if (path.exists() and not path.is_file()) or not path.absolute().parent.is_dir():
            raise OptionError(f"cannot write {name} {path}: give the name of a file in a directory that exists")
        if path.exists() and not os.access(path, os.W_OK):
            raise OptionError(f"cannot write {name} {path}: permission denied")
        if name == "log_file":
            os.close(open_appended(path, private=private))
    except UntrustedLinkError:
        raise
    except OSError as error:
        reason = f"{error.strerror or error}; give the name of a file in a directory that exists"
        raise OptionError(f"cannot write {name} {path}: {reason}") from error
