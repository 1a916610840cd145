"""Files are replaced whole, also in directories of other users, who put links and files there at the worst moment."""

from __future__ import annotations

import ast
import fcntl
import os
import re
import sqlite3
import stat
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sitemap_crawler
from sitemap_crawler.exceptions import DirectoryLockedError, UntrustedLinkError
from sitemap_crawler.sitemap.formats import publish_text
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.utils import directories
from sitemap_crawler.utils.directories import open_directory
from sitemap_crawler.utils.files import write_json
from sitemap_crawler.utils.replace import check_replaceable, lock_file, open_appended, replacing
from tests.support.publishing import BASE, entries, on_disk, target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = datetime(2026, 1, 2, tzinfo=UTC)
STRANGER = 65534
SECRET = "root:$6$secret"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root publishes into the directory of another user")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file that only its owner may read, outside of the stranger's directory."""
    path = tmp_path / "shadow"
    path.write_text(SECRET)
    path.chmod(0o600)
    return path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The stranger's directory."""
    path = tmp_path / "html"
    path.mkdir()
    if os.geteuid() == 0:
        os.chown(path, STRANGER, STRANGER)
    return path


def plant(link: Path, goal: Path | str, owner: int = STRANGER) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(goal)
    os.chown(link, owner, owner, follow_symlinks=False)


def is_intact(victim: Path) -> bool:
    status = victim.stat()
    return (status.st_uid, stat.S_IMODE(status.st_mode), status.st_nlink, victim.read_text()) == (0, 0o600, 1, SECRET)


def give_away(site: Path) -> None:
    for path in site.iterdir():
        os.chown(path, STRANGER, STRANGER)


def temporary_files(site: Path) -> list[Path]:
    return [path for path in site.iterdir() if path.name.endswith("sitemap-crawler-tmp")]


# Races: the stranger acts between the end of writing and the renames


@as_root
@pytest.mark.parametrize("moment", ["written", "synchronised"])
@pytest.mark.parametrize("swap", ["link", "hard link", "file"])
def test_a_temporary_file_that_is_replaced_gives_nothing_away(site: Path, victim: Path, moment: str, swap: str) -> None:
    first = publish(entries("abcde"), target(site), (), NOW)
    give_away(site)
    attacked: list[str] = []

    def attack() -> None:
        for path in temporary_files(site):
            attacked.append(path.name)
            path.unlink()
            if swap == "link":
                plant(path, victim)
            elif swap == "hard link":
                path.hardlink_to(victim)
            else:
                path.write_text("planted")

    def news() -> Iterator[object]:
        # News are read when all shards are written.
        if moment == "written":
            attack()
        return iter(())

    class News:
        def __iter__(self) -> Iterator[object]:
            return news()

    with suppress(OSError):
        publish(
            entries("bcdefgh"),
            target(site),
            first.files,
            NOW,
            news=News(),
            announce=lambda _: attack() if moment == "synchronised" else None,
        )
    assert attacked
    for path in temporary_files(site):
        path.unlink()
    assert is_intact(victim)


@as_root
def test_a_shard_that_is_read_back_is_the_one_that_was_written(site: Path, victim: Path) -> None:
    """A small set is joined into the entry file: a link in the place of the shard would publish what it leads to."""

    class News:
        def __iter__(self) -> Iterator[object]:
            for path in temporary_files(site):
                plant(path, victim)
            return iter(())

    with pytest.raises(OSError, match="sitemap-crawler-tmp"):
        publish(entries("ab"), target(site, max_urls=10), (), NOW, news=News())
    assert is_intact(victim)
    assert [path.read_text() for path in site.iterdir() if path.is_file() and not path.is_symlink()] == []


@as_root
def test_names_of_temporary_files_differ_from_time_to_time(site: Path) -> None:
    seen: list[set[str]] = []
    previous: tuple = ()
    for letters in ("abcde", "bcdef", "cdefg"):
        previous = publish(
            entries(letters),
            target(site),
            previous,
            NOW,
            approve=lambda _: None,
            announce=lambda _: seen.append({path.name for path in temporary_files(site)}),
        ).files
    assert all(seen)
    assert len(set().union(*seen)) == sum(map(len, seen))


@as_root
def test_no_file_gets_the_set_user_id_bit_of_the_one_it_replaces(site: Path) -> None:
    first = publish(entries("a"), target(site), (), NOW)
    (site / "map.xml").chmod(0o4755)
    publish(entries("b"), target(site), first.files, NOW)
    assert stat.S_IMODE((site / "map.xml").stat().st_mode) == 0o755


