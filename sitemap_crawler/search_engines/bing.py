"""The client of Bing Webmaster Tools: sites and feeds, which is the name for sitemaps there.

The API: https://learn.microsoft.com/en-us/bingwebmaster/
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import CredentialsError, ServiceError, ServiceLaterError, ServiceRefusedError
from sitemap_crawler.search_engines.http_client import Answer, Api, Clock, ServiceClient, has_temporary_status

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.search_engines import SearchEngineOptions

SERVICE = "bing"
_SECONDS_BETWEEN = 1.0
_MAX_URL = 2_100
_MAX_LISTED = 50_000
_MAX_NAMED_SITES = 5
_DATE = re.compile(r"/Date\((-?\d{1,15})(?:[+-]\d{4})?\)/")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER_BEFORE = datetime(1990, 1, 1, tzinfo=UTC)
"""Bing writes the year 1601 for never."""
_CODES = {
    1: "InternalError", 2: "UnknownError", 3: "InvalidApiKey", 4: "ThrottleUser", 5: "ThrottleHost", 6: "UserBlocked",
    7: "InvalidUrl", 8: "InvalidParameter", 9: "TooManySites", 10: "UserNotFound", 11: "NotFound", 12: "AlreadyExists",
    13: "NotAllowed", 14: "NotAuthorized", 15: "UnexpectedState", 16: "Deprecated",
}  # fmt: skip
"""https://learn.microsoft.com/en-us/dotnet/api/microsoft.bing.webmaster.api.interfaces.apierrorcode"""
SITE_REASONS = frozenset({"InvalidUrl", "InvalidParameter", "NotFound", "NotAllowed", "NotAuthorized"})
"""Reasons of errors that concern one site or file. Others may get an answer."""
_TEMPORARY = frozenset({1, 4, 5})
_INVALID_PARAMETER = 8
_ALREADY_THERE = frozenset({12, 81058})
_NOT_AUTHORIZED = 14
_CHECK_KEY = "check bing_key or BING_WEBMASTER_API_KEY; a new key works after 30 minutes"
_CHECK_URLS = "check bing_site and the URL of the sitemap"
_ADVICE = {
    2: "run the same command later; if the error stays, ask the support of Bing Webmaster Tools",
    3: _CHECK_KEY,
    6: "the account is blocked: ask the support of Bing Webmaster Tools",
    7: _CHECK_URLS,
    8: f"{_CHECK_URLS}; a site that was verified just now takes sitemaps some minutes later",
    9: "remove sites of the account that are not needed",
    10: _CHECK_KEY,
    11: _CHECK_URLS,
    13: "give the account the right to change the site in Bing Webmaster Tools",
    16: "look for a newer version of sitemap-crawler",
}


@dataclass(frozen=True, slots=True)
class BingSite:
    """A site of the account."""

    url: str
    is_verified: bool


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """Bing's answer about a feed. None means that Bing does not say, or never."""

    url: str
    type: str | None = None
    status: str | None = None
    last_submitted: datetime | None = None
    last_downloaded: datetime | None = None
    submitted: int | None = None
    """Number of URLs."""
    file_bytes: int | None = None
    compressed: bool | None = None


