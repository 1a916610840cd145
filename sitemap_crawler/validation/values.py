"""Values of the protocol: URLs, the place a sitemap rules over, and dates. Pure functions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address
from typing import NamedTuple
from urllib.parse import unquote

from sitemap_crawler.validation.protocol import MAX_LOC

# XML's white space; other space characters are non-ASCII or forbidden in XML.
WHITE_SPACE = " \t\r\n"

_URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.ASCII | re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.ASCII | re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::([0-9]{0,5}))?", re.ASCII | re.IGNORECASE)
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]")
# RFC 3986 has no place for these; browsers and crawlers cope (square brackets are so common that they pass).
_UNESCAPED = re.compile(r"[\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class UrlProblem(NamedTuple):
    """`code` is a stable word: missing, whitespace, non-ascii, not-absolute, scheme, too-long, fragment, credentials,
    invalid."""

    code: str
    message: str


class Url(NamedTuple):
    """An absolute http(s) URL; the origin in one spelling, dot segments of the path resolved."""

    origin: str
    path: str
    query: str

    def __str__(self) -> str:
        return "".join(self)


class Place(NamedTuple):
    """Where a sitemap stands: it may list what has this origin and is at or below this directory."""

    origin: str
    directory: str

    @classmethod
    def of(cls, url: Url) -> Place:
        return cls(url.origin, url.path[: url.path.rfind("/") + 1])

    def holds(self, path: str) -> bool:
        return path.startswith(self.directory) or unquote(path).startswith(unquote(self.directory))


def parse_url(text: str) -> Url | UrlProblem:
    """`text` as a sitemap may list it, or the first thing that is wrong with it."""
    if not text:
        return UrlProblem("missing", "is empty")
    if _BLANK.search(text):
        return UrlProblem("whitespace", "contains white space or control characters; percent-encode them")
    if not text.isascii():
        return UrlProblem("non-ascii", "contains non-ASCII characters; percent-encode them (in a host: punycode)")
    match = _URL.fullmatch(text)
    if match is None:
        return _not_http(text)
    scheme, authority, path, query, fragment = match.groups("")
    if len(text) > MAX_LOC:
        return UrlProblem("too-long", f"is longer than the {MAX_LOC:,} characters that the protocol allows")
    if match[5] is not None:
        return UrlProblem("fragment", f"has a fragment ({fragment}), which no search engine indexes")
    if "@" in authority:
        return UrlProblem("credentials", "contains a user name or password")
    origin = _origin(scheme, authority)
    if origin is None:
        return UrlProblem("invalid", "has a host or port that no URL can have")
    return Url(origin, _resolved(path or "/"), query)


def _not_http(text: str) -> UrlProblem:
    scheme = _SCHEME.match(text)
    if scheme is None:
        return UrlProblem("not-absolute", "is not absolute; it must begin with http:// or https://")
    if scheme[1].lower() in _DEFAULT_PORTS:
        return UrlProblem("invalid", "is not a valid URL")
    return UrlProblem("scheme", f"has the scheme {scheme[1]}; only http and https can be listed")


def _resolved(path: str) -> str:
    """`path` without dot segments, spelled out or escaped: they must not leave a directory unseen."""
    if "/." not in path and "/%2" not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        dots = segment.lower().replace("%2e", ".")
        if dots == "..":
            del kept[-1:]
        elif dots != ".":
            kept.append(segment)
    if segments[-1].lower().replace("%2e", ".") in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def unescaped(url: str) -> str | None:
    """The first character of `url` that RFC 3986 wants percent-encoded."""
    found = _UNESCAPED.search(url)
    return found[0] if found else None


@lru_cache(maxsize=1024)
def _origin(scheme: str, authority: str) -> str | None:
    """Scheme, host and port in one spelling, or None when there can't be such a host or port."""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or (match[2] and int(match[2]) > 65_535):
        return None
    host = match[1].lower()
    if host.startswith("["):
        try:
            IPv6Address(host[1:-1])
        except AddressValueError:
            return None
    elif not all(host.removesuffix(".").split(".")):
        return None
    scheme = scheme.lower()
    port = int(match[2] or _DEFAULT_PORTS[scheme])
    return f"{scheme}://{host}" if port == _DEFAULT_PORTS[scheme] else f"{scheme}://{host}:{port}"


# https://www.w3.org/TR/NOTE-datetime
_W3C = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(Z|([+-])([0-9]{2}):([0-9]{2}))?)?)?)?"
)


class Moment(NamedTuple):
    """A W3C Datetime: `at` is its beginning (UTC where it states no time), or None with the `problem` told."""

    at: datetime | None
    problem: str = ""


@lru_cache(maxsize=4096)
def w3c_datetime(text: str) -> Moment:
    match = _W3C.fullmatch(text)
    if match is None:
        return Moment(None, "is not a W3C date such as 2026-01-31 or 2026-01-31T18:30:00+00:00")
    year, month, day, hour, minute, second, fraction, zone, *offset = match.groups()
    if hour is not None and zone is None:
        return Moment(None, "has a time without a zone; add Z or an offset such as +01:00")
    try:
        micro = int((fraction or "0")[:6].ljust(6, "0"))
        clock = (int(hour or 0), int(minute or 0), int(second or 0), micro)
        return Moment(datetime(int(year), int(month or 1), int(day or 1), *clock, tzinfo=_zone(*offset)))
    except ValueError:
        return Moment(None, "is a date, time or zone that does not exist")


def _zone(sign: str | None, hours: str | None, minutes: str | None) -> timezone:
    if sign is None:
        return UTC
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if int(minutes or 0) > 59 or offset > timedelta(hours=14):
        raise ValueError("no such zone")
    return timezone(-offset if sign == "-" else offset)
