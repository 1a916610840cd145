"""The client for files of the own site: sitemaps, key files and robots.txt, as a search engine would get them.

Redirects are answers. Header and login of the site file go to the origin of the crawl only.
"""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.request
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import URLError
from urllib.parse import urljoin

from sitemap_crawler.exceptions import AddressError, GzipError
from sitemap_crawler.urls.normalise import host_of, origin_of
from sitemap_crawler.utils.addresses import Gate, is_loopback, is_public, literal_address
from sitemap_crawler.utils.authorities import trusting_context
from sitemap_crawler.utils.files import gunzip
from sitemap_crawler.utils.gated_http import GatedHandler, opener
from sitemap_crawler.utils.text import one_line, printable, without_error_number

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sitemap_crawler.config.credentials import Access
    from sitemap_crawler.utils.addresses import Passage

MAX_KEPT_BYTES = 512_000
"""Maximum number of bytes of a body that an answer holds. Google reads as much of a robots.txt."""
MAX_REDIRECTS = 5
MAX_REASON = 200
"""Maximum number of characters of the reason why a file cannot be fetched."""
_DEADLINE_SECONDS = 300
"""Maximum time for one file, for servers that send a few bytes at a time."""
_PIECE_BYTES = 65_536
_NOT_ALLOWED = (405, 501)


class SiteAnswer(NamedTuple):
    """The answer to a request for a file."""

    url: str
    status: int | None = None
    """None if there is no complete answer."""
    problem: str = ""
    """Why there is none."""
    location: str = ""
    """The absolute URL that the answer redirects to."""
    size: int = 0
    """Number of decoded bytes, at most one more than were asked for."""
    sha256: str = ""
    body: bytes = b""
    """First MAX_KEPT_BYTES of the decoded body."""

    @property
    def difference(self) -> str | None:
        """How the answer differs from that of a file which is there; None for status 200."""
        if self.status is None:
            return f"{self.url} cannot be fetched: {self.problem}"
        if self.location:
            return f"{self.url} redirects to {printable(self.location)}"
        return None if self.status == 200 else f"{self.url} answers with status {self.status}"


class SiteClient:
    """Client for the origins of the entry files of one site."""

    def __init__(
        self,
        origins: Iterable[str],
        *,
        user_agent: str,
        timeout: float,
        ca_file: Path | None = None,
        access: Access | None = None,
        access_origin: str | None = None,
    ) -> None:
        """Take the origins. The headers in `access` are sent to `access_origin` only. Raises OptionError."""
        first, *others = sorted(set(origins))
        self._gate = Gate(first, given=others)
        self._opener = opener(_Handler(self._gate, trusting_context(ca_file)))
        self._user_agent = user_agent
        self._timeout = timeout
        self._access = access
        self._access_origin = access_origin

    def is_public(self, origin: str) -> bool:
        """Return whether the host may be a public one. The address of a name counts once the name is resolved."""
        host = host_of(f"{origin}/")
        literal = literal_address(host)
        if literal is not None:
            return is_public(literal)
        if is_loopback(host) or "." not in host.rstrip("."):
            return False
        return self._gate.passage(origin).root.is_public is not False

    def fetch(self, url: str, *, max_bytes: int = MAX_KEPT_BYTES) -> SiteAnswer:
        """Return the answer to a GET request, without following a redirect. A body is read up to `max_bytes`."""
        return self._request("GET", url, max_bytes)

    def is_there(self, url: str) -> SiteAnswer:
        """Return the answer to a HEAD request, or to a GET request if the server refuses HEAD."""
        answer = self._request("HEAD", url, 0)
        return self._request("GET", url, 0) if answer.status in _NOT_ALLOWED else answer

    def fetch_on_host(self, url: str) -> SiteAnswer:
        """Return the answer to a GET request. Redirects are followed on the same host only."""
        answer = self.fetch(url)
        for _ in range(MAX_REDIRECTS):
            if not answer.location or host_of(answer.location) != host_of(url):
                break
            answer = self.fetch(answer.location)
        return answer

    def _request(self, method: str, url: str, max_bytes: int) -> SiteAnswer:
        headers = [("User-Agent", self._user_agent), ("Accept-Encoding", "gzip")]
        if self._access is not None and origin_of(url) == self._access_origin:
            headers = self._access.merge_into(headers)
        request = urllib.request.Request(url, headers=dict(headers), method=method)  # noqa: S310 - http(s) only
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                if 300 <= response.status < 400 and response.headers.get("Location"):
                    return SiteAnswer(url, response.status, location=_absolute(url, response.headers["Location"]))
                if response.status != 200 or method == "HEAD":
                    return SiteAnswer(url, response.status)
                return _read(url, response, max_bytes)
        except AddressError as error:
            return SiteAnswer(url, problem=str(error))
        except (OSError, http.client.HTTPException, GzipError, ValueError) as error:
            cause = error.reason if isinstance(error, URLError) else error
            return SiteAnswer(
                url, problem=printable(one_line(without_error_number(str(cause)), MAX_REASON)) or type(cause).__name__
            )


class _Handler(GatedHandler):
    """Handler of requests that the gate lets pass."""

    def __init__(self, gate: Gate, context: ssl.SSLContext) -> None:
        super().__init__(context)
        self._gate = gate

    def passage(self, request: urllib.request.Request) -> Passage:
        return self._gate.passage(origin_of(request.full_url))


def _absolute(url: str, location: str) -> str:
    """Return the target of a redirect as one line. A text that is no URL stays as it is."""
    text = one_line(location, 2_000)
    try:
        return urljoin(url, text) or text
    except ValueError:
        return text or "nowhere"


def _read(url: str, response: http.client.HTTPResponse, max_bytes: int) -> SiteAnswer:
    """Read the decoded body up to one byte more than `max_bytes`. Raises OSError, GzipError."""
    coding = ", ".join(response.headers.get_all("Content-Encoding") or ["identity"]).strip().lower()
    if coding not in {"identity", "gzip", "x-gzip"}:
        return SiteAnswer(url, problem=f"it has the content coding {one_line(coding, 40)}, which was not asked for")
    received = _received(response, time.monotonic() + _DEADLINE_SECONDS)
    pieces = received if coding == "identity" else gunzip(received, max_piece_bytes=_PIECE_BYTES)
    digest, kept, size = hashlib.sha256(), bytearray(), 0
    for piece in chain(pieces, (b"",)):
        digest.update(piece)
        size += len(piece)
        kept += piece[: MAX_KEPT_BYTES - len(kept)]
        if size > max_bytes:
            break
    return SiteAnswer(url, 200, size=min(size, max_bytes + 1), sha256=digest.hexdigest(), body=bytes(kept))


def _received(response: http.client.HTTPResponse, deadline: float) -> Iterator[bytes]:
    while piece := response.read1(_PIECE_BYTES):
        yield piece
        if time.monotonic() > deadline:
            raise TimeoutError(f"it was not complete after {_DEADLINE_SECONDS} seconds")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
