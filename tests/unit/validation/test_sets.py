"""Validation of directories and of indexes with their sitemaps; targets that cannot be validated."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sitemap_crawler.exceptions import TargetError
from sitemap_crawler.validation.targets import validate
from tests.support.sitemap_documents import (
    BASE,
    GZ,
    PAGE,
    E,
    W,
    at,
    index,
    news,
)

Folder = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return a function that writes files to one directory and returns its path."""

    def write(**files: str | bytes) -> str:
        for key, content in files.items():
            path = tmp_path / key.replace("__", "-").replace("_", ".")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(tmp_path)

    return write


SHARDS = {
    "sitemap_xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz"),
    "sitemap__1_xml": at(f"{BASE}a"),
    "sitemap__2_xml_gz": gzip.compress(at(f"{BASE}b/c").encode()),
}


@pytest.mark.parametrize("suffix", ["", "/sitemap.xml"])
def test_an_index_is_checked_with_its_sitemaps(folder: Folder, suffix: str) -> None:
    report = validate(folder(**SHARDS) + suffix)
    assert report.findings == ()
    assert [(file.name, file.kind, file.urls) for file in report.files] == [
        ("sitemap.xml", "sitemapindex", 2),
        ("sitemap-1.xml", "urlset", 1),
        ("sitemap-2.xml.gz", "urlset", 1),
    ]


SETS: list[tuple[str, dict[str, str | bytes], set[tuple[str, str, str]]]] = [
    ("outside the directory", {"sitemap__1_xml": at("https://example.com/docs-old/a")},
     {(E, "outside-directory", "sitemap-1.xml")}),
    ("dots lead out", {"sitemap__1_xml": at(f"{BASE}../a")}, {(E, "outside-directory", "sitemap-1.xml")}),
    ("escaped dots lead out", {"sitemap__1_xml": at(f"{BASE}%2E%2e/a")}, {(E, "outside-directory", "sitemap-1.xml")}),
    ("other host", {"sitemap__1_xml": at("https://www.example.com/docs/a")}, {(E, "foreign-origin", "sitemap-1.xml")}),
    ("same URL in two shards", {"sitemap__1_xml": at(f"{BASE}b/c")}, {(E, "duplicate-loc", "sitemap-2.xml.gz")}),
    ("nested index", {"sitemap__1_xml": index(f"{BASE}x.xml")}, {(E, "nested-index", "sitemap.xml")}),
    ("lists itself", {"sitemap_xml": index(f"{BASE}sitemap.xml", f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz")},
     {(E, "index-names-itself", "sitemap.xml")}),
    ("sitemap listed twice", {"sitemap_xml": index(*[f"{BASE}sitemap-1.xml"] * 2, f"{BASE}sitemap-2.xml.gz")},
     {(E, "duplicate-loc", "sitemap.xml")}),
    ("missing file", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz", f"{BASE}sitemap-3.xml")},
     {(E, "missing-file", "sitemap.xml")}),
    ("path in a name", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz", f"{BASE}..%2Fa.xml")},
     {(E, "missing-file", "sitemap.xml")}),
    ("endless name", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz", BASE + "a" * 1000)},
     {(E, "missing-file", "sitemap.xml")}),
    ("foreign sitemap", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", "https://cdn.example.net/docs/sitemap-2.xml.gz"),
                         "sitemap__2_xml_gz": gzip.compress(at("https://cdn.example.net/docs/x").encode())},
     {(E, "index-child-foreign", "sitemap.xml")}),
    ("listed HTML", {"sitemap__1_xml": "<!doctype html><html/>"}, {(E, "not-a-sitemap", "sitemap-1.xml")}),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "expected"), [row[1:] for row in SETS], ids=[row[0] for row in SETS])
def test_defects_of_a_set(folder: Folder, changed: dict[str, str | bytes], expected: set[tuple[str, str, str]]) -> None:
    report = validate(folder(**{**SHARDS, **changed}) + "/sitemap.xml")
    assert {(finding.severity, finding.rule, finding.file) for finding in report.findings} == expected


def test_one_page_may_be_listed_in_every_format(folder: Folder) -> None:
    article = news().replace(PAGE, f"{BASE}a")
    report = validate(
        folder(
            **SHARDS,
            sitemap__news_xml=article,
            sitemap_txt=f"{BASE}a\n",
            sitemap_rss=f"<rss><channel><item><link>{BASE}a</link></item></channel></rss>",
        )
    )
    assert [(finding.rule, finding.file) for finding in report.findings] == [("unlisted-file", "sitemap-news.xml")]
    assert [file.name for file in report.files][3:] == ["sitemap-news.xml", "sitemap.rss", "sitemap.txt"]


