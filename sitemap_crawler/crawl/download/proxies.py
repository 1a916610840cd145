"""The proxies that the environment names in http_proxy, https_proxy, all_proxy and no_proxy."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.exceptions import ProxyError
from sitemap_crawler.urls.normalise import host_of, origin_of, split_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMES = ("http", "https")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Proxy:
    url: str
    """Without user and password."""
    authorization: str | None = field(default=None, repr=False)
    """The value of Proxy-Authorization."""

    @classmethod
    def of(cls, text: str) -> Proxy:
        """Of `[http://][user:password@]host[:port]`. Raises ProxyError."""
        scheme = _SCHEME.match(text)
        if scheme and scheme[1].lower().startswith("socks"):
            raise ProxyError("SOCKS proxies are not supported: give an http proxy, or remove the variable")
        if scheme and scheme[1].lower() != "http":
            raise ProxyError(f"{scheme[1]} proxies are not supported: give an http proxy, or remove the variable")
        bare, user, password = split_credentials(text if scheme else f"http://{text}")
        try:
            parts = urlsplit(bare)
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if not host or re.search(r"[\x00-\x20\x7f]", bare):
            raise ProxyError("it is no address of a proxy: write it as http://HOST:PORT")
        url = f"http://{f'[{host}]' if ':' in host else host}:{80 if port is None else port}"
        return cls(url, None if user is None else _basic(user, password or ""))


class Proxies(NamedTuple):
    by_scheme: dict[str, Proxy]
    direct: tuple[str, ...]
    """Hosts, with or without port, domains and *, as no_proxy has them."""

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Proxies | None:
        """None when no proxy is named. Raises ProxyError, which names the variable."""
        found: dict[str, Proxy] = {}
        for scheme in SCHEMES:
            variable = _first_set(environment, f"{scheme}_proxy") or _first_set(environment, "all_proxy")
            if variable is not None and environment[variable].strip():
                try:
                    found[scheme] = Proxy.of(environment[variable].strip())
                except ProxyError as error:
                    raise ProxyError(f"the environment variable {variable} names no usable proxy: {error}") from None
        variable = _first_set(environment, "no_proxy")
        names = environment[variable].lower().split(",") if variable else []
        return cls(found, tuple(name.strip() for name in names if name.strip())) if found else None

    def proxy_for(self, url: str) -> Proxy | None:
        """`url` is normalised."""
        proxy = self.by_scheme.get(url.partition(":")[0])
        return None if proxy is None or self._is_direct(url) else proxy

    def _is_direct(self, url: str) -> bool:
        host, authority = host_of(url), origin_of(url).partition("://")[2]
        spellings = (host, host.strip("[]"), authority)
        for name in self.direct:
            domain = name.removeprefix("*").removeprefix(".")
            if not domain or domain in spellings or f".{host}".endswith(f".{domain}"):
                return True
        return False


def _first_set(environment: Mapping[str, str], name: str) -> str | None:
    """The variable in lower case, else in upper case; HTTP_PROXY counts not in CGI, where a client's header sets it."""
    if name in environment:
        return name
    upper = name.upper()
    if upper == "HTTP_PROXY" and "REQUEST_METHOD" in environment:
        return None
    return upper if upper in environment else None


def _basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode(errors='surrogateescape')).decode('ascii')}"
