"""Text from crawled sites on its way to a terminal, a log or a report."""

from __future__ import annotations

MAX_TEXT = 2_100
"""Characters of a URL or message: a URL that can be listed stays whole."""


def printable(text: str) -> str:
    """`text` cut to a bounded length, without characters that could steer a terminal."""
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
