"""The row of the process that may write an inventory on a server, and the schema that it is in."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.config.state_location import parse_server
from sitemap_crawler.exceptions import InventoryBusyError, InventoryError
from sitemap_crawler.inventory import postgresql, server_owner
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.schema import meta, urls
from sitemap_crawler.inventory.sql import has_prefix, url_index
from sitemap_crawler.inventory.store import open_store
from tests.support.postgres_server import ICU, needs_postgres

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from sitemap_crawler.config.state_location import ServerLocation
    from tests.support.postgres_server import PostgresServer

pytestmark = needs_postgres
LATER_TABLES = (
    "page_texts",
    "frontier", "processes", "hosts", "grants", "robots_fetches", "shared_runs", "crawl_warnings", "trap_places",
    "session_pages", "page_templates", "rendering_counts",
)  # fmt: skip
"""Tables that schema version 9 did not have."""


@pytest.fixture
def location(postgres: PostgresServer) -> ServerLocation:
    return postgres.location()


def test_a_living_process_is_not_replaced(location: ServerLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_owner, "BEAT_SECONDS", 0.1)
    with closing(open_store(location)), pytest.raises(InventoryBusyError, match=r"another run \(process \d+ on "):
        open_store(location)
    open_store(location).close()


def test_a_process_that_was_replaced_writes_nothing_more(
    location: ServerLocation, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This process renews its row too late, as one that was suspended.
    monkeypatch.setattr(server_owner, "BEAT_SECONDS", 3600.0)
    with closing(open_store(location)) as suspended:
        postgres.execute(ICU, f"UPDATE {location.schema}.owner SET seen = seen - interval '1 hour'")
        with closing(open_store(location)) as other:
            with other.connection.begin():
                other.connection.execute(insert(meta).values(name="a", value="1"))
            with (
                pytest.raises(SQLAlchemyError, match="another process has taken it over"),
                suspended.connection.begin(),
            ):
                suspended.connection.execute(insert(meta).values(name="b", value="2"))
            with other.connection.begin():
                assert list(other.connection.scalars(select(meta.c.name).order_by(meta.c.name))) == [
                    "a",
                    "schema_version",
                ]


OWNER = """
import sys, time
from sitemap_crawler.config.state_location import parse_server
from sitemap_crawler.inventory.store import open_store
store = open_store(parse_server(sys.argv[1]))
print("open", flush=True)
time.sleep(600)
"""


@pytest.fixture
def killed(postgres: PostgresServer) -> ServerLocation:
    """The place of an inventory whose owner was killed a moment ago."""
    url = postgres.url()
    with subprocess.Popen([sys.executable, "-c", OWNER, url], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        process.kill()
    return parse_server(url)


def no_waiting(_: float) -> None:
    raise AssertionError("it waits")


@pytest.mark.skipif(not Path("/proc/self/ns/pid").exists(), reason="this system has no /proc")
def test_the_row_of_a_killed_process_of_this_machine_is_free_at_once(
    killed: ServerLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_owner.time, "sleep", no_waiting)
    open_store(killed).close()


@pytest.mark.parametrize("place", ["", " other-boot pid:[1] 1 1", " a b"])
def test_the_row_of_another_machine_is_free_after_a_while(
    killed: ServerLocation, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    postgres.execute(ICU, f"UPDATE {killed.schema}.owner SET token = 'x{place}'")
    monkeypatch.setattr(server_owner.time, "sleep", no_waiting)
    with pytest.raises(AssertionError, match="it waits"):
        open_store(killed)


def test_the_row_is_not_taken_during_a_transaction(
    location: ServerLocation, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_owner, "BEAT_SECONDS", 3600.0)
    with closing(open_store(location)) as store, store.connection.begin():
        # A renewal does not wait for the transaction, while another process would.
        postgres.execute(ICU, f"UPDATE {location.schema}.owner SET seen = seen - interval '1 hour'")
        take = f"SET lock_timeout = 100; UPDATE {location.schema}.owner SET token = 'other'"
        with pytest.raises(Exception, match="lock timeout"):
            postgres.execute(ICU, take)


def test_long_urls_are_found_by_their_prefix(location: ServerLocation) -> None:
    """With an index, whose entries have a maximum size in PostgreSQL."""
    names = [
        "https://a/",
        "https://a/b",
        f"https://a/{'0123456789' * 800}",
        "https://a-b/",
        "https://a_b/",
        "https://A/",
    ]
    with closing(open_store(location)) as store:
        with store.connection.begin():
            rows = [
                {"id": number, "key": number, "url": url, "state": 0, "depth": 0, "first_seen": 1}
                for number, url in enumerate(names)
            ]
            store.connection.execute(insert(urls), rows)
        with url_index(store.connection), store.connection.begin():
            store.connection.execute(text("SET LOCAL enable_seqscan = off"))
            found = store.connection.scalars(select(urls.c.url).where(has_prefix("https://a/")).order_by(urls.c.url))
            assert list(found) == sorted(names[:3])


def test_a_schema_of_an_earlier_release_is_migrated(
    location: ServerLocation, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(location).close()
    now = postgresql.SCHEMA_VERSION
    postgres.execute(ICU, f"UPDATE {location.schema}.meta SET value = '{now - 1}'")

    def add(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE added (a int)"))

    monkeypatch.setitem(postgresql.STEPS, now - 1, add)
    open_store(location).close()
    assert postgres.execute(ICU, f"SELECT value FROM {location.schema}.meta") == [(str(now),)]
    assert postgres.execute(ICU, f"SELECT * FROM {location.schema}.added") == []


def test_a_schema_without_a_frontier_gets_one(location: ServerLocation, postgres: PostgresServer) -> None:
    schema = location.schema
    open_store(location).close()
    for statement in (
        *(f"DROP TABLE {schema}.{table}" for table in LATER_TABLES),
        *(f"ALTER TABLE {schema}.observations DROP COLUMN {name}" for name in ("rendered", "rendering")),
        f"DROP SEQUENCE {schema}.url_ids",
        *(f"ALTER TABLE {schema}.runs DROP COLUMN {name}" for name in ("phase", "version", "leased")),
        f"CREATE INDEX urls_queue ON {schema}.urls (depth, id)",
        f"UPDATE {schema}.meta SET value = '9'",
        f"INSERT INTO {schema}.urls (id, key, url, state, depth, first_seen) VALUES (7, 1, 'https://a/', 1, 2, 1)",
        f"INSERT INTO {schema}.urls (id, key, url, state, depth, first_seen) VALUES (8, 2, 'https://b/', 3, 2, 1)",
    ):
        postgres.execute(ICU, statement)
    with closing(open_store(location)):
        assert postgres.execute(ICU, f"SELECT url_id, depth, owner, deaths FROM {schema}.frontier") == [(7, 2, None, 0)]
        assert postgres.execute(ICU, f"SELECT nextval('{schema}.url_ids')") == [(9,)]
        assert postgres.execute(ICU, f"SELECT count(*) FROM {schema}.processes") == [(0,)]
    assert schema_of(postgres, location) == schema_of(postgres, new_schema(postgres))


def new_schema(postgres: PostgresServer) -> ServerLocation:
    location = postgres.location()
    open_store(location).close()
    return location


def schema_of(postgres: PostgresServer, location: ServerLocation) -> list[tuple[object, ...]]:
    """Return the columns and indexes of the tables."""
    schema = location.schema
    columns = "table_name, column_name, data_type, is_nullable, character_maximum_length"
    found = postgres.execute(
        ICU, f"SELECT {columns} FROM information_schema.columns WHERE table_schema = '{schema}' ORDER BY 1, 2"
    )
    indexes = postgres.execute(
        ICU, f"SELECT replace(indexdef, '{schema}', '') FROM pg_indexes WHERE schemaname = '{schema}' ORDER BY 1"
    )
    return [*found, *indexes]


def test_a_schema_of_a_later_release_is_refused(location: ServerLocation, postgres: PostgresServer) -> None:
    open_store(location).close()
    postgres.execute(ICU, f"UPDATE {location.schema}.meta SET value = '99'")
    with pytest.raises(InventoryError, match="newer than"):
        open_store(location)
    with pytest.raises(InventoryError, match="newer than"), open_inventory(location):
        pass


def test_each_transaction_has_a_limit_for_locks(postgres: PostgresServer) -> None:
    """The limit of the user of the database counts, if there is one."""
    location = postgres.location()
    user = postgres.new_user()
    postgres.execute(ICU, f"CREATE SCHEMA {location.schema} AUTHORIZATION {user}")
    found = []
    for limit in (0, 100):
        postgres.execute(ICU, f"ALTER ROLE {user} SET lock_timeout = {limit}")
        own = parse_server(postgres.url(schema=location.schema, user=user))
        with closing(open_store(own)) as store:
            for _ in range(2):
                with store.connection.begin():
                    found.append(store.connection.scalar(text("SHOW lock_timeout")))
    assert found == ["30s", "30s", "100ms", "100ms"]
