"""Validation of single files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemap_crawler.validation.findings import MAX_PER_RULE, MAX_TOTAL, Collector, ValidationReport, issue
from sitemap_crawler.validation.statistics import LIVE_NUMBERS
from sitemap_crawler.validation.targets import validate
from tests.support.sitemap_documents import (
    CORE,
    GZ,
    LOC,
    NOW,
    PAGE,
    PUBLICATION,
    VALID,
    E,
    W,
    at,
    image,
    index,
    link,
    news,
    page,
    rules,
    urlset,
    video,
)

if TYPE_CHECKING:
    from pathlib import Path

Check = Callable[..., ValidationReport]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Return a function that validates one file."""

    def run(content: str | bytes, name: str = "sitemap.xml") -> ValidationReport:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return validate(str(path))

    return run


@pytest.mark.parametrize("content", VALID.values(), ids=VALID.keys())
def test_valid_documents_give_no_finding(check: Check, content: str) -> None:
    report = check(content)
    assert report.findings == ()
    assert report.valid


HTTPS_CORE = CORE.replace("http:", "https:")
INVALID: list[tuple[str, str | bytes, set[tuple[str, str]]]] = [
    # What the file is
    ("empty file", b"", {(E, "empty-file")}),
    ("four NUL bytes", b"\0" * 4, {(E, "empty-file")}),
    ("NUL bytes", b"\0" * 100_000, {(E, "empty-file")}),
    ("UTF-32", "<urlset/>".encode("utf-32-be"), {(E, "not-utf-8")}),
    ("only white space", " \n", {(E, "not-well-formed")}),
    ("prose", "Not found\n", {(E, "not-a-sitemap")}),
    ("JSON", '{"loc": "https://example.com/"}', {(E, "not-a-sitemap")}),
    ("HTML5", "<!DOCTYPE html><html><head></head></html>", {(E, "not-a-sitemap")}),
    ("other root", "<browserconfig/>", {(E, "not-a-sitemap")}),
    ("root in capitals", f'<URLSET xmlns="{CORE}"/>', {(E, "not-a-sitemap")}),
    ("no namespace", f"<urlset><url>{LOC}</url></urlset>", {(E, "wrong-namespace")}),
    ("https namespace", f'<urlset xmlns="{HTTPS_CORE}"><url>{LOC}</url></urlset>', {(E, "wrong-namespace")}),
    ("old namespace", f'<urlset xmlns="http://www.google.com/schemas/sitemap/0.84"><url>{LOC}</url></urlset>',
     {(E, "wrong-namespace")}),
    ("namespaced feed", f"<feed><entry><link href='{PAGE}'/></entry></feed>", {(E, "wrong-namespace")}),
    ("empty urlset", urlset(""), {(E, "empty-sitemap")}),
    ("empty index", index(), {(E, "empty-sitemap")}),
    # XML
    ("cut off", urlset(f"<url>{LOC}</url>")[:-12], {(E, "cut-file")}),
    ("raw ampersand", at("https://example.com/?a=1&b=2"), {(E, "unescaped-character")}),
    ("undeclared prefix", f'<urlset xmlns="{CORE}"><url>{LOC}<x:y/></url></urlset>', {(E, "undeclared-prefix")}),
    ("control character", at("https://example.com/\x0b"), {(E, "control-character")}),
    ("text after the end", at(PAGE) + "garbage", {(E, "not-well-formed")}),
    ("line before the declaration", "\n" + at(PAGE), {(E, "text-before-declaration")}),
    ("doctype", f'<!DOCTYPE urlset><urlset xmlns="{CORE}"/>', {(E, "doctype")}),
    ("external entity", '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset>&x;</urlset>',
     {(E, "doctype")}),
    ("billion laughs", '<!DOCTYPE a [<!ENTITY a "aaa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]><urlset a="&c;"/>',
     {(E, "doctype")}),
    ("nested deep", urlset("<url>" + "<a>" * 40), {(E, "nested-too-deep")}),
    ("huge entry", page("<other:a/>" * 20_000), {(E, "oversized-entry")}),
    ("byte order mark", b"\xef\xbb\xbf" + at(PAGE).encode(), {(W, "byte-order-mark")}),
    ("Latin-1 declared", at(PAGE).replace("UTF-8", "ISO-8859-1"), {(E, "not-utf-8")}),
    ("utf8", page("<other:a>é</other:a>").replace("UTF-8", "utf8"), {(W, "encoding-name")}),
    ("ASCII", at(PAGE).replace("UTF-8", "US-ASCII"), set()),
    ("ASCII declared", page("<other:a>é</other:a>").replace("UTF-8", "US-ASCII"), {(E, "not-utf-8")}),
    ("Latin-1 bytes", page("<other:a>é</other:a>").encode("latin-1"), {(E, "not-utf-8")}),
    ("UTF-16", at(PAGE).replace("UTF-8", "UTF-16").encode("utf-16"), {(E, "not-utf-8")}),
    ("UTF-16 without mark", at(PAGE).encode("utf-16-be"), {(E, "not-utf-8")}),
    # Structure
    ("sitemap in urlset", urlset(f"<sitemap>{LOC}</sitemap>"), {(E, "unknown-element")}),
    ("url in index", index().replace("</s", f"<url>{LOC}</url></s"), {(E, "unknown-element")}),
    ("priority in index", index(PAGE).replace("</loc>", "</loc><priority>1</priority>"),
     {(E, "unknown-element"), (E, "missing-file")}),
    ("unknown child", page("<title>A</title>"), {(E, "unknown-element")}),
    ("element in loc", urlset(f"<url><loc>{PAGE}<b/></loc></url>"), {(E, "unknown-element")}),
    ("second lastmod", page("<lastmod>2024</lastmod><lastmod>2024</lastmod>"), {(E, "repeated-element")}),
    ("second loc", page("<loc>https://example.com/b</loc>"), {(E, "repeated-element")}),
    ("text in urlset", urlset(f"text<url>{LOC}</url>"), {(E, "stray-text")}),
    ("text in url", page("text"), {(E, "stray-text")}),
    # loc
    ("no loc", urlset("<url><lastmod>2024</lastmod></url>"), {(E, "loc-missing")}),
    ("empty loc", at(""), {(E, "loc-missing")}),
    ("loc with padding", at(f"\n  {PAGE}\n"), {(W, "loc-padding")}),
    ("blank padding", at("  "), {(W, "loc-padding"), (E, "loc-missing")}),
    ("relative", at("/a"), {(E, "loc-not-absolute")}),
    ("backslashes", at("https://example.com\\a"), {(E, "loc-invalid")}),
    ("no scheme", at("www.example.com/a"), {(E, "loc-not-absolute")}),
    ("scheme-relative", at("//example.com/a"), {(E, "loc-not-absolute")}),
    ("ftp", at("ftp://example.com/a"), {(E, "loc-scheme")}),
    ("javascript", at("javascript:alert(1)"), {(E, "loc-scheme")}),
    ("one slash", at("https:/example.com/a"), {(E, "loc-invalid")}),
    ("no host", at("https:///a"), {(E, "loc-invalid")}),
    ("bad port", at("https://example.com:65536/"), {(E, "loc-invalid")}),
    ("empty label", at("https://example..com/"), {(E, "loc-invalid")}),
    ("bad IPv6", at("https://[1::2::3]/"), {(E, "loc-invalid")}),
    ("password", at("https://me:secret@example.com/"), {(E, "loc-credentials")}),
    ("fragment", at("https://example.com/#a"), {(E, "loc-fragment")}),
    ("space", at("https://example.com/a b"), {(E, "loc-whitespace")}),
    ("no-break space", at("https://example.com/a\u00a0b"), {(E, "loc-whitespace")}),
    ("umlaut", at("https://example.com/ü"), {(E, "loc-non-ascii")}),
    ("IDN host", at("https://bücher.example/"), {(E, "loc-non-ascii")}),
    ("2,048 characters", at("https://example.com/" + "a" * 2028), {(E, "loc-too-long")}),
    ("quote", at('https://example.com/"'), {(W, "loc-unescaped")}),
    ("lone percent", at("https://example.com/100%"), {(W, "loc-unescaped")}),
    ("twice", urlset(f"<url>{LOC}</url>" * 2), {(E, "duplicate-loc")}),
    ("twice in other spelling", urlset(f"<url>{LOC}</url><url><loc>HTTPS://EXAMPLE.com:443/x/../a</loc></url>"),
     {(E, "duplicate-loc")}),
    ("two hosts", urlset(f"<url>{LOC}</url><url><loc>https://www.example.com/b</loc></url>"),
     {(E, "foreign-origin")}),
    ("two schemes", urlset(f"<url>{LOC}</url><url><loc>http://example.com/b</loc></url>"), {(E, "foreign-origin")}),
    ("two ports", urlset(f"<url>{LOC}</url><url><loc>https://example.com:8443/b</loc></url>"),
     {(E, "foreign-origin")}),
    # lastmod, changefreq, priority
    ("empty lastmod", page("<lastmod/>"), {(E, "lastmod-invalid")}),
    ("time without zone", page("<lastmod>2024-01-01T10:00:00</lastmod>"), {(E, "lastmod-invalid")}),
    ("no such day", page("<lastmod>2023-02-29</lastmod>"), {(E, "lastmod-invalid")}),
    ("American", page("<lastmod>01/31/2024</lastmod>"), {(E, "lastmod-invalid")}),
    ("space for T", page("<lastmod>2024-01-01 10:00Z</lastmod>"), {(E, "lastmod-invalid")}),
    ("future", page(f"<lastmod>{(NOW + timedelta(days=3)).date()}</lastmod>"), {(E, "lastmod-future")}),
    ("changefreq", page("<changefreq>Daily</changefreq>"), {(E, "changefreq-invalid")}),
    ("priority over 1", page("<priority>1.1</priority>"), {(E, "priority-invalid")}),
    ("priority below 0", page("<priority>-0.1</priority>"), {(E, "priority-invalid")}),
    ("priority as word", page("<priority>high</priority>"), {(E, "priority-invalid")}),
    ("priority NaN", page("<priority>nan</priority>"), {(E, "priority-invalid")}),
    # Extensions
    ("image namespace", page('<i:image xmlns:i="https://www.google.com/schemas/sitemap-image/1.1"/>'),
     {(E, "extension-namespace")}),
    ("video namespace", page('<v:video xmlns:v="http://www.google.com/schemas/sitemap-video/1.0"/>'),
     {(E, "extension-namespace")}),
    ("xhtml namespace", page('<x:link xmlns:x="http://www.w3.org/TR/xhtml11/xhtml11_schema.html"/>'),
     {(E, "extension-namespace")}),
    ("mobile", page('<m:mobile xmlns:m="http://www.google.com/schemas/sitemap-mobile/1.0"/>'),
     {(W, "mobile-retired")}),
    ("image without loc", image(""), {(E, "image-loc")}),
    ("image relative", image("<image:loc>/i.png</image:loc>"), {(E, "image-loc")}),
    ("image as data", image("<image:loc>data:image/png;base64,AA</image:loc>"), {(E, "image-loc")}),
    ("image with two locs", image("<image:loc>https://e.com/1</image:loc><image:loc>https://e.com/2</image:loc>"),
     {(E, "image-loc")}),
    ("image with a sitemap loc", image("<loc>https://e.com/1</loc>"),
     {(E, "image-loc"), (W, "unknown-extension-element")}),
    ("image caption", image("<image:loc>https://e.com/1</image:loc><image:caption>c</image:caption>"),
     {(W, "image-retired")}),
    ("image:loc alone", page("<image:loc>https://e.com/1</image:loc>"), {(W, "unknown-extension-element")}),
    ("1,001 images", page("<image:image><image:loc>https://e.com/1</image:loc></image:image>" * 1001),
     {(E, "too-many-images")}),
    ("video without title", video(title=None), {(E, "video-required")}),
    ("video with empty title", video(title=" "), {(E, "video-required")}),
    ("video without thumbnail", video(thumbnail_loc=None), {(E, "video-required")}),
    ("video without description", video(description=None), {(E, "video-required")}),
    ("video without file or player", video(content_loc=None), {(E, "video-required")}),
    ("video at the page", video(content_loc=PAGE), {(E, "video-loc-is-page")}),
    ("video relative", video(content_loc="v.mp4"), {(E, "video-loc")}),
    ("video long description", video(description="d" * 2049), {(E, "video-description")}),
    ("video duration 0", video("<video:duration>0</video:duration>"), {(E, "video-duration")}),
    ("video duration 28801", video("<video:duration>28801</video:duration>"), {(E, "video-duration")}),
    ("video duration ISO", video("<video:duration>PT5M</video:duration>"), {(E, "video-duration")}),
    ("video rating", video("<video:rating>5.1</video:rating>"), {(E, "video-rating")}),
    ("video family", video("<video:family_friendly>true</video:family_friendly>"), {(E, "video-yes-no")}),
    ("video views", video("<video:view_count>-1</video:view_count>"), {(E, "video-view-count")}),
    ("video date", video("<video:publication_date>2020-13-01</video:publication_date>"), {(E, "video-date")}),
    ("video uploader", video(f"<video:uploader>{'u' * 256}</video:uploader>"), {(E, "video-uploader")}),
    ("video countries", video('<video:restriction relationship="allow">Germany</video:restriction>'),
     {(E, "video-restriction")}),
    ("video relationship", video("<video:platform>web</video:platform>"), {(E, "video-platform")}),
    ("video 33 tags", video("<video:tag>t</video:tag>" * 33), {(E, "video-tags")}),
    ("video two titles", video("<video:title>B</video:title>"), {(E, "video-repeated")}),
    ("video expired", video("<video:expiration_date>2020-01-01</video:expiration_date>"), {(W, "video-expired")}),
    ("video category", video("<video:category>c</video:category>"), {(W, "video-retired")}),
    ("video unknown", video("<video:director>d</video:director>"), {(W, "unknown-extension-element")}),
    ("news without publication", news(publication=""), {(E, "news-required")}),
    ("news without language", news(publication="<news:publication><news:name>N</news:name></news:publication>"),
     {(E, "news-required")}),
    ("news without date", news(date=None), {(E, "news-required")}),
    ("news without title", news(title=""), {(E, "news-required")}),
    ("news language", news(publication=PUBLICATION.replace(">en<", ">english<")), {(E, "news-language")}),
    ("news date", news(date="yesterday"), {(E, "news-date")}),
    ("news old", news(date="2020-01-01T00:00:00Z"), {(W, "news-old")}),
    ("news genres", news(extra="<news:genres>Blog</news:genres>"), {(W, "news-retired")}),
    ("news with an unknown part", news(extra="<news:author>A</news:author>"), {(W, "unknown-extension-element")}),
    ("news with two titles", news(extra="<news:title>B</news:title>"), {(E, "news-repeated")}),
    ("news with an empty date", news(date=" "), {(E, "news-required")}),
    ("news twice", page("<news:news/>" * 2), {(E, "news-required"), (E, "news-repeated")}),
    ("alternate without hreflang", link('rel="alternate" href="https://e.com/de"'), {(E, "alternate-incomplete")}),
    ("alternate without href", link('rel="alternate" hreflang="de"'), {(E, "alternate-incomplete")}),
    ("alternate without rel", link('hreflang="de" href="https://example.com/de"'), {(E, "alternate-incomplete")}),
    ("alternate language", link('rel="alternate" hreflang="en_US" href="https://example.com/"'),
     {(E, "alternate-hreflang")}),
    ("alternate relative", link('rel="alternate" hreflang="de" href="/de"'), {(E, "alternate-href")}),
    ("alternate of two", page(
        '<xhtml:link rel="alternate" hreflang="de" href="https://e.com/1"/>'
        '<xhtml:link rel="alternate" hreflang="DE" href="https://e.com/2"/>'), {(E, "alternate-conflict")}),
    ("canonical", link('rel="canonical" hreflang="de" href="https://e.com/1"'), {(W, "alternate-rel")}),
    # Feeds
    ("RSS without link", "<rss><channel><item><guid>1</guid></item></channel></rss>", {(E, "feed-link-missing")}),
    ("RSS date", f"<rss><channel><item><link>{PAGE}</link><pubDate>2024</pubDate></item></channel></rss>",
     {(E, "feed-date-invalid")}),
    ("RSS relative", "<rss><channel><item><link>/a</link></item></channel></rss>", {(E, "loc-not-absolute")}),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_each_defect_gives_exactly_its_findings(
    check: Check, content: str | bytes, expected: set[tuple[str, str]]
) -> None:
    report = check(content)
    assert rules(report) == expected
    assert report.valid == all(severity == W for severity, _ in expected)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", "Not found\n", "the file is neither XML nor a list of URLs"),
        ("a.xml", '{"loc": "https://example.com/"}', "the file is JSON, not a sitemap"),
        ("a.xml", "%PDF-1.7\n", "the file is a PDF document, not a sitemap"),
        ("a.xml", b"PK\x03\x04\x14\x00", "the file is a ZIP archive, not a sitemap"),
        ("a.xml", bz2.compress(at(PAGE).encode()), "the file is compressed by bzip2, not by gzip"),
        ("a.xml", lzma.compress(at(PAGE).encode()), "the file is compressed by xz, not by gzip"),
        ("a.xml.gz", gzip.compress(gzip.compress(at(PAGE).encode())), "the file is compressed twice by gzip"),
    ],
)
def test_another_format_is_named(check: Check, name: str, content: str | bytes, message: str) -> None:
    (found,) = check(content, name).findings
    assert (found.rule, found.message) == ("not-a-sitemap", message)


