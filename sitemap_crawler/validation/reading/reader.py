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
from sitemap_crawler.validation.protocol import CORE
from sitemap_crawler.validation.reading.plain import PlainRun, count_lines, end_of_last_line, end_of_run
from sitemap_crawler.validation.reading.xml_faults import fault_of
from sitemap_crawler.validation.values import WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_TEXT = 10_000
"""Maximum number of characters of an element that are kept. All limits of the protocol are far below."""
MAX_NODES = 20_000
"""Maximum number of elements in one entry, several times those of a thousand images and a thousand alternates."""
MAX_NAMES = 1_000
"""Maximum number of tags whose parts are remembered."""
MAX_DEPTH = 32
"""Maximum number of nested elements."""
MAX_TOKEN_BYTES = 1_048_576
"""Maximum size of a tag or comment. Expat scans an incomplete one again with each piece."""
MAX_PLAIN_BYTES = 16_384
"""Maximum number of bytes that are held back, because they may be the beginning of a plain entry."""
RECENT_BYTES = 4_096
"""Number of bytes that are kept to say what is wrong: a fault may lie before the piece in which expat finds it."""
_ASCII_NAMES = frozenset({"us-ascii", "ascii"})
_UTF8_NAMES = _ASCII_NAMES | {"utf-8", "utf8"}
_LF, _CR = b"\n\r"
_CONTINUATIONS = bytes(range(0x80, 0xC0))
"""Bytes of UTF-8 that begin no character."""
_END_TAG = b"</url>"
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
    """Reader of one document. Expat gets all of it but the plain entries. `out` collects entries and issues."""

    def __init__(self, *, leaves_out_plain: bool) -> None:
        self.out: list[Node | PlainRun | Issue] = []
        self.lines_left_out = 0
        self.encoding = "utf-8"
        """Declared encoding."""
        self._leaves_out_plain = leaves_out_plain
        self._has_plain_namespace = False
        self._stack: list[Node] = []
        self._names: dict[str, tuple[str, str]] = {}
        """Namespace and name by tag of expat."""
        self._entry_depth = 1
        self._nodes = 0
        self._stray = False
        self._fed_bytes = 0
        self._recent = b""
        """The last bytes of what expat has read."""
        self._end_tag_index = -1
        """Position of the last end tag of an entry in the bytes that expat has read."""
        self._failed_tries = 0
        # The line of expat, without those that are left out, whose columns differ from those of the document.
        self._shifted_line, self._column_shift = 0, 0
        # It gets UTF-8, see `_Utf8`, and would read "utf8" as another encoding.
        parser = expat.ParserCreate("UTF-8", namespace_separator=" ", intern=None)
        parser.buffer_text = True
        parser.buffer_size = 65_536
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartNamespaceDeclHandler = self._namespace
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        # Text before and after these is not joined, so that the line of a text is known.
        parser.CommentHandler = parser.ProcessingInstructionHandler = _ignore
        self.parser = parser

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber + self.lines_left_out

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _UTF8_NAMES:
            raise _ParseError(issue("not-utf-8", f"is declared as {encoding}", 1))
        if encoding is not None:
            self.encoding = encoding.lower()
        if self.encoding == "utf8":
            self.out.append(issue("encoding-name", f"is declared as {encoding}: write UTF-8", 1))

    def _doctype(self, *_: object) -> NoReturn:
        raise _ParseError(issue("doctype", "has a DOCTYPE and is not read any further", self._line))

    def _namespace(self, prefix: str | None, uri: str) -> None:
        if not self._stack and prefix is None:
            self._has_plain_namespace = uri == CORE

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        depth = len(self._stack)
        line = self.parser.CurrentLineNumber + self.lines_left_out
        if depth >= MAX_DEPTH:
            raise _ParseError(issue("nested-too-deep", f"nests more than {MAX_DEPTH} elements", line))
        names = self._names.get(tag)
        if names is None:
            namespace, _, name = tag.rpartition(" ")
            names = namespace, name
            if len(self._names) < MAX_NAMES:
                self._names[tag] = names
        node = Node(*names, line, attributes)
        if depth == 0:
            self._entry_depth = 2 if node.name == "rss" else 1
            self._leaves_out_plain &= self._has_plain_namespace and tag == f"{CORE} urlset"
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
            self._end_tag_index = self.parser.CurrentByteIndex

    def _characters(self, data: str) -> None:
        node = self._stack[-1]
        if len(self._stack) <= self._entry_depth:
            if not self._stray and (text := data.lstrip(WHITE_SPACE)):
                self._stray = True
                # Expat stands behind the text.
                line = self._line - text.count("\n")
                self.out.append(issue("stray-text", "has text between its entries", line))
        elif len(node.text) < MAX_TEXT:
            node.text = (node.text + data)[:MAX_TEXT]

    def read(self, data: bytes) -> bytes:
        """Read a piece of the document and return its end, if that may be a part of a plain entry."""
        if not self._leaves_out_plain:
            self.feed(data)
            return b""
        position = 0
        while position < len(data):
            if self._is_between_entries:
                end = end_of_run(data, position)
                if end > position:
                    self._leave_out(data, position, end)
                    self._failed_tries, position = 0, end
                self._failed_tries += 1
            end = data.find(_END_TAG, position)
            if end < 0:
                if self._is_between_entries and len(data) - position < MAX_PLAIN_BYTES:
                    return data[position:]
                end = len(data)
            else:
                # Files with many other entries are fed in larger and larger pieces.
                if self._failed_tries > 2:
                    farthest = position + (256 << min(self._failed_tries, 8))
                    end = max(end, data.rfind(_END_TAG, end, farthest))
                end += len(_END_TAG)
            self.feed(data[position:end])
            position = end
        return b""

    @property
    def _is_between_entries(self) -> bool:
        """Whether the last byte that expat has read ends an entry."""
        return self._end_tag_index == self._fed_bytes - len(_END_TAG) and self._leaves_out_plain

    def _leave_out(self, data: bytes, start: int, end: int) -> None:
        """Yield plain entries without expat, and keep its lines and columns right."""
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber
        self.out.append(PlainRun(data, start, end, line + self.lines_left_out))
        last_line = end_of_last_line(data, start, end)
        if last_line > start:
            self.lines_left_out += count_lines(data, start, end)
            self._column_shift = end - last_line - column
        else:
            self._column_shift = end - start + (self._column_shift if line == self._shifted_line else 0)
        self._shifted_line = line

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Let expat read. Raises _ParseError."""
        self._fed_bytes += len(data)
        try:
            self.parser.Parse(data, final)
        except expat.ExpatError as exc:
            self.parser.buffer_text = False  # hands over the text before the error
            column = exc.offset + 1 + (self._column_shift if exc.lineno == self._shifted_line else 0)
            read = self._recent + data
            position = self.parser.ErrorByteIndex - self._fed_bytes + len(read)
            fault = fault_of(exc.code, read, position, [node.name for node in self._stack])
            place = (exc.lineno + self.lines_left_out, column)
            raise _ParseError(issue(fault.rule, fault.message, *place, replacement=fault.replacement)) from None
        self._recent = data[-RECENT_BYTES:] if len(data) >= RECENT_BYTES else (self._recent + data)[-RECENT_BYTES:]
        if not final and self._fed_bytes - self.parser.CurrentByteIndex > MAX_TOKEN_BYTES:
            message = f"has a tag or comment of over {MAX_TOKEN_BYTES:,} bytes"
            raise _ParseError(issue("oversized-tag", message, self._line))


def _ignore(*_: object) -> None:
    """Take an event that has no meaning in a sitemap."""


class _Utf8:
    """Check that a document is UTF-8. Expat would report an "invalid token", which does not say what to do."""

    def __init__(self) -> None:
        self.is_ascii = True
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._line, self._column = 1, 1
        self._ends_with_cr = False

    def check(self, chunk: bytes) -> tuple[bytes, Issue | None]:
        """Return the valid part of a chunk, and the issue that ends it."""
        pending = len(self._decoder.getstate()[0])
        try:
            if pending or not chunk.isascii():
                self.is_ascii = False
                self._decoder.decode(chunk)
        except UnicodeDecodeError as exc:
            valid = chunk[: max(0, exc.start - pending)]
            self._advance(valid)
            # The first byte of a character that begins in the chunk before has been counted.
            column = self._column - (pending > exc.start)
            return valid, issue("not-utf-8", "has bytes that are not UTF-8", self._line, column)
        self._advance(chunk)
        return chunk, None

    def _advance(self, data: bytes) -> None:
        if not data:
            return
        last_line = end_of_last_line(data, 0, len(data))
        if last_line:
            # CR LF in two chunks is one line end.
            self._line += count_lines(data, 0, len(data)) - (self._ends_with_cr and data[0] == _LF)
            self._column = 1
        characters = data[last_line:].translate(None, _CONTINUATIONS)
        self._column += len(characters)
        self._ends_with_cr = data[-1] == _CR


def read_xml(chunks: Iterable[bytes], *, leaves_out_plain: bool = True) -> Iterator[Node | PlainRun | Issue]:
    """Yield the root, then each entry. Issues are yielded between them; a fatal issue is the last item.

    Plain entries are yielded as runs, except with `leaves_out_plain` false.
    """
    builder = _Builder(leaves_out_plain=leaves_out_plain)
    utf8 = _Utf8()
    rest = b""
    is_first = True
    try:
        for chunk in chunks:
            if is_first:
                yield from _byte_order_mark(chunk)
                is_first = False
            valid, problem = utf8.check(chunk)
            rest = builder.read(rest + valid)
            yield from builder.out
            builder.out.clear()
            if problem:
                builder.feed(rest)
                raise _ParseError(problem)
        builder.feed(rest, final=True)
        yield from builder.out
        if builder.encoding in _ASCII_NAMES and not utf8.is_ascii:
            yield issue("not-utf-8", f"is declared as {builder.encoding}, which lacks characters that it has", 1)
    except _ParseError as stop:
        yield from builder.out
        yield stop.issue


def read_nodes(chunks: Iterable[bytes]) -> Iterator[Node | Issue]:
    """Yield the root, each entry and the issues, as `read_xml` does, but no runs."""
    for item in read_xml(chunks):
        if isinstance(item, PlainRun):
            yield from nodes_of(item)
        else:
            yield item


def nodes_of(run: PlainRun) -> Iterator[Node]:
    """Yield the entries of a run as expat would give them."""
    entry: Node | None = None
    for name, line, text in run.elements():
        if name == "url":
            if entry:
                yield entry
            entry = Node(CORE, name, line, {})
        elif entry:
            entry.children.append(Node(CORE, name, line, {}, text[:MAX_TEXT]))
    if entry:
        yield entry


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


def _byte_order_mark(head: bytes) -> Iterator[Issue]:
    if head.startswith(_OTHER_BOMS) or b"\0" in head[:4]:
        raise _ParseError(issue("not-utf-8", "is UTF-16 or UTF-32", 1))
    if head.startswith(codecs.BOM_UTF8):
        yield issue("byte-order-mark", "begins with a byte order mark", 1)
