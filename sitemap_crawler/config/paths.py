"""Where a run reads and writes: looked at before the first request, and none of these files may be another one."""

from __future__ import annotations

import os
from itertools import combinations
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.sitemap.names import Names

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.options import Options


def check_places(options: Options, *, state: Path, config: Path | None) -> None:
    """`state` is the inventory, `config` the site file. Raises OptionError, which names the file and the remedy."""
    for name in ("report", "status", "log_file"):
        path: Path | None = getattr(options, name)
        if path is not None:
            check_writable(name, path)
    places = {"report": options.report, "status": options.status, "log_file": options.log_file}
    places |= {"state": state, "config": config}
    given = {name: path.resolve() for name, path in places.items() if path is not None}
    for (one, path), (other, same) in combinations(given.items(), 2):
        if path == same:
            raise OptionError(f"{one} and {other} are the same file {path}: give another one for {one}")
    names = Names.for_sitemap(options.entry_url, gzip=options.gzip)
    output = options.output.resolve()
    for name, path in given.items():
        if path.parent == output and (path.name == names.entry or names.derives(path.name)):
            raise OptionError(f"{name} {path} has the name of a sitemap that is written there: give another one")


def check_writable(name: str, path: Path) -> None:
    """What is only opened at the end must be a file that can be."""
    if (path.exists() and not path.is_file()) or not path.absolute().parent.is_dir():
        raise OptionError(f"cannot write {name} {path}: give the name of a file in a directory that exists")
    if path.exists() and not os.access(path, os.W_OK):
        raise OptionError(f"cannot write {name} {path}: permission denied")
    if name == "log_file":
        try:
            path.open("a").close()
        except OSError as error:
            raise OptionError(f"cannot write {name} {path}: {error.strerror or error}") from error
