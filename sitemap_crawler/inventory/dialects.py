"""The SQL that SQLite and PostgreSQL do not share: upserts, and functions with another name or meaning in each.

All other modules build statements that both databases take. The classes have the names and the meaning of SQLite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Cast, Integer, Text, cast
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.sql.functions import GenericFunction

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

__all__ = [
    "Greater",
    "Position",
    "Truncated",
    "begin_snapshot",
    "drops_indexes",
    "insert",
    "json_text",
    "prefix_index",
    "scratch_table",
]


class Position(GenericFunction[int]):
    """Position of the second text in the first one, counted from 1; 0 if it is not there."""

    package = "sitemap_crawler"
    name = "instr"
    type = Integer()
    inherit_cache = True


class Greater(GenericFunction[Any]):
    """The greater of two values."""

    package = "sitemap_crawler"
    name = "max"
    inherit_cache = True


class Truncated(Cast[int]):
    """A number without its fraction. SQLite's cast cuts the fraction off; PostgreSQL's rounds."""

    inherit_cache = True

    def __init__(self, value: ColumnElement[Any]) -> None:
        super().__init__(value, Integer)


def json_text(column: ColumnElement[Any]) -> Cast[str]:
    """Return the stored text of a JSON column, which is not parsed."""
    return cast(column, Text)


def prefix_index(connection: Connection) -> str:
    """Return the words that choose the kind of an index of URLs."""
    # An entry of a B-tree has at most 2,704 bytes there, and a URL up to 8,192.
    return "USING spgist" if connection.dialect.name == "postgresql" else ""


def drops_indexes(connection: Connection) -> bool:
    """Return whether an index that is needed once is dropped. PostgreSQL would wait for all readers of the table."""
    return connection.dialect.name != "postgresql"


def begin_snapshot(connection: Connection) -> None:
    """Let all further queries of a connection for reading see one state. In PostgreSQL they always do."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")


def scratch_table(connection: Connection) -> str:
    """Return the words that create a table for the rows of several transactions, which needs to survive no crash."""
    # A temporary table of PostgreSQL belongs to a session. A pooler may give each transaction another one.
    return "UNLOGGED TABLE" if connection.dialect.name == "postgresql" else "TEMPORARY TABLE"
