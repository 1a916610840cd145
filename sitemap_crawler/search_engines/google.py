"""The client of Google Search Console: properties, sitemaps and URL Inspection.

The API: https://developers.google.com/webmaster-tools/v1/api_reference_index
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sitemap_crawler.exceptions import ServiceError, ServiceLaterError, ServiceRefusedError
from sitemap_crawler.search_engines.google_login import LOGIN_COMMAND, SCOPE, GoogleLogin
from sitemap_crawler.search_engines.http_client import Answer, Api, Clock, ServiceClient, has_temporary_status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sitemap_crawler.config.search_engines import SearchEngineOptions

SERVICE = "google"
MAX_LISTED = 50_000
"""Maximum number of rows that are read from one answer."""
_MAX_NAMED_PROPERTIES = 5
_MAX_URL = 2_100
_MAX_WORD = 100
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_IN_A_WORD = re.compile(r"[^A-Za-z0-9_]")
_RATE_LIMITS = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED"})
DAILY_LIMITS = frozenset({"dailyLimitExceeded", "quotaExceeded"})
"""Reasons of errors that do not go away before the next day."""
_LIMITS = _RATE_LIMITS | DAILY_LIMITS
_NOT_ENABLED = frozenset({"accessNotConfigured", "SERVICE_DISABLED"})
_SCOPE_MISSING = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
_API_PAGE = "https://console.cloud.google.com/apis/library/searchconsole.googleapis.com"
_OWNERS_PAGE = "https://www.google.com/webmasters/verification/home"
_QUOTA_ADVICE = "run the same command later; the quotas of a day begin anew at midnight Pacific time"


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the account."""

    name: str
    """https://www.example.com/ or sc-domain:example.com"""
    permission: str
    """owner, full, restricted or unverified; another word as Google spells it."""

    @property
    def may_submit(self) -> bool:
        return self.permission in ("owner", "full")


@dataclass(frozen=True, slots=True)
class SitemapContent:
    """Number of URLs of one type in a sitemap."""

    type: str
    submitted: int | None


