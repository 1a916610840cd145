"""Download of sitemaps with the standard library: http and https only, limited in time and bytes."""

from __future__ import annotations

import http.client
import time
import urllib.request
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urldefrag

import sitemap_crawler
from sitemap_crawler.exceptions import UnreadableError
from sitemap_crawler.validation.stream import decompress
from sitemap_crawler.validation.values import UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator

_TIMEOUT_SECONDS = 30
"""Maximum time without a received byte."""
_DEADLINE_SECONDS = 600
"""Maximum time for one file, for servers that send a few bytes at a time."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Handler that follows redirects to http and https URLs, and with `origin` only within that origin."""

    def __init__(self, origin: str | None) -> None:
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
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Download:
    """Body of a response, read piece by piece. `url` is the URL after redirects."""

    def __init__(self, response: http.client.HTTPResponse, url: str) -> None:
        self.url = url
        self._response = response
        self._until = time.monotonic() + _DEADLINE_SECONDS
        coding = (response.headers.get("Content-Encoding") or "identity").strip().lower()
        if coding not in {"identity", "gzip", "x-gzip"}:
            raise UnreadableError("unreachable", f"is sent with the content encoding {coding}, which was not requested")
        self._pieces = self._received() if coding == "identity" else decompress(self._received())

    def read(self, _size: int, /) -> bytes:
        return next(self._pieces, b"")

    def _received(self) -> Iterator[bytes]:
        try:
            while piece := self._response.read1(65_536):
                yield piece
                if time.monotonic() > self._until:
                    raise UnreadableError("download-failed", f"was not complete after {_DEADLINE_SECONDS} seconds")
        except (OSError, http.client.HTTPException) as exc:
            raise UnreadableError("download-failed", f"broke off while it was read: {_reason(exc)}") from None
        if self._response.length:
            raise UnreadableError("download-failed", f"broke off {self._response.length:,} bytes before its end")


@contextmanager
def open_url(url: str, origin: str | None = None) -> Iterator[Download]:
    """Open a URL that `parse_url` has accepted. With `origin`, redirects to other origins are refused.

    Raises UnreadableError.
    """
    headers = {"User-Agent": f"sitemap-crawler/{sitemap_crawler.__version__}", "Accept-Encoding": "gzip"}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - parse_url accepts http and https only
    try:
        response = _opener(origin).open(request, timeout=_TIMEOUT_SECONDS)
    except HTTPError as exc:
        exc.close()
        phrase = http.client.responses.get(exc.code, "")  # not the text of the server
        problem = f"answered {exc.code} {phrase}".rstrip()
        if 300 <= exc.code < 400:
            problem = "redirects endlessly, or to a URL that is not http"
        raise UnreadableError("unreachable", problem) from None
    except (OSError, http.client.HTTPException, ValueError) as exc:
        raise UnreadableError("unreachable", f"can't be fetched: {_reason(exc)}") from None
    with response:
        if response.status != 200:
            raise UnreadableError("unreachable", f"answered {response.status}, not 200")
        yield Download(response, urldefrag(response.geturl())[0])


def _opener(origin: str | None) -> urllib.request.OpenerDirector:
    """Return an opener for http and https only. `build_opener` would also open files, FTP and data URLs."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(origin),
    ):
        opener.add_handler(handler)
    return opener


def _reason(exc: Exception) -> str:
    cause = exc.reason if isinstance(exc, URLError) else exc
    return " ".join(str(cause).split()) or type(cause).__name__
