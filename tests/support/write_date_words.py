"""Writes the words of dates anew: `python -m tests.support.write_date_words`, with a new release of Babel.

Babel has them from the Unicode CLDR.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from babel import Locale

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = ROOT / "sitemap_crawler" / "extract" / "content" / "date_words.py"
LANGUAGES = (
    "ar bg ca cs da de el en es et fa fi fr he hr hu id it ja ko lt lv nb nl pl pt ro ru sk sl sr sv th tr uk vi zh"
)
"""Languages that most pages of the web are in. The words of all are one set, so rare languages would add wrong ones."""
FURTHER = "st nd rd th of er le am kw w"
"""Ends of ordinals, what stands before a date, and short forms for a calendar week."""
QUOTED = re.compile(r"'([^']+)'")
WORD = re.compile(r"[^\W\d_]+")
HEAD = '''"""The words of dates in the languages of the Unicode CLDR, https://cldr.unicode.org, from Babel.

Made by `python -m tests.support.write_date_words`.
"""

from __future__ import annotations

DATE_WORDS = frozenset(
    """
'''
TAIL = '''""".split()
)
"""Names of months and days, the word for a week, and what stands between the parts of a date, in lower case."""
'''


def texts_of(locale: Locale) -> Iterator[str]:
    for names in (locale.months, locale.days):
        for context in names.values():
            for width in ("abbreviated", "wide"):
                yield from context.get(width, {}).values()
    for width in ("long", "short"):
        yield from locale._data["unit_patterns"]["duration-week"][width].values()
    for form in ("full", "long", "medium"):
        pattern = locale.date_formats[form].pattern
        yield from QUOTED.findall(pattern)
        yield from (letter for letter in pattern if not letter.isascii())


def is_word(word: str) -> bool:
    """Return whether a word counts. A single letter of an alphabet may be anything."""
    return len(word) > 1 or not (word.isascii() or word.lower() != word.upper())


def main() -> None:
    words = {*FURTHER.split()}
    for language in LANGUAGES.split():
        for text in texts_of(Locale.parse(language)):
            words |= {word for word in WORD.findall(text.lower()) if is_word(word)}
    lines = textwrap.wrap(" ".join(sorted(words)), 116)
    PATH.write_text(HEAD + "".join(f"    {line}\n" for line in lines) + "    " + TAIL, encoding="utf-8")


if __name__ == "__main__":
    main()
