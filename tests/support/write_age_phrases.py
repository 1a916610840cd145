"""Writes the phrases for ages anew: `python -m tests.support.write_age_phrases`, with a new release of Babel.

Babel has them from the Unicode CLDR. To load them from Babel takes a crawl 20 to 50 ms for each language.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from itertools import product, takewhile
from typing import TYPE_CHECKING, Any

from babel import Locale
from babel.dates import format_timedelta
from babel.localedata import locale_identifiers

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = ROOT / "sitemap_crawler" / "extract" / "content" / "age_phrases.py"
UNIT_SECONDS = {
    "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_592_000, "year": 31_536_000
}  # fmt: skip
COUNTS = (1, 2, 3, 5, 6, 8, 11, 20, 21, 100)
"""Numbers whose plural forms are all there are.

https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html
"""
EXACT = 1e12
"""Threshold of Babel with which each number has the unit that is asked for."""
NO_SPACE = re.compile(r"[\s\u200e\u200f\u061c]+")
"""White space, and marks of the direction of text."""
MIN_ANCHOR_BYTES = 2
HEAD = '''"""The phrases for ages, and for times left, in the languages of the Unicode CLDR (https://cldr.unicode.org).

Made from Babel by `python -m tests.support.write_age_phrases`.
"""

from __future__ import annotations

AGE_PHRASES: dict[str, tuple[tuple[str, str, str], ...]] = {
'''
MIDDLE = '''}
"""By language, for each kind: what all of them begin with, what all of them end with, and the units between.

Nothing has white space but between two units.
"""

AGE_WORDS: dict[str, str] = {
'''
TAIL = '''}
"""By language, the words for such times without a number, as "yesterday", in lower case, with "|" between them."""
'''


def phrases(locale: Locale, form: Any, *, direction: int) -> list[tuple[str, str]]:
    """Return the texts before and after the number of each age (-1), each time left (1), or each duration (0)."""
    pairs: dict[tuple[str, str], None] = {}
    for unit, seconds in UNIT_SECONDS.items():
        for count in COUNTS:
            time = timedelta(seconds=(direction or 1) * count * seconds)
            # Babel lacks the short form of some units.
            with suppress(KeyError):
                phrase = format_timedelta(time, unit, EXACT, add_direction=direction != 0, format=form, locale=locale)  # type: ignore[arg-type]
                before, number, after = NO_SPACE.sub("", phrase).partition(str(count))
                # Some languages have words for one or two of a unit, without a number.
                if number:
                    pairs[before, after] = None
    return list(pairs)


def common_start(texts: Sequence[str]) -> str:
    low, high = min(texts, default=""), max(texts, default="")
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False)))


def kinds_of(language: str) -> list[tuple[str, str, str]]:
    """Return begin, end and units of each kind of ages and times left that has a common begin or end."""
    locale = Locale.parse(language)
    durations: set[str] = set()
    kinds: dict[tuple[str, str], set[str]] = {}
    for form in ("long", "short"):
        durations |= {after for before, after in phrases(locale, form, direction=0) if not before}
    for direction, form in product((-1, 1), ("long", "short")):
        times = phrases(locale, form, direction=direction)
        begin = common_start([before for before, _ in times])
        end = common_start([after[::-1] for _, after in times])[::-1]
        if len((end or begin).encode()) >= MIN_ANCHOR_BYTES:
            units = kinds.setdefault((begin, end), set())
            units |= {after.removesuffix(end) for before, after in times if before == begin}
    return [
        (begin, end, " ".join(sorted({unit.rstrip(".") for unit in units | durations} - {""})))
        for (begin, end), units in kinds.items()
    ]


def words_of(language: str) -> list[str]:
    """Return the times without a number: words for the present, and for the days, weeks, months and years around it."""
    fields = Locale.parse(language)._data["date_fields"]
    words = {
        " ".join(word.lower().split()).rstrip(".")
        for unit in UNIT_SECONDS
        for form in ("", "-short")
        for word in fields.get(unit + form, {}).get("relative", {}).values()
    }
    return sorted(words)


def main() -> None:
    languages = sorted(name for name in locale_identifiers() if "_" not in name)
    phrases = [f"    {name!r}: {tuple(kinds)!r},\n" for name in languages if (kinds := kinds_of(name))]
    words = [f"    {name!r}: {found!r},\n" for name in languages if (found := "|".join(words_of(name)))]
    PATH.write_text(HEAD + "".join(phrases) + MIDDLE + "".join(words) + TAIL, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(PATH)], check=True)


if __name__ == "__main__":
    main()
