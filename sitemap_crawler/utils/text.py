"""Text from crawled sites on its way to a terminal, a log, a report or a sitemap."""

from __future__ import annotations

import re

MAX_TEXT = 2_100
"""Characters of a URL or message: a URL that can be listed stays whole."""
MAX_LOOKED_AT = 10_000
"""Characters of a text that is made one line: it may begin with much white space."""

# Control characters that are no white space (to `split`), and what no UTF-8 file or no XML can hold.
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """`text` cut to a bounded length, without characters that could steer a terminal."""
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def one_line(text: str, limit: int) -> str:
    """At most `limit` characters of a text from a page: white space collapsed, control characters left out."""
    return " ".join(_UNPRINTABLE.sub("", text[:MAX_LOOKED_AT]).split())[:limit].rstrip()
