"""Crawls a web site within the scope of its sitemap and keeps its XML sitemaps true."""

from __future__ import annotations

__version__ = "0.1.0"
