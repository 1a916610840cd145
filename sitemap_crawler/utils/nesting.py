"""Texts with brackets: the one place that parses JSON and TOML of others, and that bounds how deep brackets are nested.

Parsers call themselves for each bracket, and fail when Python's stack is full. How deep that is depends on their
caller. Here a text is refused by its own depth, so that the same text has the same meaning everywhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from sitemap_crawler.exceptions import NestingError

MAX_DEPTH = 200
"""Maximum number of brackets around a value, or of groups around a part of a regular expression."""

# Strings and comments are matched so that the brackets in them do not count.
_JSON = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_TOML = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'''(?:[^']++|'(?!''))*+(?:''')?|'[^'\n]*+'?|#[^\n]*+|[\[\]{}]",
    re.DOTALL,
)
_EXPRESSION = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]++|\\.)*+\]?|[()]", re.DOTALL)


def read_json(data: str | bytes, *, strict: bool = True) -> Any:
    """Return the value of JSON. Raises ValueError for other data, NestingError for brackets nested too deep.

    Without `strict`, strings may have control characters.
    """
    text = data if isinstance(data, str) else data.decode(json.detect_encoding(data), "surrogatepass")
    _check(text, _JSON, "[{")
    return json.loads(text, strict=strict)


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of TOML.

    Raises TOMLDecodeError for another text, ValueError for a number of too many digits, and NestingError for brackets
    or tables nested too deep.
    """
    _check(text, _TOML, "[{")
    tables = tomllib.loads(text)
    # A dotted key makes a table for each of its parts.
    layer: list[Any] = [tables]
    for _ in range(MAX_DEPTH + 1):
        layer = [inner for value in layer for inner in (value.values() if isinstance(value, dict) else value)]
        layer = [value for value in layer if isinstance(value, dict | list)]
    if layer:
        raise NestingError(MAX_DEPTH)
    return tables


def check_expression(text: str) -> None:
    """Raise NestingError if the groups of a regular expression are nested too deep."""
    _check(text, _EXPRESSION, "(")


def _check(text: str, tokens: re.Pattern[str], opening: str) -> None:
    if sum(map(text.count, opening)) <= MAX_DEPTH:
        return
    depth = 0
    for token in tokens.finditer(text):
        if (bracket := token[0]) in {"[", "{", "("}:
            depth += 1
            if depth > MAX_DEPTH:
                raise NestingError(MAX_DEPTH)
        elif bracket in {"]", "}", ")"}:
            depth -= 1
