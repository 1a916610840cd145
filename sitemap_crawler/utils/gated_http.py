"""Requests of the standard library that pass the gate of `addresses.py`, also at the moment of each connection."""

from __future__ import annotations

import http.client
import socket
import urllib.request
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl

    from sitemap_crawler.utils.addresses import Passage


class _Connection(http.client.HTTPConnection):
    """Connection to an address that the gate lets pass."""

    def __init__(self, *args: Any, passage: Passage | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = partial(_connect, passage)


class _SecureConnection(http.client.HTTPSConnection):
    """Connection by TLS to an address that the gate lets pass."""

    def __init__(self, *args: Any, passage: Passage | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._create_connection = partial(_connect, passage)


class GatedHandler(urllib.request.HTTPHandler):
    """Handler of http and https requests. Subclasses give the permission for each request."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        """Without a TLS context Python's default is used."""
        super().__init__()
        self._context = context

    def passage(self, request: urllib.request.Request) -> Passage:
        """Return the permission to send a request. Raises AddressError."""
        raise NotImplementedError

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_Connection, passage=self._checked(req)), req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        made = partial(_SecureConnection, passage=self._checked(req), context=self._context)
        return self.do_open(made, req)

    https_request = urllib.request.HTTPHandler.http_request

    def _checked(self, request: urllib.request.Request) -> Passage | None:
        """Return the permission to connect; None if a proxy resolves the name of the host."""
        passage = self.passage(request)
        return passage if request.host == urlsplit(request.full_url).netloc else None


def opener(*handlers: urllib.request.BaseHandler) -> urllib.request.OpenerDirector:
    """Return an opener with these handlers, the proxies of the environment, and errors for other answers than 2xx.

    `build_opener` would also open files, FTP and data URLs.
    """
    made = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), *handlers, urllib.request.HTTPDefaultErrorHandler()):
        made.add_handler(handler)
    return made


def _connect(
    passage: Passage | None, address: tuple[str, int], timeout: float, source_address: tuple[str, int] | None
) -> socket.socket:
    """Connect to the first address of a host that the gate lets pass and that answers. Raises OSError."""
    infos = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    if passage is not None:
        passage.root.learn(str(info[4][0]) for info in infos)
    failure = OSError(f"{address[0]} has no address")
    for family, kind, protocol, _, socket_address in infos:
        try:
            if passage is not None:
                passage.check(str(socket_address[0]))
            return _open(socket.socket(family, kind, protocol), socket_address, timeout, source_address)
        except OSError as exc:
            failure = exc
    raise failure


def _open(
    connection: socket.socket, address: Any, timeout: float, source_address: tuple[str, int] | None
) -> socket.socket:
    try:
        connection.settimeout(timeout)
        if source_address is not None:
            connection.bind(source_address)
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection
