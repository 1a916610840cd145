"""Ages, such as "3 days ago", and times left, such as "in 3 days": they change with the clock, so they are no content.

Texts are in UTF-8 without white space, as those of a fingerprint.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.content.age_phrases import AGE_PHRASES, AGE_WORDS
from sitemap_crawler.extract.content.main_content import without_space

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CELL = 40
"""Maximum number of characters of a text that may be an age and nothing else."""

# Words of WordPress, Rails and Django that CLDR lacks: units, words before a number, articles in its place. ~: a space.
_FURTHER_UNITS = {"en": "secs mins hrs"}
_QUALIFIERS = {
    "en": "about almost over nearly around approximately less~than more~than half",
    "de": "etwa fast über ungefähr rund knapp ca. circa mehr~als weniger~als",
    "fr": "environ presque plus~de moins~de plus~d' moins~d' près~de",
    "es": "cerca~de casi más~de menos~de alrededor~de aproximadamente unos unas",
    "it": "circa quasi oltre più~di meno~di",
    "pt": "cerca~de quase mais~de menos~de aproximadamente",
    "nl": "ongeveer bijna meer~dan minder~dan",
    "pl": "około prawie ponad mniej~niż",
    "ru": "около почти больше более менее меньше",
    "sv": "ungefär nästan över mer~än mindre~än",
}
_ARTICLES = {
    "en": "an a one",
    "de": "einem einer einen eine ein",
    "fr": "une un",
    "es": "una uno un",
    "it": "una uno un' un",
    "pt": "uma um",
    "nl": "een",
    "sv": "ett en",
}
_FURTHER_WORDS = {
    "en": "just~now a~moment~ago moments~ago seconds~ago",
    "de": "gerade~eben",
    "fr": "à~l'instant",
    "es": "ahora~mismo",
    "it": "adesso",
    "pt": "agora~mesmo",
    "nl": "zojuist",
    "pl": "przed~chwilą",
    "ru": "только~что",
    "sv": "just~nu idag igår",
}
# What times left begin and end with, in forums, auctions and trackers. CLDR has one form of them only.
_FURTHER_KINDS = {
    "en": (("", "left"), ("", "remaining"), ("", "overdue"), ("", "late")),
    "de": (("", "verbleibend"), ("", "überfällig"), ("", "verspätet")),
    "fr": (("encore", ""), ("plus~que", ""), ("", "restants"), ("", "restantes"), ("", "de~retard")),
    "es": (("quedan", ""), ("faltan", ""), ("en", ""), ("", "restantes"), ("", "de~retraso")),
    "it": (("fra", ""), ("mancano", ""), ("", "rimanenti"), ("", "di~ritardo")),
    "pt": (("faltam", ""), ("dentro~de", ""), ("daqui~a", ""), ("", "restantes"), ("", "de~atraso")),
    "nl": (("nog", ""), ("", "resterend"), ("", "te~laat")),
    "sv": (("", "kvar"), ("", "sen")),
    "pl": (("pozostało", ""), ("zostało", "")),
    "ru": (("осталось", ""),),
}
_MAX_WORDS = 24
"""Maximum number of characters of a text that may be an age without a number."""
# The number of an age stands at its beginning, but for words such as "about".
_MAY_BE_AGE = re.compile(r"[^0-9]{0,20}+[0-9]{1,9}+(?:[.,/ ][0-9]{1,9}+(?:/[0-9]{1,9}+)?)?\s{0,9}+[^\W0-9_]")
_DAY = re.compile(r"(?<![0-9])(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{4})(?![0-9])")
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
# Django writes "10 p.m." for a whole hour, and has words for twelve.
_TIME_OF_DAY = re.compile(
    r"(?<![0-9])(?:[0-9]{1,2}[:.h][0-9]{2}(?![0-9])|[0-9]{1,2} ?[ap]\.?m(?![a-z]))"
    r"|(?<![a-z])(?:noon|midnight)(?![a-z])",
    re.IGNORECASE,
)
_SHORT_DAY_AND_TIME = re.compile(r"(?<![0-9])[0-9]{1,2}([-/.])[0-9]{1,2}\1[0-9]{2},?[ T][0-9]{1,2}:[0-9]{2}(?![0-9])")
"""A day with a year of two figures, which a time of the day tells from a version."""
_MAX_MOMENT = 60
"""Maximum number of characters of a moment in words."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?![a-z])", re.IGNORECASE)
_WINDOW_BYTES = 120
"""Length of the longest age, far more than any."""
_MAX_UNIT_BYTES = 60
"""Length of the longest unit, far more than any."""
_MAX_PLACES = 2_000
"""Maximum number of places of one text that are looked at for the ages of one language."""


