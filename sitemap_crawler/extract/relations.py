"""How a link is related to its page: the words of its `rel`."""

from __future__ import annotations

from functools import lru_cache

_MAX_CACHED_LENGTH = 100  # characters; a cache must not keep long texts of hostile pages


def rel_tokens(rel: str | None) -> frozenset[str]:
    """Return the words in lower case."""
    if not rel:
        return frozenset()
    return _cached(rel) if len(rel) <= _MAX_CACHED_LENGTH else _tokens(rel)


def _tokens(rel: str) -> frozenset[str]:
    return frozenset(rel.lower().split())


_cached = lru_cache(maxsize=1_024)(_tokens)
