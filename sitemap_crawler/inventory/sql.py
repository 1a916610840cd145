"""Statements that are executed for many rows at a time."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import blake2b
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, select, text, true, update

from sitemap_crawler.inventory.schema import UrlState, decisions, listings, urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, Insert, Select, Update
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


def url_key(url: str) -> int:
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)


def encode_links(ids: Iterable[int]) -> bytes:
    """The ids in ascending order without duplicates, delta-coded."""
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
    link_id = shift = delta = 0
    for byte in blob:
        delta |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
            continue
        link_id += delta
        yield link_id
        shift = delta = 0


IN_CHUNK = 500
"""Maximum number of values in one IN clause. SQLite before 3.32 takes 999 parameters in one statement."""
STREAM_ROWS = 1_000
"""Number of rows that a streaming query reads from its cursor at a time."""
BATCH_ROWS = 2_000
"""Number of rows that are read, changed and written at a time."""


def chunks(values: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split values into lists that fit into one IN clause."""
    for start in range(0, len(values), IN_CHUNK):
        yield values[start : start + IN_CHUNK]


def batches_of_urls(connection: Connection, query: Select[Any]) -> Iterator[Sequence[Any]]:
    """All rows of a query that has the ids of URLs, by these; rows may be changed between two batches."""
    last = 0
    while rows := connection.execute(query.where(urls.c.id > last).order_by(urls.c.id).limit(BATCH_ROWS)).all():
        yield rows
        last = rows[-1].id


def below(prefix: str | None) -> ColumnElement[bool]:
    """The rows of `urls` whose URLs begin with `prefix`, which ends in /; all without one."""
    if prefix is None:
        return true()
    # 0 is what follows / in ASCII.
    return (urls.c.url >= prefix) & (urls.c.url < prefix[:-1] + "0")


@contextmanager
def url_index(connection: Connection) -> Iterator[None]:
    """An index for `below`, which would else look at all URLs for each host; it would nearly double the file."""
    with connection.begin():
        connection.execute(text("CREATE INDEX IF NOT EXISTS urls_by_url ON urls (url)"))
    try:
        yield
    finally:
        with connection.begin():
            connection.execute(text("DROP INDEX IF EXISTS urls_by_url"))


def admitted_hosts(connection: Connection) -> Iterator[str]:
    """The hosts of which URLs are or were to be fetched, by `scheme://host[:port]/`."""
    with connection.begin():
        query = _by_host().where(urls.c.state != int(UrlState.KNOWN))
        yield from [row[0] for row in connection.execute(query)]


def listed_by_host(connection: Connection) -> dict[str, int]:
    """How many pages are decided to be listed, by `scheme://host[:port]/`."""
    query = _by_host().join(decisions, decisions.c.url_id == urls.c.id)
    return _count(connection, query.where(decisions.c.decision == "listed"))


def published_by_host(connection: Connection) -> dict[str, int]:
    """The same of the last published set."""
    return _count(connection, _by_host().join(listings, listings.c.url_id == urls.c.id))


def _by_host() -> Select[Any]:
    # No URL has its first / after the scheme's before its ninth character.
    prefix = func.substr(urls.c.url, 1, func.instr(func.substr(urls.c.url, 9), "/") + 8)
    return select(prefix.label("prefix"), func.count()).select_from(urls).group_by("prefix")


def _count(connection: Connection, query: Select[Any]) -> dict[str, int]:
    with connection.begin():
        return {row[0]: row[1] for row in connection.execute(query)}
