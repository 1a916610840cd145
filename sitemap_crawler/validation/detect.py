"""What kind of sitemap a file is, told by its content; only text is known by its name too."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.reader import Node, read_xml
from sitemap_crawler.validation.stream import Readable, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import Kind

ROOTS: dict[str, Kind] = {"urlset": "urlset", "sitemapindex": "sitemapindex", "rss": "rss", "feed": "atom"}
_HEAD = 1_024  # bytes that tell XML from text
_HTML = re.compile(rb"(?:<!doctype\s+html|<html)[\s>]", re.IGNORECASE)
_TEXT = re.compile(rb"https?://", re.IGNORECASE)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")


def head_of(pieces: Iterator[bytes]) -> bytes:
    """The first bytes, enough to tell what the file is however small the pieces are."""
    head = b""
    while len(head) < _HEAD and (piece := next(pieces, b"")):
        head += piece
    return head


def looks_like_text(head: bytes, name: str) -> bool:
    content = _content(head)
    if content.startswith(b"<"):
        return False
    return bare_name(name).removesuffix(".gz").endswith(".txt") or _TEXT.match(content) is not None


def looks_like_xml(head: bytes) -> bool:
    """A file that begins with nothing but white space counts: the parser says what it lacks."""
    content = _content(head)
    return not content or (content.startswith(b"<") and not looks_like_html(head))


def looks_like_html(head: bytes) -> bool:
    return _HTML.match(_content(head)) is not None


def bare_name(name: str) -> str:
    """A name to be judged by its suffix: a URL's query is no part of it."""
    return name.partition("?")[0].lower()


def _content(head: bytes) -> bytes:
    for mark in _BYTE_ORDER_MARKS:
        head = head.removeprefix(mark)
    return head.lstrip(b" \t\r\n\0")


def sniff(source: Readable, name: str) -> Kind | None:
    """What a file claims to be; None when its beginning is damaged. Raises `UnreadableError`."""
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
    if kind == "rss":
        return None
    wanted = (protocol.ATOM, protocol.ATOM_03) if kind == "atom" else (protocol.CORE,)
    if namespace in wanted:
        return None
    if not namespace:
        return f'the root element has no namespace; add xmlns="{wanted[0]}"'
    if namespace == protocol.CORE.replace("http:", "https:"):
        return f"the namespace is written with https; its name is {wanted[0]}, with http"
    return f"the namespace is {namespace}, it must be {wanted[0]}"
