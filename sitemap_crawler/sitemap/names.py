"""The names and public URLs of a set's files, all derived from the entry file's URL."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from sitemap_crawler.exceptions import EntryNameError

# What a path segment holds unescaped beside letters, digits and `-._~`, https://www.rfc-editor.org/rfc/rfc3986#section-3.3
_SEGMENT_CHARACTERS = "!$&'()*+,;=:@"
_UNUSABLE = re.compile(r"[/\\\x00-\x1f\x7f]")
# File systems take 255 bytes; the section, the number, the endings and the temporary file's own are added to the name.
_MAX_NAME_BYTES = 160

# Sections that are no group of pages: the same pages' news, and their images and videos in files of their own.
NEWS_SECTION = "news"
IMAGES_SECTION = "images"
VIDEOS_SECTION = "videos"
MEDIA_SECTIONS = frozenset({IMAGES_SECTION, VIDEOS_SECTION})
RESERVED_SECTIONS = MEDIA_SECTIONS | {NEWS_SECTION}
MAX_SECTION_NAME = 40
TEXT_SECTION = ".txt"
"""The section of a text sitemap, and `.rss` and `.atom` those of the feeds: no group of pages can have that name."""

_SECTION = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_NUMBER = r"[1-9][0-9]{0,8}"


class Names(NamedTuple):
    """`map.xml` gives `map-1.xml`, … for the default section, `map-posts-1.xml`, … for the section `posts`.

    News are `map-news.xml`, `map-news-2.xml`, …; other formats `map.txt`, `map-1.txt`, …, `map.rss`, `map.atom`. An
    entry of another ending keeps it: `map.php-1.xml`. So two entries of one directory share names only when they differ
    in nothing but `.xml`, or one is named like a section of the other.
    """

    entry: str
    entry_url: str
    gzip: bool = False

    @classmethod
    def for_sitemap(cls, sitemap_url: str, *, gzip: bool = False) -> Names:
        return cls(entry=entry_name(sitemap_url), entry_url=sitemap_url, gzip=gzip)

    def shard(self, number: int, section: str = "") -> str:
        parts = [self._stem, section, "" if section == NEWS_SECTION and number == 1 else str(number)]
        return f"{'-'.join(filter(None, parts))}.xml{'.gz' if self.gzip else ''}"

    def place(self, name: str) -> tuple[str, int] | None:
        """Section and number of the shard called `name`, plain or compressed; None when there is no such shard."""
        match = re.fullmatch(
            rf"{re.escape(self._stem)}-(?:(?P<news>{NEWS_SECTION})|(?:(?P<section>{_SECTION})-)?(?P<number>{_NUMBER}))"
            r"\.xml(?:\.gz)?",
            name,
            re.ASCII,
        )
        if match is None:
            return None
        section, number = match["section"] or match["news"] or "", int(match["number"] or 1)
        first_news_by_number = section == NEWS_SECTION and match["number"] == "1"
        return None if len(section) > MAX_SECTION_NAME or first_news_by_number else (section, number)

    def beside(self, ending: str, number: int = 0) -> str:
        """A file of another format, by its ending; number 0 is the first one."""
        return f"{self._stem}-{number}.{ending}" if number else f"{self._stem}.{ending}"

    def text_number(self, name: str) -> int | None:
        """The number of the text sitemap called `name`; None when there is no such text sitemap."""
        match = re.fullmatch(rf"{re.escape(self._stem)}(?:-({_NUMBER}))?\.txt", name, re.ASCII)
        return int(match[1] or 0) if match else None

    def derives(self, name: str) -> bool:
        """Whether the entry file, a shard of it or a file of another format is called `name`."""
        if name in (self.entry, self.beside("rss"), self.beside("atom")):
            return True
        return self.place(name) is not None or self.text_number(name) is not None

    def url(self, name: str) -> str:
        """The public URL of the file called `name`, which stands beside the entry file."""
        if name == self.entry:
            return self.entry_url
        return self.entry_url[: self.entry_url.rindex("/") + 1] + quote(name, safe=_SEGMENT_CHARACTERS)

    def name(self, url: str) -> str:
        """The name of the file at a public URL beside the entry file, else the empty string."""
        name = unquote(url.rpartition("/")[2])
        return name if self.url(name) == url else ""

    @property
    def _stem(self) -> str:
        return self.entry.removesuffix(".xml")


def is_section_name(name: str) -> bool:
    return len(name) <= MAX_SECTION_NAME and re.fullmatch(_SECTION, name, re.ASCII) is not None


def entry_name(sitemap_url: str) -> str:
    """The file name that is the last segment of the URL's path, decoded. Raises EntryNameError."""
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
        raise EntryNameError(f"the entry file {name} is never compressed: drop .gz, only the shards take it")
    if length > _MAX_NAME_BYTES:
        raise EntryNameError(f"the sitemap's file name has {length} bytes, more than {_MAX_NAME_BYTES}: {name}")
    return name
