"""The names and public URLs of a set's files, all derived from the entry file's URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

# What a path segment holds unescaped beside letters, digits and `-._~`, https://www.rfc-editor.org/rfc/rfc3986#section-3.3
_SEGMENT_CHARACTERS = "!$&'()*+,;=:@"
_UNUSABLE = re.compile(r"[/\\\x00-\x1f\x7f]")
# File systems take 255 bytes; the number, the endings and the temporary file's own are added to the name.
_MAX_NAME_BYTES = 200


class EntryNameError(ValueError):
    """The sitemap's URL gives no usable file name; the message is one line."""


@dataclass(frozen=True, slots=True)
class Names:
    """`map.xml` gives `map-1.xml`, `map-2.xml`, …; an entry of another ending keeps it: `map.php-1.xml`.

    So two entries of one directory share a shard's name only when they differ in nothing but `.xml`.
    """

    entry: str
    entry_url: str
    gzip: bool = False

    @classmethod
    def of(cls, sitemap_url: str, *, gzip: bool = False) -> Names:
        return cls(entry=entry_name(sitemap_url), entry_url=sitemap_url, gzip=gzip)

    def shard(self, number: int) -> str:
        return f"{self._stem}-{number}.xml{'.gz' if self.gzip else ''}"

    def number(self, name: str) -> int | None:
        """The number of the shard called `name`, plain or compressed; None when this entry derives no such name."""
        match = re.fullmatch(re.escape(self._stem) + r"-([1-9][0-9]{0,8})\.xml(?:\.gz)?", name, re.ASCII)
        return int(match[1]) if match else None

    def derives(self, name: str) -> bool:
        """Whether the entry file or a shard of it is called `name`."""
        return name == self.entry or self.number(name) is not None

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
