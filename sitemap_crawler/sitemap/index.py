"""The sitemap index: the entry file of a set with more than one shard."""

from __future__ import annotations

import re
from datetime import UTC
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from sitemap_crawler.exceptions import IndexOverflowError
from sitemap_crawler.sitemap.escaping import escape, unescape
from sitemap_crawler.sitemap.limits import MAX_BYTES, MAX_SITEMAPS, SITEMAP_NAMESPACE
from sitemap_crawler.sitemap.names import NEWS_SECTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{SITEMAP_NAMESPACE}">\n'
_LOC = re.compile(rb"<sitemap><loc>([^<]*)</loc>")
_TAIL = "</sitemapindex>\n"


class IndexedFile(NamedTuple):
    """A file that an index lists."""

    section: str
    number: int
    first: str
    """First URL in the file."""
    url: str
    """Public URL of the file."""
    modified: datetime
    """Time, with a zone, when the bytes of the file changed."""


def set_index(files: Iterable[IndexedFile]) -> bytes:
    """Return the index of a set. Raises IndexOverflowError.

    The default section comes first, then the other sections by name, then the news. The shards of a section are in the
    order of their pages. Pages move to later shards only, so a client that reads the shards in turn misses no page.
    Articles move to the next number as newer ones come, so the news are in the order of their numbers.
    """
    in_order = sorted(files, key=_index_rank)
    return serialise_index([(file.url, f"{file.modified.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}") for file in in_order])


def section_rank(section: str) -> tuple[bool, str]:
    """Return the sort key of a section: by name, with the news last."""
    return section == NEWS_SECTION, section


def _index_rank(file: IndexedFile) -> tuple[tuple[bool, str], str, int]:
    return section_rank(file.section), "" if file.section == NEWS_SECTION else file.first, file.number


def serialise_index(rows: Sequence[tuple[str, str]]) -> bytes:
    """Return the index of (loc, lastmod) rows, in their order. Raises IndexOverflowError."""
    if len(rows) > MAX_SITEMAPS:
        raise IndexOverflowError(
            f"an index lists at most {MAX_SITEMAPS} sitemaps, not {len(rows)}: raise --max-urls or --max-bytes"
        )
    sitemaps = [
        f"<sitemap><loc>{escape(loc)}</loc><lastmod>{escape(lastmod)}</lastmod></sitemap>\n" for loc, lastmod in rows
    ]
    data = "".join([_HEAD, *sitemaps, _TAIL]).encode()
    if len(data) > MAX_BYTES:
        raise IndexOverflowError(
            f"an index has at most {MAX_BYTES} bytes, not {len(data)}: raise --max-urls or --max-bytes"
        )
    return data


def read_index(file: BinaryIO) -> list[str]:
    """Return the locs of an index that `serialise_index` wrote; [] for any other file, without reading its body."""
    head = file.read(len(_HEAD))
    if head != _HEAD.encode():
        return []
    return [unescape(loc.decode(errors="replace")) for loc in _LOC.findall(file.read(MAX_BYTES))]
