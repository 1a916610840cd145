"""A sitemap that is a plain list of URLs, https://www.sitemaps.org/protocol.html#otherformats"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from sitemap_crawler.sitemap.escaping import rfc3986
from sitemap_crawler.sitemap.limits import MAX_LOC
from sitemap_crawler.sitemap.shard import Frame, Shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Not even a byte order mark: "the text file should contain nothing other than the list of URLs".
TEXT = Frame(b"", b"")


class TextFile(NamedTuple):
    """A finalised file; number 0 is `map.txt`, number 1 is `map-1.txt`, what map.txt had no room for."""

    number: int
    first: str
    shard: Shard


def serialise(loc: str) -> bytes:
    """The URL's line; nothing for what is no URL, or too long."""
    url = rfc3986(loc)
    return f"{url}\n".encode() if 0 < len(url) <= MAX_LOC else b""


def text_files(
    locs: Iterable[str], create: Callable[[int], BinaryIO], *, max_urls: int, max_bytes: int
) -> Iterator[TextFile]:
    """Stream `locs` into the files that `create` opens by number; yield each when it is finalised.

    No file is created without a URL. The current file is the only one that is open, and only a buffer of it is in
    memory. When the caller stops early, it stays open, and is `create`'s to close.
    """
    current: TextFile | None = None
    number = 0
    for loc in locs:
        line = serialise(loc)
        if not line or len(line) > max_bytes:
            continue
        if current is None or not current.shard.fits(len(line)):
            if current is not None:
                current.shard.finalise()
                yield current
            shard = Shard(create(number), max_urls=max_urls, max_bytes=max_bytes, gzip=False, frame=TEXT)
            current = TextFile(number, loc, shard)
            number += 1
        current.shard.add(line)
    if current is not None:
        current.shard.finalise()
        yield current
