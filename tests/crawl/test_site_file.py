"""One site file, or a directory of them, with every command: its errors, the site that is meant, later edits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.config.sources import PATH_OPTIONS
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program

pytestmark = pytest.mark.slow


def write_file(program: Program, name: str, *lines: str) -> None:
    path = program.directory / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def sites(program: Program, site: WebServer) -> Program:
    """The sites /a/ and /b/, crawled by the files of the directory `sites`."""
    for name in ("a", "b"):
        site.pages[f"/{name}/"] = page(f"/{name}/page", title=name)
        site.pages[f"/{name}/page"] = page(title=f"{name} page")
        write_file(program, f"sites/{name}.toml", f'start_url = "{site.url(f"/{name}/")}"', f'output = "../{name}"')
    assert program.run("crawl", "--config", "sites", "-q").code == 0
    return program


@pytest.mark.parametrize("name", PATH_OPTIONS)
def test_a_nul_in_a_path_of_a_site_file_is_one_line(program: Program, site: WebServer, name: str) -> None:
    start = f'start_url = "{site.url("/")}"'
    write_file(program, "site.toml", start, f'{name} = "a\\u0000b"')
    message = f"site.toml: bad value 'a\\x00b' for {name}: it has a NUL character: choose another name"
    for command in ("crawl", "write"):
        result = program.run(command, "--config", "site.toml")
        assert (result.code, result.last_line) == (2, message)
    write_file(program, "site.toml", start, "[settings]", f'SITEMAP_{name.upper()} = "a\\u0000b"')
    if name != "log_file":
        result = program.run("crawl", "--config", "site.toml")
        assert (result.code, result.last_line) == (2, message)
    assert not site.requests


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('max_pages = "many"', "bad value 'many' for max_pages: give a whole number"),
        ("max_pages = 0", "bad value '0' for max_pages: give 1 or more"),
        ("max_urls = 60000", "bad value '60000' for max_urls: give 50000 or less"),
        ('delay = "slow"', "bad value 'slow' for delay: give a number"),
        ('gzip = "perhaps"', "bad value 'perhaps' for gzip: give true or false"),
        ("output = 5", "bad value '5' for output: give a text, the path of a file or directory"),
        ("news_name = 5", "bad value '5' for news_name: give a text"),
        ("exclude = 5", "bad value '5' for exclude: give a list of texts"),
        ('format = ["pdf"]', "bad value 'pdf' for format: give 'xml', 'txt', 'rss', 'atom' or 'html'"),
        ("[settings]\nSITEMAP_MAX_DEPTH = -1", "bad value '-1' for max_depth: give 0 or more"),
    ],
)
def test_a_bad_value_names_the_file_in_plain_words(program: Program, site: WebServer, line: str, words: str) -> None:
    write_file(program, "site.toml", f'start_url = "{site.url("/")}"', line)
    for command in ("crawl", "pages"):
        result = program.run(command, "--config", "site.toml")
        assert (result.code, result.last_line) == (2, f"site.toml: {words}")


def test_a_bad_value_of_the_command_line_does_not_name_the_file(program: Program, site: WebServer) -> None:
    write_file(program, "site.toml", "max_pages = 7")
    result = program.run("crawl", "--config", "site.toml")
    assert result.last_line == "site.toml: start_url is missing: give the URL of the page where the crawl starts"
    for given in (("--max-pages", "x"), ("-s", "SITEMAP_MAX_PAGES=x")):
        result = program.run("crawl", site.url("/"), "--config", "site.toml", *given)
        assert result.last_line == "bad value 'x' for max_pages: give a whole number"


def test_a_url_chooses_the_site_of_a_directory(sites: Program, site: WebServer) -> None:
    start, inside = site.url("/b/"), site.url("/b/page")
    for url in (start, inside):
        result = sites.run("pages", url, "--config", "sites", "--format", "jsonl")
        assert [json.loads(line)["url"] for line in result.out.splitlines()] == [start, inside]
        assert sites.run("diff", url, "--config", "sites").code == 0
        assert sites.run("runs", url, "--config", "sites").code == 0
        assert sites.run("explain", url, "--config", "sites").out.startswith("listed")
    assert sites.run("write", start, "--config", "sites").code == 0
    assert sites.run("check-inventory", start, "--config", "sites").code == 0
    # A file without `state`, and a page of its site: the inventory is that of the file's start URL.
    assert sites.run("pages", inside, "--config", "sites/b.toml").code == 0


def test_a_directory_without_a_fitting_file(sites: Program, site: WebServer) -> None:
    listing = f":\n  {site.url('/a/')}  sites/a.toml\n  {site.url('/b/')}  sites/b.toml\n"
    remedy = "give the start URL of one, or its file instead of the directory"
    result = sites.run("pages", "--config", "sites")
    assert (result.code, result.err) == (
        2,
        f"sitemap-crawler: --config sites has several site files: {remedy}{listing}",
    )
    for url in (site.url("/c/"), site.url("/b/page")):
        result = sites.run("write", url, "--config", "sites")
        message = f"sitemap-crawler: no site file in sites is of '{url}': give one of these{listing}"
        assert (result.code, result.err) == (2, message)
    (sites.directory / "sites" / "a.toml").unlink()
    assert sites.run("write", "--config", "sites").code == 0


@pytest.mark.parametrize("word", ["abc", "last", "9" * 30])
def test_diff_says_what_is_neither_a_run_nor_a_url(sites: Program, word: str) -> None:
    result = sites.run("diff", word, "--config", "sites/a.toml")
    words = "is neither a start URL nor the number of a run: `runs` shows the numbers"
    usage = "(sitemap-crawler diff --help shows the usage)"
    assert (result.code, result.last_line) == (2, f"'{word}' {words} {usage}")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [(("crawl", "--no-such"), "crawl"), (("pages", "--limit", "x"), "pages"), (("no-such",), "")],
)
def test_the_hint_of_a_usage_error_is_the_help_of_its_command(
    program: Program, arguments: tuple[str, ...], command: str
) -> None:
    result = program.run(*arguments)
    name = f"sitemap-crawler {command}".strip()
    assert result.code == 2
    assert result.last_line.endswith(f" ({name} --help shows the usage)")


def test_write_says_which_options_the_site_file_has_otherwise(sites: Program, site: WebServer) -> None:
    def warnings(*options: str) -> list[str]:
        result = sites.run("write", "--config", "sites/a.toml", "--report", "report.json", *options)
        assert result.code == 0, result.err
        told = "Warning, options differ from those of the crawl (options-changed)" in result.out
        assert told == bool(result.report["warnings"])
        return [warning["message"] for warning in result.report["warnings"] if warning["kind"] == "options-changed"]

    assert warnings() == []
    start = f'start_url = "{site.url("/a/")}"'
    write_file(
        sites, "sites/a.toml", start, 'output = "../a"', 'exclude = ["page"]', "[settings]", "SITEMAP_GZIP = true"
    )
    said = (
        "write takes the options of the last crawl, which differ from sites/a.toml: exclude was [], the file has "
        "['page']; gzip was False, the file has True; crawl again, or give these options to write"
    )
    assert warnings() == [said]
    assert warnings("--exclude", "page", "--gzip") == []
    assert sites.run("crawl", "--config", "sites/a.toml", "-q").code == 0
    assert warnings() == []
    write_file(sites, "sites/a.toml", start, 'output = "../a"')
    assert "exclude was ['page'], the file has []" in warnings()[0]


def test_pages_says_that_a_page_is_still_in_the_live_file(program: Program, site: WebServer) -> None:
    site.pages |= {"/": page("/x", "/y"), "/x": page(title="x"), "/y": page(title="y")}
    assert program.crawl(site.url("/")).code == 0
    site.pages["/x"] = Answer("", status=500)
    settings = ("-s", "RETRY_TIMES=0")
    assert program.crawl(site.url("/"), *settings, "--exclude", "/y$", "--dry-run").code == 0
    rows = {line.split()[2]: line for line in program.run("pages").out.splitlines() if "http" in line}
    assert rows[site.url("/y")].endswith(", still in sitemap.xml until the next publication")
    assert rows[site.url("/x")].startswith("kept-after-error ")
    assert rows[site.url("/x")].endswith(", still in sitemap.xml")
    assert "still" not in rows[site.url("/")]
    assert program.crawl(site.url("/"), *settings, "--exclude", "/y$").code == 0
    assert "still in" not in program.run("pages", "--match", "/y$").out
