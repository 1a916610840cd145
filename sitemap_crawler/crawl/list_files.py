"""The files of lists and access logs: checked before the crawl, standard input stored, and read in pieces."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import OptionError, OutputError
from sitemap_crawler.extract.lines import PIECE_BYTES, pieces_of
from sitemap_crawler.inventory.seed_sitemaps import lists_read
from sitemap_crawler.inventory.store import beside
from sitemap_crawler.utils.replace import real_path, remove_file, replacing
from sitemap_crawler.utils.shortage import advice_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.inventory.store import Store

STANDARD_INPUT = "-"
"""Value of the options for the standard input."""
STANDARD_INPUT_NAME = "standard input"
"""Name of the standard input in the inventory and in warnings."""


def is_url(source: str) -> bool:
    return source[:8].lower().startswith(("http://", "https://"))


def name_of(source: str) -> str:
    """Return the name of a list or log that is no URL: the same in every working directory."""
    return STANDARD_INPUT_NAME if source == STANDARD_INPUT else os.path.abspath(source)  # noqa: PTH100 - keeps links


def sources_of(options: Options) -> tuple[str, ...]:
    """Return all lists and logs of the options."""
    return (*options.urls, *options.access_log)


def check_lists(options: Options, connection: Connection) -> None:
    """Raise OptionError for a file that cannot be read, unless the unfinished run has read it."""
    files = [source for source in sources_of(options) if source != STANDARD_INPUT and not is_url(source)]
    if not files:
        return
    done = set() if options.fresh else lists_read(connection)
    for source in files:
        if name_of(source) in done:
            continue
        try:
            # Not opened: a named pipe would wait for its writer, and lose it.
            is_directory = stat.S_ISDIR(Path(source).stat().st_mode)
            reason = "it is a directory" if is_directory else None if os.access(source, os.R_OK) else "no permission"
        except OSError as error:
            reason = error.strerror or str(error)
        if reason is not None:
            raise OptionError(f"cannot read the list or log {source}: {reason}; give a file, or -")
        if source in options.urls:
            # Imported here: a crawl without a list needs none of it.
            from sitemap_crawler.publish.list_entries import check_columns

            check_columns(source, options.columns_of_lists)


def spool_path(store: Store) -> Path:
    """Return the path of the file that holds the standard input until the run has read it."""
    return beside(store.location, ".stdin")


def spool_standard_input(options: Options, store: Store, *, resumed: bool) -> None:
    """Store the standard input, because an interrupted run may have to read it again.

    A resumed run uses what it has stored before, or nothing if it has read the list. Raises OutputError or
    OptionError.
    """
    path = spool_path(store)
    if STANDARD_INPUT not in sources_of(options):
        if not resumed:
            delete_spool(store)
        return
    if resumed and (path.exists() or STANDARD_INPUT_NAME in lists_read(store.connection)):
        return
    if sys.stdin is None:
        raise OptionError("the standard input is closed: give a file")
    try:
        # The rows of a database are for nobody else. The directory may be missing if the inventory is on a server.
        with replacing(real_path(path, create=True), private=True, durable=False) as file:
            left = options.max_seed_bytes
            while left > 0 and (piece := os.read(sys.stdin.fileno(), PIECE_BYTES)):
                file.write(piece)
                left -= len(piece)
    except (OSError, ValueError) as error:
        advice = advice_for(error, otherwise="free disk space, then run the same command")
        raise OutputError(f"cannot store the standard input in {path}: {error}; {advice}") from error


def delete_spool(store: Store) -> None:
    with suppress(OSError):
        remove_file(spool_path(store))


def pieces_of_source(source: str, store: Store) -> Iterator[bytes]:
    """Yield the bytes of a list or log that is no URL. Raises OSError."""
    return pieces_of(spool_path(store) if source == STANDARD_INPUT else Path(source))
