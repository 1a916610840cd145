"""`write --trust-supplied`: a set straight from a list, without a crawl."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.inventories import change
from tests.support.stored_inventory import run_here
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program, Result

ORIGIN = "https://shop.example"
EVIDENCE = "supplied by a list, not requested (write --trust-supplied)"


def save(program: Program, text: str, name: str = "list.csv") -> str:
    path = program.directory / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def write(program: Program, *options: str, text: str | None = None) -> Result:
    arguments = ("--trust-supplied", "--sitemap-url", f"{ORIGIN}/sitemap.xml", "--state", "state.sqlite", *options)
    return program.run("write", "--report", "report.json", "-o", "sitemaps", *arguments, text=text)


def pages(*numbers: int) -> str:
    return "url,lastmod\n" + "".join(f"{ORIGIN}/p/{number},2024-05-{number % 28 + 1:02}\n" for number in numbers)


def explained(program: Program, url: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(program.run("explain", "--state", "state.sqlite", "--json", url).out)
    return facts


def warnings(result: Result) -> list[str]:
    return [found["message"] for found in result.report["warnings"] if found["kind"] == "url-list"]


def test_a_list_becomes_a_set_and_each_row_says_so(program: Program) -> None:
    rows = [
        {"url": f"{ORIGIN}/a", "lastmod": "2024-05-01", "images": [f"{ORIGIN}/a.png"]},
        {"url": f"{ORIGIN}/b", "lastmod": "2024-06-01T10:00:00Z", "section": "docs"},
        {"url": "https://other.example/c"},
        {"url": "no url"},
        {"url": f"{ORIGIN}/b", "lastmod": "2023-01-01"},
        {"url": f"{ORIGIN}/tag/x"},
    ]
    path = save(program, "".join(json.dumps(row) + "\n" for row in rows), "list.jsonl")
    result = write(program, "--urls", path, "--exclude", "/tag/")
    assert result.code == 0, result.err
    assert result.report["outcome"] == "published"
    assert (result.report["listed"], result.report["requests"]) == (2, 0)
    assert result.report["excluded"] == {"excluded-by-rule": 1}
    assert result.report["changes"] == {"added": 2, "changed": 0, "removed": 0}
    first, second = ((program.output / name).read_text() for name in ("sitemap-1.xml", "sitemap-docs-1.xml"))
    assert f"<loc>{ORIGIN}/a</loc><lastmod>2024-05-01</lastmod>" in first
    assert f"<image:loc>{ORIGIN}/a.png</image:loc>" in first
    assert f"<url><loc>{ORIGIN}/b</loc><lastmod>2024-06-01T10:00:00+00:00</lastmod></url>" in second
    assert warnings(result) == [
        "1 of its 6 entries is no absolute http or https URL, for example 'no url' in line 4: fix it",
        "1 entry, for example 'https://other.example/c' in line 3: out of the scope, neither requested nor listed",
    ]
    facts = explained(program, f"{ORIGIN}/b")
    assert (facts["decision"], facts["evidence"]) == ("listed", EVIDENCE)
    assert (facts["status"], facts["last_fetched"]) == (None, None)
    assert (facts["lastmod_source"], facts["file"]) == ("supplied", "sitemap-docs-1.xml")
    assert program.run("validate", "sitemaps").code == 0
    assert program.run("check-inventory", "--state", "state.sqlite").code == 0


def test_the_standard_input_replaces_the_set_and_unchanged_files_stay(program: Program) -> None:
    assert write(program, "--urls", "-", text=pages(*range(30))).code == 0
    before = (program.output / "sitemap.xml").stat().st_ino
    result = write(program, "--urls", "-", text=pages(*range(30)))
    assert (result.code, result.report["outcome"]) == (0, "unchanged")
    assert (program.output / "sitemap.xml").stat().st_ino == before
    result = write(program, "--urls", "-", text=pages(*range(5, 32)))
    assert result.report["changes"] == {"added": 2, "changed": 0, "removed": 5}
    assert result.report["excluded"] == {"orphan": 5}
    facts = explained(program, f"{ORIGIN}/p/1")
    assert (facts["reason"], facts["evidence"]) == ("orphan", "no list names it any more (write --trust-supplied)")
    assert program.run("diff", "--state", "state.sqlite").code == 0


def test_the_guards_hold(program: Program) -> None:
    assert write(program, "--urls", "-", text=pages(*range(30))).code == 0
    live = (program.output / "sitemap.xml").read_bytes()
    result = write(program, "--urls", "-", text=pages(1, 2))
    assert result.code == 3
    assert "would shrink from 30 to 2 pages" in result.last_line
    empty = write(program, "--urls", "-", text="")
    assert (empty.code, empty.last_line[:21]) == (3, "no page can be listed")
    cut = program.directory / "cut.csv.gz"
    cut.write_bytes(b"\x1f\x8b\x08\x00")
    result = write(program, "--urls", str(cut))
    assert (result.code, "is a gzip file that ends too early: nothing is published" in result.last_line) == (3, True)
    assert (program.output / "sitemap.xml").read_bytes() == live
    assert write(program, "--urls", "-", "--dry-run", text=pages(*range(29))).code == 0
    assert (program.output / "sitemap.xml").read_bytes() == live
    assert write(program, "--urls", "-", "--allow-shrink", text=pages(1, 2)).code == 0
    # The files of another site are not replaced.
    other = write(
        program, "--urls", "-", "--sitemap-url", "https://b.example/sitemap.xml", "--state", "b.sqlite", text=pages(1)
    )
    assert other.code == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--trust-supplied", "--sitemap-url", f"{ORIGIN}/sitemap.xml"), "give --urls FILE"),
        (("--trust-supplied", "--urls", "list.csv"), "the address of the sitemap is missing"),
        (("--urls", "list.csv"), "write asks no server"),
        (("--trust-supplied", "--urls", "none", f"{ORIGIN}/"), "cannot read the list none"),
        (
            ("--trust-supplied", "--urls", "list.csv", "--urls-columns", "lastmod=nope", f"{ORIGIN}/"),
            "the list list.csv has no column nope, but url, lastmod: correct --urls-columns",
        ),
        (
            ("--trust-supplied", "--urls", "list.csv", "--urls-columns", "url=0", f"{ORIGIN}/"),
            "url=0 names no column: columns are numbered from 1",
        ),
        (
            ("--trust-supplied", "--urls", "records.txt", f"{ORIGIN}/"),
            "the list records.txt has several fields, and no heading names them: number them from 1",
        ),
        (("--trust-supplied", "--urls", "https://a.example/l.csv", f"{ORIGIN}/"), "give a file or -"),
    ],
)
def test_usage(program: Program, options: tuple[str, ...], words: str) -> None:
    save(program, pages(1))
    save(program, f"{ORIGIN}/p/1,2026-01-01\n", "records.txt")
    result = program.run("write", "--state", "state.sqlite", *options)
    assert (result.code, words in result.last_line) == (2, True), result.err
    assert not (program.directory / "state.sqlite").exists()


def test_a_table_without_a_heading_is_not_published(program: Program) -> None:
    text = f"{ORIGIN}/p/1,2026-01-01\n{ORIGIN}/p/2,2026-01-02\n"
    result = write(program, "--urls", "-", text=text)
    assert result.code == 3
    assert "has several fields, and no heading names them: number them from 1, such as" in result.last_line
    assert not program.output.exists() or not list(program.output.iterdir())
    result = write(program, "--urls", "-", "--urls-columns", "url=1,lastmod=2", text=text)
    assert (result.code, result.listed()) == (0, [f"{ORIGIN}/p/1", f"{ORIGIN}/p/2"])


def test_each_kind_of_fault_is_counted_with_its_first_example(program: Program) -> None:
    text = (
        f"url,lastmod\n{ORIGIN}/p/1,yesterday\n{ORIGIN}/p/2,2024-13-01\n,2024-05-01\n{ORIGIN}/p/3,2024-05-01\r"
        f"https://other.example/,\n{ORIGIN}/p/4,2024-05-01\n"
    )
    path = program.directory / "list.csv"
    path.write_bytes(text.encode() + f"{ORIGIN}/p/ä,\n".encode("latin-1"))
    result = write(program, "--urls", str(path))
    assert (result.code, result.listed()) == (0, [f"{ORIGIN}/p/{number}" for number in (1, 2, 3, 4)])
    found = sorted(warnings(result))
    assert len(found) == 5
    assert found[0] == "1 entry, for example ',2024-05-01' in line 4: has nothing in the column of the URL"
    outside = "for example 'https://other.example/' in line 6: out of the scope, neither requested nor listed"
    assert found[1] == f"1 entry, {outside}"
    assert found[2].startswith("1 of its 6 entries is no absolute http or https URL, for example ")
    assert found[3].startswith(
        f"2 entries, for example '{ORIGIN}/p/1' in line 2: has a date that is not believed: it is no "
    )
    assert found[4] == "is not UTF-8, first in line 8: save the list as UTF-8"
    lines = [line for line in result.out.splitlines() if line.startswith("Warning, ")]
    beginning = f"Warning, lists or logs with unusable entries (url-list): {path}: "
    assert sorted(lines) == [f"{beginning}{message}" for message in found]


def test_write_without_the_list_and_an_unfinished_crawl_are_refused(program: Program) -> None:
    path = save(program, pages(1, 2))
    assert write(program, "--urls", path).code == 0
    result = program.run("write", "--state", "state.sqlite")
    assert (result.code, "was written from lists, without a crawl" in result.last_line) == (1, True)
    # A run of lists that was killed is dropped, that of a crawl is not.
    change(program.directory / "state.sqlite", "UPDATE runs SET finished = NULL, ended_by = NULL")
    assert write(program, "--urls", path).code == 0
    change(program.directory / "state.sqlite", "UPDATE runs SET finished = NULL, options = '{}' WHERE id = 2")
    result = write(program, "--urls", path)
    assert (result.code, "has an unfinished crawl" in result.last_line) == (1, True)


def test_a_crawl_of_the_same_inventory_judges_the_pages(program: Program, tmp_path: Path) -> None:
    with WebServer({"/": page("/a"), "/a": page()}) as site:
        path = save(program, f"{site.url('/')}\n{site.url('/a')}\n{site.url('/gone')}\n")
        address = site.url("/sitemap.xml")
        assert write(program, "--urls", path, "--sitemap-url", address).code == 0
        assert site.paths() == []
        result = program.crawl(site.url("/"), "--state", "state.sqlite", "--urls", path)
        assert result.listed() == [site.url("/"), site.url("/a")]
        assert result.report["changes"] == {"added": 0, "changed": 0, "removed": 1}


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 5, 8, 11, 14])
def test_a_killed_command_leaves_a_whole_set_and_is_repeated(program: Program, number: int) -> None:
    """Killed before a commit or a rename. The live set is the old or the new one."""
    assert write(program, "--urls", save(program, pages(*range(30)))).code == 0
    old = (program.output / "sitemap.xml").read_bytes()
    path = save(program, pages(*range(3, 33)), "new.csv")
    options = ["--urls", path, "--sitemap-url", f"{ORIGIN}/sitemap.xml", "--state", "state.sqlite", "-o", "sitemaps"]
    killed = program.run_killed(number, "write", "--trust-supplied", *options)
    assert killed.code == -9
    live = (program.output / "sitemap.xml").read_bytes()
    result = write(program, "--urls", path)
    assert result.code == 0, result.err
    new = (program.output / "sitemap.xml").read_bytes()
    assert new.count(b"<loc>") == 30
    assert live in (old, new)
    assert len(program.run("pages", "--state", "state.sqlite", "--reason", "orphan").out.splitlines()) == 4


def test_a_site_file_has_the_options(program: Program) -> None:
    save(program, pages(1, 2))
    save(
        program,
        f'start_url = "{ORIGIN}/"\noutput = "out"\nurls = ["list.csv"]\nformat = ["xml", "txt", "rss"]\n',
        "a.toml",
    )
    result = program.run("write", "--config", "a.toml", "--trust-supplied")
    assert result.code == 0, result.err
    assert sorted(path.name for path in (program.directory / "out").iterdir()) == [
        "sitemap.rss",
        "sitemap.txt",
        "sitemap.xml",
    ]


def test_garbage_is_collected_while_rows_are_stored(program: Program) -> None:
    """The command begins without garbage collection. A million rows would show in its memory."""
    path = save(program, pages(1, 2))
    options = ("--state", str(program.directory / "state.sqlite"), "-o", str(program.output), "-q")
    gc.disable()
    try:
        code = run_here("write", "--trust-supplied", "--urls", path, "--sitemap-url", f"{ORIGIN}/sitemap.xml", *options)
        assert (code, gc.isenabled()) == (0, True)
    finally:
        gc.enable()
        gc.set_threshold(700, 10, 10)
        gc.unfreeze()
