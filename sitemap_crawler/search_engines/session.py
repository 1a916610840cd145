"""The session of the HTTP client: TLS, no cookies, no login of another file, and bounded bodies."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy

import sitemap_crawler
from sitemap_crawler.exceptions import ProxyError
from sitemap_crawler.utils.authorities import trusting_context

if TYPE_CHECKING:
    import ssl
    from http.cookiejar import Cookie
    from pathlib import Path

    from requests import Response

MAX_BODY_BYTES = 1_000_000
"""Maximum size of an answer. The longest useful one, a list of a thousand properties, has a tenth of it."""
_CHUNK_BYTES = 65_536


class _Adapter(HTTPAdapter):
    """Adapter of requests with a TLS context of its own: the authorities of the system and of the user."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options, ssl_context=self._context)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        return super().proxy_manager_for(proxy, **options, ssl_context=self._context)

    def cert_verify(self, conn: Any, url: str, verify: object, cert: object) -> None:
        # requests would add the authorities of certifi.
        conn.cert_reqs = "CERT_REQUIRED"


class _Session(requests.Session):
    def get_redirect_target(self, resp: Response) -> None:
        """Return no target. Otherwise requests reads the whole body of a redirect to prepare the next request."""


class _NoCookies(requests.cookies.RequestsCookieJar):
    def set_cookie(self, cookie: Cookie, *args: Any, **options: Any) -> None:
        """Keep no cookie."""


def tls_context(ca_file: Path | None, *, uses_tls: bool) -> ssl.SSLContext | None:
    """Return the context of a service; None without TLS. Raises OptionError for an unusable `ca_file`."""
    if not uses_tls and ca_file is None:
        return None
    return trusting_context(ca_file)


def new_session(context: ssl.SSLContext | None) -> requests.Session:
    """Return a session without a connection."""
    session = _Session()
    # Otherwise requests takes a login from ~/.netrc, in the place of the token.
    session.trust_env = False
    session.cookies = _NoCookies()
    session.headers = requests.structures.CaseInsensitiveDict(
        {"User-Agent": f"sitemap-crawler/{sitemap_crawler.__version__}", "Accept-Encoding": "identity"}
    )
    if context is not None:
        session.mount("https://", _Adapter(context))
        session.mount("http://", _Adapter(context))
    return session


def proxies_of(url: str) -> dict[str, str]:
    """Return the proxy that the environment names for a URL, by the scheme of the URL. Raises ProxyError."""
    proxy = select_proxy(url, get_environ_proxies(url))
    if proxy is None:
        return {}
    address = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(address)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        names = "http_proxy, https_proxy or all_proxy"
        raise ProxyError(f"the environment variable {names} names no usable proxy: write it as http://HOST:PORT")
    return {urlsplit(url).scheme: address}


def read_body(response: Response, deadline: float) -> bytes | None:
    """Return the body; None if it is too large. Raises TimeoutError after the deadline."""
    body = bytearray()
    while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return None
        if time.monotonic() > deadline:
            raise TimeoutError
    return bytes(body)


def cause_of(error: BaseException) -> str:
    """Return the reason of the operating system, else the class of the first exception of a chain."""
    first: BaseException = error
    seen: set[int] = set()
    current: BaseException | None = error
    words = ""
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        first = current
        words = getattr(current, "verify_message", None) or getattr(current, "strerror", None) or words
        if type(current) is OSError and len(current.args) == 1:
            # http.client reports the answer of a proxy so.
            words = str(current.args[0])
        reason = getattr(current, "reason", None)
        inner = next((arg for arg in (reason, *current.args) if isinstance(arg, BaseException)), None)
        current = inner or current.__cause__ or current.__context__
    return words or type(first).__name__
