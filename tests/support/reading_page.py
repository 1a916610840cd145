"""One parsed page at a fixed URL, for the tests of extraction."""

from __future__ import annotations

from sitemap_crawler.extract.document import Document, parse_document
from sitemap_crawler.urls.normalise import Resolver

URL = "https://example.com/docs/page.html"
RESOLVER = Resolver()


def page(markup: str | bytes, *, url: str = URL, content_type: str = "text/html; charset=utf-8") -> Document:
    body = markup.encode() if isinstance(markup, str) else markup
    document = parse_document(body, url=url, content_type=content_type, resolver=RESOLVER)
    assert document is not None
    return document
