"""What lets a crawl in: request headers and a basic login, which go to the site itself and are never shown or kept."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import AccessError
from sitemap_crawler.urls.normalise import split_credentials

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

AUTH_VARIABLE = "SITEMAP_CRAWLER_AUTH"
HEADERS_VARIABLE = "SITEMAP_CRAWLER_HEADERS"
MAX_HEADER_LENGTH = 8_000
"""Servers refuse longer ones: Apache at 8,190 bytes with the name."""

# https://www.rfc-editor.org/rfc/rfc9110.html#name-tokens
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_USER_AGENT = "give it as --user-agent: robots.txt is matched by it"
_FRAMING = "it says how requests travel, which is the HTTP client's"
_CONDITION = "conditional requests are made from what earlier runs saw; --full makes none"
_PROXY = "a proxy's user and password stand in http_proxy or https_proxy"
_RANGE = "pages are read whole"
_REFUSED = (
    {"user-agent": _USER_AGENT, "range": _RANGE, "if-range": _RANGE, "proxy-authorization": _PROXY}
    | {"accept-encoding": "compressed answers are asked for already; -s COMPRESSION_ENABLED=0 asks for none"}
    | dict.fromkeys(("host", "content-length", "transfer-encoding", "connection", "keep-alive"), _FRAMING)
    | dict.fromkeys(("proxy-connection", "te", "trailer", "upgrade", "expect"), _FRAMING)
    | dict.fromkeys(("if-none-match", "if-modified-since", "if-match", "if-unmodified-since"), _CONDITION)
)


@dataclass(frozen=True, slots=True)
class Access:
    """The headers that requests to the site carry."""

    headers: tuple[tuple[str, str], ...] = field(repr=False)
    """But for cookies."""
    cookies: str = field(repr=False)

    @classmethod
    def of(cls, lines: Iterable[str], auth: str | None) -> Access | None:
        """Of `Name: value` lines and `USER:PASSWORD`; None when there is nothing. Raises AccessError."""
        headers: dict[str, str] = {}
        cookies: list[str] = []
        for name, value in map(read_header, lines):
            if name.lower() == "cookie":
                cookies.append(value.strip("; "))
            elif any(name.lower() == other.lower() for other in headers):
                raise AccessError(f"the header {name} is given twice: give it once")
            else:
                headers[name] = value
        if auth is not None:
            if any(name.lower() == "authorization" for name in headers):
                raise AccessError("a login (auth) and a header Authorization are given: give one of the two")
            headers["Authorization"] = basic(auth)
        return cls(tuple(headers.items()), "; ".join(cookies)) if headers or cookies else None

    def added_to(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """A request's `headers` with these: of two values of a header ours is sent, of a cookie the site's newer."""
        ours = {name.lower() for name, _ in self.headers} | ({"cookie"} if self.cookies else set())
        kept = [(name, value) for name, value in headers if name.lower() not in ours]
        if not self.cookies:
            return [*kept, *self.headers]
        jar = "; ".join(value for name, value in headers if name.lower() == "cookie")
        return [*kept, *self.headers, ("Cookie", _with_newer(self.cookies, jar))]


def read_header(line: str) -> tuple[str, str]:
    """Name and value of `Name: value`. Raises AccessError."""
    name, colon, value = line.partition(":")
    name, value = name.strip(" "), value.strip(" \t")
    if not colon or not _NAME.fullmatch(name):
        raise AccessError("write a header as 'Name: value', its name of letters, digits and hyphens")
    if name.lower() in _REFUSED:
        raise AccessError(f"the header {name} can't be set: {_REFUSED[name.lower()]}")
    if not value or _UNPRINTABLE.search(value.replace("\t", " ")) or _encoded(value) is None:
        raise AccessError(f"the value of the header {name} must be text of one line that is not empty")
    if len(value) > MAX_HEADER_LENGTH:
        raise AccessError(f"the value of the header {name} is longer than {MAX_HEADER_LENGTH:,} characters: shorten it")
    return name, value


def basic(auth: str) -> str:
    """The value of Authorization for `USER:PASSWORD` (https://www.rfc-editor.org/rfc/rfc7617). Raises AccessError."""
    if ":" not in auth:
        raise AccessError("write the login as USER:PASSWORD")
    data = _encoded(auth)
    if data is None or _UNPRINTABLE.search(auth) or len(data) > MAX_HEADER_LENGTH // 2:
        raise AccessError("user and password must be text of one line, no longer than a header may be")
    return f"Basic {b64encode(data).decode('ascii')}"


def take_url_credentials(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options `values` with user and password of the start URL as the option `auth`. Raises AccessError."""
    taken, start_url = dict(values), values.get("start_url")
    if not isinstance(start_url, str):
        return taken
    bare, user, password = split_credentials(start_url)
    if user is None:
        return taken
    if ":" in user:
        raise AccessError("the user in the start URL has a colon, which basic authentication can't send")
    auth = f"{user}:{password or ''}"
    if taken.get("auth", auth) != auth:
        raise AccessError("the start URL and the option auth have different users or passwords: give one of the two")
    return {**taken, "start_url": bare, "auth": auth}


def of_environment(lines: Sequence[str], auth: str | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """The options that the environment adds: of a header that is given, by `lines` or `auth`, it says nothing.

    Raises AccessError, which names the variable.
    """
    names = {line.partition(":")[0].strip().lower() for line in lines} | ({"authorization"} if auth else set())
    added: dict[str, Any] = {}
    variable = AUTH_VARIABLE
    try:
        login = environment.get(variable)
        if login and "authorization" not in names:
            basic(login)
            added["auth"] = login
        variable = HEADERS_VARIABLE
        more = [line.strip() for line in environment.get(variable, "").split("\n") if line.strip()]
        more = [line for line in more if read_header(line)[0].lower() not in names]
    except AccessError as error:
        raise AccessError(f"{variable}: {error}") from None
    return {**added, "header": [*lines, *more]} if more else added


def _encoded(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def _with_newer(cookies: str, newer: str) -> str:
    """Both, and of one name what is newer."""
    pairs: dict[str, str] = {}
    for pair in f"{cookies}; {newer}".split(";"):
        if pair.strip():
            pairs[pair.partition("=")[0].strip()] = pair.strip()
    return "; ".join(pairs.values())
