"""The owner of live files: the site whose pages they list. A site does not replace the files of another one.

The files themselves name their owner, not a record next to them. So the answer is right for another user's files, on
another machine, after a loss of the inventory, and after the inventory or the output directory has moved.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from sitemap_crawler.config.types import Format
from sitemap_crawler.inventory.publications import Publications
from sitemap_crawler.sitemap.escaping import rfc3986, unescape
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.urls.normalise import Resolver, directory_of
from sitemap_crawler.urls.spelling import without_variant
from sitemap_crawler.utils.directories import Directory, open_destination
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from sitemap_crawler.config.options import Options

HEAD_BYTES = 1 << 16
"""Bytes of a live file in which URLs are searched: some hundred URLs. No file of ours has one outside its scope."""
MAX_URL_BYTES = 1 << 13
"""Bytes of a live file that are read again with the next piece, because they may be a part of a URL."""
_COMPLETE = frozenset((Format.XML, Format.TXT))
"""Formats that list all pages of a site. A feed has the latest ones, and the first page list a part of them."""
_LISTED_URL = {
    Format.XML: re.compile(rb"<loc>\s*+(?:<!\[CDATA\[)?+\s*+(https?://[^<\]\s]++)[<\]\s]"),
    Format.TXT: re.compile(rb"^(https?://\S++)\s", re.MULTILINE),
    Format.RSS: re.compile(rb"<link>\s*+(https?://[^<\s]++)\s*+</link>"),
    # Only the links of the list itself: the frame of a site has links to other sites.
    Format.HTML: re.compile(rb'<li class="sitemap-page"><a href="(https?://[^"]++)"'),
    Format.ATOM: re.compile(rb'<link rel="alternate" href="(https?://[^"]++)"'),
}


def owner_problem(
    connection: Connection | None,
    options: Options,
    *,
    directory: Path,
    sitemap_url: str,
    listed: Callable[[], Iterable[str]] | None = None,
) -> str | None:
    """Return why the set of `sitemap_url` may not replace the files in `directory`: they list pages of another site.

    The http, https, www and apex addresses of a site are one site. Files that the inventory has published, with the
    same bytes, are its own although the addresses of the site have changed since. `connection` is None before there is
    an inventory. A file that is missing, cannot be read or names no URL has no owner.

    A file that lists pages of one lower directory only is that of a narrower site, unless the inventory has published
    into `directory`, or the new set has no other pages either. `listed` returns the first and the last URL of the new
    set; None before they are known.
    """
    if options.take_over:
        return None
    names = Names.for_sitemap(sitemap_url)
    own = _comparable(directory_of(sitemap_url))
    entries = [(form, names.entry if form is Format.XML else names.other_format(str(form))) for form in options.format]
    # A set may have lost its entry file, or never have had one.
    shards = [(Format.XML, names.shard(1))] if Format.XML in options.format and not names.gzip else []
    for form, entry in (*entries, *shards):
        try:
            parent, name = open_destination(directory / entry)
            with parent:
                problem = None
                if url := _foreign_url(parent, name, form, own=own):
                    first = names.entry if form is Format.XML else entry
                    if not (connection and _has_published(connection, directory, first, parent, name, as_name=entry)):
                        problem = f"is of another site, it lists {printable(url)}"
                elif (form, entry) in shards:
                    continue
                elif listed and connection and not Publications(connection, directory, entry).files():
                    lower = _lower_directory(parent, name, form, own=own)
                    if lower and not all(_comparable(url).startswith(lower) for url in listed()):
                        problem = f"is of a narrower site, it lists only pages below {printable(lower)}"
        except OSError:
            continue
        if problem is not None:
            return (
                f"{directory / entry} {problem}: give this site another -o, or --take-over to replace the files; "
                "they are untouched"
            )
    return None


def _foreign_url(directory: Directory, name: str, form: Format, *, own: str) -> str | None:
    """Return the first URL in the file that is outside `own`, the directory of our own entry file, or None."""
    with directory.open_file(name) as file:
        head = file.read(HEAD_BYTES)
    return next((url for url in _listed_urls(head, form) if not _comparable(url).startswith(own)), None)


def _lower_directory(directory: Directory, name: str, form: Format, *, own: str) -> str | None:
    """Return the directory below `own` that has all URLs of the file; None if there is none."""
    if form not in _COMPLETE:
        return None
    common, rest = "", b""
    with directory.open_file(name) as file:
        while piece := file.read(HEAD_BYTES):
            data = rest + piece
            for url in map(_comparable, _listed_urls(data, form)):
                path = url.partition("?")[0]
                common = common or path[: path.rindex("/") + 1]
                while not path.startswith(common) and len(common) > len(own):
                    common = common[: common.rindex("/", 0, -1) + 1]
                if len(common) <= len(own):
                    return None
            rest = data[-MAX_URL_BYTES:]
    return common or None


def _comparable(url: str) -> str:
    return without_variant(rfc3986(url))


def _listed_urls(head: bytes, form: Format) -> Iterator[str]:
    normalise = Resolver(()).normalise
    for match in _LISTED_URL[form].finditer(head):
        text = match[1].decode(errors="replace")
        url = normalise(text if form is Format.TXT else unescape(text))
        if url is not None:
            yield url


def _has_published(
    connection: Connection, output: Path, entry: str, directory: Directory, name: str, *, as_name: str
) -> bool:
    """Return whether the file has the bytes that were published in `output` as `as_name` of the set `entry`."""
    recorded = {file.name: file.sha256 for file in Publications(connection, output, entry).files()}
    with directory.open_file(name) as file:
        return recorded.get(as_name) == hashlib.file_digest(file, "sha256").hexdigest()
