"""Check of files in several processes."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.validation import parallel
from sitemap_crawler.validation.targets import validate
from tests.support.sitemap_documents import E, at, rules, urlset

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.validation.results import FileResult, FileTask


@pytest.fixture(autouse=True)
def _two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.utils.workers.pool.default_workers", lambda: 2)


def make(directory: Path, count: int) -> None:
    for number in range(count):
        pages = "".join(f"<url><loc>https://example.com/{number}/{page}</loc></url>\n" for page in range(50))
        (directory / f"s-{number:02}.xml").write_text(urlset(pages + "<url><loc>https://example.com/same</loc></url>"))
    (directory / "s-03.xml").write_text("<urlset>")


def test_several_processes_give_the_same_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, 25)
    alone = validate(str(tmp_path))
    monkeypatch.setattr(parallel, "MIN_LARGE_BYTES", 1)
    assert validate(str(tmp_path)) == alone
    assert alone.counts == {"duplicate-loc": 23, "wrong-namespace": 1, "cut-file": 1}


def test_files_are_checked_in_other_processes_only_if_several_are_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[int] = []

    def check(tasks: list[FileTask], workers: int) -> list[FileResult]:
        used.append(workers)
        return list(map(parallel.check_file, tasks))

    monkeypatch.setattr(parallel, "_check_in_workers", check)
    monkeypatch.setattr(parallel, "MIN_LARGE_BYTES", 2_000)
    make(tmp_path, 4)
    (tmp_path / "s-01.xml").write_text(at("https://example.com/b"))
    (tmp_path / "s-02.xml").write_text(at("https://example.com/c"))
    validate(str(tmp_path))
    assert used == []
    make(tmp_path, 4)
    validate(str(tmp_path))
    assert used == [2]


def test_a_file_that_kills_its_process_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()

    def check(task: FileTask) -> FileResult:
        if task.name == "s-01.xml" and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(task)

    original = parallel.check_file
    monkeypatch.setattr(parallel, "check_file", check)
    monkeypatch.setattr(parallel, "MIN_LARGE_BYTES", 1)
    make(tmp_path, 3)
    (tmp_path / "s-03.xml").unlink()
    report = validate(str(tmp_path))
    assert (E, "unreadable") in rules(report)
    assert [(file.name, file.urls) for file in report.files] == [("s-00.xml", 51), ("s-01.xml", 0), ("s-02.xml", 51)]
