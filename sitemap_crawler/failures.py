"""Why a request has no answer, in words for people: libraries' messages name their own objects."""

from __future__ import annotations

import os
import ssl

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from sitemap_crawler.texts import printable

MAX_TEXT = 200


def failure_words(error: BaseException | None) -> str:
    """One line, at most 200 characters."""
    certificate = _certificate_error(error)
    if certificate is not None:
        remedy = "-s DOWNLOAD_VERIFY_CERTIFICATES=0 ignores it"
        text = f"the TLS certificate is not valid: {certificate.verify_message}; {remedy}"
    elif isinstance(error, DownloadTimeoutError):
        text = "no answer in time"
    elif isinstance(error, CannotResolveHostError):
        text = "the host name can't be resolved"
    elif isinstance(error, DownloadConnectionRefusedError):
        text = f"no connection: {_system_words(error)}"
    elif isinstance(error, ResponseDataLossError):
        text = "the answer broke off"
    else:
        text = " ".join(str(error).split()) or type(error).__name__
    return printable(text)[:MAX_TEXT]


def _certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None:
        # aiohttp's class is one by inheritance, without what one says.
        inner = getattr(error, "certificate_error", error)
        if isinstance(inner, ssl.SSLCertVerificationError):
            return inner
        error = error.__cause__ or error.__context__
    return None


def _system_words(error: BaseException) -> str:
    cause = error.__cause__
    os_error = getattr(cause, "os_error", cause)
    number = getattr(os_error, "errno", None)
    return os.strerror(number).lower() if number else type(os_error).__name__
