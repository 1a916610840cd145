"""Migrations: inventories of every past schema are read, copied first, changed as a whole or not at all."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from sitemap_crawler.exceptions import InventoryError, NotAnInventoryError
from sitemap_crawler.inventory import migrations
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.schema import SCHEMA_VERSION
from sitemap_crawler.inventory.sql import decode_links, encode_links, url_key
from sitemap_crawler.inventory.store import open_store
from tests.support.inventories import change
from tests.support.stored_inventory import READING, SITE, STORED, run_here, stored_inventory

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

VERSIONS = sorted(int(path.stem.removeprefix("schema-")) for path in STORED.glob("schema-*.sql"))
STRANGER = 65_531
NEXT = SCHEMA_VERSION + 1


def schema_of(path: Path) -> set[str]:
    """Return the statements that make the tables and indexes."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {" ".join(row[0].replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()) for row in rows}


def content_of(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def values_of(path: Path) -> dict[str, list[dict[str, object]]]:
    """Return the rows of each table, by column. The version of the schema is left out."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        values = {table: [dict(row) for row in connection.execute(f"SELECT * FROM {table}")] for table in tables}
    values["meta"] = [row for row in values["meta"] if row["name"] != "schema_version"]
    return values


def add_column(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE urls ADD COLUMN note TEXT"))
    connection.execute(text("UPDATE urls SET note = url"))


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this release one whose schema has another column."""
    monkeypatch.setitem(migrations.STEPS, SCHEMA_VERSION, add_column)
    for module in ("migrations", "store", "damage"):
        monkeypatch.setattr(f"sitemap_crawler.inventory.{module}.SCHEMA_VERSION", NEXT)


def test_an_inventory_of_every_version_is_stored() -> None:
    assert list(range(migrations.OLDEST_VERSION, SCHEMA_VERSION + 1)) == VERSIONS
    assert sorted(migrations.STEPS) == VERSIONS[:-1]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stored_inventory_of_each_version_has_todays_schema_when_it_is_open(tmp_path: Path, version: int) -> None:
    path = stored_inventory(tmp_path / "old.sqlite", version)
    open_store(path).close()
    open_store(tmp_path / "new.sqlite").close()
    assert schema_of(path) == schema_of(tmp_path / "new.sqlite")
    for command, *arguments in READING:
        assert run_here(command, *arguments, "--state", str(path)) == 0
    assert run_here("write", "--state", str(path), "-o", str(tmp_path / "sitemaps"), "-q") == 0
    files = (tmp_path / "sitemaps").glob("*.xml")
    assert sum(file.read_text(encoding="utf-8").count("<url>") for file in files) == 5


@pytest.mark.parametrize("version", VERSIONS)
def test_a_migration_to_todays_schema_keeps_every_value(tmp_path: Path, version: int) -> None:
    path = stored_inventory(tmp_path / "old.sqlite", version)
    before = values_of(path)
    open_store(path).close()
    after = values_of(path)
    added: list[object] = []
    # The texts of all pages are those of each page together.
    before.pop("shown_texts", None)
    for table, rows in before.items():
        names = set(rows[0]) if rows else set()
        assert [{name: row[name] for name in names} for row in after[table]] == rows
        added += [value for row in after[table] for name, value in row.items() if name not in names]
    assert before["observations"]
    # All URLs that wait are in the first turn.
    assert {value for value in added if value is not None} <= {0}


@pytest.mark.parametrize("version", [version for version in VERSIONS if version < 10])
def test_the_urls_that_an_unfinished_run_has_not_fetched_wait_in_the_frontier(tmp_path: Path, version: int) -> None:
    path = stored_inventory(tmp_path / "old.sqlite", version)
    # Queued, and leased by a process that was killed.
    change(path, "UPDATE urls SET state = 1 WHERE id IN (3, 7)", "UPDATE urls SET state = 2 WHERE id = 5")
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        waiting = connection.execute("SELECT url_id, depth, owner FROM frontier ORDER BY url_id").fetchall()
        states = connection.execute("SELECT DISTINCT state FROM urls").fetchall()
    assert waiting == [(3, 1, None), (5, 1, None), (7, 2, None)]
    assert states == [(3,)]


def test_the_texts_of_pages_are_kept_for_later_runs(tmp_path: Path) -> None:
    path = stored_inventory(tmp_path / "old.sqlite", 12)
    change(
        path,
        "UPDATE observations SET fingerprint = x'AB' WHERE url_id = 3",
        "INSERT INTO page_texts VALUES (3, 2, x'0102')",
        "INSERT INTO shown_texts VALUES (7, 2, 1, 3)",
    )
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        texts = connection.execute("SELECT url_id, run, texts, fingerprint FROM page_texts").fetchall()
    assert texts == [(3, 2, b"\x01\x02", b"\xab")]


def test_urls_of_one_written_form_are_joined(tmp_path: Path) -> None:
    """`/a[]` becomes the URL /a%5B%5D that is stored beside it; `/b|` is stored once."""
    path = stored_inventory(tmp_path / "old.sqlite", 13)
    raw, written, alone, page = 3, 4, 5, 6
    links = encode_links([raw, alone]).hex()
    changes = [
        f"UPDATE urls SET url = '{SITE}{name}', key = {url_key(SITE + name)} WHERE id = {url_id}"
        for url_id, name in ((raw, "a[]?x={1}"), (written, "a%5B%5D?x=%7B1%7D"), (alone, "b|"))
    ]
    change(
        path,
        *changes,
        f"UPDATE urls SET referrer = {raw} WHERE id = {page}",
        f"UPDATE observations SET links = x'{links}', canonical = {raw} WHERE url_id = {page}",
        f"UPDATE observations SET alternates = '[[\"de\", {raw}]]' WHERE url_id = {page}",
        f"DELETE FROM observations WHERE url_id = {written}",
        f"UPDATE observations SET title = 'Kept' WHERE url_id = {raw}",
    )
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        urls = dict(connection.execute("SELECT id, url FROM urls").fetchall())
        keys = dict(connection.execute("SELECT id, key FROM urls").fetchall())
        titles = dict(connection.execute("SELECT url_id, title FROM observations").fetchall())
        row = connection.execute(f"SELECT links, canonical, alternates FROM observations WHERE url_id = {page}")
        blob, canonical, alternates = row.fetchone()
        referrer = connection.execute(f"SELECT referrer FROM urls WHERE id = {page}").fetchone()
        decided = connection.execute(f"SELECT count(*) FROM decisions WHERE url_id IN ({raw}, {written})").fetchone()
    assert raw not in urls
    assert (urls[written], urls[alone]) == (f"{SITE}a%5B%5D?x=%7B1%7D", f"{SITE}b%7C")
    assert keys[alone] == url_key(f"{SITE}b%7C")
    assert (list(decode_links(blob)), canonical, referrer) == ([written, alone], written, (written,))
    assert (json.loads(alternates), titles[written], decided) == ([["de", written]], "Kept", (1,))


@pytest.mark.parametrize("version", VERSIONS)
def test_write_migrates_an_inventory_of_an_earlier_release(tmp_path: Path, version: int) -> None:
    path = stored_inventory(tmp_path / "old.sqlite", version)
    assert run_here("write", "--state", str(path), "-o", str(tmp_path / "sitemaps"), "-q") == 0
    files = (tmp_path / "sitemaps").glob("*.xml")
    assert sum(file.read_text(encoding="utf-8").count("<url>") for file in files) == 5
    assert (tmp_path / f"old.sqlite.schema-{version}").exists() == (version < SCHEMA_VERSION)


@pytest.mark.usefixtures("next_version")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_migration_keeps_a_copy_and_all_values(tmp_path: Path, mode: int) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    path.chmod(mode)
    before = content_of(path)
    store = open_store(path)
    with store.connection.begin():
        rows = store.connection.execute(text("SELECT url, note FROM urls")).all()
    store.close()
    assert rows
    assert all(url == note for url, note in rows)
    copy = tmp_path / f"a.sqlite.schema-{SCHEMA_VERSION}"
    assert content_of(copy) == before
    assert copy.stat().st_mode & 0o777 == mode
    assert {file.name for file in tmp_path.iterdir()} <= {"a.sqlite", copy.name, "a.sqlite.lock"}
    # It is migrated once.
    copy.unlink()
    open_store(path).close()
    assert not copy.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
@pytest.mark.usefixtures("next_version")
def test_a_stranger_cannot_lead_the_copy_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    his = tmp_path / "his"
    his.mkdir()
    path = stored_inventory(his / "a.sqlite", SCHEMA_VERSION)
    before = content_of(path)
    for file in (his, path):
        os.chown(file, STRANGER, STRANGER)
    elsewhere = tmp_path / "elsewhere"
    connect = sqlite3.connect

    def swap_and_connect(unfinished: Path) -> sqlite3.Connection:
        # What the stranger can do in his directory the moment before SQLite opens the copy.
        for directory in his.glob("a.sqlite.copy-*"):
            directory.rename(his / "moved")
            directory.mkdir()
            (directory / "inventory").symlink_to(elsewhere)
        (his / f"a.sqlite.schema-{SCHEMA_VERSION}").symlink_to(elsewhere)
        os.lchown(his / f"a.sqlite.schema-{SCHEMA_VERSION}", STRANGER, STRANGER)
        return connect(unfinished)

    monkeypatch.setattr(migrations, "connect", swap_and_connect)
    with pytest.raises(InventoryError, match="cannot copy the inventory"):
        open_store(path)
    assert not elsewhere.exists()
    (his / f"a.sqlite.schema-{SCHEMA_VERSION}").unlink()
    monkeypatch.setattr(migrations, "connect", connect)
    open_store(path).close()
    copy = his / f"a.sqlite.schema-{SCHEMA_VERSION}"
    assert content_of(copy) == before
    assert copy.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("next_version")
def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    before = content_of(path)

    def fail(connection: Connection) -> None:
        add_column(connection)
        connection.execute(text("UPDATE nothing SET a = 1"))

    monkeypatch.setitem(migrations.STEPS, SCHEMA_VERSION, fail)
    with pytest.raises(InventoryError, match=r"cannot migrate the inventory .*; it is unchanged"):
        open_store(path)
    assert content_of(path) == before
    monkeypatch.setitem(migrations.STEPS, SCHEMA_VERSION, add_column)
    open_store(path).close()


@pytest.mark.usefixtures("next_version")
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), sqlite3.OperationalError("disk is full")])
def test_without_a_copy_nothing_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    before = content_of(path)
    (tmp_path / "a.sqlite.copy-killed").mkdir()

    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(migrations, "connect", full)
    with pytest.raises(InventoryError, match=r"cannot copy the inventory .*(No space|full).*free disk space"):
        open_store(path)
    assert content_of(path) == before
    assert {file.name for file in tmp_path.iterdir()} <= {"a.sqlite", "a.sqlite.lock"}


@pytest.mark.usefixtures("next_version")
def test_commands_that_read_name_the_command_that_migrates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    before = path.read_bytes()
    with pytest.raises(NotAnInventoryError) as caught, open_inventory(path):
        pass
    assert path.read_bytes() == before
    found = re.search(r"sitemap-crawler (check-inventory .*)$", str(caught.value))
    assert found is not None
    assert run_here(*found[1].split()) == 0
    assert "9 URLs" in capsys.readouterr().out
    with open_inventory(path) as inventory:
        assert inventory.run.requested_url == SITE


def test_a_newer_or_an_unreleased_schema_is_refused(tmp_path: Path) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    for version, words in (
        (NEXT, f"newer than {SCHEMA_VERSION} of this release: install the release that wrote it"),
        (3, "older than any release can read"),
        ("four", r"is damaged \(table meta, row schema_version\)"),
    ):
        change(path, f"UPDATE meta SET value = '{version}'")
        with pytest.raises(InventoryError, match=words):
            open_store(path)
        with pytest.raises(NotAnInventoryError, match=words), open_inventory(path):
            pass
