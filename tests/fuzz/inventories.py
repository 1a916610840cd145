"""The target of damaged inventories: every command gives the right result, or one line that names the damage."""

from __future__ import annotations

import contextlib
import io
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import InventoryError
from sitemap_crawler.inventory.damage import find_damage
from sitemap_crawler.inventory.schema import SCHEMA_VERSION
from sitemap_crawler.validation.entries import read_entries
from tests.fuzz.engine import PropertyError
from tests.support.stored_inventory import READING, columns, run_here, stored_inventory

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE_BYTES = 4_096
VALUES = (
    "NULL", "'x'", "''", "-1", "0", "1", "2", "7", "12345", "1.5", "9223372036854775807", "1e300", "9e999", "x''",
    "x'ff80ff'", "CAST(x'ff80' AS TEXT)", "'{'", "'[[1]]'", "'null'", "'{}'", "'[]'", "'http://127.0.0.1:8123/z'",
)  # fmt: skip
TABLES_OF_PAGES = ("urls", "observations", "decisions", "listings")


def damage(path: Path, draw: Random) -> None:
    """Damage an inventory: values, rows, bytes, pages of the file, its end."""
    content = bytearray(path.read_bytes())
    match draw.randrange(6):
        case 0 | 1:
            _change_values(path, draw)
        case 2:
            _delete_row(path, draw)
        case 3:
            for _ in range(draw.choice((1, 3, 20))):
                content[draw.randrange(0 if draw.random() < 0.1 else 100, len(content))] = draw.randrange(256)
            path.write_bytes(content)
        case 4:
            path.write_bytes(content[: draw.randrange(len(content))])
        case _:
            page, other = (draw.randrange(len(content) // PAGE_BYTES) * PAGE_BYTES for _ in range(2))
            new = draw.choice((bytes(PAGE_BYTES), bytes(content[other : other + PAGE_BYTES])))
            path.write_bytes(content[:page] + new + content[page + PAGE_BYTES :])


def _change_values(path: Path, draw: Random) -> None:
    everything = list(columns(path))
    for _ in range(draw.choice((1, 1, 3))):
        table, column = draw.choice(everything)
        row = f"(SELECT rowid FROM {table} LIMIT 1 OFFSET {draw.randrange(9)})"
        _execute(path, f'UPDATE OR IGNORE {table} SET "{column}" = {draw.choice(VALUES)} WHERE rowid = {row}')


def _delete_row(path: Path, draw: Random) -> None:
    table = draw.choice(TABLES_OF_PAGES)
    _execute(path, f"DELETE FROM {table} WHERE rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {draw.randrange(9)})")


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, contextlib.suppress(sqlite3.IntegrityError):
        connection.execute(statement)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def check_commands(data: bytes) -> Any:
    """Run all commands on an inventory that is damaged as the bytes say."""
    draw = Random(data)
    with tempfile.TemporaryDirectory() as directory:
        path = stored_inventory(Path(directory, "inventory.sqlite"), SCHEMA_VERSION)
        damage(path, draw)
        return check_damaged(path, Path(directory, "sitemaps"), expected=_pages())


def check_damaged(path: Path, output: Path, *, expected: frozenset[str]) -> list[int]:
    """Run all commands on an inventory, and return their exit codes.

    If there is damage, `write` publishes the expected pages or nothing.
    """
    places = places_of(path)
    codes = []
    for arguments in (*READING, ("write", "-q", "-o", str(output))):
        code, errors = _run((*arguments, "--state", str(path)))
        check_result(arguments, code, errors)
        codes.append(code)
        if arguments == ("check-inventory",) and places and code == 0:
            raise PropertyError(f"check-inventory does not see {places}")
    if codes[-1] == 0 and places and published(output) != expected:
        raise PropertyError(f"{published(output) ^ expected} differ without a word: {places}")
    return codes


def check_result(arguments: Sequence[str], code: int, errors: str) -> None:
    """Check that a command has succeeded, or has failed with one line that is no fault of the program."""
    lines = [line for line in errors.splitlines() if line.startswith("sitemap-crawler: ")]
    if code not in range(5) or "Traceback" in errors or "error in the program" in errors or len(lines) != bool(code):
        raise PropertyError(f"{arguments} ends with {code}: {errors}")


def places_of(path: Path) -> list[str]:
    try:
        return list(find_damage(path))
    except InventoryError as error:
        return [str(error)]


def published(output: Path) -> frozenset[str]:
    return frozenset(entry.loc for file in output.glob("*.xml") for entry in read_entries(file.read_bytes()))


def _run(arguments: Sequence[str]) -> tuple[int, str]:
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = run_here(*arguments)
    return code, errors.getvalue()


@cache
def _pages() -> frozenset[str]:
    """Return the pages that the inventory lists without damage."""
    with tempfile.TemporaryDirectory() as directory:
        path = stored_inventory(Path(directory, "inventory.sqlite"), SCHEMA_VERSION)
        output = Path(directory, "sitemaps")
        code, errors = _run(("write", "-q", "-o", str(output), "--state", str(path)))
        if code or len(published(output)) < 5:
            raise PropertyError(f"the stored inventory cannot be published: {errors}")
        return published(output)
