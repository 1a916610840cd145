"""Descriptions of failed requests for users. The messages of the libraries name objects of their own."""

from __future__ import annotations

import os
import socket
import ssl

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from sitemap_crawler.crawl.download.proxies import PROXY
from sitemap_crawler.exceptions import CodingError
from sitemap_crawler.utils.text import printable

MAX_ERROR_LENGTH = 300
"""Maximum number of characters of a description."""
_CERTIFICATE_FAULTS = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is a self-signed certificate",
    19: "its authority is a self-signed certificate that is not known here",
    20: "its authority is not known here, or the server does not send the whole chain",
    21: "its authority is not known here, or the server does not send the whole chain",
    62: "it is for another host",
    64: "it is for another host",
}
"""By error number of OpenSSL, https://docs.openssl.org/3.0/man3/X509_STORE_CTX_get_error/#error-codes"""
_LOOK_UP_FAULTS = {
    socket.EAI_NONAME: "there is no such host; check the spelling",
    socket.EAI_AGAIN: "the name server does not answer; check the network, or try again later",
    socket.EAI_FAIL: "the name server fails; try again later",
    getattr(socket, "EAI_NODATA", None): "the name has no address; check its DNS records",
    getattr(socket, "EAI_ADDRFAMILY", None): "the name has no address of the required kind; check its DNS records",
}


def describe_failure(error: BaseException | None) -> str:
    """Return one line that says why a request has no response, and how to fix it if that is known."""
    tls = _tls_error(error)
    cause = None if error is None else error.__cause__
    if isinstance(tls, ssl.SSLCertVerificationError):
        remedy = "--ca-file FILE trusts an authority of your own, -s DOWNLOAD_VERIFY_CERTIFICATES=0 ignores it"
        reason = _CERTIFICATE_FAULTS.get(tls.verify_code, tls.verify_message)
        text = f"the TLS certificate is not valid: {reason}; {remedy}"
    elif tls is not None:
        text = f"no TLS connection: {_describe_tls(tls)}"
    elif isinstance(error, DownloadTimeoutError):
        text = "no answer in time"
    elif isinstance(error, CannotResolveHostError):
        text = f"the name of {_peer(error)} can't be resolved: {_describe_look_up(error)}"
    elif isinstance(error, DownloadConnectionRefusedError):
        peer = f" to {_peer(error)}" if str(error).startswith(PROXY) else ""
        text = f"no connection{peer}: {_describe_os_error(error)}"
    elif isinstance(error, ResponseDataLossError):
        is_damaged = isinstance(cause, CodingError)
        text = f"the compressed answer is damaged: {cause}" if is_damaged else "the answer broke off"
    elif error is not None and isinstance(error.__cause__, OSError) and error.__cause__.errno:
        text = f"the connection broke: {_describe_os_error(error)}"
    elif isinstance(error, UnicodeError) or isinstance(cause, UnicodeError):
        text = "its host is no valid name: a part of it is empty, or has more than 63 characters"
    else:
        text = " ".join(str(error).split()) or type(error).__name__
    return printable(text)[:MAX_ERROR_LENGTH]


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    while error is not None:
        # Some exceptions of aiohttp derive from SSLError and have none of its attributes. They hold the original error.
        inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
        if isinstance(inner, ssl.SSLError) and inner.reason:
            return inner
        error = error.__cause__ or error.__context__
    return None


def _describe_tls(error: ssl.SSLError) -> str:
    reason = error.reason
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return "the server does not speak TLS at this port; is it http instead of https?"
    if "CERTIFICATE" in reason or reason.endswith("UNKNOWN_CA"):
        return "the server requires a client certificate that it accepts; give --client-certificate"
    if reason.endswith("HANDSHAKE_FAILURE"):
        return "the server refuses it, perhaps because it needs a client certificate; give --client-certificate"
    return reason.lower().replace("_", " ")


def _peer(error: BaseException) -> str:
    """Return the name of the host, or of the proxy if that is at fault."""
    if str(error).startswith(PROXY):
        return str(error)
    return getattr(error.__cause__, "host", None) or "the host"


def _describe_look_up(error: BaseException) -> str:
    errno = getattr(getattr(error.__cause__, "os_error", None), "errno", None)
    return _LOOK_UP_FAULTS.get(errno, "check the spelling and the network")


def _describe_os_error(error: BaseException) -> str:
    cause = error.__cause__
    os_error = getattr(cause, "os_error", cause)
    errno = getattr(os_error, "errno", None)
    return os.strerror(errno).lower() if errno else type(os_error).__name__
