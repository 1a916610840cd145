"""What in an address can go on for ever: dates, offsets, and random tokens, such as session ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Container

DATE, NUMBER, TOKEN = "{date}", "{number}", "{token}"
_MAX_TOKENS = 3
"""Of one address that are looked at."""
_MAX_SHOWN = 200

_DATES = re.compile(
    r"""/[0-9]{4}(?:/[0-9]{1,2}){1,2}(?=[/?]|\Z)
    | (?<=[/=])[0-9]{4}-[0-9]{1,2}(?:-[0-9]{1,2})?(?=[/?&;.]|\Z)
    | (?<=[?&])(?:\w*date|day|ymd|ym|cal)=[0-9]{6,8}(?=&|\Z)
    | (?<=[?&])(?:\w*[_-])?(?:year|yr|jahr|month|mon|monat|day|week|kw)=[0-9]{1,4}(?=&|\Z)""",
    re.VERBOSE | re.IGNORECASE,
)
# Parameters that count on. Not `p` and `page`, which name pages on many sites, and are then the only difference.
_OFFSETS = re.compile(
    r"(?<=[?&])((?:\w*offset|start|startat|start_?index|skip|begin|first|time|timestamp|ts|date|day|days)=)-?[0-9]+(?=&|\Z)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?<=[/=])[A-Za-z0-9_.-]{12,128}(?=[/?&;]|\Z)")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_DIGIT = re.compile("[0-9]")
_CHANGE = re.compile("[0-9][A-Za-z]|[A-Za-z][0-9]")


class Session(NamedTuple):
    """One token of an address: where it stands, what it is, and the address without it."""

    place: str
    token: str
    bare: str


def endless_pattern(url: str) -> str | None:
    """The URL with what counts on in it replaced; None when nothing does."""
    start = len(origin_of(url))
    if _DIGIT.search(url, start) is None:
        return None
    rest = url[start:]
    pattern = _OFFSETS.sub(rf"\1{NUMBER}", _DATES.sub(_dated, rest))
    return url[:start] + pattern if pattern != rest else None


def sessions_of(url: str) -> list[Session]:
    """The tokens of a URL that may be session ids."""
    start = len(origin_of(url))
    found = []
    for match in _WHOLE.finditer(url, start):
        if is_token(match[0]):
            before = url[: match.start()]
            found.append(Session(_place(before) + TOKEN, match[0], before + TOKEN + url[match.end() :]))
            if len(found) == _MAX_TOKENS:
                break
    return found


def bare_of(url: str, places: Container[str]) -> str | None:
    """The URL without its tokens in these places; None when it has none there."""
    start = len(origin_of(url))

    def replaced(match: re.Match[str]) -> str:
        known = is_token(match[0]) and _place(url[: start + match.start()]) + TOKEN in places
        return TOKEN if known else match[0]

    rest = _WHOLE.sub(replaced, url[start:])
    return url[:start] + rest if rest != url[start:] else None


def is_token(text: str) -> bool:
    """Whether letters and digits stand mixed in it, as nobody names a page."""
    if len(text) == 36 and _UUID.match(text):
        return True
    return text.isalnum() and len(_CHANGE.findall(text)) >= 2


def shown(pattern: str) -> str:
    """A pattern as a person reads it, without scheme and host."""
    text = pattern[len(origin_of(pattern)) :] if "://" in pattern else pattern
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def _place(before: str) -> str:
    """The name of the parameter that the token is the value of, or the path that ends there."""
    named = _PARAMETER.search(before)
    return named[0][:_MAX_SHOWN].replace("&", "?") if named else before[:_MAX_SHOWN]


_PARAMETER = re.compile(r"[?&;][^?&;/=]*=\Z")


def _dated(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith("/"):
        return f"/{DATE}"
    name, equals, _ = text.rpartition("=")
    return f"{name}{equals}{DATE}"
