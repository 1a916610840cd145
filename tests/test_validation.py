from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitemap_crawler.validation import ReadEntry, Report, TargetError, read_entries, validate
from sitemap_crawler.validation.findings import MAX_PER_RULE, MAX_TOTAL, Collector, warning
from sitemap_crawler.validation.values import Place, Url, parse_url, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

E, W = "error", "warning"
CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SPACES = (
    f'xmlns="{CORE}" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:other="https://example.com/my-extension"'
)
PAGE = "https://example.com/a"
LOC = f"<loc>{PAGE}</loc>"
NOW = datetime.now(UTC)


def urlset(body: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {SPACES}>\n{body}\n</urlset>\n'


def page(extra: str, loc: str = LOC) -> str:
    return urlset(f"<url>{loc}{extra}</url>")


def at(loc: str) -> str:
    return urlset(f"<url><loc>{loc}</loc></url>")


def index(*locs: str) -> str:
    listed = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{CORE}">{listed}</sitemapindex>\n'


def image(content: str) -> str:
    return page(f"<image:image>{content}</image:image>")


VIDEO = {
    "thumbnail_loc": "https://cdn.example.net/t.jpg",
    "title": "A title",
    "description": "A description",
    "content_loc": "https://cdn.example.net/v.mp4",
}


def video(extra: str = "", **changed: str | None) -> str:
    """A valid video; a keyword replaces an element's text, None removes it."""
    parts = {**VIDEO, **changed}
    inner = "".join(f"<video:{name}>{text}</video:{name}>" for name, text in parts.items() if text is not None)
    return page(f"<video:video>{inner}{extra}</video:video>")


PUBLICATION = "<news:publication><news:name>The Daily</news:name><news:language>en</news:language></news:publication>"


def news(
    *,
    publication: str = PUBLICATION,
    date: str | None = NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
    title: str = "<news:title>News</news:title>",
    extra: str = "",
) -> str:
    stated = "" if date is None else f"<news:publication_date>{date}</news:publication_date>"
    return page(f"<news:news>{publication}{stated}{title}{extra}</news:news>")


def link(attributes: str) -> str:
    return page(f"<xhtml:link {attributes}/>")


def rules(report: Report) -> set[tuple[str, str]]:
    return {(finding.severity, finding.rule) for finding in report.findings}


Check = Callable[..., Report]
Folder = Callable[..., str]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Validates one file with this content."""

    def run(content: str | bytes, name: str = "sitemap.xml") -> Report:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return validate(str(path))

    return run


VALID = {
    "minimal": at("https://example.com/"),
    "no declaration": f'<urlset xmlns="{CORE}"><url>{LOC}</url></urlset>',
    "prefixed": f'<s:urlset xmlns:s="{CORE}"><s:url><s:loc>{PAGE}</s:loc></s:url></s:urlset>',
    "any order": urlset(f"<url><priority>0.5</priority><lastmod>2024-02-29</lastmod>{LOC}</url>"),
    "comments and instructions": "<?xml version='1.0'?><?xml-stylesheet href='s.xsl'?><!-- a -->"
    f"<urlset xmlns='{CORE}'><!-- b --><url><loc>https://example.com/<!-- c --></loc></url></urlset>",
    "escapes and CDATA": urlset(
        "<url><loc>https://example.com/?a=1&amp;b=2</loc></url><url><loc><![CDATA[https://example.com/?a&b]]></loc></url>"
    ),
    "port, IPv6, punycode": urlset("<url><loc>http://[::1]:8080/</loc></url>"),
    "year": page("<lastmod>2024</lastmod>"),
    "month": page("<lastmod>2024-12</lastmod>"),
    "minutes": page("<lastmod>2024-12-31T23:59+05:30</lastmod>"),
    "fraction": page("<lastmod>2024-12-31T23:59:59.123456789-12:00</lastmod>"),
    "lastmod padded": page("<lastmod>\n 2024-12-31 \n</lastmod>"),
    "tomorrow's date in the east": page(f"<lastmod>{(NOW + timedelta(hours=23)).isoformat()}</lastmod>"),
    "all hints": page("<changefreq>weekly</changefreq><priority>1.0</priority>"),
    "priority .5": page("<priority>.5</priority>"),
    "image elsewhere": image("<image:loc>https://cdn.example.net/i.png</image:loc>"),
    "1,000 images": page(
        "".join(f"<image:image><image:loc>https://e.com/{i}</image:loc></image:image>" for i in range(1000))
    ),
    "video": video(),
    "video with player": video(content_loc=None, player_loc="https://player.example.net/1#t=0"),
    "video with everything": video(
        "<video:duration>28800</video:duration><video:expiration_date>2999-01-01</video:expiration_date>"
        "<video:rating>5.0</video:rating><video:view_count>0</video:view_count>"
        "<video:publication_date>2020-01-01T00:00Z</video:publication_date>"
        "<video:family_friendly>yes</video:family_friendly>"
        '<video:restriction relationship="deny">DE FR</video:restriction>'
        '<video:platform relationship="allow">web tv</video:platform>'
        "<video:requires_subscription>no</video:requires_subscription><video:uploader>Me</video:uploader>"
        "<video:live>no</video:live><video:tag>a</video:tag><video:tag>b</video:tag>",
        description="d" * 2048,
    ),
    "news": news(),
    "news by day": news(date=NOW.strftime("%Y-%m-%d")),
    "alternates": page(
        f'<xhtml:link rel="alternate" hreflang="en" href="{PAGE}"/>'
        '<xhtml:link rel="alternate" hreflang="zh-Hant-TW" href="https://example.tw/a"/>'
        '<xhtml:link rel="alternate" hreflang="es-419" href="https://example.com/es"/>'
        f'<xhtml:link rel="alternate" hreflang="x-default" href="{PAGE}"/>'
    ),
    "mobile page": link('rel="alternate" media="only screen and (max-width: 640px)" href="https://m.example.com/a"'),
    "foreign extension": page("<other:thing>1</other:thing>"),
    "rss": "<rss version='2.0'><channel><title>T</title><link>https://example.com/</link>"
    f"<item><link>{PAGE}</link><pubDate>Sat, 07 Sep 2024 00:00:01 GMT</pubDate></item></channel></rss>",
    "atom": "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='https://example.com/f'/>"
    f"<entry><link rel='edit' href='/x'/><link href='{PAGE}'/><updated>2024-09-07T00:00:00Z</updated></entry></feed>",
}


@pytest.mark.parametrize("content", VALID.values(), ids=VALID.keys())
def test_valid_documents_give_no_finding(check: Check, content: str) -> None:
    report = check(content)
    assert report.findings == ()
    assert report.valid


HTTPS_CORE = CORE.replace("http:", "https:")
INVALID: list[tuple[str, str | bytes, set[tuple[str, str]]]] = [
    # What the file is
    ("empty file", b"", {(E, "empty-file")}),
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
    ("empty urlset", urlset(""), {(W, "empty-sitemap")}),
    ("empty index", index(), {(W, "empty-sitemap")}),
    # XML
    ("cut off", urlset(f"<url>{LOC}</url>")[:-12], {(E, "not-well-formed")}),
    ("raw ampersand", at("https://example.com/?a=1&b=2"), {(E, "not-well-formed")}),
    ("undeclared prefix", f'<urlset xmlns="{CORE}"><url>{LOC}<x:y/></url></urlset>', {(E, "not-well-formed")}),
    ("control character", at("https://example.com/\x0b"), {(E, "not-well-formed")}),
    ("text after the end", at(PAGE) + "garbage", {(E, "not-well-formed")}),
    ("line before the declaration", "\n" + at(PAGE), {(E, "not-well-formed")}),
    ("doctype", f'<!DOCTYPE urlset><urlset xmlns="{CORE}"/>', {(E, "doctype")}),
    ("external entity", '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset>&x;</urlset>',
     {(E, "doctype")}),
    ("billion laughs", '<!DOCTYPE a [<!ENTITY a "aaa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]><urlset a="&c;"/>',
     {(E, "doctype")}),
    ("nested deep", urlset("<url>" + "<a>" * 40), {(E, "nested-too-deep")}),
    ("huge entry", page("<other:a/>" * 20_000), {(E, "oversized-entry")}),
    ("byte order mark", b"\xef\xbb\xbf" + at(PAGE).encode(), {(W, "byte-order-mark")}),
    ("Latin-1 declared", at(PAGE).replace("UTF-8", "ISO-8859-1"), {(E, "not-utf-8")}),
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
    ("two hosts", urlset(f"<url>{LOC}</url><url><loc>https://www.example.com/a</loc></url>"),
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
    ("future", page(f"<lastmod>{(NOW + timedelta(days=3)).date()}</lastmod>"), {(W, "lastmod-future")}),
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
    ("video at the page", video(content_loc=PAGE), {(E, "video-loc")}),
    ("video relative", video(content_loc="v.mp4"), {(E, "video-loc")}),
    ("video long description", video(description="d" * 2049), {(E, "video-value")}),
    ("video duration 0", video("<video:duration>0</video:duration>"), {(E, "video-value")}),
    ("video duration 28801", video("<video:duration>28801</video:duration>"), {(E, "video-value")}),
    ("video duration ISO", video("<video:duration>PT5M</video:duration>"), {(E, "video-value")}),
    ("video rating", video("<video:rating>5.1</video:rating>"), {(E, "video-value")}),
    ("video family", video("<video:family_friendly>true</video:family_friendly>"), {(E, "video-value")}),
    ("video views", video("<video:view_count>-1</video:view_count>"), {(E, "video-value")}),
    ("video date", video("<video:publication_date>2020-13-01</video:publication_date>"), {(E, "video-value")}),
    ("video uploader", video(f"<video:uploader>{'u' * 256}</video:uploader>"), {(E, "video-value")}),
    ("video countries", video('<video:restriction relationship="allow">Germany</video:restriction>'),
     {(E, "video-value")}),
    ("video relationship", video("<video:platform>web</video:platform>"), {(E, "video-value")}),
    ("video 33 tags", video("<video:tag>t</video:tag>" * 33), {(E, "video-value")}),
    ("video two titles", video("<video:title>B</video:title>"), {(E, "video-repeated")}),
    ("video expired", video("<video:expiration_date>2020-01-01</video:expiration_date>"), {(W, "video-expired")}),
    ("video category", video("<video:category>c</video:category>"), {(W, "video-retired")}),
    ("video unknown", video("<video:director>d</video:director>"), {(W, "unknown-extension-element")}),
    ("news without publication", news(publication=""), {(E, "news-required")}),
    ("news without language", news(publication="<news:publication><news:name>N</news:name></news:publication>"),
     {(E, "news-required")}),
    ("news without date", news(date=None), {(E, "news-required")}),
    ("news without title", news(title=""), {(E, "news-required")}),
    ("news language", news(publication=PUBLICATION.replace(">en<", ">english<")), {(E, "news-value")}),
    ("news date", news(date="yesterday"), {(E, "news-value")}),
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
    ("RSS without link", "<rss><channel><item><guid>1</guid></item></channel></rss>", {(E, "loc-missing")}),
    ("RSS date", f"<rss><channel><item><link>{PAGE}</link><pubDate>2024</pubDate></item></channel></rss>",
     {(E, "lastmod-invalid")}),
    ("RSS relative", "<rss><channel><item><link>/a</link></item></channel></rss>", {(E, "loc-not-absolute")}),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_each_defect_gives_exactly_its_findings(
    check: Check, content: str | bytes, expected: set[tuple[str, str]]
) -> None:
    report = check(content)
    assert rules(report) == expected
    assert report.valid == all(severity == W for severity, _ in expected)


TEXT: list[tuple[str, str | bytes, set[tuple[str, str]]]] = [
    ("valid", f"{PAGE}\nhttps://example.com/b\n", set()),
    ("Windows lines, no end", f"{PAGE}\r\nhttps://example.com/b", set()),
    ("byte order mark", b"\xef\xbb\xbf" + PAGE.encode(), {(W, "byte-order-mark")}),
    ("blank line", f"{PAGE}\n\nhttps://example.com/b\n", {(W, "blank-line")}),
    ("nothing listed", "\n", {(W, "blank-line"), (W, "empty-sitemap")}),
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


def test_a_duplicate_names_where_it_was_first(check: Check) -> None:
    [finding] = check(urlset(f"<url>{LOC}</url>\n\n<url>{LOC}</url>")).findings
    assert finding.line == 5
    assert "line 3" in finding.message


def test_messages_tell_the_namespace_mistakes_apart(check: Check) -> None:
    missing = check(f"<urlset><url>{LOC}</url></urlset>").findings[0].message
    https = check(f'<urlset xmlns="{HTTPS_CORE}"><url>{LOC}</url></urlset>').findings[0].message
    assert f'xmlns="{CORE}"' in missing
    assert "https" in https
    assert missing != https


def test_messages_cannot_steer_a_terminal(check: Check) -> None:
    report = check("https://example.com/\x1b[2J\x9b\n", "sitemap.txt")
    assert all(text.isprintable() for finding in report.findings for text in (finding.message, finding.url or ""))


def test_findings_of_one_rule_are_capped_and_counted(check: Check) -> None:
    report = check(urlset("<url/>" * 50))
    assert len(report.findings) == MAX_PER_RULE + 1
    assert report.findings[-1].line is None
    assert report.findings[-1].message == "30 more of these"
    assert {finding.rule for finding in report.findings} == {"loc-missing"}


def test_findings_are_capped_altogether() -> None:
    collector = Collector()
    for number in range(MAX_TOTAL + 7):
        collector.add(f"{number}.xml", warning("empty-sitemap", "empty"))
    *kept, last = collector.result("sitemaps")
    assert len(kept) == MAX_TOTAL
    assert (last.severity, last.rule, last.message) == (W, "findings-omitted", "7 more findings are not shown")


def test_json_has_stable_keys(check: Check, tmp_path: Path) -> None:
    content = at("https://example.com/#x")
    assert json.loads(json.dumps(check(content).to_json())) == {
        "target": str(tmp_path / "sitemap.xml"),
        "valid": False,
        "files": [{"name": "sitemap.xml", "kind": "urlset", "urls": 1, "bytes": len(content)}],
        "findings": [
            {
                "severity": "error",
                "rule": "loc-fragment",
                "file": "sitemap.xml",
                "line": 3,
                "url": "https://example.com/#x",
                "message": "the URL has a fragment (#x), which no search engine indexes",
            }
        ],
    }


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


def test_a_bomb_is_left_as_soon_as_it_is_too_large(check: Check) -> None:
    # 1 GiB of white space as 64 gzip members; what is read of it is a little more than a sitemap may have.
    bomb = gzip.compress(f'<urlset xmlns="{CORE}">'.encode()) + gzip.compress(b" " * 2**24) * 64
    report = check(bomb, "sitemap.xml.gz")
    assert rules(report) == {(E, "file-too-large")}
    assert report.files[0].bytes <= 52_428_800 + 65_536


def test_an_unfinished_tag_is_left_early(check: Check) -> None:
    report = check(urlset("<url a='" + "a" * 5_000_000))
    assert rules(report) == {(E, "not-well-formed")}
    assert report.files[0].bytes < 2_000_000


GZ = gzip.compress(at(PAGE).encode())
GZIP: list[tuple[str, str, bytes, set[tuple[str, str]]]] = [
    ("valid", "s.xml.gz", GZ, set()),
    ("two members", "s.xml.gz", gzip.compress(at(PAGE).encode()[:50]) + gzip.compress(at(PAGE).encode()[50:]), set()),
    ("zero padding", "s.xml.gz", GZ + b"\0" * 512, set()),
    ("text", "s.txt.gz", gzip.compress(PAGE.encode()), set()),
    ("truncated", "s.xml.gz", GZ[:-9], {(E, "gzip-truncated")}),
    ("trailer cut", "s.xml.gz", GZ[:-4], {(E, "gzip-truncated")}),
    ("trailing garbage", "s.xml.gz", GZ + b"garbage", {(E, "gzip-trailing-garbage")}),
    ("wrong checksum", "s.xml.gz", GZ[:-8] + b"\0\0\0\0" + GZ[-4:], {(E, "gzip-corrupt")}),
    ("no .gz in the name", "s.xml", GZ, {(W, "gzip-name")}),
    ("endless padding", "s.xml.gz", GZ + b"\0" * 55_000_000, {(E, "file-too-large")}),
    ("empty inside", "s.xml.gz", gzip.compress(b""), {(E, "empty-file")}),
]


@pytest.mark.parametrize(("name", "content", "expected"), [row[1:] for row in GZIP], ids=[row[0] for row in GZIP])
def test_gzip_is_told_by_content(check: Check, name: str, content: bytes, expected: set[tuple[str, str]]) -> None:
    assert rules(check(content, name)) == expected


# Sets


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes files, given by name, into one directory and returns its path."""

    def write(**files: str | bytes) -> str:
        for key, content in files.items():
            path = tmp_path / key.replace("__", "-").replace("_", ".")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(tmp_path)

    return write


BASE = "https://example.com/docs/"
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
     {(E, "nested-index", "sitemap.xml")}),
    ("sitemap listed twice", {"sitemap_xml": index(*[f"{BASE}sitemap-1.xml"] * 2, f"{BASE}sitemap-2.xml.gz")},
     {(E, "duplicate-loc", "sitemap.xml")}),
    ("missing file", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz", f"{BASE}sitemap-3.xml")},
     {(E, "missing-file", "sitemap.xml")}),
    ("path in a name", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz", f"{BASE}..%2Fa.xml")},
     {(E, "missing-file", "sitemap.xml")}),
    ("endless name", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml.gz", BASE + "a" * 1000)},
     {(E, "missing-file", "sitemap.xml")}),
    ("foreign sitemap", {"sitemap_xml": index(f"{BASE}sitemap-1.xml", "https://cdn.example.net/docs/sitemap-2.xml.gz"),
                         "sitemap__2_xml_gz": at("https://cdn.example.net/docs/x")},
     {(E, "foreign-origin", "sitemap.xml")}),
    ("listed HTML", {"sitemap__1_xml": "<!doctype html><html/>"}, {(E, "not-a-sitemap", "sitemap-1.xml")}),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "expected"), [row[1:] for row in SETS], ids=[row[0] for row in SETS])
