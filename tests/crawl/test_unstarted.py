"""A command that ends before a run begins replaces the report of the run before, and never another file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.test_schemas import check
from tests.support.webserver import page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program
    from tests.support.webserver import WebServer

URL = "http://127.0.0.1:9/"
SUCCESS = {"outcome": "published", "exit_code": 0, "message": "1 page listed"}


def stale(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(SUCCESS))
    return path


def essence(report: dict[str, Any]) -> tuple[object, ...]:
    return report["outcome"], report["exit_code"], report["start_url"], report["run"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("crawl", URL, "--exclude", "("),
        ("crawl", URL, "--log-file", "nono/x"),
        ("crawl", URL, "--no-such-option"),
        ("crawl", URL, "--parallel", "none"),
        ("crawl", URL, "-s", "NO_SUCH_SETTING=1"),
        ("crawl", URL, "-s", "ROBOTSTXT_OBEY=perhaps"),
        ("write", URL, "--exclude", "("),
        ("write", URL, "--no-such-option"),
    ],
)
def test_a_usage_error_replaces_the_report(program: Program, arguments: tuple[str, ...]) -> None:
    path = stale(program.directory / "report.json")
    result = program.run(*arguments, "--report", "report.json")
    assert result.code == 2, result.err
    report = check(path, "report")
    assert essence(report) == ("usage-error", 2, URL, 0)
    assert result.last_line.startswith(report["message"])


@pytest.mark.parametrize("line", ["exclud = ['/a']", "exclude = ['(']", "max_pages = 'many'", "log_file = 'nono/x'"])
def test_the_site_file_names_the_report(program: Program, line: str) -> None:
    path = stale(program.directory / "conf" / "zz.json")
    file = program.directory / "conf" / "site.toml"
    file.write_text(f'start_url = "{URL}"\nreport = "zz.json"\n{line}\n')
    assert program.run("crawl", "--config", "conf/site.toml").code == 2
    assert essence(check(path, "report")) == ("usage-error", 2, URL, 0)


def test_several_sites(program: Program) -> None:
    paths = [stale(program.directory / f"{name}.json") for name in ("all", "a", "b")]
    for name, more in {"a": "exclud = 1", "b": "max_pages = 'many'"}.items():
        lines = f'start_url = "http://127.0.0.1:9/{name}/"\noutput = "{name}"\nreport = "{name}.json"\n{more}\n'
        (program.directory / f"{name}.toml").write_text(lines)
    command = ("crawl", "--config", "a.toml", "--config", "b.toml", "--report", "all.json")
    assert program.run(*command).code == 2
    assert check(paths[0], "sites-report")["outcome"] == "usage-error"
    assert [check(path, "report")["outcome"] for path in paths[1:]] == ["usage-error"] * 2
    for path in paths:
        stale(path)
    assert program.run(*command, "--exclude", "(").code == 2
    whole = check(paths[0], "sites-report")
    assert (whole["outcome"], whole["exit_code"], whole["sites"]) == ("usage-error", 2, [])
    assert [check(path, "report")["outcome"] for path in paths[1:]] == ["usage-error"] * 2


def test_scrapy_crawl(program: Program) -> None:
    path = stale(program.directory / "report.json")
    (program.directory / "scrapy.cfg").write_text("[settings]\ndefault = sitemap_crawler.settings\n")
    command = [program.command()[0], "-m", "scrapy", "crawl", "site", "-a", f"url={URL}", "-a", "exclude=("]
    assert program.execute(*command, "-s", "SITEMAP_REPORT=report.json").code == 2
    assert essence(check(path, "report")) == ("usage-error", 2, URL, 0)


@pytest.mark.parametrize(
    ("name", "content"),
    [("state.sqlite", "a database"), ("site.toml", f'start_url = "{URL}"\nexclud = 1\n'), ("data.json", '{"a": 1}')],
)
def test_a_file_that_is_no_report_is_kept(program: Program, name: str, content: str) -> None:
    path = program.directory / name
    path.write_text(content)
    config = ("--config", name) if name == "site.toml" else (URL,)
    assert program.run("crawl", *config, "--report", name, "--exclude", "(").code == 2
    assert path.read_text() == content


def test_no_report_takes_the_name_of_a_sitemap(program: Program) -> None:
    program.output.mkdir()
    assert program.run("crawl", URL, "--report", "sitemaps/sitemap.xml").code == 2
    assert list(program.output.iterdir()) == []


def test_credentials_are_not_in_the_report(program: Program) -> None:
    assert program.run("crawl", "http://user:secret@127.0.0.1:9/", "--report", "r.json", "--exclude", "(").code == 2
    assert "secret" not in (program.directory / "r.json").read_text()
    assert program.run("crawl", URL, "--auth", "secret", "--report", "r.json").code == 2
    assert "secret" not in (program.directory / "r.json").read_text()


def test_settings_of_scrapy_are_hinted_on_the_command_line(program: Program) -> None:
    line = program.run("crawl", URL, "-s", "SITEMAP_DELAY=2").last_line
    assert line == "unknown setting SITEMAP_DELAY: did you mean DOWNLOAD_DELAY?"


def test_write_says_which_defaults_come_from_the_last_crawl(program: Program) -> None:
    text = " ".join(program.run("write", "--help").out.split())
    assert "[default: sitemaps]" not in text
    assert "[default: 50000]" not in text
    assert text.count("[default: as in the last crawl]") > 20
    assert "as in the last crawl" not in program.run("crawl", "--help").out


def test_a_second_start_page_of_a_directory_is_a_usage_error(program: Program, site: WebServer) -> None:
    site.pages |= {"/docs/": page("/docs/index.html"), "/docs/index.html": page("/docs/")}
    assert program.crawl(site.url("/docs/")).code == 0
    result = program.crawl(site.url("/docs/index.html"))
    assert result.code == 2
    assert result.report["outcome"] == "usage-error"
    assert "crawl from that URL" in result.last_line
    assert site.url("/docs/") in result.last_line


def test_a_missing_inventory_names_the_site_file_as_a_remedy(program: Program) -> None:
    for command in ("explain", "runs", "pages"):
        result = program.run(command, URL)
        assert result.code == 2
        assert "--config FILE" in result.last_line
    assert "put files called *.toml in it" in program.run("runs", "--config", ".").last_line
