"""What to write in the place of a wrong value, where that can be said exactly. Pure functions."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.sax.saxutils import unescape

from sitemap_crawler.urls.normalise import SESSION_PARAMETERS, TRACKING_PARAMETERS
from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.values import WHITE_SPACE, Url, parse_url, unescaped, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

MAX_DATE = 60
"""Characters of a date that is read in another form."""
_QUOTES = {"&quot;": '"', "&apos;": "'"}
_KEPT = "!#$%&'()*+,-./:;=?@[]_~"
"""Characters of a URL that stay as they are, with letters and digits."""
_AUTHORITY_END = re.compile("[/?#]")
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
# The order of the parts is the same everywhere if the year comes first.
_YEAR_FIRST = re.compile(r"([0-9]{4})([./ ]?)([0-9]{2})\2([0-9]{2})")
_DECIMAL_COMMA = re.compile("[01],[0-9]{1,3}")


def replacement_of(rule: str, text: str) -> str | None:
    """Return the right form of a value that breaks a rule; None if it cannot be said exactly."""
    find = _BY_RULE.get(rule)
    found = find(text) if find is not None and len(text) <= 2 * protocol.MAX_LOC else None
    return None if found == text else found


def _checked(url: str) -> str | None:
    return url if isinstance(parse_url(url), Url) and unescaped(url) is None else None


def _escaped(url: str) -> str | None:
    scheme, separator, rest = url.partition("://")
    if not _AUTHORITY_END.split(rest, maxsplit=1)[0].isascii():
        return None
    rest = _LONE_PERCENT.sub("%25", rest)
    return _checked(f"{scheme}{separator}{quote(rest, safe=_KEPT)}")


def _without_fragment(url: str) -> str | None:
    return _checked(url.partition("#")[0])


def _unescaped_once(url: str) -> str | None:
    return None if "&#" in url else _checked(unescape(url, _QUOTES))


def _without(names: Collection[str], url: str) -> str | None:
    """Return a URL without these parameters in its query and, after a semicolon, in its path.

    A trailing * in a name stands for any ending.
    """
    beginnings = tuple(name[:-1] for name in names if name.endswith("*"))

    def is_kept(parameter: str) -> bool:
        name = parameter.partition("=")[0].lower()
        return name not in names and not name.startswith(beginnings)

    path, mark, query = url.partition("?")
    first, *segments = path.split("/")
    segments = [";".join(filter(is_kept, segment.split(";"))) for segment in segments]
    query = "&".join(filter(is_kept, query.split("&")))
    return _checked("/".join([first, *segments]) + (mark + query if query else ""))


def _date(text: str) -> str | None:
    """Return a date whose parts are in the order of W3C, or one of RFC 5322, as a W3C date."""
    if len(text) > MAX_DATE:
        return None
    if match := _YEAR_FIRST.fullmatch(text.strip(WHITE_SPACE)):
        date = f"{match[1]}-{match[3]}-{match[4]}"
        return date if w3c_datetime(date).time else None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment.isoformat() if moment.tzinfo is not None and text.strip()[:1].isalpha() else None


def _frequency(text: str) -> str | None:
    word = text.lower()
    return word if word in protocol.CHANGE_FREQUENCIES else None


def _priority(text: str) -> str | None:
    number = text.replace(",", ".")
    return number if _DECIMAL_COMMA.fullmatch(text) and float(number) <= 1 else None


_BY_RULE: Mapping[str, Callable[[str], str | None]] = {
    "loc-padding": lambda text: _checked(text.strip(WHITE_SPACE)),
    "loc-unescaped": _escaped,
    "loc-non-ascii": _escaped,
    "loc-fragment": _without_fragment,
    "loc-escaped-twice": _unescaped_once,
    "loc-session-id": partial(_without, SESSION_PARAMETERS),
    "loc-tracking": partial(_without, frozenset(TRACKING_PARAMETERS) - set(SESSION_PARAMETERS)),
    "lastmod-invalid": _date,
    "changefreq-invalid": _frequency,
    "priority-invalid": _priority,
}
