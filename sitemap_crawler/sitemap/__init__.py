"""Writes sitemaps: entry, shard, index, publish. Plain functions and values; nothing here knows Scrapy."""
