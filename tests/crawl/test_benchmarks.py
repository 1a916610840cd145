"""The benchmarks run and compare like with like. No test looks at a figure."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT
from tests.support.postgres_server import needs_postgres
from tests.support.tools import needs
from tests.support.webserver import page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program

pytestmark = pytest.mark.slow

BENCHMARKS = ROOT / "benchmarks"


def lay_out(root: Path, pages: dict[str, str]) -> Path:
    for path, body in pages.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body, encoding="utf-8")
    return root


def run(program: Program, script: str, *arguments: str) -> str:
    done = program.execute(sys.executable, str(BENCHMARKS / script), *arguments)
    assert done.code == 0, done.err
    return done.out


def rows(table: str) -> list[list[str]]:
    """Return the cells of the rows in Markdown, without the two lines of its head."""
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines[2:]]


def test_all_crawlers_find_the_same_pages(program: Program, tmp_path: Path) -> None:
    pages = {f"part/{number}.html": page(f"{number + 1}.html", "../index.html#top") for number in range(4)}
    root = lay_out(
        tmp_path / "site", {"index.html": page("part/0.html", "style.css", "https://other.example/"), **pages}
    )
    crawlers = ["sitemap-crawler", "CrawlSpider", "Scrapy's floor", "bare loop"]
    chosen = [option for name in crawlers for option in ("--crawler", name)]
    table = rows(run(program, "run.py", "--quick", "--only", "throughput", "--markdown", "--site", str(root), *chosen))
    assert [row[2] for row in table] == crawlers
    # "/" and "/index.html" are two URLs; 4.html does not exist.
    assert f"{root}, 6 pages of " in table[0][1]
    for row in table:
        assert row[3].endswith(" pages/s")
        assert "whole process" in row[6]
        assert "missing" not in row[6]
        assert "more" not in row[6]
    for row in table[1:]:
        assert row[5].startswith("ours is ")
        assert "whole process" in row[5]


def test_the_writer_is_measured_on_the_same_bytes(program: Program) -> None:
    table = rows(run(program, "run.py", "--quick", "--only", "writer", "--markdown"))
    crawlers = ["sitemap-crawler", "bare loop", "sitemap-crawler write"]
    assert [(row[0], row[2]) for row in table] == [("writer", crawlers[0]), *(("", name) for name in crawlers[1:])] + [
        ("", name) for name in crawlers
    ]


def test_a_long_crawl_with_faults_is_measured_at_its_start_and_end(program: Program) -> None:
    table = rows(run(program, "run.py", "--only", "soak", "--pages", "4000", "--markdown"))
    assert [(row[0], row[2]) for row in table] == [("soak", "memory"), ("", "rate"), ("", "peak")]
    assert all(row[5].endswith("times that of the first tenth") for row in table[:2])
    assert " listed, " in table[2][6]


def test_memory_is_known_for_pages_that_were_all_answered_between_two_measurements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    mean_memory = importlib.import_module("process_memory").mean_memory
    samples = [(10.0, 100), (11.0, 400), (12.0, 700)]
    assert mean_memory(samples, [10.1, 10.2, 10.3]) == 100
    assert mean_memory(samples, [10.4, 10.6]) == 250
    assert mean_memory(samples, [3.0]) == 100
    assert mean_memory(samples, [12.5, 60.0]) == 700


def test_the_html_report_is_measured(program: Program) -> None:
    table = rows(run(program, "run.py", "--quick", "--only", "report", "--markdown"))
    ours = [(row[3].split()[1], row[6]) for row in table if row[2] == "sitemap-crawler"]
    assert ours == [("s", "processor time"), ("MB", "peak memory"), ("MB", "size of the file")]
    # Without a browser the rows of the browser are missing.
    assert len(table) in (3, 5)


@needs("chromium-headless-shell")
def test_sites_that_need_a_browser_are_compared_with_the_truth(program: Program) -> None:
    # Crawlee and Playwright would be installed from npm.
    options = ("--quick", "--only", "rendering", "--markdown", "--crawler", "sitemap-crawler")
    row, *memory = rows(run(program, "run.py", *options))
    assert row[:3] == ["rendering", "the hash-mode site, 3 pages to list", "sitemap-crawler"]
    assert row[6].startswith("precision 1.00, recall 1.00; all reasons and dates as in the truth; 1 rendered, ")
    assert [(row[1], row[3].rpartition(" ")[2]) for row in memory] == [
        ("memory at page 5 of 23", "MB"),
        ("memory at page 12 of 23", "MB"),
    ]
    assert "times page 5" in memory[1][5]


@needs_postgres
def test_both_databases_are_measured(program: Program) -> None:
    table = rows(run(program, "run.py", "--quick", "--only", "postgresql", "--markdown"))
    assert [row[2] for row in table] == ["SQLite", "PostgreSQL"] * 4
    assert [row[3].rpartition(" ")[2] for row in table] == ["s"] * 6 + ["B/URL"] * 2
    assert all("times the processor time" in row[5] for row in table[1:6:2])


def test_the_validation_is_measured(program: Program) -> None:
    table = rows(run(program, "run.py", "--quick", "--only", "validation", "--markdown"))
    units = ["URLs/s", "URLs/s", "URLs/s", "MB", "MB"]
    assert [row[3].rpartition(" ")[2] for row in table] == units
    assert "times one core" in table[1][5]
    assert "ours is" in table[2][5]


def test_validators_are_compared_on_the_sitemaps_of_generators(program: Program, tmp_path: Path) -> None:
    schema = '<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="{}"><element name="{}"/></schema>'
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    schemas = {"sitemap.xsd": schema.format(namespace, "urlset"), "siteindex.xsd": schema.format(namespace, "none")}
    lay_out(tmp_path / "schemas", schemas)
    entries = "<url><loc>https://docs.example.org/a</loc></url>"
    urlset = f'<urlset xmlns="{namespace}">{{}}</urlset>'
    lay_out(
        tmp_path / "sites",
        {
            "MkDocs/site/site/sitemap.xml": urlset.format(entries * 2),
            "Hugo/site/public/sitemap.xml": urlset.format(entries),
            "sitemap.js/site/sitemap.xml": f"<a>{entries}</a>",
        },
    )
    arguments = ("--schemas", str(tmp_path / "schemas"), "--sites", str(tmp_path / "sites"))
    assert rows(run(program, "validators.py", *arguments)) == [
        ["MkDocs", "1", "1", "0"],
        ["Hugo", "1", "0", "0"],
        ["sitemap.js", "1", "1", "1"],
    ]


def test_a_part_of_a_site_has_no_links_to_the_rest(program: Program, tmp_path: Path) -> None:
    root = lay_out(
        tmp_path / "site",
        {
            "index.html": page("a.html", "b.html", "missing.html"),
            "a.html": page("c.html", "b.html"),
            "b.html": page("index.html"),
            "c.html": page("index.html"),
            "style.css": "p {}",
        },
    )
    copy = tmp_path / "part"
    table = json.loads(run(program, "reachable.py", str(root), "3", str(copy)))
    assert table["paths"] == ["/", "/a.html", "/b.html"]
    assert table["cut"] is True
    assert {file.name for file in copy.iterdir()} == {"index.html", "a.html", "b.html", "style.css"}
    assert 'href="c.html"' not in (copy / "a.html").read_text(encoding="utf-8")
    # A link that is broken on the whole site stays.
    assert (copy / "index.html").read_bytes() == (root / "index.html").read_bytes()


@pytest.mark.parametrize("marker", ["<!-- the last run -->\n", "<!-- end of the last run -->\n"])
def test_the_document_has_a_place_for_the_last_run(marker: str) -> None:
    assert (ROOT / "docs" / "development" / "benchmarks.md").read_text(encoding="utf-8").count(marker) == 1
