"""A list of URLs that the owner of a site supplies, as text, CSV or JSON lines → its entries.

The format shows in the first line: `{` begins JSON lines, the name of the URL's column makes it the header of CSV, and
anything else is text with one URL a line. A list whose columns are not found is not read. Memory is bounded for any
input.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sitemap_crawler.exceptions import ListColumnsError
from sitemap_crawler.extract.lines import Lines
from sitemap_crawler.sitemap.limits import MAX_IMAGES
from sitemap_crawler.utils.nesting import read_json
from sitemap_crawler.utils.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

COLUMNS = ("url", "lastmod", "images", "videos", "section")
"""Names of the values of an entry, which are also the default names of their columns and keys."""
URL_COLUMNS = ("url", "loc")
"""Default names of the column with the URL."""
MAX_VIDEOS = 100
"""Maximum number of videos of one page, as on a page that was read."""
MAX_RECORD_LINES = 50
"""Maximum number of lines of a record of CSV. After more of them a quote counts as never closed."""
MAX_HEAD_LINES, MAX_HEAD_BYTES = 100_000, 4_000_000
"""Maximum number of lines, and of uncompressed bytes, among which the first line with a text is looked for."""
MAX_CELL = 131_072
"""Maximum number of characters of a record of CSV that has line ends in quotes."""
_DELIMITERS = (",", ";", "\t")
_SEPARATOR = re.compile("[,;\t]")
_BLANK = " \t\r\n\ufeff"
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")
"""Control characters, and the sign for bytes that are no text: a URL with one is none."""


_VALUE = re.compile(r"|[\s\"'].*|https?:.*|[0-9][0-9TZ:.+ -]*", re.DOTALL)
"""Second field of a line that is no URL with a separator in it: empty, quoted, a URL, a number or a date."""
_URL = re.compile("https?://", re.IGNORECASE)
_MAX_NAME = 40
"""Maximum number of characters of a column that a message names."""
_MAX_NAMED = 10
"""Maximum number of columns that a message names."""
_SEVERAL_FIELDS = "has several fields, and no heading names them"
_NO_URL = "has nothing in the column of the URL"
_NO_OBJECT = "is no JSON object"


class ListEntry(NamedTuple):
    """One line of a list, or one record of CSV. Nothing is checked but the types."""

    url: str
    lastmod: str | None = None
    images: tuple[str, ...] = ()
    videos: tuple[Mapping[str, Any], ...] = ()
    section: str | None = None
    fault: str | None = None
    """Why the line has no URL; then `url` is the line."""
    line: int = 0
    """Number of the line, from 1, in which the entry begins."""
    notes: tuple[str, ...] = ()
    """Which of its values are left out, and why. Each follows the number of the entries that have it."""


class _Format(Protocol):
    def entries(self, lines: list[str], first: int) -> Iterator[ListEntry]:
        """Yield the entries of some lines. `first` is the number of the first of them."""
        ...

    def finish(self) -> Iterator[ListEntry]: ...


class UrlList:
    """Iterator over the entries of a list, as one list for each piece of the file. A list may be empty."""

    def __init__(
        self,
        pieces: Iterable[bytes],
        *,
        columns: Mapping[str, str],
        max_lines: int,
        max_bytes: int,
    ) -> None:
        """`columns` has other names of columns or keys, or numbers of columns from 1, by the names in COLUMNS."""
        self.lines = Lines(pieces, max_lines=max_lines, max_bytes=max_bytes)
        self._columns = columns

    def __iter__(self) -> Iterator[list[ListEntry]]:
        form: _Format | None = None
        for lines in self.lines:
            begin = 0
            while form is None and begin < len(lines):
                if first := lines[begin].strip(_BLANK):
                    if first.startswith("["):
                        self.lines.damage = "is a JSON array, not JSON lines: write one object a line"
                        return
                    try:
                        form = _form_of(first, self._columns)
                    except ListColumnsError as error:
                        self.lines.damage = str(error)
                        return
                    begin += isinstance(form, _Csv) and form.has_header
                else:
                    begin += 1
            first_line = self.lines.number - len(lines) + begin + 1
            yield list(form.entries(lines[begin:], first_line)) if form is not None else []
        if form is not None:
            yield list(form.finish())


def problem_of(pieces: Iterable[bytes], columns: Mapping[str, str]) -> str | None:
    """Return what is wrong with the columns of a list, from its first line, as `has …`; None if they are found."""
    for lines in Lines(pieces, max_lines=MAX_HEAD_LINES, max_bytes=MAX_HEAD_BYTES):
        for line in lines:
            if first := line.strip(_BLANK):
                try:
                    _form_of(first, columns)
                except ListColumnsError as error:
                    return str(error)
                return None
    return None


def _form_of(first: str, columns: Mapping[str, str]) -> _Format:
    """Return the format that the first line shows. Raises ListColumnsError."""
    if first.startswith("{"):
        return _JsonLines(columns)
    numbers = {name: int(column) - 1 for name, column in columns.items() if column.isascii() and column.isdecimal()}
    if "url" in numbers:
        delimiter = max(_DELIMITERS, key=first.count)
        return _Csv(_positions(columns, numbers, _cells(first, delimiter), heading=[]), delimiter, has_header=False)
    url_names = (columns["url"].lower(),) if "url" in columns else URL_COLUMNS
    for delimiter in _DELIMITERS:
        cells = [cell.strip(_BLANK) for cell in _cells(first, delimiter)]
        heading = [cell.lower() for cell in cells]
        found = next((heading.index(name) for name in url_names if name in heading), None)
        if found is not None:
            given = {**columns, **{name: name for name in COLUMNS[1:] if name not in columns and name in heading}}
            positions = _positions({**given, "url": heading[found]}, numbers, cells, heading=heading)
            return _Csv(positions, delimiter, has_header=True)
    if is_record(first):
        raise ListColumnsError(f"{_SEVERAL_FIELDS}: number them from 1, such as --urls-columns url=1,lastmod=2")
    if "url" in columns and not _URL.match(first):
        cells = _cells(first, max(_DELIMITERS, key=first.count))
        raise ListColumnsError(f"has no column {columns['url']}, but {_named(cells)}: correct --urls-columns")
    return _Text()


def _positions(
    columns: Mapping[str, str], numbers: Mapping[str, int], cells: Sequence[str], *, heading: Sequence[str]
) -> dict[str, int]:
    """Return the position of each named column. Raises ListColumnsError for one that is not there."""
    positions: dict[str, int] = {}
    for name, column in columns.items():
        if name in numbers and column.lower() not in heading:
            if numbers[name] >= len(cells):
                count = "1 column" if len(cells) == 1 else f"{len(cells):,} columns"
                raise ListColumnsError(f"has {count}, and no column {column}: correct --urls-columns")
            positions[name] = numbers[name]
        elif column.lower() in heading:
            positions[name] = heading.index(column.lower())
        else:
            what = _named(cells) if heading else "no heading, so columns have numbers from 1"
            raise ListColumnsError(f"has no column {column}, but {what}: correct --urls-columns")
    return positions


def _named(cells: Sequence[str]) -> str:
    names = ", ".join(printable(one_line(cell.strip(_BLANK), _MAX_NAME)) for cell in cells[:_MAX_NAMED])
    return f"{names} and {len(cells) - _MAX_NAMED:,} more" if len(cells) > _MAX_NAMED else names


def is_record(line: str) -> bool:
    """Return whether a line begins with a URL and a separator, and goes on with what belongs to no URL."""
    for delimiter in _DELIMITERS:
        first, separator, rest = line.partition(delimiter)
        if separator and _URL.match(first):
            second = rest.partition(delimiter)[0].rstrip(_BLANK)
            return delimiter == "\t" or _VALUE.fullmatch(second) is not None
    return False


class _Text:
    """One URL a line."""

    def entries(self, lines: list[str], first: int) -> Iterator[ListEntry]:
        for number, line in enumerate(lines, first):
            if url := line.strip(_BLANK):
                if _SEPARATOR.search(url) is not None and is_record(url):
                    yield ListEntry(url, fault=_SEVERAL_FIELDS, line=number)
                else:
                    yield ListEntry(url, line=number)

    def finish(self) -> Iterator[ListEntry]:
        yield from ()


class _Csv:
    """Records of CSV, https://www.rfc-editor.org/rfc/rfc4180. A cell in quotes may have line ends."""

    def __init__(self, positions: Mapping[str, int], delimiter: str, *, has_header: bool) -> None:
        self.has_header = has_header
        self._positions = positions
        self._delimiter = delimiter
        self._open: list[str] = []
        """Lines of a record whose quote is not closed yet."""
        self._open_length = 0
        self._open_line = 0
        """Number of the first of them."""

    def entries(self, lines: list[str], first: int) -> Iterator[ListEntry]:
        for number, line in enumerate(lines, first):
            yield from self._take(line, number)

    def finish(self) -> Iterator[ListEntry]:
        while self._open:
            yield from self._give_up()

    def _take(self, line: str, number: int) -> Iterator[ListEntry]:
        odd = line.count('"') % 2 == 1
        if not self._open and not odd:
            if stripped := line.strip(_BLANK):
                yield self._entry(_cells(line.rstrip("\r"), self._delimiter) or [stripped], line, number)
            return
        if not self._open:
            self._open_line = number
        self._open.append(line)
        self._open_length += len(line)
        if odd and len(self._open) > 1:
            text = "\n".join(self._open)
            self._open, self._open_length = [], 0
            yield self._entry(_cells(text.rstrip("\r"), self._delimiter), text, self._open_line)
        elif len(self._open) > MAX_RECORD_LINES or self._open_length > MAX_CELL:
            yield from self._give_up()

    def _give_up(self) -> Iterator[ListEntry]:
        """Read the first open line as if its quote were no quote, and the lines after it anew."""
        first, *others = self._open
        number = self._open_line
        self._open, self._open_length = [], 0
        yield self._entry(first.replace('"', "").rstrip("\r").split(self._delimiter), first, number)
        for next_number, line in enumerate(others, number + 1):
            yield from self._take(line, next_number)

    def _entry(self, cells: Sequence[str], line: str, number: int) -> ListEntry:
        def cell(name: str) -> str:
            position = self._positions.get(name)
            return cells[position].strip(_BLANK) if position is not None and position < len(cells) else ""

        url = cell("url")
        if not url:
            return ListEntry(line, fault=_NO_URL, line=number)
        if len(self._positions) == 1:
            return ListEntry(url, line=number)
        notes: list[str] = []
        images = _images_of(_structured(cell("images")), notes)
        videos = _videos_of(_structured(cell("videos")), notes)
        lastmod, section = cell("lastmod") or None, cell("section") or None
        return ListEntry(url, lastmod, images, videos, section, None, number, tuple(notes))


