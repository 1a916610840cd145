"""Check of the files of a run before the first request: they must be writable and different from each other."""

from __future__ import annotations

import os
from itertools import combinations
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import FileConflictError, OptionError, UntrustedLinkError
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.utils.replace import check_replaceable, open_appended

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.options import Options


def check_paths(options: Options, *, state: Path, config: Path | None) -> None:
    """Check the files that `options` name, the inventory `state` and the site file `config`.

    Raises OptionError or FileConflictError, whose message has the file and the remedy.
    """
    for name in ("report", "status", "log_file"):
        path: Path | None = getattr(options, name)
        if path is not None:
            check_writable(name, path)
    paths = {"report": options.report, "status": options.status, "log_file": options.log_file}
    paths |= {"state": state, "config": config}
    resolved = {name: path.resolve() for name, path in paths.items() if path is not None}
    for (one, path), (other, other_path) in combinations(resolved.items(), 2):
        if path == other_path:
            raise FileConflictError(f"{one} and {other} are the same file {path}: give another one for {one}")
    names = Names.for_sitemap(options.entry_url, gzip=options.gzip)
    output = options.output.resolve()
    for name, path in resolved.items():
        if path.parent == output and (path.name == names.entry or names.derives(path.name)):
            raise FileConflictError(f"{name} {path} has the name of a sitemap file of this run: give another one")


def check_writable(name: str, path: Path) -> None:
    """Check that the file of an option can be written. Raises OptionError."""
    try:
        if name != "log_file":
            # A stream is no file to replace, although the link /dev/stdout may lead to one.
            check_replaceable(path)
        if (path.exists() and not path.is_file()) or not path.absolute().parent.is_dir():
            raise OptionError(f"cannot write {name} {path}: give the name of a file in a directory that exists")
        if path.exists() and not os.access(path, os.W_OK):
            raise OptionError(f"cannot write {name} {path}: permission denied")
        if name == "log_file":
            os.close(open_appended(path))
    except UntrustedLinkError:
        raise
    except OSError as error:
        reason = f"{error.strerror or error}; give the name of a file in a directory that exists"
        raise OptionError(f"cannot write {name} {path}: {reason}") from error
