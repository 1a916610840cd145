"""Scrapy extensions: the end of a crawl, progress, the status file, the soft 404 probe."""
