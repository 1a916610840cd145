"""Short transactions next to a crawl: neither waits for the lock of a run, and neither makes the other fail."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, insert, select

from sitemap_crawler.exceptions import InventoryBusyError, InventoryError
from sitemap_crawler.inventory.schema import engine_quota, meta
from sitemap_crawler.inventory.store import open_store
from sitemap_crawler.inventory.unlocked import UnlockedInventory
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program

ROW = {"service": "google", "property": "p", "day": "2026-11-22", "used": 1}

INTERPOSING = """
import sys
from pathlib import Path
from sqlalchemy import Engine, event, insert
from sitemap_crawler.__main__ import main
from sitemap_crawler.inventory.schema import engine_quota
from sitemap_crawler.inventory.unlocked import UnlockedInventory

path, written = Path(sys.argv.pop(1)), [0]

def write_before(connection, cursor, statement, *_):
    # Between any two transactions of the program: also while it reads rows that it will change.
    # A reader of a file that nobody writes says so if it is written nevertheless.
    dbapi = connection.connection.dbapi_connection
    if not (writing or dbapi.in_transaction or dbapi.execute("PRAGMA query_only").fetchone()[0]):
        writing.append(True)
        with UnlockedInventory(path) as inventory, inventory.transaction() as own:
            own.execute(insert(engine_quota).values(service="google", property=str(written[0]), day="d", used=1))
        written[0] += 1
        writing.pop()

writing = []
if __name__ == "__main__":
    event.listen(Engine, "before_cursor_execute", write_before)
    main()
"""


def test_a_run_that_holds_the_lock_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    store = open_store(path)
    with UnlockedInventory(path) as inventory, inventory.transaction() as connection:
        connection.execute(insert(engine_quota), ROW)
    with store.connection.begin():
        assert store.connection.scalar(select(engine_quota.c.used)) == 1
        store.connection.execute(insert(meta).values(name="a", value="1"))
    store.close()


def test_a_transaction_of_a_crawl_that_takes_too_long_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    store = open_store(path)
    with store.connection.begin():
        store.connection.execute(insert(meta).values(name="a", value="1"))
        with (
            UnlockedInventory(path, busy_seconds=0.05) as inventory,
            pytest.raises(InventoryBusyError, match="run the same command again"),
            inventory.transaction(),
        ):
            pass
    store.close()


def test_a_failure_within_a_transaction_undoes_it(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    open_store(path).close()
    with UnlockedInventory(path) as inventory:
        with pytest.raises(KeyError):
            write_and_fail(inventory)
        with inventory.transaction() as connection:
            assert connection.scalar(select(func.count()).select_from(engine_quota)) == 0


def test_a_file_that_may_not_be_written_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    open_store(path).close()
    with UnlockedInventory(path) as inventory:
        with inventory.snapshot() as connection:
            connection.exec_driver_sql("PRAGMA query_only=1")
        with pytest.raises(InventoryError, match="readonly database; let this user write the file and its directory"):
            write(inventory)


def write(inventory: UnlockedInventory) -> None:
    with inventory.transaction() as connection:
        connection.execute(insert(engine_quota), ROW)


def write_and_fail(inventory: UnlockedInventory) -> None:
    with inventory.transaction() as connection:
        connection.execute(insert(engine_quota), ROW)
        raise KeyError


def test_no_file_is_created_in_the_place_of_a_lost_one(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match="cannot write the inventory"):
        UnlockedInventory(tmp_path / "a.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["crawl", "write"])
def test_a_commit_before_any_statement_of_a_crawl_breaks_nothing(
    program: Program, site: WebServer, command: str
) -> None:
    """SQLite refuses the write of a connection whose rows another one has changed since it began to read them."""
    site.pages["/"] = page(*(f"/{number}" for number in range(40)), body='<img src="/logo.png">')
    site.pages |= {f"/{number}": page("/", f"/{number + 1}") for number in range(30)}
    arguments = (site.url(), "--state", "a.sqlite", "-q")
    assert program.run("crawl", *arguments).code == 0
    expected = (program.output / "sitemap.xml").read_bytes()
    assert program.run("crawl", *arguments, "--exclude", "/3").code == 0
    path = program.directory / "a.sqlite"
    options = ("--format", "xml", "--format", "txt", "--format", "rss")
    driver = (sys.executable, "-c", INTERPOSING, str(path), command, *arguments, *options)
    done = program.execute(*driver)
    assert (done.code, done.err) == (0, "")
    if command == "crawl":
        assert (program.output / "sitemap.xml").read_bytes() == expected
    with UnlockedInventory(path) as inventory, inventory.transaction() as connection:
        assert (connection.scalar(select(func.count()).select_from(engine_quota)) or 0) > 10
