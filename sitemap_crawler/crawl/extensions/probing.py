"""Reading the answer to a request of an extension. The inventory stores no observation of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.extract.document import parse_document

if TYPE_CHECKING:
    from scrapy.http import Response

    from sitemap_crawler.urls.normalise import Resolver


def read_fingerprint(response: Response, resolver: Resolver) -> bytes | None:
    """Return the fingerprint of the content of a page, as its observation would have it; None if it is no document."""
    # Imported here: most crawls send no such request.
    from sitemap_crawler.extract.content.fingerprint import fingerprint

    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    document = parse_document(response.body, url=response.url, content_type=content_type, resolver=resolver)
    return None if document is None else fingerprint(document)
