"""Secrets in texts of services: hidden before a text becomes a message, a log record or a row.

A service or proxy can repeat a key or token in any text: in an error, in the address of a redirect, in HTML.
"""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from sitemap_crawler.utils.text import one_line, printable

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterable

MAX_MESSAGE = 300
"""Maximum number of characters of a message."""
_MIN_SECRET = 4
"""Minimum number of characters of a secret. Shorter texts occur in any message."""
_MASK = "***"
_NAMES = "private_key|refresh_token|access_token|id_token|client_secret|assertion|api_?key"
_TOKENS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), _MASK),
    (
        re.compile(r"\b(Bearer\s+|Authorization\\?[\"']?\s*[:=]\s*\\?[\"']?Basic\s+)[^\s\"',;]+", re.IGNORECASE),
        rf"\1{_MASK}",
    ),
    # In JSON, and in JSON inside a text of JSON.
    (re.compile(rf"((?:{_NAMES})\\?[\"']\s*:\s*\\?\")[^\"]*", re.IGNORECASE), rf"\1{_MASK}"),
    # In a query, a form, or the query of an encoded URL.
    (re.compile(rf"({_NAMES})(\s*[:=]\s*|%3d)(?:(?!%26)[^\s\"'&<>,;*])+", re.IGNORECASE), rf"\1\2{_MASK}"),
    # Access tokens of Google, and signed tokens.
    (re.compile(r"\bya29\.[\w.-]+|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*"), _MASK),
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` without the secrets, in any spelling of URLs, HTML or JSON, and without tokens and keys."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _MIN_SECRET:
            for spelling in (
                secret,
                quote(secret, safe=""),
                quote_plus(secret),
                escape(secret),
                json.dumps(secret)[1:-1],
            ):
                text = text.replace(spelling, _MASK)
    for pattern, replacement in _TOKENS:
        text = pattern.sub(replacement, text)
    return text


def redact_record(record: logging.LogRecord) -> bool:
    """Take tokens and keys out of a log record: a filter for loggers of libraries that log addresses."""
    record.msg, record.args, record.exc_info = redact(record.getMessage()), (), None
    return True


class Redactor:
    """The secrets of one client. It makes texts of the service fit for messages."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = frozenset(secrets)

    def hide(self, secret: str) -> None:
        """Take another secret."""
        # A new set, because other threads may read the old one.
        self._secrets |= {secret}

    def clean(self, text: object, limit: int = MAX_MESSAGE) -> str:
        """Return one printable line of at most `limit` characters, without secrets."""
        return printable(one_line(redact(str(text), self._secrets), limit))[:limit]
