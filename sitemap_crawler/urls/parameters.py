"""The parameters of a URL. Some programs separate them by semicolons, as HTML 4 recommended."""

from __future__ import annotations

import re

_SEPARATOR = re.compile("[&;]")


def parameters_of(query: str) -> list[str]:
    """Return the parameters of a query, each as it is written."""
    return _SEPARATOR.split(query) if ";" in query else query.split("&")


def count_separators(url: str) -> int:
    """Return the number of separators between the parameters of a URL."""
    return url.count("&") + url.count(";")
