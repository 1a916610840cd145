"""Credentials of a site: request headers and a basic login.

They are sent to the origin of the start URL only. No message repeats them and no file stores them.
"""

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
"""Environment variable for `USER:PASSWORD`."""
HEADERS_VARIABLE = "SITEMAP_CRAWLER_HEADERS"
"""Environment variable for headers, one a line."""
MAX_HEADER_LENGTH = 8_000
"""Maximum number of characters of a header value. Apache refuses headers of more than 8,190 bytes with their name."""

# https://www.rfc-editor.org/rfc/rfc9110.html#name-tokens
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
# Reasons why a header is refused, as the second half of a message.
_USER_AGENT = "give it with --user-agent, which also selects the rules of robots.txt"
_FRAMING = "it describes the transfer of a request, which the HTTP client controls"
_CONDITION = "conditional requests are made from the results of earlier runs; --full makes none"
_PROXY = "give user and password of a proxy in http_proxy or https_proxy"
_RANGE = "pages are always requested completely"
_REFUSED = (
    {"user-agent": _USER_AGENT, "range": _RANGE, "if-range": _RANGE, "proxy-authorization": _PROXY}
    | {"accept-encoding": "compressed responses are requested already; -s COMPRESSION_ENABLED=0 requests none"}
    | dict.fromkeys(("host", "content-length", "transfer-encoding", "connection", "keep-alive"), _FRAMING)
    | dict.fromkeys(("proxy-connection", "te", "trailer", "upgrade", "expect"), _FRAMING)
    | dict.fromkeys(("if-none-match", "if-modified-since", "if-match", "if-unmodified-since"), _CONDITION)
)


@dataclass(frozen=True, slots=True)
class Access:
    """Headers that are added to requests to the site."""

    headers: tuple[tuple[str, str], ...] = field(repr=False)
    """All headers except Cookie."""
    cookies: str = field(repr=False)

    @classmethod
    def parse(cls, lines: Iterable[str], auth: str | None) -> Access | None:
        """Return the headers of `Name: value` lines and a login `USER:PASSWORD`; None if there are none.

        Raises AccessError.
        """
        headers: dict[str, str] = {}
        cookies: list[str] = []
        for name, value in map(parse_header, lines):
            if name.lower() == "cookie":
                cookies.append(value.strip("; "))
            elif any(name.lower() == other.lower() for other in headers):
                raise AccessError(f"the header {name} is given twice: give it once")
            else:
                headers[name] = value
        if auth is not None:
            if any(name.lower() == "authorization" for name in headers):
                raise AccessError("a login (auth) and a header Authorization are given: give one of the two")
            headers["Authorization"] = basic_authorization(auth)
        return cls(tuple(headers.items()), "; ".join(cookies)) if headers or cookies else None

    def merge_into(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the headers of a request with these headers.

        These headers replace headers of the same name. A cookie that the site has set replaces a given cookie.
        """
        names = {name.lower() for name, _ in self.headers} | ({"cookie"} if self.cookies else set())
        kept = [(name, value) for name, value in headers if name.lower() not in names]
        if not self.cookies:
            return [*kept, *self.headers]
        jar = "; ".join(value for name, value in headers if name.lower() == "cookie")
        return [*kept, *self.headers, ("Cookie", _merge_cookies(self.cookies, jar))]


def parse_header(line: str) -> tuple[str, str]:
    """Return name and value of a line `Name: value`. Raises AccessError."""
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


def basic_authorization(auth: str) -> str:
    """Return the Authorization header for `USER:PASSWORD`, https://www.rfc-editor.org/rfc/rfc7617.

    Raises AccessError.
    """
    if ":" not in auth:
        raise AccessError("write the login as USER:PASSWORD")
    data = _encoded(auth)
    if data is None or _UNPRINTABLE.search(auth) or len(data) > MAX_HEADER_LENGTH // 2:
        raise AccessError("user and password must be text of one line, no longer than a header may be")
    return f"Basic {b64encode(data).decode('ascii')}"


def move_url_credentials(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options `values` with user and password of the start URL moved to the option `auth`.

    Raises AccessError.
    """
    start_url = values.get("start_url")
    if not isinstance(start_url, str):
        return dict(values)
    bare, user, password = split_credentials(start_url)
    if user is None:
        return dict(values)
    if ":" in user:
        raise AccessError("the user in the start URL has a colon, which basic authentication can't send")
    auth = f"{user}:{password or ''}"
    if values.get("auth", auth) != auth:
        raise AccessError("the start URL and the option auth have different users or passwords: give one of the two")
    return {**values, "start_url": bare, "auth": auth}


def options_from_environment(lines: Sequence[str], auth: str | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that environment variables add to the given header `lines` and `auth`.

    A given header has priority over one of the environment. Raises AccessError, whose message names the variable.
    """
    names = {line.partition(":")[0].strip().lower() for line in lines} | ({"authorization"} if auth else set())
    added: dict[str, Any] = {}
    variable = AUTH_VARIABLE
    try:
        login = environment.get(variable)
        if login and "authorization" not in names:
            basic_authorization(login)
            added["auth"] = login
        variable = HEADERS_VARIABLE
        more = [line.strip() for line in environment.get(variable, "").split("\n") if line.strip()]
        more = [line for line in more if parse_header(line)[0].lower() not in names]
    except AccessError as error:
        raise AccessError(f"{variable}: {error}") from None
    return {**added, "header": [*lines, *more]} if more else added


def _encoded(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def _merge_cookies(cookies: str, newer: str) -> str:
    """Return the cookies of both headers. Of two cookies with one name, the newer counts."""
    pairs: dict[str, str] = {}
    for pair in f"{cookies}; {newer}".split(";"):
        if pair.strip():
            pairs[pair.partition("=")[0].strip()] = pair.strip()
    return "; ".join(pairs.values())