NEVER = ["9999-12-31", "9999-12", "9999", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59+14:00"]
"""Times that sites write for "never". Their day, or their time in another zone, ends in the year 10000."""
UNKNOWN = ["0001-01-01", "0001-01", "0001", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00-14:00"]
"""Times that sites write for "unknown". In another zone some are before the year 1."""


@pytest.mark.parametrize("date", NEVER)
def test_dates_at_the_end_of_the_calendar(check: Check, date: str) -> None:
    has_day = len(date) > 7
    expiry = video(f"<video:expiration_date>{date}</video:expiration_date>")
    assert rules(check(expiry)) == (set() if has_day else {(E, "video-date")})
    assert rules(check(page(f"<lastmod>{date}</lastmod>"))) == {(E, "lastmod-future")}
    assert rules(check(news(date=date))) == {(E, "news-future" if has_day else "news-date")}


@pytest.mark.parametrize("date", UNKNOWN)
def test_dates_at_the_beginning_of_the_calendar(check: Check, date: str) -> None:
    has_day = len(date) > 7
    expiry = video(f"<video:expiration_date>{date}</video:expiration_date>")
    assert rules(check(expiry)) == {(W, "video-expired") if has_day else (E, "video-date")}
    assert rules(check(page(f"<lastmod>{date}</lastmod>"))) == {(W, "lastmod-before-web")}
    assert rules(check(news(date=date))) == {(W, "news-old") if has_day else (E, "news-date")}


TEXT: list[tuple[str, str | bytes, set[tuple[str, str]]]] = [
    ("valid", f"{PAGE}\nhttps://example.com/b\n", set()),
    ("Windows lines, no end", f"{PAGE}\r\nhttps://example.com/b", set()),
    ("byte order mark", b"\xef\xbb\xbf" + PAGE.encode(), {(W, "byte-order-mark")}),
    ("blank line", f"{PAGE}\n\nhttps://example.com/b\n", {(W, "blank-line")}),
    ("nothing listed", "\n", {(W, "blank-line"), (E, "empty-sitemap")}),
    ("heading", f"My pages\n{PAGE}\n", {(E, "loc-whitespace")}),
    ("relative", "/a\n", {(E, "loc-not-absolute")}),
    ("trailing space", f"{PAGE} \n", {(E, "loc-whitespace")}),
    ("duplicate", f"{PAGE}\n{PAGE}\n", {(E, "duplicate-loc")}),
    ("two hosts", f"{PAGE}\nhttps://other.example/\n", {(E, "foreign-origin")}),
    ("Latin-1", "https://example.com/é\n".encode("latin-1"), {(E, "not-utf-8")}),
    ("UTF-16", f"{PAGE}\n".encode("utf-16"), {(E, "not-utf-8")}),
    ("endless line", "https://example.com/" + "a" * 300_000, {(E, "loc-too-long")}),
    ("control characters", f"{PAGE}\x1b[31m\n", {(E, "loc-whitespace")}),
]


@pytest.mark.parametrize(("content", "expected"), [row[1:] for row in TEXT], ids=[row[0] for row in TEXT])
def test_text_sitemaps(check: Check, content: str | bytes, expected: set[tuple[str, str]]) -> None:
    report = check(content, "sitemap.txt")
    assert rules(report) == expected
    assert report.files[0].kind == "text"


def test_a_finding_names_file_line_and_url(check: Check) -> None:
    report = check(urlset(f"<url>{LOC}</url>\n<url>\n<loc>https://example.com/#x</loc>\n</url>"))
    [finding] = report.findings
    assert (finding.file, finding.line, finding.url) == ("sitemap.xml", 5, "https://example.com/#x")
    assert "#x" in finding.message


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("others", [2, 500])
def test_the_odd_one_is_named_wherever_it_stands(check: Check, others: int, *, text: bool) -> None:
    right, odd = [f"https://example.com/{number}" for number in range(others)], "http://example.com/odd"
    for urls in ([odd, *right], [*right, odd]):
        lines = [url if text else f"<url><loc>{url}</loc></url>" for url in urls]
        report = check("\n".join(lines) if text else urlset("\n".join(lines)), **({"name": "a.txt"} if text else {}))
        [finding] = report.findings
        assert (finding.rule, finding.url) == ("foreign-origin", odd)
        assert finding.message == "the URL is on http://example.com, most of the file on https://example.com"


def test_of_two_urls_the_first_is_right(check: Check) -> None:
    [finding] = check(urlset(f"<url>{LOC}</url><url><loc>http://other.example/</loc></url>")).findings
    assert finding.message == "the URL is on http://other.example, the first one of the file on https://example.com"


def test_a_duplicate_names_its_first_position(check: Check) -> None:
    [finding] = check(urlset(f"<url>{LOC}</url>\n\n<url>{LOC}</url>")).findings
    assert finding.line == 5
    assert "line 3" in finding.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("?a%5B%5D=1", "?a[]=1"),
        ("~user/", "%7Euser/"),
        ("%c3%a9", "%C3%A9"),
        ("a%2Fb", "a%2fb"),
        ("%E4%B8%AD/x-y", "%e4%b8%ad/x%2dy"),
        ("%7Bid%7D", "{id}"),
    ],
)
def test_two_spellings_of_one_url_are_one_url(check: Check, first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        entries = "\n".join(f"<url><loc>https://example.com/{rest}</loc></url>" for rest in ("x", one, "y", other, "z"))
        report = check(urlset(entries))
        found = [(finding.rule, finding.line, finding.url) for finding in report.findings if "loc" in finding.rule]
        assert ("duplicate-loc", 6, f"https://example.com/{other}") in found
        assert report.statistics["duplicate_urls"] == 1


@pytest.mark.parametrize(("one", "other"), [("a%2Fb", "a/b"), ("a%3Fb", "a?b"), ("100%", "100%25"), ("?a=%2B", "?a=+")])
def test_urls_whose_escapes_mean_something_are_two(check: Check, one: str, other: str) -> None:
    entries = "\n".join(f"<url><loc>https://example.com/{rest}</loc></url>" for rest in (one, other))
    assert "duplicate-loc" not in check(urlset(entries)).counts


def test_messages_distinguish_wrong_namespaces(check: Check) -> None:
    missing = check(f"<urlset><url>{LOC}</url></urlset>").findings[0].message
    https = check(f'<urlset xmlns="{HTTPS_CORE}"><url>{LOC}</url></urlset>').findings[0].message
    assert CORE in missing
    assert "https" in https
    assert missing != https


def test_messages_cannot_control_a_terminal(check: Check) -> None:
    report = check("https://example.com/\x1b[2J\x9b\n", "sitemap.txt")
    assert all(text.isprintable() for finding in report.findings for text in (finding.message, finding.url or ""))


def test_findings_of_one_rule_are_capped_and_counted(check: Check) -> None:
    number = MAX_PER_RULE + 50
    report = check(urlset("<url/>" * number))
    assert [finding.rule for finding in report.findings] == ["loc-missing"] * MAX_PER_RULE
    assert report.counts == {"loc-missing": number}
    assert report.left_out(None) == 50


def test_findings_are_capped_altogether_and_counted() -> None:
    collector = Collector()
    for number in range(MAX_TOTAL + 7):
        collector.add(f"{number}.xml", issue("blank-line", "the line is blank"))
    collector.add("last.xml", issue("empty-sitemap", "the file lists nothing"))
    assert len(collector.result()) == MAX_TOTAL
    assert collector.counts == {"blank-line": MAX_TOTAL + 7, "empty-sitemap": 1}
    assert not ValidationReport(("sitemaps",), (), collector.result(), collector.counts).valid


def test_collectors_are_merged_within_the_same_limits() -> None:
    first, second = Collector(), Collector()
    for collector in (first, second):
        for _ in range(MAX_PER_RULE - 5):
            collector.add("a.xml", issue("blank-line", "the line is blank"))
    second.add("b.xml", issue("loc-missing", "<url> has no <loc>", 3, 7))
    first.merge(second)
    assert [(finding.rule, finding.file) for finding in first.result()] == [
        *[("blank-line", "a.xml")] * MAX_PER_RULE,
        ("loc-missing", "b.xml"),
    ]
    assert first.counts == {"blank-line": 2 * (MAX_PER_RULE - 5), "loc-missing": 1}


def test_an_issue_of_no_rule_is_refused() -> None:
    with pytest.raises(KeyError):
        issue("no-such-rule", "nothing")


def test_json_has_stable_keys(check: Check, tmp_path: Path) -> None:
    content = at("https://example.com/#x")
    report = json.loads(json.dumps(check(content).to_json()))
    finding = {
        "severity": "error",
        "rule": "loc-fragment",
        "file": "sitemap.xml",
        "line": 3,
        "column": None,
        "url": "https://example.com/#x",
        "message": "the URL has the fragment #x",
        "status": None,
        "target": None,
        "replacement": "https://example.com/",
        "remedy": "Remove the # and all after it, and list the page once.",
        "source": "Google",
        "link": "https://developers.google.com/search/docs/crawling-indexing/url-structure",
    }
    (advice,) = report.pop("recommendations")
    assert report == {
        "target": str(tmp_path / "sitemap.xml"),
        "targets": [str(tmp_path / "sitemap.xml")],
        "sites": [],
        "valid": False,
        "verdict": "invalid",
        "complete": True,
        "files": [{"name": "sitemap.xml", "kind": "urlset", "urls": 1, "bytes": len(content)}],
        "errors": [finding],
        "warnings": [],
        "findings": [finding],
        "findings_left_out": 0,
        "counts": {"loc-fragment": 1},
        "statistics": {
            "total_urls": 1,
            "valid_urls": 0,
            **dict.fromkeys(LIVE_NUMBERS),
            "duplicate_urls": 0,
            "files": 1,
            "bytes": len(content),
            **dict.fromkeys(["images", "videos", "news", "alternates"], 0),
            **dict.fromkeys(["newest", "oldest"]),
            "by_extension": {},
        },
    }
    assert advice.keys() == {"rule", "rules", "priority", "message", "count", "urls", "examples"}
    assert (advice["rule"], advice["count"], advice["urls"], advice["examples"]) == (
        "loc-fragment",
        1,
        1,
        ["https://example.com/#x"],
    )


# Limits


def entries(count: int) -> str:
    return "".join(f"<url><loc>https://example.com/{number}</loc></url>\n" for number in range(count))


def test_50_000_entries_are_allowed_and_one_more_is_not(check: Check) -> None:
    full = check(urlset(entries(50_000)))
    assert full.findings == ()
    assert full.files[0].urls == 50_000
    over = check(urlset(entries(50_001)))
    assert rules(over) == {(E, "too-many-entries")}
    assert "50,001" in over.findings[0].message


@pytest.mark.parametrize("lines", [200_000, 250_000])
def test_far_too_many_entries(check: Check, lines: int) -> None:
    text = "".join(f"http://a.example/{number}\n" for number in range(lines))
    assert rules(check(text, "sitemap.txt")) == {(E, "too-many-entries")}


def test_1_000_articles_are_allowed_and_one_more_is_not(check: Check) -> None:
    article = news().partition(LOC)[2].partition("</url>")[0]

    def articles(count: int) -> str:
        return urlset("".join(f"<url><loc>https://example.com/{i}</loc>{article}</url>" for i in range(count)))

    assert check(articles(1_000)).findings == ()
    assert rules(check(articles(1_001))) == {(E, "too-many-news")}


@pytest.mark.parametrize(
    ("size", "expected"), [(52_428_800, set()), (52_428_801, {(E, "file-too-large")})], ids=["limit", "over"]
)
@pytest.mark.parametrize("name", ["sitemap.xml", "sitemap.xml.gz"])
def test_size_counts_uncompressed(check: Check, name: str, size: int, expected: set[tuple[str, str]]) -> None:
    head, tail = f'<urlset xmlns="{CORE}"><url>{LOC}</url>'.encode(), b"</urlset>"
    content = head + b" " * (size - len(head) - len(tail)) + tail
    report = check(gzip.compress(content, 1) if name.endswith(".gz") else content, name)
    assert rules(report) == expected


def test_a_bomb_is_not_read_beyond_the_limit(check: Check) -> None:
    # 1 GiB of white space as 64 gzip members; what is read of it is a little more than a sitemap may have.
    bomb = gzip.compress(f'<urlset xmlns="{CORE}">'.encode()) + gzip.compress(b" " * 2**24) * 64
    report = check(bomb, "sitemap.xml.gz")
    assert rules(report) == {(E, "file-too-large")}
    assert report.files[0].bytes <= 52_428_800 + 65_536


def test_an_incomplete_tag_is_not_read_beyond_the_limit(check: Check) -> None:
    report = check(urlset("<url a='" + "a" * 5_000_000))
    assert rules(report) == {(E, "oversized-tag")}
    assert report.files[0].bytes < 2_000_000


GZIP: list[tuple[str, str, bytes, set[tuple[str, str]]]] = [
    ("valid", "s.xml.gz", GZ, set()),
    ("two members", "s.xml.gz", gzip.compress(at(PAGE).encode()[:50]) + gzip.compress(at(PAGE).encode()[50:]), set()),
    ("zero padding", "s.xml.gz", GZ + b"\0" * 512, set()),
    ("text", "s.txt.gz", gzip.compress(PAGE.encode()), set()),
    ("truncated", "s.xml.gz", GZ[:-9], {(E, "gzip-truncated")}),
    ("trailer cut", "s.xml.gz", GZ[:-4], {(E, "gzip-truncated")}),
    ("trailing garbage", "s.xml.gz", GZ + b"garbage", {(E, "gzip-trailing-garbage")}),
    ("wrong checksum", "s.xml.gz", GZ[:-8] + b"\0\0\0\0" + GZ[-4:], {(E, "gzip-corrupt")}),
    ("damaged at once", "s.xml.gz", GZ[:3] + b"garbage", {(E, "gzip-corrupt")}),
    ("no .gz in the name", "s.xml", GZ, {(W, "gzip-name")}),
    ("endless padding", "s.xml.gz", GZ + b"\0" * 55_000_000, {(E, "file-too-large")}),
    ("empty inside", "s.xml.gz", gzip.compress(b""), {(E, "empty-file")}),
]


@pytest.mark.parametrize(("name", "content", "expected"), [row[1:] for row in GZIP], ids=[row[0] for row in GZIP])
def test_gzip_is_detected_by_content(check: Check, name: str, content: bytes, expected: set[tuple[str, str]]) -> None:
    assert rules(check(content, name)) == expected


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400), st.sampled_from(["s.xml", "s.txt", "s.xml.gz"]), st.integers(0, 3))
def test_any_content_is_checked_without_an_exception(tmp_path: Path, noise: bytes, name: str, wrap: int) -> None:
    head = f'<urlset xmlns="{CORE}"><url><loc>'.encode()
    content = [noise, head + noise, head + noise + b"</loc></url></urlset>", GZ[:30] + noise][wrap]
    path = tmp_path / name
    path.write_bytes(content)
    report = validate(str(path))
    assert len(report.files) == 1
    assert report.files[0].bytes <= 52_428_800
