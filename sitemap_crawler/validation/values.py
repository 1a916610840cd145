"""Values of the protocol: URLs, places of sitemaps and dates. Pure functions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address
from typing import NamedTuple
from urllib.parse import unquote

from sitemap_crawler.validation.protocol import MAX_LOC

WHITE_SPACE = " \t\r\n"
"""White space of XML. Other space characters are not ASCII or not allowed in XML."""

_URL = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.ASCII | re.IGNORECASE)
# URLs without any problem, in normal form: a quarter of the time.
_USUAL_URL = re.compile(
    r"(https?://[a-z0-9-]++(?:\.[a-z0-9-]++)*+)"
    r"((?:/(?!\.|%2)[A-Za-z0-9!$%&'()*+,;:=@._~-]*+)++)(\?[A-Za-z0-9!$%&'()*+,;:=@._~/?-]*+)?+"
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.ASCII | re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::([0-9]{0,5}))?", re.ASCII | re.IGNORECASE)
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]")
# Not allowed by RFC 3986, but accepted by browsers and crawlers. Square brackets are too common for a warning.
_UNESCAPED = re.compile(r"[\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class UrlProblem(NamedTuple):
    """The problem of a URL that a sitemap may not list."""

    rule: str
    """Id of the rule in the catalogue: loc-missing, loc-whitespace, …"""
    message: str


class Url(NamedTuple):
    """An absolute http(s) URL with normalised origin and resolved dot segments."""

    origin: str
    path: str
    query: str

    def __str__(self) -> str:
        return "".join(self)


class Place(NamedTuple):
    """Location of a sitemap. It may list URLs of this origin that are at or below this directory."""

    origin: str
    directory: str

    @classmethod
    def for_sitemap(cls, url: Url) -> Place:
        """Return the place of the sitemap with this URL."""
        return cls(url.origin, url.path[: url.path.rfind("/") + 1])

    def contains(self, path: str) -> bool:
        """Return whether a path is at or below the directory, escaped or not."""
        return path.startswith(self.directory) or unquote(path).startswith(unquote(self.directory))


@lru_cache(maxsize=256)  # an entry names itself and its images several times
def parse_url(text: str) -> Url | UrlProblem:
    """Return the URL of `text`, or the first problem if a sitemap may not list it."""
    if (usual := _USUAL_URL.fullmatch(text)) and len(text) <= MAX_LOC:
        return Url(*usual.groups(""))
    if not text:
        return UrlProblem("loc-missing", "is empty")
    if _BLANK.search(text):
        return UrlProblem("loc-whitespace", "contains white space or control characters")
    if not text.isascii():
        return UrlProblem("loc-non-ascii", "contains characters that are not ASCII")
    match = _URL.fullmatch(text)
    if match is None:
        return _not_http(text)
    scheme, authority, path, query, fragment = match.groups("")
    if len(text) > MAX_LOC:
        return UrlProblem("loc-too-long", f"is longer than the {MAX_LOC:,} characters that the protocol allows")
    if match[5] is not None:
        return UrlProblem("loc-fragment", f"has the fragment {fragment}")
    if "@" in authority:
        return UrlProblem("loc-credentials", "contains a user name or password")
    origin = _origin(scheme, authority)
    if origin is None:
        return UrlProblem("loc-invalid", "has a host or port that no URL can have")
    return Url(origin, _resolved(path or "/"), query)


def _not_http(text: str) -> UrlProblem:
    scheme = _SCHEME.match(text)
    if scheme is None:
        return UrlProblem("loc-not-absolute", "does not begin with http:// or https://")
    if scheme[1].lower() in _DEFAULT_PORTS:
        return UrlProblem("loc-invalid", "is not a valid URL")
    return UrlProblem("loc-scheme", f"has the scheme {scheme[1]}, which is neither http nor https")


def _resolved(path: str) -> str:
    """Return `path` without dot segments, plain or escaped, so that none can leave the directory unnoticed."""
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
    """Return the first character of `url` that RFC 3986 requires to be percent-encoded; None if there is none."""
    match = _UNESCAPED.search(url)
    return match[0] if match else None


@lru_cache(maxsize=1024)
def _origin(scheme: str, authority: str) -> str | None:
    """Return scheme, host and port in normal form; None if the host or port is invalid."""
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


ONE_DAY = timedelta(days=1)
CLOCK_TOLERANCE = ONE_DAY
"""Maximum time by which a date may be ahead: the difference of time zones and of clocks."""
WEB_BEGAN = datetime(1990, 12, 20, tzinfo=UTC)
"""Time of the first web page: https://home.cern/science/computing/birth-web/short-history-web."""


class Moment(NamedTuple):
    """A parsed date with or without a time, or the problem of an invalid one."""

    time: datetime | None
    """Beginning of the stated period, in UTC if no time is stated; None for an invalid datetime."""
    problem: str = ""
    period: timedelta = timedelta(0)
    """Length of the stated period, which may be a day, a month or a year."""


def w3c_datetime(text: str) -> Moment:
    """Parse a W3C datetime."""
    return _known_datetime(text) if len(text) <= MAX_KNOWN_DATETIME else _parse_datetime(text)


def moved(time: datetime, by: timedelta) -> datetime:
    """Return a time that is moved by a duration, at most to the first or the last one that a datetime can hold.

    Sites write such times: 9999-12-31 for "never" and 0001-01-01 for "unknown".
    """
    try:
        return time + by
    except OverflowError:
        return (datetime.max if by > timedelta(0) else datetime.min).replace(tzinfo=time.tzinfo)


def _parse_datetime(text: str) -> Moment:
    match = _W3C.fullmatch(text)
    if match is None:
        return Moment(None, "is not a W3C date such as 2026-01-31 or 2026-01-31T18:30:00+00:00")
    year, month, day, hour, minute, second, fraction, zone, *offset = match.groups()
    if hour is not None and zone is None:
        return Moment(None, "has a time without a zone; add Z or an offset such as +01:00")
    try:
        micro = int((fraction or "0")[:6].ljust(6, "0"))
        clock = (int(hour or 0), int(minute or 0), int(second or 0), micro)
        time = datetime(int(year), int(month or 1), int(day or 1), *clock, tzinfo=_zone(*offset))
    except ValueError:
        return Moment(None, "is a date, time or zone that does not exist")
    if hour is not None:
        return Moment(time)
    return Moment(time, period=ONE_DAY * (1 if day else 31 if month else 366))


MAX_KNOWN_DATETIME = 40
"""Maximum number of characters of a datetime that is kept. A hostile file has 4,096 texts of 10,000 characters."""
_known_datetime = lru_cache(maxsize=4096)(_parse_datetime)


def _zone(sign: str | None, hours: str | None, minutes: str | None) -> timezone:
    if sign is None:
        return UTC
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    if int(minutes or 0) > 59 or offset > timedelta(hours=14):
        raise ValueError("no such zone")
    return timezone(-offset if sign == "-" else offset)
