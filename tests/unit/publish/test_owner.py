"""Whose pages the live files list, by the files alone; with an inventory see tests/crawl/test_owner.py."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.publish.owner import HEAD_BYTES, owner_problem
from sitemap_crawler.sitemap.escaping import urls_in_xml

if TYPE_CHECKING:
    from pathlib import Path

START = "https://example.com/docs/"


def problem(directory: Path, *, start: str = START, form: str = "xml", **more: object) -> str | None:
    options = Options.parse({"start_url": start, "output": directory, "format": [form], **more})
    return owner_problem(None, options, directory=directory, sitemap_url=options.entry_url)


def urlset(*urls: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls_in_xml(urls)) + "</urlset>"


OURS = [
    pytest.param(urlset(START, f"{START}a"), id="pages of the scope"),
    pytest.param(urlset("http://example.com/docs/"), id="http"),
    pytest.param(urlset("http://www.example.com/docs/"), id="www"),
    pytest.param(urlset("HTTPS://EXAMPLE.com:443/docs/%7Ea"), id="another spelling"),
    pytest.param("<sitemapindex><sitemap><loc>\nhttps://example.com/docs/sitemap-1.xml\n</loc>", id="an index"),
    pytest.param("<loc><![CDATA[https://example.com/docs/]]></loc>", id="CDATA"),
    pytest.param("<image:loc>https://cdn.example.net/a.png</image:loc>", id="an image of another host"),
    pytest.param("<urlset></urlset>", id="no page"),
    pytest.param("", id="empty"),
    pytest.param("\0\xff<loc>no address</loc><loc>https://[</loc>", id="damaged"),
    pytest.param(" " * HEAD_BYTES + urlset("https://other.example/"), id="far behind the head"),
    pytest.param(" " * (HEAD_BYTES - 20) + "<loc>https://exam", id="a URL that the head cuts"),
]


@pytest.mark.parametrize("text", OURS)
def test_files_that_may_be_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / "sitemap.xml").write_text(text, encoding="latin-1")
    assert problem(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (urlset("https://other.example/docs/"), "https://other.example/docs/"),
        (urlset("https://example.com/"), "https://example.com/"),
        (urlset("https://example.com/docs"), "https://example.com/docs"),
        (urlset("https://example.com:8443/docs/"), "https://example.com:8443/docs/"),
        (urlset("https://blog.example.com/docs/"), "https://blog.example.com/docs/"),
        (urlset(START, "https://example.com/home?a&b"), "https://example.com/home?a&b"),
        ("<loc>https://other.example/sitemap-1.xml</loc>", "https://other.example/sitemap-1.xml"),
        ("<loc>https://other.example/\x1b[31m</loc>", "https://other.example/%1B%5B31m"),
    ],
)
def test_files_of_another_site(tmp_path: Path, text: str, url: str) -> None:
    (tmp_path / "sitemap.xml").write_text(text)
    assert problem(tmp_path) == (
        f"{tmp_path}/sitemap.xml is of another site, it lists {url}: give this site another -o, or --take-over to "
        "replace the files; they are untouched"
    )
    assert problem(tmp_path, take_over=True) is None
    assert problem(tmp_path, dry_run=True) == problem(tmp_path)
    assert problem(tmp_path, sitemap_url="https://example.com/docs/other.xml") is None


@pytest.mark.parametrize("path", ["/a|b/", "/[x]/", "/ü/", "/a%2fb/", "/~u/", "/%7Eu/", "/a'b&c/"])
def test_every_spelling_of_a_directory_is_recognised(tmp_path: Path, path: str) -> None:
    start = f"https://example.com{path}"
    url = Options.parse({"start_url": start}).start_url
    (tmp_path / "sitemap.xml").write_text(urlset(url, f"{url}page"))
    assert problem(tmp_path, start=start) is None
    assert problem(tmp_path, start="https://example.com/other/") is not None


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("txt", "https://{}/a\nhttps://{}/b\n"),
        ("rss", "<channel>\n<title>x</title>\n<link>https://{}/</link>\n"),
        (
            "html",
            '<a href="https://frame.example/">Frame</a>\n<li class="sitemap-page"><a href="https://{}/"><bdi>A</bdi></a>',
        ),
        ("atom", '<feed>\n<link rel="alternate" href="https://{}/"/>\n'),
    ],
)
def test_other_formats(tmp_path: Path, form: str, text: str) -> None:
    (tmp_path / f"sitemap.{form}").write_text(text.replace("{}", "example.com/docs"))
    assert problem(tmp_path, form=form) is None
    (tmp_path / f"sitemap.{form}").write_text(text.replace("{}", "other.example"))
    assert (problem(tmp_path, form=form) or "").startswith(f"{tmp_path}/sitemap.{form} is of another site, it lists ")
    assert problem(tmp_path) is None


def test_what_cannot_be_read_has_no_owner(tmp_path: Path) -> None:
    assert problem(tmp_path / "missing") is None
    os.mkfifo(tmp_path / "sitemap.xml")
    assert problem(tmp_path) is None


def test_a_set_without_its_entry_file_has_an_owner(tmp_path: Path) -> None:
    (tmp_path / "sitemap-1.xml").write_text(urlset("https://other.example/"))
    message = problem(tmp_path)
    assert message is not None
    assert message.startswith(f"{tmp_path}/sitemap-1.xml is of another site, it lists https://other.example/:")
    (tmp_path / "sitemap-1.xml").write_text(urlset(f"{START}a"))
    assert problem(tmp_path) is None
