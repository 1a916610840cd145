"""Conditional requests: their headers, and the responses to them that cannot be trusted."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.keys import Meta

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy import Request
    from scrapy.http import Response

    from sitemap_crawler.items import QueuedUrl

_CONDITION_HEADERS = ("If-None-Match", "If-Modified-Since")
_INDEXING_RELATIONS = ("canonical", "alternate")
"""Relations of a Link header that decide on indexing."""
_MARK_BYTES = 8
MAX_VALIDATOR_LENGTH = 200
"""Maximum number of characters of a header value that is stored to be sent back."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_sendable(validator: str | None) -> bool:
    """Return whether a value of a response header can be sent back: an HTTP client refuses control characters."""
    return bool(validator) and len(validator or "") <= MAX_VALIDATOR_LENGTH and not _CONTROL.search(validator or "")


def condition_headers(queued: QueuedUrl) -> dict[str, str]:
    """Return the headers of a conditional request, https://www.rfc-editor.org/rfc/rfc9110#section-13.1."""
    values = zip(_CONDITION_HEADERS, (queued.etag, queued.modified_header), strict=True)
    return {name: value for name, value in values if value is not None}


def header_mark(headers: Mapping[str, Sequence[str]]) -> bytes | None:
    """Return a hash of the headers that decide on indexing; None without any. `headers` have lower-case names."""
    links = [
        link for link in headers.get("link", ()) if any(relation in link.lower() for relation in _INDEXING_RELATIONS)
    ]
    indexing = [*headers.get("x-robots-tag", ()), "", *links]
    return blake2b("\n".join(indexing).encode(), digest_size=_MARK_BYTES).digest() if len(indexing) > 1 else None


def unconditional_request(
    response: Response, queued: QueuedUrl, headers: Mapping[str, Sequence[str]]
) -> Request | None:
    """Return the request without its conditions if the response cannot be trusted, else None.

    Some servers fail for conditional requests only, or send a 304 with other headers than the page has.
    """
    if not queued.conditional or not _is_doubtful(response, queued, headers):
        return None
    return without_conditions(response.request, queued)


def without_conditions(asked: Request | None, queued: QueuedUrl) -> Request:
    """Return the request without its conditions and without retries: the conditional one has had all of them."""
    request: Any = asked
    other_headers = {name: value for name, value in request.headers.items() if name.decode() not in _CONDITION_HEADERS}
    unconditional = replace(queued, etag=None, modified_header=None)
    meta = {**request.meta, Meta.QUEUED: unconditional, Meta.RETRIES: 0, Meta.MAX_RETRIES: 0}
    unconditional_request: Request = request.replace(headers=other_headers, meta=meta, dont_filter=True)
    return unconditional_request


def _is_doubtful(response: Response, queued: QueuedUrl, headers: Mapping[str, Sequence[str]]) -> bool:
    if response.status == 304:
        return header_mark(headers) != queued.header_mark
    return response.status == 412 or response.status >= 500 or (response.status == 200 and not response.body)
