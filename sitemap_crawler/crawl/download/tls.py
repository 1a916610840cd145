"""TLS: the authorities that are trusted, the client certificate, the check of both before a crawl, and the end."""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.download.proxies import Proxies
from sitemap_crawler.exceptions import OptionError, ProxyError
from sitemap_crawler.utils.authorities import reason_of, trust_authorities
from sitemap_crawler.utils.shortage import ShortageError, lacking_descriptors

if TYPE_CHECKING:
    from asyncio import BaseTransport
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from sitemap_crawler.config.options import Options


def check_network(options: Options, *, proxies: bool) -> None:
    """Check certificates and, with `proxies`, the proxies of the environment, so that a crawl does not fail later.

    Raises OptionError, which names the file or variable.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if options.ca_file is not None:
        trust_authorities(context, options.ca_file)
    if options.client_certificate is not None:
        _load_client_certificate(context, options.client_certificate, options.client_key)
    if proxies:
        try:
            Proxies.from_environment(os.environ)
        except ProxyError as error:
            raise OptionError(str(error)) from error


def ssl_context(settings: BaseSettings, options: Options) -> ssl.SSLContext | bool:
    """Return the context for all hosts; True, for aiohttp's own, unless a setting or option asks for another."""
    if not _is_special(settings) and options.ca_file is None:
        return True
    context = _new_ssl_context(settings)
    if options.ca_file is not None:
        trust_authorities(context, options.ca_file)
    return context


def site_ssl_context(settings: BaseSettings, options: Options) -> ssl.SSLContext | None:
    """Return the context with the client certificate; None without one."""
    if options.client_certificate is None:
        return None
    context = ssl_context(settings, options)
    if isinstance(context, bool):
        context = _new_ssl_context(settings)
    _load_client_certificate(context, options.client_certificate, options.client_key)
    return context


def has_ended(transport: BaseTransport | None) -> bool:
    """Return whether the server has ended the connection. With TLS it has to say so: anybody can cut the line."""
    tls = None if transport is None else transport.get_extra_info("ssl_object")
    if tls is None:
        return True
    try:
        return not tls.read(1)
    except ssl.SSLZeroReturnError:
        return True
    except ssl.SSLError:
        return False


def _new_ssl_context(settings: BaseSettings) -> ssl.SSLContext:
    if _is_special(settings):
        # Imported here: it imports Twisted's TLS.
        from scrapy.utils.ssl import _make_ssl_context

        context = _make_ssl_context(settings)
    else:
        context = ssl.create_default_context()
    if (shortage := lacking_descriptors()) is not None:
        # OpenSSL is silent about files of authorities that it cannot open.
        raise ShortageError(shortage)
    return context


def _is_special(settings: BaseSettings) -> bool:
    """Return whether Scrapy's settings ask for another context than Python's default."""
    if not settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES") or settings["DOWNLOADER_CLIENT_TLS_CIPHERS"] != "DEFAULT":
        return True
    return any(settings[name] for name in ("DOWNLOAD_TLS_MIN_VERSION", "DOWNLOAD_TLS_MAX_VERSION"))


def _load_client_certificate(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    """Add the client certificate and its key to the context. Raises OptionError."""
    _check_readable("client_certificate", certificate)
    if key is not None:
        _check_readable("client_key", key)
    passphrase_requests: list[bool] = []

    def passphrase() -> str:
        # Without this function OpenSSL would ask for a passphrase on the terminal.
        passphrase_requests.append(True)
        return ""

    try:
        context.load_cert_chain(certificate, key, passphrase)
    except (OSError, ValueError) as error:
        name = f"client_key {key}" if key is not None else f"client_certificate {certificate}"
        if passphrase_requests:
            raise OptionError(f"the key in {name} has a passphrase: give one without, readable only by you") from error
        if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
            raise OptionError(f"the key in {name} is not that of the client certificate: give the right one") from error
        remedy = "a certificate and its private key in PEM format are needed, in one file or with client_key"
        raise OptionError(f"cannot use {name} ({reason_of(error)}): {remedy}") from error


def _check_readable(name: str, path: Path) -> None:
    """Raise OptionError if the file of an option cannot be read."""
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise OptionError(f"cannot read {name} {path}: {error.strerror or error}") from error
