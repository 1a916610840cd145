"""Limits and namespaces of the sitemap protocol and its extensions, each with its source."""

from __future__ import annotations

SITEMAP_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
"""https://www.sitemaps.org/protocol.html#xmlTagDefinitions"""
IMAGE_NAMESPACE = "http://www.google.com/schemas/sitemap-image/1.1"
"""https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps"""
VIDEO_NAMESPACE = "http://www.google.com/schemas/sitemap-video/1.1"
"""https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps"""
XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"
"""https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap"""

MAX_URLS = 50_000
"""Entries of one file, https://www.sitemaps.org/faq.html#faq_sitemap_size"""
MAX_BYTES = 52_428_800
"""Bytes of one file, uncompressed, https://www.sitemaps.org/faq.html#faq_sitemap_size"""
MAX_SITEMAPS = 50_000
"""Sitemaps of one index, https://www.sitemaps.org/protocol.html#index. MAX_BYTES holds for an index, too."""
MAX_LOC = 2_047
"""Characters of a URL, "must be less than 2,048", https://www.sitemaps.org/protocol.html#locdef"""

MAX_IMAGES = 1_000
"""Images of one page, https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps"""

# The limits of videos: https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps
MAX_VIDEO_TITLE = 100
"""Characters. Only the schema has this limit, https://www.google.com/schemas/sitemap-video/1.1/sitemap-video.xsd"""
MAX_VIDEO_DESCRIPTION = 2_048
"""Characters."""
MAX_VIDEO_DURATION = 28_800
"""Seconds."""
MAX_VIDEO_RATING = 5.0
MAX_VIDEO_TAGS = 32
MAX_VIDEO_UPLOADER = 255
"""Characters."""
VIDEO_PLATFORMS = frozenset({"web", "mobile", "tv"})
