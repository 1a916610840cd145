"""Damage of an inventory: values that no release wrote, found by table, row and column.

SQLite checks neither the types nor the meaning of values. A damaged disk or another program may have changed them, and
any code that reads the inventory may then fail in any way.
"""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Boolean, Float, Integer, LargeBinary
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.exceptions import DamagedInventoryError, InventoryError
from sitemap_crawler.inventory.schema import (
    SCHEMA_VERSION,
    UrlState,
    changes,
    decisions,
    listings,
    metadata,
    nofollowed,
    observations,
    supplied,
    urls,
)
from sitemap_crawler.inventory.sql import decode_links, url_key
from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.sitemap.names import is_section_name
from sitemap_crawler.sitemap.video import Video
from sitemap_crawler.urls.normalise import host_of
from sitemap_crawler.utils.directories import check_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Column, Table

REMEDY = "restore a copy, or move it away and crawl again"
MIN_TIME, MAX_TIME = -62_135_596_800.0, 253_402_300_799.0
"""Years 1 and 9999 in seconds since 1970: the dates that Python has."""
_HASHES = ("key", "sitemap")
"""Columns with signed hashes of URLs. All other integers are numbers of something."""
_NOT_DAMAGE = {
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM,
}  # fmt: skip
"""Error codes of SQLite for faults outside of the file, https://www.sqlite.org/rescode.html."""


_URL_IDS = (
    (urls, "referrer"), (observations, "url_id"), (observations, "location"), (observations, "refresh"),
    (observations, "canonical"), (decisions, "url_id"), (listings, "url_id"), (changes, "url_id"),
    (nofollowed, "referrer"), (supplied, "url_id"),
)  # fmt: skip
"""Columns with ids of URLs."""
_OBSERVED = tuple(
    f"SELECT url_id FROM {pages} AND url_id NOT IN (SELECT url_id FROM {observations.name})"  # noqa: S608
    for pages in (f"{decisions.name} WHERE decision = 'listed'", f"{listings.name} WHERE true")
)
"""Queries of the pages that are listed, and so have been observed."""


class _StoredText(bytes):
    """A value of the type text. It need not be UTF-8."""


def damage_message(path: Path, error: BaseException) -> str | None:
    """Return the message for an exception that damage of the inventory at `path` explains, or None for any other."""
    cause = error.orig if isinstance(error, SQLAlchemyError) and hasattr(error, "orig") else error
    if (getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF in _NOT_DAMAGE:
        return None
    place = None
    with suppress(InventoryError):
        place = next(find_damage(path), None)
    return None if place is None else damaged(path, place)


def damaged(path: Path, place: str) -> str:
    return f"the inventory {path} is damaged ({place}): {REMEDY}"


def check_before_publication(path: Path, *, loses_pages: bool) -> None:
    """Raise DamagedInventoryError if a page may be missing in the new set because the inventory at `path` is damaged.

    Lost rows are always looked for, which takes a second for millions of URLs. The rest of the file is read only if the
    set loses pages of the last one: that takes as long as writing the set.
    """
    place = next(find_damage(path) if loses_pages else find_lost_rows(path), None)
    if place is not None:
        raise DamagedInventoryError(damaged(path, place))


def find_damage(path: Path) -> Iterator[str]:
    """Yield the places of the damage: what SQLite finds in the file, or else the values that no release writes.

    A value is named by table, row and column. Raises InventoryError if the file cannot be read for another reason.
    """
    return _read(path, _find_damage)


def find_lost_rows(path: Path) -> Iterator[str]:
    """Yield the places at which other rows show that a row is lost. No release deletes URLs or observations.

    Raises InventoryError if the file cannot be read for another reason.
    """
    return _read(path, _find_lost_rows)


def _read(path: Path, find: Callable[[sqlite3.Connection], Iterator[str]]) -> Iterator[str]:
    check_database(path)
    immutable = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    address = f"{path.absolute().as_uri()}?mode=ro{immutable}"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=10)) as connection:
            yield from find(connection)
    except UnicodeDecodeError as error:
        # Python cannot decode SQLite's message, which repeats damaged text.
        yield " ".join(error.object.decode(errors="replace").split())
    except sqlite3.Error as error:
        if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in _NOT_DAMAGE:
            raise InventoryError(f"cannot read the inventory {path}: {error}; run the same command again") from error
        yield " ".join(str(error).split())


def _find_damage(connection: sqlite3.Connection) -> Iterator[str]:
    problems = [row[0] for row in connection.execute("PRAGMA quick_check(20)")]
    if problems != ["ok"]:
        yield from (" ".join(str(problem).split()) for problem in problems)
        return
    if _is_of_another_release(connection):
        return
    connection.text_factory = _StoredText
    highest = connection.execute(f"SELECT max(id) FROM {urls.name}").fetchone()[0]  # noqa: S608
    for table in metadata.sorted_tables:
        yield from _damage_of_table(connection, table, highest if isinstance(highest, int) else 0)
    yield from _find_lost_rows(connection)


