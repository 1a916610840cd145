"""The client of IndexNow, which takes URLs of pages that were added, changed or removed.

The protocol: https://www.indexnow.org/documentation
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from sitemap_crawler.exceptions import ServiceError, ServiceLaterError
from sitemap_crawler.search_engines.http_client import Answer, Api, Clock, ServiceClient
from sitemap_crawler.search_engines.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sitemap_crawler.config.search_engines import SearchEngineOptions

SERVICE = "indexnow"
MAX_URLS = 10_000
"""Maximum number of URLs of one request: https://www.indexnow.org/documentation"""
_SECONDS_BETWEEN = 1.0
_SECONDS_AFTER_TOO_MANY = 600.0
"""Pause after status 429 without Retry-After, as the documentation asks."""
_SECONDS_UNTIL_VERIFIED = 120.0
"""Shortest pause between attempts while the key of a site is being verified."""
_NOT_VERIFIED_YET = "SiteVerificationNotCompleted"
_FORBIDDEN = frozenset({"UserForbiddedToAccessSite", "UserForbiddenToAccessSite"})


class Batch(NamedTuple):
    """URLs of one host for one request."""

    host: str
    urls: tuple[str, ...]


class Sent(NamedTuple):
    """The answer to a batch that IndexNow has taken."""

    outcome: Outcome
    """accepted, or pending if the key is validated later."""
    answer: Answer


class IndexNow(Api):
    """Client of one endpoint of IndexNow: at most one request a second, and none is repeated.

    A service takes repeated URLs for spam, so a lost answer must not be followed by the same request at once.
    """

    def __init__(
        self, options: SearchEngineOptions, ca_file: Path | None = None, *, clock: Clock | None = None
    ) -> None:
        self._client = ServiceClient(
            options.indexnow_url,
            timeout=options.request_timeout,
            ca_file=ca_file,
            service="IndexNow",
            seconds_between=_SECONDS_BETWEEN,
            clock=clock,
        )

    @property
    def endpoint(self) -> str:
        """Return the host of the endpoint."""
        return self._client.host

    def send(self, host: str, key: str, key_location: str | None, urls: Sequence[str]) -> Sent:
        """Send URLs of one host. Raises ServiceError with the reason of the service and the remedy."""
        body: dict[str, Any] = {"host": host, "key": key}
        if key_location is not None:
            body["keyLocation"] = key_location
        answer = self._client.request("POST", json={**body, "urlList": list(urls)}, repeatable=False)
        if not answer.is_success:
            raise self._error(answer, host, key_location or urljoin(urls[0], f"/{key}.txt"))
        if answer.media_type == "text/html" and not answer.is_empty:
            raise self._client.unusable(answer)
        return Sent(Outcome.PENDING if answer.status == 202 else Outcome.ACCEPTED, answer)

    def _error(self, answer: Answer, host: str, key_file: str) -> ServiceError:
        code, message = _code_and_message(answer.body)
        if answer.status == 429:
            wait = answer.retry_after or _SECONDS_AFTER_TOO_MANY
            advice = f"too many requests from this address: run the same command in {wait:.0f} s or later"
            answer = replace(answer, retry_after=wait)
            return self._client.error_of(ServiceLaterError, answer, message, reason=code, advice=advice)
        if answer.status == 403 and _NOT_VERIFIED_YET in f"{code} {message}":
            wait = max(answer.retry_after or 0, _SECONDS_UNTIL_VERIFIED)
            advice = f"the key of {host} is being verified: run the same command in {wait:.0f} s or later"
            answer = replace(answer, retry_after=wait)
            return self._client.error_of(ServiceLaterError, answer, message, reason=code, advice=advice)
        if answer.status >= 500:
            # It may have taken the URLs.
            answer = replace(answer, retry_after=max(answer.retry_after or 0, _SECONDS_AFTER_TOO_MANY))
        advice = _ADVICE.get(answer.status, "").format(host=host, key_file=key_file)
        if answer.status == 403 and code in _FORBIDDEN:
            advice += "; if it does, make a new key"
        return self._client.error(answer, message, reason=code, advice=advice)


_ADVICE = {
    400: "report a bug of sitemap-crawler, with this message",
    401: "check that {key_file} holds the key, and nothing else",
    403: "check that {key_file} holds the key, and nothing else",
    404: "check indexnow_url",
    405: "check indexnow_url: the endpoint takes no POST",
    422: "check that {key_file} holds the key, and that it stands in a directory above the URLs if it is not /KEY.txt",
}


def batches(urls: Iterable[str]) -> Iterator[Batch]:
    """Yield the URLs in batches: each with URLs of one host, sorted, and of at most MAX_URLS."""
    by_host: dict[str, set[str]] = {}
    for url in urls:
        by_host.setdefault(urlsplit(url).netloc, set()).add(url)
    for host in sorted(by_host):
        found = sorted(by_host[host])
        for start in range(0, len(found), MAX_URLS):
            yield Batch(host, tuple(found[start : start + MAX_URLS]))


def _code_and_message(body: object) -> tuple[str | None, str]:
    """Return the code and message of an error, in the form of Bing or with names in lower case."""
    found = body if isinstance(body, dict) else {}
    lower = {str(name).lower(): value for name, value in found.items()}
    code = next((lower[name] for name in ("errorcode", "code") if isinstance(lower.get(name), (str, int))), None)
    message = lower.get("message")
    return None if code is None else str(code), message if isinstance(message, str) else ""
