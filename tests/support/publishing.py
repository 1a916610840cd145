"""Writing of sitemap files in tests, interruption of it, and a reader of the files that follows the entry file."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lxml import etree

from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.records import Publication, Target

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
BASE = "https://example.com/d/"


def target(directory: Path, *, max_urls: int = 2, max_bytes: int = 50_000, name: str = "map.xml", compress=False):
    return Target(directory, BASE + name, max_urls=max_urls, max_bytes=max_bytes, gzip=compress)


def entries(letters: str, lastmod: str | None = None) -> list[Entry]:
    """Return one entry for each letter, in the order of the letters."""
    return [Entry(BASE + letter, lastmod) for letter in letters]


def parse(path: Path) -> etree._Element:
    data = path.read_bytes()
    return etree.fromstring(gzip.decompress(data) if path.suffix == ".gz" else data)


def pages(path: Path) -> str:
    """Return the letters that one sitemap lists. Raises etree.XMLSyntaxError for an incomplete file."""
    root = parse(path)
    assert root.tag == f"{NAMESPACE}urlset"
    return "".join(loc.text.removeprefix(BASE) for loc in root.iter(f"{NAMESPACE}loc"))


def index(path: Path) -> dict[str, str]:
    """Return the file names in an index with their lastmod."""
    root = parse(path)
    assert root.tag == f"{NAMESPACE}sitemapindex"
    rows = ((row.findtext(f"{NAMESPACE}loc"), row.findtext(f"{NAMESPACE}lastmod")) for row in root)
    return {unquote(loc.removeprefix(BASE)): lastmod for loc, lastmod in rows}


def live(directory: Path, name: str = "map.xml") -> dict[str, str]:
    """Follow the entry file like a search engine and return the pages of each file that it leads to."""
    if parse(directory / name).tag == f"{NAMESPACE}urlset":
        return {name: pages(directory / name)}
    return {shard: pages(directory / shard) for shard in index(directory / name)}


def listed(directory: Path) -> str:
    return "".join(sorted("".join(live(directory).values())))


def on_disk(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def state(directory: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return bytes, time and inode of every file."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in directory.iterdir()}


def written(publication: Publication) -> set[str]:
    return {file.name for file in publication.files if file.written}


class Stopped(BaseException):
    """Stand-in for KeyboardInterrupt, to which pytest would react itself."""


def stop_at(patch, name: str, number: int, *, killed: bool) -> list[str]:
    """Make the n-th call of a function of os, counted from 0, the last one. A killed process removes no files either.

    Return the list of calls, which grows with each call.
    """
    calls: list[str] = []
    functions = {function: getattr(os, function) for function in (name, "unlink")}

    def call(*arguments, **keywords):
        calls.append(name)
        if len(calls) == number + 1:
            if killed:
                patch.setattr(os, "unlink", lambda *_, **__: None)
            raise Stopped
        return functions[name](*arguments, **keywords)

    patch.setattr(os, name, call)
    return calls
