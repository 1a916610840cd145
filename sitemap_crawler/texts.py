"""Text from crawled sites on its way to a terminal, a log or a report."""

from __future__ import annotations

MAX_TEXT = 1_000


def printable(text: str) -> str:
    """One line without control characters, which could take over a terminal; at most 1,000 characters."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…"
