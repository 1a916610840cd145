"""Values of structured data in the form of the video extension of sitemaps; `None` for values it does not allow."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.dates import MAX_DATE_LENGTH, parse_http_date
from sitemap_crawler.sitemap.limits import MAX_VIDEO_DURATION, MAX_VIDEO_RATING, MAX_VIDEO_TAGS
from sitemap_crawler.utils.text import MAX_INPUT, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_MEMBERS = 500  # members of a list, tags of a text
_MAX_TAG_LENGTH = 100  # characters
_MAX_COUNT = 10**15
# Years outside of this range are errors or mean "always"; a video that expires in the year 9999 does not expire.
_FIRST_YEAR = 1990
_LAST_YEAR = 2099

# https://www.w3.org/TR/xmlschema-2/#duration without years and months, which have no fixed length.
_DURATION = re.compile(
    r"P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})(?:[.,]\d{1,9})?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_UNIT_SECONDS = (604_800, 86_400, 3_600, 60, 1)
_NUMBER = re.compile(r"(\d{1,15})(?:[.,](\d{1,15}))?", re.ASCII)
_COUNTRY = re.compile("[A-Z]{2}")
_SEPARATORS = re.compile(r"[\s,;]+")
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}

# https://developers.google.com/search/docs/appearance/video#supported-video-files
_VIDEO_FILE = re.compile(
    r"[^?#]*\.(?:3g2|3gp|asf|avi|divx|m2v|m3u|m3u8|m4v|mkv|mov|mp4|mpe?g|ogv|qvt|ram|rm|vob|webm|wmv|xap)(?:[?#].*)?",
    re.IGNORECASE,
)

# Markup that plugins write into texts, which are plain by the vocabulary. Only HTML tags
# count: "<film>" may be text.
_INLINE_TAG = re.compile(r"</?(?:a|b|code|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?>", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:br|div|h[1-6]|hr|iframe|img|li|ol|p|table|td|tr|ul)(?:[\s/][^<>]*)?>",
    re.IGNORECASE,
)


def plain_text(value: object, limit: int) -> str:
    """Return the first text of a value on one line, without markup and character references."""
    text = next(_texts_of(value), "")[:MAX_INPUT]
    if "<" in text:
        text = _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", text))
    if "&" in text:
        text = unescape(text)
    return one_line(text, limit)


def members(value: object) -> Iterator[object]:
    """Yield the members of a list, or the value itself if it is not a list."""
    if value is not None:
        yield from islice(value, _MAX_MEMBERS) if isinstance(value, list) else (value,)


def duration_seconds(value: object) -> int | None:
    """Return the seconds of an ISO 8601 duration, without fractions; `None` outside the limits of the extension."""
    match = _DURATION.fullmatch(next(_texts_of(value), "").strip())
    total = sum(int(part or 0) * unit for part, unit in zip(match.groups(), _UNIT_SECONDS, strict=True)) if match else 0
    return total if 1 <= total <= MAX_VIDEO_DURATION else None


def w3c_date(value: object, *, last_year: int = _LAST_YEAR) -> str | None:
    """Return the date, or the time in UTC if the value has a time with its zone."""
    text = next(_texts_of(value), "").strip()
    if not text or len(text) > MAX_DATE_LENGTH:
        return None
    try:
        moment: datetime | None = datetime.fromisoformat(text)
    except ValueError:
        moment = parse_http_date(text)
    if moment is None or not _FIRST_YEAR <= moment.year <= last_year:
        return None
    if moment.tzinfo is None:
        return moment.date().isoformat()
    try:
        return moment.astimezone(UTC).isoformat(timespec="seconds")
    except OverflowError:
        # In UTC the time is in the year 10000.
        return moment.isoformat(timespec="seconds")


def rating(value: object) -> float | None:
    """Return the value of an aggregateRating, converted to a scale up to 5."""
    for part in members(value):
        if not isinstance(part, dict):
            continue
        given, best = _number(part.get("ratingValue")), _number(part.get("bestRating"))
        best = MAX_VIDEO_RATING if best is None else best
        if given is not None and 0 <= given <= best and best > 0:
            return round(given * MAX_VIDEO_RATING / best, 2)
    return None


def whole_number(value: object) -> int | None:
    """Return a whole number.

    A text with a comma is not read, because the comma may separate thousands or a fraction.
    """
    if isinstance(value, str) and not value.strip().isdigit():
        return None
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def boolean(value: object) -> bool | None:
    """Return the boolean of a value such as `true`, `"yes"` or `"https://schema.org/True"`."""
    if isinstance(value, bool):
        return value
    return _BOOLEANS.get(value.strip()[-10:].rpartition("/")[2].lower()) if isinstance(value, str) else None


def country_codes(value: object) -> str | None:
    """Return the country codes, separated by spaces.

    Return `None` if any of the codes is invalid, because the remaining codes would be another statement.
    """
    texts = (text[:MAX_INPUT].upper() for part in members(value) for text in _texts_of(part))
    codes = {code for text in texts for code in _SEPARATORS.split(text) if code}
    return " ".join(sorted(codes)) if codes and all(map(_COUNTRY.fullmatch, codes)) else None


def tags(value: object) -> tuple[str, ...]:
    """Return the tags of a list or of a text with commas, each once whatever its case."""
    by_name: dict[str, str] = {}
    texts = (text[:MAX_INPUT] for part in members(value) for text in _texts_of(part))
    for part in islice((part for text in texts for part in text.split(",")), _MAX_MEMBERS):
        tag = plain_text(part, MAX_INPUT)
        if tag and len(tag) <= _MAX_TAG_LENGTH:
            by_name.setdefault(tag.casefold(), tag)
    return tuple(islice(by_name.values(), MAX_VIDEO_TAGS))


def is_flash(url: str) -> bool:
    """Return whether the URL is that of a Flash file, which browsers no longer play."""
    return url.partition("?")[0].lower().endswith(".swf")


def is_file(url: str) -> bool:
    """Return whether the URL has the extension of a video file that Google supports."""
    return _VIDEO_FILE.fullmatch(url) is not None


def _texts_of(value: object) -> Iterator[str]:
    for part in members(value):
        text = (part.get("@value") or part.get("name")) if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield text


def _number(value: object) -> float | None:
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip())
        return float(f"{match[1]}.{match[2] or 0}") if match else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MAX_COUNT:
        return None
    return float(value)