class _Anchors(NamedTuple):
    """The text that each age of one kind begins or ends with, before its pattern is needed."""

    language: str
    kind: int
    texts: tuple[bytes, ...]
    """The text in several spellings."""
    begins: bool
    """Whether ages begin with the text, as in "vor 3 Tagen"."""


class _Patterns(NamedTuple):
    begins: dict[bytes, re.Pattern[bytes]]
    """By the text that ages begin with, the places where a number, an article or a word such as "about" follows it."""
    units: tuple[bytes, ...]
    """The units, in lower case; if ages begin with a text, those that end with this text."""
    age: re.Pattern[bytes]
    """An age as a whole."""
    duration: re.Pattern[bytes]
    """An age without the words that make it one, such as "3 days"."""
    label: re.Pattern[bytes]
    """A label such as "age (days ago)" with the numbers before and after it. The first group is the label."""


def without_ages(text: bytes, language: str | None) -> bytes:
    """Return a text without its ages. `language` is the tag of the page's language; None if the page names none."""
    for anchors in _anchors_on_page(language):
        for anchor in anchors.texts:
            if anchor in text:
                text = _without(text, anchor, _patterns_of(anchors), begins=anchors.begins)
    return text


def may_be_age(text: str) -> bool:
    """Return whether a text of a table's cell begins as an age does. Few cells do."""
    return _MAY_BE_AGE.match(text) is not None or (len(text) <= _MAX_WORDS and text.strip().lower() in _all_words())


def is_age(text: str, language: str | None) -> bool:
    """Return whether a text of a table's cell is an age and nothing else, such as "3 days", "3 days ago", "yesterday".

    An age of less than a day may be "just now", and one of a day may be the word for it.
    """
    if len(text) > MAX_CELL:
        return False
    if any(text.strip().lower() in _words_of(name) for name in _languages_on_page(language)):
        return True
    data = without_space(text.encode()).rstrip(b".")
    patterns = map(_patterns_of, _anchors_on_page(language))
    return any(one.duration.fullmatch(data) or one.age.fullmatch(data) for one in patterns)


def is_moment(text: str) -> bool:
    """Return whether a text states a day with its year, and perhaps a time, such as the title of an age does."""
    if len(text) > _MAX_MOMENT:
        return False
    if _DAY.search(text) is not None or _SHORT_DAY_AND_TIME.search(text) is not None:
        return True
    return _YEAR.search(text) is not None and _TIME_OF_DAY.search(text) is not None


def _without(text: bytes, anchor: bytes, patterns: _Patterns, *, begins: bool) -> bytes:
    parts: list[bytes] = []
    start = 0
    units = patterns.units
    places = _places_of_begin(text, patterns.begins[anchor], units) if begins else _places_of_end(text, anchor, units)
    for position, end in islice(places, _MAX_PLACES):
        if position < start:
            continue
        first = max(start, position - _WINDOW_BYTES)
        if begins:
            found = patterns.age.match(text, position, position + _WINDOW_BYTES)
        else:
            # The text ends where the age ends.
            found = patterns.age.search(text, first, end)
        if found is not None:
            parts.append(text[start : found.start()])
            start = found.end()
        elif text[end : end + 1] == b")" and (found := patterns.label.search(text, first, end + _WINDOW_BYTES)):
            parts += (text[start : found.start()], found[1])
            start = found.end()
    parts.append(text[start:])
    return b"".join(parts)