def test_defects_of_a_set(folder: Folder, changed: dict[str, str | bytes], expected: set[tuple[str, str, str]]) -> None:
    report = validate(folder(**{**SHARDS, **changed}) + "/sitemap.xml")
    assert {(finding.severity, finding.rule, finding.file) for finding in report.findings} == expected


def test_the_same_page_may_stand_in_every_format(folder: Folder) -> None:
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


def test_a_file_that_no_index_lists_is_noted(folder: Folder) -> None:
    report = validate(folder(**SHARDS, sitemap__9_xml=at(f"{BASE}z"), blog_xml=at("https://blog.example/")))
    assert [(finding.severity, finding.rule, finding.file) for finding in report.findings] == [
        (W, "unlisted-file", "sitemap-9.xml")
    ]
    assert report.valid


def test_other_files_of_a_web_directory_are_left_alone(folder: Folder, tmp_path: Path) -> None:
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


def test_a_limit_of_the_comparison_is_told(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.validation.files.MAX_COMPARED", 2)
    monkeypatch.setattr("sitemap_crawler.validation.targets.MAX_COMPARED", 2)
    assert rules(check(urlset(entries(3)))) == {(W, "duplicates-unchecked")}


# Targets that can't be checked


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no/such/file.xml", "does not exist"),
        ("x" * 5000, "can't be read"),
        ("ftp://example.com/sitemap.xml", "only http and https"),
        ("file:///etc/hostname", "only http and https"),
        ("https://example.com/a b.xml", "white space"),
        ("https://", "host or port"),
        ("http://127.0.0.1:1/sitemap.xml", "can't be fetched"),
    ],
)
def test_an_unusable_target_is_named_in_one_line(target: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
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


def test_a_directory_without_sitemaps_is_no_target(folder: Folder) -> None:
    with pytest.raises(TargetError, match="holds no sitemap"):
        validate(folder(robots_txt="User-agent: *\n"))


def test_a_pipe_is_no_target(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "sitemap.xml")
    with pytest.raises(TargetError, match="not a regular file"):
        validate(str(tmp_path / "sitemap.xml"))


# The web

Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def serving(make: Callable[[str], dict[str, Answer]]) -> Iterator[str]:
    """A loopback server; `make` gets its address and returns the answers by path."""
    answers: dict[str, Answer] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = f"http://127.0.0.1:{server.server_address[1]}"
        answers.update(make(site))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def ok(body: str | bytes, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return 200, named, body if isinstance(body, bytes) else body.encode()


def test_a_valid_set_on_the_web() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/docs/sitemap.xml": ok(index(f"{site}/docs/s-1.xml", f"{site}/docs/s-2.xml.gz?v=2")),
            "/docs/s-1.xml": ok(gzip.compress(at(f"{site}/docs/a").encode()), Content_Encoding="gzip"),
            "/docs/s-2.xml.gz?v=2": ok(gzip.compress(at(f"{site}/docs/b").encode())),
        }

    with serving(make) as site:
        report = validate(f"{site}/docs/sitemap.xml#fragment")
    assert report.findings == ()
    assert [(file.name, file.kind, file.urls) for file in report.files] == [
        (f"{site}/docs/sitemap.xml", "sitemapindex", 2),
        (f"{site}/docs/s-1.xml", "urlset", 1),
        (f"{site}/docs/s-2.xml.gz?v=2", "urlset", 1),
    ]


def test_defects_of_a_set_on_the_web() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/docs/sitemap.xml": ok(
                index(
                    f"{site}/docs/outside.xml",
                    f"{site}/docs/gone.xml",
                    f"{site}/docs/moved.xml",
                    f"{site}/docs/away.xml",
                    f"{site}/docs/index.xml",
                    f"{site}/docs/sitemap.xml",
                    f"{site}/above.xml",
                    f"{site}/docs/brotli.xml",
                    f"{site}/docs/short.xml",
                    f"{site}/docs/chunked.xml",
                    "http://localhost:1/docs/foreign.xml",
                )
            ),
            "/docs/outside.xml": ok(at(f"{site}/blog/a")),
            "/docs/moved.xml": (301, {"Location": "/docs/new.xml"}, b""),
            "/docs/new.xml": ok(at(f"{site}/docs/new")),
            "/docs/away.xml": (302, {"Location": "http://localhost:1/docs/s.xml"}, b""),
            "/docs/index.xml": ok(index(f"{site}/docs/never-fetched.xml")),
            "/above.xml": ok(at(f"{site}/x")),
            "/docs/brotli.xml": ok(b"....", Content_Encoding="br"),
            "/docs/short.xml": ok(at(f"{site}/docs/short"), Content_Length="5000"),
            "/docs/chunked.xml": ok("ffff\r\n<urlset>", Transfer_Encoding="chunked"),
        }

    with serving(make) as site:
        report = validate(f"{site}/docs/sitemap.xml")
    found = {
        (f.severity, f.rule, f.file.removeprefix(site), f.url and f.url.removeprefix(site)) for f in report.findings
    }
    entry = "/docs/sitemap.xml"
    assert found == {
        (E, "outside-directory", "/docs/outside.xml", "/blog/a"),
        (E, "unreachable", "/docs/gone.xml", None),
        (W, "redirected", "/docs/moved.xml", None),
        (E, "unreachable", "/docs/away.xml", None),
        (E, "nested-index", entry, "/docs/index.xml"),
        (E, "nested-index", entry, entry),
        (E, "outside-directory", entry, "/above.xml"),
        (E, "unreachable", "/docs/brotli.xml", None),
        (E, "download-failed", "/docs/short.xml", None),
        (E, "download-failed", "/docs/chunked.xml", None),
        (E, "foreign-origin", entry, "http://localhost:1/docs/foreign.xml"),
    }


