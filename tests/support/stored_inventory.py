"""Inventories that earlier releases wrote, and commands run on them in this process."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from sitemap_crawler.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator

STORED = Path(__file__).parents[1] / "unit/inventory/stored"
SITE = "http://127.0.0.1:8123/"
READING = (
    ("explain", f"{SITE}docs/"),
    ("explain", SITE, "--json"),
    ("pages", "--referrers"),
    ("pages", "--format", "csv", "--reason", "canonical-elsewhere"),
    ("runs",),
    ("diff",),
    ("diff", "1", "2", "--json"),
    ("check-inventory",),
    ("monitor", "--offline"),
)
"""Every command that reads an inventory."""


def stored_inventory(path: Path, version: int) -> Path:
    """Write the inventory that the release with this schema version made of two crawls."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((STORED / f"schema-{version}.sql").read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode=WAL")
    return path


def columns(path: Path) -> Iterator[tuple[str, str]]:
    """Yield table and column of each value in an inventory."""
    with closing(sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
            for row in connection.execute(f"PRAGMA table_info({table})"):
                yield table, row[1]


def run_here(*arguments: str) -> int:
    """Run a command in this process and return its exit code. An exception that would be a traceback is raised."""
    with mock.patch.object(sys, "argv", ["sitemap-crawler", *arguments]):
        return run()
