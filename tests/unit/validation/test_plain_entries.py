"""Plain entries give the same result many at once as one by one through the rules."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitemap_crawler.validation import files
from sitemap_crawler.validation.files import check_source
from sitemap_crawler.validation.results import FileResult, FileTask
from sitemap_crawler.validation.values import Place
from tests.support.sitemap_documents import CORE

if TYPE_CHECKING:
    from sitemap_crawler.validation.plain_entries import PlainEntries

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
PLACES = [
    None,
    Place("https://example.com", "/"),
    Place("https://www.example.com", "/docs/"),
    Place("http://example.com:8080", "/a(b/"),
]
SEGMENTS = st.sampled_from([
    *["a", "docs", "a(b", "a.html", "b.PDF", ".hidden", "..", "%2e%2E", "%C3%A9", "100%",
    "%zz", "x;jsessionid=1", "a,b+c", "~me", "a'b", "a[b]", "(S(x))", "@", ":"],
    *["", "q?b=c&amp;utm_source=x", "q?", "p?sid=1", "m" * 2_030, "a&amp;amp;b"],
])  # fmt: skip
LASTMODS = st.sampled_from([
    *["2024-01-01", "2024-05-31", "2024-06-01", "2024-06-02", "2024-06-03", "2099-01-01",
    "1989-01-01", "2024", "2024-13-01", "2023-02-29", "-"],
    *["2024-01-01T10:00:00Z", "2024-01-01T10:00:00.123+02:00", "2024-01-01T25:00:00Z", "2024-01-01T10:00:00+14:30"],
    *["2024-06-02T11:59:59Z", "2024-06-02T12:00:01Z", "2024-01-01T10:00Z", "2024-01-01T10:00:00"],
])  # fmt: skip
HINTS = st.sampled_from([
    *["<changefreq>daily</changefreq>", "<changefreq>Daily</changefreq>", "<priority>0.5</priority>"],
    *["", "<priority>1.5</priority>", "<priority>0.5</priority>\n<priority>0.5</priority>", "<priority>.</priority>"],
])  # fmt: skip


@st.composite
def entries(draw: st.DrawFn) -> str:
    origin = draw(st.sampled_from(["https://example.com", "https://www.example.com", "http://example.com:8080"]))
    path = "/".join(draw(st.lists(SEGMENTS, max_size=4)))
    loc = f"{origin}/{path}{draw(st.sampled_from(['', '', '/']))}"
    lastmod = f"<lastmod>{draw(LASTMODS)}</lastmod>" if draw(st.booleans()) else ""
    space = draw(st.sampled_from(["", "\n", "\n  ", "\r\n"]))
    return f"{space}<url>{space}<loc>{loc}</loc>{space}{lastmod}{draw(HINTS)}{space}</url>"


def result_of(content: str, place: Place | None) -> Any:
    task = FileTask(Path("sitemap.xml"), "sitemap.xml", "", NOW, place)
    return values_of(check_source(task, io.BytesIO(content.encode())))


def values_of(result: FileResult) -> Any:
    found = sorted(result.findings.findings, key=repr)
    return found, result.findings.counts, result.entries, list(result.keys), result.group, result.statistics


@settings(deadline=None, max_examples=300)
@given(st.lists(entries(), min_size=1, max_size=15), st.sampled_from(PLACES), st.integers(1, 4))
def test_entries_are_judged_the_same_at_once_and_one_by_one(listed: list[str], place: Place | None, times: int) -> None:
    content = f"<urlset xmlns='{CORE}'><url></url>{''.join(listed * times)}</urlset>"
    at_once = result_of(content, place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files._FileCheck, "_plain_entries", lambda _: None)
        assert result_of(content, place) == at_once


@pytest.mark.parametrize(
    ("loc", "is_taken"),
    [
        ("https://example.com/docs/a", True),
        ("https://example.com/docs/a/b.html", True),
        ("https://example.com/docs/%C3%A9/~a/", True),
        ("https://example.com/docs/a/.b", False),
        ("https://example.com/docs/a//b", False),
        ("https://example.com/docs/%2E./b", False),
        ("https://example.com/docs-old/a", False),
        ("https://example.com/docs/a?b", False),
        ("https://www.example.com/docs/a", False),
        ("http://example.com/docs/a", False),
    ],
)
def test_only_urls_that_no_rule_objects_to_are_taken(loc: str, is_taken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def take(self: PlainEntries, data: bytes, start: int, end: int) -> Any:
        batch = original(self, data, start, end)
        taken.append(len(batch.keys) if batch else 0)
        return batch

    original = files.PlainEntries.take
    monkeypatch.setattr(files.PlainEntries, "take", take)
    content = f"<urlset xmlns='{CORE}'><url></url><url><loc>{loc}</loc><lastmod>2024-01-01</lastmod></url></urlset>"
    result_of(content, Place("https://example.com", "/docs/"))
    assert taken == [1] * is_taken
