"""The key by which a URL is found."""

from __future__ import annotations

from hashlib import blake2b


def url_key(url: str) -> int:
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)
