"""Conditional requests: what they carry, and which answers to them are not taken at their word."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.keys import Meta

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy import Request
    from scrapy.http import Response

    from sitemap_crawler.items import QueuedUrl

_CONDITIONS = ("If-None-Match", "If-Modified-Since")
_RELATIONS = ("canonical", "alternate")
_MARK_BYTES = 8


def condition_headers(queued: QueuedUrl) -> dict[str, str]:
    """The headers of a conditional request, https://www.rfc-editor.org/rfc/rfc9110#section-13.1."""
    values = zip(_CONDITIONS, (queued.etag, queued.modified_header), strict=True)
    return {name: value for name, value in values if value is not None}


def header_mark(headers: Mapping[str, Sequence[str]]) -> bytes | None:
    """What stands for the headers that decide on indexing, by lower-case name; None without any."""
    links = [link for link in headers.get("link", ()) if any(relation in link.lower() for relation in _RELATIONS)]
    deciding = [*headers.get("x-robots-tag", ()), "", *links]
    return blake2b("\n".join(deciding).encode(), digest_size=_MARK_BYTES).digest() if len(deciding) > 1 else None


def asked_plainly(response: Response, queued: QueuedUrl, headers: Mapping[str, Sequence[str]]) -> Request | None:
    """The same request without conditions, when the answer to them can't be taken at its word; None when it can.

    A server may fail for conditional requests only, and send with a 304 other headers than it sent with the page.
    """
    if not queued.conditional or not _is_doubtful(response, queued, headers):
        return None
    request: Any = response.request
    left = {name: value for name, value in request.headers.items() if name.decode() not in _CONDITIONS}
    plain = replace(queued, etag=None, modified_header=None)
    # Whatever failed has been tried again often enough.
    meta = {**request.meta, Meta.QUEUED: plain, Meta.RETRIES: 0, Meta.MAX_RETRIES: 0}
    again: Request = request.replace(headers=left, meta=meta, dont_filter=True)
    return again


def _is_doubtful(response: Response, queued: QueuedUrl, headers: Mapping[str, Sequence[str]]) -> bool:
    if response.status == 304:
        return header_mark(headers) != queued.header_mark
    return response.status == 412 or response.status >= 500 or (response.status == 200 and not response.body)
