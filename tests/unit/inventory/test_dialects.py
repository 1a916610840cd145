"""The statements of the inventory in SQLite's and PostgreSQL's SQL: one module has what differs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import create_engine, literal, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

import sitemap_crawler
from sitemap_crawler.inventory.dialects import Greater, Position, Truncated
from sitemap_crawler.inventory.schema import metadata, urls

PACKAGE = Path(sitemap_crawler.__file__).parent


def test_no_other_modules_import_a_dialect() -> None:
    importing = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "sqlalchemy.dialects" in path.read_text(encoding="utf-8")
    ]
    assert sorted(importing) == ["inventory/dialects.py", "inventory/postgresql.py"]


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (Position(literal("https://a/b"), "/"), 7),
        (Position(literal("abc"), "/"), 0),
        (Greater(literal(3), 5), 5),
        (Truncated(literal(59.9)), 59),
        (Truncated(literal(-1.5)), -1),
    ],
)
def test_functions_of_sqlite(function: sqlalchemy.ColumnElement[int], value: int) -> None:
    with create_engine("sqlite://").connect() as connection:
        assert connection.scalar(select(function)) == value


def test_postgresql_sorts_urls_by_their_bytes() -> None:
    assert 'url TEXT COLLATE "C" NOT NULL' in str(CreateTable(urls).compile(dialect=postgresql.dialect()))


def test_sqlite_has_the_columns_of_before() -> None:
    """The text of the schema decides which inventories of earlier releases are alike."""
    with sqlite3.connect(":memory:") as connection:
        for table in metadata.sorted_tables:
            connection.execute(str(CreateTable(table).compile(dialect=create_engine("sqlite://").dialect)))
        text = "".join(row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
    assert "COLLATE" not in text
