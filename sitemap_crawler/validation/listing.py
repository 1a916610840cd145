"""The URLs that a sitemap file lists, and those of its media, without a check."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Issue
from sitemap_crawler.validation.reading.detect import head_of
from sitemap_crawler.validation.reading.reader import Node, read_lines, read_nodes
from sitemap_crawler.validation.reading.stream import Readable, Stream
from sitemap_crawler.validation.rules.feeds import link_of, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.validation.findings import Kind

_MEDIA = (
    (protocol.IMAGE, "image", ("loc",)),
    (protocol.VIDEO, "video", ("thumbnail_loc", "content_loc")),
)
"""Namespace, element, and the children that name a file."""


class ListedUrl(NamedTuple):
    """A URL that a sitemap lists."""

    file: str
    line: int | None
    loc: str
    lastmod: str | None


def read_listed(name: str, kind: Kind, source: Readable) -> Iterator[ListedUrl]:
    """Yield the URLs of a file of this kind. Raises UnreadableError for a damaged file, after what could be read."""
    if kind == "text":
        pieces = iter(Stream(source))
        for line in read_lines(chain([head_of(pieces)], pieces)):
            if not isinstance(line, Issue) and line[1]:
                yield ListedUrl(name, line[0], line[1], None)
        return
    for node in _entries(source):
        if kind == "urlset":
            core = {child.name: child for child in node.children if child.namespace == node.namespace}
            if "loc" in core:
                lastmod = core["lastmod"].value if "lastmod" in core else None
                yield ListedUrl(name, core["loc"].line, core["loc"].value, lastmod)
        elif (link := link_of(node)) is not None:
            yield ListedUrl(name, link.line, url_of(link), None)


def read_media(name: str, kind: Kind, source: Readable) -> Iterator[ListedUrl]:
    """Yield the files of the images and videos that a file lists."""
    if kind != "urlset":
        return
    for node in _entries(source):
        for medium in node.children:
            for namespace, element, parts in _MEDIA:
                if (medium.namespace, medium.name) == (namespace, element):
                    for part in medium.children:
                        if part.name in parts and part.value:
                            yield ListedUrl(name, part.line, part.value, None)


def _entries(source: Readable) -> Iterator[Node]:
    nodes = (item for item in read_nodes(iter(Stream(source))) if isinstance(item, Node))
    next(nodes, None)  # the root
    yield from nodes
