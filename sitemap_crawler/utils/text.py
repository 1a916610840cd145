"""Text from crawled sites, made safe for a terminal, a log, a report or a sitemap."""

from __future__ import annotations

import re

MAX_TEXT = 2_100
"""Maximum number of characters that `printable` keeps. A URL that can be listed is shorter."""
MAX_INPUT = 10_000
"""Number of leading characters that `one_line` reads, so that leading white space cannot make it slow."""

# Control characters that `str.split` does not treat as white space, and characters that UTF-8 or XML cannot encode.
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Return `text` cut to MAX_TEXT characters, with characters escaped that could control a terminal."""
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def one_line(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`, with white space collapsed and control characters removed."""
    return " ".join(_UNPRINTABLE.sub("", text[:MAX_INPUT]).split())[:limit].rstrip()
