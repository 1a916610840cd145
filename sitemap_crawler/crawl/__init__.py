"""The crawl: everything that knows Scrapy."""
