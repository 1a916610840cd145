"""File names and public URLs of a sitemap set, all derived from the URL of its entry file."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args
from urllib.parse import quote, unquote, urlsplit

from sitemap_crawler.exceptions import EntryNameError

_SEGMENT_CHARACTERS = "!$&'()*+,;=:@"
"""Characters that a path segment holds unescaped in addition to letters, digits and `-._~`,
https://www.rfc-editor.org/rfc/rfc3986#section-3.3"""
_UNUSABLE = re.compile(r"[/\\\x00-\x1f\x7f]")
_MAX_NAME_BYTES = 160
"""Bytes of the entry file's name. File systems allow 255; sections, numbers, endings and the ending of temporary files
are added to the name."""

# Sections that are no groups of pages: the news, images and videos of pages that other sections list.
NEWS_SECTION = "news"
IMAGES_SECTION = "images"
VIDEOS_SECTION = "videos"
MEDIA_SECTIONS = frozenset({IMAGES_SECTION, VIDEOS_SECTION})
RESERVED_SECTIONS = MEDIA_SECTIONS | {NEWS_SECTION}
MAX_SECTION_NAME = 40
"""Characters."""
TEXT_SECTION = ".txt"
"""Section of a text sitemap. A feed has `.rss` or `.atom`. The dot keeps them apart from the sections of pages."""
PAGE_LIST_SECTION = ".html"
"""Section of a page list."""
FeedEnding = Literal["rss", "atom"]
FEED_ENDINGS: tuple[FeedEnding, ...] = get_args(FeedEnding)
"""Endings of the names of feeds. `FEEDS` in feed.py has a serialiser for each."""

_SECTION = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_NUMBER = r"[1-9][0-9]{0,8}"
_SECTION_NAME = re.compile(_SECTION)
_SHARD_ENDING = re.compile(
    rf"-(?:(?P<news>{NEWS_SECTION})|(?:(?P<section>{_SECTION})-)?(?P<number>{_NUMBER}))\.xml(?:\.gz)?"
)
_TEXT_ENDING = re.compile(rf"(?:-({_NUMBER}))?\.txt")
_PAGE_LIST_ENDING = re.compile(r"(?:-([2-9]|[1-9][0-9]{1,8}))?\.html")


class Names(NamedTuple):
    """The names of one set.

    The entry file `map.xml` gives `map-1.xml`, … for the default section and `map-posts-1.xml`, … for the section
    `posts`. News are `map-news.xml`, `map-news-2.xml`, …; other formats `map.txt`, `map-1.txt`, …, `map.html`,
    `map-2.html`, …, `map.rss`, `map.atom`. Any other ending stays in the names: `map.php-1.xml`. So the sets of two
    entry files in one directory share names only if the entry files differ in nothing but `.xml`, or one is named like
    a section of the other.
    """

    entry: str
    """Name of the entry file."""
    entry_url: str
    gzip: bool = False
    """Whether the shards are compressed. The entry file never is."""

    @classmethod
    def for_sitemap(cls, sitemap_url: str, *, gzip: bool = False) -> Names:
        """Return the names of the set whose entry file has this URL. Raises EntryNameError."""
        return cls(entry=entry_name(sitemap_url), entry_url=sitemap_url, gzip=gzip)

    def shard(self, number: int, section: str = "") -> str:
        """Return the name of a shard. Numbers begin with 1."""
        parts = [self._stem, section, "" if section == NEWS_SECTION and number == 1 else str(number)]
        return f"{'-'.join(filter(None, parts))}.xml{'.gz' if self.gzip else ''}"

    def section_and_number(self, name: str) -> tuple[str, int] | None:
        """Return section and number of the shard called `name`, compressed or not; None for any other name."""
        match = _SHARD_ENDING.fullmatch(name, len(self._stem)) if name.startswith(self._stem) else None
        if match is None:
            return None
        section, number = match["section"] or match["news"] or "", int(match["number"] or 1)
        first_news_by_number = section == NEWS_SECTION and match["number"] == "1"
        return None if len(section) > MAX_SECTION_NAME or first_news_by_number else (section, number)

    def other_format(self, ending: str, number: int = 0) -> str:
        """Return the name of a file of another format. `ending` has no dot. Numbers begin with 0."""
        return f"{self._stem}-{number}.{ending}" if number else f"{self._stem}.{ending}"

    def text_number(self, name: str) -> int | None:
        """Return the number of the text sitemap called `name`; None for any other name."""
        match = _TEXT_ENDING.fullmatch(name, len(self._stem)) if name.startswith(self._stem) else None
        return int(match[1] or 0) if match else None

    def page_list(self, number: int) -> str:
        """Return the name of a file of the page list. Numbers begin with 1, as the visitors count."""
        return self.other_format("html", number if number > 1 else 0)

    def page_list_number(self, name: str) -> int | None:
        """Return the number of the file of the page list called `name`; None for any other name."""
        match = _PAGE_LIST_ENDING.fullmatch(name, len(self._stem)) if name.startswith(self._stem) else None
        return int(match[1] or 1) if match else None

    def derives(self, name: str) -> bool:
        """Return whether the entry file, a shard or a file of another format is called `name`."""
        if name in (self.entry, *map(self.other_format, FEED_ENDINGS)):
            return True
        numbers = self.section_and_number(name), self.text_number(name), self.page_list_number(name)
        return any(number is not None for number in numbers)

    def url(self, name: str) -> str:
        """Return the public URL of the file called `name` in the directory of the entry file."""
        if name == self.entry:
            return self.entry_url
        return self.entry_url[: self.entry_url.rindex("/") + 1] + quote(name, safe=_SEGMENT_CHARACTERS)

    def name(self, url: str) -> str:
        """Return the name of the file with this public URL; "" for a URL outside the directory of the entry file."""
        name = unquote(url.rpartition("/")[2])
        return name if self.url(name) == url else ""

    @property
    def _stem(self) -> str:
        return self.entry.removesuffix(".xml")


def is_section_name(name: str) -> bool:
    return len(name) <= MAX_SECTION_NAME and _SECTION_NAME.fullmatch(name) is not None


def entry_name(sitemap_url: str) -> str:
    """Return the last segment of the URL's path, decoded, as a file name. Raises EntryNameError."""
    try:
        parts = urlsplit(sitemap_url)
        name = unquote(parts.path.rpartition("/")[2], errors="strict")
        length = len(name.encode())
    except ValueError as error:
        raise EntryNameError(f"the sitemap's URL {sitemap_url!r} can't be read: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise EntryNameError(f"the sitemap's URL {sitemap_url!r} is not a plain http(s) URL of a file")
    if name in ("", ".", "..", ".xml") or _UNUSABLE.search(name):
        raise EntryNameError(f"the sitemap's URL {sitemap_url!r} does not end in a file name, such as sitemap.xml")
    if name.endswith(".gz"):
        raise EntryNameError(
            f"the entry file {name} is never compressed: remove .gz, only the shards may be compressed"
        )
    if length > _MAX_NAME_BYTES:
        raise EntryNameError(f"the sitemap's file name has {length} bytes, more than {_MAX_NAME_BYTES}: {name}")
    return name
