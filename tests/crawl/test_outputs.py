"""What a user gets of formats, sections, files of media and the news window, through the command."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from sitemap_crawler.validation.entries import read_entries
from tests.support.inventories import connect
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result

STATE = ("--state", "state.db")
DATES = {"/old": "Tue, 02 Mar 2021 10:20:30 GMT", "/new": "Mon, 02 Jan 2023 03:04:05 GMT"}


def crawl(program: Program, site: WebServer, *options: str) -> Result:
    result = program.crawl(site.url("/"), *STATE, *options)
    assert result.code == 0, result.err
    return result


def names(program: Program) -> set[str]:
    return {path.name for path in program.output.iterdir()}


def locs(program: Program, name: str) -> list[str]:
    return [entry.loc for entry in read_entries((program.output / name).read_bytes())]


@pytest.fixture
def dated(site: WebServer) -> WebServer:
    site.pages["/"] = page("/old", "/new", "/undated", title="The start & more")
    site.pages["/undated"] = page(title="Undated")
    for path, date in DATES.items():
        site.pages[path] = Answer(page(title=f"The page {path}"), headers={"Last-Modified": date})
    return site


def feed_items(program: Program, site: WebServer) -> list[tuple[str, str, str]]:
    """Path, title and time of each item of the RSS feed."""
    root = etree.parse(program.output / "sitemap.rss").getroot()
    items = (tuple(str(item.findtext(name)) for name in ("link", "title", "pubDate")) for item in root.iter("item"))
    return [(link.removeprefix(site.url("")), title, date) for link, title, date in items]


def test_all_formats_together(program: Program, dated: WebServer) -> None:
    formats = [part for name in ("xml", "txt", "rss", "atom") for part in ("--format", name)]
    report = crawl(program, dated, *formats).report
    assert names(program) == {"sitemap.xml", "sitemap.txt", "sitemap.rss", "sitemap.atom"}
    expected = [dated.url(path) for path in ("/", "/new", "/old", "/undated")]
    assert (program.output / "sitemap.txt").read_text().splitlines() == expected == locs(program, "sitemap.xml")
    assert [(file["name"], file["urls"], file["written"]) for file in report["files"]] == [
        ("sitemap.xml", 4, True), ("sitemap.txt", 4, True), ("sitemap.rss", 2, True), ("sitemap.atom", 2, True),
    ]  # fmt: skip
    # Only pages of which anybody knows when they changed, the newest first.
    assert feed_items(program, dated) == [
        ("/new", "The page /new", "Mon, 02 Jan 2023 03:04:05 +0000"),
        ("/old", "The page /old", "Tue, 02 Mar 2021 10:20:30 +0000"),
    ]
    again = crawl(program, dated, *formats).report
    assert (again["outcome"], [file["written"] for file in again["files"]]) == ("unchanged", [False] * 4)

    dated.pages["/"] = page("/old", "/new", "/undated", "/added", title="The start & more")
    dated.pages["/added"] = page(title="Added <later>")
    before = datetime.now(UTC).replace(microsecond=0)
    crawl(program, dated, *formats)
    path, title, date = feed_items(program, dated)[0]
    assert (path, title) == ("/", "The start & more")
    path, title, date = feed_items(program, dated)[1]
    assert (path, title) == ("/added", "Added <later>")
    assert before <= datetime.strptime(date, "%a, %d %b %Y %H:%M:%S %z") <= datetime.now(UTC)


def test_text_alone(program: Program, dated: WebServer) -> None:
    crawl(program, dated, "--format", "txt", "--max-urls", "3")
    assert names(program) == {"sitemap.txt", "sitemap-1.txt"}
    assert program.run("write", *STATE).code == 0
    assert names(program) == {"sitemap.txt", "sitemap-1.txt"}
    answer = json.loads(program.run("explain", dated.url("/undated"), *STATE, "--json").out)
    assert (answer["file"], answer["title"]) == ("sitemap-1.txt", "Undated")


def test_a_feed_without_any_date(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    report = crawl(program, site, "--format", "xml", "--format", "rss").report
    assert [warning["kind"] for warning in report["warnings"]] == ["no-feed"]
    assert names(program) == {"sitemap.xml"}


@pytest.fixture
def sectioned(site: WebServer) -> WebServer:
    paths = ["/blog/a", "/blog/b", "/shop/c", "/about"]
    site.pages["/"] = page(*paths)
    for path in paths:
        site.pages[path] = Answer(f'<title>{path}</title><img src="{path}.png">')
    return site


def test_sections_by_rule(program: Program, sectioned: WebServer) -> None:
    crawl(program, sectioned, "--section", "posts=/blog/", "--section", "products=/shop/")
    assert names(program) == {"sitemap.xml", "sitemap-1.xml", "sitemap-posts-1.xml", "sitemap-products-1.xml"}
    url = sectioned.url
    expected = ["/sitemap-1.xml", "/sitemap-posts-1.xml", "/sitemap-products-1.xml"]
    assert locs(program, "sitemap.xml") == list(map(url, expected))
    assert locs(program, "sitemap-1.xml") == [url("/"), url("/about")]
    assert locs(program, "sitemap-posts-1.xml") == [url("/blog/a"), url("/blog/b")]
    assert locs(program, "sitemap-products-1.xml") == [url("/shop/c")]
    for path, name in (("/blog/b", "sitemap-posts-1.xml"), ("/about", "sitemap-1.xml")):
        assert json.loads(program.run("explain", url(path), *STATE, "--json").out)["file"] == name

    sectioned.pages["/blog/a"] = Answer('<title>/blog/a</title><img src="/other.png">')
    files = crawl(program, sectioned, "--section", "posts=/blog/", "--section", "products=/shop/").report["files"]
    # The index has the time of the change, which may be the same second.
    assert {file["name"] for file in files if file["written"]} - {"sitemap.xml"} == {"sitemap-posts-1.xml"}

    # And without them all is one file again.
    crawl(program, sectioned)
    assert names(program) == {"sitemap.xml"}
    assert len(locs(program, "sitemap.xml")) == 5


def test_sections_by_directory_and_media_in_files_of_their_own(program: Program, sectioned: WebServer) -> None:
    crawl(program, sectioned, "--by-directory", "--media-files", "-s", "SITEMAP_TEMPLATE_IMAGES=1")
    shards = {"sitemap-1.xml", "sitemap-blog-1.xml", "sitemap-shop-1.xml", "sitemap-images-1.xml"}
    assert names(program) == {"sitemap.xml", *shards}
    images = read_entries((program.output / "sitemap-images-1.xml").read_bytes())
    assert [(entry.loc, entry.images) for entry in images] == [
        (sectioned.url(path), (sectioned.url(f"{path}.png"),)) for path in ("/about", "/blog/a", "/blog/b", "/shop/c")
    ]
    assert b"image:image>" not in (program.output / "sitemap-blog-1.xml").read_bytes()
    assert program.run("validate", "sitemaps").code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--section", "blog"], "NAME=RE"),
        (["--section", "news=/news/"], "news"),
        (["--section", "A B=/x/"], "A B"),
        (["--section", "a=("], "regular expression"),
        (["--format", "pdf"], "pdf"),
        (["--news-language", "klingon"], "klingon"),
        (["--news-name", ""], "news_name"),
    ],
)
def test_bad_values(program: Program, site: WebServer, options: list[str], words: str) -> None:
    site.pages["/"] = page()
    result = program.crawl(site.url("/"), *options)
    assert result.code == 2
    assert words in result.last_line
    assert site.paths() == []


def news(program: Program) -> list[str]:
    path = program.output / "sitemap-news.xml"
    return locs(program, path.name) if path.exists() else []


def test_the_news_window_moves_without_a_crawl(program: Program, site: WebServer) -> None:
    published = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    article = json.dumps({"@type": "NewsArticle", "headline": "It happened", "datePublished": published})
    site.pages["/"] = page("/article")
    site.pages["/article"] = Answer(
        f'<html lang=en><script type="application/ld+json">{article}</script><p>Text</html>'
    )
    crawl(program, site, "--news-name", "The Example")
    assert names(program) == {"sitemap.xml", "sitemap-1.xml", "sitemap-news.xml"}
    assert news(program) == [site.url("/article")]
    site.clear_log()
    assert program.run("write", *STATE).code == 0
    assert news(program) == [site.url("/article")]

    # Two days later.
    with closing(connect(program.directory / "state.db")) as connection:
        [[extras]] = connection.execute("SELECT extras FROM observations WHERE extras IS NOT NULL")
        older = json.loads(extras)
        older["article"]["published"] -= 48 * 3_600
        connection.execute("UPDATE observations SET extras = ? WHERE extras IS NOT NULL", (json.dumps(older),))
        connection.commit()
    assert program.run("write", *STATE).code == 0
    assert names(program) == {"sitemap.xml"}
    assert locs(program, "sitemap.xml") == [site.url("/"), site.url("/article")]
    assert site.paths() == []


def image_elements(program: Program) -> list[tuple[str | None, str | None, str | None]]:
    root = etree.parse(program.output / "sitemap.xml").getroot()
    names = ("loc", "title", "caption")
    images = root.iter("{http://www.google.com/schemas/sitemap-image/1.1}image")
    return [tuple(image.findtext(f"{{*}}{name}") for name in names) for image in images]


def test_texts_of_images_and_other_hosts_are_settings(program: Program, site: WebServer) -> None:
    site.pages["/"] = Answer(
        '<figure><img src="/a.png" alt="A &lt;view&gt;"><figcaption>From the\n tower</figcaption></figure>'
        '<img src="/b.png" title="B" alt="other"><img src="https://cdn.example/c.png">'
    )
    own = [site.url("/a.png"), site.url("/b.png")]
    crawl(program, site)
    assert image_elements(program) == [(url, None, None) for url in (*own, "https://cdn.example/c.png")]
    crawl(program, site, "-s", "SITEMAP_IMAGE_TEXTS=1", "-s", "SITEMAP_OTHER_HOSTS=0")
    assert image_elements(program) == [(own[0], "A <view>", "From the tower"), (own[1], "B", None)]
    assert program.run("validate", "sitemaps").code == 0


def many(site: WebServer, *, images: int) -> None:
    paths = [f"/{number}" for number in range(30)]
    site.pages["/"] = page(*paths)
    for path in paths:
        site.pages[path] = Answer("".join(f'<img src="{path}-{n}-{"x" * 400}.png">' for n in range(images)))


def test_what_fits_no_file_counts_for_the_shrink_guard(program: Program, site: WebServer) -> None:
    many(site, images=1)
    crawl(program, site, "--max-bytes", "20000")
    before = {path.name: path.read_bytes() for path in program.output.iterdir()}
    many(site, images=100)
    result = program.crawl(site.url("/"), *STATE, "--max-bytes", "20000")
    assert result.code == 3
    assert "from 31 to 1 pages" in result.last_line
    assert {path.name: path.read_bytes() for path in program.output.iterdir()} == before
    report = crawl(program, site, "--max-bytes", "20000", "--allow-shrink").report
    assert (report["listed"], report["excluded"]) == (1, {"too-long": 30})


def test_a_dry_run_under_another_name_moves_nothing(program: Program, site: WebServer) -> None:
    site.pages["/"] = page()
    crawl(program, site)
    crawl(program, site, "--dry-run", "--sitemap-url", site.url("/map.xml"))
    assert program.run("write", *STATE).code == 0
    assert names(program) == {"sitemap.xml"}


def test_a_copy_elsewhere_is_not_where_a_page_is(program: Program, sectioned: WebServer) -> None:
    crawl(program, sectioned)
    assert program.run("write", *STATE, "-o", "elsewhere", "--by-directory").code == 0
    assert json.loads(program.run("explain", sectioned.url("/blog/a"), *STATE, "--json").out)["file"] == "sitemap.xml"


def test_help_shows_the_default_format(program: Program) -> None:
    assert "[default: xml]" in program.run("crawl", "--help").out
