"""Check of plain entries by the thousand: entries whose bytes show that no rule objects to them.

The check takes entries only while it is certain. All others go through the rules, one by one. A rule that is to object
to a URL of letters, digits and `-._~!$'*+,:@%` below the sitemap's directory needs a change of `_SEGMENT` here.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.validation.keys import NORMAL_ESCAPE
from sitemap_crawler.validation.protocol import MAX_LOC
from sitemap_crawler.validation.reading.plain import HINT, SPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.validation.values import Place

MAX_KNOWN_TEXTS = 20_000
"""Maximum number of texts of dates and hints whose verdict is remembered."""

# A path segment that is not empty and begins with no dot. Other spellings of escapes have the key of the normal one.
_SAFE = rb"[A-Za-z0-9._~!$'*+,:@-]"
_SEGMENT = rb"/(?![./<])" + _SAFE + rb"*+(?:" + NORMAL_ESCAPE.encode() + _SAFE + rb"*+)*+"
# Dates of this century in the usual forms.
_ZONE = rb"(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9])"
_DATE = rb"20[0-9]{2}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?" + _ZONE + rb")?"


class Batch(NamedTuple):
    """Entries that follow one another and to which no rule objects."""

    end: int
    """Position behind the last entry."""
    keys: list[bytes]
    """Keys of the URLs: see `keys.key_of`."""
    lastmods: list[bytes]
    """Texts of the lastmods. An entry may have none."""
    times: list[float]
    """Time of each lastmod, in seconds since 1970."""
    hints: list[bytes]
    """Elements changefreq and priority of each entry."""


class Verdicts(dict[bytes, float | None]):
    """Times of lastmods by text; None for a lastmod to which a rule objects. No rule objects to those of the past."""

    def __init__(self, judge: Callable[[str], float | None], now: datetime) -> None:
        super().__init__()
        self._judge = judge
        self._latest = (now - timedelta(days=1)).timestamp()

    def __missing__(self, lastmod: bytes) -> float | None:
        text = lastmod.decode()
        try:
            time: float | None = datetime.fromisoformat(text if len(text) > 10 else f"{text}T00:00:00Z").timestamp()
        except ValueError:
            time = None
        if time is None or time > self._latest:
            time = self._judge(text)
        if len(self) >= MAX_KNOWN_TEXTS:
            self.clear()
        self[lastmod] = time
        return time


def _patterns(place: Place) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return the patterns of an entry, with key, lastmod and hints as groups, and of entries that follow one another.

    The directory of the sitemap is in the patterns as an escaped text, so they take linear time for any directory.
    """
    scheme, _, host = place.origin.partition("://")
    www = "www." if host.startswith("www.") else ""
    begin = re.escape(f"{scheme}://{www}".encode())
    directory = re.escape(f"{host.removeprefix('www.')}{place.directory.removesuffix('/')}".encode())

    def entry(group: bytes) -> bytes:
        return (
            SPACE + rb"<url>" + SPACE + rb"<loc>" + begin + group + directory + rb"(?:" + _SEGMENT + rb")++)/?+</loc>"
            rb"(?:" + SPACE + rb"<lastmod>" + group + _DATE + rb")</lastmod>)?+" + group + rb"(?:" + HINT + rb")*+)"
            + SPACE + rb"</url>"
        )  # fmt: skip

    return re.compile(entry(rb"(")), re.compile(rb"(?:" + entry(rb"(?:") + rb")++")


class PlainEntries:
    """Check of plain entries with URLs at or below one directory."""

    def __init__(self, place: Place, verdicts: Verdicts, is_good_hint: Callable[[bytes], bool]) -> None:
        self._entry, self._entries = _patterns(place)
        self._max_key = MAX_LOC - len("https://www./")
        self._verdicts = verdicts
        self._is_good_hint = is_good_hint
        self._hints = {b"": True}

    def end(self, data: bytes, start: int, end: int) -> int:
        """Return the end of the entries at `start` that may be taken; `start` if there is none."""
        match = self._entries.match(data, start, end)
        return match.end() if match else start

    def take(self, data: bytes, start: int, end: int) -> Batch | None:
        """Return the entries between two positions that `end` gave; None if a rule may object to one of them."""
        keys, stated, hints = (list(column) for column in zip(*self._entry.findall(data, start, end), strict=True))
        lastmods = [text for text in stated if text] if b"" in stated else stated
        times = list(map(self._verdicts.__getitem__, lastmods))
        if None in times or len(max(keys, key=len)) > self._max_key:
            return None
        if not all(map(self._judge_hint, set(hints))):
            return None
        return Batch(end, keys, lastmods, times, hints)  # type: ignore[arg-type] # no time is None

    def _judge_hint(self, text: bytes) -> bool:
        verdict = self._hints.get(text)
        if verdict is None:
            if len(self._hints) >= MAX_KNOWN_TEXTS:
                self._hints.clear()
            verdict = self._hints[text] = self._is_good_hint(text)
        return verdict
