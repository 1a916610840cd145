"""Crawler traps that a URL shows by itself: repeating paths, too many parameters, distant months."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.urls.parameters import count_separators, parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TRAP = "trap: "
"""Prefix of the evidence of every trap."""
COMBINATIONS = f"{TRAP}too many combinations of parameters"
"""Beginning of the evidence of a trap that the setting SITEMAP_TRAP_BUDGET decides on."""

MAX_SEGMENTS = 40
"""Maximum number of segments in the path of a URL."""
MAX_PARAMETERS = 40
"""Maximum number of parameters of a URL. A parameter without `=` does not count."""
MAX_SAME_NAME = 8
"""Maximum number of parameters of a URL that share one name."""
MAX_MONTHS_AHEAD = 24
"""Maximum distance into the future of a month in a URL."""
MIN_YEAR = 1000
"""Earliest year of a month in a URL."""

_MAX_GROUP_SEGMENTS = 4
"""Maximum number of segments of a group whose repetition is detected."""
_MIN_GROUP_REPEATS = 3
"""Number of repetitions in a row from which a group of several segments is a loop."""
_MIN_SEGMENT_REPEATS = 4
"""Number of repetitions in a row from which a single segment is a loop."""
_MIN_NUMBER_REPEATS = 8
"""The same for a segment that is a number: map tiles have paths such as /0/0/0/0."""
_MAX_SHOWN = 60
"""Maximum number of characters of a segment or a name in the evidence."""

MAX_TALLIED_TRAPS = 1_000
"""Maximum number of traps that a tally counts separately."""
NOTHING_NEW = f"{TRAP}the last pages had shown nothing new"
"""Evidence for the URLs that a run has left out at its end. A notice says how many there are, and of which shapes."""
OTHER_TRAPS = f"{TRAP}more than {MAX_TALLIED_TRAPS:,} different ones"
"""Evidence under which a tally counts all further traps."""

# A year and a month that are whole segments of the path or the whole value of a parameter. A year alone proves nothing.
_YEAR_MONTH = re.compile(
    r"""(?: / (?P<y1>[0-9]{4}) / (?P<m1>[0-9]{1,2}) (?=[/?]|\Z)
    | [/=] (?P<y2>[0-9]{4}) - (?P<m2>[0-9]{1,2}) (?: -[0-9]{1,2} )? (?= [/?&;] | \.[a-z]{2,5}(?:[?]|\Z) | \Z ) )""",
    re.VERBOSE,
)
_COMPACT = re.compile(
    r"[?&;](?:\w*date|day|ymd|ym|month|cal)=(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?:[0-9]{2})?(?=[&;]|\Z)", re.IGNORECASE
)
_WEEK = re.compile(r"[/=](?P<y>[0-9]{4})-W(?P<w>[0-9]{1,2})(?=[/?&;]|\Z)", re.IGNORECASE)
_WEEKS = 53  # of a year, at most
_YEAR = re.compile(r"[?&;](?:\w*[_-])?(?:year|yr|jahr|y)=(?P<y>[0-9]{4})(?=[&;]|\Z)", re.IGNORECASE)
_MONTH = re.compile(r"[?&;](?:\w*[_-])?(?:month|mon|monat|mo|m)=(?P<m>[0-9]{1,2})(?=[&;]|\Z)", re.IGNORECASE)


def url_trap(url: str, *, month: int) -> str | None:
    """Return the evidence that a normalised URL is a trap, or None. `month` is the current one, from `month_of`."""
    path, _, query = url[len(origin_of(url)) :].partition("?")
    return _loop(path) or (_parameters(query) if query else None) or _calendar(url, month)


def month_of(year: int, month: int) -> int:
    """Return the number of months since the year 0."""
    return 12 * year + month - 1


def _loop(path: str) -> str | None:
    # Nearly all paths are shorter than the shortest loop.
    if path.count("/") < _MIN_SEGMENT_REPEATS:
        return None
    segments = path[1:].removesuffix("/").split("/")
    if len(segments) > MAX_SEGMENTS:
        return f"{TRAP}a path of more than {MAX_SEGMENTS} segments"
    for length in range(1, _MAX_GROUP_SEGMENTS + 1):
        start = _loop_start(segments, length)
        if start is not None:
            loop = "/".join([_shown(segment) for segment in segments[start : start + length]])
            return f"{TRAP}a path that repeats /{loop}/"
    return None


def _loop_start(segments: Sequence[str], length: int) -> int | None:
    """Return the index at which a group of `length` segments begins to repeat too often."""
    equal = 0
    for index in range(length, len(segments)):
        equal = equal + 1 if segments[index] == segments[index - length] else 0
        if equal >= length * (_min_repeats(segments[index], length) - 1):
            return index + 1 - equal - length
    return None


def _min_repeats(segment: str, length: int) -> int:
    if length > 1:
        return _MIN_GROUP_REPEATS
    return _MIN_NUMBER_REPEATS if segment.isdigit() else _MIN_SEGMENT_REPEATS


def _parameters(query: str) -> str | None:
    if count_separators(query) < MAX_SAME_NAME:
        return None
    # A name without a value is not a choice that a page offers.
    names = [name for name, equals, _ in (part.partition("=") for part in parameters_of(query)) if equals]
    if len(names) > MAX_PARAMETERS:
        return f"{TRAP}more than {MAX_PARAMETERS} parameters"
    frequent = next((name for name in names if names.count(name) > MAX_SAME_NAME), None)
    return f"{TRAP}the parameter {_shown(frequent)} more than {MAX_SAME_NAME} times" if frequent is not None else None


def _calendar(url: str, current: int) -> str | None:
    distant = next((month for month in _months(url) if _is_distant(month, current)), None)
    if distant is None:
        return None
    if distant < current:
        return f"{TRAP}a calendar that goes back to before the year {MIN_YEAR}"
    return f"{TRAP}a calendar that continues for more than {MAX_MONTHS_AHEAD} months from now"


def _months(url: str) -> list[int]:
    dates = [(match["y1"] or match["y2"], match["m1"] or match["m2"]) for match in _YEAR_MONTH.finditer(url)]
    weeks = [(match["y"], int(match["w"])) for match in _WEEK.finditer(url)]
    # The month in which about that week of the year is.
    dates += [(year, str(1 + (week - 1) * 12 // _WEEKS)) for year, week in weeks if 1 <= week <= _WEEKS]
    if "?" in url:
        dates += [(match["y"], match["m"]) for match in _COMPACT.finditer(url)]
        year, month = _YEAR.search(url), _MONTH.search(url)
        if year is not None and month is not None:
            dates.append((year["y"], month["m"]))
    return [month_of(int(year), int(month)) for year, month in dates if 1 <= int(month) <= 12]


def _is_distant(month: int, current: int) -> bool:
    return month > current + MAX_MONTHS_AHEAD or month < month_of(MIN_YEAR, 1)


def _shown(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


class TrapTally:
    """Counts of the URLs that traps kept from being fetched, by evidence: one warning of the report for each."""

    def __init__(self) -> None:
        self._traps: dict[str, tuple[int, str]] = {}
        """Number of URLs and the first URL, by evidence."""

    def add(self, url: str, evidence: str | None) -> None:
        """Count a URL if its evidence is that of a trap."""
        if evidence is None or not evidence.startswith(TRAP) or evidence == NOTHING_NEW:
            return
        if evidence not in self._traps and len(self._traps) >= MAX_TALLIED_TRAPS:
            evidence = OTHER_TRAPS
        count, example = self._traps.get(evidence, (0, url))
        self._traps[evidence] = (count + 1, example)

    def warnings(self) -> Iterator[tuple[str, str]]:
        """Yield an example and the message of each trap. The trap with the most URLs comes first."""
        for evidence, (count, example) in sorted(self._traps.items(), key=lambda item: (-item[1][0], item[0])):
            urls = "1 URL like this was" if count == 1 else f"{count:,} URLs like this were"
            remedy = "if these are pages, except them with SITEMAP_NO_TRAPS"
            if evidence.startswith(COMBINATIONS) or evidence == OTHER_TRAPS:
                remedy += ", or raise SITEMAP_TRAP_BUDGET"
            yield example, f"{evidence.removeprefix(TRAP)}: {urls} left out; {remedy}"
