"""Damage of an inventory: values that no release wrote, found by table, row and column.

SQLite checks neither the types nor the meaning of values. A damaged disk or another program may have changed them, and
any code that reads the inventory may then fail in any way.
"""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Boolean, Float, Integer, LargeBinary, exists, func, select
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.exceptions import DamagedInventoryError, InventoryError
from sitemap_crawler.inventory.dialects import json_text
from sitemap_crawler.inventory.schema import (
    SCHEMA_VERSION,
    UrlState,
    added_urls,
    changes,
    decisions,
    frontier,
    inspections,
    listings,
    meta,
    metadata,
    nofollowed,
    observations,
    supplied,
    urls,
)
from sitemap_crawler.inventory.sitemap_answers import stored_answer
from sitemap_crawler.inventory.sql import STREAM_ROWS, chunks, decode_links, url_key
from sitemap_crawler.items import NoteKind, PageRendering, RenderState
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.sitemap.names import is_section_name
from sitemap_crawler.sitemap.video import Video
from sitemap_crawler.urls.normalise import host_of
from sitemap_crawler.utils.directories import check_database
from sitemap_crawler.utils.nesting import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Column, ColumnElement, Connection, Table

    from sitemap_crawler.config.state_location import ServerLocation, StateLocation

REMEDY = "restore a copy, or move it away and crawl again"
MIN_TIME, MAX_TIME = -62_135_596_800.0, 253_402_300_799.0
"""Years 1 and 9999 in seconds since 1970: the dates that Python has."""
_HASHES = ("key", "sitemap")
"""Columns with signed hashes of URLs. All other integers are numbers of something."""
_NUMBERS = frozenset((
    NoteKind.ALIKE, NoteKind.DEEP_PAGE, NoteKind.LONG_BODY, NoteKind.MANY_LINKS, NoteKind.NOFOLLOW_LINKS,
    NoteKind.NOFOLLOW_PAGE, NoteKind.NUMBERS_STEP, NoteKind.REPEATS, NoteKind.SCRIPT_SHELL, NoteKind.WORDPRESS_LIST,
))  # fmt: skip
"""Kinds of the notes that are numbers. All others are texts."""
_NOT_DAMAGE = {
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM,
}  # fmt: skip
"""Error codes of SQLite for faults outside of the file, https://www.sqlite.org/rescode.html."""


_URL_IDS = (
    (urls, "referrer"), (observations, "url_id"), (observations, "location"), (observations, "refresh"),
    (observations, "canonical"), (decisions, "url_id"), (listings, "url_id"), (changes, "url_id"),
    (nofollowed, "referrer"), (supplied, "url_id"), (added_urls, "url_id"), (inspections, "url_id"),
    (frontier, "url_id"),
)  # fmt: skip
"""Columns with ids of URLs."""
_OBSERVED = tuple(
    f"SELECT url_id FROM {pages} AND url_id NOT IN (SELECT url_id FROM {observations.name})"  # noqa: S608
    for pages in (f"{decisions.name} WHERE decision = 'listed'", f"{listings.name} WHERE true")
)
"""Queries of the pages that are listed, and so have been observed."""
_BODY_HASHES = f"SELECT url_id FROM {observations.name} WHERE typeof(body_hash) NOT IN ('blob', 'null')"  # noqa: S608
"""Query of the hashes that equal no other: with one, an index file that repeats its directory would be listed."""


class _StoredText(bytes):
    """A value of the type text. It need not be UTF-8."""


