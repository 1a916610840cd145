"""The texts of the main content, as hashes: what a page shows can be compared with what other pages have shown."""

from __future__ import annotations

import re
from array import array
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus
from zlib import crc32

from sitemap_crawler.extract.content.date_texts import MAX_DATED, without_date
from sitemap_crawler.extract.content.main_content import NO_MAIN, survey
from sitemap_crawler.urls.parameters import count_separators

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml import etree

    from sitemap_crawler.extract.document import Document

MAX_BLOCKS = 1_000
"""Maximum number of different texts of one page that count."""
MIN_LETTERS = 4
"""Minimum number of characters of a text that counts. Shorter ones are counters and positions in a list."""
MAX_WEIGHT = 400
"""Number of characters from which on a longer text weighs no more."""

MIN_HASH = 32
"""Minimum number of hexadecimal digits of a hash, those of MD5. Git and checksums have more."""

MEDIA_WEIGHT = 20
"""Weight of an embedded picture or video."""

MIN_ECHOED = 3
"""Number of parameters of a URL from which on a text that only repeats words of the query does not count.

The comparison of two versions names both. Fewer parameters may be the name of the object that a page shows.
"""

MAX_TEXTS_BYTES = MAX_BLOCKS * 8
"""Size of the result for a page with that many texts or more."""

_HASHES = re.compile(r"[0-9A-Fa-f]{32,}|[0-9A-Fa-f]{7,64}\.\.[0-9A-Fa-f]{7,64}")
"""A hash, or those of two versions as `git diff` writes them, which may be shortened: `index 3a1cad5..261bd19`."""
_WORD = re.compile(r"\w+")
_FIGURE = re.compile("[0-9]")
_MAX_LETTERS = 20_000
"""Number of characters of a text in which white space does not count."""


def text_blocks(document: Document) -> bytes:
    """Return the different texts of the main content as pairs of 32-bit numbers: hash and weight in characters.

    A text is what stands between two tags, or a line of preformatted text. White space does not count. Neither do the
    marks of a line that was added or removed: the comparison of two versions shows the lines of both. Nor do hashes: a
    browser of code names each version of a file by one. A text without letters and digits is a line or a drawing, such
    as the code that tells persons from programs, which is another on each page. Nor does a text count that only says
    again what the URL has asked for. The date in a short text does not count: a calendar has a page for each day, and
    days without events differ by their date alone.
    """
    blocks: dict[int, int] = {}
    query = _echoed_query(document.url)
    asked = frozenset(_WORD.findall(query))
    for text in _main_texts(document):
        if asked and len(text) <= len(query) and asked.issuperset(_WORD.findall(text.lower())):
            continue
        words = text[:_MAX_LETTERS].split()
        if words and words[0][0] in "+-":
            unmarked = words[0].lstrip("+-")
            words[:1] = [unmarked] if unmarked else []
        letters = sum(map(len, words))
        if ".." in text or (letters >= MIN_HASH and max(map(len, words)) >= MIN_HASH):
            words = [word for word in words if _HASHES.fullmatch(word) is None]
            letters = sum(map(len, words))
        if letters >= MIN_LETTERS and (words[0][0].isalnum() or _has_letters(words)):
            may_be_dated = letters <= MAX_DATED and _FIGURE.search(text) is not None
            if may_be_dated and (others := without_date(words)) is not words:
                # The weight remains: a page without any is empty.
                number = block_hash(others)
                blocks[number] = min(blocks.get(number, 0) + letters, MAX_WEIGHT)
            else:
                rest = [text[_MAX_LETTERS:]] if len(text) > _MAX_LETTERS else []
                blocks[block_hash(words + rest)] = min(letters, MAX_WEIGHT)
            if len(blocks) == MAX_BLOCKS:
                break
    for reference in islice(_media(document), MAX_BLOCKS - len(blocks)):
        blocks[block_hash([reference])] = MEDIA_WEIGHT
    return array("I", [number for block in blocks.items() for number in block]).tobytes()


def _echoed_query(url: str) -> str:
    """Return the query of a URL with many parameters in lower case, or nothing for another URL."""
    query = url.partition("?")[2]
    return unquote_plus(query).lower() if count_separators(query) + 1 >= MIN_ECHOED else ""


def _has_letters(words: list[str]) -> bool:
    return any(character.isalnum() for word in words for character in word)


def _media(document: Document) -> Iterator[str]:
    """Yield the addresses of the embedded media: a page may be one picture."""
    for tag in ("embed", "iframe", "img", "source", "video"):
        for element in document.all(tag):
            source = element.get("src")
            if source and not source.startswith("data:"):
                yield source[:_MAX_LETTERS]


def block_hash(words: list[str]) -> int:
    return crc32(" ".join(words).encode("utf-8", "surrogatepass"))


def _main_texts(document: Document) -> Iterator[str]:
    """Yield the texts of the main content, in their order."""
    body = next(document.root.iterchildren("body"), None)
    if body is None:
        body = document.root
    main = next((main for main in document.all("main") if body in main.iterancestors()), None)
    surveyed = survey(body if main is None else main, document.blocks)
    if main is None:
        main = surveyed.main if surveyed.main is not None and surveyed.kind < NO_MAIN else body
    excluded = surveyed.excluded
    by_line = main.tag == "pre"
    yield from _parts(main.text, by_line=by_line)
    # The children of an element, whether its text counts by line, its tail, and whether that does.
    pending: list[tuple[Iterator[etree._Element], bool, str | None, bool]] = [(iter(main), by_line, None, False)]
    while pending:
        children, by_line, tail, tail_by_line = pending[-1]
        for child in children:
            # A title stands in the body after a document type with an internal subset. It is no text of the page.
            if child not in excluded and isinstance(child.tag, str) and child.tag != "title":
                inside = by_line or child.tag == "pre"
                if child.text:
                    yield from _parts(child.text, by_line=inside)
                if len(child):
                    pending.append((iter(child), inside, child.tail, by_line))
                    break
            if child.tail:
                yield from _parts(child.tail, by_line=by_line)
        else:
            pending.pop()
            if tail:
                yield from _parts(tail, by_line=tail_by_line)


def _parts(text: str | None, *, by_line: bool) -> Sequence[str]:
    return () if text is None else text.split("\n") if by_line else (text,)