# Links that were there before


def publish_xml(site: Path) -> None:
    publish(entries("abc"), target(site), (), NOW)


def publish_txt(site: Path) -> None:
    publish_text([f"{BASE}a"], target(site), (), NOW)


def write_report(site: Path) -> None:
    write_json(site / "map.xml", {"a": 1})


@as_root
@pytest.mark.parametrize(
    ("name", "write"),
    [("map.xml", publish_xml), ("map-2.xml", publish_xml), ("map.txt", publish_txt), ("map.xml", write_report)],
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_strangers_link_to_anothers_file_is_refused(
    site: Path, victim: Path, name: str, write: Callable[[Path], None], exists: bool
) -> None:
    goal = victim if exists else victim.with_name("new")
    plant(site / name, goal)
    with pytest.raises(UntrustedLinkError) as caught:
        write(site)
    assert str(caught.value) == (
        f"cannot write {site / name}: it is a symbolic link of another user (uid {STRANGER}) to {goal}, which is not "
        "that user's; remove the link, or give the path that it leads to"
    )
    assert is_intact(victim)
    assert on_disk(site) == {name}
    assert on_disk(victim.parent) == {"html", "shadow"}


@as_root
def test_a_strangers_link_to_a_directory_of_another_is_refused(site: Path, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    plant(site / "www", tmp_path / "etc")
    for write in (lambda: publish_xml(site / "www"), lambda: write_report(site / "www" / ".." / "www")):
        with pytest.raises(UntrustedLinkError, match=re.escape(f"{site}/www: it is a symbolic link of another user")):
            write()
    assert on_disk(tmp_path / "etc") == set()


@as_root
def test_a_link_of_a_link_is_judged_by_the_file_at_its_end(site: Path, victim: Path) -> None:
    plant(site / "map.xml", "second")
    plant(site / "second", victim)
    with pytest.raises(UntrustedLinkError, match="second"):
        publish_xml(site)
    assert is_intact(victim)


@as_root
def test_a_hard_link_of_roots_own_link_is_refused(site: Path, victim: Path, tmp_path: Path) -> None:
    (tmp_path / "alternative").symlink_to(victim)
    os.link(tmp_path / "alternative", site / "map.xml", follow_symlinks=False)
    with pytest.raises(UntrustedLinkError):
        publish_xml(site)
    assert is_intact(victim)


@as_root
@pytest.mark.parametrize(
    ("link_owner", "target_owner"), [(STRANGER, STRANGER), (0, STRANGER), (0, 0), (0, 1234)], ids=str
)
def test_harmless_links_are_followed(site: Path, tmp_path: Path, link_owner: int, target_owner: int) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "real").write_text("old")
    os.chown(elsewhere / "real", target_owner, target_owner)
    plant(site / "map.xml", "../elsewhere/real", link_owner)
    write_report(site)
    assert (site / "map.xml").is_symlink()
    assert (elsewhere / "real").read_text() == '{\n  "a": 1\n}\n'
    assert (elsewhere / "real").stat().st_uid == target_owner
    assert on_disk(elsewhere) == {"real"}


@as_root
def test_any_link_in_a_directory_that_only_we_write_is_followed(tmp_path: Path) -> None:
    """`tar` and `rsync` keep the owners of links."""
    (tmp_path / "own").mkdir(mode=0o755)
    plant(tmp_path / "own" / "map.xml", tmp_path / "real")
    write_report(tmp_path / "own")
    assert (tmp_path / "real").exists()
    (tmp_path / "own").chmod(0o1777)
    with pytest.raises(UntrustedLinkError):
        write_report(tmp_path / "own")


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for write in (lambda: write_json(tmp_path / "a", 1), lambda: write_json(tmp_path / "a" / "file", 1)):
        with pytest.raises(OSError, match="Too many levels"):
            write()


def test_missing_directories_are_created(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with open_directory(tmp_path / "link" / "x" / ".." / "x" / "y", create=True) as directory:
        assert directory.path == tmp_path / "x" / "y"
    with pytest.raises(FileNotFoundError, match=str(tmp_path / "z")):
        open_directory(tmp_path / "z" / "y")


# Single files


def test_mode_and_owner_of_a_replaced_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_json(path, 1)
    path.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(path, STRANGER, STRANGER)
    write_json(path, 2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert path.stat().st_uid == (STRANGER if os.geteuid() == 0 else os.geteuid())
    write_json(path, 3, private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write_json(tmp_path / "new.json", 4, private=True)
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o600


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:  # noqa: PT012 - what was written is dropped
        file.write(b"half")
        raise ZeroDivisionError
    assert (path.read_text(), on_disk(tmp_path)) == ("old", {"report.json"})


@pytest.mark.parametrize("name", ["r", "r" * 255, "ü" * 127])
def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with replacing(path) as file:
        temporary = next(iter(temporary_files(tmp_path)))
        assert len(os.fsencode(temporary.name)) <= 255
        file.write(b"new")
    old, young, foreign = temporary, Path(str(temporary).replace(temporary.name[-24:-20], "0123")), tmp_path / "x.tmp"
    for leftover in (old, young, foreign):
        leftover.write_text("half")
    os.utime(old, (time.time() - 3_600,) * 2)
    check_replaceable(path)
    assert on_disk(tmp_path) == {name, young.name, foreign.name}
    assert path.read_text() == "new"


def test_a_name_that_is_too_long_is_found_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File name too long"):
        check_replaceable(tmp_path / ("r" * 256))
    assert on_disk(tmp_path) == set()


def test_a_database_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE a (b)")
    content = path.read_bytes()
    (tmp_path / "link").symlink_to(path)
    for name in (path, tmp_path / "link"):
        for write in (check_replaceable, open_appended, lambda name: replacing(name).__enter__()):
            with pytest.raises(FileExistsError, match="It is an SQLite database"):
                write(name)
    assert path.read_bytes() == content
    assert on_disk(tmp_path) == {"state.sqlite", "link"}
    with replacing(path, replaces_database=True) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_stream_is_no_file(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        for path in (
            f"/dev/fd/{out.fileno()}",
            f"/proc/self/fd/{out.fileno()}",
            f"/proc/{os.getpid()}/fd/{out.fileno()}",
        ):
            (tmp_path / "link").unlink(missing_ok=True)
            (tmp_path / "link").symlink_to(path)
            for name in (path, tmp_path / "link"):
                with pytest.raises(OSError, match="stream of a process"):
                    check_replaceable(Path(name))


def test_a_lock_follows_no_planted_link_and_keeps_what_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("content")
    path.chmod(0o644)
    first = lock_file(path, private=True)
    with pytest.raises(BlockingIOError):
        lock_file(path)
    os.close(first)
    os.close(lock_file(path))
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("content", 0o600)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError):
        lock_file(tmp_path / "pipe")


def test_a_directory_that_a_reader_keeps_locked_costs_a_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any user who can read a directory can lock it."""
    monkeypatch.setattr(directories, "MAX_LOCK_SECONDS", 0.3)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(DirectoryLockedError, match="another process has locked this directory"):
        publish(entries("a"), target(tmp_path), (), NOW)
    assert on_disk(tmp_path) == set()
    os.close(descriptor)
    publish(entries("a"), target(tmp_path), (), NOW)
    assert on_disk(tmp_path) == {"map.xml"}


@as_root
def test_a_private_file_is_not_given_to_the_owner_of_a_planted_one(site: Path, tmp_path: Path) -> None:
    own, shared = tmp_path / "own", tmp_path / "shared"
    own.mkdir(mode=0o755)
    shared.mkdir()
    shared.chmod(0o1777)
    owners = []
    for directory in (site, shared, own):
        path = directory / "report.json"
        path.touch()
        os.chown(path, STRANGER, STRANGER)
        write_json(path, 1, private=True)
        owners.append((path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)))
    # In a directory that only root can write, root has given the file to that user.
    assert owners == [(0, 0o600), (0, 0o600), (STRANGER, 0o600)]


# Nothing goes around it

REPLACING = {"replace", "rename", "renames", "link", "symlink", "truncate"}
"""Functions of os, and of shutil and tempfile below, that replace or create files."""
OF_PATHS = {"write_text", "write_bytes", "touch", "rename", "symlink_to", "hardlink_to", "mkdir", "unlink", "chmod"}
OF_OS = REPLACING | {"mkdir", "makedirs", "unlink", "remove", "chmod", "chown", "fchown", "fchmod", "mknod", "mkfifo"}
GATE = {"utils/directories.py", "utils/replace.py"}
EXCEPTIONS = {
    ("utils/runtime.py", "open"): "standard streams: /dev/null",
    ("utils/workers/process.py", "os.open"): "standard streams: /dev/null",
    ("utils/runtime.py", "os.open"): "standard streams: /dev/null",
    **dict.fromkeys(
        [
            ("inventory/migrations.py", call)
            for call in (
                "shutil.rmtree",
                "shutil.copyfileobj",
                "tempfile.TemporaryDirectory",
                "chmod",
                "replace",
                "os.open",
            )
        ],
        "SQLite writes the copy itself, by its path, in a directory of mode 0700",
    ),
    **dict.fromkeys(
        [
            ("validation/reading/spool.py", call)
            for call in ("tempfile.TemporaryDirectory", "tempfile.SpooledTemporaryFile", "open")
        ],
        "downloads in a directory of mode 0700, which is removed at the end",
    ),
    ("crawl/rendering/browser.py", "shutil.which"): "finds a program",
    ("crawl/rendering/browser.py", "shutil.rmtree"): "the profile of a browser whose guard was killed",
    ("crawl/rendering/guard.py", "tempfile.mkdtemp"): "the profile of a browser, in a directory of mode 0700",
    ("crawl/rendering/guard.py", "os.open"): "/dev/null, for the browser",
    ("crawl/rendering/guard.py", "write_text"): "files of the kernel that set up the namespace",
    ("crawl/rendering/guard.py", "shutil.rmtree"): "that directory",
    ("cli/validate/live_check.py", "tempfile.TemporaryDirectory"): "the inventories of a check, each at its path",
    ("cli/validate/live_check.py", "tempfile.TemporaryFile"): "the URLs of a check, in files without a name",
    ("validation/finding_log.py", "open"): "the findings of a validation, in new files of its temporary directory",
    ("validation/finding_log.py", "shutil.copyfileobj"): "one of these files into another",
    ("validation/finding_log.py", "unlink"): "one of these files",
}


def writes(tree: ast.AST) -> Iterator[str]:
    """Yield the calls in a module that create, replace or remove files."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil", "tempfile"):
                yield from (f"{node.module}.{name.name}" for name in node.names if name.name != "get_terminal_size")
            continue
        function = node.func
        if isinstance(function, ast.Attribute):
            owner = function.value.id if isinstance(function.value, ast.Name) else ""
            if owner == "os" and (function.attr in OF_OS or function.attr == "open"):
                yield f"os.{function.attr}"
            elif owner in ("shutil", "tempfile") and function.attr != "get_terminal_size":
                yield f"{owner}.{function.attr}"
            elif owner != "os" and function.attr in OF_PATHS:
                yield function.attr
            elif function.attr == "open" and opens_for_writing(node.args[:1], node):
                yield "open"
            elif function.attr == "replace" and len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
                # str.replace has two arguments, Path.replace has one.
                yield "replace"
        elif isinstance(function, ast.Name) and function.id == "open" and opens_for_writing(node.args[1:2], node):
            yield "open"


def opens_for_writing(mode: list[ast.expr], call: ast.Call) -> bool:
    given = [*mode, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(isinstance(value, ast.Constant) and set(str(value.value)) & set("wax+") for value in given)


def test_nothing_else_replaces_files() -> None:
    package = Path(sitemap_crawler.__file__).parent
    found: dict[tuple[str, str], int] = {}
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).as_posix()
        if module not in GATE:
            for call in writes(ast.parse(path.read_text(encoding="utf-8"))):
                found[module, call] = found.get((module, call), 0) + 1
    publications = {key for key in found if key[1] == "replace" and key[0].startswith("publish/")}
    replacing = ("publish/publisher.py", "publish/sitemap_sets.py", "publish/update.py")
    assert publications == {(module, "replace") for module in replacing}, (
        "Publications.replace changes rows of the inventory"
    )
    assert found.keys() - publications == EXCEPTIONS.keys()


@pytest.mark.parametrize(
    "line",
    [
        "os.replace(a, b)",
        "path.replace(other)",
        "path.rename(other)",
        "path.write_text('')",
        "path.write_bytes(b'')",
        "open(path, 'w')",
        "open(path, mode='a')",
        "path.open('r+b')",
        "path.open(mode='x')",
        "os.open(path, flags)",
        "shutil.move(a, b)",
        "from os import replace",
        "from tempfile import TemporaryFile",
    ],
)
def test_the_check_finds_what_replaces_files(line: str) -> None:
    assert len(list(writes(ast.parse(line)))) == 1


@pytest.mark.parametrize("line", ["text.replace('a', 'b')", "open(path)", "path.open('rb')", "path.open()"])
def test_the_check_finds_nothing_else(line: str) -> None:
    assert list(writes(ast.parse(line))) == []
