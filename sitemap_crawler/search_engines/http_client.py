"""The HTTP client for the services of search engines: bounded, without redirects, and with no secret in any message.

The user chooses whom this client talks to: the base URLs are options. The credentials of the crawled site are not used.
"""

from __future__ import annotations

import json as json_module
import logging
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from sitemap_crawler.exceptions import (
    ServiceError,
    ServiceLaterError,
    ServiceRefusedError,
    ServiceUnavailableError,
)
from sitemap_crawler.search_engines.redaction import MAX_MESSAGE, Redactor, redact_record
from sitemap_crawler.search_engines.session import (
    MAX_BODY_BYTES,
    cause_of,
    new_session,
    proxies_of,
    read_body,
    tls_context,
)
from sitemap_crawler.utils.nesting import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from requests import Response

MAX_RETRIES = 3
MAX_WAIT_SECONDS = 60
"""Longest Retry-After that a command waits for."""
TEMPORARY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
_MAX_CODE = 100
_FIRST_BACKOFF_SECONDS = 1.0
JITTER = 0.1
"""Largest part of a pause that is added or taken away by chance, as in Google's own libraries."""
_REQUEST_ID_HEADERS = ("x-request-id", "x-goog-request-id", "x-ms-request-id", "x-msedge-ref", "request-id")