def test_a_redirected_target_is_judged_where_it_ends() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/sitemap.xml": (301, {"Location": f"{site}/docs/sitemap.xml"}, b""),
            "/docs/sitemap.xml": ok(at(f"{site}/a")),
        }

    with serving(make) as site:
        report = validate(f"{site}/sitemap.xml")
    assert rules(report) == {(W, "redirected"), (E, "outside-directory")}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, {}, b"gone"), "answered 404 Not Found"),
        ((503, {"Retry-After": "10"}, b""), "answered 503"),
        ((204, {}, b""), "answered 204"),
        ((301, {"Location": "ftp://127.0.0.1/sitemap.xml"}, b""), "ftp"),
        ((301, {"Location": "file:///etc/hostname"}, b""), "not http"),
        ((301, {"Location": "/sitemap.xml"}, b""), "redirect"),
    ],
)
def test_a_target_that_is_not_served(answer: Answer, words: str) -> None:
    with serving(lambda _site: {"/sitemap.xml": answer}) as site, pytest.raises(TargetError) as caught:
        validate(f"{site}/sitemap.xml")
    assert f"{site}/sitemap.xml" in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


# Values

DATES: list[tuple[str, str | None]] = [
    ("2024", "2024-01-01T00:00:00+00:00"),
    ("2024-02", "2024-02-01T00:00:00+00:00"),
    ("2024-02-29", "2024-02-29T00:00:00+00:00"),
    ("2024-02-29T12:30Z", "2024-02-29T12:30:00+00:00"),
    ("2024-02-29T12:30:05+02:00", "2024-02-29T12:30:05+02:00"),
    ("2024-02-29T12:30:05.5-14:00", "2024-02-29T12:30:05.500000-14:00"),
    ("0000", None),
    ("2024-00", None),
    ("2024-2-9", None),
    ("20240229", None),
    ("2024-02-29T24:00Z", None),
    ("2024-02-29T12Z", None),
    ("2024-02-29T12:30:61Z", None),
    ("2024-02-29T12:30:05z", None),
    ("2024-02-29T12:30:05+0200", None),
    ("2024-02-29T12:30:05+14:01", None),
    ("2024-02-29T12:30:05+01:60", None),
    ("2024-02-29Z", None),
    ("٢٠٢٤", None),
    ("2024\n", None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_w3c_datetime(text: str, expected: str | None) -> None:
    moment = w3c_datetime(text)
    assert (moment.at.isoformat() if moment.at else None) == expected
    assert bool(moment.problem) == (expected is None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com", Url("https://example.com", "/", "")),
        ("HTTP://Example.COM:80/A?B", Url("http://example.com", "/A", "?B")),
        ("https://example.com:8443/", Url("https://example.com:8443", "/", "")),
        ("https://example.com/a/./b/../c", Url("https://example.com", "/a/c", "")),
        ("https://example.com/..", Url("https://example.com", "/", "")),
        ("https://example.com//a/.well-known", Url("https://example.com", "//a/.well-known", "")),
        ("https://example.com/a//../b/..", Url("https://example.com", "/a/", "")),
        ("https://example.com/a/%2E%2e/..b/.%2e", Url("https://example.com", "/", "")),
        ("https://example.com?q=/../x", Url("https://example.com", "/", "?q=/../x")),
    ],
)
def test_parse_url(text: str, expected: Url) -> None:
    assert parse_url(text) == expected


@pytest.mark.parametrize(
    ("path", "inside"),
    [("/docs/", True), ("/docs/a", True), ("/docs", False), ("/docs-old/a", False), ("/%64ocs/a", True)],
)
def test_place(path: str, inside: bool) -> None:
    place = Place.of(Url("https://example.com", "/docs/sitemap.xml", ""))
    assert place == Place("https://example.com", "/docs/")
    assert place.holds(path) == inside


# Reading back


def test_read_entries() -> None:
    body = (
        "<url><loc>https://example.com/?a=1&amp;b=2</loc><lastmod>2024-01-01</lastmod>"
        "<changefreq>daily</changefreq><priority>0.8</priority>"
        "<image:image><image:loc>https://e.com/1.png</image:loc></image:image>"
        "<image:image><image:loc>https://e.com/2.png</image:loc></image:image>"
        "<video:video><video:title>T</video:title><video:tag>a</video:tag><video:tag>b</video:tag></video:video>"
        '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/></url>'
        f"<url><loc>{PAGE}</loc><news:news>{PUBLICATION}<news:title>News</news:title></news:news></url>"
    )
    expected = [
        ReadEntry(
            "https://example.com/?a=1&b=2",
            "2024-01-01",
            "daily",
            "0.8",
            images=("https://e.com/1.png", "https://e.com/2.png"),
            videos=((("title", "T"), ("tag", "a"), ("tag", "b")),),
            alternates=(("de", "https://example.com/de"),),
        ),
        ReadEntry(PAGE, news=(("name", "The Daily"), ("language", "en"), ("title", "News"))),
    ]
    assert read_entries(urlset(body).encode()) == expected
    assert read_entries(gzip.compress(urlset(body).encode())) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (index(f"{BASE}a.xml", f"{BASE}b.xml"), [f"{BASE}a.xml", f"{BASE}b.xml"]),
        (f"{PAGE}\nhttps://example.com/b\n", [PAGE, "https://example.com/b"]),
        (VALID["rss"], [PAGE]),
        (VALID["atom"], [PAGE]),
        (urlset(""), []),
    ],
)
def test_read_entries_of_other_kinds(content: str, expected: list[str]) -> None:
    assert [entry.loc for entry in read_entries(content.encode())] == expected


@pytest.mark.parametrize("content", [b"", b"<urlset>", b"nothing", GZ[:-9], b"<!DOCTYPE a><a/>"])
def test_read_entries_refuses_what_it_cannot_read(content: bytes) -> None:
    with pytest.raises(ValueError, match="the sitemap "):
        read_entries(content)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400), st.sampled_from(["s.xml", "s.txt", "s.xml.gz"]), st.integers(0, 3))
def test_no_content_makes_it_raise(tmp_path: Path, noise: bytes, name: str, wrap: int) -> None:
    head = f'<urlset xmlns="{CORE}"><url><loc>'.encode()
    content = [noise, head + noise, head + noise + b"</loc></url></urlset>", GZ[:30] + noise][wrap]
    path = tmp_path / name
    path.write_bytes(content)
    report = validate(str(path))
    assert len(report.files) == 1
    assert report.files[0].bytes <= 52_428_800
