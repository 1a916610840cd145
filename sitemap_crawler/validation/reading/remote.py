"""Download of sitemaps with the standard library: http and https only, limited in time and bytes."""

from __future__ import annotations

import http
import http.client
import time
import urllib.request
from contextlib import contextmanager
from itertools import chain
from typing import IO, TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urldefrag

import sitemap_crawler
from sitemap_crawler.exceptions import AddressError, UnreadableError
from sitemap_crawler.utils.addresses import Gate
from sitemap_crawler.utils.files import GZIP_MAGIC
from sitemap_crawler.utils.gated_http import GatedHandler, opener
from sitemap_crawler.utils.shortage import raise_shortage
from sitemap_crawler.utils.text import without_error_number
from sitemap_crawler.validation.reading.stream import decompress
from sitemap_crawler.validation.values import UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sitemap_crawler.utils.addresses import Passage

_TIMEOUT_SECONDS = 30
"""Maximum time without a received byte."""
_DEADLINE_SECONDS = 600
"""Maximum time for one file, for servers that send a few bytes at a time."""
MAX_SECONDS = 7_200
"""Maximum time of a validation. Two hours are enough for ten thousand sitemaps of usual size."""
PAUSE_SECONDS = 0.1
"""Minimum time from the end of one download to the next request: a validation needs no hurry."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Handler that follows redirects to http and https URLs that the gate lets pass, and with `origin` only there."""

    def __init__(self, gate: Gate, origin: str | None) -> None:
        self._gate = gate
        self._origin = origin

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        url = parse_url(urldefrag(newurl)[0])
        if isinstance(url, UrlProblem):
            fp.close()
            raise UnreadableError("unreachable", f"redirects to an address that {url.message}")
        if self._origin not in {None, url.origin}:
            fp.close()
            raise UnreadableError("unreachable", f"redirects to another site, {url.origin}")
        self._gate.name(url.origin)
        try:
            self._gate.passage(url.origin)
        except AddressError as exc:
            fp.close()
            raise UnreadableError("unreachable", f"redirects to an address that is not requested: {exc}") from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Handler(GatedHandler):
    """Handler of http and https requests, each with the permission of the gate."""

    def __init__(self, gate: Gate, origin: str, credentials: Sequence[tuple[str, str]]) -> None:
        """The headers `credentials` are sent to `origin` only."""
        super().__init__()
        self._gate = gate
        self._origin = origin
        self._credentials = credentials

    def passage(self, request: urllib.request.Request) -> Passage:
        """Return the permission to send a request. Raises AddressError."""
        url = parse_url(request.full_url)
        if isinstance(url, UrlProblem):
            raise AddressError(f"its URL {url.message}")
        passage = self._gate.passage(url.origin)
        if url.origin == self._origin:
            for header in self._credentials:
                request.add_unredirected_header(*header)
        return passage


class Download:
    """Body of a response, read piece by piece. `url` is the URL after redirects."""

    def __init__(self, response: http.client.HTTPResponse, url: str) -> None:
        self.url = url
        self.content_type = response.headers.get_content_type() if "Content-Type" in response.headers else None
        """Media type in lower case; None without a header."""
        self._response = response
        self._until = time.monotonic() + _DEADLINE_SECONDS
        coding = ", ".join(response.headers.get_all("Content-Encoding") or ["identity"]).strip().lower()
        if coding not in {"identity", "gzip", "x-gzip"}:
            raise UnreadableError("unreachable", f"is sent with the content encoding {coding}, which was not requested")
        self.decoded = coding != "identity"
        """Whether the response had a content encoding. `read` returns the decoded file."""
        self._pieces = self._received() if coding == "identity" else _decoded(self._received())

    def read(self, _size: int, /) -> bytes:
        return next(self._pieces, b"")

    def _received(self) -> Iterator[bytes]:
        try:
            while piece := self._response.read1(65_536):
                yield piece
                if time.monotonic() > self._until:
                    raise UnreadableError("download-failed", f"was not complete after {_DEADLINE_SECONDS} seconds")
        except (OSError, http.client.HTTPException) as exc:
            raise_shortage(exc)
            raise UnreadableError("download-failed", f"broke off while it was read: {_reason(exc)}") from None
        if self._response.length:
            raise UnreadableError("download-failed", f"broke off {self._response.length:,} bytes before its end")


def _decoded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a body with the content encoding gzip. Raises UnreadableError."""
    head = b""
    while len(head) < len(GZIP_MAGIC) and (piece := next(pieces, b"")):
        head += piece
    if head and not head.startswith(GZIP_MAGIC):
        raise UnreadableError("false-encoding", "is sent with Content-Encoding: gzip, and is not compressed")
    yield from decompress(chain([head], pieces))


class Client:
    """HTTP client of one validation: its gate, pace and total time."""

    def __init__(self, origin: str, credentials: Sequence[tuple[str, str]] = ()) -> None:
        """Take the origin of the target, and the headers that only this origin gets."""
        self._gate = Gate(origin)
        self._handler = _Handler(self._gate, origin, credentials)
        self._until = time.monotonic() + MAX_SECONDS
        self._not_before = 0.0

    @property
    def is_late(self) -> bool:
        """Whether the time of the validation is over."""
        return time.monotonic() > self._until

    def name(self, origin: str) -> None:
        """Note that the robots.txt of the site names a sitemap at another origin, so that it may be asked."""
        self._gate.name(origin)

    @contextmanager
    def open_url(self, url: str, origin: str | None = None) -> Iterator[Download]:
        """Open a URL that `parse_url` has accepted. With `origin`, redirects to other origins are refused.

        Raises UnreadableError.
        """
        time.sleep(max(0.0, self._not_before - time.monotonic()))
        try:
            with _open_url(url, _opener(self._gate, self._handler, origin)) as download:
                yield download
        finally:
            self._not_before = time.monotonic() + PAUSE_SECONDS


@contextmanager
def _open_url(url: str, opener: urllib.request.OpenerDirector) -> Iterator[Download]:
    headers = {"User-Agent": f"sitemap-crawler/{sitemap_crawler.__version__}", "Accept-Encoding": "gzip"}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - parse_url accepts http and https only
    try:
        response = opener.open(request, timeout=_TIMEOUT_SECONDS)
    except HTTPError as exc:
        exc.close()
        phrase = http.client.responses.get(exc.code, "")  # not the text of the server
        problem = f"answered {exc.code} {phrase}".rstrip()
        if exc.code == http.HTTPStatus.UNAUTHORIZED:
            problem += ": log in with --auth or --header"
        if 300 <= exc.code < 400:
            problem = "redirects endlessly, or to a URL that is not http"
        raise UnreadableError("unreachable", problem) from None
    except (OSError, http.client.HTTPException, ValueError) as exc:
        raise_shortage(exc)
        raise UnreadableError("unreachable", f"can't be fetched: {_reason(exc)}") from None
    with response:
        if response.status != 200:
            raise UnreadableError("unreachable", f"answered {response.status}, not 200")
        yield Download(response, urldefrag(response.geturl())[0])


def _opener(gate: Gate, requests: _Handler, origin: str | None) -> urllib.request.OpenerDirector:
    return opener(requests, urllib.request.HTTPErrorProcessor(), _Redirects(gate, origin))


def _reason(exc: Exception) -> str:
    cause = exc.reason if isinstance(exc, URLError) else exc
    return without_error_number(" ".join(str(cause).split())) or type(cause).__name__
