"""Helpers without knowledge of sitemaps: text, files and bounded collections."""
