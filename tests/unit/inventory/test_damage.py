"""Damaged inventories: every command ends with one line that names table and row, never with a traceback."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.damage import find_damage
from sitemap_crawler.inventory.migrations import OLDEST_VERSION
from sitemap_crawler.inventory.schema import SCHEMA_VERSION
from sitemap_crawler.inventory.store import open_store
from sitemap_crawler.inventory.traps import store_learnt_traps, store_left_out, store_trap_counts
from sitemap_crawler.traps.detector import Trap, TrapDetector
from tests.support.inventories import change
from tests.support.stored_inventory import READING, SITE, columns, run_here, stored_inventory

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BAD_VALUES = (
    "NULL", "'x'", "-1", "9223372036854775807", "1e300", "9e999", "x'ff80ff'", "CAST(x'ff80' AS TEXT)", "'{'",
    "'[[1]]'", "''",
)  # fmt: skip


def run_all(path: Path, directory: Path, capsys: pytest.CaptureFixture[str]) -> set[int]:
    """Run all commands on an inventory. Return their exit codes; no error may have more than one line."""
    codes = set()
    for command, *arguments in (*READING, ("write", "-q", "-o", str(directory / "sitemaps"))):
        codes.add(run_here(command, *arguments, "--state", str(path)))
        errors = capsys.readouterr().err
        assert "Traceback" not in errors
        assert errors.count("sitemap-crawler: ") == (errors != "")
    return codes


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("traps", '{"repeating": 5}'),
        ("traps", '{"speaking": [5]}'),
        ("traps", '{"compared": {"a": [1]}}'),
        ("traps", "[]"),
        ("traps", "5"),
        ("trap-counts", '{"run": 1, "groups": {"a": [1, 2]}}'),
        ("trap-counts", '{"run": 1, "pages": {"a": {}}}'),
        ("trap-counts", '{"run": 1, "pages_seen": 1000000000000000000}'),
        ("trap-counts", '{"run": 1, "marks": [true]}'),
        ("traps-before", '{"run": 1, "refused": "a", "left_out": []}'),
        ("traps-before", '{"run": 1}'),
        ("working_time", '{"run": 1, "seconds": "1", "since": null}'),
        ("working_time", '{"run": 1, "seconds": 1}'),
        ("service_pauses", '{"a": "b"}'),
        ("pause_until", "{}"),
        ("pause_until", "inf"),
    ],
)
def test_a_damaged_value_of_the_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    change(path, f"DELETE FROM meta WHERE name = '{name}'")
    change(path, f"INSERT INTO meta VALUES ('{name}', '{value}')")
    [place] = find_damage(path)
    assert place.startswith("table meta, row ")
    assert place.endswith(", column value")
    assert run_here("check-inventory", "--state", str(path)) == 1
    assert capsys.readouterr().out == f"{place}\n"


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("UPDATE observations SET links = x'ff' WHERE url_id = 1", None),
        ("UPDATE observations SET notes = '{' WHERE url_id = 3", "table observations, row 3, column notes"),
        ("UPDATE observations SET notes = '[]' WHERE url_id = 3", "table observations, row 3, column notes"),
        (
            'UPDATE observations SET notes = \'{"long-body": "x"}\' WHERE url_id = 3',
            "table observations, row 3, column notes",
        ),
        (
            "UPDATE observations SET notes = '{\"canonicals\": 5}' WHERE url_id = 3",
            "table observations, row 3, column notes",
        ),
        ("UPDATE urls SET state = 77 WHERE id = 2", "table urls, row 2, column state"),
        ("UPDATE urls SET url = 'http://127.0.0.1:8123/x' WHERE id = 2", "table urls, row 2, column key"),
        ("UPDATE runs SET options = '[]' WHERE id = 2", "table runs, row 2, column options"),
        ("UPDATE runs SET started = 9e999 WHERE id = 1", "table runs, row 1, column started"),
        ("UPDATE decisions SET lastmod = 1e300 WHERE url_id = 1", "table decisions, row 1, column lastmod"),
        ("UPDATE decisions SET reason = CAST(x'ff' AS TEXT) WHERE url_id = 4", "table decisions, row 4, column reason"),
        ("UPDATE decisions SET reason = 'listed'", None),
        ("UPDATE decisions SET before = 'late' WHERE url_id = 7", "table decisions, row 7, column before"),
        ("UPDATE warnings SET kind = 'lately' WHERE id = 2", "table warnings, row 2, column kind"),
        ("UPDATE runs SET totals = '[1]' WHERE id = 2", "table runs, row 2, column totals"),
        ("UPDATE runs SET totals = '{\"listed\": -1}' WHERE id = 2", "table runs, row 2, column totals"),
        ('UPDATE runs SET totals = \'{"excluded": {"a": "b"}}\' WHERE id = 2', "table runs, row 2, column totals"),
        ('UPDATE runs SET totals = \'{"by_host": {"refused": 1}}\' WHERE id = 2', "table runs, row 2, column totals"),
        ("UPDATE observations SET elapsed = -1 WHERE url_id = 3", "table observations, row 3, column elapsed"),
        ("UPDATE urls SET inlinks = 'x' WHERE id = 2", "table urls, row 2, column inlinks"),
        ("UPDATE urls SET state = 1 WHERE id = 2", "table urls, row 2, column state"),
        ("UPDATE frontier SET depth = 65536", "table frontier, row 9, column depth"),
        ("UPDATE frontier SET url_id = 99", "table frontier, row 99, column url_id"),
    ],
)
def test_the_place_of_a_damaged_value_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], statement: str, place: str | None
) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    assert list(find_damage(path)) == []
    change(path, statement)
    assert list(find_damage(path)) == ([place] if place else [])
    if place:
        assert run_here("check-inventory", "--state", str(path)) == 1
        output = capsys.readouterr()
        assert output.out == f"{place}\n"
        remedy = "restore a copy, or move it away and crawl again"
        assert output.err == f"sitemap-crawler: the inventory {path} is damaged ({place}): {remedy}\n"


def test_exit_codes_of_the_check(tmp_path: Path) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    assert run_here("check-inventory", "--state", str(path)) == 0
    assert run_here("check-inventory", "--state", str(tmp_path / "none.sqlite")) == 2
    other = tmp_path / "notes.txt"
    other.write_text("my notes")
    assert run_here("check-inventory", "--state", str(other)) == 2


@pytest.mark.slow
def test_damaged_values_are_no_tracebacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = stored_inventory(tmp_path / "base.sqlite", SCHEMA_VERSION).read_bytes()
    everything = list(columns(tmp_path / "base.sqlite"))
    draw = random.Random(17)
    for number, (table, column) in enumerate(draw.sample(everything, 24)):
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(base)
        value = draw.choice(BAD_VALUES)
        with closing(sqlite3.connect(path)) as connection:
            statement = (
                f'UPDATE OR IGNORE {table} SET "{column}" = {value} WHERE rowid = (SELECT max(rowid) FROM {table})'
            )
            try:
                connection.execute(statement)
                connection.commit()
            except sqlite3.IntegrityError:
                continue
        assert run_all(path, tmp_path, capsys) <= {0, 1, 2, 3}


@pytest.mark.slow
def test_damaged_bytes_are_no_tracebacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = stored_inventory(tmp_path / "base.sqlite", SCHEMA_VERSION).read_bytes()
    draw = random.Random(17)
    for number in range(16):
        damaged = bytearray(base)
        for _ in range(draw.choice((1, 3, 20))):
            damaged[draw.randrange(100, len(damaged))] = draw.randrange(256)
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(damaged)
        assert run_all(path, tmp_path, capsys) <= {0, 1, 2, 3}


def test_a_damaged_schema_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SQLite's message repeats the text, which is no UTF-8."""
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    content = path.read_bytes()
    sound, broken = b"decision VARCHAR(16) NOT NULL", b"decision VARCHAR(16) NOT N\xc9LL"
    assert content.count(sound) == 1
    path.write_bytes(content.replace(sound, broken))
    assert run_all(path, tmp_path, capsys) == {1}


