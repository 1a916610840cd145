"""Plain entries of a sitemap: the part of XML that regular expressions read exactly, without a parser.

A plain entry is `<url>` with `<loc>`, perhaps `<lastmod>`, then perhaps `<changefreq>` and `<priority>`, in that
spelling, without attributes and comments, in ASCII and with `&amp;` as the only reference. Such an element is balanced
and declares nothing, so the state of a parser is the same before and after it. `reader` leaves plain entries out of the
input of expat, but only where expat stands between two entries.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Possessive quantifiers: no text takes these expressions more than linear time.
SPACE = rb"[ \t\r\n]*+"
_CHARACTERS = rb"[!-%'-;=?-~]"  # printable ASCII without & < >
_LOC = _CHARACTERS + rb"++(?:&amp;" + _CHARACTERS + rb"*+)*+"
LASTMOD = rb"[0-9T:Z.+-]++"
HINT = SPACE + rb"<(?:changefreq>[A-Za-z]++</changefreq|priority>[0-9.]++</priority)>"
_ENTRY = (
    rb"(?:" + SPACE + rb"<url>" + SPACE + rb"<loc>" + _LOC + rb"</loc>"
    rb"(?:" + SPACE + rb"<lastmod>" + LASTMOD + rb"</lastmod>)?+(?:" + HINT + rb")*+" + SPACE + rb"</url>)"
)  # fmt: skip
_RUN = re.compile(_ENTRY + rb"++")
_ELEMENT = re.compile(rb"<(url|loc|lastmod|changefreq|priority)>([^<]*+)")


class PlainRun(NamedTuple):
    """Plain entries that follow one another."""

    data: bytes
    start: int
    end: int
    line: int
    """Line of the byte at `start`."""

    def elements(self) -> Iterator[tuple[str, int, str]]:
        """Yield name, line and text of each element. A `url` has no text, and its children follow."""
        data, position, line = self.data, self.start, self.line
        for match in _ELEMENT.finditer(data, self.start, self.end):
            start = match.start()
            line += count_lines(data, position, start)
            position = start
            name, text = match.groups()
            yield name.decode(), line, "" if name == b"url" else text.replace(b"&amp;", b"&").decode()


def end_of_run(data: bytes, start: int) -> int:
    """Return the end of the plain entries at `start`; `start` if there is none."""
    match = _RUN.match(data, start)
    return match.end() if match else start


def count_lines(data: bytes, start: int, end: int) -> int:
    """Return the number of line ends as XML counts them: LF, CR LF and CR."""
    count = data.count(b"\n", start, end)
    if data.find(b"\r", start, end) >= 0:
        count += data.count(b"\r", start, end) - data.count(b"\r\n", start, end)
    return count


def end_of_last_line(data: bytes, start: int, end: int) -> int:
    """Return the position behind the last line end; `start` if there is none."""
    return max(data.rfind(b"\n", start, end), data.rfind(b"\r", start, end), start - 1) + 1
