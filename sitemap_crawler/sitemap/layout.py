"""Assignment of entries to shards. An entry stays in its shard, so that a new page rewrites one shard only.

A live shard holds the URLs from its first one up to the first one of the next live shard. Entries that do not fit any
more go to the next live shard if it has room, else to a shard with a new number. So no live shard begins later than
before, and pages move between live shards in one direction only. Without live shards, each shard is filled to its
limits in turn.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.escaping import unescape
from sitemap_crawler.sitemap.index import read_index
from sitemap_crawler.sitemap.limits import MAX_URLS
from sitemap_crawler.sitemap.shard import GZIP_WBITS
from sitemap_crawler.utils.directories import Directory, open_directory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from sitemap_crawler.sitemap.names import Names
    from sitemap_crawler.sitemap.records import PublishedFile

_HEAD_BYTES = 1 << 16
"""Bytes of a shard that are read to find its first URL."""
_FIRST_LOC = re.compile(rb"<url><loc>([^<]*)</loc>")


class LiveShard(NamedTuple):
    """A shard that is live now."""

    number: int
    first: str
    """First URL in the file."""
    urls: int
    size: int
    """Uncompressed bytes."""
    section: str = ""


def read_live_set(directory: Path, names: Names, recorded: Mapping[str, PublishedFile]) -> dict[str, LiveShard]:
    """Return the live shards by name. After a killed publication they differ from the recorded files."""
    live: dict[str, LiveShard] = {}
    if not recorded:
        return live
    with open_directory(directory) as opened:
        for name in _live_names(opened, names, recorded):
            section, number = names.section_and_number(name) or ("", 0)
            if number and name == names.shard(number, section):
                # A shard without a record counts as full, so that it takes no page from another shard.
                urls = recorded[name].urls if name in recorded else MAX_URLS
                shard = read_live_shard(opened, name, number=number, urls=urls, gzip=names.gzip, section=section)
                if shard is not None:
                    live[name] = shard
    return live


def _live_names(directory: Directory, names: Names, recorded: Iterable[str]) -> Iterable[str]:
    try:
        with directory.open_linked_file(names.entry) as file:
            return map(names.name, read_index(file))
    except (FileNotFoundError, FileExistsError):
        return recorded


def read_live_shard(
    directory: Directory, name: str, *, number: int, urls: int, gzip: bool, section: str = ""
) -> LiveShard | None:
    """Return the shard with the first URL and the size of its file; None for a file that is missing or not ours."""
    try:
        with directory.open_linked_file(name) as file:
            head = file.read(_HEAD_BYTES)
            size = file.seek(0, 2)
            if gzip:
                head = zlib.decompressobj(GZIP_WBITS).decompress(head, _HEAD_BYTES)
                file.seek(max(size - 4, 0))
                # https://www.rfc-editor.org/rfc/rfc1952#page-5, ISIZE
                size = int.from_bytes(file.read(4), "little")
    except (FileNotFoundError, FileExistsError, zlib.error):
        return None
    match = _FIRST_LOC.search(head)
    if match is None:
        return None
    return LiveShard(number, unescape(match[1].decode(errors="replace")), urls, size, section)


class Layout:
    """Assignment of the entries of one section, in their order, to the numbers of shards."""

    def __init__(
        self, live: Iterable[LiveShard], *, max_urls: int, max_bytes: int, taken: Collection[int] = ()
    ) -> None:
        """`taken` are further numbers that no new shard may have."""
        self._following = deque(sorted(live, key=lambda shard: shard.first))
        self._max_urls = max_urls
        self._max_bytes = max_bytes
        used = {shard.number for shard in self._following}.union(taken)
        self._new_numbers = (number for number in count(1) if number not in used)

    def begins(self, loc: str) -> bool:
        """Return whether the next live shard begins at or before `loc`."""
        return bool(self._following) and loc >= self._following[0].first

    def is_next(self, number: int) -> bool:
        """Return whether the next live shard has this number: no entry was assigned to it or to a later one."""
        return bool(self._following) and self._following[0].number == number

    def next_number(self, loc: str, size: int) -> int:
        """Return the number of the shard that begins with this entry of `size` bytes. Empty live shards are skipped."""
        number = None
        while self.begins(loc):
            number = self._following.popleft().number
        if number is None and self._following and self._has_room(self._following[0], size):
            number = self._following.popleft().number
        return next(self._new_numbers) if number is None else number

    def _has_room(self, shard: LiveShard, size: int) -> bool:
        return shard.urls < self._max_urls and shard.size + size <= self._max_bytes
