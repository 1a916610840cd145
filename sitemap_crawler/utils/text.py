"""Text from crawled sites, made safe for a terminal, a log, a report or a sitemap."""

from __future__ import annotations

import re
from typing import Any

MAX_TEXT = 2_100
"""Maximum number of characters that `printable` keeps. A URL that can be listed is shorter."""
MAX_INPUT = 10_000
"""Number of leading characters that `one_line` reads, so that leading white space cannot make it slow."""

FORMULA_STARTS = ("=", "+", "-", "@", "|", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters with which a spreadsheet begins a formula, the wide forms included."""

# Control characters that `str.split` does not treat as white space, and characters that UTF-8 or XML cannot encode.
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

# C0 and C1 characters except tab, \n and \r\n, and characters that reorder a line (https://trojansource.codes).
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
)
_ERROR_NUMBER = re.compile(r"\[Errno -?[0-9]+\] ")


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


def without_error_number(text: str) -> str:
    """Return the text of an OSError without its number."""
    return _ERROR_NUMBER.sub("", text)


def escape_controls(text: str) -> str:
    """Return `text` with the characters escaped that control a terminal. Line ends and tabs stay."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def csv_cell(value: Any) -> Any:
    """Return a value for CSV: a list as text, and text without control characters and spreadsheet formulas."""
    if isinstance(value, list):
        value = " ".join(value)
    if not isinstance(value, str):
        return value
    if not value.isprintable():
        # Character by character, because `printable` shortens long texts.
        value = "".join(map(printable, value))
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value