class BingWebmaster(Api):
    """Client of Bing Webmaster Tools for one account: at most one request a second.

    Every method raises ServiceError with the code of Bing and the remedy.
    """

    def __init__(
        self, options: SearchEngineOptions, ca_file: Path | None = None, *, clock: Clock | None = None
    ) -> None:
        """Take the key of the account. Raises CredentialsError without one; nothing is sent yet."""
        if options.bing_key is None:
            advice = "give bing_key in the site file, or BING_WEBMASTER_API_KEY"
            raise CredentialsError("there is no API key for Bing", advice=advice)
        self._key = options.bing_key.get_secret_value()
        self._client = ServiceClient(
            options.bing_api_url,
            timeout=options.request_timeout,
            ca_file=ca_file,
            secrets=[self._key],
            service="Bing",
            is_temporary=_is_temporary,
            seconds_between=_SECONDS_BETWEEN,
            clock=clock,
        )

    @property
    def endpoint(self) -> str:
        """Return the host of the API."""
        return self._client.host

    def sites(self) -> list[BingSite]:
        """Return the sites of the account, in order of their URLs."""
        found = [
            BingSite(self._text(row.get("Url")) or "", row.get("IsVerified") is True)
            for row in self._get("GetUserSites")
        ]
        return sorted((each for each in found if each.url), key=lambda each: each.url)

    def submit_feed(self, site: str, url: str) -> Answer:
        """Submit a feed. The answer says that Bing has taken it, not that Bing reads it."""
        return self._post("SubmitFeed", site, url)

    def remove_feed(self, site: str, url: str) -> Answer:
        """Remove a feed."""
        return self._post("RemoveFeed", site, url)

    def feeds(self, site: str) -> list[FeedStatus]:
        """Return the feeds of a site, in order of their URLs."""
        return self._feeds(self._get("GetFeeds", siteUrl=site))

    def feed_details(self, site: str, url: str) -> list[FeedStatus]:
        """Return the sitemaps that an index lists, in order of their URLs; an empty list for another feed."""
        try:
            rows = self._get("GetFeedDetails", siteUrl=site, feedUrl=url)
        except ServiceRefusedError as error:
            if error.reason != _CODES[_INVALID_PARAMETER]:
                raise
            # The documentation has quotation marks around the URL. Clients have none.
            rows = self._get("GetFeedDetails", siteUrl=site, feedUrl=f'"{url}"')
        return self._feeds(rows)

    def _post(self, method: str, site: str, url: str) -> Answer:
        answer = self._client.request(
            "POST", f"/{method}", params={"apikey": self._key}, json={"siteUrl": site, "feedUrl": url}
        )
        if _error_code(answer) in _ALREADY_THERE:
            return answer
        self._check(answer, site)
        if not answer.is_empty and not isinstance(answer.body, dict):
            raise self._client.unusable(answer)
        return answer

    def _get(self, method: str, **params: str) -> list[dict[str, Any]]:
        answer = self._client.request("GET", f"/{method}", params={"apikey": self._key, **params})
        self._check(answer, params.get("siteUrl"))
        if not isinstance(answer.body, dict):
            raise self._client.unusable(answer)
        rows = answer.body.get("d")
        return [row for row in (rows if isinstance(rows, list) else [])[:_MAX_LISTED] if isinstance(row, dict)]

    def _check(self, answer: Answer, site: str | None) -> None:
        """Raise ServiceError for an error. Bing also sends errors with status 200."""
        code = _error_code(answer)
        if answer.is_success and not code:
            return
        if not code:
            advice = "check bing_api_url, the proxy and bing_key" if 400 <= answer.status < 500 else ""
            raise self._client.error(answer, advice=advice)
        message = answer.body.get("Message") if isinstance(answer.body, dict) else None
        kind: type[ServiceError] = ServiceLaterError if code in _TEMPORARY else ServiceRefusedError
        raise self._client.error_of(
            kind,
            answer,
            message if isinstance(message, str) else "",
            reason=_CODES.get(code, str(code)),
            advice=self._advice(code, site),
        )

    def _advice(self, code: int, site: str | None) -> str:
        if code in _TEMPORARY:
            return "run the same command later"
        if code == _NOT_AUTHORIZED and site is not None:
            return f"add {site} to Bing Webmaster Tools and verify it there, or give bing_site{self._known()}"
        return _ADVICE.get(code, _ADVICE[2])

    def _known(self) -> str:
        try:
            names = [each.url if each.is_verified else f"{each.url} (not verified)" for each in self.sites()]
        except ServiceError:
            return ""
        more = f" and {len(names) - _MAX_NAMED_SITES} others" if len(names) > _MAX_NAMED_SITES else ""
        return (
            f"; the account has {', '.join(names[:_MAX_NAMED_SITES])}{more}" if names else "; the account has no site"
        )

    def _feeds(self, rows: list[dict[str, Any]]) -> list[FeedStatus]:
        found = (
            FeedStatus(
                self._text(row.get("Url")) or "",
                type=self._text(row.get("Type")),
                status=self._text(row.get("Status")),
                last_submitted=_moment(row.get("Submitted")),
                last_downloaded=_moment(row.get("LastCrawled")),
                submitted=_count(row.get("UrlCount")),
                file_bytes=_count(row.get("FileSize")),
                compressed=row.get("Compressed") if isinstance(row.get("Compressed"), bool) else None,
            )
            for row in rows
        )
        return sorted((each for each in found if each.url), key=lambda each: each.url)

    def _text(self, value: object) -> str | None:
        return self._client.clean(value, _MAX_URL) or None if isinstance(value, str) else None


def _error_code(answer: Answer) -> int:
    """Return the code of an error in the body; 0 for none."""
    code = answer.body.get("ErrorCode") if isinstance(answer.body, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit():
        return int(code[:9])
    return code if isinstance(code, int) else 0


def _is_temporary(answer: Answer) -> bool:
    code = _error_code(answer)
    return code in _TEMPORARY if code else has_temporary_status(answer)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _moment(value: object) -> datetime | None:
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=int(found[1]))
    except OverflowError:
        return None
    return moment if moment > _NEVER_BEFORE else None
