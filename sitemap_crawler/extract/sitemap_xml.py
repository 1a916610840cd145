"""The entries of a sitemap or a feed in XML that comes in pieces, in whatever state it is.

No XML parser reads it: a strict one ends at the first error, such as a bare & in a URL; a lenient one drops that & and
goes on with a wrong URL, and takes hundreds of megabytes for what a DOCTYPE declares or a million attributes. Tags and
text are enough here, and entities that don't exist can't be expanded.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.alternates import MAX_ALTERNATES, MAX_REPORTED_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_LOC_LENGTH = 8_192
"""Characters; what is longer is no URL that could be crawled."""
MAX_MARKUP = 1_048_576
"""Characters of one tag or comment."""
MAX_ATTRIBUTES = 16_384
"""Characters of them in which URLs are looked for."""
MAX_DEPTH = 64
"""Elements in one another; deeper ones are no entries."""

# The elements that name URLs, by root: https://www.sitemaps.org/protocol.html, https://www.rssboard.org/rss-specification
# and https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7. Told by their parents, as namespaces are often wrong.
ENTRIES = {
    "urlset": ("url", "loc"),
    "sitemapindex": ("sitemap", "loc"),
    "rss": ("item", "link"),
    "feed": ("entry", "link"),
}
# Whose entries may name language versions,
# https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
_WITH_VERSIONS = "urlset"

# Possessive, as what never ends must not be tried in every way. The last alternative is what begins and does not end.
_MARKUP = re.compile(
    r"<(/?)([^\s<>/!?][^\s<>/]*+)(?P<tag>[^<>]*+)>"
    r"|<!\[CDATA\[(?P<cdata>.*?)\]\]>|<!--.*?-->|<\?.*?\?>|<![^-\[<>][^<>]*+>|(?P<unfinished><!--|<!\[CDATA\[|<\?)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""\s(rel|hreflang|href|media)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class Named(NamedTuple):
    """An entry, all as it is written."""

    loc: str
    alternates: tuple[tuple[str, str], ...] = ()
    """Code and URL of each language version that it names."""


class XmlReader:
    """Finds the root and the entries in markup that comes in pieces."""

    def __init__(self) -> None:
        self.root: str | None = None
        self.damage: str | None = None
        """What keeps the text from being read to its end: `is ...`, `has ...`."""
        self.too_long = 0
        """Entries that were passed over as longer than MAX_LOC_LENGTH."""
        self._open: list[str] = []
        self._rest = ""
        self._loc: str | None = None
        """The text of the URL that is being read."""
        self._named: str | None = None
        """The URL of the entry that is being read, once that is known."""
        self._alternates: list[tuple[str, str]] = []
        self._found: list[Named] = []

    def batches(self, texts: Iterable[str]) -> Iterator[list[Named]]:
        for text in texts:
            yield self.feed(text)
            if self.damage is not None:
                break
        self._end_entry()
        yield self._found
        if self.damage is None and self._open:
            self.damage = "is XML that ends too early"

    def feed(self, text: str) -> list[Named]:
        """The entries that end in this piece."""
        text = self._rest + text
        position = 0
        for markup in _MARKUP.finditer(text):
            kind = markup.lastgroup
            if kind == "unfinished":
                break
            if self._loc is not None:
                self._characters(_without_references(text[position : markup.start()]))
            position = markup.end()
            if kind == "tag":
                slash, written, attributes = markup.group(1, 2, 3)
                name = written.rpartition(":")[2]
                if slash:
                    self._end(name)
                else:
                    self._start(name, attributes)
            elif kind == "cdata":
                self._characters(markup[kind])
        self._rest = text[position:]
        if len(self._rest) > MAX_MARKUP:
            self.damage = f"has a tag, comment or text of more than {MAX_MARKUP:,} characters"
        found, self._found = self._found, []
        return found

    def _start(self, name: str, attributes: str) -> None:
        if self.root is None:
            self.root = name
        # Markup in the midst of a URL is an error, and the URL unknown.
        self._loc = None
        if self._open and (self._open[-1], name) == ENTRIES.get(self.root):
            if self.root == "feed":
                self._link(attributes)
            else:
                self._loc = ""
        elif self.root == _WITH_VERSIONS:
            if name == "url":
                self._end_entry()
            elif name == "link" and self._open[-1:] == ["url"]:
                self._alternate(attributes)
        if not attributes.endswith("/") and len(self._open) < MAX_DEPTH:
            self._open.append(name)

    def _end(self, name: str) -> None:
        if self._loc is not None:
            self._add(self._loc)
            self._loc = None
        if name in self._open:
            # What was left open in it ends with it.
            while self._open.pop() != name:
                pass
        if name == "url":
            self._end_entry()

    def _characters(self, text: str) -> None:
        if self._loc is not None and len(self._loc) <= MAX_LOC_LENGTH:
            self._loc += text

    def _link(self, attributes: str) -> None:
        values = _attributes(attributes)
        if values.get("rel", "alternate") == "alternate":
            self._add(values.get("href", ""))

    def _alternate(self, attributes: str) -> None:
        if "hreflang" not in attributes or len(self._alternates) >= MAX_ALTERNATES:
            return
        values = _attributes(attributes)
        url, code = values.get("href", "").strip(), values.get("hreflang", "").strip()
        # With `media` it is a page for another device.
        is_version = "alternate" in values.get("rel", "").lower().split() and not values.get("media")
        if is_version and url and code and len(url) <= MAX_LOC_LENGTH:
            # What is longer than the longest code stays so.
            self._alternates.append((code[: MAX_REPORTED_LENGTH + 1], url))

    def _add(self, written: str) -> None:
        loc = written.strip()
        if len(loc) > MAX_LOC_LENGTH:
            self.too_long += 1
        elif loc and self.root == _WITH_VERSIONS:
            if self._named is not None:
                self._end_entry()
            self._named = loc
        elif loc:
            self._found.append(Named(loc))

    def _end_entry(self) -> None:
        if self._named is not None:
            self._found.append(Named(self._named, tuple(self._alternates)))
            self._named = None
        if self._alternates:
            self._alternates = []


def _attributes(written: str) -> dict[str, str]:
    """Those that matter here."""
    found = _ATTRIBUTE.findall(written[:MAX_ATTRIBUTES])
    return {name: _without_references(double or single) for name, double, single in found}


def _without_references(text: str) -> str:
    """Text with XML's own references resolved; any other & is one that somebody forgot to escape."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _ENTITIES[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(number) if number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF else "\ufffd"
