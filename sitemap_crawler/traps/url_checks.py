"""Traps that an address itself shows: paths that go round in circles, too many parameters, far months."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TRAP = "trap: "
"""What the evidence of every trap begins with."""

MAX_SEGMENTS = 40
MAX_PARAMETERS = 40
MAX_SAME_NAME = 8
MONTHS_AHEAD = 24
EARLIEST_YEAR = 1000

_MAX_ROUND = 4
"""Segments of a path that may repeat together;"""
_ROUNDS = 3
"""times in a row from which on that is a loop,"""
_ROUNDS_OF_ONE = 4
_ROUNDS_OF_A_NUMBER = 8
"""for one segment, and for one that is a number: coordinates of maps are paths like /0/0/0/0."""
_MAX_SHOWN = 60
"""Characters of a segment or a name in the evidence."""

# A year and a month that are whole segments of the path or the whole value of a parameter; a year alone says nothing.
_YEAR_MONTH = re.compile(
    r"""(?: / (?P<y1>[0-9]{4}) / (?P<m1>[0-9]{1,2}) (?=[/?]|\Z)
    | [/=] (?P<y2>[0-9]{4}) - (?P<m2>[0-9]{1,2}) (?: -[0-9]{1,2} )? (?= [/?&;] | \.[a-z]{2,5}(?:[?]|\Z) | \Z ) )""",
    re.VERBOSE,
)
_COMPACT = re.compile(r"[?&](?:\w*date|day|ymd|ym|month|cal)=(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?:[0-9]{2})?(?=&|\Z)", re.I)
_YEAR = re.compile(r"[?&](?:\w*[_-])?(?:year|yr|jahr|y)=(?P<y>[0-9]{4})(?=&|\Z)", re.IGNORECASE)
_MONTH = re.compile(r"[?&](?:\w*[_-])?(?:month|mon|monat|mo|m)=(?P<m>[0-9]{1,2})(?=&|\Z)", re.IGNORECASE)


def url_trap(url: str, *, month: int) -> str | None:
    """Why a normalised URL is a trap by itself, in words that begin with TRAP; `month` is today's, as of `month_of`."""
    path, _, query = url[len(origin_of(url)) :].partition("?")
    return _loop(path) or (_parameters(query) if query else None) or _calendar(url, month)


def month_of(year: int, month: int) -> int:
    """Months since the year 0."""
    return 12 * year + month - 1


def _loop(path: str) -> str | None:
    # Nearly all paths are shorter than the shortest loop.
    if path.count("/") < _ROUNDS_OF_ONE:
        return None
    segments = path[1:].removesuffix("/").split("/")
    if len(segments) > MAX_SEGMENTS:
        return f"{TRAP}a path of more than {MAX_SEGMENTS} segments"
    for length in range(1, _MAX_ROUND + 1):
        at = _repeated(segments, length)
        if at is not None:
            loop = "/".join([_shown(segment) for segment in segments[at : at + length]])
            return f"{TRAP}a path that goes round and round, /{loop}/"
    return None


def _repeated(segments: Sequence[str], length: int) -> int | None:
    """Where a group of so many segments begins that stands there too many times in a row."""
    equal = 0
    for at in range(length, len(segments)):
        equal = equal + 1 if segments[at] == segments[at - length] else 0
        if equal >= length * (_rounds(segments[at], length) - 1):
            return at + 1 - equal - length
    return None


def _rounds(segment: str, length: int) -> int:
    if length > 1:
        return _ROUNDS
    return _ROUNDS_OF_A_NUMBER if segment.isdigit() else _ROUNDS_OF_ONE


def _parameters(query: str) -> str | None:
    if query.count("&") < MAX_SAME_NAME:
        return None
    # What has no value is no choice that a page offers.
    names = [name for name, equals, _ in (part.partition("=") for part in query.split("&")) if equals]
    if len(names) > MAX_PARAMETERS:
        return f"{TRAP}more than {MAX_PARAMETERS} parameters"
    often = next((name for name in names if names.count(name) > MAX_SAME_NAME), None)
    return f"{TRAP}the parameter {_shown(often)} more than {MAX_SAME_NAME} times" if often is not None else None


def _calendar(url: str, now: int) -> str | None:
    found = next((then for then in _months(url) if _is_far(then, now)), None)
    if found is None:
        return None
    if found < now:
        return f"{TRAP}a calendar that goes back to before the year {EARLIEST_YEAR}"
    return f"{TRAP}a calendar that goes on for more than {MONTHS_AHEAD} months from now"


def _months(url: str) -> list[int]:
    found = [(match["y1"] or match["y2"], match["m1"] or match["m2"]) for match in _YEAR_MONTH.finditer(url)]
    if "?" in url:
        found += [(match["y"], match["m"]) for match in _COMPACT.finditer(url)]
        year, month = _YEAR.search(url), _MONTH.search(url)
        if year is not None and month is not None:
            found.append((year["y"], month["m"]))
    return [month_of(int(year), int(month)) for year, month in found if 1 <= int(month) <= 12]


def _is_far(then: int, now: int) -> bool:
    return then > now + MONTHS_AHEAD or then < month_of(EARLIEST_YEAR, 1)


def _shown(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


MAX_TRAPS = 1_000
OTHERS = f"{TRAP}more than {MAX_TRAPS:,} different ones"


class TrapTally:
    """By evidence: how many URLs, and the first of them."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, url: str, evidence: str | None) -> None:
        if evidence is None or not evidence.startswith(TRAP):
            return
        if evidence not in self._found and len(self._found) >= MAX_TRAPS:
            evidence = OTHERS
        count, example = self._found.get(evidence, (0, url))
        self._found[evidence] = (count + 1, example)

    def warnings(self) -> Iterator[tuple[str, str]]:
        """An example and what to tell of each trap, the largest first."""
        for evidence, (count, example) in sorted(self._found.items(), key=lambda item: (-item[1][0], item[0])):
            them = "1 URL like this was" if count == 1 else f"{count:,} URLs like this were"
            remedy = "if these are pages, except them with SITEMAP_NO_TRAPS, or raise SITEMAP_TRAP_BUDGET"
            yield example, f"{evidence.removeprefix(TRAP)}: {them} not fetched; {remedy}"
