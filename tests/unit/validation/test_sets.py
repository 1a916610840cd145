"""Validation of directories and of indexes with their sitemaps; targets that cannot be validated."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sitemap_crawler.exceptions import TargetError
from sitemap_crawler.validation.findings import MAX_PER_RULE
from sitemap_crawler.validation.statistics import LIVE_NUMBERS
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
    urlset,
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


INDEX = index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz")
SHARDS = {
    "sitemap_xml": INDEX,
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


@pytest.mark.parametrize("of_index", ["9999-12-31", "9999", "0001-01-01"])
@pytest.mark.parametrize("of_page", ["9999-12-31", "2024-05-06", "0001", "0001-01-01"])
def test_dates_at_the_ends_of_the_calendar_are_compared(folder: Folder, of_index: str, of_page: str) -> None:
    dated = index(f"{BASE}sitemap-1.xml").replace("</loc>", f"</loc><lastmod>{of_index}</lastmod>")
    entry = at(f"{BASE}a").replace("</loc>", f"</loc><lastmod>{of_page}</lastmod>")
    report = validate(folder(sitemap_xml=dated, sitemap__1_xml=entry) + "/sitemap.xml")
    # A page that is dated in the future is a finding of its own.
    is_older = of_index == "0001-01-01" and of_page == "2024-05-06"
    assert ("index-lastmod-old" in {finding.rule for finding in report.findings}) == is_older


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


def test_a_page_may_be_in_several_feeds(folder: Folder) -> None:
    feed = f"<rss><channel><item><link>{BASE}a</link></item></channel></rss>"
    path = folder(
        sitemap_xml=index(f"{BASE}news.xml", f"{BASE}blog.xml", f"{BASE}pages.xml"),
        news_xml=feed,
        blog_xml=feed.replace("</channel>", f"<item><link>{BASE}a</link></item></channel>"),
        pages_xml=at(f"{BASE}a"),
    )
    report = validate(f"{path}/sitemap.xml")
    # Within one feed it is a mistake.
    assert [(finding.rule, finding.file, finding.message) for finding in report.findings] == [
        ("duplicate-loc", "blog.xml", "the URL is listed before, in line 1")
    ]


def test_companions_of_an_index_share_its_directory(folder: Folder) -> None:
    report = validate(folder(**SHARDS, sitemap_txt="https://example.com/elsewhere\n"))
    assert [(finding.rule, finding.file) for finding in report.findings] == [("outside-directory", "sitemap.txt")]


COPIES = [
    ("sitemap", {"sitemap_xml": at(PAGE), "sitemap_xml_gz": gzip.compress(at(PAGE).encode())}, {"sitemap.xml": set()}),
    ("text", {"urls_txt": PAGE, "urls_txt_gz": gzip.compress(PAGE.encode())}, {"urls.txt": set()}),
    ("index", {**SHARDS, "sitemap_xml_gz": gzip.compress(INDEX.encode())},
     {"sitemap.xml": set(), "sitemap-1.xml": set(), "sitemap-2.xml.gz": set()}),
    ("listed as gzip", {**SHARDS, "sitemap__2_xml": at(f"{BASE}b/c")},
     {"sitemap.xml": set(), "sitemap-1.xml": set(), "sitemap-2.xml.gz": set()}),
    ("other content", {"sitemap_xml": at(PAGE), "sitemap_xml_gz": gzip.compress(f"{at(PAGE)}\n".encode())},
     {"sitemap.xml": set(), "sitemap.xml.gz": {"duplicate-loc"}}),
    ("damaged", {"sitemap_xml": at(PAGE), "sitemap_xml_gz": gzip.compress(at(PAGE).encode())[:-4]},
     {"sitemap.xml": set(), "sitemap.xml.gz": {"gzip-truncated"}}),
]  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), [row[1:] for row in COPIES], ids=[row[0] for row in COPIES])
def test_a_compressed_copy_counts_once(
    folder: Folder, files: dict[str, str | bytes], expected: dict[str, set[str]]
) -> None:
    report = validate(folder(**files))
    found = {file.name: {item.rule for item in report.findings if item.file == file.name} for file in report.files}
    assert found == expected


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
        ("cut-file", "b.xml"),
        ("not-a-sitemap", "sitemap.xml"),
    }


def test_shards_without_an_index_are_one_set(folder: Folder) -> None:
    report = validate(folder(map__1_xml=at(PAGE), map__2_xml=at(PAGE), other_xml=at(PAGE)))
    assert [(finding.rule, finding.file) for finding in report.findings] == [("duplicate-loc", "map-2.xml")]


def test_a_damaged_archive_of_a_directory_is_reported(folder: Folder) -> None:
    report = validate(folder(a_xml=at(PAGE), b_xml_gz=GZ[:15]))
    assert [(finding.rule, finding.file) for finding in report.findings] == [("gzip-truncated", "b.xml.gz")]


A, B, C = (f"https://example.com/{name}" for name in "abc")


def listed(*locs: str) -> str:
    return urlset("".join(f"<url><loc>{loc}</loc></url>\n" for loc in locs))


TWINS = [
    ("scheme-twin", [A, B], ["http://example.com/c", "http://example.com/b"], "http or https"),
    ("www-twin", [A, B], ["https://www.example.com/c", "https://www.example.com/b"], "www."),
    ("slash-twin", [A, B], [C, f"{B}/"], "a slash at the end of its path"),
    ("slash-twin", [A, f"{B}/?q=1&amp;r"], [C, f"{B}?q=1&amp;r"], "a slash at the end of its path"),
    ("slash-twin", [A, "https://example.com/%2e%2e/b/"], [C, "HTTPS://Example.com:443/b"], "a slash at the end"),
    ("scheme-twin", [A, "http://example.com:8443/"], [C, "https://example.com:8443/"], "http or https"),
]


@pytest.mark.parametrize(("rule", "first", "second", "difference"), TWINS)
def test_twins_are_found_across_files(
    folder: Folder, rule: str, first: list[str], second: list[str], difference: str
) -> None:
    target = folder(s__1_xml=listed(*first), s__2_xml=listed(*second))
    report = validate(f"{target}/s-1.xml", f"{target}/s-2.xml")
    found = [finding for finding in report.findings if finding.rule != "foreign-origin"]
    assert [(finding.rule, finding.file, finding.line) for finding in found] == [(rule, "s-2.xml", 4)]
    assert f"differs only by {difference}" in found[0].message
    assert "in s-1.xml, line 4" in found[0].message
    assert report.statistics["duplicate_urls"] == 0


def test_each_spelling_is_compared_with_the_most_similar_one(folder: Folder) -> None:
    twins = [f"http{s}://{www}example.com/a{slash}" for s in ("", "s") for www in ("", "www.") for slash in ("", "/")]
    report = validate(folder(s_xml=listed(*twins, *twins)))
    assert report.counts["duplicate-loc"] == len(twins)
    assert {rule: count for rule, count in report.counts.items() if "twin" in rule} == {
        "slash-twin": 4,
        "www-twin": 2,
        "scheme-twin": 1,
    }
    assert report.statistics["duplicate_urls"] == len(twins)


def test_urls_that_only_look_alike_are_no_twins(folder: Folder) -> None:
    different = [
        A,
        f"{A}//",
        f"{A}?",
        f"{A}/?x",
        "https://example.com:8080/a",
        "https://www.www.example.com/a",
        f"{A}b",
    ]
    report = validate(folder(s_xml=listed(*different)))
    assert report.counts.keys() <= {"foreign-origin", "slash-twin"}
    assert report.counts["slash-twin"] == 0


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_any_number_of_duplicates_is_found(folder: Folder, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr("sitemap_crawler.validation.sets.MAX_HASHES", at_once)
    monkeypatch.setattr("sitemap_crawler.validation.sets.MAX_COMPARED", at_once)
    monkeypatch.setattr("sitemap_crawler.validation.reading.spool.MAX_NUMBERS_BYTES", 100)
    pages = [f"https://example.com/{number}" for number in range(60)]
    report = validate(
        folder(s__1_xml=listed(*pages[:40]), s__2_xml=listed(*pages[20:], *pages[:5]), t_xml=listed(*pages))
    )
    assert report.counts == {"duplicate-loc": 25}
    assert report.statistics["duplicate_urls"] == 25
    assert report.statistics["valid_urls"] == 40 + 45 + 60 - 25
    assert {finding.line for finding in report.findings} <= {*range(3, 23), *range(43, 48)}


def versions(page: str, *targets: str) -> str:
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{language}" href="{target}"/>\n'
        for language, target in zip(("en", "de", "fr"), (page, *targets), strict=False)
    )
    return f"<url><loc>{page}</loc>\n{links}</url>\n"


@pytest.mark.parametrize("at_once", [1, 10**6])
def test_language_versions_must_name_each_other(folder: Folder, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr("sitemap_crawler.validation.sets.MAX_HASHES", at_once)
    monkeypatch.setattr("sitemap_crawler.validation.sets.MAX_COMPARED", at_once)
    report = validate(
        folder(
            s__1_xml=urlset(versions(A, B, C)),
            # B names A. C names B alone. The others are not listed, or only with a slash.
            s__2_xml=urlset(versions(B, A, f"{PAGE}/elsewhere") + versions(C, B, f"{B}/")),
        )
    )
    assert {(finding.file, finding.line, finding.url, finding.message) for finding in report.findings} == {
        ("s-1.xml", 6, A, f"the alternate {C} is listed and does not name this page"),
        ("s-2.xml", 10, C, f"the alternate {B} is listed and does not name this page"),
    }
    assert report.counts == {"alternate-not-reciprocal": 2}


def test_one_sided_language_versions_are_counted(folder: Folder) -> None:
    pages = [f"https://example.com/{number}" for number in range(MAX_PER_RULE + 50)]
    entries = "".join(versions(page, A) for page in pages)
    report = validate(folder(s_xml=urlset(entries + f"<url><loc>{A}</loc></url>")))
    assert report.counts == {"alternate-not-reciprocal": MAX_PER_RULE + 50}
    assert len(report.findings) == MAX_PER_RULE


def test_several_targets_are_one_report(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "s-1.xml").write_text(listed(A))
    target = folder(s__1_xml=listed(A), s__2_xml=listed(A))
    report = validate(f"{target}/s-1.xml", f"{target}/s-2.xml", f"{target}/s-1.xml", f"{target}/other")
    assert [file.name for file in report.files] == [
        f"{target}/s-1.xml",
        f"{target}/s-2.xml",
        f"{target}/other/s-1.xml",
    ]
    assert [(finding.rule, finding.file) for finding in report.findings] == [("duplicate-loc", f"{target}/s-2.xml")]


def test_standard_input_is_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GZ)))
    report = validate("-")
    assert [(file.name, file.kind, file.urls) for file in report.files] == [("-", "urlset", 1)]
    assert report.findings == ()


def test_a_closed_standard_input_is_no_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(TargetError, match="the standard input is closed: give a file"):
        validate("-")


def test_statistics(folder: Folder) -> None:
    entries = (
        "<url><loc>https://example.com/a.html</loc><lastmod>2024-01-01</lastmod></url>"
        "<url><loc>https://example.com/b.HTML</loc><lastmod>2024-01-01T12:00:00+01:00</lastmod></url>"
        "<url><loc>https://example.com/c</loc><lastmod>2999-01-01</lastmod>"
        "<image:image><image:loc>https://e.com/i</image:loc></image:image>"
        "<video:video><video:title>T</video:title></video:video></url>"
    )
    first, second = urlset(entries), urlset(versions(A, B, C))
    report = validate(folder(s__1_xml=first, s__2_xml=second))
    assert report.statistics == {
        "total_urls": 4,
        "valid_urls": 3,
        **dict.fromkeys(LIVE_NUMBERS),
        "duplicate_urls": 0,
        "files": 2,
        "bytes": len(first) + len(second),
        "images": 1,
        "videos": 1,
        "news": 0,
        "alternates": 3,
        "newest": "2024-01-01T12:00:00+01:00",
        "oldest": "2024-01-01",
        "by_extension": {"": 2, "html": 2},
    }


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


@pytest.mark.parametrize("name", ["index.xml", None])
def test_files_that_are_named_with_the_query_of_their_url(tmp_path: Path, name: str | None) -> None:
    """As wget saves them."""
    (tmp_path / "index.xml").write_text(index(f"{BASE}map.xml?page=1", f"{BASE}map.xml?page=2", f"{BASE}map-3.xml?v=9"))
    (tmp_path / "map.xml?page=1").write_text(at(f"{BASE}a"))
    (tmp_path / "map.xml?page=2").write_text(at(f"{BASE}b"))
    (tmp_path / "map-3.xml").write_text(at(f"{BASE}c"))
    report = validate(str(tmp_path / name if name else tmp_path))
    assert report.findings == ()
    assert [file.name for file in report.files] == ["index.xml", "map.xml?page=1", "map.xml?page=2", "map-3.xml"]


def test_a_file_with_a_query_that_is_missing_is_named_with_it(tmp_path: Path) -> None:
    (tmp_path / "index.xml").write_text(index(f"{BASE}map.php?page=%31"))
    (found,) = validate(str(tmp_path / "index.xml")).findings
    assert found.message == "there is no file 'map.php?page=1' in the directory of the index"


def test_files_with_a_query_belong_to_their_directory(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"map.xml?page={number}").write_text(at(f"{BASE}a"))
    (found,) = validate(str(tmp_path)).findings
    assert (found.rule, found.file) == ("duplicate-loc", "map.xml?page=2")
