"""Access logs of web servers, in the common or combined format → the addresses of pages that visitors have seen.

A visit is a GET or HEAD request of no robot that was answered with 200 or 304. Formats:
https://httpd.apache.org/docs/2.4/logs.html#accesslog. The name of the virtual host may come first. Nothing but host,
address and number is kept: the rest of a line is about persons.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.lines import Lines
from sitemap_crawler.extract.url_lists import is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_METHODS = frozenset(("GET", "HEAD"))
_SEEN = frozenset(("200", "304"))
_ROBOTS = re.compile(
    r"bot\b|bot[/_-]|crawl|spider|slurp|archiver|facebookexternalhit|mediapartners|feedfetcher|monitor|uptime|"
    r"headless|lighthouse|curl/|wget/|python-|python/|go-http|java/|okhttp|libwww|httpclient|scrapy|preview|scan",
    re.IGNORECASE,
)
"""Names of programs in the User-Agent header: crawlers, libraries, monitors and previews."""
_NO_PAGES = frozenset((
    "7z", "avi", "avif", "bmp", "bz2", "css", "csv", "dmg", "doc", "docx", "eot", "exe", "flac", "gif", "gz", "ico",
    "jpeg", "jpg", "js", "json", "m4a", "m4v", "map", "mjs", "mov", "mp3", "mp4", "mpeg", "msi", "ogg", "ogv",
    "otf", "png", "ppt", "pptx", "rar", "rss", "svg", "tar", "tgz", "tif", "tiff", "ttf", "txt", "wasm", "wav",
    "webm", "webmanifest", "webp", "woff", "woff2", "xls", "xlsx", "xml", "zip",
))  # fmt: skip
"""Endings of files that are no pages. They are most of the lines of a log."""


class Visit(NamedTuple):
    """Host and target of a request."""

    host: str | None
    """The virtual host, without its port; None if the log does not name it."""
    target: str
    """A path with the query, or a URL."""


class AccessLog:
    """Iterator over the visits of a log, as one counter for each piece of the file."""

    def __init__(self, pieces: Iterable[bytes], *, max_lines: int, max_bytes: int) -> None:
        self.lines = Lines(pieces, max_lines=max_lines, max_bytes=max_bytes)
        self.unreadable = 0
        """Number of lines that are not of these formats."""
        self.first_unreadable = 0
        """Number of the first of them in the file."""

    def __iter__(self) -> Iterator[Counter[Visit]]:
        for lines in self.lines:
            visits: Counter[Visit] = Counter()
            for index, line in enumerate(lines):
                if not line.strip():
                    continue
                visit, is_known = _visit(line)
                if visit is not None:
                    visits[visit] += 1
                elif not is_known:
                    self.unreadable += 1
                    self.first_unreadable = self.first_unreadable or self.lines.number - len(lines) + index + 1
            yield visits


def _visit(line: str) -> tuple[Visit | None, bool]:
    """Return the visit that a line is, if it is one, and whether the line has a known format."""
    head, *quoted = line.split('"')
    if len(quoted) < 2 or "[" not in head:
        return None, False
    status = quoted[1].split(maxsplit=1)[:1]
    if not status or len(status[0]) != 3 or not status[0].isdigit():
        # A quotation mark in the request is escaped by servers, and no browser sends one.
        return None, "\\" in line
    method, _, rest = quoted[0].partition(" ")
    target = rest.partition(" ")[0]
    if method not in _METHODS or status[0] not in _SEEN or not target or not is_text(target):
        return None, True
    if not target.startswith(("/", "http://", "https://")) or _is_no_page(target):
        return None, True
    # The user agent is the second quotation after the request; it may have escaped quotation marks itself.
    if any(map(_ROBOTS.search, quoted[4:])):
        return None, True
    return Visit(_host(head), target), True


def _host(head: str) -> str | None:
    """Return the virtual host before the address of the client, whose identity is `-` nearly always."""
    words = head.partition("[")[0].split()
    if len(words) < 4 or words[1] == "-" or words[2] != "-":
        return None
    return words[0].rpartition(":")[0] if words[0].rpartition(":")[2].isdigit() else words[0]


def _is_no_page(target: str) -> bool:
    name = target.partition("?")[0].rpartition("/")[2]
    return "." in name and name.rpartition(".")[2].lower() in _NO_PAGES