def damage_message(path: StateLocation, error: BaseException) -> str | None:
    """Return the message for an exception that damage of the inventory at `path` explains, or None for any other."""
    if isinstance(error, SQLAlchemyError) and not isinstance(path, Path):
        # The server says what is wrong.
        return None
    cause = error.orig if isinstance(error, SQLAlchemyError) and hasattr(error, "orig") else error
    if (getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF in _NOT_DAMAGE:
        return None
    place = None
    with suppress(InventoryError):
        place = next(find_damage(path), None)
    return None if place is None else damaged(path, place)


def damaged(path: StateLocation, place: str) -> str:
    return f"the inventory {path} is damaged ({place}): {REMEDY}"


def check_before_publication(path: StateLocation, *, loses_pages: bool) -> None:
    """Raise DamagedInventoryError if the new set may lack or gain a page because the inventory at `path` is damaged.

    The damage that shows nowhere else is always looked for, which takes a second for millions of URLs. The rest of the
    file is read only if the set loses pages of the last one: that takes as long as writing the set.
    """
    place = next(find_damage(path) if loses_pages else find_silent_damage(path), None)
    if place is not None:
        raise DamagedInventoryError(damaged(path, place))


def check_pages_before_publication(path: StateLocation, ids: Sequence[int]) -> None:
    """Raise DamagedInventoryError if the rows of these URLs, which may leave the set, are damaged.

    All other pages stay in the set as they are, so their rows cannot remove any.
    """
    places = (
        _read(path, lambda connection: _find_damage_of_pages(connection, ids))
        if isinstance(path, Path)
        else _read_server(path, lambda connection: _find_damage_of_server_pages(connection, ids))
    )
    place = next(places, None)
    if place is not None:
        raise DamagedInventoryError(damaged(path, place))


def find_damage(path: StateLocation) -> Iterator[str]:
    """Yield the places of the damage: what SQLite finds in the file, or else the values that no release writes.

    On a server only the values and the rows are checked: the server checks its files.

    A value is named by table, row and column. Raises InventoryError if the file cannot be read for another reason.
    """
    return _read(path, _find_damage) if isinstance(path, Path) else _read_server(path, _find_damage_of_values)


def find_silent_damage(path: StateLocation) -> Iterator[str]:
    """Yield the places of lost rows and of values that change the set although nothing fails that reads them.

    A row is lost if another one names it: no release deletes URLs or observations. Raises InventoryError if the file
    cannot be read for another reason.
    """
    return _read(path, _find_silent_damage) if isinstance(path, Path) else _read_server(path, _find_lost_server_rows)


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


def _read_server(location: ServerLocation, find: Callable[[Connection], Iterator[str]]) -> Iterator[str]:
    from sitemap_crawler.inventory.postgresql import reading

    with reading(location) as connection:
        yield from find(connection)


def _find_damage_of_values(connection: Connection) -> Iterator[str]:
    highest = connection.scalar(select(func.max(urls.c.id))) or 0
    for table in metadata.sorted_tables:
        yield from _damage_of_server_table(connection, table, highest)
    yield from _find_lost_server_rows(connection)


def _find_damage_of_server_pages(connection: Connection, ids: Sequence[int]) -> Iterator[str]:
    highest = connection.scalar(select(func.max(urls.c.id))) or 0
    for table in (urls, observations, decisions, listings):
        key = next(iter(table.primary_key.columns))
        for chunk in chunks(ids):
            yield from _damage_of_server_table(connection, table, highest, where=key.in_(chunk))


def _damage_of_server_table(
    connection: Connection, table: Table, highest: int, *, where: ColumnElement[bool] | None = None
) -> Iterator[str]:
    query = select(*(json_text(column) if isinstance(column.type, JSON) else column for column in table.columns))
    rows = connection.execution_options(yield_per=STREAM_ROWS).execute(query if where is None else query.where(where))
    yield from _damage_of_rows(map(_with_stored_texts, rows), table, highest)


def _find_lost_server_rows(connection: Connection) -> Iterator[str]:
    for table, column in _URL_IDS:
        key = next(iter(table.primary_key.columns))
        lost = ~exists().where(urls.c.id == table.c[column])
        if table is urls:
            other = urls.alias("others")
            lost = ~exists().where(other.c.id == table.c[column])
        for row in connection.scalars(select(key).where(table.c[column].is_not(None), lost)):
            yield f"table {table.name}, row {row}, column {column}"
    for pages in (select(decisions.c.url_id).where(decisions.c.decision == "listed"), select(listings.c.url_id)):
        page = pages.subquery()
        unseen = ~exists().where(observations.c.url_id == page.c.url_id)
        for row in connection.scalars(select(page.c.url_id).where(unseen)):
            yield f"table {observations.name}, row {row} is missing"


def _with_stored_texts(row: Sequence[Any]) -> list[Any]:
    return [_StoredText(value.encode()) if isinstance(value, str) else value for value in row]


def _find_damage(connection: sqlite3.Connection) -> Iterator[str]:
    problems = [row[0] for row in connection.execute("PRAGMA quick_check(20)")]
    if problems != ["ok"]:
        yield from (" ".join(str(problem).split()) for problem in problems)
        return
    if _is_of_another_release(connection):
        return
    connection.text_factory = _StoredText
    highest = _highest_id(connection)
    for table in metadata.sorted_tables:
        yield from _damage_of_table(connection, table, highest)
    yield from _find_lost_rows(connection)


def _find_damage_of_pages(connection: sqlite3.Connection, ids: Sequence[int]) -> Iterator[str]:
    connection.text_factory = _StoredText
    highest = _highest_id(connection)
    for table in (urls, observations, decisions, listings):
        key = next(iter(table.primary_key.columns)).name
        for chunk in chunks(ids):
            chosen = f"{key} IN ({', '.join(str(int(url_id)) for url_id in chunk)})"
            yield from _damage_of_table(connection, table, highest, where=chosen)


def _highest_id(connection: sqlite3.Connection) -> int:
    highest = connection.execute(f"SELECT max(id) FROM {urls.name}").fetchone()[0]  # noqa: S608
    return highest if isinstance(highest, int) else 0


def _find_lost_rows(connection: sqlite3.Connection) -> Iterator[str]:
    for table, column in _URL_IDS:
        key = next(iter(table.primary_key.columns)).name
        query = f"SELECT {key} FROM {table.name} WHERE {column} NOT IN (SELECT id FROM {urls.name})"  # noqa: S608
        for (row,) in connection.execute(query):
            yield f"table {table.name}, row {row}, column {column}"
    for query in _OBSERVED:
        for (row,) in connection.execute(query):
            yield f"table {observations.name}, row {row} is missing"


def _find_silent_damage(connection: sqlite3.Connection) -> Iterator[str]:
    yield from _find_lost_rows(connection)
    for (row,) in connection.execute(_BODY_HASHES):
        yield f"table {observations.name}, row {row}, column body_hash"


def _is_of_another_release(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
    return row is not None and row[0] != str(SCHEMA_VERSION) and str(row[0]).isdecimal()


def _damage_of_table(
    connection: sqlite3.Connection, table: Table, highest: int, *, where: str = "true"
) -> Iterator[str]:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    rows = connection.execute(f"SELECT {names} FROM {table.name} WHERE {where}")  # noqa: S608 - names of the schema
    yield from _damage_of_rows(rows, table, highest)


def _damage_of_rows(rows: Iterable[Sequence[Any]], table: Table, highest: int) -> Iterator[str]:
    columns = list(table.columns)
    for number, row in enumerate(rows, 1):
        values = dict(zip(table.columns.keys(), row, strict=True))
        for column in columns:
            is_sound = _is_sound(column, values[column.name], highest)
            if not is_sound or (column is meta.c.value and not _is_meta(values["name"], values["value"])):
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
        meant = read_json(text) if isinstance(column.type, JSON) else text
    except ValueError:
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


def _are_notes(value: Any, _highest: int) -> bool:
    return isinstance(value, dict) and all(_is_note(NoteKind(kind), note) for kind, note in value.items())


def _is_note(kind: NoteKind, note: Any) -> bool:
    if kind in _NUMBERS:
        return isinstance(note, int) and note >= 0
    return isinstance(note, str) or (isinstance(note, list) and all(isinstance(text, str) for text in note))


def _are_totals(value: Any, _highest: int) -> bool:
    """Return whether this has texts, counts, and counts by name, and what was refused by host."""
    by_host = value.get("by_host", {"refused": {}, "others": ""})
    texts = [by_host["others"], *by_host["refused"].values()]
    parts = [part for name, part in value.items() if name != "by_host"]
    counts = [part for part in parts if not isinstance(part, str | dict)]
    for part in parts:
        counts.extend(part.values() if isinstance(part, dict) else ())
    return all(isinstance(count, int) and count >= 0 for count in counts) and all(isinstance(t, str) for t in texts)


def _is_meta(name: Any, value: bytes) -> bool:
    """Return whether a text may be the value with this name. A name that is no text is damage of its own."""
    # Only the search for damage needs the models.
    from sitemap_crawler.inventory.meta_values import is_sound

    return not isinstance(name, bytes) or is_sound(name.decode(errors="replace"), value.decode())


_CHECKS: dict[str, Callable[[Any, int], bool]] = {
    "runs.options": lambda value, _: isinstance(value, dict),
    "runs.totals": _are_totals,
    "runs.start_url": lambda value, _: bool(host_of(value)),
    "runs.requested_url": lambda value, _: bool(host_of(value)),
    "runs.sitemap_url": lambda value, _: bool(host_of(value)),
    "urls.url": lambda value, _: bool(host_of(value)),
    "published.url": lambda value, _: bool(host_of(value)),
    "urls.state": lambda value, _: UrlState(value) in UrlState,
    "urls.depth": lambda value, _: value <= 0xFFFF,
    "frontier.depth": lambda value, _: value <= 0xFFFF,
    "urls.referrer": _is_url_id,
    "observations.location": _is_url_id,
    "observations.refresh": _is_url_id,
    "observations.canonical": _is_url_id,
    "observations.links": lambda value, highest: all(link <= highest for link in decode_links(value)),
    "observations.alternates": _are_alternates,
    "observations.extras": _are_extras,
    "observations.notes": _are_notes,
    "observations.rendered": lambda value, _: RenderState(value) in RenderState,
    "observations.rendering": lambda value, _: PageRendering.from_stored(0, value) is not None,
    "changes.kind": lambda value, _: value in ("added", "changed", "removed"),
    "engine_sitemaps.answer": lambda value, _: stored_answer(value) is not None,
    "decisions.decision": lambda value, _: value in ("listed", "excluded"),
    "decisions.reason": lambda value, _: value in tuple(Reason),
    "decisions.before": lambda value, _: value in tuple(Reason),
    "warnings.kind": lambda value, _: value in tuple(WarningKind),
    "named_alternates.alternates": _are_alternates,
    "supplied.extras": _are_extras,
    "supplied.section": lambda value, _: is_section_name(value),
}
"""Checks of the meaning of values that have the right type, by column."""
