"""The entries of checked files, read again: place, URL, lastmod and media of each one, without a check."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.exceptions import UnreadableError
from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import FEEDS, Issue
from sitemap_crawler.validation.keys import hash_of
from sitemap_crawler.validation.reading.detect import head_of
from sitemap_crawler.validation.reading.reader import Node, read_lines, read_nodes
from sitemap_crawler.validation.reading.sources import open_file
from sitemap_crawler.validation.reading.stream import Stream
from sitemap_crawler.validation.results import MAX_ITEMS
from sitemap_crawler.validation.rules.feeds import link_of, url_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

    from sitemap_crawler.validation.findings import Kind

_MEDIA = (
    (protocol.IMAGE, "image", ("loc",)),
    (protocol.VIDEO, "video", ("thumbnail_loc", "content_loc")),
)
"""Namespace, element, and the children that name a file."""
# URLs whose key is seen without parsing them.
_NORMAL = re.compile(r"https?://(?:www\.)?([a-z0-9.-]++(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*+)++)/?+")


class ListedUrl(NamedTuple):
    """A URL that a sitemap lists."""

    file: str
    line: int | None
    loc: str
    """Text of the sitemap, which may be no valid URL."""
    lastmod: str | None


class Listing(NamedTuple):
    """An entry of a file."""

    line: int
    loc: str
    lastmod: str | None
    node: Node | None
    """The element; None for a line of a text sitemap."""


def listings(path: Path, kind: Kind) -> Iterator[Listing]:
    """Yield the entries of a file of this kind, up to the place where it cannot be read any further."""
    return islice(_listings(path, kind), MAX_ITEMS)


def listings_with_keys(path: Path, kind: Kind, keys: Container[int]) -> Iterator[Listing]:
    """Yield the entries of a file whose key may have one of these hashes: see `keys`."""
    for listing in listings(path, kind):
        normal = _NORMAL.fullmatch(listing.loc)
        if normal is None or hash_of(normal[1]) in keys:
            yield listing


def media_of(listing: Listing) -> Iterator[tuple[int, str]]:
    """Yield line and URL of the files of the images and videos of an entry."""
    for medium in listing.node.children if listing.node else ():
        for namespace, element, parts in _MEDIA:
            if (medium.namespace, medium.name) == (namespace, element):
                for part in medium.children:
                    if part.name in parts and part.value:
                        yield part.line, part.value


def _listings(path: Path, kind: Kind) -> Iterator[Listing]:
    try:
        with open_file(path) as source:
            pieces = iter(Stream(source))
            content = chain([head_of(pieces)], pieces)
            if kind == "text":
                for line in read_lines(content):
                    if not isinstance(line, Issue) and line[1]:
                        yield Listing(line[0], line[1], None, None)
            elif kind != "unknown":
                nodes = (item for item in read_nodes(content) if isinstance(item, Node))
                root = next(nodes, None)
                for node in nodes if root else ():
                    if kind in FEEDS:
                        if (link := link_of(node)) is not None and node.name in {"item", "entry"}:
                            yield Listing(link.line, url_of(link), None, node)
                    elif root and node.namespace == root.namespace:
                        yield _listing(node)
    except UnreadableError:
        return  # reported when the file was checked


def _listing(node: Node) -> Listing:
    parts: dict[str, Node] = {}
    for child in node.children:
        if child.namespace == node.namespace:
            parts.setdefault(child.name, child)
    loc, lastmod = parts.get("loc"), parts.get("lastmod")
    return Listing(loc.line if loc else node.line, loc.value if loc else "", lastmod.value if lastmod else None, node)