CHANGES = [
    ("UPDATE observations SET noindex = 2 WHERE url_id = 3", "table observations, row 3, column noindex"),
    ("UPDATE observations SET content_type = x'ff' WHERE url_id = 3", "table observations, row 3, column content_type"),
    ("UPDATE observations SET status = -200 WHERE url_id = 3", "table observations, row 3, column status"),
    ("UPDATE urls SET unlinked_since = -1 WHERE id = 3", "table urls, row 3, column unlinked_since"),
    ("DELETE FROM observations WHERE url_id = 3", "table observations, row 3 is missing"),
    ("UPDATE observations SET url_id = 12345 WHERE url_id = 3", "table observations, row 12345, column url_id"),
    ("DELETE FROM urls WHERE id = 3", "table observations, row 3, column url_id"),
    # The index file, which is listed as its directory, would be listed a second time.
    ("UPDATE observations SET body_hash = 7 WHERE url_id = 1", "table observations, row 1, column body_hash"),
]


@pytest.mark.parametrize(("statement", "place"), CHANGES)
def test_no_set_is_published_that_loses_or_gains_pages_for_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], statement: str, place: str
) -> None:
    path, output = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION), tmp_path / "sitemaps"
    arguments = ("write", "-q", "-o", str(output), "--state", str(path))
    assert run_here(*arguments) == 0
    before = (output / "sitemap.xml").read_bytes()
    change(path, statement)
    assert place in find_damage(path)
    assert run_here(*arguments) == 1
    remedy = "restore a copy, or move it away and crawl again"
    assert f"sitemap-crawler: the inventory {path} is damaged (" in (errors := capsys.readouterr().err)
    assert errors.endswith(f"): {remedy}\n")
    assert (output / "sitemap.xml").read_bytes() == before


