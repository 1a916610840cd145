"""Proxies named by the environment variables http_proxy, https_proxy, all_proxy and no_proxy."""

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
PROXY = "the proxy"
"""Beginning of the message of a download error that is the proxy's fault, not the host's."""
_NOT_IN_AN_ADDRESS = re.compile(r"[\x00-\x20\x7f]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy and the credentials for it."""

    url: str
    """Without user and password."""
    authorization: str | None = field(default=None, repr=False)
    """The value of Proxy-Authorization."""

    @classmethod
    def parse(cls, text: str) -> Proxy:
        """Parse `[http://][user:password@]host[:port]`. Raises ProxyError."""
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
        if not host or _NOT_IN_AN_ADDRESS.search(bare):
            raise ProxyError("it is not the address of a proxy: write it as http://HOST:PORT")
        url = f"http://{f'[{host}]' if ':' in host else host}:{80 if port is None else port}"
        return cls(url, None if user is None else _basic(user, password or ""))


class Proxies(NamedTuple):
    """The proxy of each scheme, and the hosts that are reached directly."""

    by_scheme: dict[str, Proxy]
    direct_hosts: tuple[str, ...]
    """Entries of no_proxy: hosts with or without port, domains, and `*`."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Proxies | None:
        """Return None if no proxy is named. Raises ProxyError, which names the variable."""
        by_scheme: dict[str, Proxy] = {}
        for scheme in SCHEMES:
            variable = _first_set(environment, f"{scheme}_proxy") or _first_set(environment, "all_proxy")
            if variable is not None and environment[variable].strip():
                try:
                    by_scheme[scheme] = Proxy.parse(environment[variable].strip())
                except ProxyError as error:
                    raise ProxyError(f"the environment variable {variable} names no usable proxy: {error}") from None
        variable = _first_set(environment, "no_proxy")
        names = environment[variable].lower().split(",") if variable else []
        direct_hosts = tuple(name.strip() for name in names if name.strip())
        return cls(by_scheme, direct_hosts) if by_scheme else None

    def proxy_for(self, url: str) -> Proxy | None:
        """Return the proxy for a normalised URL; None if its host is reached directly."""
        proxy = self.by_scheme.get(url.partition(":")[0])
        return None if proxy is None or self._is_direct(url) else proxy

    def _is_direct(self, url: str) -> bool:
        host, authority = host_of(url), origin_of(url).partition("://")[2]
        spellings = (host, host.strip("[]"), authority)
        for name in self.direct_hosts:
            domain = name.removeprefix("*").removeprefix(".")
            if not domain or domain in spellings or f".{host}".endswith(f".{domain}"):
                return True
        return False


def _first_set(environment: Mapping[str, str], name: str) -> str | None:
    """Return the name of the variable that is set: in lower case, else in upper case.

    HTTP_PROXY is ignored in CGI, where a header of the client sets it.
    """
    if name in environment:
        return name
    upper = name.upper()
    if upper == "HTTP_PROXY" and "REQUEST_METHOD" in environment:
        return None
    return upper if upper in environment else None


def _basic(user: str, password: str) -> str:
    """Return the value of a header for basic authentication."""
    return f"Basic {b64encode(f'{user}:{password}'.encode(errors='surrogateescape')).decode('ascii')}"
