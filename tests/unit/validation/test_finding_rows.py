"""The formats csv and jsonl of `validate`: every finding has a row, from any process, and memory stays bounded."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.exceptions import WorkerDiedError
from sitemap_crawler.utils.workers.pool import WorkerPool
from sitemap_crawler.validation import parallel
from sitemap_crawler.validation.findings import MAX_PER_RULE, MAX_TOTAL
from sitemap_crawler.validation.output.rows import COLUMNS, csv_lines, jsonl_lines
from sitemap_crawler.validation.targets import open_validation, validate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SITE = "https://www.example.com/"
NUMBER = MAX_TOTAL + 500


def write(folder: Path, name: str, urls: Iterable[str]) -> None:
    entries = "".join(f"<url><loc>{url}</loc></url>\n" for url in urls)
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    (folder / name).write_text(text, encoding="utf-8")


def written(form: str, target: Path) -> str:
    """Return the rows of a target in one of the formats."""
    with open_validation([str(target)], logs_all=True) as validation:
        assert validation.log is not None
        return "".join(f"{line}\n" for line in {"csv": csv_lines, "jsonl": jsonl_lines}[form](validation.log))


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def json_rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Two files of URLs with a fragment, more than other formats show; the second lists another URL twice."""
    write(tmp_path, "a.xml", (f"{SITE}a/{number}#x" for number in range(NUMBER)))
    write(tmp_path, "b.xml", [*(f"{SITE}b/{number}#x" for number in range(5)), f"{SITE}c", f"{SITE}c"])
    return tmp_path


def test_every_finding_has_a_row(broken: Path) -> None:
    rows = csv_rows(written("csv", broken))
    assert list(rows[0]) == list(COLUMNS)
    fragments = [(row["file"], row["line"], row["url"]) for row in rows if row["rule"] == "loc-fragment"]
    expected = [("a.xml", str(number + 2), f"{SITE}a/{number}#x") for number in range(NUMBER)]
    expected += [("b.xml", str(number + 2), f"{SITE}b/{number}#x") for number in range(5)]
    assert fragments == expected
    [duplicate] = [row for row in rows if row["rule"] == "duplicate-loc"]
    assert (duplicate["file"], duplicate["line"], duplicate["url"]) == ("b.xml", "8", f"{SITE}c")
    assert [(row["status"], row["target"]) for row in rows] == [("", "")] * len(rows)


def test_both_formats_say_the_same(broken: Path) -> None:
    from_csv, from_json = csv_rows(written("csv", broken)), json_rows(written("jsonl", broken))
    as_text = [{name: "" if row[name] is None else str(row[name]) for name in COLUMNS} for row in from_json]
    assert as_text == from_csv
    # One JSON document counts what it leaves out.
    report = validate(str(broken))
    assert len(report.findings) < len(from_json) == report.counts.total()


def test_the_rows_of_valid_files_are_none(tmp_path: Path) -> None:
    write(tmp_path, "sitemap.xml", [f"{SITE}a"])
    assert written("csv", tmp_path) == ",".join(COLUMNS) + "\n"
    assert written("jsonl", tmp_path) == ""


def test_cells_are_no_formulas(tmp_path: Path) -> None:
    write(tmp_path, "=1+1.xml", [f"{SITE}#x"])
    rows = csv_rows(written("csv", tmp_path))
    assert {row["file"] for row in rows} == {"'=1+1.xml"}


def test_findings_of_other_processes_are_among_them(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = written("jsonl", broken)
    monkeypatch.setattr(parallel, "_worker_count", lambda _: 2)
    assert written("jsonl", broken) == alone


def test_a_process_that_dies_has_a_row(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def die(pool: Any, task: Any) -> Any:
        task.log.write_text('["loc-frag')
        raise WorkerDiedError("killed")

    monkeypatch.setattr(parallel, "_worker_count", lambda _: 2)
    monkeypatch.setattr(WorkerPool, "run", die)
    rows = json_rows(written("jsonl", broken))
    assert {(row["rule"], row["file"]) for row in rows} == {("unreadable", "a.xml"), ("unreadable", "b.xml")}


def test_memory_does_not_grow_with_the_findings(tmp_path: Path) -> None:
    def peak(number: int) -> int:
        folder = tmp_path / str(number)
        folder.mkdir()
        # Blank lines are findings, and no URLs that have to be compared.
        (folder / "a.txt").write_text(f"{SITE}\n" + "\n" * number)
        tracemalloc.start()
        with open_validation([str(folder)], logs_all=True) as validation:
            assert validation.log is not None
            assert sum(1 for _ in validation.log) == number
        _, largest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return largest

    peak(10)
    assert peak(20 * MAX_PER_RULE) < 2 * peak(2 * MAX_PER_RULE)
