"""Limits and names of the sitemap protocol and its extensions, each with its source."""

from __future__ import annotations

# https://www.sitemaps.org/protocol.html#index and https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap
MAX_ENTRIES = 50_000
MAX_BYTES = 52_428_800  # uncompressed, closing tag included
MAX_LOC = 2_047  # characters, "must be less than 2,048 characters": https://www.sitemaps.org/protocol.html#locdef

# https://www.sitemaps.org/protocol.html#xmlTagDefinitions
CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
CHANGE_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
URL_CHILDREN = frozenset({"loc", "lastmod", "changefreq", "priority"})
SITEMAP_CHILDREN = frozenset({"loc", "lastmod"})

# https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps
IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"
MAX_IMAGES = 1_000  # per page
IMAGE_RETIRED = frozenset({"title", "caption", "geo_location", "license"})

# https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps
VIDEO = "http://www.google.com/schemas/sitemap-video/1.1"
VIDEO_REQUIRED = ("thumbnail_loc", "title", "description")
# https://developers.google.com/search/blog/2022/05/spring-cleaning-sitemap-extensions
VIDEO_RETIRED = frozenset({"category", "gallery_loc", "price", "tvshow"})
PLAYER_RETIRED = frozenset({"allow_embed", "autoplay"})  # attributes of player_loc
VIDEO_REPEATABLE = frozenset({"tag", "price", "content_segment_loc", "id"})
# The published schema alone has "id", "content_segment_loc", the spellings of yes and no, and the length of a title:
# https://www.google.com/schemas/sitemap-video/1.1/sitemap-video.xsd
YES_NO = frozenset({"yes", "Yes", "YES", "no", "No", "NO"})
MAX_VIDEO_TITLE = 100
VIDEO_CHILDREN = VIDEO_RETIRED | {
    *VIDEO_REQUIRED,
    "content_loc",
    "player_loc",
    "duration",
    "expiration_date",
    "rating",
    "view_count",
    "publication_date",
    "family_friendly",
    "restriction",
    "platform",
    "requires_subscription",
    "uploader",
    "live",
    "tag",
    "id",
    "content_segment_loc",
}
MAX_VIDEO_DESCRIPTION = 2_048
MAX_VIDEO_DURATION = 28_800  # seconds
MAX_VIDEO_RATING = 5.0
MAX_VIDEO_TAGS = 32
MAX_VIDEO_UPLOADER = 255
VIDEO_PLATFORMS = frozenset({"web", "mobile", "tv"})

# https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
NEWS = "http://www.google.com/schemas/sitemap-news/0.9"
MAX_NEWS = 1_000  # per file
NEWS_DAYS = 2
NEWS_REQUIRED = ("publication", "publication_date", "title")
PUBLICATION_REQUIRED = ("name", "language")
NEWS_RETIRED = frozenset({"access", "genres", "geo_locations", "keywords", "stock_tickers"})

# https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
XHTML = "http://www.w3.org/1999/xhtml"

# Retired: crawlers fetch all pages as a phone.
MOBILE = "http://www.google.com/schemas/sitemap-mobile/1.0"

RSS_VERSION = "2.0"  # https://www.sitemaps.org/protocol.html#otherformats

# https://www.rfc-editor.org/rfc/rfc4287#section-2; Atom 0.3 is accepted too:
# https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap#rss
ATOM = "http://www.w3.org/2005/Atom"
ATOM_03 = "http://purl.org/atom/ns#"

# Parts and element names that identify a misspelled namespace. The protocol allows unknown extensions.
EXTENSIONS = {"sitemap-image": IMAGE, "sitemap-video": VIDEO, "sitemap-news": NEWS, "1999/xhtml": XHTML}
EXTENSION_ELEMENTS = {"image": IMAGE, "video": VIDEO, "news": NEWS, "link": XHTML}