class _JsonLines:
    """One JSON object a line."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._url_keys = (columns["url"],) if "url" in columns else URL_COLUMNS
        self._keys = {name: columns.get(name, name) for name in COLUMNS[1:]}

    def entries(self, lines: list[str], first: int) -> Iterator[ListEntry]:
        for number, line in enumerate(lines, first):
            if text := line.strip(_BLANK):
                yield self._entry(text, number)

    def finish(self) -> Iterator[ListEntry]:
        yield from ()

    def _entry(self, text: str, number: int) -> ListEntry:
        value = _json(text)
        if not isinstance(value, dict):
            return ListEntry(text, fault=_NO_OBJECT, line=number)
        url = next((value[key] for key in self._url_keys if isinstance(value.get(key), str)), None)
        if url is None:
            fault = f"has no text under the key {' or '.join(self._url_keys)}"
            return ListEntry(text, fault=fault, line=number)
        notes: list[str] = []
        lastmod, section = (self._text(value, name, notes) for name in ("lastmod", "section"))
        images = _images_of(value.get(self._keys["images"]), notes)
        videos = _videos_of(value.get(self._keys["videos"]), notes)
        return ListEntry(url, lastmod, images, videos, section, None, number, tuple(notes))

    def _text(self, value: Mapping[str, Any], name: str, notes: list[str]) -> str | None:
        text = value.get(self._keys[name])
        if text is not None and not isinstance(text, str):
            notes.append(f"has a {name} that is no text")
            return None
        return text or None


def is_text(url: str) -> bool:
    """Return whether a text of a list has no control characters and was valid UTF-8."""
    return _NO_TEXT.search(url) is None


def _cells(text: str, delimiter: str) -> list[str]:
    if '"' not in text:
        return text.split(delimiter)
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return None


def _structured(cell: str) -> Any:
    """Return the value of a cell of CSV: JSON, or a list of words."""
    return _json(cell) if cell[:1] in ("[", "{") else cell.split()


def _list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


def _images_of(value: Any, notes: list[str]) -> tuple[str, ...]:
    given = _list_of(value)
    found = []
    for image in given[:MAX_IMAGES]:
        url = next((image[key] for key in URL_COLUMNS if key in image), None) if isinstance(image, dict) else image
        if isinstance(url, str) and url:
            found.append(url)
    if len(found) < min(len(given), MAX_IMAGES):
        notes.append("has an image that is neither a text nor an object with a URL")
    if len(given) > MAX_IMAGES:
        notes.append(f"has more than {MAX_IMAGES:,} images, the maximum of a page")
    return tuple(found)


def _videos_of(value: Any, notes: list[str]) -> tuple[Mapping[str, Any], ...]:
    given = _list_of(value)
    found = tuple(video for video in given[:MAX_VIDEOS] if isinstance(video, dict))
    if len(found) < min(len(given), MAX_VIDEOS):
        notes.append("has a video that is no object")
    if len(given) > MAX_VIDEOS:
        notes.append(f"has more than {MAX_VIDEOS:,} videos, the maximum of a page")
    return found
