"""URLs that a typed text may mean, and the directories above a URL."""

from __future__ import annotations

import pytest

from sitemap_crawler.exceptions import SpellingError
from sitemap_crawler.urls.normalise import Resolver
from sitemap_crawler.urls.spelling import absolute_spellings, directories_above, spellings

SITE = "https://www.example.com/"
DOCS = "https://www.example.com/docs/"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://www.example.com/docs/a", f"{DOCS}a"),
        ("  <https://www.example.com/docs/a#part>\n", f"{DOCS}a"),
        ("HTTPS://WWW.Example.COM:443/docs/./x/../a", f"{DOCS}a"),
        ("https://me:secret@www.example.com/docs/a", f"{DOCS}a"),
        ("me:secret@www.example.com/docs/a", f"{DOCS}a"),
        ("https://www.example.com/docs/%61?utm_source=x&id=1", f"{DOCS}a?id=1"),
        ("https://www.example.com/docs/%e6", f"{DOCS}%E6"),
        ("https://www.example.com/docs/æ", f"{DOCS}%C3%A6"),
        ("http://www.example.com/docs/a", "http://www.example.com/docs/a"),
        ("www.example.com/docs/a", f"{DOCS}a"),
        ("example.com/docs/a", "https://example.com/docs/a"),
        ("www.example.com", SITE),
        ("//www.example.com/docs/a", f"{DOCS}a"),
        ("/a", f"{SITE}a"),
        ("a", f"{DOCS}a"),
        ("../a", f"{SITE}a"),
        ("?id=1", f"{DOCS}?id=1"),
        ("sub/readme.md", f"{DOCS}sub/readme.md"),
        ("readme.md", f"{DOCS}readme.md"),
        ("other.example.org:8080/a", "https://other.example.org:8080/a"),
        ("localhost/a", "https://localhost/a"),
        ("docs.python.org/3/", "https://docs.python.org/3/"),
    ],
)
def test_spellings(text: str, url: str) -> None:
    assert spellings(text, DOCS, Resolver())[0] == url


@pytest.mark.parametrize(
    "text", ["", "  ", "<>", "mailto:me@example.com", "ftp://example.com/", "http://", "https://[x"]
)
def test_texts_that_are_not_urls(text: str) -> None:
    with pytest.raises(SpellingError, match="is not an http or https URL"):
        spellings(text, DOCS, Resolver())


def test_spellings_without_a_site() -> None:
    assert absolute_spellings("www.example.com/a") == ["https://www.example.com/a", "http://www.example.com/a"]
    assert absolute_spellings("/docs/a") == []
    for text in ("", "<>", "mailto:me@example.com"):
        with pytest.raises(SpellingError, match="is not an http or https URL"):
            absolute_spellings(text)


@pytest.mark.parametrize(
    ("url", "directories"),
    [
        (f"{DOCS}a/b?x=/y/", [f"{DOCS}a/", DOCS, SITE]),
        (SITE, [SITE]),
        (f"{SITE}/x", [f"{SITE}/", SITE]),
    ],
)
def test_directories_above(url: str, directories: list[str]) -> None:
    assert list(directories_above(url)) == directories


def test_the_number_of_directories_above_is_bounded() -> None:
    assert len(list(directories_above(SITE + "a/" * 4000))) == 64