@dataclass(frozen=True, slots=True)
class SitemapStatus:
    """Google's answer about a sitemap. None means that Google does not say."""

    url: str
    last_submitted: datetime | None = None
    last_downloaded: datetime | None = None
    pending: bool | None = None
    is_index: bool | None = None
    type: str | None = None
    errors: int | None = None
    warnings: int | None = None
    contents: tuple[SitemapContent, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspection:
    """Google's answer about a page. Enums are in upper case as Google spells them; None means unknown or never."""

    url: str
    verdict: str | None = None
    coverage_state: str | None = None
    robots: str | None = None
    indexing: str | None = None
    fetch: str | None = None
    last_crawl: datetime | None = None
    google_canonical: str | None = None
    user_canonical: str | None = None


class SearchConsole(Api):
    """Client of Search Console for one account. Threads can share it.

    Every method raises ServiceError with the reason of Google and the remedy.
    """

    def __init__(
        self, options: SearchEngineOptions, ca_file: Path | None = None, *, clock: Clock | None = None
    ) -> None:
        """Read the credentials. Raises CredentialsError; nothing is sent yet."""
        self._login = GoogleLogin(
            options.google_credentials,
            timeout=options.request_timeout,
            token_url=options.google_token_url,
            quota_project=options.google_quota_project,
            ca_file=ca_file,
            clock=clock,
        )
        self._client = ServiceClient(
            options.google_api_url,
            timeout=options.request_timeout,
            ca_file=ca_file,
            secrets=self._login.secrets,
            service="Google",
            is_temporary=_is_temporary,
            clock=clock,
        )
        self._sites: list[Property] | None = None
        """The last answer of `sites`."""

    @property
    def account(self) -> str:
        """Return the e-mail address of the account, or the file of a user without one."""
        return self._login.name

    @property
    def endpoint(self) -> str:
        """Return the host of the API."""
        return self._client.host

    @property
    def warning(self) -> str | None:
        """Return a warning about the credentials file."""
        return self._login.warning

    def sites(self) -> list[Property]:
        """Return the properties of the account, in order of their names."""
        body = self._read("GET", "/webmasters/v3/sites")
        rows = self._rows(body, "siteEntry")
        found = [
            Property(self._text(row.get("siteUrl")) or "", _permission(row.get("permissionLevel"))) for row in rows
        ]
        self._sites = sorted((each for each in found if each.name), key=lambda each: each.name)
        return self._sites

    def submit_sitemap(self, property_name: str, url: str) -> Answer:
        """Submit a sitemap, or submit it again. The answer says that Google has taken it, not that Google reads it."""
        return self._write("PUT", property_name, url)

    def remove_sitemap(self, property_name: str, url: str) -> Answer:
        """Take a sitemap out of the report. Google may go on reading the file."""
        return self._write("DELETE", property_name, url)

    def sitemap(self, property_name: str, url: str) -> SitemapStatus | None:
        """Return the status of a sitemap; None if it was never submitted to the property."""
        try:
            body = self._read("GET", _sitemap_path(property_name, url), property_name=property_name)
        except ServiceRefusedError as error:
            # Another program that answers 404 gives no reason.
            if error.http_status == 404 and error.reason is not None:
                return None
            raise
        return self._status(body, url)

    def children(self, property_name: str, index_url: str) -> list[SitemapStatus]:
        """Return the status of the sitemaps that an index lists, in order of their URLs. Google may know none."""
        path = f"{_site_path(property_name)}/sitemaps"
        body = self._read("GET", path, params={"sitemapIndex": index_url}, property_name=property_name)
        found = (self._status(row, "") for row in self._rows(body, "sitemap"))
        return sorted((each for each in found if each.url), key=lambda each: each.url)

    def inspect(self, property_name: str, url: str, *, repeatable: bool = True) -> Inspection:
        """Return what Google knows of a page. A call takes seconds, and each attempt counts for the day's quota."""
        request = {"inspectionUrl": url, "siteUrl": property_name, "languageCode": "en-US"}
        path = "/v1/urlInspection/index:inspect"
        body = self._read("POST", path, json=request, property_name=property_name, repeatable=repeatable)
        result = body.get("inspectionResult")
        status = result.get("indexStatusResult") if isinstance(result, dict) else None
        found = status if isinstance(status, dict) else {}
        return Inspection(
            url,
            verdict=self._text(found.get("verdict")),
            coverage_state=self._text(found.get("coverageState")),
            robots=self._text(found.get("robotsTxtState")),
            indexing=self._text(found.get("indexingState")),
            fetch=self._text(found.get("pageFetchState")),
            last_crawl=_moment(found.get("lastCrawlTime")),
            google_canonical=self._text(found.get("googleCanonical")),
            user_canonical=self._text(found.get("userCanonical")),
        )

    def close(self) -> None:
        super().close()
        self._login.close()

    def _write(self, method: str, property_name: str, url: str) -> Answer:
        answer = self._send(method, _sitemap_path(property_name, url), property_name=property_name)
        if not answer.is_empty and not isinstance(answer.body, dict):
            raise self._client.unusable(answer)
        return answer

    def _read(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        answer = self._send(method, path, **options)
        if not isinstance(answer.body, dict):
            raise self._client.unusable(answer)
        return answer.body

    def _send(self, method: str, path: str, *, property_name: str | None = None, **options: Any) -> Answer:
        """Return a successful answer. A refused token is replaced once."""
        token = self._login.token()
        answer = self._client.request(method, path, headers=self._headers(token), **options)
        if answer.status == 401:
            token = self._login.token(instead_of=token)
            answer = self._client.request(method, path, headers=self._headers(token), **options)
        if not answer.is_success:
            raise self._error(answer, property_name)
        return answer

    def _headers(self, token: str) -> dict[str, str]:
        self._client.hide(token)
        headers = {"Authorization": f"Bearer {token}"}
        if self._login.quota_project:
            headers["x-goog-user-project"] = self._login.quota_project
        return headers

    def _error(self, answer: Answer, property_name: str | None) -> ServiceError:
        reasons, message = _reasons(answer.body)
        reason = next(iter(reasons), None)
        if answer.status == 429 or (answer.status == 403 and reasons.keys() & _LIMITS):
            return self._client.error_of(ServiceLaterError, answer, message, reason=reason, advice=_QUOTA_ADVICE)
        advice = self._advice(answer, frozenset(reasons), message, property_name)
        return self._client.error(answer, message, reason=reason, advice=advice)

    def _advice(self, answer: Answer, reasons: frozenset[str], message: str, property_name: str | None) -> str:
        if answer.status == 401:
            return f"check that the account {self.account} still exists and may use the API"
        if answer.status == 403:
            return self._advice_forbidden(reasons, message, property_name)
        if answer.status == 404 and not reasons:
            return "check google_api_url"
        if answer.status in (400, 404):
            return f"check google_property and the URL of the sitemap{self._known(property_name)}"
        return "check google_api_url" if answer.status == 405 else ""

    def _advice_forbidden(self, reasons: frozenset[str], message: str, property_name: str | None) -> str:
        if "USER_PROJECT_DENIED" in reasons:
            return (
                f"give {self.account} the role Service Usage Consumer in the project, or another google_quota_project"
            )
        if "quota project" in message:
            return f"give google_quota_project: a project of yours with the API enabled at {_API_PAGE}"
        if reasons & _NOT_ENABLED:
            return f"enable the Google Search Console API of the project at {_API_PAGE}, and wait some minutes"
        if reasons & _SCOPE_MISSING or "authentication scopes" in message:
            return f"the token lacks the scope {SCOPE}: {LOGIN_COMMAND}"
        if "not part of this property" in message:
            return f"the property {property_name} does not cover the URL: give another google_property"
        # Since spring 2026 Search Console itself does not find the addresses of service accounts.
        place = _OWNERS_PAGE if self._login.is_service_account else "Search Console"
        return f"make {self.account} an owner of the property in {place}{self._known(property_name)}"

    def _known(self, property_name: str | None) -> str:
        """Return the properties that the account has, for the message about another one."""
        if property_name is None:
            return ""
        try:
            found = self.sites() if self._sites is None else self._sites
        except ServiceError:
            return ""
        if not found:
            return f"; {self.account} has no property"
        names = [f"{each.name} ({each.permission})" for each in found]
        more = f" and {len(names) - _MAX_NAMED_PROPERTIES} others" if len(names) > _MAX_NAMED_PROPERTIES else ""
        return f"; {self.account} has {', '.join(names[:_MAX_NAMED_PROPERTIES])}{more}"

    def _rows(self, body: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
        rows = body.get(name)
        return (row for row in (rows if isinstance(rows, list) else [])[:MAX_LISTED] if isinstance(row, dict))

    def _status(self, row: dict[str, Any], url: str) -> SitemapStatus:
        return SitemapStatus(
            self._text(row.get("path")) or url,
            last_submitted=_moment(row.get("lastSubmitted")),
            last_downloaded=_moment(row.get("lastDownloaded")),
            pending=_flag(row.get("isPending")),
            is_index=_flag(row.get("isSitemapsIndex")),
            type=_word(row.get("type")),
            errors=_count(row.get("errors")),
            warnings=_count(row.get("warnings")),
            contents=tuple(
                SitemapContent(_word(each.get("type")) or "unknown", _count(each.get("submitted")))
                for each in self._rows(row, "contents")
            ),
        )

    def _text(self, value: object) -> str | None:
        return self._client.clean(value, _MAX_URL) or None if isinstance(value, str) else None


def _site_path(property_name: str) -> str:
    """Return the path of a property, whose name is one segment."""
    return f"/webmasters/v3/sites/{quote(property_name, safe='')}"


def _sitemap_path(property_name: str, url: str) -> str:
    return f"{_site_path(property_name)}/sitemaps/{quote(url, safe='')}"


def _reasons(body: object) -> tuple[dict[str, None], str]:
    """Return the reasons of an error, the most precise one first, and its message."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return {}, ""
    parts = [each for name in ("errors", "details") for each in _list(error.get(name)) if isinstance(each, dict)]
    found = [*(each.get("reason") for each in parts), error.get("status")]
    message = error.get("message")
    return {each: None for each in found if isinstance(each, str)}, message if isinstance(message, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_temporary(answer: Answer) -> bool:
    reasons, _ = _reasons(answer.body)
    if reasons.keys() & DAILY_LIMITS:
        return False
    return has_temporary_status(answer) or (answer.status == 403 and not _RATE_LIMITS.isdisjoint(reasons))


def _permission(value: object) -> str:
    """Return the permission without the parts that all names have: siteFullUser and SITE_FULL_USER are full."""
    return (_word(value) or "unknown").removeprefix("site_").removesuffix("_user")


def _word(value: object) -> str | None:
    """Return an enum in lower case with underscores: atomFeed and ATOM_FEED are one."""
    if not isinstance(value, str) or not value:
        return None
    value = value[:_MAX_WORD]
    text = value if value.isupper() else _CAMEL_CASE.sub("_", value)
    return _NOT_IN_A_WORD.sub("", text).lower() or None


def _count(value: object) -> int | None:
    """Return a number that is sent as a number or a text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value[:40])
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
