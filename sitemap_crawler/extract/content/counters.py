"""What a rendering counts and dates in a page's text: views, comments, minutes ago, seconds that it took to make."""

from __future__ import annotations

import re
import string

# Of the text without white space: 1,234 views, Views: 12, Viewed 12 times, 3 comments, 5 minutes ago, 12 likes, 7
# readers like this, Downloads: 12, 3 people are online, 12 Aufrufe. A mark is what all spellings of a word have, a unit
# what may stand between the number and the mark.
_COUNTED = (b"iew", b"omment", b"ago", b"ike", b"nline", b"ownload", b"ufruf")
_UNITS = frozenset(
    f"{unit}{plural}".encode()
    for unit in ("second", "sec", "minute", "min", "hour", "day", "week", "month", "year")
    for plural in ("", "s")
) | {b"v", b"pagev", b"postv", b"totalv", b"uniquev", b"c", b"l", b"o", b"d", b"a"}
_UNITS |= {
    f"{who}{what}".encode()
    for who in ("people", "users", "visitors", "guests", "readers")
    for what in ("l", "o", "areo")
}
_LETTERS = string.ascii_letters.encode()
_NUMERALS = b"0123456789.,'"
_NUMBER = rb"[0-9]++(?:[.,'][0-9]{3})*+"
_COUNT_AFTER = re.compile(rb"(?:s|ed)?([:(]?%s\)?(?:times)?)" % _NUMBER)

# Where pages say when and how fast they were made.
_WINDOW = 60  # bytes on either side of such a word
_END = 500  # bytes from the end of the text
_AT_THE_END = (b"second", b"quer", b"odified", b"pdated", b"dited", b"evised", b"opyright", b"ccessed", b"\xa9")
_DATE = (
    rb"(?:[0-9]{1,4}[-/.,:]?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?[.,]?"
    rb"|(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    rb"|nov(?:ember)?|dec(?:ember)?)[.,]?|at|t|z|[ap]\.?m\.?|gmt|utc|ce[s]?t|[ep][ds]t|[+-](?=[0-9])){1,20}"
)
_MADE = re.compile(
    rb"(?i:[0-9.]+(?:seconds?|milliseconds|ms)(?:with[0-9]+quer(?:y|ies))?|[0-9]+(?:sql|db|database)?quer(?:y|ies)"
    rb"|accessed%s(?:times)?"
    rb"|(?:last|page)-?(?:modified|updated|edited|changed|revised)(?:on|at)?:?%s"
    rb"|(?:copyright|\xa9|\(c\)){1,2}(?:[0-9]{4}(?:-|,|\xe2\x80\x93)?){1,5})" % (_NUMBER, _DATE)
)

# With the bytes of the no-break space: what else they are part of differs in its other bytes, too.
_WHITE_SPACE = b" \t\n\r\f\v\xc2\xa0"


def content_words(text: bytes) -> bytes:
    """Return the text without white space, which moves with the markup, and without what is counted or timed."""
    text = text.translate(None, _WHITE_SPACE)
    for mark in _COUNTED:
        if mark in text:
            text = _without_counters(text, mark)
    for mark in _AT_THE_END:
        at = text.rfind(mark, -_END)
        if at >= 0:
            start, end = max(0, at - _WINDOW), at + _WINDOW
            text = text[:start] + _MADE.sub(b"", text[start:end]) + text[end:]
    return text


def _without_counters(text: bytes, mark: bytes) -> bytes:
    """Cut a number that stands before or after the word that `mark` is a part of."""
    parts = text.split(mark)
    for at, part in enumerate(parts):
        if at and (number := _COUNT_AFTER.match(part)):
            part = part[: number.start(1)] + part[number.end(1) :]
        if at < len(parts) - 1:
            part = _without_number_before(part)
        parts[at] = part
    return mark.join(parts)


def _without_number_before(part: bytes) -> bytes:
    before = part.rstrip(_LETTERS)
    if before[-1:].isdigit() and part[len(before) :].lower() in _UNITS:
        return before.rstrip(_NUMERALS) + part[len(before) :]
    return part
