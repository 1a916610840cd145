"""The program with counters in it: `python counted_crawl.py ARGUMENTS...` is `sitemap-crawler ARGUMENTS...`.

It writes the counts as JSON into the file that COUNTS names. The counters sit where work leaves the package, so that
they see it on every path of the code: at lxml's parsers, at the database driver, at the event loop.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sqlite3.dbapi2
from collections import Counter
from pathlib import Path
from typing import Any

from lxml import etree

PARSERS = ("HTML", "XML", "fromstring", "fromstringlist", "parse", "iterparse")

counts: Counter[str] = Counter()


def counted_in_file(name: str, function: Any) -> Any:
    """Count calls in all processes by a byte in a file for each call, as worker processes never reach their exit."""

    def call(*arguments: Any, **options: Any) -> Any:
        with Path(f"{os.environ['COUNTS']}.{name}").open("ab") as file:
            file.write(b".")
        return function(*arguments, **options)

    return call


def counted(name: str, function: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        counts[name] += 1
        return function(*arguments, **options)

    return call


class CountedCursor(sqlite3.Cursor):
    """Cursor that counts statements. One call for many rows counts once."""

    execute = counted("statements", sqlite3.Cursor.execute)
    executemany = counted("statements", sqlite3.Cursor.executemany)
    executescript = counted("statements", sqlite3.Cursor.executescript)


class CountedConnection(sqlite3.Connection):
    def cursor(self, factory: Any = CountedCursor) -> Any:
        return super().cursor(factory)


def main() -> None:
    for name in PARSERS:
        setattr(etree, name, counted_in_file("parses", getattr(etree, name)))
    driver = sqlite3.connect
    for module in (sqlite3, sqlite3.dbapi2):
        module.connect = lambda *given, **options: driver(*given, **{**options, "factory": CountedConnection})  # type: ignore[attr-defined]
    create_task = asyncio.BaseEventLoop.create_task
    asyncio.BaseEventLoop.create_task = counted("tasks", create_task)  # type: ignore[method-assign]

    from sitemap_crawler.__main__ import main as program

    try:
        program()
    finally:
        Path(os.environ["COUNTS"]).write_text(json.dumps(counts), encoding="utf-8")


if __name__ == "__main__":
    main()