def test_companions_of_an_index_share_its_directory(folder: Folder) -> None:
    report = validate(folder(**SHARDS, sitemap_txt="https://example.com/elsewhere\n"))
    assert [(finding.rule, finding.file) for finding in report.findings] == [("outside-directory", "sitemap.txt")]


def test_a_file_that_no_index_lists_gives_a_warning(folder: Folder) -> None:
    report = validate(folder(**SHARDS, sitemap__9_xml=at(f"{BASE}z"), blog_xml=at("https://blog.example/")))
    assert [(finding.severity, finding.rule, finding.file) for finding in report.findings] == [
        (W, "unlisted-file", "sitemap-9.xml")
    ]
    assert report.valid


def test_other_files_of_a_web_directory_are_ignored(folder: Folder, tmp_path: Path) -> None:
    target = folder(
        sitemap_xml=at(PAGE),
        robots_txt="User-agent: *\nDisallow:\n",
        browserconfig_xml="<browserconfig/>",
        page_xml="<!DOCTYPE html><html></html>",
        feed_xml="<rss><channel><item><link>/relative</link></item></channel></rss>",
        _hidden_xml="broken",
        index_html="<html></html>",
    )
    (tmp_path / ".sitemap.xml").write_text("broken")
    (tmp_path / "sitemap.xml.tmp").write_text("broken")
    (tmp_path / "sitemap-1.xml~").write_text("broken")
    (tmp_path / "folder.xml").mkdir()
    report = validate(target)
    assert [file.name for file in report.files] == ["sitemap.xml"]
    assert report.findings == ()


def test_a_damaged_file_of_a_directory_is_reported(folder: Folder) -> None:
    report = validate(folder(a_xml=at(PAGE), b_xml="<urlset", sitemap_xml="<!DOCTYPE html><html/>"))
    assert {(finding.rule, finding.file) for finding in report.findings} == {
        ("not-well-formed", "b.xml"),
        ("not-a-sitemap", "sitemap.xml"),
    }


def test_shards_without_an_index_are_one_set(folder: Folder) -> None:
    report = validate(folder(map__1_xml=at(PAGE), map__2_xml=at(PAGE), other_xml=at(PAGE)))
    assert [(finding.rule, finding.file) for finding in report.findings] == [("duplicate-loc", "map-2.xml")]


def test_a_damaged_archive_of_a_directory_is_reported(folder: Folder) -> None:
    report = validate(folder(a_xml=at(PAGE), b_xml_gz=GZ[:15]))
    assert [(finding.rule, finding.file) for finding in report.findings] == [("gzip-truncated", "b.xml.gz")]


# Targets that can't be checked


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("", "is empty"),
        ("no/such/file.xml", "does not exist"),
        ("x" * 5000, "can't be read"),
        ("ftp://example.com/sitemap.xml", "neither http nor https"),
        ("file:///etc/hostname", "neither http nor https"),
        ("https://example.com/a b.xml", "white space"),
        ("https://", "host or port"),
    ],
)
def test_an_unusable_target_is_named_in_one_line(target: str, words: str) -> None:
    with pytest.raises(TargetError) as caught:
        validate(target)
    assert target in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(TargetError) as caught:
        validate("https://me:secret@example.com/sitemap.xml")
    assert "secret" not in str(caught.value)
    assert "example.com/sitemap.xml" in str(caught.value)


def test_a_directory_without_sitemaps_is_refused(folder: Folder) -> None:
    with pytest.raises(TargetError, match="contains no sitemap"):
        validate(folder(robots_txt="User-agent: *\n"))


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sitemap.xml")
    with pytest.raises(TargetError, match="not a regular file"):
        validate(str(tmp_path / "sitemap.xml"))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file whose first read fails")
def test_a_file_that_cannot_be_read_is_reported(folder: Folder, tmp_path: Path) -> None:
    target = folder(**SHARDS)
    (tmp_path / "sitemap-1.xml").unlink()
    (tmp_path / "sitemap-1.xml").symlink_to("/proc/self/mem")
    report = validate(f"{target}/sitemap.xml")
    assert [(finding.rule, finding.file) for finding in report.findings] == [("unreadable", "sitemap-1.xml")]
