"""Detection of the kind of a sitemap file by its content. Text sitemaps are also detected by name."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.reading.reader import Node, read_xml
from sitemap_crawler.validation.reading.stream import Readable, Stream
from sitemap_crawler.validation.values import Url, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import Kind

ROOTS: dict[str, Kind] = {"urlset": "urlset", "sitemapindex": "sitemapindex", "rss": "rss", "feed": "atom"}
_HEAD_BYTES = 1_024
"""Number of leading bytes that are enough to detect the kind of a file."""
_HTML = re.compile(rb"(?:<\?xml[^>]*+>\s*+)?+(?:<!doctype\s+html|<html)[\s>]", re.IGNORECASE)
_LISTED = re.compile(rb"(?:^|<loc>)\s{0,100}(https?://[^/?#<\s]{1,300})", re.IGNORECASE | re.MULTILINE)
_TEXT = re.compile(rb"https?://", re.IGNORECASE)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")

_OTHER_FORMATS = {
    b"\x1f\x8b": "compressed twice by gzip",
    b"PK\x03\x04": "a ZIP archive, not a sitemap",
    b"BZh": "compressed by bzip2, not by gzip",
    b"\xfd7zXZ": "compressed by xz, not by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd, not by gzip",
    b"%PDF-": "a PDF document, not a sitemap",
    b"{": "JSON, not a sitemap",
    b"[": "JSON, not a sitemap",
}
"""Names of formats by their beginning. The outer gzip of a file has been removed."""


def head_of(pieces: Iterator[bytes]) -> bytes:
    """Return the first bytes of a file: enough to detect its kind, even if the pieces are small."""
    head = b""
    while len(head) < _HEAD_BYTES and (piece := next(pieces, b"")):
        head += piece
    return head


def common_origin(head: bytes) -> tuple[str, bool]:
    """Return the origin of most URLs in the first bytes of a sitemap, of the first one if none is more frequent.

    Return also whether it is that of several URLs. The origin is "" if there is no URL.
    """
    counts = Counter(_LISTED.findall(head))
    if not counts:
        return "", False
    [(prefix, number)] = counts.most_common(1)
    url = parse_url(f"{prefix.decode('ascii', 'replace')}/")
    return (url.origin, number > 1) if isinstance(url, Url) else ("", False)


def looks_like_text(head: bytes, name: str) -> bool:
    """Return whether a file is a text sitemap: not XML, and named .txt or beginning with a URL."""
    content = _content(head)
    if content.startswith(b"<"):
        return False
    return has_text_name(name) or _TEXT.match(content) is not None


def looks_like_xml(head: bytes) -> bool:
    """Return whether a file is XML. White space only counts as XML, so that the parser reports the error."""
    content = _content(head)
    return not content or (content.startswith(b"<") and not looks_like_html(head))


def looks_like_html(head: bytes) -> bool:
    """Return whether a file begins as an HTML page."""
    return _HTML.match(_content(head)) is not None


def other_format(head: bytes) -> str:
    """Return what a file is that is neither XML nor a list of URLs."""
    for beginning, name in _OTHER_FORMATS.items():
        if head.startswith(beginning):
            return name
    return "neither XML nor a list of URLs"


def without_query(name: str) -> str:
    """Return a file name or URL without the query of its URL, so that it ends in its suffix."""
    return name.partition("?")[0]


def has_text_name(name: str) -> bool:
    """Return whether a file is named as a text sitemap must be, or has no name at all (standard input)."""
    return name == "-" or without_query(name).lower().removesuffix(".gz").endswith(".txt")


def _content(head: bytes) -> bytes:
    for mark in _BYTE_ORDER_MARKS:
        head = head.removeprefix(mark)
    return head.lstrip(b" \t\r\n\0")


def sniff(source: Readable, name: str) -> Kind | None:
    """Return the kind of a file by its beginning; None if the beginning is damaged. Raises UnreadableError."""
    pieces = iter(Stream(source))
    head = head_of(pieces)
    if looks_like_text(head, name):
        return "text" if _TEXT.match(_content(head)) else "unknown"
    if head and not looks_like_xml(head):
        return "unknown"
    for item in read_xml(chain([head], pieces)):
        if isinstance(item, Node):
            return ROOTS.get(item.name, "unknown")
    return None


def namespace_problem(kind: Kind, namespace: str) -> str | None:
    """Return the problem with the namespace of the root element; None if it is correct."""
    if kind == "rss":
        return None
    expected = (protocol.ATOM, protocol.ATOM_03) if kind == "atom" else (protocol.CORE,)
    if namespace in expected:
        return None
    if not namespace:
        return f"the root element has no namespace, expected {expected[0]}"
    if namespace == protocol.CORE.replace("http:", "https:"):
        return f"the namespace is written with https, expected {expected[0]}"
    return f"the namespace is {namespace}, expected {expected[0]}"