def _find_lost_rows(connection: sqlite3.Connection) -> Iterator[str]:
    for table, column in _URL_IDS:
        key = next(iter(table.primary_key.columns)).name
        query = f"SELECT {key} FROM {table.name} WHERE {column} NOT IN (SELECT id FROM {urls.name})"  # noqa: S608
        for (row,) in connection.execute(query):
            yield f"table {table.name}, row {row}, column {column}"
    for query in _OBSERVED:
        for (row,) in connection.execute(query):
            yield f"table {observations.name}, row {row} is missing"


def _is_of_another_release(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
    return row is not None and row[0] != str(SCHEMA_VERSION) and str(row[0]).isdecimal()


def _damage_of_table(connection: sqlite3.Connection, table: Table, highest: int) -> Iterator[str]:
    columns = list(table.columns)
    names = ", ".join(f'"{column.name}"' for column in columns)
    rows = connection.execute(f"SELECT {names} FROM {table.name}")  # noqa: S608 - names of the schema
    for number, row in enumerate(rows, 1):
        values = dict(zip(table.columns.keys(), row, strict=True))
        for column in columns:
            if not _is_sound(column, values[column.name], highest):
                key = next(iter(table.primary_key.columns)).name
                place = values[key] if isinstance(values[key], int) else number
                yield f"table {table.name}, row {place}, column {column.name}"
        if table is urls and isinstance(values["url"], bytes):
            url = values["url"].decode(errors="replace")
            if values["key"] != url_key(url):
                yield f"table {table.name}, row {values['id']}, column key"


def _is_sound(column: Column[Any], value: Any, highest: int) -> bool:
    """Return whether a value may stand in a column. `highest` is the highest id of a URL."""
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, Boolean):
        return value in (0, 1) and isinstance(value, int)
    if isinstance(column.type, Integer):
        return (
            isinstance(value, int) and (column.name in _HASHES or value >= 0) and _has_meaning(column, value, highest)
        )
    if isinstance(column.type, Float):
        return isinstance(value, int | float) and math.isfinite(value) and MIN_TIME <= value <= MAX_TIME
    if isinstance(column.type, LargeBinary):
        return isinstance(value, bytes) and not isinstance(value, _StoredText) and _has_meaning(column, value, highest)
    if not isinstance(value, _StoredText):
        return False
    try:
        text = value.decode()
        meant = json.loads(text) if isinstance(column.type, JSON) else text
    except (ValueError, RecursionError):
        return False
    return _has_meaning(column, meant, highest)


def _has_meaning(column: Column[Any], value: Any, highest: int) -> bool:
    check = _CHECKS.get(str(column))
    try:
        return check is None or bool(check(value, highest))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
        return False


def _is_url_id(value: Any, highest: int) -> bool:
    return isinstance(value, int) and 0 < value <= highest


def _are_alternates(value: Any, highest: int) -> bool:
    return isinstance(value, list) and all(isinstance(code, str) and _is_url_id(url, highest) for code, url in value)


def _are_extras(value: Any, _highest: int) -> bool:
    images, texts = value.get("images", []), value.get("image_texts", {})
    for fields in value.get("videos", []):
        Video.from_fields(fields)
    if "article" in value:
        # Loads lxml, which the commands that only read the inventory do without.
        from sitemap_crawler.extract.news import Article

        Article(**value["article"])
    return all(isinstance(image, str) for image in images) and all(len(pair) == 2 for pair in texts.values())


def _is_meta(value: Any, _highest: int) -> bool:
    """Return whether this is a number, or the JSON of what is known of traps."""
    return isinstance(json.loads(value), dict) if value.startswith("{") else math.isfinite(float(value))


_CHECKS: dict[str, Callable[[Any, int], bool]] = {
    "meta.value": _is_meta,
    "runs.options": lambda value, _: isinstance(value, dict),
    "runs.start_url": lambda value, _: bool(host_of(value)),
    "runs.requested_url": lambda value, _: bool(host_of(value)),
    "runs.sitemap_url": lambda value, _: bool(host_of(value)),
    "urls.url": lambda value, _: bool(host_of(value)),
    "urls.state": lambda value, _: UrlState(value) in UrlState,
    "urls.depth": lambda value, _: value <= 0xFFFF,
    "urls.referrer": _is_url_id,
    "observations.location": _is_url_id,
    "observations.refresh": _is_url_id,
    "observations.canonical": _is_url_id,
    "observations.links": lambda value, highest: all(link <= highest for link in decode_links(value)),
    "observations.alternates": _are_alternates,
    "observations.extras": _are_extras,
    "observations.notes": lambda value, _: all(NoteKind(kind) in NoteKind for kind in value),
    "changes.kind": lambda value, _: value in ("added", "changed", "removed"),
    "decisions.decision": lambda value, _: value in ("listed", "excluded"),
    "decisions.reason": lambda value, _: value in tuple(Reason),
    "named_alternates.alternates": _are_alternates,
    "supplied.extras": _are_extras,
    "supplied.section": lambda value, _: is_section_name(value),
}
"""By column, the check that a value of the right type means something here."""
