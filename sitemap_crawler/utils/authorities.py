"""Certificate authorities of the user, trusted in addition to those of the system."""

from __future__ import annotations

import ssl
from functools import lru_cache
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import OptionError

if TYPE_CHECKING:
    from pathlib import Path


@lru_cache(maxsize=8)
def trusting_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the authorities of the system and those of the option ca_file.

    To make one takes a twentieth of a second. Clients share it. Raises OptionError.
    """
    context = ssl.create_default_context()
    if ca_file is not None:
        trust_authorities(context, ca_file)
    return context


def trust_authorities(context: ssl.SSLContext, path: Path) -> None:
    """Trust the authorities in the file of the option ca_file, too. Raises OptionError."""
    try:
        text = _text_of(path)
    except OSError as error:
        raise OptionError(f"cannot read ca_file {path}: {error.strerror or error}") from error
    try:
        context.load_verify_locations(cadata=text)
    except (OSError, ValueError) as error:
        raise OptionError(f"ca_file {path} holds no certificate in PEM format ({reason_of(error)})") from error


@lru_cache(maxsize=8)
def _text_of(path: Path) -> str:
    """Return the text of a file, which is read once: a named pipe gives its content to the first reader only."""
    return path.read_text(encoding="ascii", errors="ignore")


def reason_of(error: Exception) -> str:
    """Return the reason of an error of OpenSSL in words."""
    reason = getattr(error, "reason", None)
    return str(reason).lower().replace("_", " ") if reason else str(error)
