"""The log file: its lines, a disk that is full, rotation, and links that others have planted."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.crawl.log import LogFile
from sitemap_crawler.exceptions import UntrustedLinkError
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program

STRANGER = 65534
SECRET = "root:$6$secret"
LINE = "the crawl goes on, and its log has gaps"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root meets the links of another user")
with_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[LogFile]:
    handler = LogFile(tmp_path / "run.log", encoding="utf-8", truncates=False)
    yield handler
    os.close(handler.descriptor)


def log(handler: LogFile, *messages: str) -> None:
    for message in messages:
        handler.handle(logging.makeLogRecord({"msg": message}))


def fill_disk(handler: LogFile) -> int:
    """Let the descriptor of the file lead to a full disk. Return a descriptor of the file."""
    kept, full = os.dup(handler.descriptor), os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, handler.descriptor)
    os.close(full)
    return kept


@with_full
def test_a_full_disk_is_said_once_and_later_lines_are_written(
    file: LogFile, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log(file, "one")
    kept = fill_disk(file)
    log(file, "two", "three")
    os.dup2(kept, file.descriptor)
    os.close(kept)
    log(file, "four")
    message = f"cannot write the log file {tmp_path}/run.log: No space left on device; free disk space; {LINE}\n"
    assert capfd.readouterr() == ("", message)
    assert (tmp_path / "run.log").read_text() == "one\nfour\n"


def test_a_line_that_was_cut_is_ended(file: LogFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, sizes = os.write, [2]

    def write_two_bytes(descriptor: int, data: bytes) -> int:
        if not sizes:
            raise OSError(28, os.strerror(28))
        return write(descriptor, data[: sizes.pop()])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_two_bytes)
        log(file, "one", "two")
    log(file, "three")
    assert (tmp_path / "run.log").read_text() == "on\nthree\n"


def test_rotation_by_renaming_and_by_truncation(file: LogFile, tmp_path: Path) -> None:
    log(file, "one")
    (tmp_path / "run.log").rename(tmp_path / "run.log.1")
    log(file, "two")
    assert (tmp_path / "run.log.1").read_text() == "one\ntwo\n"
    os.truncate(tmp_path / "run.log.1", 0)
    log(file, "three")
    assert (tmp_path / "run.log.1").read_text() == "three\n"


def test_a_file_is_continued_or_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("earlier\n")
    for truncates, expected in ((False, "earlier\nü\\u4e2d\n"), (True, "ü\\u4e2d\n")):
        handler = LogFile(path, encoding="latin-1", truncates=truncates)
        log(handler, "ü\u4e2d")
        os.close(handler.descriptor)
        assert path.read_text(encoding="latin-1") == expected


FULL = """
import os

class Full:
    @classmethod
    def from_crawler(cls, crawler):
        full = os.open("/dev/full", os.O_WRONLY)
        for name in os.listdir("/proc/self/fd"):
            path = f"/proc/self/fd/{name}"
            if os.path.islink(path) and os.readlink(path).endswith("/run.log"):
                os.dup2(full, int(name))
        return cls()
"""


@with_full
@pytest.mark.parametrize(("answer", "code"), [(page("/a"), 0), ("", 3)])
def test_a_crawl_goes_on_without_its_log(program: Program, site: WebServer, answer: str, code: int) -> None:
    site.pages.update({"/": answer, "/a": page()})
    (program.directory / "full.py").write_text(FULL)
    result = program.crawl(site.url("/"), "--log-file", "run.log", "-vv", "-s", 'EXTENSIONS={"full.Full": 1}')
    first, *others = result.err.splitlines()
    assert first == f"cannot write the log file run.log: No space left on device; free disk space; {LINE}"
    assert (result.code, len(others), result.report["exit_code"]) == (code, code and 1, code)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "shadow"
    path.write_text(SECRET)
    path.chmod(0o600)
    return path


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A directory of another user."""
    path = tmp_path / "html"
    path.mkdir()
    os.chown(path, STRANGER, STRANGER)
    return path


def is_intact(victim: Path) -> bool:
    return (stat.S_IMODE(victim.stat().st_mode), victim.read_text()) == (0o600, SECRET)


@as_root
@pytest.mark.parametrize("kind", ["link", "link to nothing", "hard link", "directory link"])
def test_the_log_follows_no_planted_link(
    program: Program, site: WebServer, victim: Path, foreign: Path, kind: str
) -> None:
    site.pages["/"] = page()
    path = foreign / "run.log"
    if kind == "hard link":
        path.hardlink_to(victim)
    elif kind == "directory link":
        (foreign / "logs").symlink_to(victim.parent)
        os.chown(foreign / "logs", STRANGER, STRANGER, follow_symlinks=False)
        path = foreign / "logs" / "shadow"
    else:
        path.symlink_to(victim if kind == "link" else victim.parent / "new")
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    result = program.crawl(site.url("/"), "--log-file", str(path))
    assert result.code == 1, result.err
    reason = "it has a second name (hard link)" if kind == "hard link" else "it is a symbolic link of another user"
    assert result.err.startswith(f"sitemap-crawler: cannot write {foreign}")
    assert reason in result.last_line
    assert is_intact(victim)
    assert not (victim.parent / "new").exists()
    assert site.paths() == []


@as_root
def test_a_link_that_is_planted_after_the_check_is_not_followed(victim: Path, foreign: Path) -> None:
    path = foreign / "run.log"
    path.symlink_to(victim)
    os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
    with pytest.raises(UntrustedLinkError):
        LogFile(path, encoding="utf-8", truncates=True)
    assert is_intact(victim)


def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.log")
    with pytest.raises(FileExistsError, match="Not a regular file"):
        LogFile(tmp_path / "run.log", encoding="utf-8", truncates=False)


def test_a_link_of_ones_own_is_followed(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    (program.directory / "link.log").symlink_to("real.log")
    assert program.crawl(site.url("/"), "--log-file", "link.log").code == 0
    assert "published: 1 page listed" in (program.directory / "real.log").read_text()