def test_only_the_structure_of_an_earlier_schema_is_checked_before_its_migration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", OLDEST_VERSION)
    change(path, "UPDATE observations SET status = -200 WHERE url_id = 3")
    assert run_here("check-inventory", "--state", str(path)) == 2
    output = capsys.readouterr()
    assert output.out == f"the structure of the file {path} is not damaged, its values are not checked\n"
    assert f"has schema version {OLDEST_VERSION} of an earlier release" in output.err
    assert run_here("check-inventory", "--migrate", "--state", str(path)) == 1
    place = "table observations, row 3, column status"
    output = capsys.readouterr()
    assert output.out == f"{place}\n"
    assert f"is damaged ({place})" in output.err


def test_the_values_of_a_later_schema_are_not_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stored_inventory(tmp_path / "a.sqlite", SCHEMA_VERSION)
    change(path, f"UPDATE meta SET value = '{SCHEMA_VERSION + 1}' WHERE name = 'schema_version'")
    assert run_here("check-inventory", "--state", str(path)) == 2
    output = capsys.readouterr()
    assert output.out == f"the structure of the file {path} is not damaged, its values are not checked\n"
    assert "newer than" in output.err


def test_what_a_crawl_has_learnt_of_traps_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    store = open_store(path)
    traps = TrapDetector(5_000, applies=lambda _: True)
    token = "0123456789abcdef" * 2
    urls = [f"{SITE}calendar?day=2026-01-01", f"{SITE}a/b/a/b/c", f"{SITE}cart?sid={token}", f"{SITE}issues/1?sort=a"]
    for url in urls:
        suspect = traps.suspect(url)
        assert suspect is not None
        traps.learn(suspect, b"content")
        traps.compare(url, b"", url, (), is_listable=True)
    traps.learnt += [(Trap.REPEATS, "a?b"), (Trap.ENDLESS, "c"), (Trap.SESSION, "d"), (Trap.NESTING, "e")]
    traps.apply_learnt()
    assert all(traps.counts[kind] for kind in ("pages", "tokens", "rounds", "groups"))
    traps.yields.begin([f"{SITE}issues/2"])
    with store.connection.begin():
        store_learnt_traps(store.connection, traps)
        store_trap_counts(store.connection, traps, run=1)
        store_left_out(store.connection, traps, run=1)
    store.close()
    assert [*find_damage(path)] == []


COMMANDS = (
    (("explain", SITE, "--json"), {"decision", "lastmod", "status", "title"}),
    (("runs", "--json"), {"finished", "outcome", "started", "totals"}),
    (("monitor", "--offline", "--json"), {"coverage_state", "url", "verdict"}),
    (("submit", "--dry-run", "--to", "indexnow", "--indexnow-key", "0123456789abcdef"), {"url"}),
)
"""The commands that print or send values after they have read them, and columns that each of them prints or sends."""


@pytest.mark.slow
@pytest.mark.parametrize(("command", "printed"), COMMANDS, ids=[command[0] for command, _ in COMMANDS])
def test_a_value_that_fails_where_it_is_printed_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Sequence[str], printed: set[str]
) -> None:
    """A value of another type can be read, and fails in the JSON or in the line that is sent."""
    base = stored_inventory(tmp_path / "base.sqlite", SCHEMA_VERSION)
    with closing(sqlite3.connect(base)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = tmp_path / "inventory.sqlite"
    named = set()
    for table, column in columns(base):
        for file in tmp_path.glob("inventory.sqlite*"):
            file.unlink()
        path.write_bytes(base.read_bytes())
        with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.IntegrityError):
            connection.execute(f"UPDATE OR IGNORE {table} SET \"{column}\" = x'ff80ff'")
            connection.commit()
        run_here(*command, "--state", str(path))
        errors = capsys.readouterr().err
        assert "Traceback" not in errors
        if f"column {column}): restore a copy" in errors:
            named.add(column)
    assert named >= printed
