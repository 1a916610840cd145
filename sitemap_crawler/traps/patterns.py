"""The parts of a URL that can go on without end: dates, offsets, and random tokens such as session ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Container

DATE, NUMBER, TOKEN = "{date}", "{number}", "{token}"
_MAX_TOKENS = 3
"""Maximum number of tokens of one URL that are considered."""
_MAX_SHOWN = 200
"""Maximum number of characters of a pattern in messages, and of the place of a token."""

_DATES = re.compile(
    r"""/[0-9]{4}(?:/[0-9]{1,2}){1,2}(?=[/?]|\Z)
    | (?<=[/=])[0-9]{4}-[0-9]{1,2}(?:-[0-9]{1,2})?(?=[/?&;.]|\Z)
    | (?<=[/=])[0-9]{4}-W[0-9]{1,2}(?=[/?&;.]|\Z)                           # an ISO week
    | (?<=[/=])[0-9]{4}(?:-[0-9]{2}-[0-9]{2}|[0-9]{4})                       # an ISO date
      (?:T|[+]|%20)[0-9]{2}(?:(?::|%3A)?[0-9]{2}){0,2}(?:[.,][0-9]{1,9})?    # its time
      (?:Z|(?:[+-]|%2B|%20)[0-9]{2}(?:(?::|%3A)?[0-9]{2})?)?(?=[/?&;]|\Z)    # its zone: a plus may have become a space
    | (?<=[?&;])(?:\w*date|day|ymd|ym|cal)=[0-9]{6,8}(?=[&;]|\Z)
    | (?<=[?&;])(?:\w*[_-])?(?:year|yr|jahr|month|mon|monat|day|week|kw)=[0-9]{1,4}(?=[&;]|\Z)""",
    re.VERBOSE | re.IGNORECASE,
)
# Parameters that count. `p` and `page` are left out: on many sites they name pages, and are their only difference.
_OFFSETS = re.compile(
    r"(?<=[?&;])((?:\w*offset|start|startat|start_?index|skip|begin|first|time|timestamp|ts|date|day|days)=)-?[0-9]+"
    r"(?=[&;]|\Z)",
    re.IGNORECASE,
)
_SEGMENT_OR_VALUE = re.compile(r"(?<=[/=])[A-Za-z0-9_.-]{12,128}(?=[/?&;]|\Z)")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_DIGIT = re.compile("[0-9]")
_DIGIT_NEXT_TO_LETTER = re.compile("[0-9][A-Za-z]|[A-Za-z][0-9]")
_PARAMETER = re.compile(r"[?&;][^?&;/=]*=\Z")


class Session(NamedTuple):
    """A token of a URL that may be a session id."""

    place: str
    """The parameter whose value the token is, or the path up to the token."""
    token: str
    bare: str
    """The URL with `{token}` instead of the token."""


def endless_pattern(url: str) -> str | None:
    """Return the URL with its dates and offsets replaced, or None if it has none."""
    start = len(origin_of(url))
    if _DIGIT.search(url, start) is None:
        return None
    rest = url[start:]
    pattern = _OFFSETS.sub(rf"\1{NUMBER}", _DATES.sub(_replace_date, rest))
    return url[:start] + pattern if pattern != rest else None


def sessions_of(url: str) -> list[Session]:
    """Return the tokens of a URL that may be session ids."""
    start = len(origin_of(url))
    sessions = []
    for match in _SEGMENT_OR_VALUE.finditer(url, start):
        if is_token(match[0]):
            before = url[: match.start()]
            sessions.append(Session(_place(before) + TOKEN, match[0], before + TOKEN + url[match.end() :]))
            if len(sessions) == _MAX_TOKENS:
                break
    return sessions


def bare_of(url: str, places: Container[str]) -> str | None:
    """Return the URL without its tokens in these places, or None if it has none there."""
    start = len(origin_of(url))

    def replace(match: re.Match[str]) -> str:
        known = is_token(match[0]) and _place(url[: start + match.start()]) + TOKEN in places
        return TOKEN if known else match[0]

    rest = _SEGMENT_OR_VALUE.sub(replace, url[start:])
    return url[:start] + rest if rest != url[start:] else None


def is_token(text: str) -> bool:
    """Return whether a text is a UUID or mixes letters and digits as no name of a page does."""
    if len(text) == 36 and _UUID.match(text):
        return True
    return text.isalnum() and len(_DIGIT_NEXT_TO_LETTER.findall(text)) >= 2


def shown(pattern: str) -> str:
    """Return a pattern for a message: without scheme and host, and not too long."""
    text = pattern[len(origin_of(pattern)) :] if "://" in pattern else pattern
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def _place(before: str) -> str:
    """Return the parameter at the end of `before`, the URL up to a token, or else its path."""
    parameter = _PARAMETER.search(before)
    return parameter[0][:_MAX_SHOWN].replace("&", "?") if parameter else before[:_MAX_SHOWN]


def _replace_date(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith("/"):
        return f"/{DATE}"
    name, equals, _ = text.rpartition("=")
    return f"{name}{equals}{DATE}"
