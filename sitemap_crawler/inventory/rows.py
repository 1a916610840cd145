"""Statements that are executed for many rows at a time."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, update

from sitemap_crawler.inventory.schema import urls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection, Insert, Update
    from sqlalchemy.sql.compiler import SQLCompiler


class RowStatement:
    """A statement whose parameters are `names`. Every row that it is executed for has these, with values that the
    database takes as they are: JSON as text.

    SQLAlchemy looks at each value of each row, whatever its type; with rows such as ours that takes longer than the
    database does.
    """

    def __init__(self, statement: Insert | Update, names: Sequence[str]) -> None:
        self._statement, self._names = statement, names
        self._text = ""
        self._arranged: Callable[[Mapping[str, Any]], Any] | None = None

    def execute(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        if not rows:
            return
        if not self._text:
            self._prepare(connection)
        arranged = self._arranged
        connection.exec_driver_sql(self._text, [arranged(row) for row in rows] if arranged else list(rows))

    def _prepare(self, connection: Connection) -> None:
        compiled: SQLCompiler = self._statement.compile(connection, column_keys=list(self._names))
        if set(compiled.params) != set(self._names):
            raise ValueError(f"the statement's parameters are {sorted(compiled.params)}")
        if compiled.positiontup is not None:
            self._arranged = itemgetter(*compiled.positiontup)
        self._text = compiled.string


def update_urls(*columns: str) -> RowStatement:
    """Sets these columns; rows have `b_id` and, likewise, `b_` before each column's name."""
    values: dict[str, Any] = {column: bindparam(f"b_{column}") for column in columns}
    names = ("b_id", *(f"b_{column}" for column in columns))
    return RowStatement(update(urls).where(urls.c.id == bindparam("b_id")).values(values), names)
