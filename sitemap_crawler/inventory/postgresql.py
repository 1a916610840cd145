"""The inventory in PostgreSQL: a schema for each site. Only a location on a server imports this module.

No state of a session is used but that of a transaction: the search path is set at the begin of each.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, cast, create_engine, event, func, insert, inspect, text, update
from sqlalchemy.dialects.sqlite.dml import OnConflictDoNothing, OnConflictDoUpdate
from sqlalchemy.engine import make_url
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateSchema

from sitemap_crawler.exceptions import InventoryError, NotAnInventoryError, OptionError
from sitemap_crawler.inventory.connecting import ConnectionAttempts
from sitemap_crawler.inventory.dialects import Greater, Position, Truncated
from sitemap_crawler.inventory.migrations import SERVER_TABLES, STEPS, is_old, stored_version, version_problem
from sitemap_crawler.inventory.schema import SCHEMA_VERSION, frontier, frontier_due, meta, metadata
from sitemap_crawler.inventory.server_errors import RIGHTS_REMEDY, server_problem
from sitemap_crawler.inventory.server_owner import IDLE_SECONDS, OWNED_BY, OWNER_TABLE, ServerLock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

    from sitemap_crawler.config.state_location import ServerLocation

CONNECT_SECONDS = 10
"""Maximum number of seconds until the server answers a new connection."""
LOCK_SECONDS = 30
"""Maximum time to wait for the lock of another client, unless the user of the database has a limit of its own."""
MIN_VERSION = 13
"""First major version of PostgreSQL that is used."""
_CONNECTION = {
    "application_name": "sitemap-crawler",
    "connect_timeout": CONNECT_SECONDS,
    # A server that cannot be reached any more is noticed after half a minute, also while its answer is waited for.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # TCP gives up after ten seconds without an answer, not after a quarter of an hour.
    "tcp_user_timeout": 10_000,
    # A pooler may give each transaction another session of the server.
    "prepare_threshold": None,
}
_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
# The catalogue shows all users all names, also where they have no rights.
_INVENTORIES = text(
    "SELECT nspname, has_schema_privilege(pg_namespace.oid, 'USAGE') FROM pg_namespace "
    "JOIN pg_class ON relnamespace = pg_namespace.oid WHERE relkind = 'r' AND relname IN ('meta', 'runs', 'owner') "
    "GROUP BY nspname, pg_namespace.oid HAVING count(*) = 3 ORDER BY nspname"
)
# A URL may be longer than an entry of a B-tree.
_TABLES = (
    "ALTER TABLE seeds DROP CONSTRAINT seeds_pkey",
    "CREATE INDEX seeds_of_run ON seeds (run)",
    OWNER_TABLE,
    *SERVER_TABLES.split(";"),
)
_BEGIN = (
    "SELECT set_config('search_path', %(path)s, true), set_config('jit', 'off', true), "
    "set_config('lock_timeout', coalesce(nullif(current_setting('lock_timeout'), '0'), %(lock)s), true), "
    "set_config('idle_in_transaction_session_timeout', "
    "coalesce(%(idle)s, current_setting('idle_in_transaction_session_timeout')), true)"
)
_MAY_USE = text("SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = CAST(:schema AS text)")
_BYTES = text(
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
    "WHERE relnamespace = to_regnamespace(:schema) AND relkind = 'r'"
)


@compiles(OnConflictDoUpdate, "postgresql")
def _upsert(clause: Any, compiler: Any, **options: Any) -> str:
    # The one property of PostgreSQL's clause that SQLite's lacks.
    clause.constraint_target = None
    return str(compiler.visit_on_conflict_do_update(clause, **options))


@compiles(OnConflictDoNothing, "postgresql")
def _insert_missing(clause: Any, compiler: Any, **options: Any) -> str:
    clause.constraint_target = None
    return str(compiler.visit_on_conflict_do_nothing(clause, **options))


@compiles(Position, "postgresql")
def _position(function: Any, compiler: Any, **options: Any) -> str:
    return f"strpos({compiler.process(function.clauses, **options).removeprefix('(').removesuffix(')')})"


@compiles(Greater, "postgresql")
def _greater(function: Any, compiler: Any, **options: Any) -> str:
    return f"greatest({compiler.process(function.clauses, **options).removeprefix('(').removesuffix(')')})"


@compiles(Truncated, "postgresql")
def _truncated(element: Any, compiler: Any, **options: Any) -> str:
    return str(compiler.process(cast(func.trunc(element.clause), BigInteger), **options))


def open_server(location: ServerLocation) -> tuple[Engine, ServerLock]:
    """Open the inventory in a schema, or create it. Return its engine and its lock.

    Raises InventoryBusyError if another process has it open, InventoryError if it cannot be used.
    """
    engine, of_lock = server_engine(location), server_engine(location)
    lock = ServerLock(of_lock, location)
    try:
        with engine.begin() as connection:
            _create_or_check(connection, location)
        lock.acquire()
    except BaseException as error:
        engine.dispose()
        of_lock.dispose()
        if not isinstance(error, SQLAlchemyError):
            raise
        raise InventoryError(f"cannot use the inventory {location}: {server_problem(error)}") from error
    return engine, lock


def schema_bytes(connection: Connection, location: ServerLocation) -> int:
    """Return the size of the tables with their indexes."""
    return connection.scalar(_BYTES, {"schema": _quoted(location)}) or 0


def server_engine(location: ServerLocation) -> Engine:
    """Return the engine of a location whose schema is known. Raises OptionError if the driver is not installed."""
    try:
        engine = create_engine(
            make_url(location.url),
            connect_args=_CONNECTION,
            # The parameters of a failed statement are contents of pages.
            hide_parameters=True,
            json_serializer=lambda value: _without_nul(json.dumps(value)),
        )
    except (ImportError, NoSuchModuleError) as error:
        message = "state: a PostgreSQL database needs the driver psycopg: pip install 'sitemap-crawler[postgresql]'"
        raise OptionError(message, option="state") from error
    path = _quoted(location)

    attempts = ConnectionAttempts()

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, _record: Any, given: Any, options: Any) -> Any:
        connection = attempts.connect(lambda: dialect.connect(*given, **options))
        version = connection.info.server_version // 10_000
        if version < MIN_VERSION:
            connection.close()
            raise InventoryError(
                f"cannot use the inventory {location}: the server has version {version} of PostgreSQL; use a server "
                f"with version {MIN_VERSION} or later"
            )
        return connection

    @event.listens_for(engine, "connect")
    def replace_nul(connection: Any, _record: Any) -> None:
        connection.adapters.register_dumper(str, _text_dumper())

    @event.listens_for(engine, "begin")
    def set_path(connection: Connection) -> None:
        # Just-in-time compilation takes longer than any query of ours.
        options = connection.get_execution_options()
        idle_seconds: float | None = options.get(IDLE_SECONDS)
        idle = None if idle_seconds is None else f"{round(idle_seconds * 1000)}ms"
        settings = {"path": path, "lock": f"{LOCK_SECONDS}s", "idle": idle}
        lock: ServerLock | None = options.get(OWNED_BY)
        if lock is None:
            connection.exec_driver_sql(_BEGIN, settings)
        else:
            lock.begin(connection, _BEGIN, settings)

    return engine


@contextmanager
def reading(location: ServerLocation) -> Iterator[Connection]:
    """Open a connection whose queries all see one state of the inventory. Raises InventoryError."""
    with _reading_database(location) as connection:
        _check_usage(connection, location)
        yield connection


@contextmanager
def _reading_database(location: ServerLocation) -> Iterator[Connection]:
    engine = server_engine(location.with_schema("public"))
    try:
        with read_only(engine) as connection:
            yield connection
    except SQLAlchemyError as error:
        raise InventoryError(f"cannot read the inventory {location}: {server_problem(error)}") from error
    finally:
        engine.dispose()


def read_only(engine: Engine) -> Connection:
    """Return a new connection for one transaction that sees one state and cannot write."""
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True).connect()


def server_inventories(location: ServerLocation, *, readable: bool = False) -> list[str]:
    """Return the schemas of the database that hold inventories; with `readable` those that the user may use.

    Raises InventoryError.
    """
    with _reading_database(location) as connection:
        return [name for name, is_usable in connection.execute(_INVENTORIES) if is_usable or not readable]


def lock_writers(connection: Connection, location: ServerLocation) -> None:
    """Exclude other writers of the same kind until the transaction ends."""
    digest = blake2b(str(location.schema).encode(), digest_size=8).digest()
    key = int.from_bytes(digest, "big", signed=True)
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%(key)s)", {"key": key})


def _create_or_check(connection: Connection, location: ServerLocation) -> None:
    """Create the tables in a schema without tables, or migrate those of an earlier release. Raises InventoryError."""
    # Two processes may begin at once.
    lock_writers(connection, location)
    _check_usage(connection, location)
    inspector = inspect(connection)
    if not inspector.has_schema(str(location.schema)):
        connection.execute(CreateSchema(str(location.schema)))
    if not inspector.get_table_names(location.schema):
        frontier_due.dialect_kwargs["postgresql_where"] = frontier.c.owner.is_(None)
        metadata.create_all(connection, checkfirst=False)
        for statement in _TABLES:
            connection.exec_driver_sql(statement)
        connection.execute(insert(meta).values(name="schema_version", value=str(SCHEMA_VERSION)))
        return
    version = stored_version(connection)
    if version is None:
        raise NotAnInventoryError(f"the schema {location} belongs to another program; choose another one")
    if problem := version_problem(location, version):
        raise InventoryError(problem)
    if is_old(version):
        for number in range(int(version), SCHEMA_VERSION):
            STEPS[number](connection)
        connection.execute(update(meta).where(meta.c.name == "schema_version").values(value=str(SCHEMA_VERSION)))


def _check_usage(connection: Connection, location: ServerLocation) -> None:
    """Raise InventoryError if the user has no right to use the schema, whose tables it would not see."""
    if connection.scalar(_MAY_USE, {"schema": location.schema}) is False:
        raise InventoryError(
            f"cannot use the inventory {location}: permission denied for schema {location.schema}; {RIGHTS_REMEDY}"
        )


def _quoted(location: ServerLocation) -> str:
    return f'"{location.schema}"'


def _text_dumper() -> type[Any]:
    """Return the class that sends texts. PostgreSQL takes no NUL, neither in texts nor in JSON."""
    from psycopg.types.string import StrDumperUnknown

    class Dumper(StrDumperUnknown):
        def dump(self, obj: str) -> Any:
            return super().dump(_without_nul(obj))

    return Dumper


def _without_nul(value: str) -> str:
    if "\0" in value:
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return _ESCAPED_NUL.sub(r"\1\\ufffd", value) if "\\u0000" in value else value
