"""Keys by which listed URLs are compared: URLs with the same key are the same page, or twins of one another.

A twin differs in nothing but the scheme, a `www.` in front of the host, or a slash at the end of the path. Escapes of
the same characters are equal: https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from sitemap_crawler.validation.values import Url

NORMAL_ESCAPE = "%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
"""Pattern of escapes with digits in upper case, and of no character that needs none (letters, digits, `-._~`)."""

_WWW = "www."
_OTHER_SPELLING = re.compile(rf"(?!{NORMAL_ESCAPE})%[0-9A-Fa-f]{{2}}|[\"<>\[\\\]^`{{|}}]")


class Spelling(NamedTuple):
    """The parts of a URL that its key leaves out."""

    scheme: str
    has_www: bool
    has_slash: bool


def key_of(url: Url) -> str:
    """Return the key of a URL."""
    rest = url.path.removesuffix("/") + url.query
    if _OTHER_SPELLING.search(rest):
        rest = _OTHER_SPELLING.sub(_spelled, rest)
    return _bare_host(url.origin) + rest


def spelling_of(url: Url) -> Spelling:
    """Return the spelling of a URL. With the key it is the URL, but for the spelling of its escapes."""
    scheme, _, host = url.origin.partition("://")
    return Spelling(scheme, host.startswith(_WWW), url.path.endswith("/"))


@lru_cache(maxsize=256)
def _bare_host(origin: str) -> str:
    return origin.partition("://")[2].removeprefix(_WWW)


def _spelled(character: re.Match[str]) -> str:
    """Return a character as keys have it: plain if it needs no escape, and else escaped in upper case."""
    text = unquote_to_bytes(character[0])
    return text.decode() if text.isalnum() or text in b"-._~" else f"%{text[0]:02X}"


def hash_of(key: str) -> int:
    """Return the hash of a key: 64 bits with a sign.

    Python's hash of bytes has a secret key, so a site cannot cause collisions on purpose. It is the same in all
    processes that were forked from one.
    """
    return hash(key.encode())


def pair_hash(page: str, target: str) -> int:
    """Return the hash of a page and one of its alternates, both as texts of URLs."""
    return hash((page, target))
