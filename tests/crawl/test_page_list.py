"""`--format html`: the page list for visitors, through the command."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

XHTML = "{http://www.w3.org/1999/xhtml}"
STATE = ("--state", "state.sqlite")
BOTH = ("--format", "xml", "--format", "html")
SHOP = "https://shop.example"


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    result = program.crawl(site.url("/"), *STATE, *options)
    assert result.code == 0, result.err
    return result


def links(program: Program, name: str = "sitemap.html") -> list[tuple[str, str]]:
    """Address and text of the links of a page list, read by a strict parser."""
    items = etree.parse(program.output / name).iter(f"{XHTML}li")
    listed = [item[0] for item in items if item.get("class") == "sitemap-page"]
    return [(str(a.get("href")), "".join(a.itertext())) for a in listed]


def names(program: Program) -> set[str]:
    return {path.name for path in program.output.iterdir()}


def save(program: Program, name: str, text: str) -> str:
    path = program.directory / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def write_list(program: Program, numbers: range, *options: str) -> Result:
    """Write a set of pages without titles from a list, without a site."""
    path = save(program, "list.txt", "".join(f"{SHOP}/p/{number:05}\n" for number in numbers))
    words = ("write", "--trust-supplied", "--urls", path, "--sitemap-url", f"{SHOP}/sitemap.xml", "-o", "sitemaps")
    return program.run(*words, *STATE, "--report", "report.json", *options)


def test_it_lists_the_pages_of_the_sitemap_with_their_titles(program: Program, site: WebServer) -> None:
    hostile = "\u202e</script><script>alert(1)</script>{{ 7*7 }}"
    site.pages["/"] = page("/b", "/a", "/gone", "/untitled", "/hidden", title="Start & more")
    site.pages["/a"] = Answer(page(title="A"), headers={"Last-Modified": "Mon, 02 Jan 2023 03:04:05 GMT"})
    site.pages["/b"] = page(title=hostile)
    site.pages["/untitled"] = "<p>Text"
    site.pages["/hidden"] = page(title="A secret", head='<meta name="robots" content="noindex">')
    result = crawl(program, site, *BOTH)
    assert links(program) == [
        (site.url("/"), "Start & more"),
        (site.url("/a"), "A"),
        (site.url("/b"), "</script><script>alert(1)</script>{{ 7*7 }}"),
        (site.url("/untitled"), site.url("/untitled")),
    ]
    assert [url for url, _ in links(program)] == result.listed()
    text = (program.output / "sitemap.html").read_text(encoding="utf-8")
    assert not [word for word in ("<script", "secret", "hidden", "2023", "gone", "\u202e") if word in text]
    assert [(file["name"], file["urls"], file["written"]) for file in result.report["files"]] == [
        ("sitemap.xml", 4, True),
        ("sitemap.html", 4, True),
    ]
    again = crawl(program, site, *BOTH).report
    assert (again["outcome"], [file["written"] for file in again["files"]]) == ("unchanged", [False, False])
    site.pages["/a"] = page(title="Another title")
    files = crawl(program, site, *BOTH).report["files"]
    assert [file["written"] for file in files if file["name"] == "sitemap.html"] == [True]
    assert dict(links(program))[site.url("/a")] == "Another title"


def test_several_files_follow_the_number_of_pages(program: Program) -> None:
    assert write_list(program, range(2_500), *BOTH).code == 0
    assert names(program) == {"sitemap.xml", "sitemap.html", "sitemap-2.html", "sitemap-3.html"}
    pages = [f"{SHOP}/p/{number:05}" for number in range(2_500)]
    found = [links(program, name) for name in ("sitemap.html", "sitemap-2.html", "sitemap-3.html")]
    assert [len(one) for one in found] == [1_000, 1_000, 500]
    # A list has no titles.
    assert [link for one in found for link in one] == [(url, url) for url in pages]

    # The last file changes alone while the number of files stays.
    report = write_list(program, range(2_501), *BOTH).report
    assert {file["name"] for file in report["files"] if file["written"]} == {"sitemap.xml", "sitemap-3.html"}
    assert write_list(program, range(2_001, 2_900), *BOTH, "--allow-shrink").code == 0
    assert names(program) == {"sitemap.xml", "sitemap.html"}


def test_without_xml_explain_names_the_file_of_a_page(program: Program) -> None:
    assert write_list(program, range(1_500), "--format", "html").code == 0
    assert names(program) == {"sitemap.html", "sitemap-2.html"}
    answer = json.loads(program.run("explain", f"{SHOP}/p/01200", *STATE, "--json").out)
    assert (answer["decision"], answer["file"]) == ("listed", "sitemap-2.html")


@pytest.mark.parametrize("number", [2, 6, 10])
def test_a_killed_publication_leaves_whole_files(program: Program, number: int) -> None:
    """Each live file is the old or the new one, and nothing is left behind by the next command."""
    assert write_list(program, range(1_500), "--format", "html").code == 0
    old = {path.name: path.read_bytes() for path in program.output.iterdir()}
    assert write_list(program, range(1, 2_502), "--format", "html").code == 0
    new = {path.name: path.read_bytes() for path in program.output.iterdir()}
    assert write_list(program, range(1_500), "--format", "html", "--allow-shrink").code == 0
    assert {path.name: path.read_bytes() for path in program.output.iterdir()} == old
    path = save(program, "more.txt", "".join(f"{SHOP}/p/{page:05}\n" for page in range(1, 2_502)))
    words = ("write", "--trust-supplied", "--urls", path, "--sitemap-url", f"{SHOP}/sitemap.xml", "-o", "sitemaps")
    killed = program.run_killed(number, *words, *STATE, "--format", "html")
    assert killed.code == -9
    live = {path.name: path.read_bytes() for path in program.output.glob("*.html")}
    assert set(old) <= set(live) <= set(new)
    assert all(data in (old.get(name), new[name]) for name, data in live.items())
    assert write_list(program, range(1, 2_502), "--format", "html").code == 0
    assert {path.name: path.read_bytes() for path in program.output.iterdir()} == new


def test_it_does_not_keep_pages_that_the_site_no_longer_links_to(program: Program, site: WebServer) -> None:
    """The site serves the page list, and its start page links to it. Its own links would keep every page for ever."""
    site.pages["/"] = page("/lost", "/kept", "/sitemap.html")
    site.pages["/lost"] = page(title="Lost")
    site.pages["/kept"] = page(title="Kept")
    # An older page list with the same links, which is not changed since: it answers 304.
    old = page("/", "/lost", "/kept", title="Pages")
    site.pages["/sitemap.html"] = lambda request: (
        Answer(status=304, headers={"ETag": '"1"'})
        if request.headers.get("if-none-match")
        else Answer(old, headers={"ETag": '"1"'})
    )
    crawl(program, site, *BOTH)
    everything = ["/", "/kept", "/lost", "/sitemap.html"]
    assert [url for url, _ in links(program)] == list(map(site.url, everything))
    site.pages["/"] = page("/kept", "/sitemap.html")
    for _ in range(3):
        result = crawl(program, site, *BOTH)
    assert result.report["not_modified"] == 1
    assert result.report["excluded"] == {"orphan": 1}
    site.pages["/sitemap.html"] = (program.output / "sitemap.html").read_bytes().decode()
    crawl(program, site, *BOTH)
    assert [url for url, _ in links(program)] == list(map(site.url, ["/", "/kept", "/sitemap.html"]))
    # Nor is a page that fails now a broken link of the page list.
    del site.pages["/kept"]
    site.pages["/"] = page("/sitemap.html")
    warnings = crawl(program, site, *BOTH, "--allow-shrink").report["warnings"]
    assert [warning for warning in warnings if warning["kind"] == "broken-link"] == []


def test_the_frame_of_the_site_by_a_site_file(program: Program, site: WebServer) -> None:
    site.pages["/"] = page("/a", title="<Start>")
    site.pages["/a"] = page(title="A")
    (program.directory / "sites").mkdir()
    save(program, "sites/frame.html", "<p>{{ site_title }} {{ host }}</p>{{ listing }}<a href='https://a.example/'>")
    text = f'start_url = "{site.url("/")}"\noutput = "../sitemaps"\nstate = "../state.sqlite"\n'
    save(program, "sites/a.toml", f'{text}format = ["html"]\nhtml_template = "frame.html"\n')
    result = program.run("crawl", "--config", "sites/a.toml")
    assert result.code == 0, result.err
    made = (program.output / "sitemap.html").read_text(encoding="utf-8")
    assert made.startswith(f"<p>&lt;Start&gt; {site.url('').removeprefix('http://')}</p><section")
    assert made.endswith("</section>\n<a href='https://a.example/'>")
    # The frame's links to other sites do not make the file that of another site, when nothing but the file is left.
    (program.directory / "state.sqlite").unlink()
    assert program.run("crawl", "--config", "sites/a.toml").code == 0
    # `write` remembers the template, wherever it runs.
    (program.output / "sitemap.html").unlink()
    assert program.run("write", *STATE).code == 0
    assert (program.output / "sitemap.html").read_text(encoding="utf-8") == made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ titel }}", "frame.html, line 1: 'titel' is undefined: correct the template"),
        ("{% if %}", "frame.html, line 1: Expected an expression"),
        (None, "cannot read html_template frame.html: No such file or directory; give a file that exists"),
    ],
)
def test_a_bad_template_ends_the_command_before_the_first_request(
    program: Program, site: WebServer, text: str | None, words: str
) -> None:
    site.pages["/"] = page()
    if text is not None:
        save(program, "frame.html", text)
    result = program.crawl(site.url("/"), "--format", "html", "--html-template", "frame.html")
    assert result.code == 2
    assert words in result.last_line
    assert site.paths() == []
    # Without a page list no template is needed.
    assert program.crawl(site.url("/"), "--html-template", "frame.html").code == 0


def test_a_template_that_fails_later_leaves_the_live_files(program: Program, site: WebServer) -> None:
    site.pages["/"] = page(title="Fine")
    frame = save(program, "frame.html", "{{ listing }}{% if site_title == 'Bad' %}{{ nope }}{% endif %}")
    options = (*BOTH, "--html-template", frame)
    crawl(program, site, *options)
    before = (program.output / "sitemap.html").read_bytes()
    site.pages["/"] = page(title="Bad")
    result = program.crawl(site.url("/"), *STATE, *options)
    assert (result.code, result.report["outcome"]) == (1, "failed")
    assert f"html_template {frame}, line 1: 'nope' is undefined: correct the template" in result.last_line
    assert (program.output / "sitemap.html").read_bytes() == before
    save(program, "frame.html", "{{ listing }}")
    crawl(program, site, *options)
    assert b">Bad<" in (program.output / "sitemap.html").read_bytes()


def test_a_template_in_the_place_of_a_page_list_is_refused(program: Program, site: WebServer) -> None:
    program.output.mkdir()
    frame = save(program, "sitemaps/sitemap-2.html", "{{ listing }}")
    result = program.crawl(site.url("/"), "--format", "html", "--html-template", frame)
    assert (result.code, site.paths()) == (2, [])
    assert "html_template" in result.last_line
    assert "has the name of a sitemap file" in result.last_line


def test_another_site_does_not_replace_it(program: Program, site: WebServer) -> None:
    for name in ("a", "b"):
        site.pages[f"/{name}/"] = page(title=name)
    assert program.crawl(site.url("/a/"), "--format", "html").code == 0
    before = (program.output / "sitemap.html").read_bytes()
    result = program.crawl(site.url("/b/"), "--format", "html")
    assert result.code == 3
    assert f"sitemaps/sitemap.html is of another site, it lists {site.url('/a/')}" in result.last_line
    assert (program.output / "sitemap.html").read_bytes() == before


def test_each_host_has_a_page_list(program: Program, site: WebServer) -> None:
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
    www, blog = "http://www.example.co.uk/", "http://blog.example.co.uk/"
    site.pages.update({www: page(blog, title="Start"), blog: page(f"{blog}a", title="Blog")})
    site.pages[f"{blog}a"] = page(title="Post")
    result = program.crawl(www, *STATE, *BOTH, "--subdomains", "--no-adaptive")
    assert result.code == 0, result.err
    assert links(program, "www.example.co.uk/sitemap.html") == [(www, "Start")]
    assert links(program, "blog.example.co.uk/sitemap.html") == [(blog, "Blog"), (f"{blog}a", "Post")]


def test_addresses_are_those_of_the_live_site(program: Program, site: WebServer) -> None:
    live = "https://www.example.com/"
    site.pages["/"] = page("/d/1", title="Start")
    site.pages["/d/1"] = "<p>Text"
    crawl(program, site, *BOTH, "--public-url", live)
    assert links(program) == [(live, "Start"), (f"{live}d/1", f"{live}d/1")]
    assert b"127.0.0.1" not in (program.output / "sitemap.html").read_bytes()


def test_validate_ignores_it_in_a_directory(program: Program) -> None:
    assert write_list(program, range(1_500), *BOTH).code == 0
    result = program.run("validate", "sitemaps", "--json")
    report = json.loads(result.out)
    assert (result.code, report["valid"]) == (0, True)
    assert ".html" not in result.out
    for name in ("sitemap.xml", "sitemap-2.html"):
        (program.output / name).unlink()
    result = program.run("validate", "sitemaps")
    assert result.code == 2
    assert "contains no sitemap" in result.last_line


def test_the_titles_come_in_one_stream(program: Program, site: WebServer) -> None:
    """The number of statements for a page list does not grow with its pages."""
    paths = [f"/{number}" for number in range(300)]
    site.pages["/"] = page(*paths)
    site.pages.update({path: page(title=path) for path in paths})
    crawl(program, site, "--format", "html")
    counter = (
        "import sys; from sqlalchemy import event; from sqlalchemy.engine import Engine\n"
        "from sitemap_crawler.__main__ import main\n"
        "found = []\n"
        "event.listen(Engine, 'before_cursor_execute', lambda c, cursor, sql, *_: found.append('title' in sql))\n"
        "try:\n    main()\nfinally:\n    print('TITLES', sum(found), flush=True)\n"
    )
    done = program.execute(sys.executable, "-c", counter, "write", *STATE)
    assert done.code == 0, done.err
    # Of the start page, of all pages, and of those that share a canonical.
    assert "TITLES 3" in done.out
    assert len(links(program)) == 301