class Clock:
    """The time, pauses and chance of a client. Tests replace it."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def jitter(self) -> float:
        """Return a number from -1 to 1."""
        return random.uniform(-1, 1)  # noqa: S311 - spreads load, guards nothing


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """The answer of a service. `text` is redacted and short; `body` is as the service sent it."""

    status: int
    body: Any | None = None
    """Parsed JSON; None if the body is empty or no JSON."""
    text: str = ""
    """First characters of the body, for messages."""
    retry_after: float | None = None
    """Seconds from now."""
    request_id: str | None = None
    media_type: str = ""
    location: str = ""
    """Origin that the answer redirects to."""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400

    @property
    def is_empty(self) -> bool:
        return not self.text and self.body is None

    def __repr__(self) -> str:
        return f"Answer({self.status}, {self.text!r})"


class _Failure(NamedTuple):
    """A request without a complete answer."""

    message: str
    advice: str = ""
    may_repeat: bool = True


def has_temporary_status(answer: Answer) -> bool:
    """Return whether the status of an answer asks for another attempt."""
    return answer.status in TEMPORARY_STATUSES


class _Closing:
    """Base of what is closed at the end of a `with` block."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ServiceClient(_Closing):
    """Client of one service below one base URL. Threads can share it."""

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float,
        ca_file: Path | None = None,
        secrets: Iterable[str] = (),
        service: str = "the service",
        is_temporary: Callable[[Answer], bool] = has_temporary_status,
        seconds_between: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        """Take the base URL, the maximum number of seconds of a request, and texts that no message may repeat.

        `service` names the service in messages. `is_temporary` tells answers that another attempt may change.
        Requests start `seconds_between` apart. Raises OptionError for an unusable `ca_file`, ProxyError for an
        unusable proxy of the environment.
        """
        self.base_url = base_url
        self.service = service
        self.clock = clock or Clock()
        self._timeout = timeout
        self._redactor = Redactor(secrets)
        self._is_temporary = is_temporary
        self._turns = _Turns(self.clock, seconds_between)
        self._proxies = proxies_of(base_url)
        uses_tls = any(url.startswith("https:") for url in (base_url, *self._proxies.values()))
        self._context = tls_context(ca_file, uses_tls=uses_tls)
        self._session = new_session(self._context)
        logging.getLogger("urllib3.connectionpool").addFilter(redact_record)

    @property
    def host(self) -> str:
        """Return the host of the service."""
        return urlsplit(self.base_url).hostname or ""

    def hide(self, secret: str) -> None:
        """Take another text that no message may repeat."""
        self._redactor.hide(secret)

    def clean(self, text: object, limit: int = MAX_MESSAGE) -> str:
        """Return a text of the service for users and logs: redacted, printable, one line of at most `limit`."""
        return self._redactor.clean(text, limit)

    def request(
        self,
        method: str,
        path: str = "",
        *,
        params: Mapping[str, str] | None = None,
        json: object = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = True,
    ) -> Answer:
        """Return the answer, of any status, to a request. `path` follows the base URL as it is: encode it before.

        Failed requests are repeated if that is safe: `repeatable`. Raises ServiceUnavailableError if the service gives
        no complete answer.
        """
        headers = {"Accept": "application/json", **(headers or {})}
        if json is not None:
            data = json_module.dumps(json).encode()
            headers["Content-Type"] = "application/json; charset=utf-8"
        request = requests.Request(method, self.base_url + path, headers, params=params, data=data)
        if repeatable:
            outcome = self._repeat(request)
        else:
            # A service may close a kept connection in the moment of a request, which would be lost.
            with new_session(self._context) as session:
                outcome = self._attempt(session, request)
        if isinstance(outcome, _Failure):
            raise ServiceUnavailableError(self.clean(outcome.message), advice=outcome.advice)
        return outcome

    def _repeat(self, request: requests.Request) -> Answer | _Failure:
        """Return the outcome of the last attempt."""
        retries = 0
        while True:
            outcome = self._attempt(self._session, request)
            pause = self._pause(outcome, retries)
            if pause is None or retries == MAX_RETRIES:
                return outcome
            self.clock.sleep(pause)
            retries += 1

    def _pause(self, outcome: Answer | _Failure, retries: int) -> float | None:
        """Return the seconds before another attempt; None if there is none."""
        backoff = _FIRST_BACKOFF_SECONDS * 2**retries
        backoff += backoff * JITTER * self.clock.jitter()
        if isinstance(outcome, _Failure):
            return backoff if outcome.may_repeat else None
        asked = outcome.retry_after or 0.0
        return max(backoff, asked) if self._is_temporary(outcome) and asked <= MAX_WAIT_SECONDS else None

    def _attempt(self, session: requests.Session, request: requests.Request) -> Answer | _Failure:
        self._turns.wait()
        deadline = time.monotonic() + self._timeout
        try:
            with session.send(
                session.prepare_request(request),
                stream=True,
                timeout=self._timeout,
                allow_redirects=False,
                proxies=self._proxies,
            ) as response:
                return self._answer(response, read_body(response, deadline))
        except (requests.RequestException, HTTPError, OSError) as error:
            return self._failure(error)

    def _answer(self, response: Response, body: bytes | None) -> Answer | _Failure:
        if body is None:
            message = f"the answer of {self.service} is larger than {MAX_BODY_BYTES // 1_000_000} MB"
            return _Failure(message, _OTHER_SERVER, may_repeat=False)
        text, headers = body.decode("utf-8-sig", "replace"), response.headers
        request_id = next((headers[name] for name in _REQUEST_ID_HEADERS if name in headers), None)
        return Answer(
            response.status_code,
            _parse(text),
            self.clean(text),
            self._retry_after(headers.get("Retry-After")),
            None if request_id is None else self.clean(request_id, _MAX_CODE),
            self.clean(headers.get("Content-Type", "").partition(";")[0], _MAX_CODE).lower(),
            self.clean(_origin(headers.get("Location", "")), _MAX_CODE),
        )

    def _retry_after(self, value: str | None) -> float | None:
        """Return the seconds of a Retry-After header, which has a number or a date."""
        if value is None:
            return None
        value = value.strip()[:_MAX_CODE]
        if value.isascii() and value.isdigit():
            return float(value)
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        moment = moment.replace(tzinfo=moment.tzinfo or UTC)
        return max(0.0, (moment - self.clock.now()).total_seconds())

    def _failure(self, error: Exception) -> _Failure:
        """Describe an exception of the connection. Its own text may hold the URL, and so a key."""
        service = f"{self.service} ({self.host})"
        if isinstance(error, (requests.Timeout, TimeoutError, ReadTimeoutError)):
            return _Failure(f"{service} gave no answer within {self._timeout:g} s", "run the same command later")
        cause = cause_of(error)
        if isinstance(error, requests.exceptions.ProxyError):
            return _Failure(
                f"the proxy to {service} failed ({cause})", "check the variables http_proxy and https_proxy"
            )
        if isinstance(error, requests.exceptions.InvalidURL):
            return _Failure(f"the address of {service} is no URL", "check the base URL", may_repeat=False)
        if isinstance(error, requests.exceptions.SSLError):
            advice = "check this machine's clock, or give the authority of the certificate with ca_file"
            return _Failure(f"the certificate of {service} cannot be verified ({cause})", advice, may_repeat=False)
        return _Failure(f"the connection to {service} failed ({cause})", "run the same command later")

    def error(self, answer: Answer, message: str = "", *, reason: str | None = None, advice: str = "") -> ServiceError:
        """Return the exception for an answer that is no success, by its status."""
        kind: type[ServiceError] = ServiceRefusedError
        if answer.status in (408, 429):
            kind, advice = ServiceLaterError, advice or _later(answer)
        elif answer.status >= 500:
            kind, advice = ServiceUnavailableError, advice or _later(answer)
        elif answer.is_redirect:
            message = f"it redirects to {answer.location or 'nowhere'}"
            advice = advice or _OTHER_SERVER
        return self.error_of(kind, answer, message or answer.text, reason=reason, advice=advice)

    def error_of(
        self, kind: type[ServiceError], answer: Answer, message: str, *, reason: str | None = None, advice: str = ""
    ) -> ServiceError:
        """Return an exception of the given class for an answer."""
        code = self.clean(reason, _MAX_CODE) if reason else None
        words = f"{self.service} answered {answer.status}{f' {code}' if code else ''}"
        return kind(
            self.clean(f"{words} ({message})" if message else words),
            advice=self.clean(advice, 2 * MAX_MESSAGE),
            http_status=answer.status,
            reason=code,
            retry_after=answer.retry_after,
            request_id=answer.request_id,
        )

    def unusable(self, answer: Answer) -> ServiceError:
        """Return the exception for an answer with a good status and a body that the service cannot have sent."""
        what = f"no JSON but {answer.media_type or 'another text'}" if answer.body is None else "JSON of another form"
        return self.error_of(ServiceUnavailableError, answer, f"{what}: {answer.text}", advice=_OTHER_SERVER)

    def close(self) -> None:
        self._session.close()


class Api(_Closing):
    """Base of the clients of one API, which have the connections of a ServiceClient."""

    _client: ServiceClient

    def close(self) -> None:
        self._client.close()


_OTHER_SERVER = "another program may answer in the place of the service: check the proxy and the base URL"


class _Turns:
    """Starts of requests, a number of seconds apart."""

    def __init__(self, clock: Clock, seconds_between: float) -> None:
        self._clock = clock
        self._seconds_between = seconds_between
        self._next = float("-inf")
        self._lock = Lock()

    def wait(self) -> None:
        if not self._seconds_between:
            return
        with self._lock:
            now = self._clock.monotonic()
            start = max(now, self._next)
            self._next = start + self._seconds_between
        if start > now:
            self._clock.sleep(start - now)


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname}" if parts.hostname else ""
    except ValueError:
        return ""


def _parse(text: str) -> Any | None:
    try:
        return read_json(text)
    except ValueError:
        return None


def _later(answer: Answer) -> str:
    if answer.retry_after:
        return f"run the same command in {answer.retry_after:.0f} s or later"
    return "run the same command later"
