"""Keys by which listed URLs are compared: URLs with the same key are the same page, or twins of one another.

A twin differs in nothing but the scheme, a `www.` in front of the host, or a slash at the end of the path.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sitemap_crawler.validation.values import Url

_WWW = "www."


class Spelling(NamedTuple):
    """The parts of a URL that its key leaves out."""

    scheme: str
    has_www: bool
    has_slash: bool


def key_of(url: Url) -> str:
    """Return the key of a URL."""
    return _bare_host(url.origin) + url.path.removesuffix("/") + url.query


def spelling_of(url: Url) -> Spelling:
    """Return the spelling of a URL. With the key it is the URL."""
    scheme, _, host = url.origin.partition("://")
    return Spelling(scheme, host.startswith(_WWW), url.path.endswith("/"))


@lru_cache(maxsize=256)
def _bare_host(origin: str) -> str:
    return origin.partition("://")[2].removeprefix(_WWW)


def hash_of(key: str) -> int:
    """Return the hash of a key: 64 bits with a sign.

    Python's hash of bytes has a secret key, so a site cannot cause collisions on purpose. It is the same in all
    processes that were forked from one.
    """
    return hash(key.encode())


def pair_hash(page: str, target: str) -> int:
    """Return the hash of a page and one of its alternates, both as texts of URLs."""
    return hash((page, target))
