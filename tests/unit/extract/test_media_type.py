from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.media_type import _stated_type, media_type
from tests.support.growth import assert_linear

HTML = b"<!DOCTYPE html><title>x</title>"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("text/html", "text/html"),
        ("text/html; charset=utf-8", "text/html"),
        (" Text/HTML ;charset=utf-8", "text/html"),
        ("application/xhtml+xml", "application/xhtml+xml"),
        ("application/pdf", "application/pdf"),
        ("text/plain", "text/plain"),
        ("image/svg+xml", "image/svg+xml"),
        ("text/plain, text/html", "text/plain"),
        ("application/vnd.ms-excel", "application/vnd.ms-excel"),
    ],
)
def test_the_header_decides_the_media_type(header, expected):
    assert media_type(header, b"%PDF-1.7") == expected
    assert media_type(header, HTML) == expected


@pytest.mark.parametrize(
    "header",
    [None, "", " ", ";", "html", "text", "text/", "/html", "text html", "text/html x", "*/*", "unknown/unknown"],
)
def test_an_unusable_header_does_not_count(header):
    assert media_type(header, HTML) == "text/html"
    assert media_type(header, b"%PDF-1.7") == "application/pdf"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<!doctype HTML>", "text/html"),
        (b"\xef\xbb\xbf \r\n\t<HTML lang=en>", "text/html"),
        (b"<html>", "text/html"),
        (b"<head><title>", "text/html"),
        (b"<body>", "text/html"),
        (b"<p>Hello", "text/html"),
        (b"<!-- generated --><html>", "text/html"),
        (b"<script src=x>", "text/html"),
        (b"<h1>Hello</h1>", "text/html"),
        (b"<br/>", "text/html"),
        (b"<meta charset=utf-8>", "text/html"),
        ("\ufeff<!doctype html>".encode("utf-16-le"), "text/html"),
        ("\ufeff<html>".encode("utf-16-be"), "text/html"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">', "text/html"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "text/html"),
        (b'<?xml version="1.0"?><rss version="2.0">', "text/xml"),
        (b'<?xml version="1.0"?><svg><desc>', "text/xml"),
        (b"%PDF-1.4\n", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"\x1f\x8b\x08\0", "application/gzip"),
        (b"PK\x03\x04", "application/zip"),
        (b"", "application/octet-stream"),
        (b"Hello, world", "application/octet-stream"),
        (b"<abbr>x", "application/octet-stream"),
        (b"<htmlx>", "application/octet-stream"),
        (b"<urlset>", "application/octet-stream"),
        (b'{"html": "<html>"}', "application/octet-stream"),
        (bytes(range(256)), "application/octet-stream"),
        (b" " * 2_000 + b"<html>", "application/octet-stream"),
    ],
)
def test_sniffing(body, expected):
    assert media_type(None, body) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("head", "part"), [("", "a"), ("", "a/"), ("", " "), ("a/b", " ")])
def test_megabytes_take_linear_time(head, part):
    def make(n):
        # A text that was read before takes no time.
        _stated_type.cache_clear()
        return head + part * n(1_000_000 // len(part))

    assert_linear(make, lambda text: media_type(text, text.encode()))


@given(st.none() | st.text(max_size=60), st.binary(max_size=100))
def test_never_raises(header, body):
    essence = media_type(header, body)
    assert essence == essence.lower()
    assert "/" in essence
