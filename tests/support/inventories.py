"""Where the inventories of a test are: in the files that it names, or in schemas of a PostgreSQL server instead.

A test names files in both cases. On a server each of them stands for a schema, for the program as for the test.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sitemap_crawler.config.state_location import ServerLocation, parse_server
from sitemap_crawler.inventory import lookup, store
from tests.support.postgres_server import ICU

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.lookup import Inventory
    from sitemap_crawler.inventory.store import Store
    from tests.support.postgres_server import PostgresServer

_used: list[PostgresServer] = []
_STATE = ("--state", "--against")
_SETTING = "SITEMAP_STATE="
_FILES = (".sqlite", ".db")


class InventoriesOnServer:
    """While it is entered, the inventories of tests are in schemas of a server, which has no others."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    def __enter__(self) -> Self:
        # A command without --state finds all inventories of a database, also those of earlier tests.
        self._server.drop_schemas(ICU)
        _used.append(self._server)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _used.pop()


def on_server() -> bool:
    """Return whether the inventories of the running test are on a server."""
    return bool(_used)


def database_url() -> str | None:
    """Return the URL of the database with the inventories, without a schema; None if they are files."""
    return _used[-1].url(ICU, schema="x").partition("&schema=")[0] if _used else None


def place(path: Path) -> StateLocation:
    """Return where the inventory is that a test calls `path`."""
    url = state_value(path)
    return parse_server(url) if on_server() else path


def state_value(path: Path | str) -> str:
    """Return the value of `--state` for the inventory that a test calls `path`."""
    if not on_server():
        return str(path)
    absolute = os.path.abspath(path)  # noqa: PTH100 - the file need not exist
    digest = blake2b(absolute.encode(), digest_size=6).hexdigest()
    return f"{database_url()}&schema=t_{digest}"


def state_beside(path: Path, directory: Path) -> str:
    """Return the value of `state` in a site file of a directory for the inventory that a test calls `path`."""
    return state_value(path) if on_server() else os.path.relpath(path, directory)


def translated(arguments: Sequence[str], directory: Path) -> list[str]:
    """Return arguments of the program, run in a directory, with the places of the inventories that they name."""
    if not on_server():
        return list(arguments)
    found = []
    before = ""
    for argument in arguments:
        option, _, name = argument.rpartition("=")
        if before in _STATE and _is_file(argument, any_name=before == "--state"):
            found.append(state_value(directory / argument))
        elif option.endswith(_SETTING[:-1]) and _is_file(name, any_name=True):
            found.append(f"{option}={state_value(directory / name)}")
        else:
            found.append(argument)
        before = argument
    return found


def _is_file(value: str, *, any_name: bool) -> bool:
    return "://" not in value and (any_name or value.endswith(_FILES))


class Connected:
    """A connection to the inventory on a server, with the methods of sqlite3 and its mark for parameters."""

    def __init__(self, location: ServerLocation) -> None:
        import psycopg
        from psycopg.types.string import TextLoader

        self._connection = psycopg.connect(
            location.url.replace("postgresql+psycopg:", "postgresql:", 1),
            options=f'-c search_path="{location.schema}"',
        )
        # A column of JSON is text in SQLite.
        for name in ("json", "jsonb"):
            self._connection.adapters.register_loader(name, TextLoader)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(_statement(statement), values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_statement(statement), list(rows))

    def commit(self) -> None:
        self._connection.commit()

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()


def _statement(text: str) -> bytes:
    return text.replace("%", "%%").replace("?", "%s").encode()


def connect(path: StateLocation) -> sqlite3.Connection | Connected:
    """Connect with the inventory that a test calls `path`, past the program."""
    location = place(path) if isinstance(path, Path) else path
    return Connected(location) if isinstance(location, ServerLocation) else sqlite3.connect(location)


def rows(path: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with closing(connect(path)) as connection:
        return list(connection.execute(query, values).fetchall())


def change(path: Path, *statements: str) -> None:
    with closing(connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def tables(path: Path) -> Iterator[str]:
    """Yield the names of the tables of an inventory."""
    query = (
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        if on_server()
        else "SELECT name FROM sqlite_master WHERE type = 'table'"
    )
    yield from sorted(name for (name,) in rows(path, query))


def open_store(path: StateLocation, *, private: bool = False) -> Store:
    """Open the inventory that a test calls `path`, as the program opens it to write."""
    return store.open_store(place(path) if isinstance(path, Path) else path, private=private)


def open_inventory(path: StateLocation) -> AbstractContextManager[Inventory]:
    """Open the inventory that a test calls `path`, as the program opens it to read."""
    return lookup.open_inventory(place(path) if isinstance(path, Path) else path)
