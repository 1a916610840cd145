"""URLs of crawled sites as RFC 3986, and the published schemas with it, want them."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.sitemap.escaping import escape, rfc3986
from sitemap_crawler.sitemap.news import NewsEntry, serialise
from sitemap_crawler.sitemap.video import Video, serialise_video
from sitemap_crawler.urls.normalise import Resolver
from tests.support.paths import SCHEMAS

needs_schemas = pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the published schemas are not here")
LEGAL = string.ascii_letters + string.digits + "-._~:/?@!$&'()*+,;=%"
"""By https://www.rfc-editor.org/rfc/rfc3986#section-3.3 and 3.4; a # ends the query."""
PRINTABLE = [character for character in string.printable if " " < character <= "~"]


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://example.com/", "https://example.com/"),
        ("https://example.com/a%20b?x=%5B1%5D&y='(2)'", "https://example.com/a%20b?x=%5B1%5D&y='(2)'"),
        ("https://example.com/a[1]|b", "https://example.com/a%5B1%5D%7Cb"),
        ("https://example.com/?x[]=1&x[]=2", "https://example.com/?x%5B%5D=1&x%5B%5D=2"),
        ("https://example.com/?\\^`{|}", "https://example.com/?%5C%5E%60%7B%7C%7D"),
        ('https://example.com/ <">', "https://example.com/%20%3C%22%3E"),
        ("https://example.com/\x7fé東", "https://example.com/%7F%C3%A9%E6%9D%B1"),
        ("https://example.com/\ud800", "https://example.com/%3F"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://[::1]:8000/[a]", "http://[::1]:8000/%5Ba%5D"),
        ("http://[::1]?x=[", "http://[::1]?x=%5B"),
        ("https://example.com", "https://example.com"),
        ("https://example.com/a#b", "https://example.com/a#b"),
        ("", ""),
        ("[]", "%5B%5D"),
    ],
)
def test_what_the_rfc_forbids_is_encoded(url: str, written: str) -> None:
    assert rfc3986(url) == written


@pytest.mark.parametrize("before", ["https://example.com/a", "https://example.com/?x="])
def test_every_printable_character(before: str) -> None:
    for character in PRINTABLE:
        expected = character if character in LEGAL or character == "#" else f"%{ord(character):02X}"
        assert rfc3986(f"{before}{character}00") == f"{before}{expected}00"


@given(st.text())
def test_any_text_becomes_legal_and_stays_so(text: str) -> None:
    written = rfc3986(f"http://[::1]/{text}")
    assert set(written.removeprefix("http://[::1]/")) <= {*LEGAL, "#"}
    assert rfc3986(written) == written


def sitemap(url: str) -> bytes:
    return (
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{escape(url)}</loc></url></urlset>'
    ).encode()


def video(url: str) -> bytes:
    element = serialise_video(Video(url, "Title", "Words", content_loc=url, player_loc=url), "https://example.com/page")
    declared = element.replace(">", ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">', 1)
    return declared.encode()


@needs_schemas
@pytest.mark.parametrize("before", ["https://example.com/a", "https://example.com/?x="])
def test_the_published_schemas_accept_normal_urls(before: str) -> None:
    of_urls = etree.XMLSchema(etree.parse(SCHEMAS / "sitemap.xsd"))
    of_videos = etree.XMLSchema(etree.parse(SCHEMAS / "sitemap-video.xsd"))
    for character in PRINTABLE:
        url = Resolver(()).normalise(f"{before}{character}b{character}")
        assert url is not None
        assert of_urls.validate(etree.fromstring(sitemap(url))), url
        assert of_videos.validate(etree.fromstring(video(url))), url
    # Else this test would show nothing.
    assert not of_urls.validate(etree.fromstring(sitemap(f"{before}[")))


def test_news_and_videos_are_written_so() -> None:
    entry = NewsEntry("https://example.com/?a[]=1", "Name", "en", "2024-05-06", "Title")
    assert b"<loc>https://example.com/?a%5B%5D=1</loc>" in serialise(entry)
    found = re.findall("_loc>([^<]+)</", video("https://example.com/?v[]=1").decode())
    assert found == ["https://example.com/?v%5B%5D=1"] * 3


def test_a_video_is_not_its_own_page_in_any_spelling() -> None:
    page = "https://example.com/?v[]=1"
    own = Video("https://example.com/t.jpg", "Title", "Words", content_loc=page)
    assert serialise_video(own, page) == serialise_video(own, rfc3986(page)) == ""
