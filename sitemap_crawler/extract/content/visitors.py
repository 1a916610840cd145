"""Numbers of visitors and of visits on a page. Forums and content managers change them with each request."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

_END_BYTES = 1_500  # at the beginning and at the end of the text: to read all of it costs more
_BEFORE_BYTES, _AFTER_BYTES = 100, 40  # around the word for guests
_MAX_STATEMENTS = 20  # of either end; real ones have one or two

_MARKS = (b"guest", b"Guest", b"G\xc3\xa4ste", b"Gast")
_GUESTS = re.compile(rb"[Gg]uest|G(?:\xc3\xa4ste|ast)")
# A page about other guests, such as those of a hotel, has none of these words beside them.
_CONTEXT = (b"nline", b"iewing", b"rowsing", b"ember", b"egistered", b"itglied")
_NUMBER = rb"[0-9]++(?:[.,'][0-9]{3})*+"
_VISITORS = re.compile(
    rb"(?i:(?:(?<![0-9])(?<![0-9][.,'])%s|one|no|eine?|keine?)(?:(?:registered|hidden|anonymous)(?:users?|members?)?"
    rb"|(?:guest|member|user|visitor|robot|bot|spider)(?:\(s\)|s)?"
    rb"|g\xc3\xa4ste|gast|mitglied(?:er)?|besucher|benutzer)"
    rb"|(?:guests|members|robots|total|users):%s)" % (_NUMBER, _NUMBER)
)

# "(Read 1,234 times)" beside the title of a topic.
_READ_MARKS = (b"(Read", b"(Gelesen")
_READ = re.compile(rb"(?<=\(Read)%s(?=times\))|(?<=\(Gelesen)%s(?=mal\))" % (_NUMBER, _NUMBER))

_VIEWS = frozenset({"views", "hits", "aufrufe", "zugriffe"})
"""Headings of columns that count the visits of what their rows name."""
_HEADINGS = (b"Views", b"Hits", b"Aufrufe", b"Zugriffe")
_MAX_HEADING = 40  # characters
_HEADING_ROWS = 3  # of a table, one of which may have the headings
_MAX_TEXTS = 60  # of a row with headings
_MAX_PIECES = 8  # of text in a cell with a heading or a number
_MAX_ROWS = 5_000  # of all such tables
_MIN_COLUMNS = 3
_MAX_HEADINGS = 20  # of columns without a table
_MAX_STATED = 100  # elements of a page


def visit_counts(metas: Iterable[etree._Element]) -> Iterator[etree._Element]:
    """Yield the elements that say how often a page was visited, of which microdata says so, as in Joomla's articles."""
    stated = (meta for meta in metas if (meta.get("content") or "").startswith("UserPageVisits:"))
    for meta in islice(stated, _MAX_STATED):
        parent = meta.getparent()
        if parent is not None and _text(parent):
            yield parent


def view_cells(tables: Iterable[etree._Element]) -> Iterator[etree._Element]:
    """Yield the cells of tables that count visits: those with a number below a heading such as "Views"."""
    remaining = _MAX_ROWS
    for table in tables:
        rows = table.iter("tr")
        column = next(filter(None, map(_views_column, islice(rows, _HEADING_ROWS))), None)
        if column is None:
            continue
        for row in islice(rows, remaining):
            remaining -= 1
            yield from (cell for place, cell in _cells(row) if place == column and _is_number(_text(cell)))


def may_have_view_columns(text: bytes) -> bool:
    """Return whether the heading of such a column may stand in a text."""
    return any(heading in text for heading in _HEADINGS)


def view_columns(blocks: Iterable[etree._Element]) -> Iterator[etree._Element]:
    """Yield the elements that count visits in the rows below a heading such as "Views", where no table has them.

    The rows have as many columns as the headings, and the same parent, or one that follows it.
    """
    remaining = _MAX_ROWS
    found = (block for block in blocks if (block.text or "")[:_MAX_HEADING].strip().casefold() in _VIEWS)
    for block in islice(found, _MAX_HEADINGS):
        headings = block.getparent()
        if headings is None or len(headings) < _MIN_COLUMNS:
            continue
        place, columns = headings.index(block), len(headings)
        for row in islice(_rows_below(headings), remaining):
            remaining -= 1
            if len(row) == columns and _is_number(_text(row[place])):
                yield row[place]


def _rows_below(headings: etree._Element) -> Iterator[etree._Element]:
    yield from headings.itersiblings()
    if (head := headings.getparent()) is not None:
        for body in head.itersiblings():
            yield from body


def _views_column(row: etree._Element) -> int | None:
    """Return the number of the column of views if a row has their heading. It is not the first column."""
    pieces = islice(row.itertext(), _MAX_TEXTS)
    texts = {str(piece).strip().casefold() for piece in pieces if len(piece) <= _MAX_HEADING}
    if texts.isdisjoint(_VIEWS):
        return None
    return next((place for place, cell in _cells(row) if _text(cell).casefold() in _VIEWS), None)


def _cells(row: etree._Element) -> Iterator[tuple[int, etree._Element]]:
    """Yield the cells of a row, each with the number of its column."""
    column = 0
    for cell in row.iterchildren("th", "td"):
        yield column, cell
        span = cell.get("colspan") or ""
        column += int(span) if span.isdecimal() and len(span) < 4 else 1


def _is_number(text: str) -> bool:
    """Return whether a text is a number with a word, or an abbreviation: "12", "Hits: 12", "1.2k"."""
    return text[:1].isdigit() or text[-1:].isdigit()


def _text(cell: etree._Element) -> str:
    """Return the text of a cell if it is short."""
    pieces = [str(text) for text in islice(cell.itertext(), _MAX_PIECES)]
    return "".join(pieces).strip() if sum(map(len, pieces)) <= _MAX_HEADING else ""


def without_visitors(text: bytes) -> bytes:
    """Return a text without white space, and without numbers such as "2 members and 1 guest" and "(Read 40 times)".

    They are known in English and in German, near the beginning and the end. Guests are among the visitors.
    """
    if len(text) <= 2 * _END_BYTES:
        return _without_statements(text)
    beginning, end = text[:_END_BYTES], text[-_END_BYTES:]
    stable = _without_statements(beginning), _without_statements(end)
    if stable == (beginning, end):
        return text
    return b"".join((stable[0], text[_END_BYTES:-_END_BYTES], stable[1]))


def _without_statements(text: bytes) -> bytes:
    if any(mark in text for mark in _READ_MARKS):
        text = _READ.sub(b"", text)
    if not any(mark in text for mark in _MARKS):
        return text
    parts: list[bytes] = []
    end = 0
    for guests in islice(_GUESTS.finditer(text), _MAX_STATEMENTS):
        start = max(end, guests.start() - _BEFORE_BYTES)
        statement = text[start : max(start, guests.end() + _AFTER_BYTES)]
        if any(word in statement for word in _CONTEXT):
            parts += (text[end:start], _VISITORS.sub(b"", statement))
            end = start + len(statement)
    parts.append(text[end:])
    return b"".join(parts)