def _places_of_begin(text: bytes, begin: re.Pattern[bytes], units: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
    """Yield where a text stands that ages begin with. A unit may end with it: "1 min 3 sec" has no "in 3 sec"."""
    for found in begin.finditer(text):
        before = text[max(0, found.end() - _MAX_UNIT_BYTES) : found.end()].lower()
        if not any(before.endswith(unit) and before[: -len(unit)][-1:].isdigit() for unit in units):
            yield found.span()


def _places_of_end(text: bytes, end: bytes, units: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
    """Yield where a text stands that ages end with, after one of their units: "ago" ends "Chicago", too."""
    position = text.find(end)
    while position >= 0:
        if text[max(0, position - _MAX_UNIT_BYTES) : position].rstrip(b".").lower().endswith(units):
            yield position, position + len(end)
        position = text.find(end, position + len(end))


def _anchors_on_page(language: str | None) -> Iterator[_Anchors]:
    for name in _languages_on_page(language):
        yield from _anchors_of(name)


def _languages_on_page(language: str | None) -> Iterator[str]:
    """Yield the page's language and English. To look for the ages of all languages takes too long.

    English comes last: "in 5 Mo." begins "in 5 Monaten".
    """
    tag = _LANGUAGE.match(language or "")
    if tag is not None and (name := tag[0].lower()) in AGE_PHRASES and name != "en":
        yield name
    yield "en"


@cache
def _words_of(language: str) -> frozenset[str]:
    """Return the ages without a number. Pages write them with either apostrophe."""
    further = (word.replace("~", " ") for word in _FURTHER_WORDS.get(language, "").split())
    words = {*AGE_WORDS.get(language, "").split("|"), *further} - {""}
    return frozenset(words | {word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for word in words})


@cache
def _all_words() -> frozenset[str]:
    return frozenset[str]().union(*map(_words_of, AGE_WORDS))


@cache
def _kinds_of(language: str) -> tuple[tuple[str, str, str], ...]:
    """Return what the ages of each kind begin and end with, and their units."""
    further = _FURTHER_UNITS.get(language, "")
    kinds = [(begin, end, f"{units} {further}") for begin, end, units in AGE_PHRASES[language]]
    return (*kinds, *((begin, end, kinds[0][2]) for begin, end in _FURTHER_KINDS.get(language, ())))


@cache
def _anchors_of(language: str) -> tuple[_Anchors, ...]:
    return tuple(
        _Anchors(language, kind, _spellings(begin, end), begins=not end)
        for kind, (begin, end, _) in enumerate(_kinds_of(language))
    )


def _spellings(begin: str, end: str) -> tuple[bytes, ...]:
    texts = (_without_space(text) for text in ((end,) if end else (begin, begin.capitalize())))
    return tuple(dict.fromkeys(texts))


def _without_space(words: str) -> bytes:
    return without_space(words.replace("~", "").encode())


@cache
def _patterns_of(anchors: _Anchors) -> _Patterns:
    language = anchors.language
    begin, end, units = _kinds_of(language)[anchors.kind]
    unit = _one_of(units)
    qualifier = _one_of(_QUALIFIERS.get(language, ""))
    article = _one_of(_ARTICLES.get(language, ""))
    # Half an hour is "1/2 an hour", and one and a half hours are "1 1/2 hours".
    fraction = rb"/[0-9]++(?:%s)?" % article if article else rb"/[0-9]++"
    number = rb"[0-9]++(?:[.,][0-9]++|%s)?" % fraction + (b"|" + article if article else b"")
    part = rb"(?:%s)(?:%s)\.?" % (number, unit)
    if qualifier:
        part = rb"(?:%s)*+%s" % (qualifier, part)
    several = rb"%s(?:,?%s){0,3}" % (part, part)
    first, last = _one_of(begin), _one_of(end)
    age = rb"(?:%s)?%s%s\Z" % (first, several, last) if end else first + several
    label = rb"[0-9]*+([^\W0-9]{0,20}\((?:%s)%s\))[0-9]*+" % (unit, last)
    follows = b"|".join(filter(None, (rb"[0-9]", qualifier, article)))
    begins = {} if end else {text: re.compile(rb"%s(?=%s)" % (re.escape(text), follows)) for text in anchors.texts}
    whole = (re.compile(pattern, re.IGNORECASE) for pattern in (age, several, label))
    before = tuple(name for name in map(_without_space, units.lower().split()) if end or name.endswith(anchors.texts))
    return _Patterns(begins, before, *whole)


def _one_of(words: str) -> bytes:
    """Return a pattern of these words. Of two words that begin alike the longer one is tried first."""
    encoded = set(map(_without_space, words.split()))
    return b"|".join(re.escape(word) for word in sorted(encoded, key=lambda word: (-len(word), word)))
