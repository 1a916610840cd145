"""What the sitemap protocol and its extensions allow, each value with its source."""

from __future__ import annotations

# https://www.sitemaps.org/protocol.html#xmlTagDefinitions
SITEMAP_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
# https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps
IMAGE_NAMESPACE = "http://www.google.com/schemas/sitemap-image/1.1"
# https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps
VIDEO_NAMESPACE = "http://www.google.com/schemas/sitemap-video/1.1"
# https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"

# Entries of one file, https://www.sitemaps.org/faq.html#faq_sitemap_size
MAX_URLS = 50_000
# Bytes of one file, uncompressed, https://www.sitemaps.org/faq.html#faq_sitemap_size
MAX_BYTES = 52_428_800
# Sitemaps of one index; its bytes are bounded like a sitemap's, https://www.sitemaps.org/protocol.html#index
MAX_SITEMAPS = 50_000
# Characters, "must be less than 2,048", https://www.sitemaps.org/protocol.html#locdef
MAX_LOC = 2_047

# Images of one page, https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps
MAX_IMAGES = 1_000

# https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps
MAX_VIDEO_DESCRIPTION = 2_048  # characters
MAX_VIDEO_DURATION = 28_800  # seconds
MAX_VIDEO_RATING = 5.0
MAX_VIDEO_TAGS = 32
MAX_VIDEO_UPLOADER = 255  # characters
VIDEO_PLATFORMS = frozenset({"web", "mobile", "tv"})
# Characters; only the schema says so, https://www.google.com/schemas/sitemap-video/1.1/sitemap-video.xsd
MAX_VIDEO_TITLE = 100
