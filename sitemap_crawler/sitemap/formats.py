"""Text sitemaps, feeds and the page list next to the XML. Each is a publication of its own.

No index names the files of a text sitemap or of a page list, so they do not all change at the same instant. Each file
is always complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.exceptions import NothingToPublishError
from sitemap_crawler.sitemap.escaping import rfc3986
from sitemap_crawler.sitemap.limits import MAX_LOC
from sitemap_crawler.sitemap.names import PAGE_LIST_SECTION, TEXT_SECTION, Names
from sitemap_crawler.sitemap.records import Publication, Records, StagedFile
from sitemap_crawler.sitemap.shard import Frame, Shard
from sitemap_crawler.sitemap.stage import Stager
from sitemap_crawler.utils.replace import Staging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime
    from typing import BinaryIO

    from sitemap_crawler.sitemap.names import FeedEnding
    from sitemap_crawler.sitemap.records import PublishedFile, Target
    from sitemap_crawler.utils.replace import NewFile

    Announce = Callable[[Sequence[PublishedFile]], None]


TEXT_FRAME = Frame(b"", b"")
"""No byte order mark either: "the text file should contain nothing other than the list of URLs",
https://www.sitemaps.org/protocol.html#otherformats"""


def publish_text(
    locs: Iterable[str],
    target: Target,
    previous: Sequence[PublishedFile],
    now: datetime,
    *,
    announce: Announce = lambda _: None,
) -> Publication:
    """Write `locs`, in their order, to `map.txt`, `map-1.txt`, … next to the XML entry `map.xml` of `target`.

    `previous` are the files of the last publication, `announce` as for `publish`. Raises NothingToPublishError,
    EntryNameError, OSError and every exception of `locs`. The live files are then untouched, or each is complete.
    """
    return _publish(target, previous, now, announce, lambda stager, names: _stage_text(locs, target, stager, names))


def publish_feed(
    data: bytes,
    ending: FeedEnding,
    target: Target,
    previous: Sequence[PublishedFile],
    now: datetime,
    *,
    urls: int,
    announce: Announce = lambda _: None,
) -> Publication:
    """Write a feed of `urls` pages to `map.rss` or `map.atom` next to the XML entry `map.xml` of `target`.

    `previous` and `announce` as for `publish_text`. Raises EntryNameError, OSError.
    """
    return _publish(
        target,
        previous,
        now,
        announce,
        lambda stager, names: [
            stager.write_file(names.other_format(ending), data, section=f".{ending}", urls=urls),
        ],
    )


class ListFile(NamedTuple):
    """A complete file of a page list."""

    number: int
    """1 for `map.html`, 2 for `map-2.html`."""
    first: str
    """First URL in the file."""
    urls: int
    data: bytes


def publish_page_list(
    files: Iterable[ListFile],
    target: Target,
    previous: Sequence[PublishedFile],
    now: datetime,
    *,
    announce: Announce = lambda _: None,
) -> Publication:
    """Write the files of a page list to `map.html`, `map-2.html`, … next to the XML entry `map.xml` of `target`.

    `previous` and `announce` as for `publish_text`. Raises NothingToPublishError, EntryNameError, OSError and every
    exception of `files`. The live files are then untouched, or each is complete.
    """
    return _publish(target, previous, now, announce, lambda stager, names: _stage_page_list(files, stager, names))


def _stage_page_list(files: Iterable[ListFile], stager: Stager, names: Names) -> list[StagedFile]:
    staged = []
    for file in files:
        name = names.page_list(file.number)
        written = stager.write_file(name, file.data, section=PAGE_LIST_SECTION, urls=file.urls)
        staged.append(written._replace(number=file.number, first=file.first))
    if not staged:
        raise NothingToPublishError("there is no URL to list: the live page list is untouched")
    return staged


def _publish(
    target: Target,
    previous: Sequence[PublishedFile],
    now: datetime,
    announce: Announce,
    stage: Callable[[Stager, Names], list[StagedFile]],
) -> Publication:
    names = Names.for_sitemap(target.sitemap_url)
    records = Records(names, previous, now)
    with Staging(target.directory) as staging:
        stager = Stager(names, staging, max_urls=target.max_urls, max_bytes=target.max_bytes)
        stager.remove_leftovers(records.files)
        staged = stage(stager, names)
        changed = stager.find_changed(staged)
        for file in changed:
            file.file.sync()
        outputs = tuple(records.output(file, written=file in changed) for file in staged)
        announce([output for output in outputs if output.name not in records.files])
        # Last file first: when a site grows, URLs move to later files, and are there before they leave their old file.
        stager.move(file for file in reversed(staged) if file in changed)
        removed = _remove_stale(stager, names, records, {output.name for output in outputs})
    return Publication(outputs, sum(output.urls for output in outputs), removed=removed)


def _stage_text(locs: Iterable[str], target: Target, stager: Stager, names: Names) -> list[StagedFile]:
    files: dict[int, NewFile] = {}

    def create(number: int) -> NewFile:
        files[number] = stager.create(names.other_format("txt", number))
        return files[number]

    staged = []
    for number, first, shard in text_files(locs, create, max_urls=target.max_urls, max_bytes=target.max_bytes):
        name = names.other_format("txt", number)
        counts = shard.urls, shard.size, shard.file_bytes, shard.sha256
        staged.append(StagedFile(name, TEXT_SECTION, number, files[number], first, *counts))
    if not staged:
        raise NothingToPublishError("there is no URL to list: the live text files are untouched")
    return staged


class TextFile(NamedTuple):
    """A finalised file of a text sitemap."""

    number: int
    """0 for `map.txt`, 1 for `map-1.txt`."""
    first: str
    """First URL in the file."""
    shard: Shard


def text_files(
    locs: Iterable[str], create: Callable[[int], BinaryIO], *, max_urls: int, max_bytes: int
) -> Iterator[TextFile]:
    """Write `locs` into the files that `create` opens by number. Yield each file when it is finalised.

    A file is created only when there is a URL for it. One file is open at a time, and one buffer of it is in memory. If
    the caller stops early, this file stays open, and the owner of `create` has to close it.
    """
    current: TextFile | None = None
    number = 0
    for loc in locs:
        line = serialise_line(loc)
        if not line or len(line) > max_bytes:
            continue
        if current is None or not current.shard.fits(len(line)):
            if current is not None:
                current.shard.finalise()
                yield current
            shard = Shard(create(number), max_urls=max_urls, max_bytes=max_bytes, gzip=False, frame=TEXT_FRAME)
            current = TextFile(number, loc, shard)
            number += 1
        current.shard.add(line)
    if current is not None:
        current.shard.finalise()
        yield current


def serialise_line(loc: str) -> bytes:
    """Return the line of a URL; b"" for an empty or too long one."""
    url = rfc3986(loc)
    return f"{url}\n".encode() if 0 < len(url) <= MAX_LOC else b""


def _remove_stale(stager: Stager, names: Names, records: Records, live: set[str]) -> tuple[str, ...]:
    """Remove the recorded text files and page lists that are not in `live`. Return their names."""
    numbers = {name: names.text_number(name) or names.page_list_number(name) for name in records.files}
    stale = tuple(name for name, number in numbers.items() if number and name not in live)
    for name in stale:
        stager.remove(name)
    return stale
