"""Where `<meta http-equiv=refresh>` sends the visitor."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lxml import etree

    from sitemap_crawler.extract.document import Document

MAX_REFRESHES = 20  # looked at in one page
MAX_HEADER = 16_384  # characters of the header

# https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
_CONTENT = re.compile(r"[ \t\n\f\r]*+(?:[0-9]++|(?=\.))[0-9.]*+(?:(?=[ \t\n\f\r;,])(.*)|\Z)", re.DOTALL)
_SEPARATOR = re.compile(r"\A[ \t\n\f\r]*+[;,]?+[ \t\n\f\r]*+")
_URL = re.compile(r"url[ \t\n\f\r]*+=[ \t\n\f\r]*+", re.IGNORECASE)


def refresh_target(document: Document) -> str | None:
    """Return the URL that the first valid refresh names, unless that is the page itself."""
    refreshes = (element for element in document.all("meta") if _is_refresh(element))
    for element in islice(refreshes, MAX_REFRESHES):
        if _is_inert(element):
            continue
        reference = _reference(element.get("content", ""))
        if reference == "":
            return None  # reloads the page; a later refresh does nothing
        target = document.resolve(reference) if reference is not None else None
        if target is not None:
            return target if target != document.url else None
    return None


def refresh_header_target(values: Sequence[str], *, url: str, resolve: Callable[[str, str], str | None]) -> str | None:
    """Return the URL that a `Refresh:` header names, which browsers obey like the tag, unless that is `url` itself."""
    reference = _reference(values[0][:MAX_HEADER]) if values else None
    target = resolve(reference, url) if reference else None
    return target if target != url else None


def _is_refresh(element: etree._Element) -> bool:
    return element.get("http-equiv", "").strip().lower() == "refresh"


def _is_inert(element: etree._Element) -> bool:
    return next(element.iterancestors("noscript", "template"), None) is not None


def _reference(content: str) -> str | None:
    """Return the reference in a refresh; "" for the page itself, `None` when the value is not valid."""
    valid = _CONTENT.match(content)
    if valid is None:
        return None
    rest = valid[1] or ""
    rest = _SEPARATOR.sub("", rest, count=1)
    if named := _URL.match(rest):
        rest = rest[named.end() :]
    if rest.startswith(("'", '"')):
        rest = rest[1:].partition(rest[0])[0]
    return rest.strip()
