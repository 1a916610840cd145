"""Reader of sitemaps into plain values, for tests and for comparisons of sets."""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from sitemap_crawler.exceptions import UnreadableError
from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Issue
from sitemap_crawler.validation.reading.detect import head_of, looks_like_text
from sitemap_crawler.validation.reading.reader import Node, read_lines, read_nodes
from sitemap_crawler.validation.reading.stream import Stream
from sitemap_crawler.validation.rules.feeds import link_of, url_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

T = TypeVar("T")
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """One URL of a sitemap, or one sitemap of an index."""

    loc: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None
    images: tuple[str, ...] = ()
    videos: tuple[Pairs, ...] = ()
    """Pairs (element, text) of each video, in document order."""
    alternates: Pairs = ()
    """Pairs (hreflang, href)."""
    news: Pairs = ()
    """Pairs (element, text), in document order."""


def read_entries(data: bytes) -> list[ReadEntry]:
    """Return the entries of a sitemap, index, text sitemap or feed, which may be gzip-compressed.

    Raises ValueError if the data cannot be read.
    """
    pieces = iter(Stream(io.BytesIO(data)))
    try:
        head = head_of(pieces)
        content = chain([head], pieces)
        if looks_like_text(head, ""):
            return [ReadEntry(text) for _, text in _without_issues(read_lines(content)) if text]
        nodes = list(_without_issues(read_nodes(content)))
    except UnreadableError as exc:
        raise ValueError(f"the sitemap {exc.message}") from None
    root, entries = nodes[0], nodes[1:]
    if root.name in {"rss", "feed"}:
        links = [link_of(node) for node in entries if node.name in {"item", "entry"}]
        return [ReadEntry(url_of(link)) for link in links if link]
    return [_entry(node) for node in entries]


def _without_issues(items: Iterable[T | Issue]) -> Iterator[T]:
    """Yield the items without warnings. Raises ValueError for an error."""
    for item in items:
        if not isinstance(item, Issue):
            yield item
        elif item.severity == "error":
            raise ValueError(f"the sitemap {item.message} (line {item.line})")


def _entry(node: Node) -> ReadEntry:
    core = {child.name: child.value for child in node.children if child.namespace == node.namespace}
    return ReadEntry(
        core.get("loc", ""),
        core.get("lastmod"),
        core.get("changefreq"),
        core.get("priority"),
        images=tuple(
            part.value for image in _in(node, protocol.IMAGE, "image") for part in _in(image, protocol.IMAGE, "loc")
        ),
        videos=tuple(_pairs(video) for video in _in(node, protocol.VIDEO, "video")),
        alternates=tuple(
            (link.attributes.get("hreflang", ""), link.attributes.get("href", ""))
            for link in _in(node, protocol.XHTML, "link")
        ),
        news=tuple(pair for article in _in(node, protocol.NEWS, "news") for pair in _pairs(article)),
    )


def _in(node: Node, namespace: str, name: str) -> Iterator[Node]:
    return (child for child in node.children if child.namespace == namespace and child.name == name)


def _pairs(node: Node) -> Pairs:
    """Return name and text of the leaves below `node`, as a flat list: `publication` has children of its own."""
    pairs: list[tuple[str, str]] = []
    for child in node.children:
        pairs.extend(_pairs(child) if child.children else [(child.name, child.value)])
    return tuple(pairs)
