"""Stream of the entries of a sitemap file: XML by expat, text by lines. One entry is in memory at a time.

Expat is used instead of a tree builder because it stops at a DOCTYPE before reading it, and because hostile nesting or
repetition never becomes a document in memory.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.values import WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_TEXT = 10_000
"""Maximum number of characters of an element that are kept. All limits of the protocol are far below."""
MAX_NODES = 20_000
"""Maximum number of elements in one entry, several times those of a thousand images and a thousand alternates."""
MAX_DEPTH = 32
"""Maximum number of nested elements."""
MAX_TOKEN_BYTES = 1_048_576
"""Maximum size of a tag or comment. Expat scans an incomplete one again with each piece."""
_UTF8_NAMES = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
_OTHER_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


@dataclass(slots=True)
class Node:
    """An element. The root of a document is yielded at its start tag, without text and children."""

    namespace: str
    name: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list[Node] = field(default_factory=list)

    @property
    def value(self) -> str:
        return self.text.strip(WHITE_SPACE)


class _ParseError(SitemapCrawlerError):
    """Parsing ends with `issue`."""

    def __init__(self, problem: Issue) -> None:
        super().__init__(problem.message)
        self.issue = problem


class _Builder:
    """Callbacks of expat. Complete entries and issues are collected in `out`."""

    def __init__(self) -> None:
        self.out: list[Node | Issue] = []
        self._stack: list[Node] = []
        self._entry_depth = 1
        self._nodes = 0
        self._stray = False
        parser = expat.ParserCreate(namespace_separator=" ", intern=None)
        parser.buffer_text = True
        parser.buffer_size = 65_536
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        self.parser = parser

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _UTF8_NAMES:
            raise _ParseError(issue("not-utf-8", f"is declared as {encoding}", 1))

    def _doctype(self, *_: object) -> NoReturn:
        line = self.parser.CurrentLineNumber
        raise _ParseError(issue("doctype", "has a DOCTYPE and is not read any further", line))

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        depth = len(self._stack)
        line = self.parser.CurrentLineNumber
        if depth >= MAX_DEPTH:
            raise _ParseError(issue("nested-too-deep", f"nests more than {MAX_DEPTH} elements", line))
        namespace, _, name = tag.rpartition(" ")
        node = Node(namespace, name, line, attributes)
        if depth == 0:
            self._entry_depth = 2 if name == "rss" else 1
            self.out.append(node)
        elif depth == self._entry_depth:
            self._nodes = 1
        elif depth > self._entry_depth:
            self._nodes += 1
            if self._nodes > MAX_NODES:
                message = f"has more than {MAX_NODES:,} elements in one entry; it is not read any further"
                raise _ParseError(issue("oversized-entry", message, line))
            self._stack[-1].children.append(node)
        self._stack.append(node)

    def _end(self, _tag: str) -> None:
        node = self._stack.pop()
        if len(self._stack) == self._entry_depth:
            self.out.append(node)

    def _characters(self, data: str) -> None:
        node = self._stack[-1]
        if len(self._stack) <= self._entry_depth:
            if not self._stray and data.strip(WHITE_SPACE):
                self._stray = True
                self.out.append(issue("stray-text", "has text between its entries", self.parser.CurrentLineNumber))
        elif len(node.text) < MAX_TEXT:
            node.text += data[:MAX_TEXT]

    def feed(self, data: bytes, *, final: bool = False) -> None:
        try:
            self.parser.Parse(data, final)
        except expat.ExpatError as exc:
            reason = expat.ErrorString(exc.code) or "syntax error"
            raise _ParseError(issue("not-well-formed", f"is not well-formed XML: {reason}", exc.lineno)) from None


def read_xml(chunks: Iterable[bytes]) -> Iterator[Node | Issue]:
    """Yield the root, then each entry. Issues are yielded between them; a fatal issue is the last item."""
    builder = _Builder()
    decoder = codecs.getincrementaldecoder("utf-8")()
    fed_bytes = 0
    lines = 1
    try:
        for chunk in chunks:
            if not fed_bytes:
                yield from _byte_order_mark(chunk)
            _check_utf8(decoder, chunk, lines)
            fed_bytes += len(chunk)
            lines += chunk.count(b"\n")
            builder.feed(chunk)
            yield from builder.out
            builder.out.clear()
            if fed_bytes - builder.parser.CurrentByteIndex > MAX_TOKEN_BYTES:
                message = f"has a tag or comment of over {MAX_TOKEN_BYTES:,} bytes"
                raise _ParseError(issue("oversized-tag", message, lines))
        builder.feed(b"", final=True)
        yield from builder.out
    except _ParseError as stop:
        yield from builder.out
        yield stop.issue


def read_lines(chunks: Iterable[bytes]) -> Iterator[tuple[int, str] | Issue]:
    """Yield number and text of each line of a text sitemap, blank lines included, without line ends."""
    rest = b""
    number = 0
    first = True
    try:
        for chunk in chunks:
            if first:
                yield from _byte_order_mark(chunk)
                chunk = chunk.removeprefix(codecs.BOM_UTF8)
                first = False
            *lines, rest = (rest + chunk).split(b"\n")
            rest = rest[: 4 * MAX_TEXT]
            for line in lines:
                number += 1
                yield _decode(line, number)
        if rest:
            yield _decode(rest, number + 1)
    except _ParseError as stop:
        yield stop.issue


def _decode(line: bytes, number: int) -> tuple[int, str] | Issue:
    truncated = len(line) >= 4 * MAX_TEXT  # possibly within a character
    try:
        return number, line.removesuffix(b"\r").decode("utf-8", "ignore" if truncated else "strict")[:MAX_TEXT]
    except UnicodeDecodeError:
        return issue("not-utf-8", "is not UTF-8", number)


def _check_utf8(decoder: codecs.IncrementalDecoder, chunk: bytes, lines: int) -> None:
    # Expat would report "not well-formed (invalid token)", which does not say what to do.
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError as exc:
        line = lines + exc.object[: exc.start].count(b"\n")
        raise _ParseError(issue("not-utf-8", "has bytes that are not UTF-8", line)) from None


def _byte_order_mark(head: bytes) -> Iterator[Issue]:
    if head.startswith(_OTHER_BOMS) or b"\0" in head[:4]:
        raise _ParseError(issue("not-utf-8", "is UTF-16 or UTF-32", 1))
    if head.startswith(codecs.BOM_UTF8):
        yield issue("byte-order-mark", "begins with a byte order mark", 1)
