"""The database file: its lock, its owner, and files that are no inventory."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from sitemap_crawler.exceptions import (
    InventoryBusyError,
    InventoryError,
    NotAnInventoryError,
    UntrustedInventoryError,
)
from sitemap_crawler.inventory.damage import find_damage
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.store import Store, open_store
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.program import Program


STRANGER, OTHER_STRANGER = 65534, 65533


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "state.sqlite")
    yield store
    store.close()


def test_one_process_at_a_time(tmp_path: Path, store: Store) -> None:
    with pytest.raises(InventoryBusyError, match="another run"):
        open_store(tmp_path / "state.sqlite")


@pytest.mark.parametrize("kind", ["symlink_to", "hardlink_to"])
@pytest.mark.parametrize("linked_first", [False, True])
def test_one_process_at_a_time_by_any_name(tmp_path: Path, kind: str, linked_first: bool) -> None:
    real, other = tmp_path / "state.sqlite", tmp_path / "elsewhere" / "other.sqlite"
    open_store(real).close()
    other.parent.mkdir()
    getattr(other, kind)(real)
    first, second = (other, real) if linked_first else (real, other)
    store = open_store(first)
    with pytest.raises(InventoryBusyError, match="another run"):
        open_store(second)
    store.close()
    open_store(second).close()


def test_an_inventory_with_secrets_is_private(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    open_store(path).close()
    path.chmod(0o644)
    store = open_store(path, private=True)
    store.connection.execute(text("CREATE TABLE written (x)"))
    store.connection.commit()
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    store.close()
    assert modes == {f"state.sqlite{ending}": 0o600 for ending in ("", ".lock", ".owner", "-shm", "-wal")}


def owner_of(message: str) -> re.Match[str]:
    found = re.search(r"another run \(process (\d+) on (\S+), since (\S+)\) is using the inventory \S", message)
    assert found is not None, message
    return found


def test_who_has_it_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    for _ in range(2):
        began = datetime.now(UTC)
        store = open_store(path)
        with pytest.raises(InventoryBusyError) as busy:
            open_store(path)
        store.close()
        process, host, since = owner_of(str(busy.value)).groups()
        assert (int(process), host) == (os.getpid(), socket.gethostname())
        # To the second, and with its zone.
        assert began - timedelta(seconds=1) < datetime.fromisoformat(since) <= datetime.now(UTC)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["state.sqlite", "state.sqlite.lock"]


@pytest.mark.parametrize("words", [b"", b"\xff\xfe", b"process 1\x1b[31m on host", b"process 1\non host", b"owner"])
def test_who_has_it_open_is_not_named_by_what_we_did_not_write(tmp_path: Path, store: Store, words: bytes) -> None:
    (tmp_path / "state.sqlite.owner").write_bytes(words)
    with pytest.raises(InventoryBusyError, match=r"^another run is using the inventory /"):
        open_store(tmp_path / "state.sqlite")


def test_who_has_it_open_may_be_unknown(tmp_path: Path, store: Store) -> None:
    (tmp_path / "state.sqlite.owner").unlink()
    with pytest.raises(InventoryBusyError, match=r"^another run is using the inventory /"):
        open_store(tmp_path / "state.sqlite")


def test_who_had_it_open_and_was_killed_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite.owner").write_text("process 4194305 on elsewhere, since 2024-01-02T03:04:05+00:00\n")
    store = open_store(tmp_path / "state.sqlite")
    with pytest.raises(InventoryBusyError) as busy:
        open_store(tmp_path / "state.sqlite")
    store.close()
    assert int(owner_of(str(busy.value))[1]) == os.getpid()


def test_the_inventory_opens_where_its_owner_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite.owner").mkdir()
    store = open_store(tmp_path / "state.sqlite")
    with pytest.raises(InventoryBusyError, match=r"^another run is using the inventory /"):
        open_store(tmp_path / "state.sqlite")
    store.close()


def test_a_pipe_in_the_place_of_the_owner_or_the_inventory_blocks_no_command(tmp_path: Path, store: Store) -> None:
    (tmp_path / "state.sqlite.owner").unlink()
    os.mkfifo(tmp_path / "state.sqlite.owner")
    with pytest.raises(InventoryBusyError, match=r"^another run is using the inventory /"):
        open_store(tmp_path / "state.sqlite")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InventoryError, match="it is not a file"):
        open_store(tmp_path / "pipe")
    with pytest.raises(NotAnInventoryError, match="Not a regular file"), open_inventory(tmp_path / "pipe"):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize(
    ("mode", "owner", "is_refused"), [(0o1777, 0, True), (0o755, STRANGER, True), (0o775, 0, False), (0o755, 0, False)]
)
def test_a_file_that_a_stranger_planted_is_not_read(
    tmp_path: Path, ending: str, mode: int, owner: int, is_refused: bool
) -> None:
    """SQLite plays a planted log or journal back into the database."""
    directory = tmp_path / "shared"
    directory.mkdir()
    directory.chmod(mode)
    os.chown(directory, owner, owner)
    path = directory / "state.sqlite"
    open_store(path).close()
    planted = directory / f"state.sqlite{ending}"
    planted.touch()
    os.chown(planted, OTHER_STRANGER, OTHER_STRANGER)
    commands = (
        lambda: open_store(path).close(),
        lambda: open_inventory(path).__enter__(),
        lambda: [*find_damage(path)],
    )
    for command in commands:
        with suppress(NotAnInventoryError) if not is_refused else pytest.raises(UntrustedInventoryError) as caught:
            command()
        if is_refused:
            assert str(caught.value) == (
                f"cannot use {planted}: it belongs to another user (uid {OTHER_STRANGER}), who can write its "
                "directory; remove it, or choose a --state in a directory that only you can write"
            )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")
def test_root_uses_the_inventory_of_another_user_in_his_directory(tmp_path: Path) -> None:
    directory = tmp_path / "his"
    directory.mkdir()
    path = directory / "state.sqlite"
    open_store(path).close()
    for file in (directory, path):
        os.chown(file, STRANGER, STRANGER)
    store = open_store(path)
    (directory / "state.sqlite-wal").touch()
    assert (directory / "state.sqlite-wal").stat().st_uid == STRANGER
    assert [*find_damage(path)] == []
    store.close()


def test_a_crawl_is_named_while_it_lives_and_taken_over_when_it_was_killed(program: Program, site: WebServer) -> None:
    reached, released = threading.Event(), threading.Event()

    def held(_request: LoggedRequest) -> Answer:
        reached.set()
        released.wait(60)
        return Answer(page())

    site.pages.update({"/": page("/held"), "/held": held})
    arguments = ("crawl", site.url("/"), "--state", "state.sqlite")
    first = program.start(*arguments, stderr=subprocess.DEVNULL)
    try:
        assert reached.wait(60)
        asked = site.paths()
        second = program.run(*arguments)
    finally:
        first.kill()
        first.wait()
        released.set()
    assert first.returncode == -signal.SIGKILL
    assert second.code == 4
    named = owner_of(second.last_line)
    assert (int(named[1]), named[2]) == (first.pid, socket.gethostname())
    assert datetime.fromisoformat(named[3]).utcoffset() == timedelta(0)
    assert str(program.directory / "state.sqlite") in second.last_line
    assert site.paths() == asked
    third = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert third.code == 0, third.err
    assert (third.report["run"], third.report["listed"], third.report["warnings"]) == (1, 2, [])
    assert "another run" not in third.out + third.err


def test_an_inventory_that_was_cut_short_while_it_was_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sitemap_crawler.inventory.store.insert", fail)
        with pytest.raises(KeyboardInterrupt):
            open_store(tmp_path / "new.sqlite")
    open_store(tmp_path / "new.sqlite").close()


@pytest.mark.parametrize("content", [b"root:x:0:0", b"<?xml version='1.0'?>"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "passwd"
    path.write_bytes(content)
    with pytest.raises(InventoryError, match="another kind of file"):
        open_store(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == content
