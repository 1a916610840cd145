"""How hosts are reached: certificates and proxies, looked at before the first request."""

from __future__ import annotations

import os
import ssl
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.download.proxies import Proxies
from sitemap_crawler.exceptions import OptionError, ProxyError

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.options import Options


def check_network(options: Options, *, proxies: bool) -> None:
    """`proxies`: whether the environment's are used. Raises OptionError, which names the file or variable."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if options.ca_file is not None:
        trust_authorities(context, options.ca_file)
    if options.client_certificate is not None:
        load_client_certificate(context, options.client_certificate, options.client_key)
    if proxies:
        try:
            Proxies.of_environment(os.environ)
        except ProxyError as error:
            raise OptionError(str(error)) from error


def trust_authorities(context: ssl.SSLContext, path: Path) -> None:
    """Beside those that `context` trusts. Raises OptionError."""
    _readable("ca_file", path)
    try:
        context.load_verify_locations(path)
    except (OSError, ValueError) as error:
        raise OptionError(f"ca_file {path} holds no certificate in PEM format ({_words(error)})") from error


def load_client_certificate(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    """Raises OptionError."""
    _readable("client_certificate", certificate)
    if key is not None:
        _readable("client_key", key)
    asked: list[bool] = []

    def passphrase() -> str:
        # Without this OpenSSL would ask on the terminal.
        asked.append(True)
        return ""

    try:
        context.load_cert_chain(certificate, key, passphrase)
    except (OSError, ValueError) as error:
        name = f"client_key {key}" if key is not None else f"client_certificate {certificate}"
        if asked:
            raise OptionError(f"the key in {name} has a passphrase: give one without, readable only by you") from error
        if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
            raise OptionError(f"the key in {name} is not that of the client certificate: give the right one") from error
        remedy = "a certificate and its private key in PEM format are needed, in one file or with client_key"
        raise OptionError(f"cannot use {name} ({_words(error)}): {remedy}") from error


def _readable(name: str, path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise OptionError(f"cannot read {name} {path}: {error.strerror or error}") from error


def _words(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    return str(reason).lower().replace("_", " ") if reason else str(error)
