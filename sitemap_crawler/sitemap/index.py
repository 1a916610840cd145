"""A sitemap index: the entry file of a set that needs more than one shard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from sitemap_crawler.sitemap.entry import escape, unescape
from sitemap_crawler.sitemap.limits import MAX_BYTES, MAX_SITEMAPS, SITEMAP_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{SITEMAP_NAMESPACE}">\n'
_LOC = re.compile(rb"<sitemap><loc>([^<]*)</loc>")
_TAIL = "</sitemapindex>\n"


class IndexOverflowError(Exception):
    """More sitemaps than one index may list; the message is one line."""


def serialise_index(rows: Sequence[tuple[str, str]]) -> bytes:
    """The index of (loc, lastmod) rows, in their order. Raises IndexOverflowError."""
    if len(rows) > MAX_SITEMAPS:
        raise IndexOverflowError(
            f"an index lists at most {MAX_SITEMAPS} sitemaps, not {len(rows)}: raise max-urls or max-bytes"
        )
    sitemaps = [
        f"<sitemap><loc>{escape(loc)}</loc><lastmod>{escape(lastmod)}</lastmod></sitemap>\n" for loc, lastmod in rows
    ]
    data = "".join([_HEAD, *sitemaps, _TAIL]).encode()
    if len(data) > MAX_BYTES:
        raise IndexOverflowError(
            f"an index has at most {MAX_BYTES} bytes, not {len(data)}: raise max-urls or max-bytes"
        )
    return data


def read_index(file: BinaryIO) -> list[str]:
    """The locs of an index that `serialise_index` wrote; of any other file no more than its head is read."""
    head = file.read(len(_HEAD))
    if head != _HEAD.encode():
        return []
    return [unescape(loc.decode(errors="replace")) for loc in _LOC.findall(file.read(MAX_BYTES))]
