"""The HTTP client, imported without reading the system's certificates: most crawls need them late, or never.

aiohttp makes two TLS contexts while it is imported, one of them for hardly anybody, and reads all authorities for each.
That is a tenth of the start.
"""

from __future__ import annotations

import ssl
import sys
from typing import Any


class _Untrusting(ssl.SSLContext):
    """A context that reads the authorities before its first connection; until then it trusts nobody."""

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        return _trusting(self).wrap_bio(*args, **kwargs)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        return _trusting(self).wrap_socket(*args, **kwargs)


def _trusting(context: ssl.SSLContext) -> ssl.SSLContext:
    if isinstance(context, _Untrusting):
        context.__class__ = ssl.SSLContext  # type: ignore[assignment]
        context.set_default_verify_paths()
    return context


def _trust_later(context: ssl.SSLContext) -> None:
    context.__class__ = _Untrusting


def import_aiohttp() -> None:
    """Afterwards it is imported as ever; what is imported already stays as it is."""
    if "aiohttp" in sys.modules:
        return
    ssl.SSLContext.set_default_verify_paths = _trust_later  # type: ignore[method-assign, assignment]
    try:
        import aiohttp  # noqa: F401
    finally:
        # The one of its base class shows again.
        del ssl.SSLContext.set_default_verify_paths
