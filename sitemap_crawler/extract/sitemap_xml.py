"""The entries of a sitemap or a feed in XML, read in pieces, also from damaged files.

The module uses no XML parser. A strict parser ends at the first error, such as a bare & in a URL. A lenient parser
drops that & and continues with a wrong URL; it also needs hundreds of megabytes for the declarations of a DOCTYPE or
for a million attributes. Tags and text are sufficient to find entries, and entities that are not declared cannot
expand.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.alternates import MAX_ALTERNATES, MAX_REPORTED_LENGTH
from sitemap_crawler.extract.dates import MAX_DATE_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_LOC_LENGTH = 8_192
"""Maximum number of characters of a URL. Longer URLs cannot be crawled."""
MAX_MARKUP = 1_048_576
"""Maximum number of characters of one tag or comment."""
MAX_ATTRIBUTES = 16_384
"""Maximum number of characters read of the attributes of one tag."""
MAX_DEPTH = 64
"""Maximum nesting depth of elements that is tracked. Deeper elements are not entries."""

# The elements that name URLs, by root: https://www.sitemaps.org/protocol.html, https://www.rssboard.org/rss-specification
# and https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7. The parent identifies them, as namespaces are often wrong.
ENTRY_ELEMENTS = {
    "urlset": ("url", "loc"),
    "sitemapindex": ("sitemap", "loc"),
    "rss": ("item", "link"),
    "feed": ("entry", "link"),
}
# The root whose entries may name language versions:
# https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
_ROOT_WITH_ALTERNATES = "urlset"
# The element of an entry with the date of its last change, by root. `pubDate` and `published` are no such dates.
_DATE_ELEMENTS = {"urlset": ("url", "lastmod"), "feed": ("entry", "updated")}

# Possessive quantifiers prevent backtracking in markup that never ends. The last alternative is unfinished markup with
# all that follows, so that no part of the text is searched for its end again.
_MARKUP = re.compile(
    r"<(/?)([^\s<>/!?][^\s<>/]*+)(?P<tag>[^<>]*+)>"
    r"|<!\[CDATA\[(?P<cdata>.*?)\]\]>|<!--.*?-->|<\?.*?\?>|<![^-\[<>][^<>]*+>|(?P<unfinished>(?:<!--|<!\[CDATA\[|<\?).*+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""\s(rel|hreflang|href|media)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class SitemapEntry(NamedTuple):
    """An entry of a foreign sitemap, as written."""

    loc: str
    alternates: tuple[tuple[str, str], ...] = ()
    """Code and URL of each language version that the entry names."""
    lastmod: str | None = None
    """Date of the last change."""


class XmlReader:
    """Parser that finds the root and the entries in pieces of markup."""

    def __init__(self) -> None:
        self.root: str | None = None
        self.damage: str | None = None
        """Reason why the text cannot be read to its end, as `is ...` or `has ...`."""
        self.too_long = 0
        """Number of skipped entries with more than MAX_LOC_LENGTH characters."""
        self._open: list[str] = []
        self._rest = ""
        self._loc: str | None = None
        """Text of the current URL or date; `None` outside of them."""
        self._is_date = False
        """Whether the current text is that of a date."""
        self._entry_url: str | None = None
        """URL of the current entry; `None` until it is known, and after the end of the entry."""
        self._lastmod: str | None = None
        self._alternates: list[tuple[str, str]] = []
        self._entries: list[SitemapEntry] = []

    def batches(self, texts: Iterable[str]) -> Iterator[list[SitemapEntry]]:
        """Yield the entries of each piece of text, and then the last entries."""
        for text in texts:
            yield self.feed(text)
            if self.damage is not None:
                break
        self._end_entry()
        yield self._entries
        if self.damage is None and self._open:
            self.damage = "is XML that ends too early"

    def feed(self, text: str) -> list[SitemapEntry]:
        """Return the entries that end in this piece."""
        text = self._rest + text
        position = 0
        for markup in _MARKUP.finditer(text):
            kind = markup.lastgroup
            if kind == "unfinished":
                break
            if self._loc is not None:
                self._add_text(_resolve_references(text[position : markup.start()]))
            position = markup.end()
            if kind == "tag":
                slash, written, attributes = markup.group(1, 2, 3)
                name = written.rpartition(":")[2]
                if slash:
                    self._end_tag(name)
                else:
                    self._start_tag(name, attributes)
            elif kind == "cdata":
                self._add_text(markup[kind])
        self._rest = text[position:]
        if len(self._rest) > MAX_MARKUP:
            self.damage = f"has a tag, comment or text of more than {MAX_MARKUP:,} characters"
        entries, self._entries = self._entries, []
        return entries

    def _start_tag(self, name: str, attributes: str) -> None:
        if self.root is None:
            self.root = name
        # Markup inside a URL is an error; the URL is unknown.
        self._loc = None
        place = (self._open[-1], name) if self._open else None
        if place is not None and place == ENTRY_ELEMENTS.get(self.root):
            if self.root == "feed":
                self._add_feed_link(attributes)
            else:
                self._loc, self._is_date = "", False
        elif place is not None and place == _DATE_ELEMENTS.get(self.root):
            self._loc, self._is_date = "", True
        elif self.root in _DATE_ELEMENTS and name == _DATE_ELEMENTS[self.root][0]:
            self._end_entry()
        elif self.root == _ROOT_WITH_ALTERNATES and place == ("url", "link"):
            self._add_alternate(attributes)
        if not attributes.endswith("/") and len(self._open) < MAX_DEPTH:
            self._open.append(name)

    def _end_tag(self, name: str) -> None:
        if self._loc is not None:
            if self._is_date:
                self._lastmod = self._loc.strip()[:MAX_DATE_LENGTH] or None
            else:
                self._add_url(self._loc)
            self._loc = None
        if name in self._open:
            # The end of an element also ends unclosed elements inside it.
            while self._open.pop() != name:
                pass
        if self.root in _DATE_ELEMENTS and name == _DATE_ELEMENTS[self.root][0]:
            self._end_entry()

    def _add_text(self, text: str) -> None:
        if self._loc is not None and len(self._loc) <= MAX_LOC_LENGTH:
            self._loc += text

    def _add_feed_link(self, attributes: str) -> None:
        values = _attributes(attributes)
        if values.get("rel", "alternate") == "alternate":
            self._add_url(values.get("href", ""))

    def _add_alternate(self, attributes: str) -> None:
        if "hreflang" not in attributes or len(self._alternates) >= MAX_ALTERNATES:
            return
        values = _attributes(attributes)
        url, code = values.get("href", "").strip(), values.get("hreflang", "").strip()
        # A link with `media` names a page for another device.
        is_version = "alternate" in values.get("rel", "").lower().split() and not values.get("media")
        if is_version and url and code and len(url) <= MAX_LOC_LENGTH:
            # One more character than the longest valid code keeps a longer code invalid.
            self._alternates.append((code[: MAX_REPORTED_LENGTH + 1], url))

    def _add_url(self, written: str) -> None:
        loc = written.strip()
        if len(loc) > MAX_LOC_LENGTH:
            self.too_long += 1
        elif loc and self.root in _DATE_ELEMENTS:
            if self._entry_url is not None:
                self._end_entry()
            self._entry_url = loc
        elif loc:
            self._entries.append(SitemapEntry(loc))

    def _end_entry(self) -> None:
        if self._entry_url is not None:
            self._entries.append(SitemapEntry(self._entry_url, tuple(self._alternates), self._lastmod))
            self._entry_url = None
        self._lastmod = None
        if self._alternates:
            self._alternates = []


def _attributes(written: str) -> dict[str, str]:
    """Return the values of rel, hreflang, href and media."""
    values = _ATTRIBUTE.findall(written[:MAX_ATTRIBUTES])
    return {name: _resolve_references(double or single) for name, double, single in values}


def _resolve_references(text: str) -> str:
    """Return the text with character references and the predefined entities resolved.

    Any other & is a character that a site forgot to escape, and stays.
    """
    return _REFERENCE.sub(_resolve_reference, text) if "&" in text else text


def _resolve_reference(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _ENTITIES[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(number) if number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF else "\ufffd"
