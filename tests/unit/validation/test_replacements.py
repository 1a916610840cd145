"""What to write in the place of a wrong value: said only where it is certain."""

from __future__ import annotations

import pytest

from sitemap_crawler.validation.replacements import replacement_of
from sitemap_crawler.validation.targets import validate
from tests.support.sitemap_documents import BASE, LOC, page, urlset

URL = "https://example.com/"


@pytest.mark.parametrize(
    ("rule", "value", "replacement"),
    [
        ("loc-padding", f" {URL}a\n", f"{URL}a"),
        ("loc-padding", " a ", None),
        ("loc-unescaped", f"{URL}a|b^c?d={{e}}", f"{URL}a%7Cb%5Ec?d=%7Be%7D"),
        ("loc-unescaped", f"{URL}100%&a=%41%", f"{URL}100%25&a=%41%25"),
        ("loc-unescaped", f"{URL}[a]", None),
        ("loc-non-ascii", f"{URL}\u00e9?q=\u4e2d", f"{URL}%C3%A9?q=%E4%B8%AD"),
        ("loc-non-ascii", "https://b\u00fccher.example/", None),
        ("loc-fragment", f"{URL}a?b=1#c#d", f"{URL}a?b=1"),
        ("loc-escaped-twice", f"{URL}?a=1&amp;b=2&amp;para=3", f"{URL}?a=1&b=2&para=3"),
        ("loc-escaped-twice", f"{URL}?a=1&#38;b=2", None),
        ("loc-tracking", f"{URL}a?utm_source=x&b=1&utm_medium=y", f"{URL}a?b=1"),
        ("loc-tracking", f"{URL}a?UTM_source=x", f"{URL}a"),
        ("loc-session-id", f"{URL}a;jsessionid=12AB/b?c=1", f"{URL}a/b?c=1"),
        ("loc-session-id", f"{URL}a?PHPSESSID=1&phpsessid_help=2", f"{URL}a?phpsessid_help=2"),
        ("lastmod-invalid", "2024/05/01", "2024-05-01"),
        ("lastmod-invalid", "20240501", "2024-05-01"),
        ("lastmod-invalid", "2024.05.32", None),
        ("lastmod-invalid", "01/05/2024", None),
        ("lastmod-invalid", "2024-05-01 10:00:00", None),
        ("lastmod-invalid", "Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00+00:00"),
        ("lastmod-invalid", "Wed, 01 May 2024 10:00:00 +0200", "2024-05-01T10:00:00+02:00"),
        ("lastmod-invalid", "yesterday", None),
        ("lastmod-invalid", "May" * 1_000, None),
        ("changefreq-invalid", "Daily", "daily"),
        ("changefreq-invalid", "often", None),
        ("priority-invalid", "0,5", "0.5"),
        ("priority-invalid", "1,5", None),
        ("priority-invalid", "high", None),
        ("loc-scheme", "ftp://example.com/", None),
    ],
)
def test_replacements(rule: str, value: str, replacement: str | None) -> None:
    assert replacement_of(rule, value) == replacement


@pytest.mark.parametrize(
    ("document", "rule", "replacement"),
    [
        (page("<lastMod>2024</lastMod>"), "unknown-element", "<lastmod>"),
        (page("<changefrequency>daily</changefrequency>"), "unknown-element", "<changefreq>"),
        (page("<title>T</title>"), "unknown-element", None),
        (urlset(f"<URL>{LOC}</URL>"), "unknown-element", "<url>"),
        (urlset(f'<url xmlns="">{LOC}</url>'), "unknown-element", None),
        (page("<image:image><image:Loc>/a</image:Loc></image:image>"), "unknown-extension-element", "<loc>"),
        (page("<priority>0,8</priority>"), "priority-invalid", "0.8"),
        (urlset(f"<url><loc>{BASE}a#b</loc></url>"), "loc-fragment", f"{BASE}a"),
    ],
)  # fmt: skip
def test_a_finding_says_what_to_write(
    document: str, rule: str, replacement: str | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("site") / "sitemap.xml"
    path.write_text(document, encoding="utf-8")
    assert {found.replacement for found in validate(str(path)).findings if found.rule == rule} == {replacement}
