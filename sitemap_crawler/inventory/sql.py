"""Building blocks of the inventory's statements: keys, blobs of links, statements for many rows, batches, hosts."""

from __future__ import annotations

import re
from contextlib import contextmanager
from hashlib import blake2b
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, select, text, true, update

from sitemap_crawler.inventory.dialects import Position, drops_indexes, prefix_index
from sitemap_crawler.inventory.schema import UrlState, decisions, listings, observations, urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Insert, Select, Update
    from sqlalchemy.sql.compiler import SQLCompiler

IN_CHUNK = 500
"""Maximum number of values in one IN clause. SQLite before 3.32 takes 999 parameters in one statement."""
STREAM_ROWS = 1_000
"""Number of rows that a streaming query reads from its cursor at a time."""
BATCH_ROWS = 2_000
"""Number of rows that are read, changed and written at a time."""


_PARAMETER = re.compile(r"%\((\w+)\)s(?:::\w+)?")
"""A parameter in SQLAlchemy's SQL for PostgreSQL, often with its type."""
_TYPE = re.compile(r"\w+")
_CONFLICT = " ON CONFLICT "


def url_key(url: str) -> int:
    """Return the key of a URL in the table `urls`: 64 bits of its hash, as a signed number."""
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)


def encode_links(ids: Iterable[int]) -> bytes:
    """Encode URL ids as a blob: sorted, without duplicates, each as its distance to the one before, 7 bits a byte."""
    blob = bytearray()
    last = 0
    for link_id in sorted(set(ids)):
        delta = link_id - last
        last = link_id
        while delta > 0x7F:
            blob.append(delta & 0x7F | 0x80)
            delta >>= 7
        blob.append(delta)
    return bytes(blob)


def decode_links(blob: bytes) -> Iterator[int]:
    """Yield the URL ids of a blob in ascending order."""
    link_id = shift = delta = 0
    for byte in blob:
        delta |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
            continue
        link_id += delta
        yield link_id
        shift = delta = 0


class RowStatement:
    """A statement for many rows, each a mapping of all the parameters `names`.

    The values of a row go to the database unchanged, so JSON has to be text. SQLAlchemy would process each value of
    each row, which takes longer than the database does.
    """

    def __init__(self, statement: Insert | Update, names: Sequence[str], *, joins: bool = False) -> None:
        """`joins` lets a server take all rows with one statement. No two of them may have the same key."""
        self._statement, self._names = statement, names
        self._joins = joins
        self._is_joined = False
        self._text = self._dialect = ""
        self._arrange: Callable[[Mapping[str, Any]], Any] | None = None

    def execute(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute the statement for all rows. Without rows nothing is executed."""
        if not rows:
            return
        if connection.dialect.name != self._dialect:
            self._prepare(connection)
        if self._is_joined:
            columns = {name: [row[name] for row in rows] for name in self._names}
            connection.exec_driver_sql(self._text, columns)
            return
        arrange = self._arrange
        connection.exec_driver_sql(self._text, [arrange(row) for row in rows] if arrange else list(rows))

    def _prepare(self, connection: Connection) -> None:
        compiled: SQLCompiler = self._statement.compile(connection, column_keys=list(self._names))
        if set(compiled.params) != set(self._names):
            raise ValueError(f"the statement's parameters are {sorted(compiled.params)}")
        self._arrange = itemgetter(*compiled.positiontup) if compiled.positiontup is not None else None
        self._dialect = connection.dialect.name
        self._is_joined = self._joins and self._dialect == "postgresql"
        self._text = _joined(compiled) if self._is_joined else compiled.string


def _joined(compiled: SQLCompiler) -> str:
    """Return an INSERT or UPDATE of one row as one of all rows, whose parameters are arrays, one for each column.

    The server would read, plan and answer a statement for each row, which takes five times as long.
    """
    type_names = compiled.dialect.type_compiler_instance
    # An array has no collation, and a cast to a length would cut texts off.
    types = {name: _TYPE.findall(type_names.process(bind.type))[0] for name, bind in compiled.binds.items()}
    arrays = ", ".join(f"%({name})s::{kind}[]" for name, kind in types.items())
    given = f" FROM unnest({arrays}) AS given({', '.join(types)})"
    values = _PARAMETER.sub(r"given.\1", compiled.string)
    if values.startswith("UPDATE "):
        before, where, after = values.partition(" WHERE ")
        return f"{before}{given}{where}{after}"
    before, begin, rest = values.partition(" VALUES (")
    row, end, after = rest.partition(")" + _CONFLICT)
    if not begin or not end:
        raise ValueError(f"the statement is no upsert: {compiled.string}")
    return f"{before} SELECT {row}{given}{_CONFLICT}{after}"


def update_urls(*columns: str) -> RowStatement:
    """Return a statement that sets columns of `urls`. Rows have `b_id`, and `b_` before the name of each column."""
    values: dict[str, Any] = {column: bindparam(f"b_{column}") for column in columns}
    names = ("b_id", *(f"b_{column}" for column in columns))
    return RowStatement(update(urls).where(urls.c.id == bindparam("b_id")).values(values), names, joins=True)


SET_STATE = update_urls("state")
SET_DATE = RowStatement(
    update(observations)
    .where(observations.c.url_id == bindparam("b_id"))
    .values({name: bindparam(f"b_{name}") for name in ("lastmod", "lastmod_source", "lastmod_day")}),
    ("b_id", "b_lastmod", "b_lastmod_source", "b_lastmod_day"),
)
"""Sets the date of an observation."""


def chunks(values: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split values into sequences that fit into an IN clause."""
    for start in range(0, len(values), IN_CHUNK):
        yield values[start : start + IN_CHUNK]


def batches_of_urls(connection: Connection, query: Select[Any]) -> Iterator[Sequence[Any]]:
    """Yield all rows of a query, by the ids of their URLs. Rows may be changed between two batches."""
    last = 0
    while rows := connection.execute(query.where(urls.c.id > last).order_by(urls.c.id).limit(BATCH_ROWS)).all():
        yield rows
        last = rows[-1].id


def has_prefix(prefix: str | None) -> ColumnElement[bool]:
    """Return the condition that a URL begins with `prefix`, which ends in `/`. None admits all URLs."""
    if prefix is None:
        return true()
    # 0 follows / in ASCII.
    return (urls.c.url >= prefix) & (urls.c.url < prefix[:-1] + "0")


@contextmanager
def url_index(connection: Connection) -> Iterator[None]:
    """Keep an index of the URLs, without which `has_prefix` reads all of them for each host.

    The index nearly doubles the file of SQLite, so it is dropped on exit.
    """
    with connection.begin():
        connection.execute(text(f"CREATE INDEX IF NOT EXISTS urls_by_url ON urls {prefix_index(connection)} (url)"))
    try:
        yield
    finally:
        if drops_indexes(connection):
            with connection.begin():
                connection.execute(text("DROP INDEX IF EXISTS urls_by_url"))


def admitted_hosts(connection: Connection) -> Iterator[str]:
    """Yield the hosts that have URLs to fetch, or had them, as `scheme://host[:port]/`."""
    with connection.begin():
        query = _count_by_host().where(urls.c.state != int(UrlState.KNOWN))
        yield from [row[0] for row in connection.execute(query)]


def listed_by_host(connection: Connection) -> dict[str, int]:
    """Return the number of pages that are decided to be listed, by `scheme://host[:port]/`."""
    query = _count_by_host().join(decisions, decisions.c.url_id == urls.c.id)
    return _counts(connection, query.where(decisions.c.decision == "listed"))


def published_by_host(connection: Connection) -> dict[str, int]:
    """Return the number of pages of the last published set, by `scheme://host[:port]/`."""
    return _counts(connection, _count_by_host().join(listings, listings.c.url_id == urls.c.id))


def _count_by_host() -> Select[Any]:
    # The first / after that of the scheme is the ninth character of a URL or a later one.
    prefix = func.substr(urls.c.url, 1, Position(func.substr(urls.c.url, 9), "/") + 8)
    return select(prefix.label("prefix"), func.count()).select_from(urls).group_by("prefix")


def _counts(connection: Connection, query: Select[Any]) -> dict[str, int]:
    with connection.begin():
        return {row[0]: row[1] for row in connection.execute(query)}
